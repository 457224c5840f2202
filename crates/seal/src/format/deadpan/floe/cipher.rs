//! Seals and opens single segments.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::{LENGTH, MOST_SEGMENTS, Message, NONCE, OVERHEAD, TAG};
use crate::Error;
use crate::format::segment::{Payload, SegmentCipher, Shape};
use deadpan_ct::{Wipe, Wiped};

/// The first bytes of every segment except the last one. The last segment begins with its own length instead of these
/// bytes.
const MORE: [u8; LENGTH] = [0xff; LENGTH];

/// Seals and opens the segments of one message.
pub struct Cipher<M> {
    message: M,
    key: Option<(u64, LessSafeKey)>,
}

impl<M> fmt::Debug for Cipher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(..)")
    }
}

impl<M: AsRef<Message>> SegmentCipher for Cipher<M> {
    fn shape(&self) -> Shape {
        Payload::shape(self.message())
    }

    fn seal(&mut self, segment: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        Self::seal(self, segment, last, data, sealed)
    }

    fn open(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        Self::open(self, segment, last, sealed, data)
    }
}

/// Returns the additional data of a segment: the segment's number, and a byte that marks the last segment.
fn about(segment: u64, last: bool) -> Aad<[u8; 9]> {
    let mut about = [0; 9];
    about[..8].copy_from_slice(&segment.to_be_bytes());
    about[8] = last.into();
    Aad::from(about)
}

impl<M: AsRef<Message>> Cipher<M> {
    /// Makes a cipher for the segments of `message`.
    pub fn new(message: M) -> Self {
        Self { message, key: None }
    }

    /// Returns the message.
    pub fn message(&self) -> &Message {
        self.message.as_ref()
    }

    fn key(&mut self, segment: u64) -> Result<&LessSafeKey, Error> {
        let epoch = self.message().epoch(segment);
        if self.key.as_ref().is_none_or(|(held, _)| *held != epoch) {
            let mut bytes = Wiped::new([0; 32]);
            self.message().segment_key(epoch, &mut bytes)?;
            let key = UnboundKey::new(&AES_256_GCM, &*bytes).map_err(|_| Error::System("no cipher"))?;
            self.key = Some((epoch, LessSafeKey::new(key)));
        }
        Ok(&self.key.as_ref().expect("just made").1)
    }

    /// Seals `data` into `sealed`, which must be longer than `data` by [`OVERHEAD`]. Only the last segment may be
    /// shorter than the other segments.
    ///
    /// # Errors
    /// If the lengths do not fit, or the system has no random bytes.
    pub fn seal(&mut self, segment: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        let full = self.message().data_length();
        if sealed.len() != data.len() + OVERHEAD
            || data.len() > full
            || (!last && data.len() != full)
            || segment >= MOST_SEGMENTS
        {
            return Err(Error::Invalid("a segment of the wrong length, or beyond the last that there can be"));
        }
        let (length, rest) = sealed.split_at_mut(LENGTH);
        let (nonce, rest) = rest.split_at_mut(NONCE);
        let (output, tag) = rest.split_at_mut(data.len());
        length.copy_from_slice(&if last { ((data.len() + OVERHEAD) as u32).to_be_bytes() } else { MORE });
        // A new IV is drawn for each segment. If IVs were generated in advance, they would be used twice after a fork
        // or a snapshot.
        let fresh = self.message().nonce(segment)?;
        nonce.copy_from_slice(&fresh);
        self.key(segment)?
            .seal_out_of_place_scatter(
                Nonce::assume_unique_for_key(fresh),
                about(segment, last),
                data,
                output,
                &[],
                tag,
            )
            .map_err(|_| Error::System("sealing failed"))
    }

    /// Opens a segment into `data`, which must be shorter than `sealed` by [`OVERHEAD`]. After a failure, `data`
    /// contains no data of the segment.
    ///
    /// # Errors
    /// If the segment was changed or belongs to another position, or if `last` does not match the segment.
    pub fn open(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        if sealed.len() != data.len() + OVERHEAD || segment >= MOST_SEGMENTS {
            return Err(Error::Invalid("a segment of the wrong length, or beyond the last that there can be"));
        }
        let (length, rest) = sealed.split_at(LENGTH);
        let (nonce, rest) = rest.split_at(NONCE);
        let (input, tag) = rest.split_at(rest.len() - TAG);
        self.check_length(segment, last, length, sealed.len())?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Truncated)?;
        let opened = self.key(segment)?.open_separate_gather(nonce, about(segment, last), input, tag, data);
        opened.map_err(|_| {
            data.wipe();
            Error::Segment { segment }
        })
    }

    /// Compares the segment's length field with the real length and with `last`. The error shows whether the message
    /// was cut short, extended or changed.
    fn check_length(&self, segment: u64, last: bool, length: &[u8], actual: usize) -> Result<(), Error> {
        let length: [u8; LENGTH] = length.try_into().expect("split at its length");
        let said = u32::from_be_bytes(length) as usize;
        let full = self.message().segment_length();
        match (last, length == MORE) {
            (false, true) => Ok(()),
            (true, false) if said == actual => Ok(()),
            (true, true) => Err(Error::Truncated),
            (true, false) if said > actual && said <= full => Err(Error::Truncated),
            (_, false) if (OVERHEAD..=full).contains(&said) => Err(Error::Trailing),
            _ => Err(Error::Segment { segment }),
        }
    }
}
