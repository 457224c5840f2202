//! FLOE: authenticated encryption in segments. Each segment can be opened alone, and in any order.
//!
//! This module implements Snowflake's public specification (ePrint 2025/2275) with AES-256-GCM and HKDF-Expand-SHA-384.
//! The module does not depend on the file format: with a 32-byte key, it seals any data.
//!
//! ```
//! use deadpan_seal::floe::{self, Parameters};
//!
//! let (key, about) = ([7; 32], b"what it belongs to");
//! let sealed = floe::seal(Parameters::default(), &key, about, b"straight face")?;
//! assert_eq!(floe::open(&key, about, &sealed)?, b"straight face");
//!
//! // Any segment alone, on any thread:
//! let (header, segments) = sealed.split_at(floe::HEADER);
//! let message = floe::Message::resume(&key, about, header)?;
//! let mut plain = vec![0; 13];
//! message.cipher().open(0, true, segments, &mut plain)?;
//! # Ok::<(), deadpan_seal::Error>(())
//! ```

mod cipher;
mod message;
mod streams;

#[cfg(test)]
mod tests;

pub use cipher::Cipher;
pub use message::{Message, Parameters};
pub use streams::{Reader, SeekReader, Writer};

use crate::Error;
pub use crate::format::segment::Segments;

/// The number of bytes in FLOE's header, which precedes the first segment.
pub const HEADER: usize = PARAMETERS + IV + HEADER_TAG;
/// The number of bytes by which a sealed segment is longer than its data.
pub const OVERHEAD: usize = LENGTH + NONCE + TAG;
/// The maximum number of segments in a message.
pub const MOST_SEGMENTS: u64 = 1 << 40;

const PARAMETERS: usize = 10;
const IV: usize = 32;
const HEADER_TAG: usize = 32;
const LENGTH: usize = 4;
const NONCE: usize = 12;
const TAG: usize = 16;

/// Seals bytes in memory. Returns FLOE's header and all segments.
///
/// # Errors
/// If the system has no random bytes.
pub fn seal(parameters: Parameters, key: &[u8; 32], aad: &[u8], data: &[u8]) -> Result<Vec<u8>, Error> {
    let (message, header) = Message::start(parameters, key, aad)?;
    let mut sealed = header.to_vec();
    message.seal_onto(data, &mut sealed)?;
    Ok(sealed)
}

/// Opens bytes in memory.
///
/// # Errors
/// If the bytes were not sealed with this key and `aad`, if they were changed, or if they are cut short.
pub fn open(key: &[u8; 32], aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let (header, segments) = sealed.split_at_checked(HEADER).ok_or(Error::Truncated)?;
    let mut data = Vec::new();
    Message::resume(key, aad, header)?.open_onto(segments, &mut data)?;
    Ok(data)
}
