//! The modules of a crate, one module for each file, and the imports between these modules. Code of tests is left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, UseTree};

/// The maximum number of re-exports that are followed. Without this limit, two re-exports that refer to each other
/// would cause an endless recursion.
const DEPTH: usize = 8;

/// The path of a module from the crate's root. The path of `lib.rs` is empty.
pub(crate) type Path = Vec<String>;

/// The contents of one file.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The paths that occur in the file's code, relative to the crate's root.
    named: BTreeSet<Path>,
    /// The names that the file imports, each with the path of the imported item.
    imported: BTreeMap<String, Path>,
    /// The lengths of the functions in the file, in lines.
    pub(crate) functions: Vec<usize>,
    pub(crate) types: Vec<String>,
    pub(crate) of: usize,
}

/// The modules of a crate.
#[derive(Debug, Default)]
pub(crate) struct Modules(BTreeMap<Path, Module>);

impl Modules {
    /// Reads the files of a crate. For each file, `sources` contains the path, relative to the crate's `src` folder,
    /// and the text.
    pub(crate) fn read<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut parsed = BTreeMap::new();
        for (file, source) in sources {
            let items = syn::parse_file(source).map_err(|error| format!("{file}: does not parse: {error}"))?.items;
            parsed.insert(path_of(file), items);
        }
        // If only tests compile a file, the module above the file declares it under `cfg(test)`.
        let tests: BTreeSet<Path> = parsed.iter().flat_map(|(path, items)| declared_for_tests(path, items)).collect();
        parsed.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        let all: BTreeSet<Path> = parsed.keys().cloned().collect();
        let mut modules = BTreeMap::new();
        for (path, items) in parsed {
            let mut reader = Reader { path: &path, all: &all, module: Module::default() };
            items.iter().for_each(|item| reader.visit_item(item));
            let module = reader.module;
            modules.insert(path, module);
        }
        Ok(Self(modules))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &Module)> {
        self.0.iter()
    }

    pub(crate) fn imports(&self, path: &Path) -> BTreeSet<Path> {
        let named = self.0.get(path).into_iter().flat_map(|module| &module.named);
        named.map(|named| self.holder(named, DEPTH)).filter(|holder| holder != path).collect()
    }

    /// Returns the module that contains the item with the path `named`. The function follows imports that are a part of
    /// the path.
    fn holder(&self, named: &[String], depth: usize) -> Path {
        let mut at = Path::new();
        for (index, name) in named.iter().enumerate() {
            let below = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.contains_key(&below) {
                at = below;
                continue;
            }
            let imported = self.0.get(&at).and_then(|module| module.imported.get(name));
            return match imported.filter(|_| depth > 0) {
                Some(path) => self.holder(&[path, &named[index + 1..]].concat(), depth - 1),
                None => at,
            };
        }
        at
    }

    /// Returns the groups of modules that import each other in a circle, the largest group first.
    pub(crate) fn circles(&self) -> Vec<Vec<Path>> {
        let imports: BTreeMap<&Path, BTreeSet<Path>> = self.0.keys().map(|path| (path, self.imports(path))).collect();
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            self.0.keys().map(|path| (path, reached(&imports, path))).collect();
        let mut circles: Vec<Vec<Path>> = Vec::new();
        for (path, to) in &reached {
            let circle: Vec<Path> =
                to.iter().filter(|other| reached[**other].contains(path)).map(|it| (*it).clone()).collect();
            if circle.first() == Some(*path) && circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

/// Returns all modules that a module imports, directly or through other modules.
fn reached<'a>(imports: &'a BTreeMap<&Path, BTreeSet<Path>>, from: &'a Path) -> BTreeSet<&'a Path> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(path) = next.pop() {
        next.extend(imports[path].iter().filter(|imported| reached.insert(*imported)));
    }
    reached
}

/// Returns the path of the module in a file. `file` is the path of the file, relative to the crate's `src` folder.
fn path_of(file: &str) -> Path {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" { Path::new() } else { stem.split('/').map(str::to_owned).collect() }
}

fn declared_for_tests(path: &Path, items: &[Item]) -> Vec<Path> {
    let declared = items.iter().filter_map(|item| match item {
        Item::Mod(module) if is_test(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    });
    declared.map(|name| [path.as_slice(), &[name]].concat()).collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// Reads one file.
struct Reader<'a> {
    path: &'a Path,
    all: &'a BTreeSet<Path>,
    module: Module,
}

impl Reader<'_> {
    /// Converts a path in this file to a path that begins at the crate's root. Returns `None` if the path leads outside
    /// of the crate.
    fn resolve(&self, names: &[String]) -> Option<Path> {
        let first = names.first()?.as_str();
        let mut base = self.path.clone();
        let mut rest = names;
        match first {
            "crate" => (base, rest) = (Path::new(), &names[1..]),
            "self" | "super" => {
                while let Some(name) = rest.first().filter(|name| *name == "self" || *name == "super") {
                    if name == "super" {
                        base.pop();
                    }
                    rest = &rest[1..];
                }
            }
            // A path may begin with the name of a module below this module.
            _ if self.all.contains(&[base.as_slice(), std::slice::from_ref(&names[0])].concat()) => {}
            _ => return None,
        }
        Some([base.as_slice(), rest].concat())
    }

    fn name(&mut self, names: &[String]) {
        self.module.named.extend(self.resolve(names));
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (path, alias) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Glob(_) => return self.name(before),
            UseTree::Name(name) if name.ident == "self" => (before.to_vec(), before.last().cloned()),
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            UseTree::Rename(rename) if rename.ident == "self" => (before.to_vec(), Some(rename.rename.to_string())),
            UseTree::Rename(rename) => (with(&rename.ident), Some(rename.rename.to_string())),
        };
        let (Some(path), Some(alias)) = (self.resolve(&path), alias) else { return };
        self.module.imported.insert(alias, path.clone());
        self.module.named.insert(path);
    }

    /// Searches for paths in the tokens of a macro call. The parser does not look for paths in these tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if path.is_empty() || colons == 2 => {
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.macro_path(&std::mem::replace(&mut path, vec![name.to_string()]));
                    colons = 0;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
            self.macro_path(&std::mem::take(&mut path));
            colons = 0;
        }
        self.macro_path(&path);
    }

    fn macro_path(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.name(path);
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line - signature.span().start().line + 1;
        self.module.functions.push(lines);
        self.module.of += usize::from(signature.ident == "of");
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, None),
            Item::Impl(item) => (&item.attrs, None),
            Item::Mod(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            Item::Const(item) => (&item.attrs, None),
            Item::Static(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            self.module.types.extend(name.map(ToString::to_string));
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        self.import(&import.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.name(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.tokens(invocation.tokens.clone());
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(sources: &[(&str, &str)]) -> Modules {
        Modules::read(sources.iter().copied()).unwrap()
    }

    fn shown(paths: impl IntoIterator<Item = Path>) -> Vec<String> {
        paths.into_iter().map(|path| path.join("::")).collect()
    }

    fn imports(modules: &Modules, of: &str) -> Vec<String> {
        shown(modules.imports(&of.split("::").map(str::to_owned).collect()))
    }

    #[test]
    fn imports_are_found_in_all_their_forms() {
        let all = modules(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use d::Deep;"),
            ("a.rs", "mod below; use crate::{b::B, c}; use below::X; fn f() { super::d::g(); c::h() }"),
            ("a/below.rs", "use super::super::b; fn f() { println!(\"{}\", crate::c::h()) }"),
            ("b.rs", "use crate::Deep; #[cfg(test)] mod tests { use crate::c; } #[cfg(test)] use crate::a;"),
            ("c.rs", "use std::fs; use other::thing;"),
            ("d.rs", "pub struct Deep;"),
        ]);
        assert_eq!(imports(&all, "a"), ["a::below", "b", "c", "d"]);
        assert_eq!(imports(&all, "a::below"), ["b", "c"]);
        assert_eq!(imports(&all, "b"), ["d"], "the re-export is followed, and tests are left out");
        assert_eq!(imports(&all, "c"), [""; 0]);
    }

    #[test]
    fn circles_are_found_and_files_of_tests_are_left_out() {
        let all = modules(&[
            ("lib.rs", "mod a; mod b; mod c; #[cfg(test)] mod t;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::a::A;"),
            ("t.rs", "use crate::a::A; use crate::t::deep;"),
            ("t/deep.rs", "use crate::t;"),
        ]);
        let circles: Vec<_> = all.circles().into_iter().map(shown).collect();
        assert_eq!(circles, [["a", "b", "c"]]);
    }

    #[test]
    fn functions_and_types_are_counted() {
        let all = modules(&[(
            "lib.rs",
            "struct A; enum B {}\nimpl A {\n    fn of() {\n    }\n}\nfn f() {}\n#[cfg(test)]\n\
             mod tests { struct C; fn of() {} }",
        )]);
        let module = all.iter().next().unwrap().1;
        assert_eq!((&*module.types, &*module.functions, module.of), (&["A".into(), "B".into()][..], &[2, 1][..], 1));
    }
}
