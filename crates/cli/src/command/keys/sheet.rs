//! A paper with the words of a private key or of a share: as text, and as a page to print with a QR code.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::SystemTime;

use qrcode::{Color, EcLevel, QrCode};

use crate::key::home::check_name;
use crate::tell::clock::{Clock, since_1970};
use deadpan_ct::Wiped;
use deadpan_seal::Kem;

/// The words in a line of the text.
const IN_LINE: usize = 6;
/// The white modules around a QR code.
const QUIET: usize = 4;
/// The most bytes of a page. The largest page has a code of 101 × 101 modules, and takes less than 100 kB.
const MOST: usize = 1 << 18;
/// The page may load nothing and run nothing.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<style>
body { font: 11pt/1.4 sans-serif; max-width: 18cm; margin: 1cm auto; color: #000; background: #fff }
ol { columns: 4; font: 11pt/1.7 monospace; padding-left: 2em }
dt { float: left; clear: left; width: 7em }
dd { margin-left: 7em; font-family: monospace }
svg { width: 8cm; height: 8cm; display: block; margin: 0 auto }
strong { display: block; border: 1pt solid; padding: .4em }
</style>
"#;

/// What is on one paper.
pub struct Sheet {
    /// The name of the key, or of its file.
    pub name: String,
    pub kind: &'static str,
    pub fingerprint: String,
    /// The number of the share, how many are needed, and how many there are; `None` for the whole key.
    pub share: Option<(u8, u8, u8)>,
    pub words: Vec<&'static str>,
}

impl Sheet {
    /// Returns the text that `deadpan keys restore` reads: two comments, and the words.
    pub fn text(&self) -> Wiped<Vec<u8>> {
        let mut text = Wiped::new(Vec::with_capacity(2048));
        let first = match self.share {
            None => "# A private key of Deadpan. Whoever has these words has the key.".to_owned(),
            Some((index, any, of)) => {
                format!("# Share {index} of {of} of a private key of Deadpan. Any {any} of the shares give the key.")
            }
        };
        let second = format!("\n# Kind {}, fingerprint {}\n", self.kind, self.fingerprint);
        text.extend_from_slice(first.as_bytes());
        text.extend_from_slice(second.as_bytes());
        for line in self.words.chunks(IN_LINE) {
            for (number, word) in line.iter().enumerate() {
                text.extend_from_slice(if number > 0 { b" " } else { b"" });
                text.extend_from_slice(word.as_bytes());
            }
            text.push(b'\n');
        }
        text
    }
}

/// Returns the page of a sheet, as HTML.
pub fn page(sheet: &Sheet) -> io::Result<Wiped<Vec<u8>>> {
    let mut page = Wiped::new(Vec::with_capacity(MOST));
    let out = &mut *page;
    let name = escaped(&sheet.name);
    let date = Clock::at(since_1970(SystemTime::now())).to_string();
    let (what, warning, restore) = match sheet.share {
        None => (
            format!("Private key {name}"),
            "This page is the key, without a passphrase. Keep it where nobody else looks.".to_owned(),
            "",
        ),
        Some((index, any, of)) => (
            format!("Share {index} of {of} of the private key {name}"),
            format!("Any {any} of the {of} pages are the key, without a passphrase. Keep each at another place."),
            " and the words of the other pages",
        ),
    };
    writeln!(out, "{HEAD}<title>{what}</title>\n</head>\n<body>\n<h1>{what}</h1>\n<p><strong>{warning}</strong></p>")?;
    entries(out, &[("Kind", &sheet.kind), ("Fingerprint", &sheet.fingerprint), ("Made", &&date[..10])])?;
    writeln!(out, "<ol>")?;
    for word in &sheet.words {
        writeln!(out, "<li>{word}</li>")?;
    }
    writeln!(out, "</ol>")?;
    let command = if check_name(&sheet.name).is_ok() { &name } else { "NAME" };
    // The words of a share name the kind, and for words of a key, X-Wing is the default.
    let is_named = sheet.share.is_some() || sheet.kind == Kem::XWing.name();
    let kind = if is_named { String::new() } else { format!(" --kind {}", sheet.kind) };
    writeln!(
        out,
        "<p>To restore the key, type <code>deadpan keys restore {command}{kind}</code>, then these words{restore}, \
         then Ctrl-D. Or scan the code, and give the file with its text: <code>deadpan keys restore {command} \
         FILE</code>. If you have a key of this name, choose another name. Compare the fingerprint.</p>"
    )?;
    code(out, &sheet.text())?;
    writeln!(out, "</body>\n</html>")?;
    Ok(page)
}

fn entries(out: &mut Vec<u8>, entries: &[(&str, &dyn Display)]) -> io::Result<()> {
    writeln!(out, "<dl>")?;
    for (term, value) in entries {
        writeln!(out, "<dt>{term}</dt><dd>{value}</dd>")?;
    }
    writeln!(out, "</dl>")
}

/// Writes a QR code as SVG. Each part of the path is a row of black modules.
fn code(out: &mut Vec<u8>, text: &[u8]) -> io::Result<()> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).map_err(io::Error::other)?;
    let width = code.width();
    write!(out, r#"<svg viewBox="0 0 {0} {0}" shape-rendering="crispEdges"><path d=""#, width + 2 * QUIET)?;
    for (y, row) in code.into_colors().chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| a == b) {
            if run[0] == Color::Dark {
                write!(out, "M{} {}h{}v1h-{2}z", x + QUIET, y + QUIET, run.len())?;
            }
            x += run.len();
        }
    }
    writeln!(out, "\"/></svg>")
}

/// Returns a text as HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
