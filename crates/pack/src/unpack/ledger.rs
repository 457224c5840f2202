//! Records the state of each entry, for all threads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

use super::outcome::{Failure, Progress};
use super::queue::{Hash, Queue};
use super::trouble::Trouble;
use crate::block::BLOCK;
use crate::entry::{Entry, Kind};
use crate::error::{Change, Error, Flaw};
use crate::names::Paths;
use crate::shown::shown;
use deadpan_disk::{cleanup, most_open_files};

/// The maximum number of stored failures, and also the maximum number of stored remarks. An archive can cause a failure
/// or a remark for each entry.
const MOST_WORDS: usize = 1000;

/// The state of all entries.
#[derive(Debug)]
pub(super) struct Ledger {
    state: Mutex<LedgerState>,
    /// Signals that every [`Rest`](super::Rest) was completed or dropped.
    idle: Condvar,
    keep_going: bool,
    /// Set at the first error that ends the work.
    stopped: AtomicBool,
    /// Set if the system fails or if the caller stops the work. In these two cases, the remaining files are not
    /// written.
    lost: AtomicBool,
    /// The number of open folders.
    pub(super) folders: AtomicUsize,
    /// The maximum number of files that the process may have open. The value is stored, because a system call for each
    /// entry would take too much time.
    pub(super) most_open: usize,
    /// Set if a folder of another user was refused. After a refusal, existing folders keep their old modes, because the
    /// mode of a folder decides whether folders inside it are refused.
    pub(super) refused: AtomicBool,
}

#[derive(Debug, Default)]
struct LedgerState {
    queue: Queue,
    /// The number of the first unfinished entry.
    not_done: u64,
    /// The number of the first entry that was not compared yet with its index record.
    not_indexed: u64,
    /// The path of the last selected entry that was removed from the queue.
    before: Option<Vec<u8>>,
    complete: u64,
    /// Whether the number `complete` includes an entry for the target folder itself.
    root: bool,
    /// Whether the entry 0 is the target folder itself.
    begins_with_root: bool,
    failed: u64,
    failures: Vec<Failure>,
    failed_paths: Paths,
    remarks: Vec<String>,
    more_remarks: u64,
    fatal: Option<Fatal>,
    /// If the caller already received the error that ended the work, the index of this error in `failures`.
    told: Option<usize>,
    /// Paths of files that contradict the index and must be removed.
    wrong: Vec<Vec<u8>>,
    /// The number of [`Rest`](super::Rest)s that are not completed or dropped yet.
    outstanding: usize,
}

/// The error that ends the work.
#[derive(Debug)]
struct Fatal {
    /// The number of the entry that failed; if no entry failed, the number of the next entry.
    number: u64,
    /// The index of this error in `failures`, if `failures` contains it.
    failure: Option<usize>,
    error: Error,
}

impl Ledger {
    pub(super) fn new(keep_going: bool) -> Self {
        Self {
            state: Mutex::default(),
            idle: Condvar::new(),
            keep_going,
            stopped: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            folders: AtomicUsize::new(0),
            most_open: most_open_files(),
            refused: AtomicBool::new(false),
        }
    }

    /// `entry` is `None` if the entry is refused before anything is made.
    pub(super) fn begin(&self, path: &[u8], facts: [u8; 16], entry: Option<&Entry>) -> u64 {
        let stored = match entry {
            Some(Entry { target: Some(target), .. }) => target.len(),
            Some(Entry { kind: Kind::File | Kind::Sparse, .. }) => 32,
            _ => 0,
        };
        let headers = entry.map_or(BLOCK, |entry| entry.content.saturating_sub(entry.begin));
        let mut state = self.state.lock();
        let number = state.queue.push(path, facts, stored, headers);
        state.begins_with_root |= number == 0 && path.is_empty();
        if state.not_indexed != u64::MAX && state.queue.is_late() {
            let error = crate::index::damaged("it does not come for hundreds of thousands of entries");
            self.stop_with(&mut state, Fatal { number, failure: None, error });
        }
        number
    }

