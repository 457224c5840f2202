//! What became of each entry, for all threads.

use super::drafts::Names;
use super::{Failure, Progress};
use crate::names::Paths;
use crate::{Error, shown};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// No more failures and remarks than this are kept with their words: an archive may consist of nothing else.
const MOST_WORDS: usize = 1000;

/// Why an entry is not there, by those who do not know its path.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The system said no, when this was to be done.
    System(&'static str, io::Error),
    /// Something has the name.
    Exists,
    /// A folder has the name.
    IsFolder,
    /// What stands after the path, and a hint.
    Other(&'static str, &'static str),
    /// Somebody knew.
    Known(Error),
}

impl Trouble {
    pub(super) fn system(verb: &'static str) -> impl Fn(Errno) -> Self {
        move |error| Self::System(verb, error.into())
    }

    fn error(self, path: &[u8]) -> Error {
        let path = if path.is_empty() { "the target folder".into() } else { shown(path) };
        match self {
            Self::System(verb, error) => Error::Entry { verb, path, error },
            Self::Exists => {
                Error::Refused { what: format!("{path} exists already"), hint: "replace it with --force, or choose another folder with -o" }
            }
            Self::IsFolder => Error::Refused {
                what: format!("{path} exists already, and is a folder"),
                hint: "folders are not replaced; move it away, or choose another folder with -o",
            },
            Self::Other(why, hint) => Error::Archive { what: format!("{path} {why}"), hint },
            Self::Known(error) => error,
        }
    }
}

/// Where everything is written down.
#[derive(Debug)]
pub(super) struct Ledger {
    state: Mutex<State>,
    /// Tells that nothing is outstanding.
    idle: Condvar,
    keep_going: bool,
    /// Set for the first error that ends everything.
    stopped: AtomicBool,
    /// Set where the system is the reason, or who ends it: what is left to do would fail too.
    lost: AtomicBool,
    /// Folders that are open.
    pub(super) folders: AtomicUsize,
    /// What files are called before they are complete.
    pub(super) names: Names,
}

#[derive(Debug, Default)]
struct State {
    /// Entries that are not done, or whose place in the index has not come; the first one's number.
    first: u64,
    queue: VecDeque<Item>,
    /// The number of the first that is not done.
    not_done: u64,
    /// The number of the next that the index will name.
    not_indexed: u64,
    /// The path of the last before `first` that was wanted.
    before: Option<Vec<u8>>,
    complete: u64,
    failed: u64,
    failures: Vec<Failure>,
    failed_paths: Paths,
    remarks: Vec<String>,
    more_remarks: u64,
    fatal: Option<(u64, Error)>,
    /// Files that are not what the index says, and have to go.
    wrong: Vec<Vec<u8>>,
    /// Rests that somebody has yet to complete.
    outstanding: usize,
}

#[derive(Debug)]
struct Item {
    path: Vec<u8>,
    facts: [u8; 16],
    done: Option<bool>,
    /// Nobody wants it.
    passed: bool,
    hash: Option<[u8; 32]>,
    expected: Option<[u8; 32]>,
    /// The index says otherwise: it has to go, should it come to be.
    wrong: bool,
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
            names: Names::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new entry; its number.
    pub(super) fn begin(&self, path: &[u8], facts: [u8; 16]) -> u64 {
        let mut state = self.state();
        state.queue.push_back(Item { path: path.to_vec(), facts, done: None, passed: false, hash: None, expected: None, wrong: false });
        state.first + state.queue.len() as u64 - 1
    }

    /// It is there.
    pub(super) fn complete(&self, number: u64, hash: Option<[u8; 32]>) {
        let mut state = self.state();
        let Some(item) = state.item(number) else {
            // A folder that was passed over at first.
            state.complete += 1;
            return;
        };
        item.done = Some(true);
        item.hash = hash;
        let (known, wrong) = (item.wrong, item.expected.is_some() && item.expected != hash);
        if known {
            let path = item.path.clone();
            state.wrong.push(path);
        } else {
            state.complete += 1;
        }
        if wrong {
            self.changed(&mut state, number, "its contents were changed");
        }
        state.advance();
    }

    /// It is not wanted.
    pub(super) fn pass(&self, number: u64) {
        let mut state = self.state();
        let Some(item) = state.item(number) else { return };
        item.done = Some(false);
        item.passed = true;
        state.advance();
    }

    /// It is not.
    pub(super) fn fail(&self, number: u64, trouble: Trouble) {
        let mut state = self.state();
        let Some(item) = state.item(number) else { return };
        item.done = Some(false);
        let path = item.path.clone();
        self.note(&mut state, number, &path, trouble);
        state.advance();
    }

    /// It is there, but not as it should be.
    pub(super) fn fail_late(&self, number: u64, path: &[u8], trouble: Trouble) {
        self.note(&mut self.state(), number, path, trouble);
    }

    fn note(&self, state: &mut State, number: u64, path: &[u8], trouble: Trouble) {
        let ends = matches!(&trouble, Trouble::System(_, error) if no_use(error));
        let error = trouble.error(path);
        state.failed += 1;
        state.failed_paths.add(path);
        if state.failures.len() < MOST_WORDS {
            state.failures.push(Failure { path: path.to_vec(), error: error.clone() });
        }
        if ends {
            self.lost.store(true, Ordering::Relaxed);
        }
        if ends || !self.keep_going {
            self.stop_with(state, number, error);
        }
    }

