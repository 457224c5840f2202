//! A page around armor: an HTML page that opens the sealed file in it. docs/format-seal.md defines the form. Anybody
//! can put another page in front of the armor, so no data of the page are used.

use std::io::{self, Read, Write};
use std::sync::OnceLock;

use aws_lc_rs::digest::{SHA256, digest};

use crate::place::armor::{BEGIN, BEGINNING, Beginning, damaged, raw_lines};
use deadpan_base64::hex;
use deadpan_compress::Foreign;
use deadpan_seal::Error;

/// The page of this program. `cargo xtask page` compresses it.
const COMPRESSED: &[u8] = include_bytes!("../../page/deadpan.html.zst");
/// The first two lines of each page.
const FIRST: [&[u8]; 2] = [b"<!doctype html>", b"<!-- Deadpan page -->"];
/// The last line of each page.
const LAST: &[u8] = b"</html>";
/// The line between the page and the armor.
const ELEMENT: &[u8] = b"<script type=\"text/plain\" id=\"deadpan-sealed\">\n";
/// The line after the armor.
pub const ELEMENT_END: &[u8] = Page::REAR.trim_ascii_end();
/// The maximum offset of the armor's first line.
const MOST: usize = 4 << 20;

/// Returns the page of this program.
pub fn own() -> &'static [u8] {
    static OWN: OnceLock<Vec<u8>> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut page = Vec::new();
        Foreign::new(COMPRESSED).read_to_end(&mut page).expect("a test expands the page");
        page
    })
}

/// Returns the SHA-256 of a page as text.
pub fn sha256(page: &[u8]) -> String {
    hex::encode(digest(&SHA256, page).as_ref())
}

/// Whether a file begins like a page.
pub fn begins(start: &[u8]) -> bool {
    raw_lines(start).map(|(_, line)| line).take(FIRST.len()).eq(FIRST)
}

/// Reads a file up to the first line of its armor. `start` holds the first bytes of the file, which begin like a page,
/// and gets all bytes that are read.
pub fn find(start: &mut Vec<u8>, mut file: impl Read) -> io::Result<Beginning> {
    let mut wanted = BEGINNING;
    loop {
        let missing = wanted.saturating_sub(start.len());
        file.by_ref().take(missing as u64).read_to_end(start)?;
        let mut lines = (1..).zip(raw_lines(start));
        if let Some((line, (offset, _))) = lines.find(|(_, (_, line))| line.starts_with(BEGIN)) {
            return Ok(Beginning::behind_page(offset, line));
        }
        if start.len() < wanted {
            return Err(if start.trim_ascii_end().ends_with(LAST) {
                damaged(
                    "it is a page of Deadpan, and holds no sealed file",
                    "a browser opens the page; deadpan seal --html makes a page that holds a sealed file",
                )
            } else {
                damaged("the page of Deadpan ends too early", "the file was cut short; get a whole copy")
            });
        }
        if wanted == MOST + BEGIN.len() {
            return Err(damaged(
                format!("no armor begins in the first {} MiB of the page", MOST >> 20),
                "the page is not Deadpan's; cut it off with: sed -n '/^-----BEGIN DEADPAN/,/^-----END DEADPAN/p' FILE",
            ));
        }
        wanted = (2 * wanted).min(MOST + BEGIN.len());
    }
}

/// The page of a file, with the line between the page and the armor.
pub struct Page(Vec<u8>);

impl Page {
    /// The text behind the armor.
    pub const REAR: &[u8] = b"</script>\n";

    /// Returns the page of this program.
    pub fn own() -> Self {
        Self([own(), ELEMENT].concat())
    }

    /// Makes a page of all bytes before the armor of a file.
    pub fn before_armor(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Returns the text before the armor.
    pub fn front(&self) -> &[u8] {
        &self.0
    }

    /// Returns the page itself.
    pub fn html(&self) -> &[u8] {
        self.0.strip_suffix(ELEMENT).unwrap_or(&self.0)
    }

    /// Returns the version of this program, if this is its page. What other pages say about themselves does not count.
    pub fn version(&self) -> Option<&'static str> {
        (self.html() == own()).then_some(env!("CARGO_PKG_VERSION"))
    }

    /// Writes the page, and the armor that the function `armor` writes.
    pub fn around<W: Write, T>(
        &self,
        output: &mut W,
        armor: impl FnOnce(&mut W) -> Result<T, Error>,
    ) -> Result<T, Error> {
        output.write_all(&self.0).map_err(Error::Write)?;
        let done = armor(output)?;
        output.write_all(Self::REAR).and_then(|()| output.flush()).map_err(Error::Write)?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
