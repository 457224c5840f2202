//! Compares a pack with a folder.

mod content;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Read, Seek};

use crate::contents::{Contents, IndexWalk};
use crate::entry::{Entry, Kind, Time};
use crate::error::{Action, Error, Flaw};
use crate::path::{is_under, order};
use crate::shown::shown;
use content::is_same;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, FileKind, Folder, Walk};
use deadpan_sieve::{Rules, Sieve};

/// How an entry of a pack differs from the file or folder with the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// Only the folder has the path. If a folder has the path, its contents are not reported separately.
    Added,
    /// Only the pack has the path. If a folder has the path, its contents are not reported separately.
    Removed,
    /// One of them is a folder, a file or a link, and the other is not.
    Kind,
    /// The contents, or the target of a link. If contents are not compared, the size or the time of a file.
    Contents,
    /// Only the permissions. If contents are compared, the permissions or the time.
    Attributes,
}

/// A path at which a pack and a folder differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path, relative to the root of the pack.
    pub path: Vec<u8>,
    /// What differs.
    pub differs: Differs,
    /// The entry of the pack. For a hard link, the entry of the file.
    pub packed: Option<Entry>,
    /// The file or folder.
    pub found: Option<About>,
}

/// An iterator over the differences between a pack and a folder, in the order of the pack. An error about a path in the
/// folder does not end the iterator.
///
/// A file is the same if its size and time are the same. If the pack has no time for a file, as after
/// [`Packing::deterministic`](crate::Packing::deterministic), the contents are compared. The times of folders and links
/// are not compared. Devices, FIFOs and sockets are not compared, because packs have none.
pub struct Comparison<'a, R, S> {
    contents: &'a mut Contents<R>,
    /// Reads the same pack.
    other: S,
    folder: Folder,
    walk: Walk,
    sieve: Sieve,
    index: IndexWalk,
    by_contents: bool,
    progress: Option<&'a dyn Fn(u64)>,
    packed: Ahead<Entry>,
    found: Ahead<Found>,
    /// A folder of the pack whose contents are skipped.
    skipped: Option<Vec<u8>>,
    /// The entries of files that have several names on the disk. Hard links lead to them.
    shared: HashMap<Vec<u8>, Entry>,
}

/// A file or folder that the walk has reached.
struct Found {
    path: Vec<u8>,
    about: io::Result<About>,
}

/// The next item of a sequence.
enum Ahead<T> {
    Unknown,
    Next(T),
    End,
}

impl<T> Ahead<T> {
    fn get(&self) -> Option<&T> {
        if let Self::Next(next) = self { Some(next) } else { None }
    }

    fn take(&mut self) -> Option<T> {
        match std::mem::replace(self, Self::Unknown) {
            Self::Next(next) => Some(next),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl<R, S> std::fmt::Debug for Comparison<'_, R, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Comparison").field("walk", &self.walk).finish_non_exhaustive()
    }
}

impl<'a, R: Read + Seek, S: Read + Seek> Comparison<'a, R, S> {
    /// Begins to compare a pack with a folder. `other` must read the same pack as `contents`, but may have another
    /// position. What the rules leave out of the folder is not compared, unless the pack has it.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(contents: &'a mut Contents<R>, other: S, folder: Folder, rules: Rules) -> Result<Self, Error> {
        let failed = |error| Error::Entry { action: Action::Read, path: "the folder".into(), error };
        let (walk, index) = (Walk::new(folder.clone()).map_err(failed)?, IndexWalk::new(contents, b""));
        Ok(Self {
            contents,
            other,
            folder,
            sieve: Sieve::new(rules, &walk),
            walk,
            index,
            by_contents: false,
            progress: None,
            packed: Ahead::Unknown,
            found: Ahead::Unknown,
            skipped: None,
            shared: HashMap::new(),
        })
    }

    /// Compares the contents of all files, and calls `progress` with the number of bytes that were read.
    #[must_use]
    pub fn by_contents(self, progress: &'a dyn Fn(u64)) -> Self {
        Self { by_contents: true, progress: Some(progress), ..self }
    }

    /// Goes to the next entry of the pack that is not skipped.
    fn look_in_pack(&mut self) -> Result<(), Error> {
        while let Ahead::Unknown = self.packed {
            self.packed = match self.index.next(self.contents)? {
                None => Ahead::End,
                Some(entry) if self.skipped.as_ref().is_some_and(|folder| is_under(&entry.path, folder)) => continue,
                Some(entry) => Ahead::Next(entry),
            };
        }
        Ok(())
    }

