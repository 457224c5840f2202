//! Tests of signed files. The tests use all ways of sealing and opening, and files that somebody has changed.

mod agree;
mod audience;
mod damage;
mod example;
mod forged;

use std::io::{Cursor, Read, Seek, Write};

use super::statement::{self, Addressees};
use super::{Claim, Recorder, Shelf, Signatures, Watched};
use crate::api::engine::memory;
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::floe::{Message, Parameters};
use crate::format::deadpan::header;
use crate::format::deadpan::layout::Preamble;
use crate::format::deadpan::metadata::Contents;
use crate::key::sign::{Scheme, Signer, SigningKey, VerifyingKey};
use crate::primitive::entropy::Entropy;
use crate::tests::foreign::recipient;
use crate::tests::scratch::{contents, file_with};
use crate::{Error, Header, Identity, Metadata, Opened, Passphrase, Sealing, Secret, Work};

fn signer() -> (Signer, VerifyingKey) {
    let key = SigningKey::generate(Scheme::Ed25519).expect("a key");
    let public = key.public().clone();
    (key.into(), public)
}

fn sealing(padded: bool) -> (Sealing, VerifyingKey) {
    let (signer, public) = signer();
    let metadata = Metadata { name: Some(b"a file".to_vec()), ..Metadata::default() };
    let sealing = Sealing::to(vec![recipient()]).and_then(|it| it.metadata(metadata)).and_then(|it| it.sign(signer));
    (sealing.expect("a sealing").hide_length(padded).with_entropy(Entropy::Fixed(7)), public)
}

fn identity() -> Identity {
    Identity::Passphrase(Passphrase::new(b"straight face"))
}

