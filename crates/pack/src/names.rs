//! Finds names that clash: some systems treat names as equal if they differ only in case or in Unicode form.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};

use unicode_normalization::UnicodeNormalization;

/// Adds a name to `hasher` in a form that is the same for all names that clash.
pub(crate) fn fold(name: &[u8], hasher: &mut impl Hasher) {
    match str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            text.nfd().flat_map(char::to_lowercase).nfd().for_each(|character| character.hash(hasher))
        }
        // If the bytes are not UTF-8, only the case of ASCII letters is folded.
        _ => name.iter().for_each(|byte| char::from(byte.to_ascii_lowercase()).hash(hasher)),
    }
}

/// A set of paths, stored as 64-bit hashes. The key of the hash is random, so an attacker cannot choose paths whose
/// hashes collide.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    keys: RandomState,
    seen: HashSet<u64, BuildHasherDefault<Itself>>,
}

impl Paths {
    /// Adds a path. Returns false if the set already contains this path.
    pub(crate) fn add(&mut self, path: &[u8]) -> bool {
        let hash = self.exactly(path);
        self.seen.insert(hash)
    }

    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.seen.contains(&self.exactly(path))
    }

    /// Adds the path of the file `name` in `folder`. Returns false if the set already contains a clashing name in that
    /// folder.
    pub(crate) fn add_folded(&mut self, folder: &[u8], name: &[u8]) -> bool {
        let hash = self.folded(folder, name);
        self.seen.insert(hash)
    }

    /// Whether the set contains the path of `name` in `folder`, or a name in `folder` that clashes with `name`.
    pub(crate) fn has_folded(&self, folder: &[u8], name: &[u8]) -> bool {
        self.seen.contains(&self.folded(folder, name))
    }

    fn folded(&self, folder: &[u8], name: &[u8]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(folder);
        hasher.write_u8(b'/');
        fold(name, &mut hasher);
        hasher.finish()
    }

    fn exactly(&self, path: &[u8]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(path);
        hasher.finish()
    }
}

/// A hasher for keys that are hashes already, and are used unchanged.
#[derive(Debug, Default)]
pub(crate) struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Returns the names of a folder that clash with an earlier name of the folder. Uses eight bytes of memory for each
/// name.
pub(crate) fn alikes<'a>(names: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<&'a [u8]> {
    let keys = RandomState::new();
    let key = |name: &[u8]| {
        let mut hasher = keys.build_hasher();
        fold(name, &mut hasher);
        hasher.finish()
    };
    let mut all: Vec<_> = names.clone().map(key).collect();
    all.sort_unstable();
    let mut twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    drop(all);
    twice.dedup();
    if twice.is_empty() {
        return Vec::new();
    }
    let mut first = vec![true; twice.len()];
    let later = |name: &&[u8]| twice.binary_search(&key(name)).is_ok_and(|index| !std::mem::take(&mut first[index]));
    names.filter(later).collect()
}

/// Whether two names clash.
pub(crate) fn alike(one: &[u8], other: &[u8]) -> bool {
    let folded = |name| {
        let mut text = Spelled::default();
        fold(name, &mut text);
        text.0
    };
    folded(one) == folded(other)
}

/// A hasher that keeps the bytes.
#[derive(Default)]
struct Spelled(Vec<u8>);

impl Hasher for Spelled {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_clash() {
        for (one, other) in [
            ("README", "readme"),
            ("\u{e9}", "e\u{301}"),
            ("\u{c9}T\u{c9}", "e\u{301}te\u{301}"),
            ("\u{212b}", "\u{e5}"),
        ] {
            assert!(alike(one.as_bytes(), other.as_bytes()), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("e", "\u{e9}"), ("a", "a ")] {
            assert!(!alike(one.as_bytes(), other.as_bytes()), "{one} {other}");
        }
        assert!(alike(b"\xffA", b"\xffa"));
        assert!(!alike(b"\xff", b"\xfe"));
    }

    #[test]
    fn clashing_names_are_listed_except_the_first() {
        let names = [&b"A"[..], b"B", b"B.c", b"a", b"b", "\u{e9}".as_bytes(), "E\u{301}".as_bytes(), b"z"];
        assert_eq!(alikes(names.into_iter()), [&b"a"[..], b"b", "E\u{301}".as_bytes()]);
        assert_eq!(alikes([&b"A"[..], b"a", b"B"].into_iter()), [b"a"]);
        assert!(alikes([].into_iter()).is_empty() && alikes([&b"x"[..]].into_iter()).is_empty());
    }

    #[test]
    fn folders_are_compared_exactly() {
        let mut paths = Paths::default();
        assert!(paths.add_folded(b"a", b"Name"));
        assert!(!paths.add_folded(b"a", b"nAME"));
        assert!(paths.add_folded(b"A", b"name"));
        assert!(paths.add(b"x") && !paths.add(b"x") && paths.has(b"x") && !paths.has(b"y"));
    }
}
