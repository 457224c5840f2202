//! Manifests. A manifest is the state of a long result that is being made, and identifies the upload.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::Value;

use crate::Error;
use crate::job::Job;
use deadpan_remote::{Address, Pieces, Problem};

/// The maximum number of versions of an object that may have manifests at the same time.
const VERSIONS: usize = 1000;

pub(crate) fn upload(manifest: &Value) -> Option<&str> {
    manifest.get("upload")?.as_str()
}

/// Returns a time in whole seconds, in the form of a manifest.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Removes the manifest of an upload, except if the manifest now belongs to another upload.
pub(crate) fn forget(job: &Job, place: &Address, id: &str) -> Result<(), Error> {
    match job.read(place)? {
        Some(found) if upload(&found.value) == Some(id) => Ok(job.store.remove(place)?),
        _ => Ok(()),
    }
}

/// Ends the uploads that were begun for older versions of the source, or for other recipients. Leaves uploads of newer
/// versions of the source to the processes that seal or open these versions.
pub(crate) fn remove_others(job: &Job, all: &str, mark: &str, modified: SystemTime) -> Result<(), Error> {
    let folder = job.at(&format!("{all}/"))?;
    let mut others = BTreeSet::new();
    for entry in job.store.list(&folder, None)? {
        others.extend(entry?.name.strip_suffix("/manifest").filter(|other| *other != mark).map(str::to_owned));
        if others.len() > VERSIONS {
            return Err(Error::TooMuch(folder.to_string()));
        }
    }
    for other in others {
        let place = job.at(&format!("{all}/{other}/manifest"))?;
        abandon(job, &place, |found| found.get("modified").and_then(Value::as_u64) <= Some(seconds(modified)))?;
    }
    Ok(())
}

/// Ends the upload of a manifest and removes the manifest, if `meant` returns true for the manifest. Returns `false` if
/// the manifest is damaged or cannot be read with this key.
pub(crate) fn abandon(job: &Job, place: &Address, meant: impl Fn(&Value) -> bool) -> Result<bool, Error> {
    let found = match job.read(place) {
        Ok(Some(found)) => found.value,
        Ok(None) => return Ok(true),
        Err(Error::OtherKey(_) | Error::Damaged(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let Some(pieces) = pieces(job, &found)? else { return Ok(false) };
    if meant(&found) {
        pieces.abort()?;
        forget(job, place, pieces.id())?;
    }
    Ok(true)
}

/// Removes a manifest whose upload is over. The process that completed the upload was stopped before it could remove
/// the manifest.
pub(crate) fn sweep(job: &Job, place: &Address) -> Result<(), Error> {
    let Ok(Some(found)) = job.read(place) else { return Ok(()) };
    let Some(pieces) = pieces(job, &found.value)? else { return Ok(()) };
    match pieces.there() {
        Err(error) if error.problem() == Problem::Ended => forget(job, place, pieces.id()),
        other => Ok(other.map(drop)?),
    }
}

pub(crate) fn pieces(job: &Job, manifest: &Value) -> Result<Option<Pieces>, Error> {
    let target = manifest.get("target").and_then(Value::as_str).and_then(|target| target.parse().ok());
    let named = target.zip(upload(manifest));
    Ok(named.map(|(target, id)| Pieces::resume(&job.store, &target, id)).transpose()?)
}
