//! Files that are not written yet, although the unpacker has read their headers.

use std::ops::Range;
use std::sync::Arc;

use super::file::{Growing, Place, write_whole};
use super::folder::Dress;
use super::ledger::Ledger;

/// Files to be written. If a `Rest` is dropped and not completed, its files are not written.
#[derive(Debug)]
#[must_use]
pub struct Rest {
    jobs: Vec<FileJob>,
    ledger: Arc<Ledger>,
}

#[derive(Debug)]
pub(super) enum FileJob {
    /// A file with all of its content.
    Whole { number: u64, place: Place, dress: Dress, range: Range<usize>, hashed: bool },
    /// A piece of a file's content.
    Piece { file: Arc<Growing>, offset: u64, range: Range<usize> },
}

impl Rest {
    pub(super) fn new(jobs: Vec<FileJob>, ledger: Arc<Ledger>) -> Self {
        ledger.hand_out();
        Self { jobs, ledger }
    }

    /// Writes the files. `bytes` must be the same bytes that were passed to `Unpacker::put`. The unpacker records
    /// failures.
    pub fn complete(mut self, bytes: &[u8]) {
        for job in std::mem::take(&mut self.jobs) {
            job.run(bytes, &self.ledger);
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        // Folders are closed and incomplete files are removed before this `Rest` is reported as completed.
        self.jobs.clear();
        self.ledger.hand_back();
    }
}

impl FileJob {
    pub(super) fn run(self, bytes: &[u8], ledger: &Ledger) {
        if ledger.is_lost() {
            return;
        }
        match self {
            Self::Whole { number, place, dress, range, hashed } => {
                let bytes = &bytes[range];
                match write_whole(place, &dress, bytes, ledger) {
                    Ok(()) => ledger.complete(number, hashed.then(|| blake3::hash(bytes).into())),
                    Err(trouble) => ledger.fail(number, trouble),
                }
            }
            Self::Piece { file, offset, range } => file.put(offset, &bytes[range]),
        }
    }
}
