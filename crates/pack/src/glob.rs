//! Patterns for paths. In the usual crates for patterns, `?` matches a single byte, or paths must be valid UTF-8. In
//! this crate, paths are bytes, and `?` matches a whole character.

/// A pattern, split into components. `*` matches any characters except `/`. `?` matches one character. `[a-z]` and
/// `[!a-z]` match one character of a set. A component `**` matches any number of components.
#[derive(Clone, Debug)]
pub(crate) struct Glob(Vec<Vec<u8>>);

impl Glob {
    pub(crate) fn new(pattern: &[u8]) -> Self {
        Self(pattern.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect())
    }

    /// Whether the bytes contain a special character.
    pub(crate) fn is_one(pattern: &[u8]) -> bool {
        pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
    }

    /// Returns the components before the first special character. All matches lie in this folder.
    pub(crate) fn base(&self) -> Vec<u8> {
        let plain: Vec<_> = self.0.iter().take_while(|component| !Self::is_one(component)).map(Vec::as_slice).collect();
        plain.join(&b'/')
    }

    /// Whether the pattern matches the path itself or a folder that contains it.
    pub(crate) fn takes(&self, path: &[u8]) -> bool {
        let path: Vec<_> = if path.is_empty() { Vec::new() } else { path.split(|byte| *byte == b'/').collect() };
        let (mut at, mut place) = (0, 0);
        let mut retry = None;
        loop {
            match self.0.get(at).map(Vec::as_slice) {
                None => return true,
                Some(b"**") if at + 1 < self.0.len() => {
                    retry = Some((at + 1, place));
                    at += 1;
                    continue;
                }
                Some(pattern) if place < path.len() && (pattern == b"**" || component(pattern, path[place])) => {
                    (at, place) = (at + 1, place + 1);
                    continue;
                }
                Some(_) => {}
            }
            let Some((from, begin)) = retry.filter(|(_, begin)| begin + 1 < path.len()) else { return false };
            retry = Some((from, begin + 1));
            (at, place) = (from, begin + 1);
        }
    }
}

/// Whether a pattern matches a whole component.
fn component(pattern: &[u8], name: &[u8]) -> bool {
    let (mut rest, mut left) = (pattern, name);
    let mut retry = None;
    loop {
        if let Some(behind) = rest.strip_prefix(b"*") {
            retry = Some((behind, left));
            rest = behind;
            continue;
        }
        if rest.is_empty() && left.is_empty() {
            return true;
        }
        if let Some((used, length)) = one(rest, left) {
            (rest, left) = (&rest[used..], &left[length..]);
            continue;
        }
        // After a mismatch, the last `*` matches one more character, and the comparison is tried again.
        let Some((behind, from)) = retry else { return false };
        let Some((_, length)) = character(from) else { return false };
        retry = Some((behind, &from[length..]));
        (rest, left) = (behind, &from[length..]);
    }
}

/// Matches the first element of `pattern` with one character. Returns two lengths in bytes: of the element of the
/// pattern, and of the character that it matches.
fn one(pattern: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let (found, length) = character(name)?;
    match pattern.first()? {
        b'?' => Some((1, length)),
        b'[' if let Some((used, inside)) = class(pattern, found) => inside.then_some((used, length)),
        byte => (*byte == name[0]).then_some((1, 1)),
    }
}

/// Returns the length of the set (such as `[a-z]`) at the beginning of the pattern, and whether the set contains the
/// character. Returns `None` if the closing bracket is missing.
fn class(pattern: &[u8], found: u32) -> Option<(usize, bool)> {
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let (mut inside, first) = (false, at);
    loop {
        if at > first && pattern.get(at) == Some(&b']') {
            return Some((at + 1, inside != negated));
        }
        let (low, length) = character(&pattern[at..])?;
        at += length;
        let mut high = low;
        if pattern.get(at) == Some(&b'-') && pattern.get(at + 1).is_some_and(|byte| *byte != b']') {
            let (end, length) = character(&pattern[at + 1..])?;
            (high, at) = (end, at + 1 + length);
        }
        inside |= (low..=high).contains(&found);
    }
}

