//! Long objects: made in parts, by any number of threads and machines, in one upload.
//!
//! The state lies in the bucket of the result:
//!
//! ```text
//! _deadpan/JOB/TARGET/SOURCE/manifest
//! ```
//!
//! SOURCE stands for this version of the source and the recipients, so what was made of another version or for others
//! is never found. The manifest says what is made of what in which upload, and holds the file key, sealed to the job.
//! It is written only if there is none, so all work on one upload. Which parts are there, the store says itself.
//! Whoever finds all of them there completes the upload. The protocol is checked in `tests/protocol.rs`, with all
//! orders of events that there can be.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::act::{Act, Divided};
use crate::buffers::Buffers;
use crate::job::Job;
use crate::run::wait_for_second;
use crate::source::Source;
use crate::{Error, Pair, Spot};
use deadpan_ct::Wiped;
use deadpan_remote::{Address, Object, Pieces, Problem, Store};
use deadpan_seal::{Error as SealError, Format, Header, Opened, Parts};

/// Segments of 256 KiB in a part: 16 MiB.
const EACH: u64 = 64;
/// The most parts of an upload, with some left over.
pub(crate) const PARTS: u64 = 9_990;
const SEGMENT: u64 = 256 << 10;
/// The most segments in a part: 1 GiB. A store may lie about a length.
const LONGEST: u64 = 4096;
/// Bytes in a part, unless a result needs longer ones.
pub(crate) const PART: u64 = EACH * SEGMENT;
/// How often something is tried that another may have done at the same time.
const TRIES: usize = 3;
/// How often the parts are put together, while another sends some of them again.
const ROUNDS: u64 = 20;
/// How long an answer counts about which parts are there.
const FRESH: Duration = Duration::from_secs(5);

/// A long result that is being made.
pub(crate) struct Long {
    source: Source,
    spot: Spot,
    job: Job,
    store: Store,
    target: Address,
    /// Stands for this version of the source, and for how the job is done. The object carries it.
    mark: String,
    /// The manifest.
    place: Address,
    pieces: Pieces,
    maker: Maker,
    /// Parts that this run has still to make.
    pub(crate) left: AtomicU64,
    /// The parts that were there when the store was asked last.
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    asked: Option<Instant>,
    parts: BTreeSet<u64>,
}

/// What makes the parts.
enum Maker {
    Seal { parts: Parts, header: Bytes },
    Open { opened: Arc<Opened>, length: u64, each: u64 },
}

/// How it begins.
pub(crate) enum Begun {
    Long(Box<Long>),
    /// It cannot be divided.
    Whole(Box<Source>),
    /// Another has made it meanwhile.
    There,
}

/// How it went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The object is there.
    Made,
    /// So many parts are missing, which others have to make.
    Waiting(u64),
}

impl Maker {
    fn count(&self) -> u64 {
        match self {
            Self::Seal { parts, .. } => parts.count(),
            Self::Open { length, each, .. } => length.div_ceil(*each).max(1),
        }
    }

    /// Returns the length of the result.
    fn length(&self) -> u64 {
        match self {
            Self::Seal { parts, .. } => parts.length(),
            Self::Open { length, .. } => *length,
        }
    }
}

