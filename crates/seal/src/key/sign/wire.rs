//! The data types of SSH (RFC 4251 section 5): numbers, and strings with the length in front.

/// Reads values one after the other. Each method returns `None` if the bytes end too early. May leak: lengths.
pub(crate) struct WireReader<'a> {
    rest: &'a [u8],
}

impl<'a> WireReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.bytes(1)?.first().copied()
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Returns the next string, which must be public, as text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.string()?).ok()
    }

    #[cfg(test)]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Checks that no bytes are left. Returns `Some` if no bytes are left, and `None` otherwise.
    pub(crate) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

/// Returns the bytes of several strings, with the length in front of each string.
pub(crate) fn strings(strings: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(strings.iter().map(|string| 4 + string.len()).sum());
    for string in strings {
        bytes.extend((string.len() as u32).to_be_bytes());
        bytes.extend_from_slice(string);
    }
    bytes
}