fn sample(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn opened(sealed: &[u8]) -> Result<(Opened, &[u8]), Error> {
    let mut payload = sealed;
    let opened = Header::read(&mut payload)?.open(&[identity()])?;
    Ok((opened, payload))
}

type Outcome = Result<(Vec<u8>, Option<Signatures>), Error>;

/// Opens a file in every way. Opens a file in all ways, and returns the name and the result of each way.
fn all_ways(sealed: &[u8]) -> Vec<(String, Outcome)> {
    let (opened, payload) = match opened(sealed) {
        Ok(opened) => opened,
        Err(error) => return vec![("header".into(), Err(error))],
    };
    let mut all = Vec::new();
    for threads in [1, 3] {
        let work = Work { threads, ..Work::default() };
        let output = tempfile::tempfile().expect("a temporary file");
        let done = opened.open_file(&file_with(sealed), &output, &work);
        all.push((format!("file on {threads}"), done.map(|done| (contents(output), done.signatures))));
        let mut output = Vec::new();
        let done = opened.open_stream(payload, &mut output, &work);
        all.push((format!("stream on {threads}"), done.map(|done| (output, done.signatures))));
    }
    let room = opened.room_at(&sealed, sealed.len() as u64).unwrap_or_default() as usize;
    let mut output = vec![0; room.max(sealed.len())];
    let done = opened.open_into(&sealed, sealed.len() as u64, &mut output, &Work::default());
    assert!(done.is_ok() || output.iter().all(|byte| *byte == 0), "what a failure leaves");
    let into = done.map(|done| (output[..done.plain as usize].to_vec(), done.signatures));
    let signatures = into.as_ref().map_or(None, |(_, signatures)| signatures.clone());
    all.push(("into a buffer".into(), into));
    all.push(("bytes".into(), opened.open(payload).map(|plain| (plain, signatures))));

    let read = || {
        let (mut reader, mut output) = (opened.read_from(payload)?, Vec::new());
        if let Err(error) = reader.read_to_end(&mut output) {
            assert!((0..3).all(|_| reader.read(&mut [0; 9]).is_err()), "a reader that failed goes on");
            assert!(reader.signatures().is_none(), "a reader that failed has signatures");
            return Err(library(error));
        }
        Ok((output, reader.signatures().cloned()))
    };
    all.push(("reader".into(), read()));
    let seek = || {
        let (mut reader, mut output) = (opened.seek_in(Cursor::new(sealed))?, Vec::new());
        reader.read_to_end(&mut output).map_err(library)?;
        Ok((output, reader.signatures().cloned()))
    };
    all.push(("seekable".into(), seek()));
    all
}

fn library(error: std::io::Error) -> Error {
    error.downcast().unwrap_or_else(Error::Read)
}

/// Checks that every way to open the file returns `data`, signed by these keys.
fn assert_opens(sealed: &[u8], data: &[u8], keys: &[VerifyingKey], what: &str) -> Option<Signatures> {
    let mut first = None;
    for (way, outcome) in all_ways(sealed) {
        let (found, signatures) = outcome.unwrap_or_else(|error| panic!("{what}: {way}: {error}"));
        assert!(found == data, "{what}: {way}: {} bytes instead of {}", found.len(), data.len());
        assert_eq!(signatures.as_ref().map_or(&[][..], Signatures::keys), keys, "{what}: {way}");
        assert!(first.is_none() || first == signatures, "{what}: {way}");
        first = first.or(signatures);
    }
    first
}

/// Checks that every way to open the file fails with an error whose cause is the input. Returns the errors.
fn assert_refused(sealed: &[u8], what: &str) -> Vec<Error> {
    let mut errors = Vec::new();
    for (way, outcome) in all_ways(sealed) {
        let Err(error) = outcome else { panic!("{what}: {way} opens it") };
        assert_eq!(error.fault(), crate::Fault::Data, "{what}: {way}: {error}");
        errors.push(error);
    }
    errors
}

/// A signed file of another writer. The file has short segments. A test can change its parts, as a recipient with the
/// file key could do.
struct ForeignTrailer {
    key: FileKey,
    segment: u32,
    empty_last: bool,
}

impl ForeignTrailer {
    fn new() -> Self {
        let key = FileKey::from_secret(Secret::copy_of(&[9; KEY]), Preamble::SIGNED).expect("as long as a key");
        Self { key, segment: 4096, empty_last: false }
    }

    fn contents() -> Contents {
        let metadata = Metadata { name: Some(b"a file".to_vec()), ..Metadata::default() };
        Contents { metadata, ..Contents::default() }
    }

    /// Returns the header followed by FLOE's header, and the message.
    fn begin(&self, contents: &Contents) -> (Vec<u8>, Message) {
        let entropy = Entropy::Fixed(9);
        let entries = recipient().wrap(&self.key, entropy).expect("wrapped");
        let metadata = contents.seal(&self.key, entropy).expect("a box");
        let length = header::length(entries.iter().map(|entry| entry.body.len()), metadata.len());
        let mut sealed = header::encode(&self.key, &entries, &metadata, length).expect("a header");
        let parameters = Parameters::with_segment(self.segment).expect("long enough");
        let start = |key: &[u8; KEY]| Message::start_with(parameters, key, Preamble::SIGNED.bytes(), entropy);
        let (message, floe) = self.key.message(start).expect("a message");
        sealed.extend_from_slice(&floe);
        (sealed, message)
    }

    fn seal(&self, data: &[u8], signers: &[&Signer]) -> Vec<u8> {
        let contents = Self::contents();
        let (mut sealed, message) = self.begin(&contents);
        let recorder = Recorder::new(&self.key, Shelf::held(), Entropy::Fixed(9)).expect("a recorder");
        let payload = Watched { payload: &message, watch: &recorder };
        if self.empty_last {
            let full = message.data_length();
            let count = data.len() / full;
            let mut cipher = crate::format::segment::Payload::cipher(&payload);
            for (i, piece) in data.chunks(full).chain([&[][..]]).enumerate() {
                let begin = sealed.len();
                sealed.resize(begin + piece.len() + crate::format::deadpan::floe::OVERHEAD, 0);
                crate::format::segment::SegmentCipher::seal(
                    &mut cipher,
                    i as u64,
                    i == count,
                    piece,
                    &mut sealed[begin..],
                )
                .expect("a segment");
            }
        } else {
            memory::seal(&payload, data, &mut sealed).expect("sealed");
        }
        let claim = Claim {
            metadata: contents.fields(),
            time: statement::now(Entropy::Fixed(9)),
            signers: statement::signers(signers.iter().map(|signer| signer.public())),
            audience: Addressees::Anyone,
        };
        let sign = |digest: &[u8; 64]| {
            signers.iter().map(|signer| Ok(signer.sign(statement::NAMESPACE, digest)?.encode().to_vec())).collect()
        };
        recorder.finish(&self.key, claim, sign, &mut sealed).expect("a trailer");
        sealed
    }
}