impl Long {
    /// Begins a long result, or goes on with it.
    pub(crate) fn begin(job: &Job, act: &dyn Act, pair: &Pair, source: Source) -> Result<Begun, Error> {
        let Spot::Object(store, target) = &pair.target else { return Ok(Begun::Whole(Box::new(source))) };
        if !Pieces::are_kept(store, target) {
            return Ok(Begun::Whole(Box::new(source)));
        }
        let (length, tag) = (source.length(), source.tag());
        let all = job.key.digest(&[act.verb(), &target.to_string()]);
        let version = [&pair.source.to_string(), &tag, &length.to_string(), &job.how.to_string()];
        let mark = job.key.digest(&version.map(String::as_str));
        let place = job.at(&format!("{all}/{mark}/manifest"))?;
        let names = Map::from_iter([
            ("version".to_owned(), json!(1)),
            ("act".to_owned(), json!(act.verb())),
            ("source".to_owned(), json!(pair.source.to_string())),
            ("modified".to_owned(), json!(seconds(source.about(pair).modified))),
            ("target".to_owned(), json!(target.to_string())),
            ("tag".to_owned(), json!(tag)),
            ("length".to_owned(), json!(length)),
        ]);
        // With replacing asked for, whatever stands there is in nobody's way.
        let look = || if pair.replace { Ok(None) } else { mark_of(store, target) };
        for _ in 0..TRIES {
            let (maker, pieces) = if let Some(found) = job.read(&place)? {
                let damaged = || Error::OtherJob(format!("{place}: this state does not fit its object"));
                if names.iter().any(|(field, value)| found.value.get(field) != Some(value)) {
                    return Err(damaged());
                }
                let pieces = Pieces::again(store, target, upload(&found.value).ok_or_else(damaged)?)?;
                match pieces.there() {
                    // Whoever completed it was stopped before he removed the manifest; or its store has ended it.
                    Err(error) if error.problem() == Problem::Ended => {
                        forget(job, &place, pieces.id())?;
                        if mark_of(store, target)?.flatten().as_ref() == Some(&mark) {
                            return Ok(Begun::There);
                        }
                        continue;
                    }
                    other => other?,
                };
                (Maker::again(job, &source, &found.value, &found.more).ok_or_else(damaged)??, pieces)
            } else {
                match look()? {
                    Some(known) if known.as_ref() == Some(&mark) => return Ok(Begun::There),
                    Some(_) => return Err(deadpan_remote::Error::exists(target).into()),
                    None => {}
                }
                let mut start = vec![0; length.min(BEGINNING) as usize];
                source.fill(&mut start, 0)?;
                let Some(divided) = act.divide(&source.about(pair), &start)? else {
                    return Ok(Begun::Whole(Box::new(source)));
                };
                let Some((maker, about, more)) = Maker::new(job, &source, divided)? else {
                    return Ok(Begun::Whole(Box::new(source)));
                };
                wait_for_second(&source, &pair.target);
                let pieces = Pieces::begin(store, target, &mark)?;
                let mut about = names.clone().into_iter().chain(about).collect::<Map<_, _>>();
                about.insert("upload".to_owned(), pieces.id().into());
                about.insert("parts".to_owned(), maker.count().into());
                if let Err(error) = job.write(&place, &about.into(), &more) {
                    // If only the answer was lost, this manifest is there.
                    let found = job.read(&place)?;
                    if found.is_none_or(|found| upload(&found.value) != Some(pieces.id())) {
                        pieces.abort()?;
                        match error {
                            // Another was quicker: this goes on with what he began.
                            Error::Store(error) if error.problem() == Problem::Exists => continue,
                            other => return Err(other),
                        }
                    }
                }
                // Another may have completed it while this one began.
                if look()?.is_some() {
                    pieces.abort()?;
                    forget(job, &place, pieces.id())?;
                    continue;
                }
                (maker, pieces)
            };
            remove_others(job, &all, &mark, source.about(pair).modified)?;
            let (store, target, spot) = (store.clone(), target.clone(), pair.source.clone());
            let (job, left, seen) = (job.clone(), AtomicU64::new(0), Mutex::default());
            return Ok(Begun::Long(Box::new(Self {
                source,
                spot,
                job,
                store,
                target,
                mark,
                place,
                pieces,
                maker,
                left,
                seen,
            })));
        }
        Err(Error::Lost(format!("{place} comes and goes: another removes the state of this job")))
    }

    pub(crate) fn count(&self) -> u64 {
        self.maker.count()
    }

    pub(crate) fn source_length(&self) -> u64 {
        self.source.length()
    }

    /// Returns how much memory a part takes.
    pub(crate) fn memory(&self) -> u64 {
        2 * self.maker.length().div_ceil(self.count()).max(1)
    }

