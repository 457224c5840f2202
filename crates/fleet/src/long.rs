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
use serde_json::{Value, json};

use crate::act::{Act, Divided};
use crate::buffers::Buffers;
use crate::job::{Job, digest};
use crate::source::Source;
use crate::{Error, Pair, Spot};
use deadpan_ct::Wiped;
use deadpan_remote::{Address, Object, Pieces, Problem, Store};
use deadpan_seal::{Error as SealError, Format, Header, Opened, Parts};

/// Segments of 256 KiB in a part: 16 MiB.
const EACH: u64 = 64;
/// The most parts of an upload, with some left over.
const PARTS: u64 = 9_990;
const SEGMENT: u64 = 256 << 10;
/// How often something is tried that another may have done at the same time.
const TRIES: usize = 3;
/// How often the parts are put together, while another sends some of them again.
const ROUNDS: u64 = 20;
/// How long an answer counts about which parts are there.
const FRESH: Duration = Duration::from_secs(5);

/// A long result that is being made.
pub(crate) struct Long {
    source: Source,
    job: Job,
    store: Store,
    target: Address,
    /// Where the state of this version of the source is.
    home: String,
    pieces: Pieces,
    maker: Maker,
    /// When the manifest was written.
    begun: SystemTime,
    /// Parts that this run has still to make.
    pub(crate) left: AtomicU64,
    /// The parts that were there when the store was asked last.
    seen: Mutex<(Option<Instant>, BTreeSet<u64>)>,
}

