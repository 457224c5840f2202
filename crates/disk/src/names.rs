//! Names for files and folders that are not complete yet.
//!
//! A draft lies in the folder of its target and is called `.NAME.XXXXXXXXXXXXXXXX.deadpan-part`.

pub mod windows;

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::portable::{OsStrExt, OsStringExt};

const SUFFIX: &str = ".deadpan-part";

/// The name of a draft contains at most this many bytes of its target's name. A name has at most 255 bytes, and the
/// dots, the random number and the suffix need 31 bytes.
const LONGEST_STEM: usize = 200;

/// An incomplete file gets a name that ends with `.incomplete` and perhaps a number: before this end, the name has at
/// most this many bytes.
const LONGEST_INCOMPLETE: usize = 240;

/// Returns a name for a draft of `name`. The name contains a random number, so that no other file has the same name.
#[must_use]
pub fn name(name: &OsStr) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    OsString::from_vec([&prefix(name)[..], format!("{random:016x}{SUFFIX}").as_bytes()].concat())
}

/// Returns the possible names for an incomplete file `name`: `NAME.incomplete`, and the same name with numbers.
pub(crate) fn incomplete(name: &OsStr) -> impl Iterator<Item = OsString> + use<> {
    let mut stem = name.as_bytes();
    // The name is not cut in the middle of a UTF-8 character.
    let is_cut = |stem: &[u8]| str::from_utf8(name.as_bytes()).is_ok_and(|name| !name.is_char_boundary(stem.len()));
    while stem.len() > LONGEST_INCOMPLETE || is_cut(stem) {
        stem = &stem[..stem.len() - 1];
    }
    let first = [stem, b".incomplete"].concat();
    (1..1000).map(move |number| match number {
        1 => OsString::from_vec(first.clone()),
        _ => OsString::from_vec([&first[..], format!("-{number}").as_bytes()].concat()),
    })
}

/// Returns a name for a file `name` that a new file is about to replace. The name is not the one of a draft, so no run
/// removes the file.
#[cfg(windows)]
pub(crate) fn aside(name: &OsStr) -> OsString {
    let draft = self::name(name).into_vec();
    let kept = draft[1..].strip_suffix(SUFFIX.as_bytes()).unwrap_or(&draft);
    OsString::from_vec([kept, b".deadpan-old"].concat())
}

/// Returns whether `found` has the form of a name for drafts of the output `name`.
#[must_use]
pub fn is_of(found: &OsStr, name: &OsStr) -> bool {
    found
        .as_bytes()
        .strip_prefix(&prefix(name)[..])
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()))
        .is_some_and(is_random)
}

/// Returns whether `found` has the form of a name for drafts of any output.
#[must_use]
pub fn is_of_any(found: &OsStr) -> bool {
    let inner = found.as_bytes().strip_prefix(b".").and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    let Some((stem, random)) = inner.and_then(|inner| inner.split_at_checked(inner.len().saturating_sub(16))) else {
        return false;
    };
    stem.len() > 1 && stem.ends_with(b".") && is_random(random)
}

/// If `found` has the form of a name for drafts, returns the beginning of its output's name: the first 200 bytes. This
/// beginning stands for the output in [`is_of`] and [`sweep`](crate::sweep).
#[must_use]
pub fn target(found: &OsStr) -> Option<OsString> {
    let end = found.len().checked_sub(SUFFIX.len() + 17).filter(|_| is_of_any(found))?;
    Some(OsStr::from_bytes(&found.as_bytes()[1..end]).to_owned())
}

fn is_random(number: &[u8]) -> bool {
    number.len() == 16 && number.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn prefix(name: &OsStr) -> Vec<u8> {
    let name = name.as_bytes();
    let mut end = name.len().min(LONGEST_STEM);
    if cfg!(windows) {
        // Names are UTF-8 there, so no character is cut.
        end = str::from_utf8(name).map_or(0, |name| name.floor_char_boundary(end));
    }
    [b".", &name[..end], b"."].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_told_by_their_names() {
        let long = [b'x'; 255];
        for target in [&b"a"[..], b".hidden", b"\xff", &long].map(OsStr::from_bytes) {
            let draft = name(target);
            assert!(draft.len() <= 255 && is_of(&draft, target) && is_of_any(&draft), "{draft:?}");
            assert!(super::target(&draft).is_some_and(|beginning| is_of(&draft, &beginning)), "{draft:?}");
            assert_ne!(draft, name(target), "no two are the same");
            assert!(!is_of(&draft, OsStr::new("b")));
        }
        for other in
            [&b"a"[..], b".a.txt", b".a.mine.deadpan-part", b".a..deadpan-part", b".a.0123456789abcdeF.deadpan-part"]
        {
            let other = OsStr::from_bytes(other);
            assert!(!is_of(other, OsStr::new("a")) && !is_of_any(other), "{other:?}");
            assert_eq!(super::target(other), None);
        }
    }
}
