//! Finds each `unsafe` in one file, and checks its place and its comment.

use std::fmt::Write as _;
use std::path::Path;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Block,
    Impl,
    Function,
    Extern,
    Attribute,
    /// `allow(unsafe_code)`.
    Permission,
}

pub(crate) fn faults(file: &Path, source: &str) -> Vec<String> {
    let parsed = match syn::parse_file(source) {
        Ok(parsed) => parsed,
        Err(error) => {
            return vec![format!("{}:{}: does not parse: {error}", file.display(), error.span().start().line)];
        }
    };
    let mut scan = Scan {
        allowed: place::is_allowed(file),
        lines: source.lines().collect(),
        anchors: Vec::new(),
        owed_elsewhere: false,
        found: Vec::new(),
    };
    scan.visit_file(&parsed);
    scan.found.sort_unstable();
    scan.found.dedup();
    scan.found
        .into_iter()
        .map(|(line, what)| {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(text, "{}:{line}: {what}", file.display());
            text
        })
        .collect()
}

struct Scan<'source> {
    allowed: bool,
    lines: Vec<&'source str>,
    /// The first lines of the enclosing statements and constants. A comment above one of these lines also applies to
    /// the code inside.
    anchors: Vec<usize>,
    /// Whether the code is inside an `impl` of a trait, or inside a trait whose own `# Safety` section applies to its
    /// functions.
    owed_elsewhere: bool,
    found: Vec<(usize, &'static str)>,
}

impl Scan<'_> {
    fn report(&mut self, span: Span, what: &'static str) {
        self.found.push((span.start().line, what));
    }

    fn meet(&mut self, kind: Kind, span: Span, first_line: usize) {
        if kind == Kind::Permission {
            if !self.allowed {
                self.report(
                    span,
                    "allow(unsafe_code) outside the places for it\nhint: move the code to imp, barrier, wipe or ffi",
                );
            }
            return;
        }
        if !self.allowed {
            self.report(span, "unsafe outside the places for it\nhint: move the code to imp, barrier, wipe or ffi");
        }
        let line = span.start().line;
        match kind {
            Kind::Block | Kind::Impl if !self.explained(line, &["SAFETY:"]) => {
                self.report(span, "unsafe without a `// SAFETY:` comment above it");
            }
            Kind::Function
                if !self.explained(line.min(first_line), &["SAFETY:", "# Safety"])
                    && !self.commented(line, &["SAFETY:", "# Safety"]) =>
            {
                self.report(span, "unsafe fn without a `# Safety` section");
            }
            _ => {}
        }
    }

    /// Whether a comment stands above this line, above the statement that this line continues, or above the enclosing
    /// statement.
    fn explained(&self, line: usize, words: &[&str]) -> bool {
        let around = self.anchors.last().copied().unwrap_or(line);
        [line, self.statement_start(line), around].iter().any(|&line| self.commented(line, words))
    }

    /// Whether the comment directly above `line` contains one of `words`. Attributes may stand between the comment and
    /// `line`. A comment `/* SAFETY: */` on the same line before `unsafe` is accepted as well.
    fn commented(&self, line: usize, words: &[&str]) -> bool {
        let says = |text: &str| words.iter().any(|word| text.contains(word));
        let same_line = self.lines.get(line - 1).and_then(|text| text.split("unsafe").next());
        if same_line.is_some_and(|text| text.contains("/*") && says(text)) {
            return true;
        }
        self.lines[..line - 1]
            .iter()
            .rev()
            .map(|text| text.trim())
            .take_while(|text| text.starts_with("//") || text.starts_with("#["))
            .any(|text| text.starts_with("//") && says(text))
    }

    /// Finds the first line of a statement by going up through lines that continue the statement. This search is
    /// necessary because the parser does not split macro bodies into statements.
    fn statement_start(&self, line: usize) -> usize {
        let mut start = line;
        while start > 1 {
            let above = self.lines[start - 2].trim();
            let ends = above.is_empty() || above.starts_with("//") || above.starts_with("#[");
            if ends || above.ends_with([';', '{', '}', ',']) {
                break;
            }
            start -= 1;
        }
        start
    }

    fn inside(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        self.anchors.push(span.start().line);
        visit(self);
        self.anchors.pop();
    }

    /// A comment above an outer statement does not apply to the body of a function inside that statement.
    fn function(&mut self, signature: &syn::Signature, attributes: &[syn::Attribute]) {
        if let Some(token) = &signature.unsafety
            && !self.owed_elsewhere
        {
            let documented = attributes.iter().any(is_safety_section);
            let first = attributes.first().map_or(token.span.start().line, |attribute| attribute.span().start().line);
            if documented && self.allowed {
                return;
            }
            self.meet(if documented { Kind::Extern } else { Kind::Function }, token.span, first);
        } else if let Some(token) = &signature.unsafety {
            // The trait states the obligations of callers once, for all functions of the trait.
            self.meet(Kind::Extern, token.span, token.span.start().line);
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "unsafe" => {
                    let line = ident.span().start().line;
                    if let Some(kind) = kind_by_tokens(&tokens[index + 1..]) {
                        self.meet(kind, ident.span(), line);
                    }
                }
                TokenTree::Ident(ident) if ident == "allow" || ident == "expect" => {
                    if let Some(TokenTree::Group(group)) = tokens.get(index + 1)
                        && names_lint(&group.stream())
                    {
                        self.meet(Kind::Permission, ident.span(), ident.span().start().line);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The kind of construct that begins with `unsafe`. The tokens after `unsafe` determine the kind. Returns `None` for a
/// function pointer type.
fn kind_by_tokens(after: &[TokenTree]) -> Option<Kind> {
    let word = |index: usize| after.get(index).map(ToString::to_string).unwrap_or_default();
    match after.first()? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Kind::Block),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(Kind::Attribute),
        _ => match word(0).as_str() {
            "impl" => Some(Kind::Impl),
            "trait" => Some(Kind::Function),
            "fn" => (!word(1).starts_with('(')).then_some(Kind::Function),
            "extern" => {
                let name = after.iter().position(|token| token.to_string() == "fn").map_or(0, |at| at + 1);
                match name {
                    0 => Some(Kind::Extern),
                    name => (!word(name).starts_with('(')).then_some(Kind::Function),
                }
            }
            // For `unsafe $block`, the braces are in the argument of the macro.
            "$" => Some(Kind::Block),
            _ => None,
        },
    }
}

fn names_lint(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == "unsafe_code"))
}

