//! What is left to do for a stretch: reading files and hashing them.

use super::source::Source;
use crate::error::words;
use crate::index::write::{Index, Slot};
use crate::note::{Notes, What};
use crate::{Error, shown};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the packer and its jobs share.
pub(super) struct Shared {
    /// A file that cannot be read any further is no reason to fail.
    keep_going: bool,
    index: Mutex<Index>,
    /// The last missing hash came, or never will.
    settled: Condvar,
    failed: AtomicBool,
    pub(super) notes: Mutex<Notes>,
}

impl Shared {
    pub(super) fn new(keep_going: bool) -> Self {
        Self { keep_going, index: Mutex::default(), settled: Condvar::new(), failed: AtomicBool::new(false), notes: Mutex::default() }
    }

    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index, when no hash is missing.
    pub(super) fn settled(&self) -> Result<MutexGuard<'_, Index>, Error> {
        let unsettled = |index: &mut Index| index.open() > 0 && !self.failed.load(Ordering::Relaxed);
        let index = self.settled.wait_while(self.index(), unsettled).unwrap_or_else(PoisonError::into_inner);
        if self.failed.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(index) }
    }

    pub(super) fn note(&self, path: &[u8], what: What) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).add(path, what);
    }
}

/// A part of a file's content, and where in the stretch it belongs.
pub(super) struct Piece {
    pub(super) source: Arc<Source>,
    pub(super) range: Range<usize>,
    /// Where it is in the file, and where in the stored content.
    pub(super) offset: u64,
    pub(super) stored: u64,
}

impl Piece {
    /// Reads and hashes it. The file's hash, if this was all that it waited for.
    fn complete(&self, shared: &Shared, buffer: &mut [u8]) -> Result<Option<(Slot, [u8; 32])>, Error> {
        let source = &self.source;
        let bytes = &mut buffer[self.range.clone()];
        let there = match source.read(self.offset, bytes) {
            Ok(there) => there,
            Err(error) if shared.keep_going => {
                // A bad disk fails again and again; what is said once is true for all of the file.
                if source.damage() {
                    shared.note(&source.path, What::Damaged(words(&error)));
                }
                true
            }
            Err(error) => return Err(Error::Entry { verb: "read", path: shown(&source.path), error }),
        };
        if !there {
            source.cut();
        }
        let hash = source.see(self.stored, bytes, bytes.len() as u64 == source.stored);
        // With the last of its pieces, and so once.
        if hash.is_some() && source.changed() {
            shared.note(&source.path, What::Changed);
        }
        Ok(hash.map(|hash| (source.slot, hash)))
    }
}

/// The rest of the work on a stretch. If it is dropped unfinished, the pack cannot be completed.
#[must_use = "the stretch is not complete without it"]
pub struct Job {
    pieces: Vec<Piece>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("pieces", &self.pieces.len()).finish_non_exhaustive()
    }
}

impl Job {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { pieces: Vec::new(), shared: Arc::clone(shared) }
    }

    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn add(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    /// Does a piece while the packer waits, since too many files would stay open otherwise.
    pub(super) fn at_once(&self, piece: Piece, buffer: &mut [u8]) -> Result<(), Error> {
        if let Some((slot, hash)) = piece.complete(&self.shared, buffer)? {
            self.shared.index().set(slot, &hash);
        }
        Ok(())
    }

    /// Reads the files of this stretch into `buffer`, which is the one that was taken, and hashes them.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn complete(mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.now(buffer)
    }

    /// Does what was left so far.
    pub(super) fn now(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        let mut hashes = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            hashes.extend(piece.complete(&self.shared, buffer)?);
        }
        self.pieces.clear();
        let mut index = self.shared.index();
        hashes.iter().for_each(|(slot, hash)| index.set(*slot, hash));
        if index.open() == 0 {
            self.shared.settled.notify_all();
        }
        Ok(())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.pieces.is_empty() {
            self.shared.failed.store(true, Ordering::Relaxed);
            let _index = self.shared.index();
            self.shared.settled.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Kind, Time};
    use std::fs::File;

    /// A file of 1000 bytes that cannot be read, in two pieces.
    fn unreadable(shared: &Shared) -> [Piece; 2] {
        // Reading fails because the file is open for writing only.
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("file")).expect("a file");
        file.set_len(1000).expect("longer");
        let stat = rustix::fs::fstat(&file).expect("a file");
        let entry = Entry {
            path: b"file".to_vec(),
            kind: Kind::File,
            mode: 0,
            modified: Time::default(),
            size: 1000,
            begin: 0,
            content: 512,
            stored: 1000,
            hash: None,
            target: None,
        };
        let slot = shared.index().add(&entry).expect("a slot");
        let source = Arc::new(Source::new(entry.path, file, &stat, 1000, slot));
        let piece =
            |range: Range<usize>| Piece { source: Arc::clone(&source), offset: range.start as u64, stored: range.start as u64, range };
        [piece(0..300), piece(300..1000)]
    }

    #[test]
    fn what_cannot_be_read_becomes_zeros_where_that_was_asked_for() {
        let shared = Shared::new(true);
        let mut buffer = [0xaa; 1100];
        let [one, other] = unreadable(&shared).map(|piece| piece.complete(&shared, &mut buffer).expect("complete"));
        assert!(one.is_none() && other.is_some_and(|(_, hash)| hash == *blake3::hash(&[0; 1000]).as_bytes()));
        assert!(buffer[..1000] == [0; 1000] && buffer[1000..] == [0xaa; 100]);
        let notes = shared.notes.into_inner().expect("notes");
        assert!(matches!(notes.list(), [note] if note.path == b"file" && matches!(note.what, What::Damaged(_))), "{notes:?}");
        assert!(notes.incomplete());
    }

    #[test]
    fn what_cannot_be_read_is_an_error_otherwise() {
        let shared = Shared::new(false);
        let [piece, _] = unreadable(&shared);
        let error = piece.complete(&shared, &mut [0; 1000]).expect_err("it cannot be read").to_string();
        assert!(error.starts_with("cannot read file: "), "{error}");
        assert!(shared.notes.into_inner().expect("notes").list().is_empty());
    }
}