/// Returns the first character as a number, and its length in bytes. A byte that is not valid UTF-8 is treated as one
/// character.
fn character(bytes: &[u8]) -> Option<(u32, usize)> {
    let start = &bytes[..bytes.len().min(4)];
    let chunk = start.utf8_chunks().next()?;
    Some(match chunk.valid().chars().next() {
        Some(character) => (character.into(), character.len_utf8()),
        None => (0x11_0000 + u32::from(bytes[0]), 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches_and_what_does_not() {
        let good = [
            ("a", "a"),
            ("a", "a/b"),
            ("*", "a/b"),
            ("*.jpg", "x.jpg"),
            ("*.jpg", ".jpg"),
            ("a/*/c", "a/b/c"),
            ("a/**/c", "a/c"),
            ("a/**/c", "a/x/y/c/d"),
            ("**/c", "c"),
            ("**/c", "a/b/c"),
            ("a/**", "a/b/c"),
            ("**", "a"),
            ("**/*.rs", "src/x/y.rs"),
            ("**/a/**/b", "x/a/y/a/z/b"),
            ("?", "\u{e4}"),
            ("??", "ab"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[\u{e0}-\u{ff}]", "\u{e4}"),
            ("[]]", "]"),
            ("[a", "[a"),
            ("[a-]", "-"),
            ("*a*b*", "xxaxxbxx"),
            ("*ab", "aab"),
        ];
        for (pattern, path) in good {
            assert!(Glob::new(pattern.as_bytes()).takes(path.as_bytes()), "{pattern} {path}");
        }
        let bad = [
            ("a", "ab"),
            ("a/b", "a"),
            ("*.jpg", "a/x.jpg"),
            ("a/**", "a"),
            ("a/**/c", "a/b"),
            ("?", "ab"),
            ("?", ""),
            ("*", ""),
            ("**", ""),
            ("[a-c]", "d"),
            ("[!a]", "a"),
            ("*a*b", "ba"),
            ("**/c", "a/b"),
            ("*??", "\u{20ac}"),
        ];
        for (pattern, path) in bad {
            assert!(!Glob::new(pattern.as_bytes()).takes(path.as_bytes()), "{pattern} {path}");
        }
        assert!(Glob::new(b"?\xfe*").takes(b"\xff\xfe\xfd"), "bytes that are no text");
    }

    #[test]
    fn the_base_is_what_stands_before_the_first_pattern() {
        for (pattern, base) in [("a/b/*.c", "a/b"), ("*", ""), ("a?/b", ""), ("a/b", "a/b"), ("a/**/b", "a")] {
            assert_eq!(Glob::new(pattern.as_bytes()).base(), base.as_bytes(), "{pattern}");
        }
    }

    /// Matches by a simple recursive search through all possibilities.
    fn slowly(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|length| slowly(rest, &name[length..])),
            Some((b'?', rest)) => !name.is_empty() && slowly(rest, &name[1..]),
            Some((byte, rest)) => name.first() == Some(byte) && slowly(rest, &name[1..]),
        }
    }

    #[test]
    fn all_short_patterns_match_as_if_all_ways_were_tried() {
        let words = |alphabet: &[u8], longest: u32| {
            let mut all = vec![Vec::new()];
            for length in 1..=longest {
                for number in 0..alphabet.len().pow(length) {
                    all.push(
                        (0..length)
                            .map(|place| alphabet[number / alphabet.len().pow(place) % alphabet.len()])
                            .collect::<Vec<_>>(),
                    );
                }
            }
            all
        };
        let names = words(b"ab", 5);
        for pattern in words(b"ab*?", 4) {
            for name in &names {
                assert_eq!(
                    component(&pattern, name),
                    slowly(&pattern, name),
                    "{} {}",
                    pattern.escape_ascii(),
                    name.escape_ascii()
                );
            }
        }
    }
}
