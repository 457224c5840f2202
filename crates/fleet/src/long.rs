//! Long objects. Any number of threads and machines make the parts of a long object, in one upload.
//!
//! The state lies in the bucket of the result:
//!
//! ```text
//! _deadpan/JOB/TARGET/SOURCE/manifest
//! ```
//!
//! SOURCE is a hash that depends on the version of the source and on the recipients, so a run never finds the state for
//! another version or for other recipients. The manifest identifies the source, the target and the upload, and contains
//! the file key, which is sealed to the job. The manifest is written only if none exists, so all processes work on one
//! upload. The store itself lists the finished parts. A process that finds all parts in the list completes the upload.
//! `tests/it/protocol.rs` checks the protocol with all possible orders of events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::act::Act;
use crate::buffers::Buffers;
use crate::clock::wait_for_second;
use crate::job::{Found, Job};
use crate::maker::{BEGINNING, Maker};
use crate::manifest::{forget, remove_others, seconds, upload};
use crate::source::Source;
use crate::{Error, Pair, Spot};
use deadpan_remote::{Address, Object, Pieces, Problem, Store, There};

/// If another process can disturb an action, the action is tried at most this number of times.
const TRIES: usize = 3;
/// The maximum number of tries to complete the upload. A try fails if another process has just sent a part again.
const ROUNDS: u64 = 20;
/// The number of bytes that a slow store puts together in a second.
const JOINED: u64 = 50_000_000;
/// The time for which a list of the finished parts is used before it is requested again.
const FRESH: Duration = Duration::from_secs(5);

/// A long result that is being made.
pub(crate) struct Long {
    source: Source,
    job: Job,
    store: Store,
    target: Address,
    /// The mark of the object. The object's mark is a label that identifies this version of the source and the settings
    /// of the job.
    mark: String,
    /// The address of the manifest.
    place: Address,
    pieces: Pieces,
    maker: Maker,
    /// The number of parts that this run still has to make.
    pub(crate) left: AtomicU64,
    /// The finished parts according to the last answer of the store.
    seen: Mutex<Seen>,
}

struct Seen {
    asked: Instant,
    parts: BTreeSet<u64>,
}

pub(crate) enum BeginResult {
    Long(Box<Long>),
    /// The result cannot be divided.
    Whole(Box<Source>),
    /// Another process has made the result in the meantime.
    There,
}

/// The state of a long object after this run has made its own parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The object is complete.
    Made,
    /// This number of parts is missing. Other machines, which do other shares of the job, have to make these parts.
    Waiting(u64),
}

/// A long result that is about to begin.
struct Start<'a> {
    job: &'a Job,
    act: &'a dyn Act,
    pair: &'a Pair,
    store: &'a Store,
    target: &'a Address,
    source: &'a Source,
    mark: &'a String,
    place: &'a Address,
    /// The fields of the manifest that identify the source and the target.
    names: Map<String, Value>,
}

/// The result of one try to begin.
enum Try {
    /// The maker, the upload, and its finished parts.
    Ready(Box<(Maker, Pieces, There)>),
    /// The result cannot be divided.
    Whole,
    There,
    /// Another process has changed the state in the meantime, so a new try is needed.
    Again,
}

impl Start<'_> {
    fn join(&self, found: &Found) -> Result<Try, Error> {
        let damaged = || Error::Damaged(self.place.to_string());
        if self.names.iter().any(|(field, value)| found.value.get(field) != Some(value)) {
            return Err(damaged());
        }
        let pieces = Pieces::resume(self.store, self.target, upload(&found.value).ok_or_else(damaged)?)?;
        let there = match pieces.there() {
            // Another process is completing the upload, or was killed before it removed the manifest, or the store has
            // ended the upload.
            Err(error) if error.problem() == Problem::Ended => {
                let is_made = self.awaited().is_made_by_another()?;
                forget(self.job, self.place, pieces.id())?;
                return Ok(if is_made { Try::There } else { Try::Again });
            }
            other => other?,
        };
        let maker = Maker::resumed(self.job, self.source, &found.value, &found.more).ok_or_else(damaged)??;
        Ok(Try::Ready(Box::new((maker, pieces, there))))
    }

    fn awaited(&self) -> Awaited<'_> {
        let Self { job, store, target, mark, place, source, .. } = *self;
        Awaited { job, store, target, mark, place, length: source.length() }
    }

    /// If the object exists and must not be replaced, returns the label (the mark) that is stored with the object.
    /// Returns `None` if the object may be replaced or does not exist.
    fn look(&self) -> Result<Option<Option<String>>, Error> {
        if self.pair.replace { Ok(None) } else { mark_of(self.store, self.target) }
    }

    fn first(&self) -> Result<Try, Error> {
        match self.look()? {
            Some(known) if known.as_ref() == Some(self.mark) => return Ok(Try::There),
            Some(_) => return Err(deadpan_remote::Error::exists(self.target).into()),
            None => {}
        }
        let mut start = vec![0; self.source.length().min(BEGINNING) as usize];
        self.source.fill(&mut start, 0)?;
        let Some(divided) = self.act.divide(&self.source.about(self.pair), &start)? else { return Ok(Try::Whole) };
        let Some((maker, about, more)) = Maker::new(self.job, self.source, divided)? else { return Ok(Try::Whole) };
        wait_for_second(self.source, &self.pair.target);
        let pieces = Pieces::begin(self.store, self.target, self.mark)?;
        let mut about = self.names.clone().into_iter().chain(about).collect::<Map<_, _>>();
        about.insert("upload".to_owned(), pieces.id().into());
        about.insert("parts".to_owned(), maker.count().into());
        if let Err(error) = self.job.write(self.place, &about.into(), &more) {
            // If the store wrote the manifest but its answer was lost, this process now finds its own manifest.
            let found = self.job.read(self.place)?;
            if found.is_none_or(|found| upload(&found.value) != Some(pieces.id())) {
                pieces.abort()?;
                return match error {
                    // Another process was faster, so this process continues that upload.
                    Error::Store(error) if error.problem() == Problem::Exists => Ok(Try::Again),
                    other => Err(other),
                };
            }
        }
        // Another process may have completed the object while this process began its upload.
        if self.look()?.is_some() {
            pieces.abort()?;
            forget(self.job, self.place, pieces.id())?;
            return Ok(Try::Again);
        }
        Ok(Try::Ready(Box::new((maker, pieces, There::new()))))
    }
}

