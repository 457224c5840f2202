//! One type for the payloads of the two formats, so that every way to seal or open works with each format.

use std::sync::Arc;

use crate::Error;
use crate::format::age::{ChunkCipher, Chunks};
use crate::format::deadpan::floe::{Cipher, Message};
use crate::format::segment::{Payload, SegmentCipher, Shape};

/// The payload of a file: a message of FLOE, or the chunks of age.
pub(crate) enum AnyPayload {
    Floe(Message),
    Age(Chunks),
}

pub(crate) enum AnyCipher<M> {
    Floe(Cipher<M>),
    Age(ChunkCipher),
}

/// A cipher that owns its keys and borrows nothing.
pub(crate) type OwnedCipher = AnyCipher<Arc<Message>>;

impl AnyPayload {
    pub(crate) fn into_cipher(self) -> OwnedCipher {
        match self {
            Self::Floe(message) => AnyCipher::Floe(Cipher::new(Arc::new(message))),
            Self::Age(chunks) => AnyCipher::Age(chunks.cipher()),
        }
    }
}

impl Payload for AnyPayload {
    type Cipher<'a> = AnyCipher<&'a Message>;

    fn shape(&self) -> Shape {
        match self {
            Self::Floe(message) => message.shape(),
            Self::Age(chunks) => chunks.shape(),
        }
    }

    fn cipher(&self) -> AnyCipher<&Message> {
        match self {
            Self::Floe(message) => AnyCipher::Floe(message.cipher()),
            Self::Age(chunks) => AnyCipher::Age(chunks.cipher()),
        }
    }
}

impl<M: AsRef<Message>> SegmentCipher for AnyCipher<M> {
    fn shape(&self) -> Shape {
        match self {
            Self::Floe(cipher) => cipher.shape(),
            Self::Age(cipher) => cipher.shape(),
        }
    }

    fn seal(&mut self, segment: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Floe(cipher) => cipher.seal(segment, last, data, sealed),
            Self::Age(cipher) => cipher.seal(segment, last, data, sealed),
        }
    }

    fn open(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Floe(cipher) => cipher.open(segment, last, sealed, data),
            Self::Age(cipher) => cipher.open(segment, last, sealed, data),
        }
    }

    fn open_misplaced(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        match self {
            Self::Floe(cipher) => cipher.open_misplaced(segment, last, sealed, data),
            Self::Age(cipher) => cipher.open_misplaced(segment, last, sealed, data),
        }
    }
}