    /// Nothing more can be done.
    pub(super) fn stop(&self, number: u64, error: Error) {
        self.stop_with(&mut self.state(), number, error);
    }

    /// Somebody wants all of it to end.
    pub(super) fn give_up(&self) {
        self.lost.store(true, Ordering::Relaxed);
        self.stop(u64::MAX, Error::Stopped);
    }

    fn stop_with(&self, state: &mut State, number: u64, error: Error) {
        self.stopped.store(true, Ordering::Relaxed);
        // Of several, the one that stands first in the archive.
        if state.fatal.as_ref().is_none_or(|(other, _)| number < *other) {
            state.fatal = Some((number, error));
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// The error that ended everything, once.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.stopped() {
            return Ok(());
        }
        Err(self.state().fatal.take().map_or(Error::Stopped, |(_, error)| error))
    }

    /// The index describes the next entry: of a hard link, also whose other name it is.
    pub(super) fn index(&self, facts: [u8; 16], hash: Option<[u8; 32]>, file: Option<&[u8]>) -> Result<(), Error> {
        let mut state = self.state();
        let number = state.not_indexed;
        let lost = file.is_some_and(|file| state.failed_paths.has(file));
        let Some(item) = state.item(number) else { return Err(Error::damaged("the index has more entries than the archive")) };
        item.expected = hash;
        let same = item.facts == facts;
        let there = item.done == Some(true);
        let changed = there && item.hash != hash;
        state.not_indexed += 1;
        if !same {
            self.changed(&mut state, number, "it was changed, or moved");
        } else if changed || lost && there {
            self.changed(&mut state, number, "its contents were changed");
        }
        state.advance();
        Ok(())
    }

    fn changed(&self, state: &mut State, number: u64, how: &'static str) {
        let Some(item) = state.item(number) else { return };
        // Once is enough.
        item.expected = None;
        item.hash = None;
        let (path, done) = (item.path.clone(), item.done);
        // It may yet fail, and what somebody else had there stays.
        item.wrong = done.is_none();
        if done == Some(true) {
            state.wrong.push(path.clone());
            state.complete -= 1;
        }
        let what = format!("{} is not what the index says: {how}", shown(&path));
        let hint = "the archive was changed after it was made; get it again";
        self.note(state, number, &path, Trouble::Known(Error::Archive { what, hint }));
    }

    /// How many entries the index has not named.
    pub(super) fn not_indexed(&self) -> u64 {
        let state = self.state();
        state.first + state.queue.len() as u64 - state.not_indexed
    }

    /// Archives without an index wait for none.
    pub(super) fn no_index(&self) {
        let mut state = self.state();
        state.not_indexed = u64::MAX;
        state.advance();
    }

    /// Whether each entry is there or has failed.
    pub(super) fn all_done(&self) -> bool {
        let state = self.state();
        state.not_done == state.first + state.queue.len() as u64
    }

    /// Files that have to go, each once.
    pub(super) fn wrong(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.state().wrong)
    }

    pub(super) fn has_failed(&self, path: &[u8]) -> bool {
        self.state().failed_paths.has(path)
    }

    /// Keeps a remark, and each only once: what is true of a file system would come with every file.
    pub(super) fn remark(&self, remark: String) {
        let mut state = self.state();
        if state.remarks.contains(&remark) {
            return;
        }
        if state.remarks.len() < MOST_WORDS { state.remarks.push(remark) } else { state.more_remarks += 1 }
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let mut state = self.state();
        let mut remarks = std::mem::take(&mut state.remarks);
        if state.more_remarks > 0 {
            remarks.push(format!("… and {} more remarks", state.more_remarks));
        }
        remarks
    }

    pub(super) fn failures(&self) -> (Vec<Failure>, u64) {
        let mut state = self.state();
        (std::mem::take(&mut state.failures), state.failed)
    }

    /// A rest is handed out.
    pub(super) fn hand_out(&self) {
        self.state().outstanding += 1;
    }

    /// It is done, or dropped.
    pub(super) fn hand_back(&self) {
        let mut state = self.state();
        state.outstanding -= 1;
        if state.outstanding == 0 {
            self.idle.notify_all();
        }
    }

    /// Waits until no rest is outstanding.
    pub(super) fn wait(&self) {
        let mut state = self.state();
        while state.outstanding > 0 {
            state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let state = self.state();
        let done = state.queue.range(..(state.not_done - state.first) as usize);
        let until = done.rev().find(|item| !item.passed).map_or_else(|| state.before.clone(), |item| Some(item.path.clone()));
        Progress { complete: state.complete, until, failed: state.failed, failures: state.failures.clone() }
    }
}

impl State {
    fn item(&mut self, number: u64) -> Option<&mut Item> {
        self.queue.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Forgets what is done and was in the index.
    fn advance(&mut self) {
        while self.queue.get((self.not_done - self.first) as usize).is_some_and(|item| item.done.is_some()) {
            self.not_done += 1;
        }
        while self.first < self.not_done.min(self.not_indexed) {
            self.before = self.queue.pop_front().filter(|item| !item.passed).map(|item| item.path).or(self.before.take());
            self.first += 1;
        }
    }
}

/// Whether trying on makes no sense.
fn no_use(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::DQUOT | Errno::ROFS | Errno::IO))
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
