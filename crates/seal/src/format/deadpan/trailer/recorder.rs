//! Seals a signed file. The segments are hashed while they are sealed, and the trailer is made at the end.

use std::io::Write;

use aws_lc_rs::digest::{SHA512, digest};

use super::contents::TrailerContents;
use super::footer::Footer;
use super::leaves::{Leaves, Page};
use super::part::{self, NONCE, PartCipher};
use super::shelf::Shelf;
use super::statement::{Addressees, Statement};
use super::tree::{self, Hash, LeafHasher};
use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::primitive::entropy::Entropy;

/// Hashes the segments of one file.
pub(crate) struct Recorder<'a> {
    leaves: Leaves,
    shelf: Shelf<'a>,
    cipher: PartCipher,
    entropy: Entropy,
}

/// The parts of a statement that do not come from the data of the file.
pub(crate) struct Claim {
    /// The fields of the metadata box.
    pub(crate) metadata: Vec<u8>,
    /// The time of signing, in seconds since 1970.
    pub(crate) time: u64,
    /// The hashes of the signers' keys, as [`statement::signers`](super::statement::signers) returns them.
    pub(crate) signers: Vec<Hash>,
    pub(crate) audience: Addressees,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(key: &FileKey, shelf: Shelf<'a>, entropy: Entropy) -> Result<Self, Error> {
        Ok(Self { leaves: Leaves::new(), shelf, cipher: PartCipher::new(key, part::LEAVES)?, entropy })
    }

    pub(crate) fn hasher(&self) -> &LeafHasher {
        self.leaves.hasher()
    }

    pub(crate) fn record(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        self.add(segment, &self.hasher().leaf(segment, data), data.len())
    }

    pub(crate) fn add(&self, segment: u64, leaf: &Hash, length: usize) -> Result<(), Error> {
        let Some(page) = self.leaves.add(segment, leaf, length) else { return Ok(()) };
        self.leaves.completed(page.0, tree::page(page.0, &page.1));
        let sealed = seal(&self.cipher, &page, self.entropy)?;
        self.shelf.put(page.0, sealed)
    }

    /// Makes the rest of the trailer. `sign` returns the signatures of a SHA-512 digest. Writes the trailer to
    /// `output`. If the shelf already writes the pages to an output, each at its position, writes the rest of the
    /// trailer to that output, after the pages. Returns the length of the trailer.
    pub(crate) fn finish(
        self,
        key: &FileKey,
        claim: Claim,
        sign: impl FnOnce(&[u8; 64]) -> Result<Vec<Vec<u8>>, Error>,
        output: impl Write,
    ) -> Result<u64, Error> {
        let (last, tree) = self.leaves.finish()?;
        if let Some(page) = last {
            self.shelf.put(page.0, seal(&self.cipher, &page, self.entropy)?)?;
        }
        let statement = Statement {
            preamble: *key.preamble().bytes(),
            metadata: claim.metadata,
            root: tree.root(),
            length: tree.length,
            time: claim.time,
            signers: claim.signers,
            audience: claim.audience,
        };
        let statement = statement.encode();
        let hash = digest(&SHA512, &statement);
        let signatures = sign(hash.as_ref().try_into().expect("SHA-512 has 64 bytes"))?;
        let contents = TrailerContents { pages: tree.pages, statement, signatures }.encode()?;
        let mut nonce = [0; NONCE];
        self.entropy.fill("signatures IV", 0, &mut nonce)?;
        let sealed_box = PartCipher::new(key, part::BOX)?.seal(tree.segments, nonce, &contents)?;
        let footer = Footer { segments: tree.segments, sealed_box: sealed_box.len() };
        let tail = [&sealed_box[..], &footer.encode(key)?].concat();
        self.shelf.finish(footer.leaf_pages(), &tail, output)?;
        Ok(footer.trailer())
    }
}

fn seal(cipher: &PartCipher, (number, leaves): &Page, entropy: Entropy) -> Result<Vec<u8>, Error> {
    let mut nonce = [0; NONCE];
    entropy.fill("leaves IV", *number, &mut nonce)?;
    cipher.seal(*number, nonce, leaves)
}