    /// Returns how long a part is.
    fn length(&self, part: u64) -> u64 {
        match &self.maker {
            Maker::Seal { parts, .. } => parts.sealed_length(part) as u64,
            Maker::Open { .. } => self.bytes_in(part),
        }
    }

    /// Returns how many bytes of the source a part is made from.
    pub(crate) fn bytes_in(&self, part: u64) -> u64 {
        match &self.maker {
            Maker::Seal { parts, .. } => {
                let data = parts.data(part);
                data.end - data.start
            }
            Maker::Open { length, each, .. } => (part * each + each).min(*length) - (part * each).min(*length),
        }
    }

    /// Makes a part, sends it, and records it. A part may be made again.
    pub(crate) fn make(&self, part: u64, buffers: &Arc<Buffers>) -> Result<(), Error> {
        let bytes = match &self.maker {
            Maker::Seal { parts, header } => {
                let range = parts.data(part);
                let mut data = buffers.take((range.end - range.start) as usize);
                self.source.fill(&mut data, range.start)?;
                let mut sealed = buffers.take(parts.sealed_length(part));
                if part == 0 {
                    sealed[..header.len()].copy_from_slice(header);
                }
                parts.seal(part, &data, &mut sealed)?;
                Bytes::from_owner(sealed)
            }
            Maker::Open { opened, length, each } => {
                let range = (part * each).min(*length)..(part * each + each).min(*length);
                self.excerpt(opened, range)?
            }
        };
        Ok(self.pieces.put(part, bytes)?)
    }

    fn excerpt(&self, opened: &Opened, range: Range<u64>) -> Result<Bytes, Error> {
        let excerpt = match &self.source {
            Source::Object(object) => opened.excerpt(object, object.length(), range),
            Source::File(_, file, metadata) => opened.excerpt(file, metadata.len(), range),
        };
        excerpt.map(|data| Bytes::from_owner(Excerpt(data))).map_err(of_store)
    }

    /// Returns the parts that are there, each with what the store calls it.
    pub(crate) fn there(&self) -> Result<BTreeMap<u64, String>, Error> {
        let there = self.pieces.there()?.into_iter();
        // Nobody makes a part of another length.
        let is_part =
            |(part, (_, length)): &(u64, (String, u64))| *part < self.count() && *length == self.length(*part);
        Ok(there.filter(is_part).map(|(part, (tag, _))| (part, tag)).collect())
    }

    /// Whether somebody else has made a part meanwhile. The store is asked every few seconds.
    pub(crate) fn is_made(&self, part: u64) -> Result<bool, Error> {
        // A page has a thousand parts.
        let fresh = FRESH * (1 + self.count() / 1000) as u32;
        let is_due = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = seen.asked.is_none_or(|asked| asked.elapsed() > fresh);
            // Others go on with what is known, while one asks.
            seen.asked = if is_due { Some(Instant::now()) } else { seen.asked };
            is_due
        };
        if is_due {
            let parts = self.there()?.into_keys().collect();
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).parts = parts;
        }
        Ok(self.seen.lock().unwrap_or_else(PoisonError::into_inner).parts.contains(&part))
    }

    /// Puts the parts together if all are there, and removes the state.
    pub(crate) fn end(&self, replace: bool) -> Result<Ending, Error> {
        for round in 0..ROUNDS {
            let ended = self.there().and_then(|there| {
                let missing = self.count() - there.len() as u64;
                if missing > 0 {
                    return Ok(Some(missing));
                }
                // Some stores give an object the time of its end, so what is old already would look new.
                if Source::open(&self.spot)?.tag() != self.source.tag() {
                    return Err(Error::Changed);
                }
                self.pieces.complete(there.into_values().collect(), replace)?;
                // Some stores keep a part that came at the same moment.
                let _ = self.pieces.abort();
                Ok(None)
            });
            let error = match ended {
                Ok(Some(missing)) => {
                    // While another puts the parts together, some stores tell fewer of them.
                    if !self.is_there()? {
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
                    let is_there = self.is_made_by_another()?;
                    if !is_there {
                        self.pieces.abort()?;
                    }
                    self.forget()?;
                    return match error.problem() {
                        _ if is_there => Ok(Ending::Made),
                        Problem::Exists => Err(error.into()),
                        _ => Err(self.lost()),
                    };
                }
                // Another sends a part again at the same time, or puts them together. All that he sends is right, but
                // the store has to be asked what it calls it.
                Problem::WrongPart | Problem::Contested => thread::sleep(Duration::from_millis(100 * round)),
                _ => return Err(error.into()),
            }
        }
        Err(Error::Lost(format!("{}: others send the same parts again and again", self.target)))
    }

    /// Returns the error that the upload is over, and the object is not there.
    pub(crate) fn lost(&self) -> Error {
        Error::Lost(format!("{}: its upload was ended, by its store or by somebody", self.target))
    }

    /// Whether the result is under its name.
    fn is_there(&self) -> Result<bool, Error> {
        Ok(mark_of(&self.store, &self.target)?.flatten().as_ref() == Some(&self.mark))
    }

    /// The upload is over: whether the result is under its name. Some stores end an upload a moment before that.
    pub(crate) fn is_made_by_another(&self) -> Result<bool, Error> {
        for round in 0..TRIES as u32 {
            if self.is_there()? {
                return Ok(true);
            }
            thread::sleep(Duration::from_millis(300) * round);
        }
        self.is_there()
    }

    /// Removes the state.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        forget(&self.job, &self.place, self.pieces.id())
    }
}

