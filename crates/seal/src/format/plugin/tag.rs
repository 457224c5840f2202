//! The type of a stanza. Everybody can see the type in a header.

use std::fmt;

/// The maximum number of characters of a type; a longer type is cut.
const LONGEST: usize = 40;

/// The type of a stanza that a plugin made, such as `piv-p256`. A longer type is cut after 40 characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    bytes: [u8; LONGEST],
    length: u8,
}

impl Tag {
    pub(crate) fn from_text(text: &str) -> Self {
        let mut bytes = [0; LONGEST];
        let length = text.len().min(LONGEST);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length: length as u8 }
    }

    /// Returns the characters. They are visible ASCII characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({})", self.as_str())
    }
}