impl Long {
    pub(crate) fn begin(job: &Job, act: &dyn Act, pair: &Pair, source: Source) -> Result<BeginResult, Error> {
        let Spot::Object(store, target) = &pair.target else { return Ok(BeginResult::Whole(Box::new(source))) };
        if !Pieces::are_kept(store, target) {
            return Ok(BeginResult::Whole(Box::new(source)));
        }
        let (length, tag, modified) = (source.length(), source.tag(), source.about(pair).modified);
        let all = job.key.digest(&[act.verb(), &target.text()]);
        let (written, how) = (seconds(modified).to_string(), job.how.to_string());
        let version = [&pair.source.text(), &tag, &length.to_string(), &written, &how];
        let mark = job.key.digest(&version.map(String::as_str));
        let place = job.at(&format!("{all}/{mark}/manifest"))?;
        let names = Map::from_iter([
            ("version".to_owned(), json!(1)),
            ("act".to_owned(), json!(act.verb())),
            ("source".to_owned(), json!(pair.source.text())),
            ("modified".to_owned(), json!(seconds(modified))),
            ("target".to_owned(), json!(target.text())),
            ("tag".to_owned(), json!(tag)),
            ("length".to_owned(), json!(length)),
        ]);
        let start = Start { job, act, pair, store, target, source: &source, mark: &mark, place: &place, names };
        for _ in 0..TRIES {
            let tried = match job.read(&place)? {
                Some(found) => start.join(&found)?,
                None => start.first()?,
            };
            let (maker, pieces, there) = match tried {
                Try::Ready(ready) => *ready,
                Try::Whole => return Ok(BeginResult::Whole(Box::new(source))),
                Try::There => return Ok(BeginResult::There),
                Try::Again => continue,
            };
            remove_others(job, &all, &mark, modified)?;
            let (store, target, job) = (store.clone(), target.clone(), job.clone());
            let seen =
                Mutex::new(Seen { asked: Instant::now(), parts: right_parts(&maker, there).into_keys().collect() });
            let left = AtomicU64::new(0);
            let long = Self { source, job, store, target, mark, place, pieces, maker, left, seen };
            return Ok(BeginResult::Long(Box::new(long)));
        }
        Err(Error::Lost(format!("{place} comes and goes: another removes the state of this job")))
    }

    pub(crate) fn count(&self) -> u64 {
        self.maker.count()
    }

    pub(crate) fn source_length(&self) -> u64 {
        self.source.length()
    }

    pub(crate) fn memory(&self) -> u64 {
        2 * self.maker.length().div_ceil(self.count()).max(1)
    }

    pub(crate) fn bytes_in(&self, part: u64) -> u64 {
        self.maker.bytes_in(part)
    }

    pub(crate) fn make(&self, part: u64, buffers: &Arc<Buffers>) -> Result<(), Error> {
        Ok(self.pieces.put(part, self.maker.make(part, &self.source, buffers)?)?)
    }

    /// Returns the finished parts, each with the store's name for the part.
    pub(crate) fn there(&self) -> Result<BTreeMap<u64, String>, Error> {
        Ok(right_parts(&self.maker, self.pieces.there()?))
    }

    /// Whether another process has made a part in the meantime. Asks the store every few seconds.
    pub(crate) fn is_made(&self, part: u64) -> Result<bool, Error> {
        // A page of the store's list contains a thousand parts.
        let fresh = FRESH * (1 + self.count() / 1000) as u32;
        let is_due = {
            let mut seen = self.seen.lock();
            let is_due = seen.asked.elapsed() > fresh;
            // While one thread requests a new list from the store, the other threads use the last known list.
            seen.asked = if is_due { Instant::now() } else { seen.asked };
            is_due
        };
        if is_due {
            let parts = self.there()?.into_keys().collect();
            self.seen.lock().parts = parts;
        }
        Ok(self.seen.lock().parts.contains(&part))
    }

