//! Encoding and decoding of hexadecimal text, in a time that depends only on the length.
//!
//! ```
//! use deadpan_base64::hex;
//!
//! assert_eq!(hex::encode(&[0xde, 0xad]), "dead");
//! assert_eq!(hex::decode("DEad")?, [0xde, 0xad]);
//! # Ok::<(), deadpan_base64::Error>(())
//! ```

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};

use crate::{Error, imp};
use deadpan_ct::{CtZero, Wipe};

/// The letters for digits above nine: `a` to `f`, or `A` to `F`. Decoding accepts both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `0123456789abcdef`
    Lower,
    /// `0123456789ABCDEF`
    Upper,
}

/// Encodes in lower case into a new string. May leak: the length.
#[cfg(feature = "alloc")]
#[must_use]
pub fn encode(input: &[u8]) -> String {
    let mut output = alloc::vec![0; input.len() * 2];
    imp::hex::encode(Case::Lower, input, &mut output);
    imp::string(output)
}

/// Encodes into the front of `output` and returns the written part. May leak: the length.
///
/// # Errors
/// If `output` is too small.
pub fn encode_into<'a>(case: Case, input: &[u8], output: &'a mut [u8]) -> Result<&'a str, Error> {
    let needed = input.len().checked_mul(2).ok_or(Error::TooLong)?;
    let output = output.get_mut(..needed).ok_or(Error::Output { needed })?;
    imp::hex::encode(case, input, output);
    Ok(imp::text(output))
}

/// Decodes upper-case and lower-case digits into a new vector. May leak: the length, and whether the input was valid.
///
/// # Errors
/// If the input is not valid. The whole input is read before the error is returned.
#[cfg(feature = "alloc")]
pub fn decode(input: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
    let input = input.as_ref();
    let mut output = alloc::vec![0; input.len() / 2];
    decode_into(input, &mut output)?;
    Ok(output)
}

/// Decodes upper-case and lower-case digits into the front of `output` and returns the written part. On failure, the
/// output is wiped. May leak: the length, and whether the input was valid.
///
/// # Errors
/// If the input is not valid, or if `output` is too small. The whole input is read before the error is returned.
pub fn decode_into<'a>(input: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
    if !input.len().is_multiple_of(2) {
        return Err(Error::Invalid);
    }
    let needed = input.len() / 2;
    let output = output.get_mut(..needed).ok_or(Error::Output { needed })?;
    if imp::hex::decode(input, output).ct_is_zero().declassify() {
        Ok(output)
    } else {
        output.wipe();
        Err(Error::Invalid)
    }
}
