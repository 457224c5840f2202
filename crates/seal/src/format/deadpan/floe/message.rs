//! A message: its parameters, and the keys of its segments.

use std::fmt;
use std::io::Read;
use std::ops::Range;

use super::{Cipher, HEADER, HEADER_TAG, IV, NONCE, OVERHEAD, PARAMETERS, Segments};
use crate::format::fill::read_full;
use crate::format::segment::{Payload, Shape};
use crate::primitive::entropy::Entropy;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Secret};

/// The parameters of a message: the length of the segments, and the number of segments after which the key changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    segment: u32,
    rotation: u32,
}

impl Default for Parameters {
    /// Returns parameters for segments of 256 KiB, with a new key after every 2^20 segments.
    fn default() -> Self {
        Self { segment: 256 << 10, rotation: 20 }
    }
}

impl Parameters {
    /// Sets the number of bytes in a sealed segment. Returns `None` if this length leaves no room for data.
    #[must_use]
    pub const fn with_segment(segment: u32) -> Option<Self> {
        if segment as usize > OVERHEAD && segment < u32::MAX { Some(Self { segment, rotation: 20 }) } else { None }
    }

    /// Sets the key to change after every 2^`bits` segments. The specification uses 20 bits. Other values than 20 occur
    /// only in the known answers of tests.
    #[must_use]
    pub const fn with_rotation(self, bits: u32) -> Self {
        Self { rotation: if bits < 64 { bits } else { 63 }, ..self }
    }

    /// Returns the number of bytes in a full sealed segment.
    #[must_use]
    pub const fn segment_length(self) -> usize {
        self.segment as usize
    }

    const fn shape(self) -> Shape {
        Shape { sealed: self.segment_length(), overhead: OVERHEAD }
    }

    /// Reads the parameters at the beginning of a message. The parameters are authentic only after [`Message::resume`].
    ///
    /// # Errors
    /// If the input ends too early, or has unknown parameters.
    pub fn read(mut input: impl Read) -> Result<Self, Error> {
        let mut bytes = [0; PARAMETERS];
        if read_full(&mut input, &mut bytes).map_err(Error::Read)? < PARAMETERS {
            return Err(Error::Truncated);
        }
        Self::decode(&bytes)
    }

    /// Returns how `sealed` bytes divide into sealed segments.
    ///
    /// # Errors
    /// If no message has this length.
    pub fn segments_in(self, sealed: u64) -> Result<Segments, Error> {
        Segments::for_sealed(self.shape(), sealed)
    }

    /// Returns the bytes of the parameters: AES-256-GCM, HKDF-Expand-SHA-384, the segment length, and the IV length.
    fn encode(self) -> [u8; PARAMETERS] {
        let mut bytes = [0; PARAMETERS];
        bytes[2..6].copy_from_slice(&self.segment.to_be_bytes());
        bytes[6..].copy_from_slice(&(IV as u32).to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8; PARAMETERS]) -> Result<Self, Error> {
        let number =
            |range: Range<usize>| bytes[range].iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        if bytes[..2] != [0, 0] {
            return Err(Error::Newer("another cipher"));
        }
        if number(6..10) != IV as u32 {
            return Err(Error::Header("the length of FLOE's IV"));
        }
        Self::with_segment(number(2..6)).ok_or(Error::Header("FLOE's segment length"))
    }
}

/// A message. A message seals and opens segments, so it holds the message key.
pub struct Message {
    parameters: Parameters,
    /// The parameters and the IV, with which the input of each key derivation begins. The purpose and `aad` follow.
    prefix: [u8; PARAMETERS + IV],
    aad: Box<[u8]>,
    /// The message key, from which the keys of the segments are derived.
    key: Secret,
    entropy: Entropy,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

impl AsRef<Self> for Message {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Payload for Message {
    type Cipher<'a> = Cipher<&'a Self>;

    fn shape(&self) -> Shape {
        self.parameters.shape()
    }

    fn cipher(&self) -> Cipher<&Self> {
        Cipher::new(self)
    }
}

impl Message {
    /// Starts a message. Returns the message and its header.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn start(parameters: Parameters, key: &[u8; 32], aad: &[u8]) -> Result<(Self, [u8; HEADER]), Error> {
        Self::start_with(parameters, key, aad, Entropy::System)
    }

    pub(crate) fn start_with(
        parameters: Parameters,
        key: &[u8; 32],
        aad: &[u8],
        entropy: Entropy,
    ) -> Result<(Self, [u8; HEADER]), Error> {
        let mut header = [0; HEADER];
        header[..PARAMETERS].copy_from_slice(&parameters.encode());
        entropy.fill("FLOE IV", 0, &mut header[PARAMETERS..PARAMETERS + IV])?;
        let message = Self::new(parameters, key, aad, &header, entropy)?;
        message.expand(key, [b"HEADER_TAG:", b""], &mut header[PARAMETERS + IV..])?;
        Ok((message, header))
    }

