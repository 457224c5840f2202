//! What is left to do for a stretch: reading files and hashing them.

use super::source::Source;
use crate::index::write::{Index, Slot};
use crate::note::{Notes, What};
use crate::{Error, shown};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the packer and its jobs share.
#[derive(Default)]
pub(super) struct Shared {
    index: Mutex<Index>,
    /// The last missing hash came, or never will.
    settled: Condvar,
    failed: AtomicBool,
    pub(super) notes: Mutex<Notes>,
}

impl Shared {
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
        let failed = |error| Error::Entry { verb: "read", path: shown(&source.path), error };
        let there = source.read(self.offset, bytes).map_err(failed)?;
        let hash = source.see(self.stored, bytes, bytes.len() as u64 == source.stored);
        if !there || hash.is_some() && source.changed() {
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
