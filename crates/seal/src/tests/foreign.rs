//! Files for tests that this program does not write, but that the format allows or almost allows. The test files have
//! other segment lengths, an empty last segment, any padding, or any list of entries. The header's MAC is right, so
//! that only the tested rule decides whether a file is valid.

use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::floe::{Message, OVERHEAD, Parameters};
use crate::format::deadpan::header;
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::deadpan::metadata::Contents;
use crate::primitive::entropy::Entropy;
use crate::{Cost, Metadata, Passphrase, Recipient, Secret};

pub(crate) const CHEAP: Cost = Cost { memory: 8, passes: 1, lanes: 1 };

pub(crate) fn recipient() -> Recipient {
    Recipient::Passphrase(Passphrase::new(b"straight face"), CHEAP)
}

/// The properties of a file that this module makes.
#[derive(Clone, Copy)]
pub(crate) struct Foreign {
    /// The number of bytes in a sealed segment.
    pub(crate) segment: u32,
    /// Whether the metadata declare the data of the file as padded. The caller adds the padding.
    pub(crate) padded: bool,
    /// Whether the metadata declare the data of the file as compressed. The caller compresses the data.
    pub(crate) compressed: bool,
    /// Whether the file ends with an additional, empty segment.
    pub(crate) empty_last: bool,
}

impl Default for Foreign {
    fn default() -> Self {
        Self { segment: 4096, padded: false, compressed: false, empty_last: false }
    }
}

/// The files of this module use the key with the number 0.
pub(crate) fn file_key(number: u8) -> FileKey {
    FileKey::from_secret(Secret::copy_of(&[number; KEY]), Preamble::PLAIN).expect("as long as a key")
}

/// Returns the header entry that seals the file key number `number` to a recipient.
pub(crate) fn entry(recipient: &Recipient, number: u8) -> Entry {
    recipient.wrap(&file_key(number), Entropy::Fixed(number)).expect("wrapped").remove(0)
}

impl Foreign {
    /// Seals data to the passphrase.
    pub(crate) fn seal(self, data: &[u8]) -> Vec<u8> {
        self.seal_to(&[entry(&recipient(), 0)], data)
    }

    /// Seals data under the file key 0, with the given entries in the header.
    pub(crate) fn seal_to(self, entries: &[Entry], data: &[u8]) -> Vec<u8> {
        let (key, entropy) = (file_key(0), Entropy::Fixed(0));
        let metadata = Metadata { name: Some(b"a file".to_vec()), ..Metadata::default() };
        let contents = Contents { metadata, padded: self.padded, compressed: self.compressed, ..Contents::default() };
        let metadata = contents.seal(&key, entropy).expect("a box");
        let length = header::length(entries.iter().map(|entry| entry.body.len()), metadata.len());
        let mut sealed = header::encode(&key, entries, &metadata, length).expect("a header");
        let parameters = Parameters::with_segment(self.segment).expect("long enough");
        let (message, floe) = key
            .message(|key| Message::start_with(parameters, key, Preamble::PLAIN.bytes(), entropy))
            .expect("a message");
        sealed.extend_from_slice(&floe);
        let mut pieces: Vec<&[u8]> = data.chunks(message.data_length()).collect();
        if pieces.is_empty() || self.empty_last {
            pieces.push(&[]);
        }
        let mut cipher = message.cipher();
        for (i, piece) in pieces.iter().enumerate() {
            let begin = sealed.len();
            sealed.resize(begin + piece.len() + OVERHEAD, 0);
            cipher.seal(i as u64, i + 1 == pieces.len(), piece, &mut sealed[begin..]).expect("a segment");
        }
        sealed
    }
}