    /// Resumes the message that begins with this header.
    ///
    /// # Errors
    /// If the header is not well formed, or was not made with this key and `aad`.
    pub fn resume(key: &[u8; 32], aad: &[u8], header: &[u8]) -> Result<Self, Error> {
        Self::resume_with_rotation(key, aad, header, Parameters::default().rotation)
    }

    /// Resumes a message like [`Message::resume`], but with a new key after every 2^`bits` segments. The header does
    /// not contain `bits`.
    ///
    /// # Errors
    /// If the header is not well formed, or was not made with this key and `aad`.
    pub fn resume_with_rotation(key: &[u8; 32], aad: &[u8], header: &[u8], bits: u32) -> Result<Self, Error> {
        let header: &[u8; HEADER] = header.try_into().map_err(|_| Error::Truncated)?;
        let parameters = Parameters::decode(header.first_chunk().expect("a header is longer"))?.with_rotation(bits);
        let message = Self::new(parameters, key, aad, header, Entropy::System)?;
        let mut tag = Secret::zeroed(HEADER_TAG);
        message.expand(key, [b"HEADER_TAG:", b""], &mut tag)?;
        if tag.same(&header[PARAMETERS + IV..]) { Ok(message) } else { Err(Error::HeaderForged) }
    }

    fn new(
        parameters: Parameters,
        key: &[u8; 32],
        aad: &[u8],
        header: &[u8; HEADER],
        entropy: Entropy,
    ) -> Result<Self, Error> {
        let prefix = *header.first_chunk().expect("a header is longer");
        let mut message = Self { parameters, prefix, aad: aad.into(), key: Secret::zeroed(0), entropy };
        let mut derived = Secret::zeroed(48);
        message.expand(key, [b"MESSAGE_KEY:", b""], &mut derived)?;
        message.key = derived;
        Ok(message)
    }

    /// Derives bytes with `FLOE_KDF`. The purpose is given in two parts.
    fn expand(&self, key: &[u8], purpose: [&[u8]; 2], output: &mut [u8]) -> Result<(), Error> {
        hkdf::expand(HkdfHash::Sha384, key, &[&self.prefix, purpose[0], purpose[1], &self.aad].concat(), output)
    }

    pub(super) fn segment_key(&self, epoch: u64, key: &mut [u8; 32]) -> Result<(), Error> {
        self.expand(&self.key, [b"DEK:", &(epoch << self.parameters.rotation).to_be_bytes()], key)
    }

    /// Returns the epoch of a segment. All segments of an epoch have the same key.
    pub(super) fn epoch(&self, segment: u64) -> u64 {
        segment >> self.parameters.rotation
    }

    pub(super) fn nonce(&self, segment: u64) -> Result<[u8; NONCE], Error> {
        let mut nonce = [0; NONCE];
        self.entropy.fill("segment IV", segment, &mut nonce)?;
        Ok(nonce)
    }

    /// Returns the number of bytes in a full sealed segment.
    #[must_use]
    pub fn segment_length(&self) -> usize {
        self.parameters.segment_length()
    }

    /// Returns the number of bytes of data in a full segment.
    #[must_use]
    pub fn data_length(&self) -> usize {
        self.segment_length() - OVERHEAD
    }

    /// Returns a cipher for segments. Each thread needs its own cipher, because a cipher stores the key of the segment
    /// that it used last.
    #[must_use]
    pub fn cipher(&self) -> Cipher<&Self> {
        Cipher::new(self)
    }

    /// Returns how data of this length divide into segments.
    ///
    /// # Errors
    /// If the data are too long for a message.
    pub fn segments_for(&self, data: u64) -> Result<Segments, Error> {
        Payload::segments_for(self, data)
    }

    /// Returns how `sealed` bytes divide into sealed segments.
    ///
    /// # Errors
    /// If no message has this length.
    pub fn segments_in(&self, sealed: u64) -> Result<Segments, Error> {
        self.parameters.segments_in(sealed)
    }

    /// Seals all of `data` and appends the segments to `sealed`.
    ///
    /// # Errors
    /// If the data are too long, or the system has no random bytes.
    pub fn seal_onto(&self, data: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        Payload::seal_onto(self, data, sealed)
    }

    /// Opens all segments and appends the data to `data`. After an error, `data` is unchanged.
    ///
    /// # Errors
    /// If the segments were changed or cut short.
    pub fn open_onto(&self, sealed: &[u8], data: &mut Vec<u8>) -> Result<(), Error> {
        Payload::open_onto(self, sealed, data)
    }
}
