//! Inputs: files, pipes, standard input, and objects in stores.

mod tree;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::place::data::Data;
use crate::place::ending::ENDINGS;
use crate::place::held;
use crate::place::recover;
use crate::place::remote;
use crate::place::sealed::Unwrapped;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::names::with_path;
use crate::tell::shown::shown;
use crate::tell::streams;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{self as disk, About, Draft, FileKind, Folder, Found, OpenMode, Spot};
use deadpan_remote::{Address, Object};
use deadpan_seal::{Cursor, Error, ReadAt};
pub use tree::{FileTree, FileTreeEntry};

/// An input, as it is given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Stdin,
    File(PathBuf),
}

/// Returns the sealed files in a folder and its subfolders. The result includes entries that cannot be read, and files
/// that only have the name of a sealed file. The command then reports an error for each of these entries.
fn sealed_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = |entry| match entry {
        FileTreeEntry::Sealed(spot) => Some(spot.path()),
        FileTreeEntry::Failed(path, _) => Some(path),
        FileTreeEntry::Other(spot) => Some(spot).filter(is_called_sealed).map(|spot| spot.path()),
    };
    let found: Vec<_> = FileTree::open(folder, true)?.filter_map(path).collect();
    if found.is_empty() {
        Err(Failure::usage(format!("there is no sealed file in {}", shown(folder)), "check the folder"))
    } else {
        Ok(found)
    }
}

pub fn is_called_sealed(spot: &Spot) -> bool {
    let is_file = || spot.folder.look(&spot.name).is_ok_and(|found| found.is_some_and(|about| about.is_file()));
    ENDINGS.iter().any(|ending| spot.name.as_bytes().ends_with(ending.as_bytes())) && is_file()
}

/// Returns the files in a folder and its subfolders that have a signature file beside them.
fn signed_in(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let signed = |path: &Path| {
        path.as_os_str().as_bytes().strip_suffix(ending.as_bytes()).map(OsStr::from_bytes).map(PathBuf::from)
    };
    let paths = FileTree::open(folder, true)?.filter_map(|entry| match entry {
        FileTreeEntry::Sealed(spot) | FileTreeEntry::Other(spot) => signed(&spot.path()),
        FileTreeEntry::Failed(path, _) => Some(path),
    });
    let found: BTreeSet<_> = paths.collect();
    if found.is_empty() {
        let message = format!("there is no signature (FILE{ending}) in {}", shown(folder));
        Err(Failure::usage(message, "check the folder"))
    } else {
        Ok(found.into_iter().collect())
    }
}

impl Source {
    /// Returns the inputs that are given as `FILE…`. No FILE means standard input.
    pub fn all(files: Vec<PathBuf>) -> Result<Vec<Self>, Failure> {
        let named = |file| if file == Path::new("-") { Self::Stdin } else { Self::File(remote::local(file)) };
        let mut sources: Vec<_> = files.into_iter().map(named).collect();
        if sources.iter().filter(|source| **source == Self::Stdin).count() > 1 {
            return Err(Failure::usage("standard input can be read only once", "name - once"));
        }
        if sources.is_empty() {
            sources.push(Self::Stdin);
        }
        Ok(sources)
    }

    /// Whether standard input is one of the inputs that are given as `FILE…`.
    pub fn reads_stdin(files: &[PathBuf]) -> bool {
        files.is_empty() || files.iter().any(|file| file == Path::new("-"))
    }

    /// Returns the inputs, but replaces each prefix by the sealed objects below that prefix. With `each`, also replaces
    /// each folder by the sealed files in that folder.
    pub fn expanded(sources: &[Self], each: bool) -> Result<Vec<Self>, Failure> {
        let mut all = Vec::new();
        for source in sources {
            match source.path().map_or(Ok(None), remote::address)?.filter(Address::is_prefix) {
                Some(prefix) => all.extend(remote::below(&prefix)?.into_iter().map(Self::File)),
                None => match source.path().filter(|path| each && path.is_dir()) {
                    Some(folder) => all.extend(sealed_in(folder)?.into_iter().map(Self::File)),
                    None => all.push(source.clone()),
                },
            }
        }
        Ok(all)
    }

