//! A run: all objects below a place, or a single object, are sealed or opened on many threads.

mod make;
mod plan;
mod pool;

use std::path::{Path, PathBuf};

use crate::act::{Act, Results};
use crate::job::Job;
use crate::listing::{Listing, name_of};
use crate::place::Place;
use crate::stamp::StampKey;
use crate::tree::{Tree, TreeFile};
use crate::{Error, Filter, Shard, Spot};
use pool::{Item, Pool};

/// The number of sources that are listed and compared with the targets together.
const PAGE: usize = 1000;
/// The number of bytes of memory for data, if [`Run::memory`] does not set another number.
const MEMORY: u64 = 176 << 20;
/// A result in a store is made in parts if its source has at least this number of bytes. [`Run::long`] can set another
/// number.
const LONG: u64 = 64 << 20;

/// A source, and the place of its result.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The name of the source below the listed place.
    pub name: String,
    /// The place of the source.
    pub source: Spot,
    /// The place of the result.
    pub target: Spot,
    /// The number of bytes, as far as it is known.
    pub length: u64,
    /// Whether an existing object may be replaced.
    pub replace: bool,
}

/// The outcome of a pair.
#[derive(Debug)]
pub enum Outcome {
    /// The result was made from this number of bytes.
    Made(u64),
    /// The result existed already.
    There,
    /// The run only reports that the result has to be made from this number of bytes.
    Would(u64),
    /// This share has made its parts. The given number of parts is missing: other machines, which do other shares of
    /// the job, have to make these parts.
    Waiting(u64),
    /// There is no result.
    Failed(Error),
}

/// What a run skips in a folder of sources, because it does not become an object.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Symbolic links.
    pub links: Vec<PathBuf>,
    /// Devices, FIFOs and sockets.
    pub specials: Vec<PathBuf>,
    /// Empty folders, if the results go to a store.
    pub folders: Vec<PathBuf>,
}

/// Receives the events of a run. The run calls these methods from any of its threads.
pub trait Observer: Sync {
    /// Called when a pair is done or has failed.
    fn ended(&self, pair: &Pair, outcome: Outcome);

    /// Called when a number of bytes was sealed or opened.
    fn progressed(&self, _bytes: u64) {}

    /// Called when a pair is planned, with the number of bytes to seal or open. Called with `None` after the last pair.
    fn planned(&self, _bytes: Option<u64>) {}

    /// Called when an empty folder was made, as it is among the sources. The outcome [`Outcome::Made`] has no bytes.
    fn folder_ended(&self, _pair: &Pair, _outcome: Outcome) {}

    /// Called with what is skipped in a folder, if anything is. The paths are whole.
    fn left_out(&self, _left_out: &LeftOut) {}

    /// Called with a remark about an entry of a folder that the rules leave out.
    fn remarked(&self, _remark: &str) {}
}

/// A run: the kind of work (sealing or opening), its options and its limits.
pub struct Run<'a> {
    act: &'a dyn Act,
    results: &'a dyn Results,
    observer: &'a dyn Observer,
    filter: Filter,
    shard: Shard,
    replace: bool,
    rehearse: bool,
    memory: u64,
    long: u64,
    job: Option<Job>,
    stamps: Option<StampKey>,
}

impl<'a> Run<'a> {
    /// Returns a run over all objects, in one share. By default, the run replaces no existing target, and writes each
    /// result as a whole.
    #[must_use]
    pub fn new(act: &'a dyn Act, results: &'a dyn Results, observer: &'a dyn Observer) -> Self {
        let (filter, shard) = (Filter::default(), Shard::default());
        let (replace, rehearse, memory, long, job, stamps) = (false, false, MEMORY, LONG, None, None);
        Self { act, results, observer, filter, shard, replace, rehearse, memory, long, job, stamps }
    }

    /// Limits the run to the objects that the filter takes.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Limits the run to this share of the work.
    #[must_use]
    pub fn shard(self, shard: Shard) -> Self {
        Self { shard, ..self }
    }

