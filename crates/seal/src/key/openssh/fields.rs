//! Fields of the SSH wire format (RFC 4251 section 5): numbers, and strings with the length in front.

use crate::key::error::Trouble;
use deadpan_ct::{Choice, CtEq, declassify_bytes};

/// Reads fields one after the other. May leak: the lengths of strings.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// The error for bytes that end too early.
    short: &'static str,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(bytes: &'a [u8], short: &'static str) -> Self {
        Self { rest: bytes, short }
    }

    /// Returns the next `count` bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Trouble> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Trouble::Malformed(self.short))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Returns the next number. The number is public.
    pub(super) fn number(&mut self) -> Result<u32, Trouble> {
        let bytes = declassify_bytes(self.bytes(4)?);
        bytes.try_into().map(u32::from_be_bytes).map_err(|_| Trouble::Malformed(self.short))
    }

    /// Returns the next string.
    pub(super) fn string(&mut self) -> Result<&'a [u8], Trouble> {
        let length = self.number()?;
        self.bytes(usize::try_from(length).map_err(|_| Trouble::Malformed(self.short))?)
    }

    /// Returns the next string, which must be public, as text.
    pub(super) fn text(&mut self) -> Result<&'a str, Trouble> {
        str::from_utf8(declassify_bytes(self.string()?)).map_err(|_| Trouble::Malformed(self.short))
    }

    /// Returns the next number of any length (`mpint`), without the leading zero byte. The number must be positive and
    /// have the shortest form. May leak: whether the number is positive and in its shortest form, and its length.
    pub(super) fn big(&mut self) -> Result<&'a [u8], Trouble> {
        const BAD: Trouble = Trouble::Malformed("a number in the RSA key is not positive or not minimal");
        let bytes = self.string()?;
        let sign = |place: usize| bytes.get(place).map(|byte| Choice::from_bit(*byte >> 7).declassify());
        let is_zero = bytes.first().map(|byte| byte.ct_eq(&0).declassify());
        match (is_zero, sign(0), sign(1)) {
            (Some(true), _, Some(true)) => Ok(&bytes[1..]),
            (Some(false), Some(false), _) => Ok(bytes),
            _ => Err(BAD),
        }
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Checks that no bytes are left.
    pub(super) fn end(&self, trailing: &'static str) -> Result<(), Trouble> {
        if self.rest.is_empty() { Ok(()) } else { Err(Trouble::Malformed(trailing)) }
    }
}
