//! Text and simple elements for HTML and SVG.

use crate::visible::visible;

/// Escapes `text` for elements and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            // HTML does not allow control characters. Control characters would be invisible or break the page.
            character => out.push_str(&visible(character.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// Returns a paragraph, or nothing for an empty text.
pub(super) fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p>{}</p>\n", escape(text)) }
}

/// Returns a section of the page that the reader can open and close. In print, this part is always open.
pub(super) fn details(summary: &str, inside: &str) -> String {
    if inside.is_empty() {
        String::new()
    } else {
        format!("<details><summary>{}</summary>\n{inside}</details>\n", escape(summary))
    }
}