/// What makes the parts.
enum Maker {
    Seal { parts: Parts, header: Bytes },
    Open { opened: Arc<Opened>, length: u64, each: u64 },
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
    /// Begins a long result, or goes on with it. Returns the source again if it cannot be divided.
    pub(crate) fn begin(job: &Job, act: &dyn Act, pair: &Pair, source: Source) -> Result<Result<Self, Source>, Error> {
        let Spot::Object(store, target) = &pair.target else { return Ok(Err(source)) };
        if !Pieces::are_kept(store, target) {
            return Ok(Err(source));
        }
        let (length, tag) = (source.length(), source.tag());
        let all = digest(&[act.verb(), &target.to_string()]);
        let version = [&pair.source.to_string(), &tag, &length.to_string(), &job.how.to_string()];
        let home = format!("{all}/{}/", digest(&version.map(String::as_str)));
        let place = job.at(&format!("{home}manifest"))?;
        let names = json!({
            "version": 1,
            "act": act.verb(),
            "source": pair.source.to_string(),
            "target": target.to_string(),
            "tag": tag,
            "length": length,
        });
        for _ in 0..TRIES {
            let (maker, id, begun) = match job.read(&place)? {
                Some(found) => {
                    let damaged = || Error::Lost(format!("{place} does not fit its object"));
                    if names
                        .as_object()
                        .into_iter()
                        .flatten()
                        .any(|(field, value)| found.value.get(field) != Some(value))
                    {
                        return Err(damaged());
                    }
                    let id = found.value.get("upload").and_then(Value::as_str).ok_or_else(damaged)?.to_owned();
                    (Maker::again(job, &source, &found.value, &found.more).ok_or_else(damaged)??, id, found.modified)
                }
                None => {
                    let mut start = vec![0; length.min(BEGINNING) as usize];
                    source.fill(&mut start, 0)?;
                    let Some(divided) = act.divide(&source.about(pair), &start)? else {
                        return Ok(Err(source));
                    };
                    let Some((maker, mut about, more)) = Maker::new(job, &source, divided)? else {
                        return Ok(Err(source));
                    };
                    let pieces = Pieces::begin(store, target)?;
                    (about["upload"], about["parts"]) = (pieces.id().into(), maker.count().into());
                    let names = names.as_object().into_iter().flatten();
                    names.for_each(|(field, value)| about[field] = value.clone());
                    match job.write(&place, &about, &more) {
                        Ok(()) => {}
                        Err(error) => {
                            pieces.abort()?;
                            match error {
                                // Another was quicker: this goes on with what he began.
                                Error::Store(error) if error.problem() == Problem::Exists => continue,
                                other => return Err(other),
                            }
                        }
                    }
                    remove_others(job, &all, &home)?;
                    (maker, pieces.id().to_owned(), SystemTime::now())
                }
            };
            let pieces = Pieces::again(store, target, &id)?;
            let (store, target, job) = (store.clone(), target.clone(), job.clone());
            return Ok(Ok(Self {
                source,
                job,
                store,
                target,
                home,
                pieces,
                maker,
                begun,
                left: AtomicU64::new(0),
                seen: Mutex::default(),
            }));
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
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (when, parts) = &mut *seen;
        if when.is_none_or(|when| when.elapsed() > FRESH) {
            (*parts, *when) = (self.there()?.into_keys().collect(), Some(Instant::now()));
        }
        Ok(parts.contains(&part))
    }

    /// Puts the parts together if all are there, and removes the state.
    pub(crate) fn end(&self, replace: bool) -> Result<Ending, Error> {
        for round in 0..ROUNDS {
            let ended = self.there().and_then(|there| {
                let missing = self.count() - there.len() as u64;
                if missing > 0 {
                    return Ok(Some(missing));
                }
                self.pieces.complete(there.into_values().collect(), replace)?;
                Ok(None)
            });
            let error = match ended {
                Ok(Some(missing)) => return Ok(Ending::Waiting(missing)),
                Ok(None) => {
                    self.forget()?;
                    return Ok(Ending::Made);
                }
                Err(Error::Store(error)) => error,
                Err(other) => return Err(other),
            };
            match error.problem() {
                Problem::Exists | Problem::Ended => {
                    let is_there = self.is_there()?;
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
                // Another sends a part again at the same time. All that he sends is right, but the store has to be
                // asked what it calls it.
                Problem::WrongPart => thread::sleep(Duration::from_millis(100 * round)),
                _ => return Err(error.into()),
            }
        }
        Err(Error::Lost(format!("{}: others send the same parts again and again", self.target)))
    }

    /// Returns the error that the upload is over, and the object is not there.
    pub(crate) fn lost(&self) -> Error {
        Error::Lost(format!("{}: its upload was ended, by its store or by somebody", self.target))
    }

    /// Whether the result is under its name. A sealed object has a header that no other has.
    pub(crate) fn is_there(&self) -> Result<bool, Error> {
        let object = match Object::open(&self.store, &self.target) {
            Ok(object) => object,
            Err(error) if error.problem() == Problem::Missing => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if object.length() != self.maker.length() {
            return Ok(false);
        }
        Ok(match &self.maker {
            Maker::Seal { header, .. } => object.bytes(0..header.len() as u64)? == header,
            // The store's clock counts whole seconds.
            Maker::Open { .. } => object.modified() + Duration::from_secs(1) > self.begun,
        })
    }

    /// Removes the state.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        Ok(self.job.store.remove(&self.job.at(&format!("{}manifest", self.home))?)?)
    }
}

/// How much of a source is read to find out whether it can be divided.
const BEGINNING: u64 = 300 << 10;

impl Maker {
    /// Returns the maker for a new upload, what its manifest says, and the bytes that follow there.
    fn new(job: &Job, source: &Source, divided: Divided) -> Result<Option<(Self, Value, Vec<u8>)>, Error> {
        let each = EACH.max((source.length() / PARTS).div_ceil(SEGMENT) + 1);
        match divided {
            Divided::Seal(sealing) => {
                let (parts, beginning) = match sealing.parts(source.length(), each) {
                    // Signed, or another format.
                    Err(SealError::Invalid(_)) => return Ok(None),
                    other => other?,
                };
                let mut more = beginning.ticket(&[job.key.recipient()])?;
                let about = json!({ "each": each, "ticket": more.len() });
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
                Ok(Some((Self::Open { opened, length, each }, json!({ "each": each, "ticket": ticket.len() }), ticket)))
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

/// Removes what is left of uploads of other versions of the source.
fn remove_others(job: &Job, all: &str, home: &str) -> Result<(), Error> {
    let folder = job.at(&format!("{all}/"))?;
    let mut others = BTreeSet::new();
    for entry in job.store.list(&folder, None)? {
        let name = entry?.name;
        let other = name.split('/').next().unwrap_or_default();
        if !home.ends_with(&format!("/{other}/")) {
            others.insert(other.to_owned());
        }
    }
    for other in others {
        abandon(job, &format!("{all}/{other}/"))?;
    }
    Ok(())
}

/// Ends the upload whose state lies here, and removes the state. Returns whether the upload is known to have ended.
pub(crate) fn abandon(job: &Job, home: &str) -> Result<bool, Error> {
    let place = job.at(&format!("{home}manifest"))?;
    let is_over = match job.read(&place) {
        Ok(Some(found)) => {
            let text = |field: &str| found.value.get(field).and_then(Value::as_str);
            let target = text("target").and_then(|text| text.parse().ok());
            let upload = target.zip(text("upload")).map(|(target, id)| Pieces::again(&job.store, &target, id));
            upload.transpose()?.map(|upload| upload.abort()).transpose()?.is_some()
        }
        // Records that came late.
        Ok(None) => true,
        Err(Error::OtherKey(_) | Error::Lost(_)) => false,
        Err(error) => return Err(error),
    };
    job.store.remove(&place)?;
    Ok(is_over)
}

/// Removes all objects below a prefix.
pub(crate) fn remove_all(store: &Store, folder: &Address) -> Result<(), Error> {
    let entries: Vec<_> = store.list(folder, None)?.collect::<Result<_, _>>()?;
    // What has another name was not written by a job.
    for place in entries.iter().filter_map(|entry| folder.join(&entry.name).ok()) {
        store.remove(&place)?;
    }
    Ok(())
}
