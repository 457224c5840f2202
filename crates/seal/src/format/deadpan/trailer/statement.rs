//! The statement consists of the bytes that are signed. The statement describes the sealed data, the time of sealing,
//! the signers and the recipients.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{SHA256, digest};

use super::contents::MOST_SIGNATURES;
use super::tree::{HASH, Hash};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::deadpan::metadata;
use crate::format::deadpan::threshold::entry::KIND as SHARE;
use crate::format::deadpan::threshold::group::Group;
use crate::key::sign::VerifyingKey;
use crate::primitive::entropy::Entropy;
use crate::{Error, PublicKey};

/// The namespace of the signatures. Signatures for other purposes have other namespaces, so such signatures are not
/// valid for a file.
pub(crate) const NAMESPACE: &str = "deadpan-v1";
pub(crate) const LONGEST_STATEMENT: usize = length(metadata::LONGEST_FIELDS, MOST_SIGNATURES, MOST_MARKS);

const VERSION: u8 = 2;
const SALT: usize = 32;
/// The maximum number of recipients that an audience can name. A header can hold more recipients than this number only
/// if some of its entries come from plugins.
const MOST_MARKS: usize = 12_479;
/// The last second of the year 9999.
const LATEST: u64 = 253_402_300_799;

const ANYONE: u8 = 0;
const NAMED: u8 = 1;

/// Returns the number of bytes in a statement, from the number of bytes of metadata, the number of signers, and the
/// number of recipients' hashes (`marks`). If the statement names no recipients, `marks` is 0.
pub(crate) const fn length(metadata: usize, signers: usize, marks: usize) -> usize {
    let named = if marks == 0 { 0 } else { SALT + 2 + marks * HASH };
    1 + Preamble::LENGTH + 2 + metadata + HASH + 8 + 8 + 1 + signers * HASH + 1 + named
}

/// The statement about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) preamble: [u8; Preamble::LENGTH],
    /// The fields of the metadata box, without its padding.
    pub(crate) metadata: Vec<u8>,
    pub(crate) root: Hash,
    /// The number of bytes of data in all segments, including padding.
    pub(crate) length: u64,
    /// The time of signing, in seconds since 1970.
    pub(crate) time: u64,
    /// A hash of each signer's key, in ascending order. Without these hashes, everybody who can open the file could
    /// remove one of several signatures.
    pub(crate) signers: Vec<Hash>,
    pub(crate) audience: Addressees,
}

/// Returns a hash of each signer's key, in ascending order. A statement names its signers by these hashes.
pub(crate) fn signers<'k>(keys: impl Iterator<Item = &'k VerifyingKey>) -> Vec<Hash> {
    let mut hashes: Vec<Hash> = keys.map(|key| sha256(&key.to_ssh())).collect();
    hashes.sort_unstable();
    hashes
}