fn is_safety_section(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return false };
            text.value().contains("# Safety")
        }
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.meet(Kind::Block, block.unsafe_token.span, 0);
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(token) = &item.unsafety {
            self.meet(Kind::Impl, token.span, 0);
        }
        let outer = std::mem::replace(&mut self.owed_elsewhere, item.trait_.is_some());
        visit::visit_item_impl(self, item);
        self.owed_elsewhere = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if let Some(token) = &item.unsafety {
            let documented = item.attrs.iter().any(is_safety_section);
            self.meet(if documented { Kind::Extern } else { Kind::Function }, token.span, item.span().start().line);
        }
        let outer = std::mem::replace(&mut self.owed_elsewhere, item.attrs.iter().any(is_safety_section));
        visit::visit_item_trait(self, item);
        self.owed_elsewhere = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let outer = std::mem::replace(&mut self.owed_elsewhere, false);
        self.function(&item.sig, &item.attrs);
        visit::visit_item_fn(self, item);
        self.owed_elsewhere = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, &item.attrs);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        if let Some(token) = &item.unsafety {
            self.meet(Kind::Extern, token.span, 0);
        }
        visit::visit_item_foreign_mod(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let outer = self.allowed;
        let name = item.ident.to_string();
        // `mod imp;` declares another file; the name of that file determines whether `unsafe` is allowed. Among inline
        // modules, only `tests` may contain `unsafe`.
        self.allowed |= if item.content.is_none() { place::is_allowed_module(&name) } else { name == "tests" };
        visit::visit_item_mod(self, item);
        self.allowed = outer;
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            let span = attribute.span();
            if list.path.is_ident("unsafe") {
                self.meet(Kind::Attribute, span, 0);
            } else if (list.path.is_ident("allow") || list.path.is_ident("expect")) && names_lint(&list.tokens) {
                self.meet(Kind::Permission, span, 0);
            } else {
                // Matches `cfg_attr(..., allow(unsafe_code))` and `cfg_attr(..., unsafe(...))`.
                self.tokens(list.tokens.clone());
            }
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        self.inside(statement.span(), |scan| visit::visit_stmt(scan, statement));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.inside(arm.span(), |scan| visit::visit_arm(scan, arm));
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.inside(item.const_token.span, |scan| visit::visit_item_const(scan, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.inside(item.static_token.span, |scan| visit::visit_item_static(scan, item));
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        self.inside(field.span(), |scan| visit::visit_field_value(scan, field));
    }
}

#[cfg(test)]
mod tests;