    /// Returns the inputs, but replaces each folder by those files in it that have a signature file beside them.
    pub fn signed_in(sources: &[Self], ending: &str) -> Result<Vec<Self>, Failure> {
        let mut all = Vec::new();
        for source in sources {
            match source.path().filter(|path| path.is_dir()) {
                Some(folder) => all.extend(signed_in(folder, ending)?.into_iter().map(Self::File)),
                None => all.push(source.clone()),
            }
        }
        Ok(all)
    }

    /// Whether the input is a prefix, which stands for the objects below it.
    pub fn is_prefix(&self) -> bool {
        let address = self.path().and_then(|path| remote::address(path).ok().flatten());
        address.is_some_and(|address| address.is_prefix())
    }

    pub fn shown(&self) -> String {
        match self {
            Self::Stdin => "standard input".into(),
            Self::File(path) => shown(path),
        }
    }

    /// Returns a JSON object with the name of the input. `-` stands for standard input.
    pub fn fields(&self) -> Map<String, Value> {
        with_path(self.path().unwrap_or(Path::new("-")))
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }
}

/// An open input.
pub struct Input {
    pub source: Source,
    pub data: Data,
    /// The attributes of a file; `None` for an object in a store.
    pub about: Option<About>,
    /// The folders of the file. The folders of an input stay open until the result is complete.
    pub found: Found,
    /// Whether several threads can read the input at any position. Objects, and regular files that were opened by name,
    /// can be read at any position.
    pub positioned: bool,
    /// The file that holds the data of a pipe.
    spool: Option<Draft>,
}

impl Input {
    pub fn open(source: &Source) -> Result<Self, Failure> {
        if let Some(address) = source.path().map_or(Ok(None), remote::address)? {
            return Self::object(source, &address);
        }
        let name = source.shown();
        let failed = |error| Failure::io("read", &name, &error);
        let disk::Input { file, about, found } = match source {
            Source::Stdin => {
                let file = streams::stdin()?;
                disk::Input { about: About::of_file(&file).map_err(failed)?, file, found: Found::default() }
            }
            Source::File(path) => {
                held::open(path, OpenMode::WAITING).map_err(|error| Failure::path("read", path, &error))?
            }
        };
        if about.kind == FileKind::Fifo {
            widen(&file);
        }
        if let (Source::File(path), Some(real)) = (source, &found.real) {
            recover::settle(path, real, &file, &about)?;
        }
        // Standard input can be a file that was already read in part, so standard input is always read as a stream. A
        // file of length 0 can be a file in /proc. The system makes the contents of a file in /proc when the file is
        // read.
        let positioned = about.is_file() && about.length > 0 && *source != Source::Stdin;
        Ok(Self { source: source.clone(), data: Data::File(file), about: Some(about), found, positioned, spool: None })
    }

    fn object(source: &Source, address: &Address) -> Result<Self, Failure> {
        if address.is_prefix() {
            let message = format!("{address} names a bucket or a prefix, and not an object");
            let hint = "name one object: its key does not end with a slash; rewrap --recursive takes prefixes";
            return Err(Failure::usage(message, hint));
        }
        let object = Object::open(&remote::store(address)?, address).map_err(|error| Failure::store(&error))?;
        let (data, found) = (Data::from_object(object), Found::default());
        Ok(Self { source: source.clone(), data, about: None, found, positioned: true, spool: None })
    }

    /// Copies the data of a pipe to a temporary file in the current folder, so that all positions can be read. Other
    /// inputs stay as they are.
    ///
    /// `start` holds the bytes that were already read.
    pub fn spooled(self, start: &[u8]) -> Result<Self, Failure> {
        if self.positioned || self.is_folder() {
            return Ok(self);
        }
        let spool = Self::spool(start.chain(&self.data), &self.shown(), false)?;
        self.replaced(spool)
    }

    /// Does the same for sealed data. Also removes armor, and the page around it.
    pub fn spooled_sealed(self) -> Result<Self, Failure> {
        let name = self.shown();
        let Unwrapped { bytes, armored, .. } =
            Unwrapped::begun(Vec::new(), &self.data).map_err(|error| Failure::seal(&name, error))?;
        if self.positioned && !armored {
            drop(bytes);
            (&self.data).rewind().map_err(|error| Failure::io("read", &name, &error))?;
            return Ok(self);
        }
        let spool = Self::spool(bytes, &name, armored)?;
        self.replaced(spool)
    }

