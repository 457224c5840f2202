//! Lists and removes the state that jobs have left in a bucket.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::job::{Job, STATE};
use crate::manifest::{abandon, pieces, sweep};
use crate::{Error, JobKey};
use deadpan_remote::{Address, Problem, Store, Words};

/// The maximum number of jobs, and of long objects of a job, that are kept in memory. Without a limit, a store could
/// list objects without end.
const MOST: usize = 100_000;

/// A long object that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The source and the target; `None` if the state belongs to another key.
    pub objects: Option<(Words, Words)>,
    /// The number of finished parts; `None` if the state belongs to another key.
    pub done: Option<u64>,
    /// The number of all parts; `None` if the state belongs to another key.
    pub parts: Option<u64>,
}

/// The state of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// The settings of the job. `None` if no note with the settings exists, or if the note belongs to another key.
    pub how: Option<Value>,
    /// The long objects that are being made.
    pub long: Vec<Progress>,
}

/// How many unfinished uploads of a job were ended, and how many were not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The uploads that were ended.
    pub ended: u64,
    /// The uploads that were not ended, because their state belongs to another key; their parts stay in the store.
    pub left: u64,
}

impl Job {
    /// Returns the job whose state lies in a folder: `_deadpan/JOB/`.
    #[must_use]
    pub const fn there(key: JobKey, store: Store, folder: Address) -> Self {
        Self { key, store, folder, how: Value::Null }
    }

    /// Lists the folders of all jobs in the bucket of an address.
    ///
    /// # Errors
    /// If the bucket cannot be listed.
    pub fn folders(store: &Store, bucket: &Address) -> Result<Vec<Address>, Error> {
        let wrong = |error| Error::Refused(format!("{bucket}: {error}"));
        let folder = bucket.with_key(STATE).map_err(wrong)?;
        let mut names = BTreeSet::new();
        for entry in store.list(&folder, None)? {
            names.extend(entry?.name.split_once('/').map(|(name, _)| name.to_owned()));
            if names.len() > MOST {
                return Err(Error::TooMuch(folder.to_string()));
            }
        }
        // Jobs write only names that are valid in an address. Other names belong to other programs.
        Ok(names.iter().filter_map(|name| folder.join(&format!("{name}/")).ok()).collect())
    }

    /// Returns the state of a job.
    ///
    /// # Errors
    /// If the state cannot be listed or read.
    pub fn states(&self) -> Result<States, Error> {
        let how = self.read_if_own(&self.at("job")?)?;
        let mut long = Vec::new();
        for place in self.manifests()? {
            let manifest = self.read_if_own(&place)?;
            let text = |field: &str| Some(Words::new(manifest.as_ref()?.get(field)?.as_str()?));
            let parts = manifest.as_ref().and_then(|it| it.get("parts")?.as_u64());
            let pieces = manifest.as_ref().map_or(Ok(None), |manifest| pieces(self, manifest))?;
            let there = pieces.map(|pieces| pieces.there()).transpose();
            let done = match there {
                Ok(there) => there.map(|there| there.len() as u64),
                // The upload was completed, or its store has removed it.
                Err(error) if error.problem() == Problem::Ended => Some(0),
                Err(error) => return Err(error.into()),
            };
            long.push(Progress { objects: text("source").zip(text("target")), done, parts });
        }
        Ok(States { how, long })
    }

    fn read_if_own(&self, place: &Address) -> Result<Option<Value>, Error> {
        match self.read(place) {
            Ok(found) => Ok(found.map(|found| found.value)),
            Err(Error::OtherKey(_) | Error::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn manifests(&self) -> Result<Vec<Address>, Error> {
        let is_name = |part: &str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut places = Vec::new();
        for entry in self.store.list(&self.folder, None)? {
            let name = entry?.name;
            // An object with another name was not written by a job.
            if let [all, mark, "manifest"] = name.split('/').collect::<Vec<_>>()[..]
                && is_name(all)
                && is_name(mark)
            {
                places.push(self.at(&name)?);
            }
            if places.len() > MOST {
                return Err(Error::TooMuch(self.folder.to_string()));
            }
        }
        Ok(places)
    }

    /// Removes the manifests that remained because a run was stopped after it had completed its upload.
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        self.manifests()?.iter().try_for_each(|place| sweep(self, place))
    }

    /// Returns whether a part of the job's state belongs to another key.
    ///
    /// # Errors
    /// If the state cannot be listed or read.
    pub fn is_of_others(&self) -> Result<bool, Error> {
        for place in self.manifests()?.into_iter().chain([self.at("job")?]) {
            if matches!(self.read(&place), Err(Error::OtherKey(_))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends all uploads of the job, and removes its state. Does not remove results. Returns how many uploads were
    /// ended, and how many were not ended.
    ///
    /// # Errors
    /// If the store does not allow an operation.
    pub fn clean(&self) -> Result<Cleaned, Error> {
        let mut cleaned = Cleaned::default();
        for place in self.manifests()? {
            if abandon(self, &place, |_| true)? {
                cleaned.ended += 1
            } else {
                cleaned.left += 1
            }
            self.store.remove(&place)?;
        }
        Ok(self.store.remove(&self.at("job")?).map(|()| cleaned)?)
    }
}
