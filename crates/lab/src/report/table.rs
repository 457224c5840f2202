//! Tables that can be written as HTML and as Markdown.

use super::markup::escape;
use crate::record::Verdict;
use crate::visible::visible;

/// The content of one cell.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    Strong(String),
    Code(String),
    /// A verdict with a text.
    Badge(Verdict, String),
    /// Several labels, the most severe label first.
    Badges(Vec<(Verdict, String)>),
    /// The outcome of a check: passed, failed, or skipped (`None`).
    Mark(Option<bool>),
    /// The text of a link, and the id of the section to which the link leads.
    Link(String, String),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// On a narrow screen, each row of a table with at most this number of columns becomes a block.
const FOLDED: usize = 8;

/// A table. If a column title begins with `>`, the column contains numbers and is aligned to the right.
#[derive(Clone, Debug)]
pub(super) struct Table {
    head: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|title| title.trim_start_matches('>').to_owned()).collect(),
            right: head.iter().map(|title| title.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub(super) fn without_empty_columns(self) -> Self {
        let empty = |cell: &Cell| matches!(cell, Cell::Text(text) if text.is_empty());
        let kept: Vec<bool> =
            (0..self.head.len()).map(|column| !self.rows.iter().all(|row| empty(&row[column]))).collect();
        fn pick<T>(items: Vec<T>, kept: &[bool]) -> Vec<T> {
            items.into_iter().zip(kept).filter_map(|(item, kept)| kept.then_some(item)).collect()
        }
        Self {
            head: pick(self.head, &kept),
            right: pick(self.right, &kept),
            rows: self.rows.into_iter().map(|row| pick(row, &kept)).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        // On a phone, each row of a table with the class `folds` becomes a block of values with names. A wider table
        // scrolls sideways, and a note above the table says that the table is wider than the screen.
        let class = if self.head.len() <= FOLDED { "folds" } else { "scrolls" };
        let mut out = format!("<div class=\"scroll {class}\" tabindex=\"0\"><table><thead><tr>");
        for (title, right) in self.head.iter().zip(&self.right) {
            out.push_str(&format!("<th scope=\"col\"{}>{}</th>", side(*right), escape(title)));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (index, ((cell, right), title)) in row.iter().zip(&self.right).zip(&self.head).enumerate() {
                let side = side(*right);
                if index == 0 {
                    out.push_str(&format!("<th scope=\"row\"{side}>{}</th>", cell.html()));
                } else {
                    let title = if title.is_empty() { String::new() } else { format!(" data-t=\"{}\"", escape(title)) };
                    out.push_str(&format!("<td{side}{title}>{}</td>", cell.html()));
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    pub(super) fn markdown(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = format!("| {} |\n|", self.head.join(" | "));
        for right in &self.right {
            out.push_str(if *right { "--:|" } else { "---|" });
        }
        out.push('\n');
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::markdown).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        out
    }
}

fn side(right: bool) -> &'static str {
    if right { " class=\"r\"" } else { "" }
}

impl Cell {
    fn html(&self) -> String {
        match self {
            Self::Text(text) => escape(text),
            Self::Strong(text) => format!("<strong>{}</strong>", escape(text)),
            Self::Code(text) => format!("<code>{}</code>", escape(text)),
            Self::Badge(verdict, text) => badge(*verdict, text),
            Self::Badges(all) => {
                let all: Vec<String> = all.iter().map(|(verdict, text)| badge(*verdict, text)).collect();
                if all.len() == 1 { all.concat() } else { format!("<span>{}</span>", all.join(" ")) }
            }
            Self::Mark(Some(true)) => "<span class=\"badge good\">passed</span>".to_owned(),
            Self::Mark(Some(false)) => "<span class=\"badge bad\">failed</span>".to_owned(),
            Self::Mark(None) => "<span class=\"badge dull\">skipped</span>".to_owned(),
            Self::Link(text, place) => format!("<a href=\"#{}\">{}</a>", escape(place), escape(text)),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => plain(text),
            Self::Strong(text) => format!("**{}**", plain(text)),
            Self::Code(text) => format!("`{}`", visible(&text.replace(['`', '|', '\n'], " "))),
            Self::Badge(_, text) => format!("**{}**", plain(text)),
            Self::Badges(all) => {
                all.iter().map(|(_, text)| format!("**{}**", plain(text))).collect::<Vec<_>>().join(", ")
            }
            Self::Mark(Some(true)) => "passed".to_owned(),
            Self::Mark(Some(false)) => "**failed**".to_owned(),
            Self::Mark(None) => "skipped".to_owned(),
            Self::Link(text, _) => plain(text),
        }
    }
}

/// Escapes the characters that have a meaning in Markdown.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let mut out = String::with_capacity(text.len());
    for character in visible(&text).chars() {
        match character {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            character => out.push(character),
        }
    }
    out
}

/// Returns a verdict as HTML. The verdicts differ in text, sign and border, not only in color.
pub(super) fn badge(verdict: Verdict, text: &str) -> String {
    let (class, sign) = match verdict {
        Verdict::NoLeakAbove => ("good", "✓"),
        Verdict::BelowThreshold => ("near", "≈"),
        Verdict::Inconclusive => ("open", "?"),
        Verdict::Invalid => ("void", "✕"),
        Verdict::Unmeasurable => ("dull", "–"),
        Verdict::Leak => ("bad", "▲"),
    };
    format!("<span class=\"badge {class}\"><i aria-hidden=\"true\">{sign}</i>{}</span>", escape(text))
}