    fn replaced(self, spool: Draft) -> Result<Self, Failure> {
        let again = |error: io::Error| unspooled(&error);
        let about = Some(About::of_file(spool.file()).map_err(again)?);
        let data = Data::File(spool.file().try_clone().map_err(again)?);
        Ok(Self { about, data, positioned: true, spool: Some(spool), ..self })
    }

    fn spool(mut data: impl Read, name: &str, armored: bool) -> Result<Draft, Failure> {
        let here = held::way(Path::new(".")).map_err(|error| unspooled(&error))?;
        let spool = Draft::create_in(here.folder(), OsStr::new("input"));
        let spool = spool.map_err(|error| unspooled(&io::Error::other(error)))?;
        let (mut file, mut buffer) = (spool.file(), vec![0; 1 << 20]);
        loop {
            let read = match data.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if armored && error.raw_os_error().is_none() => {
                    let why = Failure::seal(name, Error::Read(error)).message;
                    say(&format!("note: {why}; what comes before it is read"));
                    break;
                }
                read => read.map_err(|error| Failure::seal(name, Error::Read(error)))?,
            };
            if read == 0 {
                break;
            }
            file.write_all(&buffer[..read]).map_err(|error| unspooled(&error))?;
        }
        file.rewind().map_err(|error| unspooled(&error))?;
        Ok(spool)
    }

    /// Returns the file, or `None` if the input is an object.
    pub fn file(&self) -> Option<&File> {
        self.data.file()
    }

    /// Prints a note that the program waits for input, if the input is the terminal.
    pub fn announce(&self) {
        if self.is_terminal() {
            say("note: reading from the terminal; name a FILE instead, or end the input with Ctrl-D");
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.spool.is_none() && self.source == Source::Stdin && self.file().is_some_and(File::is_terminal)
    }

    /// Returns an error with this hint if the input is a folder.
    pub fn file_only(self, hint: &str) -> Result<Self, Failure> {
        if self.is_folder() { Err(Failure::usage(format!("{} is a folder", self.shown()), hint)) } else { Ok(self) }
    }

    pub fn folder(&self) -> Result<Folder, Failure> {
        let path = self.source.path().unwrap_or(Path::new("."));
        let opened = self.file().map_or(Err(io::ErrorKind::NotADirectory.into()), |file| {
            file.try_clone().and_then(|file| Folder::from_file(file, path))
        });
        opened.map_err(|error| Failure::path("read", path, &error))
    }

    pub fn is_folder(&self) -> bool {
        self.about.is_some_and(|about| about.is_folder())
    }

    pub fn shown(&self) -> String {
        self.source.shown()
    }

    /// Returns a reader of the data. A file is read up to the length that it had when it was opened. If the file
    /// becomes shorter after it was opened, reading fails.
    pub fn reader(&self) -> Reader<'_> {
        Reader { data: &self.data, left: self.length().filter(|_| self.positioned) }
    }

    /// Returns a reader at any position. Several readers of an input do not disturb each other.
    pub fn anywhere(&self) -> Cursor<&dyn ReadAt> {
        Cursor::new(&self.data as &dyn ReadAt, self.length().unwrap_or_default())
    }

    pub fn length(&self) -> Option<u64> {
        match &self.about {
            Some(about) => about.is_file().then_some(about.length),
            None => self.data.object().map(Object::length),
        }
    }
}

fn unspooled(error: &io::Error) -> Failure {
    Failure::io("write", "a temporary file in this folder", error)
}

/// Whether a path leads to a FIFO, a socket or a device. Opening a FIFO waits for its writer.
pub fn is_special(path: &Path) -> bool {
    !remote::is_address(path) && About::of_path(path).is_ok_and(|about| !about.is_file() && !about.is_folder())
}

/// A reader of an input's data.
pub struct Reader<'a> {
    data: &'a Data,
    /// The number of bytes that are still to be read from the file, if its length is known.
    left: Option<u64>,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left else { return (&*self.data).read(buffer) };
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let read = (&*self.data).read(&mut buffer[..most])?;
        if read == 0 {
            return Err(Failure::seal("", Error::Shrank).into_io());
        }
        self.left = Some(left - read as u64);
        Ok(read)
    }
}

/// Enlarges a pipe to one mebibyte: with the usual 64 KiB, reader and writer mostly wait for each other. If the system
/// refuses, the pipe keeps its size.
pub fn widen(pipe: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
