//! Text inside HTML and SVG.

/// `text` so that it stands for itself, in elements and in attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no place in a page; they would show as nothing or break it.
            character if character.is_control() && character != '\n' => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

/// A paragraph.
pub(super) fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p>{}</p>\n", escape(text)) }
}

/// Something that opens on demand; on paper it is open.
pub(super) fn details(summary: &str, inside: &str) -> String {
    if inside.is_empty() { String::new() } else { format!("<details><summary>{}</summary>\n{inside}</details>\n", escape(summary)) }
}
