//! The threads of a run, and the queue of their tasks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, Builder};

use parking_lot::{Condvar, Mutex};

use super::{Outcome, Pair, Run};
use crate::Error;
use crate::budget::Budget;
use crate::buffers::Buffers;
use crate::long::{Ending, Long};
use crate::page::{Page, Read};
use crate::source::is_current;
use deadpan_disk::most_open_files;
use deadpan_remote::{Error as StoreError, Problem, with_own_connections};

/// The maximum number of items that wait in the queue.
const WAITING: usize = 2000;
/// The most threads. Most of them wait for a store.
const THREADS: usize = 32;
/// An upper limit for the number of files, folders and connections that a thread has open.
const OPEN: usize = 16;
/// The run ends early if the store could not be reached for this number of objects in a row. The remaining objects are
/// skipped, because the run would try each of them for a quarter of a minute.
const LOST: usize = 8;

/// The tasks that wait.
#[derive(Default)]
struct Queue {
    parts: VecDeque<(Arc<LongItem>, u64)>,
    /// Sources whose results are complete. The program must still ask the store whether these sources are unchanged.
    looks: VecDeque<Read>,
    items: VecDeque<Item>,
    /// Whether no more items come.
    is_closed: bool,
    /// The number of threads that work on an item. The item may be divided into parts.
    active: usize,
    /// The number of objects in a row for which the store could not be reached.
    lost: usize,
}

impl Queue {
    /// Whether the run ends without the remaining objects, because the store could not be reached for too many objects.
    const fn is_given_up(&self) -> bool {
        self.lost >= LOST
    }
}

/// A pair whose result is to be made, and the page of its source. If there is no page, a separate request checks the
/// source after the result is complete.
pub(super) struct Item {
    pub(super) pair: Pair,
    pub(super) page: Option<Arc<Page>>,
}

/// A long result and its pair.
struct LongItem {
    pair: Pair,
    long: Long,
    /// The first error of a part. After this error, the other parts are skipped.
    error: Mutex<Option<Error>>,
}

enum Task {
    Item(Box<Item>),
    Look(Box<Read>),
    Part(Arc<LongItem>, u64),
}

pub(super) struct Pool<'a> {
    pub(super) run: &'a Run<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
    pub(super) budget: Budget,
    pub(super) buffers: Arc<Buffers>,
}

