//! Opens a signed file: the box with the signatures, and the leaf pages with which segments are compared.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA512, digest};
use parking_lot::Mutex;

use super::contents::{self, TrailerContents};
use super::footer::{FOOTER, FULL_PAGE, Footer};
use super::leaves::Leaves;
use super::part::{self, EXTRA, PartCipher};
use super::signatures::{Audience, Signatures};
use super::statement::{self, Addressee, Addressees, NAMESPACE, Statement};
use super::tree::{self, HASH, LEAVES, LeafHasher, Tree, pages};
use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::format::fill::read_full;
use crate::key::sign::{Hash, SshSig};
use deadpan_ct::Wiped;

/// The maximum number of leaf pages in memory. A page has 256 KiB. A few pages are enough, because all workers read
/// nearby positions of the file.
const CACHED: usize = 2;

/// The values that a reader takes from the header of a signed file.
pub(crate) struct Expected<'a> {
    pub(crate) key: &'a FileKey,
    /// The fields of the metadata box.
    pub(crate) metadata: Vec<u8>,
    pub(crate) opener: &'a Addressee,
}

/// The upper part of the hash tree of a signed file. The signatures of the file were checked and are right. Segments
/// are compared with the leaves below this part of the tree.
pub(crate) struct Verified {
    tree: Tree,
    pub(crate) signatures: Signatures,
    cipher: PartCipher,
    hasher: LeafHasher,
    cache: Mutex<Vec<(u64, Leaf)>>,
}

type Leaf = Arc<Wiped<Vec<u8>>>;

impl Verified {
    /// Opens the box. Checks the signatures, and checks that the signed statement is about this file.
    fn open(about: &Expected<'_>, footer: Footer, sealed_box: &[u8]) -> Result<Self, Error> {
        let bytes = PartCipher::new(about.key, part::BOX)?.open(footer.segments, sealed_box)?;
        let TrailerContents { pages, statement: signed, signatures } =
            TrailerContents::decode(&bytes, pages(footer.segments))?;
        let hash = digest(&SHA512, &signed);
        let hash = hash.as_ref();
        let mut keys = Vec::with_capacity(signatures.len());
        for blob in &signatures {
            let signature = SshSig::decode(blob)?;
            if signature.hash() != Hash::Sha512 || signature.namespace() != NAMESPACE {
                return Err(Error::Trailer("a signature for another purpose"));
            }
            signature.verify(NAMESPACE, hash).map_err(|error| match error {
                Error::System(_) => error,
                _ => Error::SignatureForged,
            })?;
            if keys.contains(signature.key()) {
                return Err(Error::Trailer("a key that signed twice"));
            }
            keys.push(signature.key().clone());
        }
        let statement = Statement::decode(&signed)?;
        let tree = Tree { segments: footer.segments, length: statement.length, pages };
        let is_about_this_file = statement.preamble == *about.key.preamble().bytes()
            && statement.metadata == about.metadata
            && statement.root == tree.root()
            && statement.signers == statement::signers(keys.iter());
        if !is_about_this_file {
            return Err(Error::SignatureForged);
        }
        let audience = match &statement.audience {
            Addressees::Anyone => Audience::Anyone,
            named @ Addressees::Named { marks, .. } if named.names(about.opener) => {
                Audience::Opener { recipients: marks.len() }
            }
            Addressees::Named { marks, .. } => Audience::Others { recipients: marks.len() },
        };
        Ok(Self {
            tree,
            signatures: Signatures { keys, time: statement.time(), audience },
            cipher: PartCipher::new(about.key, part::LEAVES)?,
            hasher: LeafHasher::new(),
            cache: Mutex::default(),
        })
    }

    /// Reads the trailer of a whole file of `length` bytes, whose first segment begins at `begin`. Also returns the
    /// position of the trailer.
    pub(crate) fn read_at(
        about: &Expected<'_>,
        mut input: impl Read + Seek,
        begin: u64,
        length: u64,
    ) -> Result<(Self, u64), Error> {
        let mut read = |bytes: &mut [u8], position| {
            input.seek(SeekFrom::Start(position)).map_err(Error::Read)?;
            let read = read_full(&mut input, bytes).map_err(Error::Read)?;
            if read < bytes.len() { Err(Error::Truncated) } else { Ok(()) }
        };
        let mut footer = [0; FOOTER];
        let end = length.checked_sub(FOOTER as u64).filter(|end| *end >= begin).ok_or(Error::Truncated)?;
        read(&mut footer, end)?;
        let footer = Footer::open(&footer, about.key)?;
        let trailer = length.checked_sub(footer.trailer()).filter(|trailer| *trailer >= begin);
        let trailer = trailer.ok_or(Error::Truncated)?;
        let mut sealed_box = vec![0; footer.sealed_box];
        read(&mut sealed_box, trailer + footer.leaf_pages())?;
        Ok((Self::open(about, footer, &sealed_box)?, trailer))
    }

