//! Checks that imports stand in three groups (std, crates, ours), with an empty line between the groups.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

/// The groups of imports, in the required order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Std,
    Crates,
    Ours,
}

/// Reports faults in the imports of this list of items, and in the imports inside the modules of the list.
pub(crate) fn faults(items: &[Item], source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut faults = Vec::new();
    visit(items, &lines, &mut faults);
    faults
}

fn visit(items: &[Item], lines: &[&str], faults: &mut Vec<String>) {
    let modules: Vec<String> = items.iter().filter_map(module).collect();
    let mut before: Option<(Group, usize)> = None;
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &module.content
        {
            visit(inner, lines, faults);
        }
        let Item::Use(import) = item else {
            before = None;
            continue;
        };
        if !matches!(import.vis, Visibility::Inherited) {
            before = None;
            continue;
        }
        let group = group(import, &modules);
        let first = first_line(&import.attrs, import.span());
        if let Some((last_group, last_line)) = before {
            let apart = (last_line..first - 1).any(|line| lines[line].trim().is_empty());
            if group < last_group {
                faults.push(format!("{first}: an import of {} stands below {}", group.name(), last_group.name()));
            } else if (group == last_group) == apart {
                let wanted = if apart { "no empty line" } else { "an empty line" };
                faults.push(format!("{first}: {wanted} between {} and {}", last_group.name(), group.name()));
            }
        }
        before = Some((group, import.span().end().line));
    }
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Self::Std => "std",
            Self::Crates => "crates",
            Self::Ours => "ours",
        }
    }
}

/// The first line of an import, or of its attributes if it has attributes.
fn first_line(attributes: &[Attribute], span: Span) -> usize {
    attributes.iter().map(|attribute| attribute.span().start().line).chain([span.start().line]).min().unwrap_or(1)
}

/// The name of a module that this item declares. An import of this module may begin with this name.
fn module(item: &Item) -> Option<String> {
    match item {
        Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    }
}

fn group(import: &ItemUse, modules: &[String]) -> Group {
    let root = root(&import.tree);
    match root.as_str() {
        "std" | "core" | "alloc" => Group::Std,
        "crate" | "self" | "super" => Group::Ours,
        root if root.starts_with("deadpan") || modules.iter().any(|module| module == root) => Group::Ours,
        // The first name is a type, whose variants are imported. The first name cannot be a crate, because names of
        // crates are in lower case.
        root if root.starts_with(char::is_uppercase) => Group::Ours,
        _ => Group::Crates,
    }
}

/// The first name of a path. If there are several paths in braces, the first path is used.
fn root(tree: &UseTree) -> String {
    match tree {
        UseTree::Path(path) => path.ident.to_string(),
        UseTree::Name(name) => name.ident.to_string(),
        UseTree::Rename(rename) => rename.ident.to_string(),
        UseTree::Glob(_) => String::new(),
        UseTree::Group(group) => group.items.first().map_or_else(String::new, root),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<String> {
        faults(&syn::parse_file(source).unwrap().items, source)
    }

    #[test]
    fn three_groups_pass() {
        let source = "mod a;\npub use a::B;\n\nuse std::fs;\nuse core::mem;\n\nuse syn::Item;\n\n#[cfg(unix)]\n\
                      use crate::c;\nuse a::D;\nuse deadpan_ct::E;\n\nfn f() {}\n";
        assert_eq!(lines(source), [""; 0]);
    }

    #[test]
    fn another_order_is_found() {
        assert_eq!(lines("use crate::a;\n\nuse std::fs;\n"), ["3: an import of std stands below ours"]);
    }

    #[test]
    fn a_missing_and_a_superfluous_empty_line_are_found() {
        assert_eq!(lines("use std::fs;\nuse syn::Item;\n"), ["2: an empty line between std and crates"]);
        assert_eq!(lines("use std::fs;\n\nuse std::io;\n"), ["3: no empty line between std and std"]);
    }

    #[test]
    fn modules_inside_a_file_are_looked_at() {
        assert_eq!(lines("mod tests {\n    use super::*;\n    use std::fs;\n}\n").len(), 1);
    }
}
