//! `cargo xtask page FILE.html` compresses Deadpan's page for the program, which holds the page.

use std::fs;

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use crate::Outcome;
use crate::workspace::Workspace;

/// Where the program's page lies.
const PLACE: &str = "crates/cli/page/deadpan.html.zst";
/// The highest level. The output depends only on the page and on the version of Zstandard, which Cargo.lock pins.
const LEVEL: i32 = 22;
/// The longest page that programs read in front of armor.
const MOST: usize = 4 << 20;

// docs/format-seal.md has these texts.
const FIRST: &str = "<!doctype html>\n<!-- Deadpan page -->\n";
const LAST: &str = "</html>\n";
const BEGIN: &str = "-----BEGIN DEADPAN SEALED FILE-----";
const ELEMENT: &str = "id=\"deadpan-sealed\">\n";

pub(crate) fn run(arguments: &[String]) -> Result<Outcome, String> {
    let [file] = arguments else { return Err("usage: cargo xtask page FILE.html".to_owned()) };
    let page = fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let faults = faults(&page);
    if !faults.is_empty() {
        faults.iter().for_each(|fault| println!("{file}: {fault}"));
        return Ok(Outcome::Found);
    }
    let place = Workspace::find()?.root.join(PLACE);
    let compressed = compress(&page).map_err(|error| format!("cannot compress {file}: {error}"))?;
    fs::write(&place, &compressed).map_err(|error| format!("cannot write {}: {error}", place.display()))?;
    println!("page: {PLACE}: {} bytes, {} compressed", page.len(), compressed.len());
    Ok(Outcome::Clean)
}

fn compress(page: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    compressor.compress(page)
}

/// Returns what would keep a program from finding the armor behind a page.
fn faults(page: &[u8]) -> Vec<&'static str> {
    let Ok(text) = str::from_utf8(page) else { return vec!["the page is not UTF-8"] };
    let lines = || text.split(['\n', '\r']);
    [
        (!text.starts_with(FIRST), "the page does not begin with the two lines of docs/format-seal.md"),
        (!text.ends_with(LAST), "the page does not end with </html> and a line feed"),
        (lines().any(|line| line.starts_with(BEGIN)), "a line of the page begins like armor"),
        (text.contains(ELEMENT), "the page has an element for a sealed file"),
        (text.len() > MOST / 4, "the page is longer than 1 MiB, which leaves later versions too little of the 4 MiB"),
    ]
    .into_iter()
    .filter_map(|(is_fault, fault)| is_fault.then_some(fault))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> Vec<u8> {
        format!("{FIRST}<html>{body}{LAST}").into_bytes()
    }

    #[test]
    fn a_page_is_compressed_the_same_each_time_and_expands() {
        let page = page(&"text ".repeat(10_000));
        let compressed = compress(&page).unwrap();
        assert_eq!(compressed, compress(&page).unwrap());
        assert_eq!(zstd::bulk::decompress(&compressed, MOST).unwrap(), page);
    }

    #[test]
    fn each_fault_is_found() {
        assert!(faults(&page("")).is_empty());
        assert!(faults(&page(&format!("a = '{BEGIN}'"))).is_empty());
        for (page, fault) in [
            (page(&format!("\n{BEGIN}\n")), "a line of the page begins like armor"),
            (page(&format!("\r{BEGIN}\n")), "a line of the page begins like armor"),
            (page("<script id=\"deadpan-sealed\">\n"), "the page has an element for a sealed file"),
            (b"<html>\n</html>\n".to_vec(), "the page does not begin with the two lines of docs/format-seal.md"),
            (page("")[..FIRST.len() + 6].to_vec(), "the page does not end with </html> and a line feed"),
            (
                page("\u{e4}").iter().map(|byte| if *byte == 0xa4 { b'$' } else { *byte }).collect(),
                "the page is not UTF-8",
            ),
        ] {
            assert_eq!(faults(&page), [fault]);
        }
        assert_eq!(faults(&page(&"x".repeat(2 << 20))).len(), 1);
    }
}