/// Returns the mark of an object, if there is one; objects of others have none.
fn mark_of(store: &Store, target: &Address) -> Result<Option<Option<String>>, Error> {
    match Object::open(store, target) {
        Ok(object) => Ok(Some(object.mark())),
        Err(error) if error.problem() == Problem::Missing => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the name of the upload in a manifest.
fn upload(manifest: &Value) -> Option<&str> {
    manifest.get("upload")?.as_str()
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Removes the manifest of an upload, and no other that has taken its place.
pub(crate) fn forget(job: &Job, place: &Address, id: &str) -> Result<(), Error> {
    match job.read(place)? {
        Some(found) if upload(&found.value) == Some(id) => Ok(job.store.remove(place)?),
        _ => Ok(()),
    }
}

/// A maker, what its manifest says, and the bytes that follow there.
type New = (Maker, Map<String, Value>, Vec<u8>);

/// How much of a source is read to find out whether it can be divided.
const BEGINNING: u64 = 300 << 10;

impl Maker {
    /// Returns the maker for a new upload, what its manifest says, and the bytes that follow there.
    fn new(job: &Job, source: &Source, divided: Divided) -> Result<Option<New>, Error> {
        let about = |ticket: usize, each: u64| {
            Map::from_iter([("each".to_owned(), each.into()), ("ticket".to_owned(), ticket.into())])
        };
        let each = EACH.max((source.length() / PARTS).div_ceil(SEGMENT) + 1);
        if each > LONGEST {
            return Err(Error::OtherJob("no object can be so long".to_owned()));
        }
        match divided {
            Divided::Seal(sealing) => {
                let (parts, beginning) = match sealing.parts(source.length(), each) {
                    // Signed, or another format.
                    Err(SealError::Invalid(_)) => return Ok(None),
                    other => other?,
                };
                let mut more = beginning.ticket(&[job.key.recipient()])?;
                let about = about(more.len(), each);
                more.extend_from_slice(beginning.header());
                let header = Bytes::copy_from_slice(beginning.header());
                Ok(Some((Self::Seal { parts, header }, about, more)))
            }
            Divided::Open(opened) => {
                if opened.is_signed() || opened.hides_length() || opened.format() != Format::Deadpan {
                    return Ok(None);
                }
                let ticket = match opened.rewrap(&[job.key.recipient()], false) {
                    // Another recipient needs more room than this header has.
                    Err(SealError::TooMany(_)) => return Ok(None),
                    other => other?,
                };
                let (length, each) = (plain_length(&opened, source)?, each * SEGMENT);
                Ok(Some((Self::Open { opened, length, each }, about(ticket.len(), each), ticket)))
            }
        }
    }

    /// Returns the maker for an upload that was begun, or `None` if the manifest is damaged.
    fn again(job: &Job, source: &Source, about: &Value, more: &Bytes) -> Option<Result<Self, Error>> {
        let each = about.get("each")?.as_u64().filter(|each| *each > 0)?;
        let ticket = more.get(..usize::try_from(about.get("ticket")?.as_u64()?).ok()?)?;
        let header = more.slice(ticket.len()..);
        let is_seal = about.get("act")?.as_str()? == "seal";
        Some((|| {
            let mut rest = ticket;
            let opened = job.key.open(Header::read(&mut rest)?, &job.to_string())?;
            if is_seal {
                return Ok(Self::Seal { parts: opened.parts(rest, source.length(), each)?, header });
            }
            let length = plain_length(&opened, source)?;
            Ok(Self::Open { opened: Arc::new(opened), length, each })
        })())
    }
}

fn plain_length(opened: &Opened, source: &Source) -> Result<u64, Error> {
    let length = match source {
        Source::Object(object) => opened.room_at(object, object.length()),
        Source::File(_, file, metadata) => opened.room_at(file, metadata.len()),
    };
    length.map_err(of_store)
}

/// Clear data, which are wiped when they have gone out.
struct Excerpt(Wiped<Vec<u8>>);

impl AsRef<[u8]> for Excerpt {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the store's own error, if the engine carries one.
fn of_store(error: SealError) -> Error {
    match error {
        SealError::Read(error) if error.get_ref().is_some() => match error.into_inner() {
            Some(inner) => Error::from(inner),
            None => Error::Changed,
        },
        other => Error::Seal(other),
    }
}

/// Ends uploads of older versions of the source, or for others. Newer ones are a matter of those who know the newer
/// version.
fn remove_others(job: &Job, all: &str, mark: &str, modified: SystemTime) -> Result<(), Error> {
    let folder = job.at(&format!("{all}/"))?;
    let mut others = BTreeSet::new();
    for entry in job.store.list(&folder, None)? {
        others.extend(entry?.name.strip_suffix("/manifest").filter(|other| *other != mark).map(str::to_owned));
    }
    for other in others {
        let place = job.at(&format!("{all}/{other}/manifest"))?;
        abandon(job, &place, |found| found.get("modified").and_then(Value::as_u64) <= Some(seconds(modified)))?;
    }
    Ok(())
}

/// Ends the upload of a manifest, if it is one of those that are `meant`, and removes the manifest. Returns whether the
/// upload is known to have ended.
pub(crate) fn abandon(job: &Job, place: &Address, meant: impl Fn(&Value) -> bool) -> Result<bool, Error> {
    let found = match job.read(place) {
        Ok(Some(found)) => found.value,
        Ok(None) => return Ok(true),
        Err(Error::OtherKey(_) | Error::OtherJob(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let target = found.get("target").and_then(Value::as_str).and_then(|target| target.parse().ok());
    let (Some(target), Some(id)) = (target, upload(&found)) else { return Ok(false) };
    if meant(&found) {
        Pieces::again(&job.store, &target, id)?.abort()?;
        forget(job, place, id)?;
    }
    Ok(true)
}

/// Removes manifests whose uploads are over: whoever completed them was stopped before he could.
pub(crate) fn sweep(job: &Job, place: &Address) -> Result<(), Error> {
    let Ok(Some(found)) = job.read(place) else { return Ok(()) };
    let target = found.value.get("target").and_then(Value::as_str).and_then(|target| target.parse().ok());
    let (Some(target), Some(id)) = (target, upload(&found.value)) else { return Ok(()) };
    match Pieces::again(&job.store, &target, id)?.there() {
        Err(error) if error.problem() == Problem::Ended => forget(job, place, id),
        other => Ok(other.map(drop)?),
    }
}
