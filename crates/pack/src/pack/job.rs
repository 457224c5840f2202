//! Jobs that read and hash the files of a chunk.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::source::Source;
use crate::error::words;
use crate::error::{Action, Error};
use crate::index::write::{IndexWriter, Slot};
use crate::note::{Notes, What};
use crate::shown::shown;

/// The state that is shared by the packer and its jobs.
pub(super) struct Shared {
    /// Whether missing or unreadable bytes of files are replaced by zeros. If this is not set, a file with such bytes
    /// causes an error.
    keep_going: bool,
    index: Mutex<IndexWriter>,
    /// Signals that the index contains all hashes, or that packing failed.
    settled: Condvar,
    failed: AtomicBool,
    /// The number of pieces in all jobs; `most` is the maximum of this number. Each piece may keep a file open.
    pieces: AtomicUsize,
    most: usize,
    pub(super) notes: Mutex<Notes>,
}

impl Shared {
    /// `most` is the maximum number of files that all jobs keep open.
    pub(super) fn new(keep_going: bool, most: usize) -> Self {
        Self {
            keep_going,
            index: Mutex::default(),
            settled: Condvar::new(),
            failed: AtomicBool::new(false),
            pieces: AtomicUsize::new(0),
            most,
            notes: Mutex::default(),
        }
    }

    pub(super) fn index(&self) -> MutexGuard<'_, IndexWriter> {
        self.index.lock()
    }

    pub(super) fn has_room(&self) -> bool {
        self.pieces.load(Ordering::Relaxed) < self.most
    }

    /// Waits until the index contains all hashes, and returns the index. Fails if packing failed.
    pub(super) fn settled(&self) -> Result<MutexGuard<'_, IndexWriter>, Error> {
        let unsettled = |index: &mut IndexWriter| index.open() > 0 && !self.failed.load(Ordering::Relaxed);
        let mut index = self.index();
        self.settled.wait_while(&mut index, unsettled);
        if self.failed.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(index) }
    }

    /// Reports that a file became shorter: returns an error, or adds a note. Each file gets at most one note.
    pub(super) fn shrank(&self, source: &Source) -> Result<(), Error> {
        if !self.keep_going {
            return Err(Error::Shrank { path: shown(&source.path) });
        }
        if source.cut() {
            self.note(&source.path, What::Shrank);
        }
        Ok(())
    }

    pub(super) fn note(&self, path: &[u8], what: What) {
        self.notes.lock().add(path, what);
    }
}

/// A piece of a file's content, and the piece's range in the chunk.
pub(super) struct Piece {
    pub(super) source: Arc<Source>,
    pub(super) range: Range<usize>,
    /// The offset of the piece in the file.
    pub(super) offset: u64,
    /// The offset of the piece in the stored content, which does not contain the holes.
    pub(super) stored: u64,
}

impl Piece {
    /// Reads and hashes the piece. After the last piece of the file, returns the hash of the file.
    fn complete(&self, shared: &Shared, buffer: &mut [u8]) -> Result<Option<(Slot, [u8; 32])>, Error> {
        let source = &self.source;
        let bytes = &mut buffer[self.range.clone()];
        match source.read(self.offset, bytes) {
            Ok(true) => {}
            Ok(false) => shared.shrank(source)?,
            Err(error) if shared.keep_going => {
                // On a damaged disk, reading can fail for every piece. Each file gets one note.
                if source.damage() {
                    shared.note(&source.path, What::Damaged(words(&error)));
                }
            }
            Err(error) => return Err(Error::Entry { action: Action::Read, path: shown(&source.path), error }),
        }
        let hash = source.see(self.stored, bytes, bytes.len() as u64 == source.stored);
        // Only the last piece returns a hash, so each file gets this note at most once.
        if hash.is_some() && source.changed() {
            shared.note(&source.path, What::Changed);
        }
        Ok(hash.map(|hash| (source.slot, hash)))
    }
}

/// Reads and hashes the files of a chunk. If a job is dropped before it is completed, packing fails.
#[must_use = "the chunk is not complete until the job is completed"]
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
        self.shared.pieces.fetch_add(1, Ordering::Relaxed);
        self.pieces.push(piece);
    }

    /// Reads and hashes a piece immediately, so that the file can be closed before the job is completed.
    pub(super) fn at_once(&self, piece: Piece, buffer: &mut [u8]) -> Result<(), Error> {
        if let Some((slot, hash)) = piece.complete(&self.shared, buffer)? {
            self.shared.index().set(slot, &hash);
        }
        Ok(())
    }

    /// Reads the files of the chunk into `buffer`, and hashes them. `buffer` must be the buffer that was passed to
    /// [`Packer::take`](crate::Packer::take), cut to the length of the chunk.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn complete(mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.now(buffer)
    }

    pub(super) fn now(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        let mut hashes = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            hashes.extend(piece.complete(&self.shared, buffer)?);
        }
        self.close();
        let mut index = self.shared.index();
        hashes.iter().for_each(|(slot, hash)| index.set(*slot, hash));
        if index.open() == 0 {
            self.shared.settled.notify_all();
        }
        Ok(())
    }

    fn close(&mut self) {
        self.shared.pieces.fetch_sub(self.pieces.len(), Ordering::Relaxed);
        self.pieces.clear();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.pieces.is_empty() {
            self.close();
            self.shared.failed.store(true, Ordering::Relaxed);
            let _index = self.shared.index();
            self.shared.settled.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::entry::{Entry, Kind, Time};

    /// Returns two pieces of a file of 1000 bytes; reading this file fails.
    fn unreadable(shared: &Shared) -> [Piece; 2] {
        // Reading fails because the file is open for writing only.
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("file")).expect("a file");
        file.set_len(1000).expect("longer");
        let about = deadpan_disk::About::of_file(&file).expect("a file");
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
        let source = Arc::new(Source::new(entry.path, file, &about, 1000, slot));
        let piece = |range: Range<usize>| Piece {
            source: Arc::clone(&source),
            offset: range.start as u64,
            stored: range.start as u64,
            range,
        };
        [piece(0..300), piece(300..1000)]
    }

    #[test]
    fn unreadable_bytes_become_zeros_if_packing_keeps_going() {
        let shared = Shared::new(true, 9);
        let mut buffer = [0xaa; 1100];
        let [one, other] = unreadable(&shared).map(|piece| piece.complete(&shared, &mut buffer).expect("complete"));
        assert!(one.is_none() && other.is_some_and(|(_, hash)| hash == *blake3::hash(&[0; 1000]).as_bytes()));
        assert!(buffer[..1000] == [0; 1000] && buffer[1000..] == [0xaa; 100]);
        let notes = shared.notes.into_inner();
        assert!(
            matches!(notes.list(), [note] if note.path == b"file" && matches!(note.what, What::Damaged(_))),
            "{notes:?}"
        );
        assert!(notes.incomplete());
    }

    #[test]
    fn an_unreadable_file_is_an_error_by_default() {
        let shared = Shared::new(false, 9);
        let [piece, _] = unreadable(&shared);
        let error = piece.complete(&shared, &mut [0; 1000]).expect_err("it cannot be read").to_string();
        assert!(error.starts_with("cannot read file: "), "{error}");
        assert!(shared.notes.into_inner().list().is_empty());
    }
}
