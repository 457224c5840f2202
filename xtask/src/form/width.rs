//! Checks that no line is wider than 120 columns.

use std::ops::RangeInclusive;

use proc_macro2::{TokenStream, TokenTree};

const COLUMNS: usize = 120;

/// Reports the lines of `source` that are too wide. Two kinds of lines may be wider: lines inside `strings`, and lines
/// with a word that is too long for any line, such as a web address.
pub(crate) fn faults<'a>(source: &'a str, strings: &'a [RangeInclusive<usize>]) -> impl Iterator<Item = String> + 'a {
    let lines = (1..).zip(source.lines());
    lines.filter_map(|(number, line)| {
        let columns = line.chars().count();
        let excused = strings.iter().any(|string| string.contains(&number)) || has_long_word(line);
        (columns > COLUMNS && !excused).then(|| format!("{number}: {columns} columns, and {COLUMNS} are allowed"))
    })
}

/// Whether the line has a word that would not fit even as the first word of a comment line.
fn has_long_word(line: &str) -> bool {
    let indent = line.chars().take_while(|character| character.is_whitespace()).count();
    line.split_whitespace().any(|word| indent + "/// ".len() + word.chars().count() > COLUMNS)
}

/// The lines of each string that spans several lines. A line break in one of these lines would change the string.
pub(crate) fn long_strings(source: &str) -> Result<Vec<RangeInclusive<usize>>, String> {
    let tokens: TokenStream = source.parse().map_err(|error| format!("cannot read the tokens: {error}"))?;
    let mut strings = Vec::new();
    collect(tokens, &mut strings);
    Ok(strings)
}

fn collect(tokens: TokenStream, strings: &mut Vec<RangeInclusive<usize>>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), strings),
            TokenTree::Literal(literal) => {
                let span = literal.span();
                let (first, last) = (span.start().line, span.end().line);
                let text = literal.to_string();
                // A string with `\` at the ends of its lines can be broken at any point, but a raw string cannot. The
                // parser also returns doc comments as literals; each of these literals is one line or a block comment.
                if first < last && (text.starts_with('r') || text.starts_with("br")) {
                    strings.push(first..=last);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<String> {
        faults(source, &long_strings(source).unwrap()).collect()
    }

    #[test]
    fn a_wide_comment_is_found() {
        let source = format!("// {}\nfn a() {{}}\n", "word ".repeat(24));
        assert_eq!(lines(&source), ["1: 123 columns, and 120 are allowed"]);
        assert!(lines(&format!("// {}\n", "word ".repeat(23))).is_empty());
    }

    #[test]
    fn columns_are_characters() {
        assert!(lines(&format!("// {}\n", "\u{e4}".repeat(117))).is_empty());
    }

    #[test]
    fn a_word_that_fits_no_line_may_stand() {
        assert!(lines(&format!("// see https://example.org/{}\n", "a".repeat(120))).is_empty());
    }

    #[test]
    fn lines_of_a_raw_string_may_be_wide() {
        let wide = "word ".repeat(30);
        assert!(lines(&format!("const A: &str = r\"\n{wide}\n\";\n")).is_empty());
        assert_eq!(lines(&format!("const A: &str = \"{wide}\";\n")).len(), 1);
    }
}
