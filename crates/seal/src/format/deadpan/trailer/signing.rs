//! The signers of a file that is being sealed, and the statement that they make about the file.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use super::contents::{self, MOST_SIGNATURES};
use super::footer::Footer;
use super::recorder::{Claim, Recorder};
use super::shelf::Shelf;
use super::statement::{self, Addressee, Addressees, NAMESPACE};
use super::tree::pages;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::header::Parsed;
use crate::format::deadpan::layout::Preamble;
use crate::format::deadpan::metadata;
use crate::key::sign::{Scheme, Signer, VerifyingKey};
use crate::primitive::entropy::Entropy;
use crate::{Error, Recipient};

/// The signers of a file, in the order in which they sign.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signing {
    signers: Vec<Arc<Signer>>,
    /// Whether the signed statement does not name the recipients.
    pub(crate) for_anyone: bool,
}

impl Signing {
    /// Adds a signer.
    pub(crate) fn add(&mut self, signer: Signer) -> Result<(), Error> {
        if self.signers.len() == MOST_SIGNATURES {
            return Err(Error::TooMany("a file can have at most 16 signers"));
        }
        if self.signers.iter().any(|other| other.public() == signer.public()) {
            return Err(Error::Invalid("a key signs twice"));
        }
        self.signers.push(Arc::new(signer));
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.signers.is_empty()
    }

    /// Returns the preamble of the file.
    pub(crate) fn preamble(&self) -> Preamble {
        if self.is_empty() { Preamble::PLAIN } else { Preamble::SIGNED }
    }

    /// Returns the recorder of the file, or `None` if nobody signs. The recorder stores the leaf pages in `shelf`.
    pub(crate) fn recorder<'a>(
        &self,
        key: &FileKey,
        shelf: impl FnOnce() -> Shelf<'a>,
        entropy: Entropy,
    ) -> Result<Option<Recorder<'a>>, Error> {
        if self.is_empty() { Ok(None) } else { Recorder::new(key, shelf(), entropy).map(Some) }
    }

    /// Returns the claim that the signers make about a file with this header.
    pub(crate) fn claim(
        &self,
        contents: &metadata::Contents,
        recipients: &[Recipient],
        header: &[u8],
        entropy: Entropy,
    ) -> Result<Claim, Error> {
        let addressees = if self.for_anyone {
            Addressees::Anyone
        } else {
            let Parsed { entries, group, .. } = Parsed::read(header)?;
            let mut entries = entries.iter().map(|(_, entry)| entry);
            let addressee = |recipient: &Recipient| {
                let first = entries.next()?;
                match recipient {
                    Recipient::Key(key) => Some(Addressee::key(key)),
                    Recipient::Threshold(threshold) => {
                        // A threshold has one entry for each member, but the statement names all members together by
                        // one hash.
                        entries.by_ref().take(threshold.members().len() - 1).for_each(drop);
                        group.as_ref().map(Addressee::group)
                    }
                    // A recipient of another kind has no public part, so the statement names the entry itself.
                    _ => Some(Addressee::entry(first)),
                }
            };
            let all: Option<Vec<_>> = recipients.iter().map(addressee).collect();
            Addressees::named(&all.ok_or(Error::Header("its recipients"))?, entropy)?
        };
        let signers = statement::signers(self.signers.iter().map(|signer| signer.public()));
        Ok(Claim { metadata: contents.fields(), time: statement::now(entropy), signers, audience: addressees })
    }

    /// Returns the length of the trailer of a file with this many segments. The length depends on the keys of the
    /// signers.
    pub(crate) fn trailer_length(&self, fields: &metadata::Contents, recipients: &[Recipient], segments: u64) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let keys = recipients.iter().filter_map(|it| if let Recipient::Key(key) = it { Some(key) } else { None });
        // A key that is in the list twice has only one hash in the statement.
        let different: HashSet<_> = keys.clone().map(|key| (key.kem().id(), key.as_bytes())).collect();
        let marks = if self.for_anyone { 0 } else { recipients.len() - keys.count() + different.len() };
        let length = contents::length(
            pages(segments),
            statement::length(fields.fields().len(), self.signers.len(), marks),
            self.signers.iter().map(|signer| signature_length(signer.public())),
        );
        Footer { segments, sealed_box: length }.trailer()
    }

    /// Signs the recorded data, and writes the trailer: see [`Recorder::finish`]. Returns the length of the trailer.
    pub(crate) fn finish(
        &self,
        recorder: Recorder<'_>,
        key: &FileKey,
        claim: Claim,
        output: impl Write,
    ) -> Result<u64, Error> {
        let sign = |digest: &[u8; 64]| {
            self.signers
                .iter()
                .map(|signer| Ok(signer.sign(NAMESPACE, digest)?.encode().to_vec()))
                .collect::<Result<_, Error>>()
        };
        recorder.finish(key, claim, sign, output)
    }
}

/// Returns the length of an SSHSIG blob with a signature by this key.
fn signature_length(key: &VerifyingKey) -> usize {
    let string = |length: usize| 4 + length;
    let scheme = key.scheme();
    // A signature by a security key also contains flags and a counter.
    let hardware = if scheme == Scheme::SkEd25519 { 5 } else { 0 };
    let signature = string(scheme.ssh_name().len()) + string(scheme.signature_len()) + hardware;
    let parts = [key.to_ssh().len(), NAMESPACE.len(), 0, "sha512".len(), signature];
    "SSHSIG".len() + 4 + parts.map(string).iter().sum::<usize>()
}
