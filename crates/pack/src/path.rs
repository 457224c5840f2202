//! The order of paths, and the rules for accepted paths.

use std::cmp::Ordering;

/// The length of the longest path, in bytes.
pub(crate) const LONGEST: usize = 65_535;
/// The depth of the deepest path, in components.
pub(crate) const DEEPEST: usize = 1024;

/// Compares two paths so that the contents of a folder directly follow the folder.
pub(crate) fn order(one: &[u8], other: &[u8]) -> Ordering {
    // No component has a byte 0. A `/` is compared as 0, so that a component comes before all longer components with
    // the same first bytes.
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    match one.iter().zip(other).position(|(one, other)| one != other) {
        Some(at) => rank(one[at]).cmp(&rank(other[at])),
        None => one.len().cmp(&other.len()),
    }
}

pub(crate) fn parent(path: &[u8]) -> &[u8] {
    &path[..path.iter().rposition(|byte| *byte == b'/').unwrap_or(0)]
}

/// Returns how many bytes two paths share at their beginnings.
pub(crate) fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

pub(crate) fn name(path: &[u8]) -> &[u8] {
    &path[path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)..]
}

/// Whether `path` is `folder` or lies in `folder`, at any depth. The root has the empty path, and every path is inside
/// the root.
#[must_use]
pub fn is_under(path: &[u8], folder: &[u8]) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// Returns the fault of an invalid path, or `None` for a valid path. The first `known` bytes of the path are already
/// known to be valid.
pub(crate) fn fault(path: &[u8], known: usize) -> Option<&'static str> {
    if path.len() > LONGEST {
        return Some("a path is longer than 65 535 bytes");
    }
    let begin = path[..known].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let bad = |component: &[u8]| matches!(component, b"" | b"." | b"..") || component.contains(&0);
    if path[begin..].split(|byte| *byte == b'/').any(bad) {
        return Some("a path leads out of its folder, or is not in its plain form");
    }
    (path.iter().filter(|byte| **byte == b'/').count() >= DEEPEST).then_some("a path has more than 1024 components")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_components() {
        let paths =
            [&b""[..], b"\x01", b"a", b"a/b", b"a/b/c", b"a/b.c", b"a\x01", b"a!", b"a.b", b"a0", b"b", b"\xff"];
        for (number, one) in paths.iter().enumerate() {
            for (place, other) in paths.iter().enumerate() {
                assert_eq!(order(one, other), number.cmp(&place), "{} {}", one.escape_ascii(), other.escape_ascii());
                let components = |path: &[u8]| path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
                assert_eq!(order(one, other), components(one).cmp(&components(other)), "the long way round");
            }
        }
    }

    #[test]
    fn under_is_more_than_a_common_beginning() {
        assert!(is_under(b"a/b", b"a") && is_under(b"a", b"a") && is_under(b"a", b"") && is_under(b"", b""));
        assert!(!is_under(b"ab", b"a") && !is_under(b"a", b"a/b") && !is_under(b"", b"a"));
    }

    #[test]
    fn paths_that_lead_elsewhere() {
        for good in [&b"a"[..], b"a/b", b"...", b".a/..b", b"\xff\n"] {
            assert_eq!(fault(good, 0), None, "{}", good.escape_ascii());
        }
        for bad in [&b""[..], b"/", b"/a", b"a/", b"a//b", b".", b"..", b"a/..", b"../a", b"a/./b", b"a\0b"] {
            assert!(fault(bad, 0).is_some(), "{}", bad.escape_ascii());
        }
        assert!(fault(b"abc/..", 4).is_some() && fault(b"abc/..", 5).is_some(), "a component that was cut");
        assert_eq!(fault(&[b'a'; LONGEST], 0), None);
        assert!(fault(&[b'a'; LONGEST + 1], 0).is_some());
        assert_eq!(fault(&b"a/".repeat(DEEPEST)[..2 * DEEPEST - 1], 0), None);
        assert!(fault(&b"a/".repeat(DEEPEST + 1)[..2 * DEEPEST + 1], 0).is_some());
    }
}