    /// If all parts exist, puts the parts together and removes the state.
    pub(crate) fn end(&self, replace: bool) -> Result<Ending, Error> {
        for round in 0..ROUNDS {
            let ended = self.there().and_then(|there| {
                let missing = self.count() - there.len() as u64;
                if missing > 0 {
                    return Ok(Some(missing));
                }
                // On some stores, the time of an object is the end of its upload, so an object from an old version of
                // the source would look newer than the source.
                if !self.source.is_current()? {
                    return Err(Error::Changed);
                }
                self.pieces.complete(there.into_values().collect(), replace)?;
                // Some stores keep a part that arrives while the upload is completed, so the upload is also aborted.
                let _ = self.pieces.abort();
                Ok(None)
            });
            let error = match ended {
                Ok(Some(missing)) => {
                    // While another process puts the parts together, some stores list only some of the parts.
                    if !self.awaited().is_there()? {
                        return Ok(Ending::Waiting(missing));
                    }
                    let _ = self.pieces.abort();
                    return Ok(Ending::Made);
                }
                Ok(None) => {
                    self.forget()?;
                    return Ok(Ending::Made);
                }
                Err(Error::Store(error)) => error,
                Err(other) => return Err(other),
            };
            match error.problem() {
                Problem::Exists | Problem::Ended => {
                    // Another process may have made the object, in this upload or in its own upload.
                    let is_there = match error.problem() {
                        Problem::Ended => self.is_made_by_another()?,
                        _ => self.awaited().is_there()?,
                    };
                    self.pieces.abort()?;
                    self.forget()?;
                    return match error.problem() {
                        _ if is_there => Ok(Ending::Made),
                        Problem::Exists => Err(error.into()),
                        _ => Err(self.lost()),
                    };
                }
                // Another process is sending a part again, or is putting the parts together. A part that another
                // process sent has the right contents, but a new request must find out the name that the store gave to
                // the part.
                Problem::WrongPart | Problem::Contested => thread::sleep(Duration::from_millis(100 * round)),
                _ => return Err(error.into()),
            }
        }
        Err(Error::Lost(format!("{}: others send the same parts again and again", self.target)))
    }

    /// Returns the error for an upload that has ended without creating its object.
    pub(crate) fn lost(&self) -> Error {
        Error::Lost(format!("{}: its upload was ended, by its store or by somebody", self.target))
    }

    fn awaited(&self) -> Awaited<'_> {
        let Self { job, store, target, mark, place, source, .. } = self;
        Awaited { job, store, target, mark, place, length: source.length() }
    }

    /// Whether the result exists under its name after the upload is over.
    pub(crate) fn is_made_by_another(&self) -> Result<bool, Error> {
        self.awaited().is_made_by_another()
    }

    /// Removes the state.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        forget(&self.job, &self.place, self.pieces.id())
    }
}

/// Returns the parts of the right length, each with the store's name for the part. No process of the job makes parts of
/// another length.
fn right_parts(maker: &Maker, there: There) -> BTreeMap<u64, String> {
    let is_right = |part: u64, length: u64| part < maker.count() && length == maker.part_length(part);
    let right = there.into_iter().filter(|(part, (_, length))| is_right(*part, *length));
    right.map(|(part, (tag, _))| (part, tag)).collect()
}

/// A result whose upload is over.
struct Awaited<'a> {
    job: &'a Job,
    store: &'a Store,
    target: &'a Address,
    mark: &'a String,
    /// The address of the manifest.
    place: &'a Address,
    /// The source's length.
    length: u64,
}

impl Awaited<'_> {
    /// Whether the result has its name.
    fn is_there(&self) -> Result<bool, Error> {
        Ok(mark_of(self.store, self.target)?.flatten().as_ref() == Some(self.mark))
    }

    /// Returns whether another process has made the result. Some stores forget an upload while they put its parts
    /// together, so this function waits for the object. The process that asked the store to put the parts together then
    /// removes the manifest. So if the manifest does not exist, the function stops waiting.
    fn is_made_by_another(&self) -> Result<bool, Error> {
        let (start, patience) = (Instant::now(), Duration::from_secs((5 + self.length / JOINED).min(60)));
        loop {
            if self.is_there()? {
                return Ok(true);
            }
            if start.elapsed() > patience || self.job.read(self.place)?.is_none() {
                return self.is_there();
            }
            thread::sleep(Duration::from_millis(300));
        }
    }
}

/// Returns the mark of an object. The outer `None` means that the object does not exist. The inner `None` means that
/// the object has no label, because no job made the object.
fn mark_of(store: &Store, target: &Address) -> Result<Option<Option<String>>, Error> {
    match Object::open(store, target) {
        Ok(object) => Ok(Some(object.mark())),
        Err(error) if error.problem() == Problem::Missing => Ok(None),
        Err(error) => Err(error.into()),
    }
}
