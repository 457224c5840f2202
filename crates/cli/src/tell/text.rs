//! A writer for terminals that accepts only text.

use std::io::{self, Write};

/// Writes text, and fails at control characters and at bytes that are not UTF-8. A terminal obeys control characters,
/// so the terminal gets only text.
pub struct TextOnly<W> {
    output: W,
    /// The first bytes of a character whose other bytes were not written yet.
    begun: Vec<u8>,
}

/// The error of [`TextOnly`].
#[derive(Debug)]
pub struct NotText;

impl std::fmt::Display for NotText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not text")
    }
}

impl std::error::Error for NotText {}

impl<W: Write> TextOnly<W> {
    pub fn new(output: W) -> Self {
        Self { output, begun: Vec::new() }
    }
}

impl<W: Write> Write for TextOnly<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let refuse = || io::Error::new(io::ErrorKind::InvalidData, NotText);
        self.begun.extend_from_slice(bytes);
        let (valid, rest) = match str::from_utf8(&self.begun) {
            Ok(text) => (text, 0),
            Err(error) if error.error_len().is_none() => {
                let (valid, rest) = self.begun.split_at(error.valid_up_to());
                (str::from_utf8(valid).map_err(|_| refuse())?, rest.len())
            }
            Err(_) => return Err(refuse()),
        };
        if valid.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t')) {
            return Err(refuse());
        }
        self.output.write_all(valid.as_bytes())?;
        self.begun.drain(..self.begun.len() - rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_reaches_a_terminal() {
        let mut output = Vec::new();
        let mut terminal = TextOnly::new(&mut output);
        "tab\tline\n\u{e4}\u{20ac}".as_bytes().chunks(1).for_each(|byte| terminal.write_all(byte).unwrap());
        assert!(terminal.write_all(b"\x1b[2J").is_err());
        assert_eq!(output, "tab\tline\n\u{e4}\u{20ac}".as_bytes());
        for bad in [&b"\0"[..], b"\xff", b"\xc2\x9b", b"\x7f"] {
            assert!(TextOnly::new(Vec::new()).write_all(bad).is_err());
        }
    }
}
