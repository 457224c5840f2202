//! Makes one result on one thread.

use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::pool::{Item, Pool};
use super::{Observer, Outcome, Pair};
use crate::clock::{wait_for_second, wait_for_tick};
use crate::long::{BeginResult, Long};
use crate::maker::PARTS;
use crate::page::Page;
use crate::place::Known;
use crate::source::Source;
use crate::{Error, Foreign, Spot};
use deadpan_remote::{Address, Object, Problem, Store, Upload};
use deadpan_seal::Error as SealError;

/// The number of tries to make a result whose source changes in the meantime.
const TRIES: usize = 3;

/// What came of making a result.
enum Making {
    Made,
    /// The result is too long to be made in memory.
    TooLong,
    /// Another program has made a file with the name of the result.
    There,
}

enum Attempt {
    /// The outcome for the observer, or `None` if another attempt or another share reports the outcome.
    Done(Option<Outcome>),
    /// The source changed before the result was complete.
    Stale,
}

impl Pool<'_> {
    pub(super) fn make(&self, item: &Item) -> Result<Option<Outcome>, Error> {
        let mut pair = item.pair.clone();
        for _ in 0..TRIES {
            match self.attempt(&pair, item.page.as_deref())? {
                Attempt::Done(outcome) => return Ok(outcome),
                // The result was made from an older version of the source, but its time is later than the time of the
                // source.
                Attempt::Stale => pair.replace = true,
            }
        }
        Err(Error::Changed)
    }

    fn attempt(&self, pair: &Pair, page: Option<&Page>) -> Result<Attempt, Error> {
        let run = self.run;
        if let Some(outcome) = self.settled(pair) {
            return Ok(Attempt::Done(Some(outcome)));
        }
        // The first request returns the whole of a short object, or the beginning of a long object.
        let expected = if pair.length < run.long { pair.length } else { 0 };
        let mut share = self.budget.take(3 * expected + (1 << 19));
        let mut source = Source::open(&pair.source, expected)?;
        if !run.is_opening() && wait_for_tick(&source, &pair.target) {
            source = Source::open(&pair.source, expected)?;
        }
        if let Some(job) = run.job.as_ref().filter(|_| source.length() >= run.long && run.is_divided(pair)) {
            match Long::begin(job, run.act, pair, source)? {
                BeginResult::Long(long) => {
                    self.divide(pair, *long);
                    return Ok(Attempt::Done(None));
                }
                BeginResult::Whole(whole) => source = *whole,
                BeginResult::There => return Ok(Attempt::Done(run.shard.has(&pair.name).then_some(Outcome::There))),
            }
        }
        if !run.shard.has(&pair.name) {
            return Ok(Attempt::Done(None));
        }
        let length = source.length();
        let mut making = Making::TooLong;
        if length < run.long {
            if length > expected {
                // The source has grown since it was listed, and needs more memory. The thread gives its memory back
                // before it waits for more.
                drop(share);
                share = self.budget.take(2 * length + (1 << 19));
            }
            making = self.make_whole(pair, &mut source)?;
            if matches!(making, Making::Made) {
                run.observer.progressed(length);
            }
        }
        drop(share);
        if matches!(making, Making::TooLong) {
            making = self.make_streamed(pair, &source)?;
        }
        if matches!(making, Making::There) {
            return match self.settled(pair) {
                Some(outcome) => Ok(Attempt::Done(Some(outcome))),
                // The next attempt replaces the file.
                None if run.replace => Ok(Attempt::Stale),
                None => Err(Error::Changed),
            };
        }
        Ok(match (&source, page) {
            (Source::Object(object), Some(page)) if length < run.long => {
                page.note(pair, object);
                Attempt::Done(None)
            }
            _ if source.is_current()? => Attempt::Done(Some(Outcome::Made(length))),
            _ => Attempt::Stale,
        })
    }

    /// If another program has made the result as a file since the run was planned, returns the outcome of the pair.
    fn settled(&self, pair: &Pair) -> Option<Outcome> {
        let Spot::File(place) = &pair.target else { return None };
        if pair.replace || self.run.replace {
            return None;
        }
        let stamps = self.run.stamps.as_ref();
        let known = Known::of_file(place, !self.run.is_opening(), stamps)?;
        let source = Source::open(&pair.source, 0).ok()?;
        self.run.verdict(pair, source.changed(), source.stamp(stamps), Some(&known))
    }

    /// Makes a short result in memory.
    fn make_whole(&self, pair: &Pair, source: &mut Source) -> Result<Making, Error> {
        let mut read = None;
        let data = match source.whole() {
            Some(whole) => whole,
            None => {
                let read = read.insert(self.buffers.take(source.length() as usize));
                source.fill(read, 0)?;
                &*read
            }
        };
        let Some((made, metadata)) = self.run.act.whole(&source.about(pair), data)? else {
            return Ok(Making::TooLong);
        };
        wait_for_second(source, &pair.target);
        drop(read);
        source.give_back();
        match &pair.target {
            Spot::Object(store, target) => put(store, target, &Bytes::from(made), pair.replace)?,
            Spot::File(place) => {
                let mut file = self.run.results.create(place, pair.replace)?;
                file.write_all(&made).map_err(|error| Error::Write(place.path(), error))?;
                source.stamp(self.run.stamps.as_ref()).into_iter().for_each(|stamp| file.stamp(stamp));
                if !file.land(&metadata)? {
                    return Ok(Making::There);
                }
            }
        }
        Ok(Making::Made)
    }

    /// Makes a long result in one stream.
    fn make_streamed(&self, pair: &Pair, source: &Source) -> Result<Making, Error> {
        let (run, about, length) = (self.run, source.about(pair), source.length());
        // Six pieces of the source are read ahead of sealing or opening, and six parts of the result are sent at the
        // same time.
        let part = (length / PARTS).max(8 << 20);
        let _share = self.budget.take(6 * (part + (8 << 20)));
        let mut reader = Counted { reader: source.reader(), observer: run.observer };
        wait_for_second(source, &pair.target);
        match &pair.target {
            Spot::Object(store, target) => {
                // The data of a compressed object may be much longer than the object.
                let longest = Some(length + length / 4).filter(|longest| *longest > 1 << 40);
                let mut upload = Upload::start(store, target, longest, pair.replace)?;
                let _watched = run.results.watch(upload.canceller(), target);
                run.act.stream(&about, &mut reader, &mut upload)?;
                upload.finish()?;
            }
            Spot::File(place) => {
                let mut file = run.results.create(place, pair.replace)?;
                let written = run.act.stream(&about, &mut reader, &mut file);
                let metadata = written.map_err(|error| of_file(&place.path(), error))?;
                source.stamp(run.stamps.as_ref()).into_iter().for_each(|stamp| file.stamp(stamp));
                if !file.land(&metadata)? {
                    return Ok(Making::There);
                }
            }
        }
        Ok(Making::Made)
    }
}

/// Writes a short object. Without `replace`, the client does not repeat a request after a broken connection, because
/// the first request may have created the object. This function repeats the request, and if the object exists, compares
/// the object's bytes with the result.
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

/// Whether an object holds these bytes. A comparison of the beginning is enough, since two sealings never give the same
/// bytes.
fn is_same(store: &Store, target: &Address, made: &Bytes) -> Result<bool, Error> {
    let object = Object::open(store, target)?;
    let begin = made.len().min(4096);
    Ok(object.length() == made.len() as u64 && object.bytes(0..begin as u64)? == made[..begin])
}

fn of_file(path: &Path, error: Foreign) -> Error {
    match error.downcast::<SealError>().map(|error| *error) {
        Ok(SealError::Write(error)) => Error::Write(path.to_owned(), error),
        Ok(error) => Error::Seal(error),
        Err(error) => Error::from(error),
    }
}

/// A reader that reports to the observer how many bytes it reads.
struct Counted<'a, R> {
    reader: R,
    observer: &'a dyn Observer,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.observer.progressed(read as u64);
        Ok(read)
    }
}