    pub(super) fn complete(&self, number: u64, hash: Option<[u8; 32]>) {
        let mut state = self.state.lock();
        let Some(item) = state.queue.get_mut(number) else {
            // This entry is a folder that was not selected, but is needed now for a selected entry.
            state.complete += 1;
            state.root |= number == 0 && state.begins_with_root;
            return;
        };
        item.done = Some(true);
        let wrong = matches!(item.hash, Hash::Expected(expected) if hash != Some(expected));
        item.hash = hash.map_or(Hash::Unknown, Hash::Found);
        if item.wrong {
            let path = state.queue.path(number);
            state.wrong.extend(path);
        } else {
            state.complete += 1;
            state.root |= number == 0 && state.begins_with_root;
        }
        if wrong {
            self.changed(&mut state, number, Change::Content);
        }
        state.advance();
    }

    /// Records that the entry is not selected.
    pub(super) fn pass(&self, number: u64) {
        let mut state = self.state.lock();
        let Some(item) = state.queue.get_mut(number) else { return };
        item.done = Some(false);
        item.passed = true;
        state.advance();
    }

    /// Records that the entry failed.
    pub(super) fn fail(&self, number: u64, trouble: Trouble) {
        let mut state = self.state.lock();
        let Some(item) = state.queue.get_mut(number) else { return };
        item.done = Some(false);
        let path = state.queue.path(number).unwrap_or_default();
        self.note(&mut state, number, &path, trouble);
        state.advance();
    }

    /// Records that an entry failed, although it was reported as complete before.
    pub(super) fn fail_late(&self, number: u64, path: &[u8], trouble: Trouble) {
        self.note(&mut self.state.lock(), number, path, trouble);
    }

    fn note(&self, state: &mut LedgerState, number: u64, path: &[u8], trouble: Trouble) {
        let ends = matches!(&trouble, Trouble::System(_, error) if no_use(error));
        let error = trouble.error(path);
        state.failed += 1;
        state.failed_paths.add(path);
        let failure = (state.failures.len() < MOST_WORDS).then_some(state.failures.len());
        if failure.is_some() {
            state.failures.push(Failure { path: path.to_vec(), error: error.clone() });
        }
        if ends {
            self.lost.store(true, Ordering::Relaxed);
        }
        if ends || !self.keep_going {
            self.stop_with(state, Fatal { number, failure, error });
        }
    }

    /// Ends the work with this error.
    pub(super) fn stop(&self, number: u64, error: Error) {
        self.stop_with(&mut self.state.lock(), Fatal { number, failure: None, error });
    }

    fn stop_with(&self, state: &mut LedgerState, fatal: Fatal) {
        self.stopped.store(true, Ordering::Relaxed);
        // Of several errors, the error of the earliest entry is kept.
        if state.fatal.as_ref().is_none_or(|other| fatal.number < other.number) {
            state.fatal = Some(fatal);
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns the error that ended the work. Later calls return `Ok`.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.stopped() {
            return Ok(());
        }
        let mut state = self.state.lock();
        let Some(fatal) = state.fatal.take() else { return Err(Error::Stopped) };
        state.told = fatal.failure;
        Err(fatal.error)
    }

    /// Compares the next entry with its record in the index.
    pub(super) fn index(&self, facts: [u8; 16], hash: Option<[u8; 32]>, file: Option<&[u8]>) -> Result<(), Error> {
        let mut state = self.state.lock();
        let number = state.not_indexed;
        let lost = file.is_some_and(|file| state.failed_paths.has(file));
        state.queue.named(number);
        let Some(item) = state.queue.get_mut(number) else {
            return Err(Error::damaged("the index has more entries than the archive"));
        };
        let same = item.facts == facts;
        let there = item.done == Some(true);
        let changed = there && item.hash != hash.map_or(Hash::Unknown, Hash::Found);
        item.hash = hash.map_or(Hash::Unknown, Hash::Expected);
        state.not_indexed += 1;
        if !same {
            self.changed(&mut state, number, Change::Headers);
        } else if changed || lost && there {
            self.changed(&mut state, number, Change::Content);
        }
        state.advance();
        Ok(())
    }

    fn changed(&self, state: &mut LedgerState, number: u64, change: Change) {
        let Some(item) = state.queue.get_mut(number) else { return };
        // The expected hash is removed, so that the entry does not fail a second time because of its hash.
        item.hash = Hash::Unknown;
        let done = item.done;
        // If this entry fails later for another reason, a file that existed before this run must not be removed. If the
        // entry fails, a file that existed before this run stays.
        item.wrong = done.is_none();
        let path = state.queue.path(number).unwrap_or_default();
        if done == Some(true) {
            state.wrong.push(path.clone());
            state.complete -= 1;
        }
        let flaw = Flaw::Changed { path: shown(&path), change };
        self.note(state, number, &path, Trouble::Known(flaw.into()));
    }

    /// Returns how many entries so far have no record in the index.
    pub(super) fn not_indexed(&self) -> u64 {
        let state = self.state.lock();
        state.queue.end() - state.not_indexed
    }

    pub(super) fn no_index(&self) {
        let mut state = self.state.lock();
        state.not_indexed = u64::MAX;
        state.advance();
    }

    pub(super) fn all_done(&self) -> bool {
        let state = self.state.lock();
        state.not_done == state.queue.end()
    }

    /// Removes and returns the paths of files that must be removed.
    pub(super) fn wrong(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.state.lock().wrong)
    }

