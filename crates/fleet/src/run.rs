//! Running: a list of independent items, on many threads.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::act::{Act, Results};
use crate::budget::Budget;
use crate::buffers::Buffers;
use crate::clock::{is_older, wait_for_second};
use crate::job::Job;
use crate::long::{Begun, Ending, Long};
use crate::maker::{PART, PARTS};
use crate::page::{FEW, Page, Read};
use crate::place::{Beside, Place};
use crate::source::{Source, is_current};
use crate::tree::{Tree, TreeFile};
use crate::{Error, Filter, Foreign, Shard, Spot};
use deadpan_disk::most_open_files;
use deadpan_remote::{Address, Entry, Error as StoreError, Object, Problem, Store, Upload, with_own_connections};
use deadpan_seal::Error as SealError;

/// Sources that are compared with the targets at a time.
const PAGE: usize = 1000;
/// Items that wait to be done.
const WAITING: usize = 2000;
/// How often a result is made again whose source changed meanwhile.
const TRIES: usize = 3;
/// The most threads. Most of them wait for a store.
const THREADS: usize = 32;
/// The most files, folders and connections that a thread has open, and more.
const OPEN: usize = 16;
/// If the store could not be reached for so many objects, and no object came through between them, the others are left
/// as they are: each would be tried for a quarter of a minute.
const LOST: usize = 8;

/// A source, and the place of its result.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The name of the source below what is listed.
    pub name: String,
    /// Where the data come from.
    pub source: Spot,
    /// Where the result goes.
    pub target: Spot,
    /// The number of bytes, as far as it is known.
    pub length: u64,
    /// Whether an object that is there may be replaced.
    pub replace: bool,
}

/// What became of a pair.
#[derive(Debug)]
pub enum Outcome {
    /// The result was made from so many bytes.
    Made(u64),
    /// The result was there already.
    There,
    /// The result would be made from so many bytes: this is a rehearsal.
    Would(u64),
    /// This share has made its parts; so many are missing that others have to make.
    Waiting(u64),
    /// There is no result.
    Failed(Error),
}

/// All that is to be done.
pub struct Run<'a> {
    /// What is done to each object.
    pub act: &'a dyn Act,
    /// How results come about that this crate does not write by itself.
    pub results: &'a dyn Results,
    /// Which objects are meant.
    pub filter: Filter,
    /// Which share of the work is done here.
    pub shard: Shard,
    /// Whether targets that are older than their sources are replaced.
    pub replace: bool,
    /// Whether nothing is done, and only told.
    pub rehearse: bool,
    /// Bytes of memory for data.
    pub memory: u64,
    /// From how many bytes on a result in a store is made in parts.
    pub long: u64,
    /// The job, for results in a store.
    pub job: Option<Job>,
    /// Is told what became of each pair, from any thread.
    pub report: &'a (dyn Fn(&Pair, Outcome) + Sync),
    /// Is told of bytes that were done, from any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Is told of bytes that are to be done, and at last of `None`: no more come.
    pub planned: &'a (dyn Fn(Option<u64>) + Sync),
    /// Is told how many links and special files a folder has, which are left out.
    pub left_out: &'a (dyn Fn(u64) + Sync),
}

/// What waits to be done.
#[derive(Default)]
struct Queue {
    parts: VecDeque<(Arc<Work>, u64)>,
    /// Sources whose results are there, to be asked for again.
    looks: VecDeque<Read>,
    items: VecDeque<Item>,
    /// Whether no more items come.
    is_closed: bool,
    /// Threads that are at an item, which may become parts.
    active: usize,
    /// Objects in a row for which the store could not be reached.
    lost: usize,
}

impl Queue {
    /// Whether the store could not be reached for so many objects that the run ends without the remaining ones.
    const fn is_given_up(&self) -> bool {
        self.lost >= LOST
    }
}

/// A pair that is to be done, and the page that it is on. Without a page, its source is asked for again by itself.
struct Item {
    pair: Pair,
    page: Option<Arc<Page>>,
}

/// A long result and its pair.
struct Work {
    pair: Pair,
    long: Long,
    /// The first error of a part; the others are then left out.
    error: Mutex<Option<Error>>,
}

enum Task {
    Item(Box<Item>),
    Look(Box<Read>),
    Part(Arc<Work>, u64),
}

struct Pool<'a> {
    run: &'a Run<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
    budget: Budget,
    buffers: Arc<Buffers>,
}

