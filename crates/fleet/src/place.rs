//! Places with many sources or results: a prefix in a store, or a folder.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use crate::job::STATE;
use crate::listing::{Listing, name_of};
use crate::source::{changed, file_tag, shown};
use crate::stamp::{Stamp, StampKey, Stamped};
use crate::tree::{Tree, TreeFile};
use crate::{Error, Spot};
use deadpan_disk::{About, names};
use deadpan_remote::{Address, Entry, Store};
use deadpan_sieve::Rules;

/// The existing targets of a page, by their names.
pub(crate) type There = HashMap<String, Known>;

/// A target that exists.
pub(crate) struct Known {
    /// The time when the target was written, if this time can be compared with the times of the sources.
    pub(crate) written: Option<SystemTime>,
    pub(crate) length: u64,
    /// The stamp of a file, if it is a stamp of this run's key.
    pub(crate) stamp: Option<Stamp>,
}

impl Known {
    /// Returns the facts about a file, or `None` if there is no file with this name. The time when it was written
    /// counts only if `dated` is set. If there is a key, the stamp of the file is read.
    pub(crate) fn of_file(place: &TreeFile, dated: bool, stamps: Option<&StampKey>) -> Option<Self> {
        let spot = place.spot().ok()?;
        let mut about = spot.folder.look(&spot.name).ok().flatten().filter(About::is_file)?;
        let mut stamp = None;
        if let Some(key) = stamps
            && let Ok((file, opened)) = spot.folder.file(&spot.name)
            && opened.is_file()
        {
            about = opened;
            if let Stamped::Own(found) = key.read(&file) {
                stamp = Some(found);
            }
        }
        Some(Self { written: Some(about.modified_at()).filter(|_| dated), length: about.length, stamp })
    }
}

/// A place with many objects or files. In messages, invisible characters of the name are escaped.
#[derive(Clone, Debug)]
pub enum Place {
    /// All objects below a prefix.
    Prefix(Store, Address),
    /// All files below a folder.
    Folder(Tree),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(_, address) => address.fmt(f),
            Self::Folder(tree) => f.write_str(&shown(tree.path())),
        }
    }
}

impl Place {
    /// Returns the whole name without escapes. The returned name identifies the same place in each run. The name is not
    /// for messages: see [`Address::text`].
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Prefix(_, address) => address.text(),
            Self::Folder(tree) => tree.path().to_string_lossy().into_owned(),
        }
    }

    /// Returns the whole path of an entry of a folder.
    pub(crate) fn whole(&self, path: &Path) -> PathBuf {
        match self {
            Self::Folder(tree) => tree.path().join(path),
            Self::Prefix(..) => path.to_owned(),
        }
    }

    /// Lists the sources whose results are written to the place `to`. Skips the objects that lie at the target place,
    /// and the state of jobs. Skips what the rules leave out of folders. Sets `beside` to what else lies in a folder.
    ///
    /// # Errors
    /// If the place cannot be listed.
    pub(crate) fn list(
        &self,
        to: &Self,
        rules: &Rules,
        beside: &mut Listing,
    ) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>> + '_>, Error> {
        match self {
            Self::Prefix(store, prefix) => {
                let inside = match to {
                    Self::Prefix(_, to) if to.is_in_bucket_of(prefix) => to.key().strip_prefix(prefix.key()),
                    _ => None,
                };
                let inside = inside.filter(|inside| !inside.is_empty()).map(str::to_owned);
                let is_source = move |name: &str| {
                    let is_result = inside.as_ref().is_some_and(|inside| name.starts_with(inside));
                    let is_state = prefix.key().is_empty() && name.starts_with(STATE);
                    !is_result && !is_state
                };
                let listing = store.list(prefix, None)?;
                let listing = listing.filter(move |entry| entry.as_ref().map_or(true, |entry| is_source(&entry.name)));
                Ok(Box::new(listing.map(|entry| Ok(entry?))))
            }
            Self::Folder(tree) => {
                let avoid = match to {
                    Self::Folder(to) => to.open().ok().and_then(|folder| folder.about().ok()),
                    Self::Prefix(..) => None,
                };
                let mut found = Vec::new();
                *beside = Listing::read(tree, avoid.map(|about| about.id), rules, |path, about| {
                    let (name, length, modified) = (name_of(path), about.length, changed(about));
                    found.push(Entry { name, length, modified, tag: Some(file_tag(about)) });
                })?;
                found.sort_by(|one, other| one.name.cmp(&other.name));
                Ok(Box::new(found.into_iter().map(Ok)))
            }
        }
    }

    pub(crate) fn spot(&self, name: &str) -> Result<Spot, Error> {
        match self {
            Self::Prefix(store, prefix) => {
                let address = prefix.join(name).map_err(|_| Error::Name)?;
                if name.is_empty() || address.is_prefix() || address.key().starts_with(STATE) {
                    Err(Error::Name)
                } else {
                    Ok(Spot::Object(store.clone(), address))
                }
            }
            Self::Folder(tree) if is_fit(name) => Ok(Spot::File(TreeFile { tree: tree.clone(), name: name.into() })),
            Self::Folder(_) => Err(Error::Name),
        }
    }

    /// Returns those targets with these names that already exist. If `dated` is set, the result includes the times when
    /// target files were made. If there is a key, the result includes the stamps of files.
    pub(crate) fn which<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        dated: bool,
        stamps: Option<&StampKey>,
    ) -> Result<There, Error> {
        match self {
            Self::Prefix(store, prefix) => {
                let found = listed(store, prefix, names)?;
                let known = |entry: &Entry| Known { written: Some(entry.modified), length: entry.length, stamp: None };
                Ok(found.into_iter().map(|entry| (entry.name.clone(), known(&entry))).collect())
            }
            Self::Folder(tree) => {
                // If the entry with this name is not a file, the error is reported later, when the file is made.
                let known = |name: &str| {
                    let place = TreeFile { tree: tree.clone(), name: name.into() };
                    Known::of_file(&place, dated, stamps)
                };
                let there = names.filter(|name| is_fit(name));
                Ok(there.filter_map(|name| Some((name.to_owned(), known(name)?))).collect())
            }
        }
    }
}

