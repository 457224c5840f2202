//! The places of sources and results: objects in a store, or files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::stamp::{Stamp, StampKey};
use crate::tree::TreeFile;
use crate::{Error, Pair};
use deadpan_disk::About as FileAbout;
use deadpan_disk::portable::{FileExt, OsStrExt};
use deadpan_remote::{Address, Object, ObjectReader, Problem, Store};

/// The place of an object or a file. In messages, invisible characters of the name are escaped.
#[derive(Clone, Debug)]
pub enum Spot {
    /// An object in a store.
    Object(Store, Address),
    /// A file.
    File(TreeFile),
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(_, address) => address.fmt(f),
            Self::File(file) => file.fmt(f),
        }
    }
}

impl Spot {
    /// Returns the whole name without escapes. The returned name identifies the same place in each run. The name is not
    /// for messages: see [`Address::text`].
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Object(_, address) => address.text(),
            Self::File(file) => file.path().to_string_lossy().into_owned(),
        }
    }
}

/// Returns a path for a message.
pub(crate) fn shown(path: &Path) -> String {
    path.as_os_str().as_bytes().split(|byte| *byte == b'/').map(deadpan_remote::shown).collect::<Vec<_>>().join("/")
}

/// The known facts about a source.
#[derive(Clone, Debug)]
pub struct About {
    /// The name below the listed place, with slashes.
    pub name: String,
    /// The whole name, for messages.
    pub shown: String,
    /// The number of bytes.
    pub length: u64,
    /// The time when the source was written.
    pub modified: SystemTime,
    /// The permissions of a file.
    pub mode: Option<u32>,
}

/// An open source. If the source is replaced or changed after it was opened, reading fails.
#[derive(Debug)]
pub(crate) enum Source {
    Object(Box<Object>),
    File(TreeFile, File, FileAbout),
}

impl Source {
    /// Opens a source. If the source is an object, the same request reads its first `first` bytes.
    pub(crate) fn open(spot: &Spot, first: u64) -> Result<Self, Error> {
        match spot {
            Spot::Object(store, address) => Ok(Self::Object(Box::new(Object::open_with(store, address, first)?))),
            Spot::File(place) => {
                let failed = |error| Error::File(place.path(), error);
                let spot = place.spot().map_err(failed)?;
                let (file, about) = spot.folder.file(&spot.name).map_err(failed)?;
                if !about.is_file() {
                    return Err(failed(io::Error::other("it is not a file")));
                }
                // The system makes the contents of some files when they are read, for example in /proc. Such files have
                // the length 0.
                if about.length == 0 && file.read_at(&mut [0], 0).map_err(failed)? > 0 {
                    return Err(failed(io::Error::other("its length is not known before it is read")));
                }
                Ok(Self::File(place.clone(), file, about))
            }
        }
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Object(object) => object.length(),
            Self::File(_, _, about) => about.length,
        }
    }

    pub(crate) fn about(&self, pair: &Pair) -> About {
        let (modified, mode) = match self {
            Self::Object(object) => (object.modified(), None),
            Self::File(_, _, about) => (about.modified_at(), Some(about.mode)),
        };
        let (name, shown) = (pair.name.clone(), pair.source.to_string());
        About { name, shown, length: self.length(), modified, mode }
    }

    /// Returns the time when the source got its present contents or its name. A file that was moved or copied with an
    /// old modification time is treated as new.
    pub(crate) fn changed(&self) -> SystemTime {
        match self {
            Self::Object(object) => object.modified(),
            Self::File(_, _, about) => changed(about),
        }
    }

    /// Returns a text that distinguishes this version of the source from later versions.
    pub(crate) fn tag(&self) -> String {
        match self {
            Self::Object(object) => match object.tag() {
                Some(tag) => tag.to_owned(),
                None => format!("{:?}", object.modified()),
            },
            Self::File(_, _, about) => file_tag(about),
        }
    }

    /// Returns the stamp of this version of the source, if the source is a file.
    pub(crate) fn stamp(&self, key: Option<&StampKey>) -> Option<Stamp> {
        match self {
            Self::File(_, _, about) => key.map(|key| key.stamp(&file_tag(about))),
            Self::Object(_) => None,
        }
    }

    /// Whether the source is unchanged since it was opened, or was removed. If the source was removed, the result
    /// belongs to its last version.
    pub(crate) fn is_current(&self) -> Result<bool, Error> {
        match self {
            Self::Object(object) => is_current(object),
            Self::File(place, _, about) => match place.look() {
                Ok(None) => Ok(true),
                Ok(Some(now)) => Ok(file_tag(&now) == file_tag(about)),
                Err(error) => Err(Error::File(place.path(), error)),
            },
        }
    }

    /// Frees the bytes of an object that were read when the object was opened.
    pub(crate) fn give_back(&mut self) {
        if let Self::Object(object) = self {
            **object = object.without_bytes();
        }
    }

    pub(crate) fn fill(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        match self {
            Self::Object(object) => Ok(object.fill(buffer, position)?),
            Self::File(place, file, about) => {
                let failed = |error| Error::File(place.path(), error);
                match file.read_exact_at(buffer, position) {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Error::Changed),
                    other => other.map_err(failed)?,
                }
                let now = FileAbout::of_file(file).map_err(failed)?;
                if file_tag(&now) == file_tag(about) { Ok(()) } else { Err(Error::Changed) }
            }
        }
    }

    /// Returns the whole object if all its bytes were read when it was opened.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        match self {
            Self::Object(object) if object.start().len() as u64 == object.length() => Some(object.start()),
            _ => None,
        }
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        match self {
            Self::Object(object) => Reader::Object(Box::new(object.reader())),
            Self::File(..) => Reader::File(self, 0),
        }
    }
}

/// Returns false only if another object has received the name of this object.
pub(crate) fn is_current(object: &Object) -> Result<bool, Error> {
    match object.is_current() {
        Err(error) if error.problem() == Problem::Missing => Ok(true),
        other => Ok(other?),
    }
}

/// Returns the time when a file got its present contents or its name: the later of its modification time and its change
/// time.
pub(crate) fn changed(about: &FileAbout) -> SystemTime {
    about.modified_at().max(about.changed_at())
}

/// Returns a text that distinguishes this version of a file from other versions, and from other files on the disk. No
/// program can set the time of the last change of a file's attributes, so this time shows changes that are hidden from
/// the modification time.
pub(crate) fn file_tag(about: &FileAbout) -> String {
    let time = |(seconds, nanoseconds): (i64, u32)| format!("{seconds}.{nanoseconds:09}");
    // The tag does not include the device number, which differs between machines that share a folder.
    format!("{}-{}-{}-{}", about.length, time(about.modified), time(about.changed), about.id.number)
}

/// Reads a source in order.
pub(crate) enum Reader<'a> {
    Object(Box<ObjectReader>),
    File(&'a Source, u64),
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Object(reader) => reader.read(buffer),
            Self::File(source, at) => {
                let left = source.length().saturating_sub(*at);
                let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                source.fill(&mut buffer[..length], *at).map_err(io::Error::other)?;
                *at += length as u64;
                Ok(length)
            }
        }
    }
}
