//! Running: a list of independent items, on many threads.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::act::Act;
use crate::budget::Budget;
use crate::buffers::Buffers;
use crate::job::Job;
use crate::long::{Begun, Ending, Long, PART, PARTS};
use crate::place::{Found, Place};
use crate::source::Source;
use crate::{Error, Filter, Shard, Spot};
use deadpan_remote::{Address, Object, Problem, Store, Upload};

/// Sources that are compared with the targets at a time.
const PAGE: usize = 1000;
/// Items that wait to be done.
const WAITING: usize = 2000;
/// How often a result is made again whose source changed meanwhile.
const TRIES: usize = 3;
/// A source that was read so long ago is looked at again when its result is there.
const PATIENCE: Duration = Duration::from_secs(2);
/// Threads. Most of them wait for a store.
const THREADS: usize = 32;

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
}

/// What waits to be done.
#[derive(Default)]
struct Queue {
    parts: VecDeque<(Arc<Work>, u64)>,
    items: VecDeque<Pair>,
    /// Whether no more items come.
    is_closed: bool,
    /// Threads that are at an item, which may become parts.
    active: usize,
}

/// A long result and its pair.
struct Work {
    pair: Pair,
    long: Long,
    /// The first error of a part; the others are then left out.
    error: Mutex<Option<Error>>,
}

enum Task {
    Item(Box<Pair>),
    Part(Arc<Work>, u64),
}

struct Pool<'a> {
    run: &'a Run<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
    budget: Budget,
    buffers: Arc<Buffers>,
    stopped: AtomicUsize,
}

