//! Which paths may be.

use crate::path::{DEEPEST, LONGEST};
use crate::{Error, shown};

/// Refuses a path that leads out of the folder it is meant for, or has no clear meaning. It ends without `/`; the empty one is the root itself.
pub(crate) fn check_path(path: &[u8]) -> Result<(), Error> {
    if path.is_empty() {
        return Ok(());
    }
    let refused = |why: &str| {
        let hint = "the archive may be meant to do harm; --keep-going unpacks the rest";
        let path = shown(&path[..path.len().min(200)]);
        Err(Error::Archive { what: format!("{path} in the archive {why}"), hint })
    };
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

/// A path of another maker without `./` in front and `/` behind; with the latter, it is a folder.
pub(super) fn plain(path: &[u8]) -> (&[u8], bool) {
    let mut rest = path;
    while let Some(shorter) = rest.strip_prefix(b"./") {
        rest = shorter;
    }
    let end = rest.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    // What is absolute stays so.
    if end == 0 && !path.starts_with(b".") {
        return (rest, true);
    }
    let slash = end < rest.len();
    match &rest[..end] {
        b"." => (b"", true),
        rest => (rest, slash || rest.is_empty()),
    }
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
        for (path, result, folder) in [
            ("a", "a", false),
            ("a/", "a", true),
            ("a//", "a", true),
            ("./a", "a", false),
            ("././a/b/", "a/b", true),
            (".", "", true),
            ("./", "", true),
            ("/a", "/a", false),
            ("/", "/", true),
            ("..", "..", false),
            (".//a", "/a", false),
        ] {
            assert_eq!(plain(path.as_bytes()), (result.as_bytes(), folder), "{path}");
        }
    }
}