impl Pool<'_> {
    /// Starts the threads and calls `plan`, which queues items. Returns when all items are done.
    pub(super) fn run(run: &Run<'_>, plan: impl FnOnce(&Pool<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let pool = Pool {
            run,
            queue: Mutex::default(),
            changed: Condvar::new(),
            budget: Budget::new(run.memory),
            buffers: Arc::default(),
        };
        let result = thread::scope(|scope| {
            // If this thread panics, the guard closes the queue, so that the other threads do not wait forever.
            let _stop = Stop(&pool);
            let start = |_| Builder::new().spawn_scoped(scope, || with_own_connections(|| pool.work()));
            let (threads, refused): (Vec<_>, Vec<_>) =
                (0..(most_open_files() / OPEN).clamp(1, THREADS)).map(start).partition(Result::is_ok);
            // If the system does not allow some of the threads, the other threads do the work.
            if let Some(Err(error)) = refused.into_iter().next().filter(|_| threads.is_empty()) {
                return Err(Error::System(error));
            }
            let result = plan(&pool);
            run.observer.planned(None);
            pool.queue.lock().is_closed = true;
            pool.changed.notify_all();
            for thread in threads.into_iter().flatten() {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            result
        });
        result.and(pool.give_up())
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.queue.lock().is_given_up()
    }

    /// Queues an item. If the queue is full, first waits until half of it is free.
    pub(super) fn push(&self, item: Item) {
        let mut queue = self.queue.lock();
        if queue.items.len() >= WAITING {
            // If a thread panics, the queue is closed, and this loop ends.
            while queue.items.len() > WAITING / 2 && !queue.is_closed && !queue.is_given_up() {
                self.changed.wait(&mut queue);
            }
        }
        queue.items.push_back(item);
        drop(queue);
        self.changed.notify_one();
    }

    /// Reports the outcome of a pair, and counts the objects for which the store could not be reached.
    fn tell(&self, pair: &Pair, outcome: Outcome) {
        let is_lost = matches!(&outcome, Outcome::Failed(Error::Store(it)) if is_away(it));
        self.run.observer.ended(pair, outcome);
        if is_lost {
            self.queue.lock().lost += 1;
            self.changed.notify_all();
        }
    }

    /// Records that the store was reached, since an object or a part is done.
    fn reached(&self) {
        let mut queue = self.queue.lock();
        if !queue.is_given_up() {
            queue.lost = 0;
        }
    }

    /// If the run ended early, reports the results whose sources were not checked again, and the long results that
    /// failed. Fails if other objects remain.
    fn give_up(&self) -> Result<(), Error> {
        let queue = std::mem::take(&mut *self.queue.lock());
        if !queue.is_given_up() {
            return Ok(());
        }
        let mut pages: Vec<&Arc<Page>> = Vec::new();
        for page in queue.items.iter().filter_map(|item| item.page.as_ref()) {
            // The items of a page are next to each other in the queue.
            if pages.last().is_none_or(|last| !Arc::ptr_eq(last, page)) {
                pages.push(page);
            }
        }
        let noted = pages.into_iter().flat_map(|page| page.noted());
        for read in noted.chain(queue.looks) {
            self.run.observer.ended(&read.pair, Outcome::Made(read.object.length()));
        }
        let (mut is_left, mut last) = (!queue.items.is_empty(), None);
        for (work, _) in &queue.parts {
            if last.replace(Arc::as_ptr(work)) == Some(Arc::as_ptr(work)) {
                continue;
            }
            let error = work.error.lock().take();
            match error {
                None => is_left = true,
                Some(error) => self.run.observer.ended(&work.pair, Outcome::Failed(error)),
            }
        }
        if is_left { Err(Error::Unreached) } else { Ok(()) }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_given_up() {
                return None;
            }
            if let Some((work, part)) = queue.parts.pop_front() {
                return Some(Task::Part(work, part));
            }
            if let Some(read) = queue.looks.pop_front() {
                queue.active += 1;
                return Some(Task::Look(Box::new(read)));
            }
            if let Some(item) = queue.items.pop_front() {
                queue.active += 1;
                if queue.items.len() == WAITING / 2 {
                    // The planner waits in `push` until half of the queue is free.
                    self.changed.notify_all();
                }
                return Some(Task::Item(Box::new(item)));
            }
            if queue.is_closed && queue.active == 0 {
                self.changed.notify_all();
                return None;
            }
            self.changed.wait(&mut queue);
        }
    }

    fn work(&self) {
        let _stop = Stop(self);
        while let Some(task) = self.next() {
            match task {
                Task::Part(work, part) => self.part(&work, part),
                Task::Item(item) => {
                    let outcome = self.make(&item).inspect(|_| self.reached());
                    let outcome = outcome.unwrap_or_else(|error| Some(Outcome::Failed(error)));
                    if let Some(outcome) = outcome {
                        self.tell(&item.pair, outcome);
                    }
                    if let Some(page) = item.page.filter(|page| page.ends()) {
                        self.compare(&page);
                    }
                    self.is_done();
                }
                Task::Look(read) => {
                    self.look(*read);
                    self.is_done();
                }
            }
        }
    }

    /// Counts an item that is done. After a panic, items are not counted any more.
    fn is_done(&self) {
        let mut queue = self.queue.lock();
        queue.active = queue.active.saturating_sub(1);
        let ends = queue.active == 0 && queue.is_closed;
        drop(queue);
        if ends {
            self.changed.notify_all();
        }
    }

    /// Reports the results of a page whose sources are unchanged. For each other result, queues a request that checks
    /// the source.
    fn compare(&self, page: &Page) {
        for (read, is_shown) in page.compare() {
            if is_shown {
                self.tell(&read.pair, Outcome::Made(read.object.length()))
            } else {
                self.queue.lock().looks.push_back(read)
            }
        }
        self.changed.notify_all();
    }

    /// Reports that a result is right, or makes it again because its source was replaced.
    fn look(&self, read: Read) {
        let outcome = match is_current(&read.object) {
            Ok(true) => Ok(Some(Outcome::Made(read.object.length()))),
            Ok(false) => self.make(&Item { pair: Pair { replace: true, ..read.pair.clone() }, page: None }),
            Err(error) => Err(error),
        };
        if let Some(outcome) = outcome.unwrap_or_else(|error| Some(Outcome::Failed(error))) {
            self.tell(&read.pair, outcome);
        }
    }

    /// Queues the parts of a long result that this share has to make.
    pub(super) fn divide(&self, pair: &Pair, long: Long) {
        let shard = self.run.shard;
        let is_mine = |part: &u64| shard.has_part(&pair.name, *part);
        let mut mine: Vec<_> = (0..long.count()).filter(is_mine).collect();
        // If two processes make the same parts, each process begins at a different part, and later skips the parts that
        // the other process has made.
        let first = std::process::id() as usize % mine.len().max(1);
        mine.rotate_left(first);
        long.left.store(mine.len() as u64, Ordering::Release);
        let work = Arc::new(LongItem { pair: pair.clone(), long, error: Mutex::default() });
        if mine.is_empty() {
            self.tell(&work.pair, self.end(&work, None));
            return;
        }
        self.queue.lock().parts.extend(mine.into_iter().map(|part| (Arc::clone(&work), part)));
        self.changed.notify_all();
    }

    fn part(&self, work: &Arc<LongItem>, part: u64) {
        let error = || work.error.lock();
        if error().is_none() {
            let share = self.budget.take(work.long.memory());
            let made = work
                .long
                .is_made(part)
                .and_then(|is_made| if is_made { Ok(()) } else { work.long.make(part, &self.buffers) });
            match made {
                Ok(()) => {
                    self.reached();
                    self.run.observer.progressed(work.long.bytes_in(part));
                }
                Err(failed) => {
                    error().get_or_insert(failed);
                }
            }
            drop(share);
        }
        if work.long.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let failed = error().take();
            self.tell(&work.pair, self.end(work, failed));
        }
    }

    /// Ends the work on a long result after the parts of this share are made.
    fn end(&self, work: &LongItem, failed: Option<Error>) -> Outcome {
        let ended = match failed {
            None => work.long.end(work.pair.replace),
            // Another process may have completed the upload in the meantime.
            Some(Error::Store(error)) if error.problem() == Problem::Ended => match work.long.is_made_by_another() {
                Ok(true) => work.long.forget().map(|()| Ending::Made),
                Ok(false) => work.long.forget().and(Err(work.long.lost())),
                Err(other) => Err(other),
            },
            Some(error) => Err(error),
        };
        match ended {
            Ok(Ending::Made) => Outcome::Made(work.long.source_length()),
            Ok(Ending::Waiting(missing)) => Outcome::Waiting(missing),
            Err(error) => Outcome::Failed(error),
        }
    }
}

/// A guard that lets the planner continue if a thread ends with a panic.
struct Stop<'a>(&'a Pool<'a>);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            *self.0.queue.lock() = Queue { is_closed: true, ..Queue::default() };
            self.0.changed.notify_all();
        }
    }
}

/// Whether a store gave no answer in time.
fn is_away(error: &StoreError) -> bool {
    matches!(error.problem(), Problem::Unreachable | Problem::Slow)
}
