//! What jobs have left in a bucket: to look at, and to remove.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::job::{Job, STATE};
use crate::long::{abandon, sweep};
use crate::{Error, JobKey};
use deadpan_remote::{Address, Pieces, Problem, Store};

/// A long object that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The source and the target; `None` if the state belongs to another key.
    pub objects: Option<(String, String)>,
    /// Parts that are there; `None` if the state belongs to another key.
    pub done: Option<u64>,
    /// All parts; `None` if the state belongs to another key.
    pub parts: Option<u64>,
}

/// The state of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// How the job was begun; `None` if it is noted nowhere, or for another key.
    pub how: Option<Value>,
    /// The long objects that are being made.
    pub long: Vec<Progress>,
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
        let wrong = |error| Error::OtherJob(format!("{bucket}: {error}"));
        let folder = bucket.with_key(STATE).map_err(wrong)?;
        let mut names = BTreeSet::new();
        for entry in store.list(&folder, None)? {
            names.extend(entry?.name.split_once('/').map(|(name, _)| name.to_owned()));
        }
        names.iter().map(|name| folder.join(&format!("{name}/")).map_err(wrong)).collect()
    }

    /// Returns what there is of a job.
    ///
    /// # Errors
    /// If the state cannot be listed or read.
    pub fn states(&self) -> Result<States, Error> {
        let how = self.read_if_own("job")?;
        let mut long = Vec::new();
        for home in self.homes()? {
            let manifest = self.read_if_own(&format!("{home}manifest"))?;
            let text = |field: &str| Some(manifest.as_ref()?.get(field)?.as_str()?.to_owned());
            let parts = manifest.as_ref().and_then(|it| it.get("parts")?.as_u64());
            let upload = text("target").and_then(|target| target.parse().ok()).zip(text("upload"));
            let there = upload.map(|(target, id)| Pieces::again(&self.store, &target, &id)?.there()).transpose();
            let done = match there {
                Ok(there) => there.map(|there| there.len() as u64),
                // It was completed, or its store has removed it.
                Err(error) if error.problem() == Problem::Ended => Some(0),
                Err(error) => return Err(error.into()),
            };
            long.push(Progress { objects: text("source").zip(text("target")), done, parts });
        }
        Ok(States { how, long })
    }

    fn read_if_own(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.read(&self.at(name)?) {
            Ok(found) => Ok(found.map(|found| found.value)),
            Err(Error::OtherKey(_) | Error::OtherJob(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns where the state of each long object lies.
    fn homes(&self) -> Result<BTreeSet<String>, Error> {
        let mut homes = BTreeSet::new();
        for entry in self.store.list(&self.folder, None)? {
            let name = entry?.name;
            let is_name = |part: &str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            // What has another name was not written by a job.
            if let [all, mark, "manifest"] = name.split('/').collect::<Vec<_>>()[..] {
                homes.extend((is_name(all) && is_name(mark)).then(|| format!("{all}/{mark}/")));
            }
        }
        Ok(homes)
    }

    /// Removes what runs have left that were stopped at their very end.
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        self.homes()?.iter().try_for_each(|home| sweep(self, &self.at(&format!("{home}manifest"))?))
    }

    /// Whether something of the job's state belongs to another key.
    ///
    /// # Errors
    /// If the state cannot be listed or read.
    pub fn is_of_others(&self) -> Result<bool, Error> {
        let manifests = self.homes()?.into_iter().map(|home| format!("{home}manifest"));
        for name in manifests.chain(["job".to_owned()]) {
            if matches!(self.read(&self.at(&name)?), Err(Error::OtherKey(_))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends all uploads of the job, and removes its state. Results stay. Returns the number of uploads whose parts stay
    /// in the store, because their state belongs to another key.
    ///
    /// # Errors
    /// If the store does not allow it.
    pub fn clean(&self) -> Result<u64, Error> {
        let mut left = 0;
        for home in self.homes()? {
            let place = self.at(&format!("{home}manifest"))?;
            left += u64::from(!abandon(self, &place, |_| true)?);
            self.store.remove(&place)?;
        }
        Ok(self.store.remove(&self.at("job")?).map(|()| left)?)
    }
}
