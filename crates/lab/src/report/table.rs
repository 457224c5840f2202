//! Tables, written once for HTML and for Markdown.

use super::markup::escape;
use crate::record::Verdict;

/// What stands in one field.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    Strong(String),
    Code(String),
    /// A verdict with its words.
    Badge(Verdict, String),
    /// Passed, failed, skipped.
    Mark(Option<bool>),
    /// A text and the section it leads to.
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

/// A table. Columns whose title begins with `>` hold numbers and stand to the right.
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

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = String::from("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
        for (title, right) in self.head.iter().zip(&self.right) {
            out.push_str(&format!("<th scope=\"col\"{}>{}</th>", side(*right), escape(title)));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (index, (cell, right)) in row.iter().zip(&self.right).enumerate() {
                let tag = if index == 0 { "th scope=\"row\"" } else { "td" };
                let close = if index == 0 { "th" } else { "td" };
                out.push_str(&format!("<{tag}{}>{}</{close}>", side(*right), cell.html()));
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
            Self::Code(text) => format!("`{}`", text.replace(['`', '|', '\n'], " ")),
            Self::Badge(_, text) => format!("**{}**", plain(text)),
            Self::Mark(Some(true)) => "passed".to_owned(),
            Self::Mark(Some(false)) => "**failed**".to_owned(),
            Self::Mark(None) => "skipped".to_owned(),
            Self::Link(text, _) => plain(text),
        }
    }
}

/// Text that Markdown takes as text.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

/// A verdict, told apart by its words and its shape, not by colour alone.
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