/// Returns the entries below a prefix that have one of these names.
pub(crate) fn listed<'a>(
    store: &Store,
    prefix: &Address,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Entry>, Error> {
    let (mut wanted, mut found): (BTreeSet<&str>, _) = (names.collect(), Vec::new());
    let (Some(&first), Some(&last)) = (wanted.first(), wanted.last()) else { return Ok(found) };
    for entry in store.list(prefix, before(prefix, first).as_deref())? {
        let entry = entry?;
        // Names that are not valid in an address may come out of order, so they are skipped.
        if entry.name.ends_with('/') || prefix.join(&entry.name).is_err() {
            continue;
        }
        if entry.name.as_str() > last {
            break;
        }
        if wanted.remove(entry.name.as_str()) {
            found.push(entry);
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Returns a name below the prefix that comes before `name`, so that a listing can begin after the returned name.
/// Returns `None` if the listing has to begin at the start. A listing that begins after a name close to `name` contains
/// few other names.
fn before(prefix: &Address, name: &str) -> Option<String> {
    let is_fit = |before: &String| !before.is_empty() && !before.ends_with('/') && prefix.join(before).is_ok();
    let mut before = name.to_owned();
    while let Some(last) = before.pop() {
        // Of the names with only letters and digits, only longer names that begin with `a4z` lie between `a4z` and
        // `a5`. `a4~` is even closer, but stores do not agree on the signature of a request with `~`.
        let previous = char::from_u32(u32::from(last).wrapping_sub(1)).filter(char::is_ascii_alphanumeric);
        let close = previous.map(|previous| format!("{before}{previous}z"));
        if let Some(close) = close.filter(|close| is_fit(close)) {
            return Some(close);
        }
        if is_fit(&before) {
            return Some(before);
        }
    }
    None
}

/// Whether a name is valid for a file below a folder.
pub(crate) fn is_fit(name: &str) -> bool {
    let path = Path::new(name);
    !name.is_empty()
        && !name.contains('\0')
        && !name.ends_with('/')
        && !name.contains("//")
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        && !name.split('/').any(|part| matches!(part, "." | ".."))
        && !(cfg!(windows) && name.split('/').any(|part| names::windows::flaw(part.as_bytes()).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_begins_close_before_a_name() {
        let prefix: Address = "s3://bucket/a/".parse().expect("an address");
        for (name, wanted) in [
            ("x/005", Some("x/004z")),
            ("x/010", Some("x/01")),
            ("x/0", Some("x")),
            ("b.csv", Some("b.csuz")),
            ("ä", None),
            ("xä", Some("x")),
            ("0", None),
            ("x//0", Some("x")),
            ("x", Some("wz")),
        ] {
            let found = before(&prefix, name);
            assert_eq!(found.as_deref(), wanted, "{name}");
            assert!(found.is_none_or(|found| found.as_str() < name), "{name}");
        }
    }
}
