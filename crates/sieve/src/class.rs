//! Sets of bytes in patterns: `[abc]`, `[a-z]`, `[!a-z]`, `[[:alpha:]]`.

/// A set of bytes. A set never contains a slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class([u64; 4]);

impl Class {
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn add_if(&mut self, is_member: impl Fn(u8) -> bool) {
        (0..=255).filter(|byte| is_member(*byte)).for_each(|byte| self.add(byte));
    }
}

/// Reads a set that follows a `[`. Returns the set and its length with the `]`, or `None` if the `]` is missing or the
/// set names an unknown class.
pub(crate) fn class(pattern: &[u8]) -> Option<(Class, usize)> {
    let mut class = Class::default();
    let is_negated = matches!(pattern.first()?, b'!' | b'^');
    let mut at = usize::from(is_negated);
    // The byte that a range can begin with. After a range or a named class, there is none.
    let mut previous = None;
    let first = at;
    loop {
        let byte = *pattern.get(at)?;
        match byte {
            b']' if at > first => break,
            b'\\' => {
                at += 1;
                let literal = *pattern.get(at)?;
                class.add(literal);
                previous = Some(literal);
            }
            b'-' if let Some(low) = previous
                && pattern.get(at + 1).is_some_and(|next| *next != b']') =>
            {
                at += 1;
                if pattern[at] == b'\\' {
                    at += 1;
                }
                let high = *pattern.get(at)?;
                (low..=high).for_each(|byte| class.add(byte));
                previous = None;
            }
            b'[' if pattern.get(at + 1) == Some(&b':') => {
                let end = at + 2 + pattern[at + 2..].iter().position(|byte| *byte == b']')?;
                if end > at + 2 && pattern[end - 1] == b':' {
                    class.add_if(named(&pattern[at + 2..end - 1])?);
                    at = end;
                    previous = None;
                } else {
                    class.add(b'[');
                    previous = Some(b'[');
                }
            }
            byte => {
                class.add(byte);
                previous = Some(byte);
            }
        }
        at += 1;
    }
    if is_negated {
        class.0 = class.0.map(|bits| !bits);
    }
    class.0[usize::from(b'/' >> 6)] &= !(1 << (b'/' & 63));
    Some((class, at + 1))
}

/// Returns the members of a named class. Only ASCII characters are members.
fn named(name: &[u8]) -> Option<fn(u8) -> bool> {
    Some(match name {
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => |byte| byte.is_ascii_control(),
        b"digit" => |byte| byte.is_ascii_digit(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte == b' ' || byte.is_ascii_graphic(),
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_sets() {
        for (pattern, members, others) in [
            (&b"abc]"[..], &b"abc"[..], &b"d]-/"[..]),
            (b"a-c]", b"abc", b"d-"),
            (b"]a]", b"]a", b"["),
            (b"!]a]", b"[b\xff", b"]a/"),
            (b"^a]", b"b^", b"a"),
            (b"a-]", b"a-", b"b"),
            (b"-a]", b"-a", b"b"),
            (b"a-c-e]", b"abc-e", b"d"),
            (b"\\]a]", b"]a", b"\\"),
            (b"a-\\c]", b"abc", b"\\"),
            (b"c-a]", b"c", b"ab-"),
            (b"[:digit:]x]", b"0189x", b":dgt"),
            (b"[:digit]", b"[:digt", b"0"),
            (b"\x80-\xff]", b"\x80\xc3\xff", b"a"),
            (b".-0]", b".0", b"/"),
        ] {
            let (class, length) = class(pattern).expect("a set");
            let shown = pattern.escape_ascii();
            assert_eq!(length, pattern.len(), "{shown}");
            members.iter().for_each(|byte| assert!(class.has(*byte), "{shown} {byte}"));
            others.iter().for_each(|byte| assert!(!class.has(*byte), "{shown} {byte}"));
        }
        for wrong in [&b""[..], b"!", b"]", b"!]", b"a", b"a-", b"\\", b"a\\", b"[:word:]]", b"[:digit:]", b"[:alpha:"]
        {
            assert_eq!(class(wrong), None, "{}", wrong.escape_ascii());
        }
    }
}
