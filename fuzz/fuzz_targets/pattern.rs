//! Reading patterns and matching paths: it never panics and takes little time. What lies in an excluded folder is
//! excluded, a pattern in its plain form matches itself, and a list decides as its patterns do.
//!
//! Input: a file of patterns, a byte 0, and a path.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_pack::{Pattern, Patterns};

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, path) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let patterns = Patterns::of_file(text);
    for is_folder in [false, true] {
        let verdict = patterns.verdict(path, is_folder);
        let last = patterns.list().iter().rev().find(|pattern| pattern.matches(path, is_folder));
        assert_eq!(verdict, last.map(|pattern| !pattern.takes_back()));
        if patterns.excludes(path, is_folder) {
            assert!(!is_folder || patterns.excludes(&[path, b"/inner"].concat(), false));
        } else {
            assert_ne!(verdict, Some(true));
        }
        let _ = patterns.selects(path, is_folder);
    }
    for pattern in patterns.list().iter().filter(|pattern| !pattern.is_wild()) {
        let text = pattern.text();
        let body = text.strip_prefix(b"!").unwrap_or(text);
        let body = body.strip_suffix(b"/").unwrap_or(body);
        let body = if body.contains(&b'/') { body.strip_prefix(b"/").unwrap_or(body) } else { body };
        assert!(body.is_empty() || pattern.matches(body, true), "{}", text.escape_ascii());
    }
    // A pattern as an argument differs from a line only in comments, spaces, and `./` at the beginning.
    let _ = Pattern::new(text).matches(path, true);
});
