//! Several inputs that go into one pack.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::exclude::list;
use super::name_of;
use crate::place::ending::{ENDINGS, PAGE};
use crate::place::input::{Input, Source, is_special};
use crate::place::output::{OutputArgs, Place};
use crate::place::remote;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{Folder, allow_many_files, most_open_files};
use deadpan_pack::{Listing, Start};

/// The root of a pack whose output does not give it a name.
const ROOT: &str = "archive";
/// The longest list of paths, which is held in memory.
const LONGEST: u64 = 1 << 30;
/// The maximum number of names in a path of a pack.
const DEEPEST: usize = 1024;

/// Several inputs that go into one pack, by their names in the pack.
pub struct Gathered {
    starts: BTreeMap<OsString, (Start, PathBuf)>,
}

impl Gathered {
    /// Opens the inputs in `files`, and reads the paths in the lists. An input goes in under its last name. A listed
    /// path goes in with all its folders.
    pub fn open(files: &[PathBuf], lists: &[PathBuf]) -> Result<Self, Failure> {
        allow_many_files();
        if files.len() > most_open_files() / 2 {
            let message = format!("{} inputs are more than the system lets a program open", files.len());
            return Err(Failure::usage(message, "name the folder that holds them, or list them with --files-from"));
        }
        let mut gathered = Self { starts: BTreeMap::new() };
        for file in files {
            gathered.input(&remote::local(file.clone()))?;
        }
        for list in lists {
            gathered.listed(list)?;
        }
        if gathered.starts.is_empty() {
            let lists: Vec<_> = lists.iter().map(|list| name(list)).collect();
            return Err(Failure::usage(format!("{} lists no file", lists.join(", ")), "check the list"));
        }
        Ok(gathered)
    }

    fn input(&mut self, path: &Path) -> Result<(), Failure> {
        let alone = |what: &str| {
            let message = format!("{} is {what}, and several inputs in one file are files and folders", shown(path));
            Err(Failure::usage(message, "seal it in a command of its own"))
        };
        if path == Path::new("-") {
            return alone("standard input");
        }
        if remote::is_address(path) {
            return alone("an object in a store");
        }
        if is_special(path) {
            return alone("a device, a FIFO or a socket");
        }
        let input = Input::open(&Source::File(path.to_owned()))?;
        let failed = |error| Failure::path("read", path, &error);
        let (Some(file), Some(about)) = (input.file(), input.about) else { return alone("no file") };
        let start = Start::Open(file.try_clone().map_err(failed)?, about, path.to_owned());
        match self.starts.entry(name_of(path)?) {
            Entry::Vacant(free) => _ = free.insert((start, path.to_owned())),
            Entry::Occupied(taken) => return Err(alike(&taken.get().1, path)),
        }
        Ok(())
    }

    fn listed(&mut self, file: &Path) -> Result<(), Failure> {
        let text = list(file, LONGEST)?;
        let end = if text.contains(&0) { 0 } else { b'\n' };
        let mut bases: [Option<Folder>; 2] = [None, None];
        for line in text.split(|byte| *byte == end).filter(|line| !line.is_empty()) {
            let path = Path::new(OsStr::from_bytes(line));
            let wrong = |why: &str, hint: &str| {
                Err(Failure::usage(format!("{}: the path {} {why}", name(file), shown(path)), hint))
            };
            let mut names = Vec::new();
            for component in path.components() {
                match component {
                    Component::Normal(name) => names.push(name),
                    Component::ParentDir => return wrong("contains ..", "list paths below the current folder"),
                    Component::Prefix(_) if !path.has_root() => {
                        return wrong("has a drive and no root", "write a backslash after the colon");
                    }
                    _ => {}
                }
            }
            if names.len() > DEEPEST {
                let message = format!("{}: a path has {} names, which is too deep", name(file), names.len());
                return Err(Failure::usage(message, "a path has at most 1024 names"));
            }
            let Some((first, rest)) = names.split_first() else {
                let hint = "list what is in it: find . -mindepth 1; or name the folder instead of a list";
                return wrong("is a whole folder without a name", hint);
            };
            let (base, at) = match path.has_root() {
                true => (&mut bases[0], root(path)),
                false => (&mut bases[1], Path::new(".")),
            };
            let base = match base {
                // On Windows, each drive has a root.
                Some(base) if base.path() == at => base,
                _ => base.insert(Folder::open(at).map_err(|error| Failure::path("read", at, &error))?),
            };
            match self.starts.entry((*first).to_owned()) {
                Entry::Vacant(free) => {
                    let mut listing = Listing::Parts(BTreeMap::new());
                    listing.add(rest.iter().copied());
                    free.insert((Start::Listed(base.clone(), (*first).to_owned(), listing), path.to_owned()));
                }
                Entry::Occupied(mut taken) => match taken.get_mut() {
                    (Start::Listed(_, _, listing), other) if root(other) == root(path) => {
                        listing.add(rest.iter().copied());
                    }
                    (_, other) => return Err(alike(other, path)),
                },
            }
        }
        Ok(())
    }

    /// Returns what the pack begins with, by the names in the pack.
    pub fn into_starts(self) -> BTreeMap<OsString, Start> {
        self.starts.into_iter().map(|(name, (start, _))| (name, start)).collect()
    }

    /// Returns the latest time of the inputs, in the form of the metadata of a sealed file.
    pub fn modified(&self) -> Option<std::time::SystemTime> {
        self.starts.values().filter_map(|(start, _)| start.about().ok()).map(|about| about.modified_at()).max()
    }
}

/// Returns the root of an absolute path, and the empty path for another path.
fn root(path: &Path) -> &Path {
    path.ancestors().last().unwrap_or(path)
}

/// Whether several inputs go into one pack: they are listed, or `-o` is the name of a single result.
pub fn is_one_pack(files: &[PathBuf], lists: &[PathBuf], output: &OutputArgs) -> bool {
    let is_single = |place: &Place| !place.is_folder() && !place.ends_with_slash();
    !lists.is_empty() || files.len() > 1 && output.place().is_some_and(is_single)
}

/// Refuses to read standard input for two purposes.
pub fn check_stdin(files: &[PathBuf], lists: &[PathBuf], patterns: &[PathBuf]) -> Result<(), Failure> {
    let all = files.iter().chain(lists).chain(patterns);
    if all.filter(|file| file.as_path() == Path::new("-")).count() > 1 {
        return Err(Failure::usage("standard input can be read only once", "name - once"));
    }
    Ok(())
}

/// Returns the name of the pack's root, which is the name of the output without its extensions.
pub fn root_of(place: &Place) -> OsString {
    let name = place.path().filter(|_| !place.is_stream()).and_then(Path::file_name).unwrap_or_default();
    let mut stem = name.as_bytes();
    for ending in [PAGE].iter().chain(&ENDINGS).chain([&".tar"]) {
        stem = stem.strip_suffix(ending.as_bytes()).unwrap_or(stem);
    }
    if stem.is_empty() { ROOT.into() } else { OsStr::from_bytes(stem).to_owned() }
}

/// Returns the name of a list for messages.
fn name(list: &Path) -> String {
    if list == Path::new("-") { Source::Stdin.shown() } else { shown(list) }
}

fn alike(one: &Path, other: &Path) -> Failure {
    let message = format!("{} and {} have the same name in the result", shown(one), shown(other));
    Failure::usage(message, "rename one of them, or list both with --files-from, which keeps their folders")
}
