//! Recipients that are keys of SSH, for age files.

use crate::tell::failure::Failure;
use deadpan_seal::key::KeyError;
use deadpan_seal::key::openssh::{self, SshPublic};

/// Whether a text begins like a public key of SSH.
pub fn is_line(text: &[u8]) -> bool {
    let prefixes: [&[u8]; 3] = [b"ssh-", b"ecdsa-sha2-", b"sk-"];
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

/// Reads a line. `name` is the name for messages.
pub fn line(name: &str, text: &str) -> Result<SshPublic, Failure> {
    openssh::public_line(text).map(|(key, _)| key).map_err(|error| Failure::key(name, &error))
}

/// The public keys of SSH in a text, and the other lines.
type Split = (Vec<SshPublic>, Vec<u8>);

/// Removes the keys of SSH from a text with public keys: an empty line replaces the line of each key. Returns the keys
/// of SSH and the remaining text, or `None` if the text has no key of SSH.
pub fn take(name: &str, text: &[u8]) -> Result<Option<Split>, Failure> {
    // A text with a PEM block has no lines with keys of SSH.
    if text.windows(10).any(|part| part == b"-----BEGIN") {
        return Ok(None);
    }
    let lines = lines(text);
    if !lines.iter().any(|line| is_line(line)) {
        return Ok(None);
    }
    let (mut keys, mut rest) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(lines) {
        if is_line(line) {
            let text = String::from_utf8_lossy(line);
            let (key, _) = openssh::public_line(&text).map_err(|error| Failure::key(name, &in_line(error, number)))?;
            keys.push(key);
        } else {
            rest.extend_from_slice(line);
        }
        rest.push(b'\n');
    }
    Ok(Some((keys, rest)))
}

/// Returns the first line that is neither empty nor a comment, by its number.
pub fn first_line(text: &[u8]) -> Option<usize> {
    let filled = |line: &&[u8]| !line.is_empty() && line[0] != b'#';
    lines(text).iter().position(filled).map(|place| place + 1)
}

/// Returns the lines of a text without the white space around them. Lines end in LF, CR LF or CR, as in key files.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        lines.extend(line.split(|byte| *byte == b'\r').map(<[u8]>::trim_ascii));
    }
    lines
}

/// Adds the number of the line in the text to an error about this line.
fn in_line(error: KeyError, number: usize) -> KeyError {
    use deadpan_seal::key::Place;
    let place = Place::Line(number);
    match error {
        KeyError::Malformed { what, .. } => KeyError::Malformed { place, what },
        KeyError::Unsupported { what, .. } => KeyError::Unsupported { place, what },
        KeyError::Limit { what, .. } => KeyError::Limit { place, what },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ssh_are_taken_out_of_a_text() {
        let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti foo@example.com";
        let text = format!("# comment\n{line}\nage1x\n");
        let (keys, rest) = take("file", text.as_bytes()).ok().flatten().expect("a line");
        assert_eq!((keys.len(), rest.as_slice()), (1, &b"# comment\n\nage1x\n\n"[..]));
        assert!(take("file", b"age1x\n# ssh-rsa\n").ok().flatten().is_none());
        let text = format!("{line}\r  age1x\r\n\tnonsense\r");
        let (keys, rest) = take("file", text.as_bytes()).ok().flatten().expect("a line");
        assert_eq!((keys.len(), rest.as_slice()), (1, &b"\nage1x\nnonsense\n"[..]));
        assert_eq!((first_line(&rest), first_line(b"\n# comment\n")), (Some(2), None));
        assert!(take("file", b"\nssh-rsa AAAA\n").is_err_and(|failure| failure.message.contains("line 2")));
    }
}