fn sha256(bytes: &[u8]) -> Hash {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The people for whom the signer sealed the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Addressees {
    Anyone,
    /// The signer named the recipients. The fields are a salt, and a hash (a mark) for each recipient. The marks are in
    /// ascending order.
    Named {
        salt: [u8; SALT],
        marks: Vec<Hash>,
    },
}

/// The value by which an audience names a recipient.
#[derive(Clone, Debug)]
pub(crate) struct Addressee(Vec<u8>);

impl Addressee {
    /// Names the owner of a key.
    pub(crate) fn key(key: &PublicKey) -> Self {
        Self([&key.kem().id().to_be_bytes()[..], key.as_bytes()].concat())
    }

    /// Returns the value that names everybody who can open this entry of a header. A passphrase has no public part, so
    /// a statement names the passphrase by its whole entry.
    pub(crate) fn entry(entry: &Entry) -> Self {
        Self([&entry.kind.to_be_bytes()[..], &entry.body].concat())
    }

    /// Returns one value that names all members of a threshold.
    pub(crate) fn group(group: &Group) -> Self {
        Self([&SHARE.to_be_bytes()[..], group.digest()].concat())
    }

    fn mark(&self, salt: &[u8; SALT]) -> Hash {
        sha256(&[&salt[..], &self.0].concat())
    }
}

impl Addressees {
    pub(crate) fn named(recipients: &[Addressee], entropy: Entropy) -> Result<Self, Error> {
        let mut salt = [0; SALT];
        entropy.fill("audience salt", 0, &mut salt)?;
        let mut marks: Vec<Hash> = recipients.iter().map(|it| it.mark(&salt)).collect();
        marks.sort_unstable();
        marks.dedup();
        if marks.len() > MOST_MARKS {
            return Err(Error::TooMany("a file that is signed for its recipients can have 12479 of them"));
        }
        Ok(Self::Named { salt, marks })
    }

    pub(crate) fn names(&self, recipient: &Addressee) -> bool {
        match self {
            Self::Anyone => false,
            Self::Named { salt, marks } => marks.binary_search(&recipient.mark(salt)).is_ok(),
        }
    }
}

impl Statement {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.preamble);
        bytes.extend_from_slice(&(self.metadata.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&self.metadata);
        bytes.extend_from_slice(&self.root);
        bytes.extend_from_slice(&self.length.to_be_bytes());
        bytes.extend_from_slice(&self.time.to_be_bytes());
        bytes.push(self.signers.len() as u8);
        bytes.extend_from_slice(self.signers.as_flattened());
        match &self.audience {
            Addressees::Anyone => bytes.push(ANYONE),
            Addressees::Named { salt, marks } => {
                bytes.push(NAMED);
                bytes.extend_from_slice(salt);
                bytes.extend_from_slice(&(marks.len() as u16).to_be_bytes());
                bytes.extend_from_slice(marks.as_flattened());
            }
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut rest = RestOfStatement(bytes);
        if rest.number(1)? != u64::from(VERSION) {
            return Err(Error::Newer("another version of the statement that is signed"));
        }
        let preamble = *rest.array()?;
        let metadata = rest.number(2)? as usize;
        let metadata = rest.take(metadata)?.to_vec();
        let root = *rest.array()?;
        let (length, time) = (rest.number(8)?, rest.number(8)?);
        let count = rest.number(1)? as usize;
        let signers: Vec<Hash> = rest.take(count * HASH)?.as_chunks().0.to_vec();
        if signers.is_empty() || count > MOST_SIGNATURES || !signers.is_sorted_by(|one, other| one < other) {
            return Err(Error::Trailer("the signers"));
        }
        let audience = match rest.number(1)? as u8 {
            ANYONE => Addressees::Anyone,
            NAMED => {
                let salt = *rest.array()?;
                let count = rest.number(2)? as usize;
                let marks: Vec<Hash> = rest.take(count * HASH)?.as_chunks().0.to_vec();
                if marks.is_empty() || count > MOST_MARKS || !marks.is_sorted_by(|one, other| one < other) {
                    return Err(Error::Trailer("the audience"));
                }
                Addressees::Named { salt, marks }
            }
            _ => return Err(Error::Newer("an unknown audience")),
        };
        if !rest.0.is_empty() || time > LATEST || metadata.len() > metadata::LONGEST_FIELDS {
            return Err(Error::Trailer("the statement"));
        }
        Ok(Self { preamble, metadata, root, length, time, signers, audience })
    }

    pub(crate) fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.time)
    }
}

/// Returns the present time for a statement. If the clock shows a time before 1970, returns the first second of 1970.
/// If the clock shows a time after 9999, returns the last second of 9999. In a test with fixed entropy, returns a fixed
/// time.
pub(crate) fn now(entropy: Entropy) -> u64 {
    match entropy {
        Entropy::System => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs()).min(LATEST),
        #[cfg(test)]
        Entropy::Fixed(_) => 1_800_000_000,
    }
}

/// The bytes of a part of the trailer that were not read yet.
pub(super) struct RestOfStatement<'a>(pub(super) &'a [u8]);