    /// Sets whether targets that are older than their sources are replaced.
    #[must_use]
    pub fn replace(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// Sets whether the run only reports what it would do.
    #[must_use]
    pub fn rehearse(self, rehearse: bool) -> Self {
        Self { rehearse, ..self }
    }

    /// Sets the largest number of bytes of memory for data.
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// Sets the minimum length of a source, in bytes, for which a result in a store is made in parts.
    #[must_use]
    pub fn long(self, long: u64) -> Self {
        Self { long, ..self }
    }

    /// Sets the job. Without a job, no result in a store is made in parts.
    #[must_use]
    pub fn job(self, job: Option<Job>) -> Self {
        Self { job, ..self }
    }

    /// Sets the key for the stamps of results. With this key, the run puts stamps on files whose sources are files, and
    /// later runs recognize from the stamps whether the results belong to the present sources. Without a stamp, times
    /// are compared.
    #[must_use]
    pub fn stamps(self, stamps: Option<StampKey>) -> Self {
        Self { stamps, ..self }
    }

    /// Seals or opens everything below a place. Calls `begin` when the listing shows the first object, before any
    /// object is compared or made. If `begin` fails, nothing is done.
    ///
    /// # Errors
    /// If the place cannot be listed, if `begin` fails, or if the store cannot be reached any more. Errors of single
    /// objects are reported to the observer.
    pub fn all(&self, from: &Place, to: &Place, begin: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        Pool::run(self, |pool| {
            let (mut page, mut begin) = (Vec::new(), Some(begin));
            let mut beside = Listing::default();
            let listing = from.list(to, self.filter.rules(), &mut beside)?;
            beside.remarks.iter().for_each(|remark| self.observer.remarked(remark));
            for (path, error) in std::mem::take(&mut beside.unreadable) {
                let name = name_of(&path);
                if self.shard.has(&name) && !self.filter.excludes_folder(&name) {
                    self.observer.ended(&unplaced(name, from.whole(&path)), Outcome::Failed(error));
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
                if pool.is_given_up() {
                    return Err(Error::Unreached);
                }
                if page.len() == PAGE {
                    self.plan(pool, from, to, std::mem::take(&mut page))?;
                }
            }
            self.plan(pool, from, to, page)?;
            self.beside(from, to, beside);
            Ok(())
        })?;
        match &self.job {
            Some(job) if self.shard.index() == 0 => job.sweep(),
            _ => Ok(()),
        }
    }

    /// Makes the empty folders, and reports what is left out.
    fn beside(&self, from: &Place, to: &Place, listing: Listing) {
        let takes = |path: &Path, is_folder: bool| {
            let name = name_of(path);
            self.shard.has(&name) && if is_folder { self.filter.takes_folder(&name) } else { self.filter.takes(&name) }
        };
        let taken = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            paths.iter().filter(|path| takes(path, false)).map(|path| from.whole(path)).collect()
        };
        let (links, specials) = (taken(listing.links), taken(listing.specials));
        let mut left_out = LeftOut { links, specials, folders: Vec::new() };
        for (path, mode) in listing.folders.into_iter().filter(|(path, _)| takes(path, true)) {
            let (Place::Folder(from), Place::Folder(to)) = (from, to) else {
                left_out.folders.push(from.whole(&path));
                continue;
            };
            let place = |tree: &Tree| TreeFile { tree: tree.clone(), name: path.clone() };
            let (source, target) = (place(from), place(to));
            let outcome = match target.look() {
                Ok(Some(about)) if about.is_folder() => Outcome::There,
                _ if self.rehearse => Outcome::Would(0),
                _ => match self.results.create_folder(&target, mode) {
                    Ok(true) => Outcome::Made(0),
                    Ok(false) => Outcome::There,
                    Err(error) => Outcome::Failed(Error::Foreign(error)),
                },
            };
            let (source, target) = (Spot::File(source), Spot::File(target));
            let pair = Pair { name: name_of(&path), source, target, length: 0, replace: false };
            self.observer.folder_ended(&pair, outcome);
        }
        if !(left_out.links.is_empty() && left_out.specials.is_empty() && left_out.folders.is_empty()) {
            self.observer.left_out(&left_out);
        }
    }

    /// Whether the filter takes an object. When objects are opened, a pattern may match the sealed name or the name of
    /// the result.
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
    /// If the system starts no thread. An error of this one source is not returned, but reported to the observer.
    pub fn one(&self, pair: Pair) -> Result<(), Error> {
        Pool::run(self, |pool| {
            pool.push(Item { pair, page: None });
            Ok(())
        })
    }
}

/// Returns a pair that is used only to show the name of its source in a message.
fn unplaced(name: String, path: PathBuf) -> Pair {
    let spot = Spot::File(TreeFile { tree: Tree::new(PathBuf::new()), name: path });
    Pair { name, source: spot.clone(), target: spot, length: 0, replace: false }
}