impl Run<'_> {
    /// Does it to everything below a place.
    ///
    /// # Errors
    /// If the place cannot be listed. Errors of single objects are reported.
    pub fn all(&self, from: &Place, to: &Place) -> Result<(), Error> {
        self.with(|pool| {
            let mut page = Vec::new();
            for found in from.list(to)? {
                let found = found?;
                if let Some(target) = self.act.target(&found.name).filter(|_| self.filter.takes(&found.name)) {
                    page.push((found, target));
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

    /// Does it to one source.
    ///
    /// # Errors
    /// None today: what fails is reported.
    pub fn one(&self, pair: Pair) -> Result<(), Error> {
        self.with(|pool| {
            pool.push(pair);
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
            stopped: AtomicUsize::new(0),
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| pool.work())).collect();
            let result = plan(&pool);
            (self.planned)(None);
            pool.queue().is_closed = true;
            pool.changed.notify_all();
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            result
        })
    }

    /// Compares a page of sources with what is there, and queues the rest.
    fn plan(&self, pool: &Pool<'_>, from: &Place, to: &Place, page: Vec<(Found, String)>) -> Result<(), Error> {
        let there = to.which(page.iter().map(|(_, target)| target.as_str()), self.act.verb() == "seal")?;
        let mut targets = HashSet::new();
        let ahead = to.ahead();
        for (found, target) in page {
            let spots = from.spot(&found.name).and_then(|source| Ok((source, to.spot(&target)?)));
            let known = there.get(&target);
            let is_mine = self.shard.has(&found.name);
            let (source, target) = match spots {
                Ok(spots) => spots,
                Err(_) if !is_mine => continue,
                Err(error) => {
                    let nowhere = Spot::File(found.name.clone().into());
                    let pair =
                        Pair { name: found.name, source: nowhere.clone(), target: nowhere, length: 0, replace: false };
                    (self.report)(&pair, Outcome::Failed(error));
                    continue;
                }
            };
            let is_first = targets.insert(target.to_string());
            let pair = Pair { name: found.name, source, target, length: found.length, replace: known.is_some() };
            if !is_first {
                // Both would be taken for one result from then on.
                let twice = Error::OtherJob(format!("{}: another source has the same result", pair.source));
                (self.report)(&pair, Outcome::Failed(twice));
                continue;
            }
            let is_old = match known {
                Some(Some(written)) => is_older(*written, found.modified, &pair, ahead),
                Some(None) => self.replace,
                None => true,
            };
            let verdict = match known {
                Some(_) if !is_old => Some(Outcome::There),
                Some(_) if !self.replace => Some(Outcome::Failed(Error::Outdated)),
                _ if self.rehearse => Some(Outcome::Would(found.length)),
                _ => None,
            };
            match verdict {
                Some(outcome) if is_mine => (self.report)(&pair, outcome),
                Some(_) => {}
                // All shares make parts of a long one.
                None if is_mine || found.length >= self.long && self.has_part(&pair, found.length) => {
                    (self.planned)(Some(found.length));
                    pool.push(pair);
                }
                None => {}
            }
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

/// Returns by how many seconds a difference of clocks may be wrong.
const fn doubt(ahead: i64) -> i64 {
    if ahead == 0 { 0 } else { 2 }
}

/// Whether a target was written before its source, or in a store in the same second. The clock of a store counts whole
/// seconds, and may differ from this machine's, which gives files their times.
fn is_older(written: SystemTime, changed: SystemTime, pair: &Pair, ahead: i64) -> bool {
    let seconds = |time: SystemTime| match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs().cast_signed(),
        Err(before) => -before.duration().as_secs().cast_signed(),
    };
    match (&pair.source, &pair.target) {
        (_, Spot::File(_)) => written < changed,
        (Spot::File(_), _) => seconds(written) <= seconds(changed).saturating_add(ahead).saturating_add(doubt(ahead)),
        (Spot::Object(from, _), Spot::Object(to, _)) => {
            let ahead = to.ahead() - from.ahead();
            seconds(written) <= seconds(changed).saturating_add(ahead).saturating_add(doubt(ahead))
        }
    }
}

impl Pool<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item, and waits while there are too many.
    fn push(&self, pair: Pair) {
        let mut queue = self.queue();
        while queue.items.len() >= WAITING && self.stopped.load(Ordering::Relaxed) == 0 {
            queue = self.changed.wait_timeout(queue, Duration::from_secs(1)).unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.items.push_back(pair);
        drop(queue);
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.queue();
        loop {
            if let Some((work, part)) = queue.parts.pop_front() {
                return Some(Task::Part(work, part));
            }
            if let Some(pair) = queue.items.pop_front() {
                queue.active += 1;
                if queue.items.len() + 1 == WAITING {
                    self.changed.notify_all();
                }
                return Some(Task::Item(Box::new(pair)));
            }
            if queue.is_closed && queue.active == 0 {
                self.changed.notify_all();
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        let guard = Stop(self);
        while let Some(task) = self.next() {
            match task {
                Task::Part(work, part) => self.part(&work, part),
                Task::Item(pair) => {
                    let outcome = self.item(&pair).unwrap_or_else(|error| Some(Outcome::Failed(error)));
                    if let Some(outcome) = outcome {
                        (self.run.report)(&pair, outcome);
                    }
                    self.queue().active -= 1;
                    self.changed.notify_all();
                }
            }
        }
        drop(guard);
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
                Ok(()) => (self.run.progress)(work.long.bytes_in(part)),
                Err(failed) => {
                    error().get_or_insert(failed);
                }
            }
            drop(share);
        }
        if work.long.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let failed = error().take();
            (self.run.report)(&work.pair, self.end(work, failed));
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
    fn item(&self, pair: &Pair) -> Result<Option<Outcome>, Error> {
        let mut pair = pair.clone();
        for _ in 0..TRIES {
            match self.once(&pair)? {
                Once::Done(outcome) => return Ok(outcome),
                // The result is of an older version, and looks newer than the source.
                Once::Stale => pair.replace = true,
            }
        }
        Err(Error::Changed)
    }

    fn once(&self, pair: &Pair) -> Result<Once, Error> {
        let run = self.run;
        // The first request brings all of a short object, or the beginning of a long one.
        let expected = if pair.length < run.long { pair.length } else { 0 };
        let mut share = self.budget.take(3 * expected + (1 << 19));
        let begun = Instant::now();
        let mut source = Source::open_with(&pair.source, expected)?;
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
        let (about, length, tag) = (source.about(pair), source.length(), source.tag());
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
            drop((source, read));
            match &pair.target {
                Spot::Object(store, target) => put(store, target, &Bytes::from(made), pair.replace)?,
                Spot::File(path) => {
                    let mut file = run.act.create(path, pair.replace)?;
                    file.write_all(&made).map_err(|error| Error::File(path.clone(), error))?;
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
                    let _watched = run.act.watch(upload.canceller());
                    run.act.stream(&about, &mut reader, &mut upload)?;
                    upload.finish()?;
                }
                Spot::File(path) => {
                    let mut file = run.act.create(path, pair.replace)?;
                    let metadata = run.act.stream(&about, &mut reader, &mut file)?;
                    file.land(&metadata)?;
                }
            }
        }
        Ok(match is_stale(pair, &tag, begun)? {
            true => Once::Stale,
            false => Once::Done(Some(Outcome::Made(length))),
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
            (self.run.report)(&work.pair, self.end(&work, None));
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
        self.0.stopped.fetch_add(1, Ordering::Relaxed);
        if thread::panicking() {
            let mut queue = self.0.queue();
            (queue.is_closed, queue.active) = (true, 0);
            queue.items.clear();
            queue.parts.clear();
        }
        self.0.changed.notify_all();
    }
}

/// How a result was made.
enum Once {
    /// What is to be reported; `None` if others report it.
    Done(Option<Outcome>),
    /// The source changed before the result was there.
    Stale,
}

/// Whether the source changed since it was opened. An object is asked for again only if that was a while ago: a request
/// for each of many objects would cost as much as half of the work.
fn is_stale(pair: &Pair, tag: &str, begun: Instant) -> Result<bool, Error> {
    let is_asked = matches!(pair.source, Spot::File(_)) || begun.elapsed() > PATIENCE;
    Ok(is_asked && Source::open(&pair.source)?.tag() != tag)
}

/// Waits until a result in a store will be of a later second than its source, so that the next run can tell that it is
/// newer.
pub(crate) fn wait_for_second(source: &Source, target: &Spot) {
    let Spot::Object(store, _) = target else { return };
    let (now, modified) = (SystemTime::now(), source.changed());
    let ahead = Duration::from_secs(store.ahead().unsigned_abs());
    let now = match source {
        Source::File(..) => Some(now),
        Source::Object(_) if store.ahead() < 0 => now.checked_sub(ahead),
        Source::Object(_) => now.checked_add(ahead),
    };
    let due = modified.checked_add(Duration::from_millis(1100 + 1000 * doubt(store.ahead()).unsigned_abs()));
    let wait = due.zip(now).and_then(|(due, now)| due.duration_since(now).ok());
    // Times in the future are not waited for.
    thread::sleep(wait.filter(|wait| *wait < 2 * PATIENCE).unwrap_or_default());
}

/// Writes a short object. The client does not try again if the connection breaks, because the object may be there then;
/// here it is known by its bytes.
fn put(store: &Store, target: &Address, made: &Bytes, replace: bool) -> Result<(), Error> {
    let mut round = 0;
    loop {
        match store.put(target, made.clone(), replace) {
            Err(error) if error.problem() == Problem::Unreachable && round < 5 => {
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

/// Whether a name can be that of a file below a folder.
pub(crate) fn is_fit(name: &str) -> bool {
    let path = Path::new(name);
    !name.is_empty()
        && !name.contains('\0')
        && !name.ends_with('/')
        && !name.contains("//")
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        && !name.split('/').any(|part| matches!(part, "." | ".."))
}

/// What is there of a page of targets: when it was written, if that can be compared with the sources.
pub(crate) type There = HashMap<String, Option<SystemTime>>;