impl<'a> RestOfStatement<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Error::Trailer("a length in it"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Error> {
        self.take(N)?.try_into().map_err(|_| Error::Trailer("a length in it"))
    }

    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, Error> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kem, PrivateKey};

    fn statement(audience: Addressees) -> Statement {
        let metadata = vec![1, 0, 0];
        let (preamble, signers) = (*Preamble::PLAIN.bytes(), vec![[1; 32], [2; 32]]);
        Statement { preamble, metadata, root: [7; 32], length: 99, time: 1 << 31, signers, audience }
    }

    fn named(recipients: &[Addressee]) -> Addressees {
        Addressees::named(recipients, Entropy::Fixed(1)).expect("no randomness is needed")
    }

    #[test]
    fn what_goes_in_comes_out_and_there_is_one_encoding() {
        let entry = |number: u8| Addressee::entry(&Entry { kind: 0xff01, body: vec![number; 108] });
        for audience in [Addressees::Anyone, named(&[entry(1)]), named(&[entry(1), entry(2), entry(1)])] {
            let statement = statement(audience);
            let bytes = statement.encode();
            let marks = if let Addressees::Named { marks, .. } = &statement.audience { marks.len() } else { 0 };
            assert_eq!(bytes.len(), length(statement.metadata.len(), 2, marks));
            assert_eq!(Statement::decode(&bytes).expect("encoded"), statement);
            for length in 0..bytes.len() {
                assert!(Statement::decode(&bytes[..length]).is_err(), "cut to {length}");
            }
            assert!(Statement::decode(&[&bytes[..], b"\0"].concat()).is_err(), "longer");
            let mut late = statement.clone();
            late.time = LATEST + 1;
            assert!(matches!(Statement::decode(&late.encode()), Err(Error::Trailer(_))));
        }
        let [one, two] = [[1; 32], [2; 32]];
        for marks in [vec![], vec![two, one], vec![one, one]] {
            let bytes = statement(Addressees::Named { salt: [0; SALT], marks }).encode();
            assert!(matches!(Statement::decode(&bytes), Err(Error::Trailer(_))));
        }
        for signers in [vec![], vec![two, one], vec![one, one], (0..17).map(|number| [number; 32]).collect()] {
            let bytes = Statement { signers, ..statement(Addressees::Anyone) }.encode();
            assert!(matches!(Statement::decode(&bytes), Err(Error::Trailer(_))));
        }
        for place in [0, 11 + 2 + 3 + 32 + 16 + 1 + 64] {
            let mut bytes = statement(Addressees::Anyone).encode();
            bytes[place] = 3;
            assert!(matches!(Statement::decode(&bytes), Err(Error::Newer(_))), "{place}");
        }
    }

    #[test]
    fn an_audience_names_its_recipients_and_nobody_else() {
        let key = || PrivateKey::generate(Kem::X25519).expect("a key").public().clone();
        let (alice, bob) = (Addressee::key(&key()), Addressee::key(&key()));
        let entry = Addressee::entry(&Entry { kind: 0xff01, body: vec![1; 108] });
        let audience = named(&[alice.clone(), entry.clone()]);
        assert!(audience.names(&alice) && audience.names(&entry) && !audience.names(&bob));
        assert!(!audience.names(&Addressee::entry(&Entry { kind: 0xff01, body: vec![2; 108] })));
        assert!(!Addressees::Anyone.names(&alice));
    }

    #[test]
    fn recipients_that_no_audience_could_name_are_refused() {
        let of = |count: u32| {
            let entry = |n: u32| Addressee::entry(&Entry { kind: 0xff03, body: n.to_be_bytes().to_vec() });
            Addressees::named(&(0..count).map(entry).collect::<Vec<_>>(), Entropy::Fixed(1))
        };
        assert!(matches!(of(MOST_MARKS as u32), Ok(Addressees::Named { marks, .. }) if marks.len() == MOST_MARKS));
        assert!(matches!(of(MOST_MARKS as u32 + 1), Err(Error::TooMany(_))));
    }

    /// A header cannot have more keys than an audience can name.
    #[test]
    fn every_header_of_keys_has_an_audience() {
        assert_eq!(MOST_MARKS, (crate::format::deadpan::header::LONGEST - 336) / 84);
        assert_eq!(LONGEST_STATEMENT, 404_053);
    }
}