    /// Reads the trailer from a stream after all segments. `leaves` holds the collected leaves of the segments.
    pub(crate) fn read(about: &Expected<'_>, mut input: impl Read, leaves: &Leaves) -> Result<Signatures, Error> {
        let (_, tree) = leaves.finish()?;
        let cipher = PartCipher::new(about.key, part::LEAVES)?;
        let mut sealed = Vec::new();
        for (number, hash) in (0..).zip(&tree.pages) {
            sealed.resize(tree::leaves_in(number, tree.segments) * HASH + EXTRA, 0);
            if read_full(&mut input, &mut sealed).map_err(Error::Read)? < sealed.len() {
                return Err(Error::Truncated);
            }
            if tree::page(number, &cipher.open(number, &sealed)?) != *hash {
                return Err(Error::SignatureForged);
            }
        }
        // The limit is one byte above the maximum length of the trailer's rest, so that the code detects an input that
        // is too long.
        let most = contents::longest(tree.pages.len() as u64) + FOOTER as u64 + 1;
        let mut rest = Vec::new();
        input.take(most).read_to_end(&mut rest).map_err(Error::Read)?;
        let (sealed_box, footer) = rest.split_last_chunk().ok_or(Error::Truncated)?;
        let footer = Footer::open(footer, about.key)?;
        if footer.segments != tree.segments || footer.sealed_box != sealed_box.len() {
            return Err(Error::Trailer("its length"));
        }
        let verified = Self::open(about, footer, sealed_box)?;
        if verified.tree != tree {
            return Err(Error::SignatureForged);
        }
        Ok(verified.signatures)
    }

    /// Checks that the payload has these segments, with this many bytes of data.
    pub(crate) fn check_segments(&self, count: u64, data: u64) -> Result<(), Error> {
        if count != self.tree.segments {
            return Err(Error::Trailer("its length"));
        }
        if data == self.tree.length { Ok(()) } else { Err(Error::SignatureForged) }
    }

    /// Compares the data of a segment with the signed hashes. `read` fills a buffer with the bytes at a position within
    /// the trailer. One leaf page is read for each 2 GiB of data.
    pub(crate) fn check(
        &self,
        segment: u64,
        data: &[u8],
        read: impl FnOnce(&mut [u8], u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let leaf = self.hasher.leaf(segment, data);
        let page = self.page(segment / LEAVES, read)?;
        let at = (segment % LEAVES) as usize * HASH;
        if page.get(at..at + HASH) == Some(&leaf[..]) { Ok(()) } else { Err(Error::SignatureForged) }
    }

    fn page(&self, number: u64, read: impl FnOnce(&mut [u8], u64) -> Result<(), Error>) -> Result<Leaf, Error> {
        // The lock is held while a page is read, so that no other worker reads the same page.
        let mut cache = self.cache.lock();
        if let Some((_, page)) = cache.iter().find(|(cached, _)| *cached == number) {
            return Ok(page.clone());
        }
        let hash = usize::try_from(number).ok().and_then(|number| self.tree.pages.get(number));
        let hash = hash.ok_or(Error::Trailer("its length"))?;
        let place = self.place(number);
        let mut sealed = vec![0; (place.end - place.start) as usize];
        read(&mut sealed, place.start)?;
        let leaves = self.cipher.open(number, &sealed)?;
        if tree::page(number, &leaves) != *hash {
            return Err(Error::SignatureForged);
        }
        let page = Arc::new(leaves);
        if cache.len() == CACHED {
            cache.remove(0);
        }
        cache.push((number, page.clone()));
        Ok(page)
    }

    /// Returns the range of a leaf page within the trailer.
    fn place(&self, page: u64) -> Range<u64> {
        let begin = page * FULL_PAGE;
        begin..begin + (tree::leaves_in(page, self.tree.segments) * HASH + EXTRA) as u64
    }
}
