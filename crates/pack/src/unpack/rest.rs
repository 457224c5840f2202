//! What is left to do with bytes whose headers were read.

use super::file::{Growing, Place, write_whole};
use super::folder::Dress;
use super::ledger::Ledger;
use std::ops::Range;
use std::sync::Arc;

/// Files to be written. Dropped instead of completed, it takes the files with it that would have been.
#[derive(Debug)]
#[must_use]
pub struct Rest {
    jobs: Vec<Job>,
    ledger: Arc<Ledger>,
}

#[derive(Debug)]
pub(super) enum Job {
    /// A file with all of its content.
    Whole { number: u64, place: Place, dress: Dress, range: Range<usize>, hashed: bool },
    /// A piece of a file's content.
    Piece { file: Arc<Growing>, offset: u64, range: Range<usize> },
}

impl Rest {
    pub(super) fn new(jobs: Vec<Job>, ledger: Arc<Ledger>) -> Self {
        ledger.hand_out();
        Self { jobs, ledger }
    }

    /// Does it, with the same bytes that were put. What fails is known to the unpacker.
    pub fn complete(mut self, bytes: &[u8]) {
        for job in std::mem::take(&mut self.jobs) {
            job.run(bytes, &self.ledger);
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        // Folders are left, and files that are not complete removed, before anybody takes this for done.
        self.jobs.clear();
        self.ledger.hand_back();
    }
}

impl Job {
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