    pub(super) fn has_failed(&self, path: &[u8]) -> bool {
        self.state.lock().failed_paths.has(path)
    }

    /// Adds a remark, unless an equal remark was added before. A remark can apply to every file.
    pub(super) fn remark(&self, remark: String) {
        let mut state = self.state.lock();
        if state.remarks.contains(&remark) {
            return;
        }
        if state.remarks.len() < MOST_WORDS { state.remarks.push(remark) } else { state.more_remarks += 1 }
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let mut state = self.state.lock();
        let mut remarks = std::mem::take(&mut state.remarks);
        if state.more_remarks > 0 {
            remarks.push(format!("… and {} more remarks", state.more_remarks));
        }
        remarks
    }

    pub(super) fn failures(&self) -> (Vec<Failure>, u64) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.failures), state.failed)
    }

    pub(super) fn hand_out(&self) {
        self.state.lock().outstanding += 1;
    }

    pub(super) fn hand_back(&self) {
        let mut state = self.state.lock();
        state.outstanding -= 1;
        if state.outstanding == 0 {
            self.idle.notify_all();
        }
    }

    /// Waits until every [`Rest`](super::Rest) was completed or dropped.
    pub(super) fn wait(&self) {
        let mut state = self.state.lock();
        while state.outstanding > 0 {
            self.idle.wait(&mut state);
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let state = self.state.lock();
        let wanted = |number: &u64| state.queue.get(*number).is_some_and(|item| !item.passed);
        let until = (state.queue.first()..state.not_done).rev().find(wanted);
        let until = until.map_or_else(|| state.before.clone(), |number| state.queue.path(number));
        let others = state.failures.iter().enumerate().filter(|(place, _)| Some(*place) != state.told);
        let failures = others.map(|(_, failure)| failure.clone()).collect();
        let compared = state.not_indexed != u64::MAX && state.not_indexed >= state.not_done;
        Progress { complete: state.complete, root: state.root, until, failed: state.failed, failures, compared }
    }
}

impl LedgerState {
    /// Removes the entries from the queue that are finished and were compared with their index records.
    fn advance(&mut self) {
        while self.queue.get(self.not_done).is_some_and(|item| item.done.is_some()) {
            self.not_done += 1;
        }
        while self.queue.first() < self.not_done.min(self.not_indexed) {
            if self.queue.pop().is_some_and(|item| !item.passed) {
                self.before.get_or_insert_default().splice(.., self.queue.before().iter().copied());
            }
        }
    }
}

/// Whether all further entries would fail with the same error.
fn no_use(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
        || error.raw_os_error() == Some(EIO)
        || cleanup::is_ending()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_remark_is_made_once() {
        let ledger = Ledger::new(false);
        for remark in ["one", "another", "one", "one"] {
            ledger.remark(remark.into());
        }
        assert_eq!(ledger.remarks(), ["one", "another"]);
    }
}
