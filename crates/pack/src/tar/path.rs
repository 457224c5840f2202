//! Checks whether a path is accepted.

use std::borrow::Cow;

use crate::error::Flaw;
use crate::path::{DEEPEST, LONGEST};
use crate::shown::beginning;

/// Refuses a path that leads out of the target folder or is ambiguous. The path must not end with `/`; the empty path
/// is the path of the root.
pub(crate) fn check_path(path: &[u8]) -> Result<(), Flaw> {
    if path.is_empty() {
        return Ok(());
    }
    let refused = |reason| Err(Flaw::Path { path: beginning(path), reason });
    if path.len() > LONGEST {
        return refused("is longer than 65535 bytes");
    }
    if path.contains(&0) {
        return refused("has a zero byte");
    }
    if path.starts_with(b"/") {
        return refused("begins with /, which leads out of the target folder");
    }
    let mut depth = 0;
    for component in path.split(|byte| *byte == b'/') {
        match component {
            b"" => return refused("has a component without a name"),
            b"." => return refused("has . as a component"),
            b".." => return refused("has .. as a component, which leads out of the target folder"),
            _ => depth += 1,
        }
    }
    if depth > DEEPEST { refused("is deeper than 1024 components") } else { Ok(()) }
}

/// Returns a path from another program's archive without empty components and without `.` components, as tar does.
/// Absolute paths stay absolute.
pub(super) fn plain(path: &[u8]) -> Cow<'_, [u8]> {
    let is_name = |component: &&[u8]| !component.is_empty() && *component != b".";
    let without_end = path.strip_suffix(b"/").unwrap_or(path);
    if without_end.split(|byte| *byte == b'/').all(|component| is_name(&component)) {
        return Cow::Borrowed(without_end);
    }
    let names: Vec<_> = path.split(|byte| *byte == b'/').filter(is_name).collect();
    let rest = names.join(&b'/');
    Cow::Owned(if path.starts_with(b"/") { [b"/", &rest[..]].concat() } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let deep = "d/".repeat(1024) + "d";
        let long = "x".repeat(65_536);
        for path in ["/", "/a", "a//b", "a/", "..", "../a", "a/..", "a/../b", ".", "./a", "a/.", "a\0b", &deep, &long] {
            assert!(check_path(path.as_bytes()).is_err(), "{}", &path[..path.len().min(20)]);
        }
        for path in ["", "a", "...", "a/b", "a b/\u{e4}", ".a/..b", &deep[2..], &long[1..]] {
            assert!(check_path(path.as_bytes()).is_ok(), "{}", &path[..path.len().min(20)]);
        }
        assert!(check_path(b"\xff/\xfe\n").is_ok());
    }

    #[test]
    fn plain_paths() {
        for (path, result) in [
            ("", ""),
            ("a", "a"),
            ("a/", "a"),
            ("a//", "a"),
            ("./a", "a"),
            ("././a/b/", "a/b"),
            ("a//b", "a/b"),
            ("a/./b/.", "a/b"),
            (".", ""),
            ("./", ""),
            (".//a", "a"),
            ("/a", "/a"),
            ("//a", "/a"),
            ("/", "/"),
            ("..", ".."),
            ("a//../b", "a/../b"),
        ] {
            assert_eq!(plain(path.as_bytes()), result.as_bytes(), "{path}");
        }
    }
}
