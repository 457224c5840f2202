//! The patterns of `ssh_config`, with `*`, `?` and, in lists, `!`.

/// Returns whether a list of patterns accepts a text: at least one pattern fits, and no pattern after a `!` fits.
pub(super) fn list(patterns: &str, text: &str) -> bool {
    let mut accepted = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if fits(pattern.as_bytes(), text.as_bytes()) => return false,
            Some(_) => {}
            None => accepted |= fits(pattern.as_bytes(), text.as_bytes()),
        }
    }
    accepted
}

/// Returns whether a pattern fits the whole text. `*` stands for any number of bytes, and `?` stands for one byte. The
/// running time is at most proportional to the product of the two lengths.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    // The position of the last `*` in the pattern, and the end of the bytes in the text that this `*` stands for.
    let mut star = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[place] => (at, place) = (at + 1, place + 1),
            _ => {
                let Some((from, to)) = star else { return false };
                star = Some((from, to + 1));
                (at, place) = (from + 1, to + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