impl Run<'_> {
    /// Seals or opens everything below a place. Calls `begin` when the listing shows the first object, before any
    /// object is compared or made. If `begin` fails, nothing is done.
    ///
    /// # Errors
    /// If the place cannot be listed, and those of `begin`; or if the store cannot be reached any more. Errors of
    /// single objects are reported.
    pub fn all(&self, from: &Place, to: &Place, begin: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        self.with(|pool| {
            let (mut page, mut begin) = (Vec::new(), Some(begin));
            let mut beside = Beside::default();
            let listing = from.list(to, &mut beside)?;
            let is_meant = |name: &&String| self.shard.has(name) && self.filter.takes(name);
            (self.left_out)(beside.others.iter().filter(is_meant).count() as u64);
            for (path, name, error) in beside.unreadable {
                if self.shard.has(&name) && !self.filter.excludes_folder(&name) {
                    let spot = Spot::File(nowhere(path));
                    let pair = Pair { name, source: spot.clone(), target: spot, length: 0, replace: false };
                    (self.report)(&pair, Outcome::Failed(error));
                }
            }
            for found in listing {
                let found = found?;
                if let Some(target) = self.act.target(&found.name).filter(|target| self.takes(&found.name, target)) {
                    if let Some(begin) = begin.take() {
                        begin()?;
                    }
                    page.push((found, target));
                }
                if pool.queue().is_given_up() {
                    return Err(Error::Unreached);
                }
                if page.len() == PAGE {
                    self.plan(pool, from, to, std::mem::take(&mut page))?;
                }
            }
            self.plan(pool, from, to, page)
        })?;
        match &self.job {
            Some(job) if self.shard.index() == 0 => job.sweep(),
            _ => Ok(()),
        }
    }

    /// Whether the filter takes an object. To open an object, a pattern may match the sealed name or the name of the
    /// result.
    fn takes(&self, name: &str, target: &str) -> bool {
        let names = [name, target];
        self.filter.takes_either(if self.is_opening() { &names } else { &names[..1] })
    }

    fn is_opening(&self) -> bool {
        self.act.verb() == "open"
    }

    /// Seals or opens one source.
    ///
    /// # Errors
    /// None today: what fails is reported.
    pub fn one(&self, pair: Pair) -> Result<(), Error> {
        self.with(|pool| {
            pool.push(Item { pair, page: None });
            Ok(())
        })
    }

    fn with(&self, plan: impl FnOnce(&Pool<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let pool = Pool {
            run: self,
            queue: Mutex::default(),
            changed: Condvar::new(),
            budget: Budget::new(self.memory),
            buffers: Arc::default(),
        };
        let result = thread::scope(|scope| {
            // The threads would wait for ever if this one ended with a panic.
            let _stop = Stop(&pool);
            let start = |_| Builder::new().spawn_scoped(scope, || with_own_connections(|| pool.work()));
            let (threads, refused): (Vec<_>, Vec<_>) =
                (0..(most_open_files() / OPEN).clamp(1, THREADS)).map(start).partition(Result::is_ok);
            // If the system does not allow all threads, the others do the work.
            if let Some(Err(error)) = refused.into_iter().next().filter(|_| threads.is_empty()) {
                return Err(Error::System(error));
            }
            let result = plan(&pool);
            (self.planned)(None);
            pool.queue().is_closed = true;
            pool.changed.notify_all();
            for thread in threads.into_iter().flatten() {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            result
        });
        result.and(pool.give_up())
    }

    /// Compares a page of sources with what is there, and queues the rest.
    fn plan(&self, pool: &Pool<'_>, from: &Place, to: &Place, page: Vec<(Entry, String)>) -> Result<(), Error> {
        let there = to.which(page.iter().map(|(_, target)| target.as_str()), !self.is_opening())?;
        let (mut targets, mut planned) = (HashSet::new(), Vec::new());
        for (found, target) in page {
            let spots = from.spot(&found.name).and_then(|source| Ok((source, to.spot(&target)?)));
            let known = there.get(&target);
            let is_mine = self.shard.has(&found.name);
            let (source, target) = match spots {
                Ok(spots) => spots,
                Err(_) if !is_mine => continue,
                Err(error) => {
                    let path = format!("{}/{}", from.text().trim_end_matches('/'), found.name);
                    let nowhere = Spot::File(nowhere(path.into()));
                    let pair =
                        Pair { name: found.name, source: nowhere.clone(), target: nowhere, length: 0, replace: false };
                    (self.report)(&pair, Outcome::Failed(error));
                    continue;
                }
            };
            let is_first = targets.insert(target.text());
            let pair = Pair { name: found.name, source, target, length: found.length, replace: known.is_some() };
            if !is_first {
                // Both would be taken for one result from then on.
                (self.report)(&pair, Outcome::Failed(Error::Twice));
                continue;
            }
            // A sealed object is longer than its source.
            let is_short = known.is_some_and(|known| !self.is_opening() && known.length <= found.length);
            let is_old = match known.map(|known| known.written) {
                Some(Some(written)) => is_older(written, found.modified, &pair),
                Some(None) => self.replace,
                None => true,
            };
            let verdict = match known {
                Some(_) if !is_old && !is_short => Some(Outcome::There),
                Some(_) if !self.replace && is_old => Some(Outcome::Failed(Error::Outdated)),
                Some(_) if !self.replace => Some(Outcome::Failed(Error::Short)),
                _ if self.rehearse => Some(Outcome::Would(found.length)),
                _ => None,
            };
            match verdict {
                Some(outcome) if is_mine => (self.report)(&pair, outcome),
                Some(_) => {}
                // All shares make parts of a long one.
                None if is_mine || found.length >= self.long && self.has_part(&pair, found.length) => {
                    planned.push(pair);
                }
                None => {}
            }
        }
        let items = planned.len();
        let page = match from {
            Place::Prefix(store, prefix) if items > FEW => Some(Arc::new(Page::new(store, prefix, items))),
            _ => None,
        };
        for pair in planned {
            (self.planned)(Some(pair.length));
            pool.push(Item { pair, page: page.clone() });
        }
        Ok(())
    }

    /// Whether this share may have a part of a result. There is never one part more than is asked for here.
    fn has_part(&self, pair: &Pair, length: u64) -> bool {
        let most = (length / PART + 2).min(self.shard.count());
        self.is_divided(pair) && (0..most).any(|part| self.shard.has_part(&pair.name, part))
    }

    /// Whether the result may be made in parts.
    fn is_divided(&self, pair: &Pair) -> bool {
        self.job.is_some() && matches!(pair.target, Spot::Object(..))
    }
}

impl Pool<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item, and waits while there are too many.
    fn push(&self, item: Item) {
        let mut queue = self.queue();
        if queue.items.len() >= WAITING {
            // It is closed before its time if a thread ends with a panic.
            while queue.items.len() > WAITING / 2 && !queue.is_closed && !queue.is_given_up() {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        }
        queue.items.push_back(item);
        drop(queue);
        self.changed.notify_one();
    }

    /// Reports what became of a pair, and counts the objects for which the store could not be reached.
    fn tell(&self, pair: &Pair, outcome: Outcome) {
        let is_lost = matches!(&outcome, Outcome::Failed(Error::Store(it)) if is_away(it));
        (self.run.report)(pair, outcome);
        if is_lost {
            self.queue().lost += 1;
            self.changed.notify_all();
        }
    }

    /// Notes that the store could be reached: an object or a part is done.
    fn reached(&self) {
        let mut queue = self.queue();
        if !queue.is_given_up() {
            queue.lost = 0;
        }
    }

    /// If the run was given up, reports the results that were made and not yet compared with their sources, and the
    /// long results that failed. Fails if other objects are left.
    fn give_up(&self) -> Result<(), Error> {
        let queue = std::mem::take(&mut *self.queue());
        if !queue.is_given_up() {
            return Ok(());
        }
        let mut pages: Vec<&Arc<Page>> = Vec::new();
        for page in queue.items.iter().filter_map(|item| item.page.as_ref()) {
            // The items of a page lie together.
            if pages.last().is_none_or(|last| !Arc::ptr_eq(last, page)) {
                pages.push(page);
            }
        }
        let noted = pages.into_iter().flat_map(|page| page.noted());
        for read in noted.chain(queue.looks) {
            (self.run.report)(&read.pair, Outcome::Made(read.object.length()));
        }
        let (mut is_left, mut last) = (!queue.items.is_empty(), None);
        for (work, _) in &queue.parts {
            if last.replace(Arc::as_ptr(work)) == Some(Arc::as_ptr(work)) {
                continue;
            }
            let error = work.error.lock().unwrap_or_else(PoisonError::into_inner).take();
            match error {
                None => is_left = true,
                Some(error) => (self.run.report)(&work.pair, Outcome::Failed(error)),
            }
        }
        if is_left { Err(Error::Unreached) } else { Ok(()) }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.queue();
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
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        let _stop = Stop(self);
        while let Some(task) = self.next() {
            match task {
                Task::Part(work, part) => self.part(&work, part),
                Task::Item(item) => {
                    let outcome = self.item(&item).inspect(|_| self.reached());
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

    /// Counts an item that is done. After a panic, none are counted any more.
    fn is_done(&self) {
        let mut queue = self.queue();
        queue.active = queue.active.saturating_sub(1);
        let ends = queue.active == 0 && queue.is_closed;
        drop(queue);
        if ends {
            self.changed.notify_all();
        }
    }

    /// Reports which results of a page are right, and has the sources of the others asked for.
    fn compare(&self, page: &Page) {
        for (read, is_shown) in page.compare() {
            match is_shown {
                true => self.tell(&read.pair, Outcome::Made(read.object.length())),
                false => self.queue().looks.push_back(read),
            }
        }
        self.changed.notify_all();
    }

    /// Reports that a result is right, or makes it again because its source was replaced.
    fn look(&self, read: Read) {
        let outcome = match is_current(&read.object) {
            Ok(true) => Ok(Some(Outcome::Made(read.object.length()))),
            Ok(false) => self.item(&Item { pair: Pair { replace: true, ..read.pair.clone() }, page: None }),
            Err(error) => Err(error),
        };
        if let Some(outcome) = outcome.unwrap_or_else(|error| Some(Outcome::Failed(error))) {
            self.tell(&read.pair, outcome);
        }
    }

    fn part(&self, work: &Arc<Work>, part: u64) {
        let error = || work.error.lock().unwrap_or_else(PoisonError::into_inner);
        if error().is_none() {
            let share = self.budget.take(work.long.memory());
            let made = work
                .long
                .is_made(part)
                .and_then(|is_made| if is_made { Ok(()) } else { work.long.make(part, &self.buffers) });
            match made {
                Ok(()) => {
                    self.reached();
                    (self.run.progress)(work.long.bytes_in(part));
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

    /// Ends a long result, whose parts of this share are made.
    fn end(&self, work: &Work, failed: Option<Error>) -> Outcome {
        let ended = match failed {
            None => work.long.end(work.pair.replace),
            // Another driver may have completed the upload meanwhile.
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

    /// Makes a result, or begins with the parts of a long one.
    fn item(&self, item: &Item) -> Result<Option<Outcome>, Error> {
        let mut pair = item.pair.clone();
        for _ in 0..TRIES {
            match self.once(&pair, item.page.as_deref())? {
                Once::Done(outcome) => return Ok(outcome),
                // The result is of an older version, and looks newer than the source.
                Once::Stale => pair.replace = true,
            }
        }
        Err(Error::Changed)
    }

    fn once(&self, pair: &Pair, page: Option<&Page>) -> Result<Once, Error> {
        let run = self.run;
        // The first request brings all of a short object, or the beginning of a long one.
        let expected = if pair.length < run.long { pair.length } else { 0 };
        let mut share = self.budget.take(3 * expected + (1 << 19));
        let mut source = Source::open(&pair.source, expected)?;
        if let Some(job) = run.job.as_ref().filter(|_| source.length() >= run.long && run.is_divided(pair)) {
            match Long::begin(job, run.act, pair, source)? {
                Begun::Long(long) => {
                    self.divide(pair, *long)?;
                    return Ok(Once::Done(None));
                }
                Begun::Whole(whole) => source = *whole,
                Begun::There if run.shard.has(&pair.name) => return Ok(Once::Done(Some(Outcome::There))),
                Begun::There => return Ok(Once::Done(None)),
            }
        }
        if !run.shard.has(&pair.name) {
            return Ok(Once::Done(None));
        }
        let (about, length) = (source.about(pair), source.length());
        if length < run.long {
            if length > expected {
                // It has grown since it was listed. Nobody waits for memory while he holds some.
                drop(share);
                share = self.budget.take(2 * length + (1 << 19));
            }
            let mut read = None;
            let data = match source.whole() {
                Some(whole) => whole,
                None => {
                    let read = read.insert(self.buffers.take(length as usize));
                    source.fill(read, 0)?;
                    &*read
                }
            };
            let (made, metadata) = run.act.whole(&about, data)?;
            wait_for_second(&source, &pair.target);
            drop(read);
            source.give_back();
            match &pair.target {
                Spot::Object(store, target) => put(store, target, &Bytes::from(made), pair.replace)?,
                Spot::File(place) => {
                    let mut file = run.results.create(place, pair.replace)?;
                    file.write_all(&made).map_err(|error| Error::Write(place.path(), error))?;
                    file.land(&metadata)?;
                }
            }
            drop(share);
            (run.progress)(length);
        } else {
            drop(share);
            // Six pieces are read ahead, and as many parts are on their way.
            let part = (length / PARTS).max(8 << 20);
            let _share = self.budget.take(6 * (part + (8 << 20)));
            let mut reader = Counted { reader: source.reader(), progress: run.progress };
            wait_for_second(&source, &pair.target);
            match &pair.target {
                Spot::Object(store, target) => {
                    let mut upload = Upload::start(store, target, Some(length + length / 4), pair.replace)?;
                    let _watched = run.results.watch(upload.canceller(), target);
                    run.act.stream(&about, &mut reader, &mut upload)?;
                    upload.finish()?;
                }
                Spot::File(place) => {
                    let mut file = run.results.create(place, pair.replace)?;
                    let written = run.act.stream(&about, &mut reader, &mut file);
                    let metadata = written.map_err(|error| of_file(&place.path(), error))?;
                    file.land(&metadata)?;
                }
            }
        }
        Ok(match (&source, page) {
            (Source::Object(object), Some(page)) if length < run.long => {
                page.note(pair, object);
                Once::Done(None)
            }
            _ if source.is_current()? => Once::Done(Some(Outcome::Made(length))),
            _ => Once::Stale,
        })
    }

    /// Queues the parts of a long result that this share has to make.
    fn divide(&self, pair: &Pair, long: Long) -> Result<(), Error> {
        let shard = self.run.shard;
        let is_mine = |part: &u64| shard.has_part(&pair.name, *part);
        let mut mine: Vec<_> = (0..long.count()).filter(is_mine).collect();
        // Two that do the same begin at different places, and find later what the other has done.
        let first = std::process::id() as usize % mine.len().max(1);
        mine.rotate_left(first);
        long.left.store(mine.len() as u64, Ordering::Release);
        let work = Arc::new(Work { pair: pair.clone(), long, error: Mutex::default() });
        if mine.is_empty() {
            self.tell(&work.pair, self.end(&work, None));
            return Ok(());
        }
        self.queue().parts.extend(mine.into_iter().map(|part| (Arc::clone(&work), part)));
        self.changed.notify_all();
        Ok(())
    }
}

/// Lets the planner go on if a thread ends with a panic.
struct Stop<'a>(&'a Pool<'a>);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            *self.0.queue() = Queue { is_closed: true, ..Queue::default() };
            self.0.changed.notify_all();
        }
    }
}

/// Whether a store gave no answer in time.
fn is_away(error: &StoreError) -> bool {
    matches!(error.problem(), Problem::Unreachable | Problem::Slow)
}

/// How a result was made.
enum Once {
    /// What is to be reported; `None` if it is reported later, or by others.
    Done(Option<Outcome>),
    /// The source changed before the result was there.
    Stale,
}

/// Writes a short object. Without `replace`, the client does not try again if the connection breaks, because the object
/// may be there then; here it is known by its bytes.
fn put(store: &Store, target: &Address, made: &Bytes, replace: bool) -> Result<(), Error> {
    let (mut round, mut failed) = (0, None);
    loop {
        match store.put(target, made.clone(), replace) {
            Err(error)
                if error.problem() == Problem::Unreachable
                    && !replace
                    && failed.get_or_insert_with(Instant::now).elapsed() < Duration::from_secs(10) =>
            {
                thread::sleep(Duration::from_millis(200) * 3_u32.pow(round));
                round += 1;
            }
            Err(error) if error.problem() == Problem::Exists && is_same(store, target, made)? => return Ok(()),
            other => return Ok(other?),
        }
    }
}

/// Whether an object holds these bytes. Sealed data are never the same twice.
fn is_same(store: &Store, target: &Address, made: &Bytes) -> Result<bool, Error> {
    let object = Object::open(store, target)?;
    let begin = made.len().min(4096);
    Ok(object.length() == made.len() as u64 && object.bytes(0..begin as u64)? == made[..begin])
}

/// Returns the place of what is only named in a message.
fn nowhere(path: PathBuf) -> TreeFile {
    TreeFile { tree: Tree::new(PathBuf::new()), name: path }
}

/// Names the file that could not be written.
fn of_file(path: &Path, error: Foreign) -> Error {
    match error.downcast::<SealError>().map(|error| *error) {
        Ok(SealError::Write(error)) => Error::Write(path.to_owned(), error),
        Ok(error) => Error::Seal(error),
        Err(error) => Error::from(error),
    }
}

/// Counts what is read.
struct Counted<'a, R> {
    reader: R,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl<R: std::io::Read> std::io::Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        (self.progress)(read as u64);
        Ok(read)
    }
}