    /// Goes to the next file, folder or link.
    fn look_in_folder(&mut self) {
        while let Ahead::Unknown = self.found {
            if !self.walk.advance() {
                self.found = Ahead::End;
                return;
            }
            if !self.sieve.takes_name(&self.walk) {
                continue;
            }
            let path = self.walk.path().as_os_str().as_bytes().to_vec();
            self.found = match self.walk.look() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Ok(about) if !is_packed(about.kind) => continue,
                Ok(about) if !self.sieve.takes(&mut self.walk, &about) => continue,
                about => Ahead::Next(Found { path, about }),
            };
        }
    }

    fn advance(&mut self) -> Result<Option<Difference>, Error> {
        loop {
            self.look_in_pack()?;
            if self.packed.get().is_some_and(|packed| packed.path.is_empty()) {
                let root = self.packed.take();
                if let Some(difference) = root.map_or(Ok(None), |root| self.root(root))? {
                    return Ok(Some(difference));
                }
                continue;
            }
            self.look_in_folder();
            let order = match (self.packed.get(), self.found.get()) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(packed), Some(found)) => order(&packed.path, &found.path),
            };
            let packed = if order == Ordering::Greater { None } else { self.packed.take() };
            let found = if order == Ordering::Less { None } else { self.found.take() };
            let difference = match (packed, found) {
                (None, Some(found)) => Some(self.added(found)?),
                (Some(packed), None) => Some(self.removed(packed)),
                (Some(packed), Some(found)) => self.pair(packed, found)?,
                (None, None) => None,
            };
            if difference.is_some() {
                return Ok(difference);
            }
        }
    }

    fn root(&mut self, packed: Entry) -> Result<Option<Difference>, Error> {
        let about = self.folder.about().map_err(|error| failed(b"", error))?;
        let differs = (packed.mode != about.mode).then_some(Differs::Attributes);
        Ok(differs.map(|differs| Difference { path: Vec::new(), differs, packed: Some(packed), found: Some(about) }))
    }

    fn added(&mut self, Found { path, about }: Found) -> Result<Difference, Error> {
        let about = about.map_err(|error| failed(&path, error))?;
        if about.is_folder() {
            self.walk.leave();
        }
        Ok(Difference { path, differs: Differs::Added, packed: None, found: Some(about) })
    }

    fn removed(&mut self, packed: Entry) -> Difference {
        self.skip(&packed);
        Difference { path: packed.path.clone(), differs: Differs::Removed, packed: Some(packed), found: None }
    }

    /// Skips what the pack has in a folder.
    fn skip(&mut self, packed: &Entry) {
        if packed.kind == Kind::Folder {
            self.skipped = Some(packed.path.clone());
        }
    }

    /// Compares two things with the same path.
    fn pair(&mut self, packed: Entry, Found { path, about }: Found) -> Result<Option<Difference>, Error> {
        let about = match about {
            Ok(about) => about,
            Err(error) => {
                self.skip(&packed);
                return Err(failed(&path, error));
            }
        };
        let packed = match &packed.target {
            Some(target) if packed.kind == Kind::HardLink => {
                let damaged = || Flaw::Damaged(format!("{} is a link to nothing", shown(&path)));
                let file = match self.shared.get(target) {
                    Some(file) => file.clone(),
                    None => self.contents.find(target)?.ok_or_else(damaged)?,
                };
                Entry { path: packed.path, ..file }
            }
            _ => packed,
        };
        if about.is_file() && about.links > 1 && matches!(packed.kind, Kind::File | Kind::Sparse) {
            self.shared.insert(packed.path.clone(), packed.clone());
        }
        let is_same_kind = match packed.kind {
            Kind::Folder => about.is_folder(),
            Kind::SymbolicLink => about.is_link(),
            _ => about.is_file(),
        };
        if !is_same_kind {
            self.skip(&packed);
            if about.is_folder() {
                self.walk.leave();
            }
        }
        let differs = match packed.kind {
            _ if !is_same_kind => Some(Differs::Kind),
            Kind::Folder => (packed.mode != about.mode).then_some(Differs::Attributes),
            Kind::SymbolicLink => self.link(&packed, &path)?,
            _ => self.file(&packed, &about, &path)?,
        };
        Ok(differs.map(|differs| Difference { path, differs, packed: Some(packed), found: Some(about) }))
    }

    fn link(&self, packed: &Entry, path: &[u8]) -> Result<Option<Differs>, Error> {
        let target = self.walk.folder().map(|folder| folder.read_link(self.walk.name())).transpose();
        let target = target.map_err(|error| failed(path, error))?;
        let is_same = target.as_ref().map(|target| target.as_bytes()) == packed.target.as_deref();
        Ok((!is_same).then_some(Differs::Contents))
    }

    fn file(&mut self, packed: &Entry, about: &About, path: &[u8]) -> Result<Option<Differs>, Error> {
        let Time { seconds, nanoseconds } = packed.modified;
        let (is_same_time, has_time) = (about.modified == (seconds, nanoseconds), packed.modified != Time::default());
        if about.length != packed.size {
            return Ok(Some(Differs::Contents));
        }
        let is_same_mode = about.mode == packed.mode;
        if !self.by_contents && has_time {
            return Ok(match (is_same_time, is_same_mode) {
                (false, _) => Some(Differs::Contents),
                (true, false) => Some(Differs::Attributes),
                (true, true) => None,
            });
        }
        let opened = self.walk.folder().map(|folder| folder.file(self.walk.name())).transpose();
        let Some((file, about)) = opened.map_err(|error| failed(path, error))? else { return Ok(None) };
        if !about.is_file() {
            return Ok(Some(Differs::Kind));
        }
        let progress = |length| self.progress.into_iter().for_each(|progress| progress(length));
        if !is_same(&file, packed, &mut self.other, &progress).map_err(|error| error.about(path))? {
            return Ok(Some(Differs::Contents));
        }
        Ok((!is_same_mode || has_time && !is_same_time).then_some(Differs::Attributes))
    }
}

impl<R: Read + Seek, S: Read + Seek> Iterator for Comparison<'_, R, S> {
    type Item = Result<Difference, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(ref error)) if !matches!(error, Error::Entry { .. })) {
            (self.packed, self.found) = (Ahead::End, Ahead::End);
        }
        next
    }
}

fn is_packed(kind: FileKind) -> bool {
    matches!(kind, FileKind::File | FileKind::Folder | FileKind::Link)
}

fn failed(path: &[u8], error: io::Error) -> Error {
    let path = if path.is_empty() { "the folder".into() } else { shown(path) };
    Error::Entry { action: Action::Read, path, error }
}
