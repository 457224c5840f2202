//! Packs folders and files into a stream.

mod job;
mod links;
mod source;

pub use job::Job;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::entry::{Entry, Kind, Time};
use crate::error::{Action, Error, Refusal, words};
use crate::frame::{Frame, Stage};
use crate::index::write::Slot;
use crate::note::{Notes, What};
use crate::shown::{shown, shown_path};
use crate::tar::form::LONGEST_PAX;
use crate::tar::write::About as Headers;
use crate::walk::{Missed, Node, Walk};
use deadpan_disk::{self as disk, About, Attribute, FileId, FileKind, Folder, Handle, Start, most_open_files};
use deadpan_sieve::{Heed, Rules};
use job::{Piece, Shared};
use links::Links;
use source::{Extents, Source};

/// A job may keep at most this many files open until it is completed.
const LEFT_OPEN: usize = 200;
/// This number of open files is reserved for other uses, and is subtracted from the number that the process may have
/// open. Jobs keep at most half of the remaining number of files open.
const LEFT_FREE: usize = 32;

/// The maximum number of bytes of the extended attributes of an entry. The rest of a pax header is reserved for paths.
const MOST_XATTRS: usize = LONGEST_PAX as usize - (256 << 10);

/// Options for packing a folder.
#[derive(Clone, Debug, Default)]
pub struct Packing {
    /// Store the user and group numbers of the owners.
    pub owner: bool,
    /// Record extended attributes.
    pub xattrs: bool,
    /// Make the same bytes from the same contents: record 1970 for all times, no owners and no holes.
    pub deterministic: bool,
    /// Skip entries that cannot be read, instead of returning an error. Pack zeros in place of the parts of a file that
    /// cannot be read or were cut off.
    pub keep_going: bool,
    /// What is left out. `/proc`, `/sys` and `/dev` are always left out, unless the packing begins with them.
    pub rules: Rules,
    /// A file to skip: the output file, if it is in the packed folder.
    pub except: Option<FileId>,
    /// The output file or its name. If the output is in the packed folder, packing skips the output and adds a note.
    pub output: Option<OutputPlace>,
}

/// The output of a pack, which may be inside the folder that is packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// An open file. The file is not packed, under whichever name it occurs.
    File(FileId),
    /// The name that the pack receives as soon as it is complete. If the pack will replace an existing file, packing
    /// still includes this file under its other names.
    Name {
        /// The folder of the name.
        folder: FileId,
        /// The name in that folder.
        name: Vec<u8>,
    },
}

/// Packs a folder into a stream of bytes, which is divided into chunks.
///
/// [`Packer::take`] decides which entries belong to a chunk and opens their files, in order. [`Job::complete`] reads
/// and hashes the files, on any thread.
pub struct Packer {
    walk: Walk,
    /// The root's name and a `/`.
    root: Vec<u8>,
    root_about: Option<About>,
    options: Packing,
    shared: Arc<Shared>,
    frame: Frame,
    /// The file whose content comes next, after the bytes that `frame` still has to return.
    content: Option<Stored>,
    links: Links,
    entries: u64,
    size: u64,
}

/// An entry that is packed.
struct Found {
    path: Vec<u8>,
    about: About,
    what: Content,
}

enum Content {
    Folder,
    File(std::fs::File),
    /// A link of this kind, with its target.
    Link(Kind, Vec<u8>),
}

/// A file whose content is being assigned to chunks.
struct Stored {
    source: Arc<Source>,
    extents: Extents,
    /// How many bytes of the stored content were already assigned to a chunk.
    given: u64,
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl Packer {
    /// Starts to pack the folder at `folder`; `name` is the folder's name in the pack.
    ///
    /// # Errors
    /// If the folder cannot be read, or `name` is not a file name.
    pub fn new(folder: &Path, name: &[u8], options: Packing) -> Result<Self, Error> {
        Self::pack_open(Folder::open(folder).map_err(|error| unreadable(folder, error))?, name, options)
    }

    /// Starts to pack an open folder; `name` is the root's name in the pack.
    ///
    /// # Errors
    /// If the folder cannot be read, or `name` is not a file name.
    pub fn pack_open(folder: Folder, name: &[u8], options: Packing) -> Result<Self, Error> {
        check_name(name)?;
        let about = folder.about().map_err(|error| unreadable(&folder.path(), error))?;
        let walk = disk::Walk::new(folder);
        Ok(Self::start(walk.map_err(|error| unreadable(Path::new("the folder"), error))?, about, name, options))
    }

    /// Starts to pack several files and folders. In the pack, they lie in a folder that is called `name`. This folder
    /// has the mode 755, and the owner and the latest time of the files and folders.
    ///
    /// # Errors
    /// If a file or folder does not exist, or `name` is not a file name.
    pub fn gather(starts: BTreeMap<OsString, Start>, name: &[u8], options: Packing) -> Result<Self, Error> {
        check_name(name)?;
        let mut about: Option<About> = None;
        for (name, start) in &starts {
            match start.about() {
                Ok(one) => {
                    let latest = about.map_or(one.modified, |about| about.modified.max(one.modified));
                    let about = about.get_or_insert(About { kind: FileKind::Folder, mode: 0o755, ..one });
                    about.modified = latest;
                }
                // The walk makes a note of it.
                Err(_) if options.keep_going => {}
                Err(error) => return Err(unreadable(Path::new(name), error)),
            }
        }
        let about = about.ok_or(Refusal::Empty)?;
        let walk = disk::Walk::gather(starts).map_err(|error| unreadable(Path::new("the inputs"), error))?;
        Ok(Self::start(walk, about, name, options))
    }

    fn start(walk: disk::Walk, about: About, name: &[u8], mut options: Packing) -> Self {
        options.rules.system = true;
        Self {
            walk: Walk::new(walk, options.rules.clone()),
            root: [name, b"/"].concat(),
            root_about: Some(about),
            shared: Arc::new(Shared::new(options.keep_going, most_open_files().saturating_sub(LEFT_FREE) / 2)),
            options,
            frame: Frame::new(),
            content: None,
            links: Links::default(),
            entries: 0,
            size: 0,
        }
    }

    /// The notes. The notes are complete after all jobs are completed.
    #[must_use]
    pub fn notes(&self) -> Notes {
        self.shared.notes.lock().clone()
    }

    /// The number of entries so far.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The total size of the files that were packed so far, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether the whole pack was taken.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.frame.ended()
    }

    /// Takes the next chunk. Fills `buffer`, except for the ranges that the returned job will fill. Returns the length
    /// of the chunk, which is shorter than the buffer only at the end.
    ///
    /// # Errors
    /// If a folder or a file cannot be read.
    pub fn take(&mut self, buffer: &mut [u8]) -> Result<(usize, Job), Error> {
        let mut job = Job::new(&self.shared);
        let mut filled = 0;
        while filled < buffer.len() {
            let given = self.frame.give(&mut buffer[filled..]);
            if given > 0 {
                filled += given;
                continue;
            }
            if let Some(content) = &mut self.content {
                if let Some(piece) = content.piece(filled, buffer.len() - filled) {
                    filled += piece.range.len();
                    self.frame.pass(piece.range.len());
                    if job.pieces() < LEFT_OPEN && self.shared.has_room() {
                        job.add(piece);
                    } else {
                        job.at_once(piece, buffer)?;
                    }
                    continue;
                }
                self.frame.fill_block(content.source.stored);
                self.content = None;
                continue;
            }
            if self.frame.stage() == Stage::Index {
                // The remaining index also contains the hashes of the files in this chunk.
                job.now(&mut buffer[..filled])?;
            }
            if !self.next()? {
                break;
            }
        }
        Ok((filled, job))
    }

    /// Makes the next bytes ready. Returns false at the end.
    fn next(&mut self) -> Result<bool, Error> {
        match self.frame.stage() {
            Stage::Entries => {
                let mut index = self.shared.index();
                if index.is_too_long() {
                    return Err(Refusal::TooMany.into());
                }
                if self.frame.block(&mut index) {
                    return Ok(true);
                }
                drop(index);
                if let Some(about) = self.root_about.take() {
                    self.folder(Vec::new(), &about)?;
                } else if !self.node()? {
                    self.frame.end_archive();
                }
                Ok(true)
            }
            Stage::Index => {
                // This call waits until the files of all other chunks are hashed.
                self.frame.index(&mut *self.shared.settled()?);
                Ok(true)
            }
            Stage::Nothing => Ok(false),
        }
    }

    /// Adds the next entry of the tree. Returns false at the end.
    fn node(&mut self) -> Result<bool, Error> {
        let Some(found) = self.find()? else { return Ok(false) };
        match found {
            None => {}
            Some(Found { path, about, what: Content::Folder }) => self.folder(path, &about)?,
            Some(Found { path, about, what: Content::File(file) }) => self.file(path, file, &about)?,
            Some(Found { path, about, what: Content::Link(kind, target) }) => self.plain(path, kind, &about, target),
        }
        Ok(true)
    }

    /// Returns the next entry that would be packed, or `None` at the end. The entry has no place in the pack. After the
    /// first call, the packer can only be used to look at the rest.
    ///
    /// # Errors
    /// The errors of packing, except for those of reading the contents of files.
    pub fn preview(&mut self) -> Result<Option<Entry>, Error> {
        if let Some(about) = self.root_about.take() {
            self.entries += 1;
            return Ok(Some(self.entry(Vec::new(), Kind::Folder, &about)));
        }
        loop {
            let Some(found) = self.find()? else { return Ok(None) };
            let Some(Found { path, about, what }) = found else { continue };
            self.entries += 1;
            return Ok(Some(match what {
                Content::Folder => self.entry(path, Kind::Folder, &about),
                Content::File(_) => {
                    self.size += about.length;
                    Entry { size: about.length, ..self.entry(path, Kind::File, &about) }
                }
                Content::Link(kind, target) => Entry { target: Some(target), ..self.entry(path, kind, &about) },
            }));
        }
    }

    /// The root's name in the pack.
    #[must_use]
    pub fn root(&self) -> &[u8] {
        &self.root[..self.root.len() - 1]
    }

    /// The number of files that were left out so far because of their length.
    #[must_use]
    pub fn larger(&self) -> u64 {
        self.walk.larger()
    }

    /// Goes to the next entry of the tree. Returns `None` at the end, and `Some(None)` if the entry is left out.
    fn find(&mut self) -> Result<Option<Option<Found>>, Error> {
        let next = self.walk.next()?;
        self.walk.alike().iter().for_each(|path| self.shared.note(path, What::Alike));
        for remark in self.walk.remarks() {
            let what = match remark.what {
                Heed::System => What::System,
                Heed::Mounted => What::Mounted,
                Heed::NoFile => What::UnusedPatterns,
                Heed::Unread(error) if self.options.keep_going => What::UnreadPatterns(words(&error)),
                Heed::Unread(error) => {
                    return Err(Error::Entry { action: Action::ReadPatterns, path: shown(&remark.path), error });
                }
            };
            self.shared.note(&remark.path, what);
        }
        let (node, about) = match next {
            None => return Ok(None),
            Some(Ok(found)) => found,
            Some(Err(missed)) => {
                let what = match missed {
                    Missed::LeftOut => return Ok(Some(None)),
                    Missed::Gone => What::Gone,
                    Missed::Special => What::Special,
                    Missed::Unreadable(error) if self.options.keep_going => What::Unreadable(error.cause()),
                    Missed::Unreadable(error) => return Err(error),
                };
                self.shared.note(self.walk.path(), what);
                return Ok(Some(None));
            }
        };
        let path = self.walk.path().to_vec();
        let what = match node {
            Node::Folder => Content::Folder,
            _ if self.is_output(&path, &about) => {
                self.shared.note(&path, What::Output);
                return Ok(Some(None));
            }
            Node::File(_) if self.options.except == Some(about.id) => return Ok(Some(None)),
            node => match (self.other_name(&path, &about), node) {
                (Some(first), _) => Content::Link(Kind::HardLink, first),
                (None, Node::SymbolicLink(target)) => Content::Link(Kind::SymbolicLink, target),
                (None, Node::File(file)) => Content::File(file),
                (None, Node::Folder) => Content::Folder,
            },
        };
        Ok(Some(Some(Found { path, about, what })))
    }

    /// Whether the path is the output file itself, or the name that the output will have.
    fn is_output(&self, path: &[u8], about: &About) -> bool {
        match &self.options.output {
            None => false,
            Some(OutputPlace::File(id)) => about.id == *id,
            Some(OutputPlace::Name { folder, name }) => {
                let above = || self.walk.folder()?.about().ok();
                crate::path::name(path) == name && above().is_some_and(|above| above.id == *folder)
            }
        }
    }

    /// If the same file or symbolic link was packed before, returns the path under which it was packed.
    fn other_name(&mut self, path: &[u8], about: &About) -> Option<Vec<u8>> {
        if about.links < 2 {
            return None;
        }
        let (device, number) = about.id.key();
        self.links.first(device, number, path)
    }

    fn folder(&mut self, path: Vec<u8>, about: &About) -> Result<(), Error> {
        let xattrs = self.walk.folder().map(|folder| self.xattrs(&path, folder)).transpose()?.unwrap_or_default();
        self.add(self.entry(path, Kind::Folder, about), about, &xattrs);
        Ok(())
    }

    /// Reads extended attributes, if the options ask for them. If the attributes are too large for the headers, they
    /// are omitted, and a note reports this.
    fn xattrs(&self, path: &[u8], handle: &impl Handle) -> Result<Vec<Attribute>, Error> {
        if !self.options.xattrs {
            if handle.has_access_list() {
                self.shared.note(path, What::AccessList);
            }
            return Ok(Vec::new());
        }
        let why = match handle.attributes() {
            Ok(found)
                if found.iter().map(|(name, value)| 3 * name.len() + value.len() + 32).sum::<usize>()
                    <= MOST_XATTRS =>
            {
                return Ok(found);
            }
            Ok(_) => "they are too large for an archive".to_owned(),
            Err(error) if self.options.keep_going => words(&error),
            Err(error) => {
                return Err(Error::Entry { action: Action::ReadAttributes, path: shown(path), error });
            }
        };
        self.shared.note(path, What::Bare(why));
        Ok(Vec::new())
    }

    /// Adds a link.
    fn plain(&mut self, path: Vec<u8>, kind: Kind, about: &About, target: Vec<u8>) {
        let entry = Entry { target: Some(target), ..self.entry(path, kind, about) };
        self.add(entry, about, &[]);
    }

    fn file(&mut self, path: Vec<u8>, file: std::fs::File, about: &About) -> Result<(), Error> {
        let size = about.length;
        // Holes are not stored if the pack must be deterministic, because files with equal contents can have different
        // holes on different file systems.
        let extents = if self.options.deterministic { Extents::whole(size) } else { Extents::with_data(&file, about) };
        let xattrs = self.xattrs(&path, &file)?;
        let map = extents.map(size);
        let stored = map.len() as u64 + extents.length();
        let kind = if map.is_empty() { Kind::File } else { Kind::Sparse };
        let entry = Entry { size, stored, ..self.entry(path, kind, about) };
        self.size += size;
        let path = entry.path.clone();
        let Some(slot) = self.add(entry, about, &xattrs) else { return Ok(()) };
        let source = Arc::new(Source::new(path, file, about, stored, slot));
        // A file may become shorter before its holes are listed: then the missing end looks like a hole, so reading
        // does not fail.
        if kind == Kind::Sparse && source.is_short() {
            self.shared.shrank(&source)?;
        }
        if stored == 0 {
            self.shared.index().set(slot, blake3::hash(&[]).as_bytes());
            return Ok(());
        }
        if let Some(hash) = source.see(0, &map, map.len() as u64 == stored) {
            self.shared.index().set(slot, &hash);
        }
        self.frame.add(&map);
        self.content = Some(Stored { source, extents, given: map.len() as u64 });
        Ok(())
    }

    /// Returns the entry without the fields that are set when its headers are written.
    fn entry(&self, path: Vec<u8>, kind: Kind, about: &About) -> Entry {
        let modified = if self.options.deterministic { Time::default() } else { time_of(about) };
        let mode = about.mode;
        Entry {
            path,
            kind,
            mode,
            modified,
            size: 0,
            begin: self.frame.end(),
            content: 0,
            stored: 0,
            hash: None,
            target: None,
        }
    }

    fn add(&mut self, mut entry: Entry, about: &About, xattrs: &[(Vec<u8>, Vec<u8>)]) -> Option<Slot> {
        let mut path = [self.root.as_slice(), &entry.path].concat();
        let (kind, target) = match entry.kind {
            Kind::File | Kind::Sparse => (b'0', Vec::new()),
            Kind::Folder => (b'5', Vec::new()),
            Kind::SymbolicLink => (b'2', entry.target.clone().unwrap_or_default()),
            Kind::HardLink => (b'1', [self.root.as_slice(), entry.target.as_deref().unwrap_or_default()].concat()),
        };
        if entry.kind == Kind::Folder && !entry.path.is_empty() {
            path.push(b'/');
        }
        let owner = if self.options.owner && !self.options.deterministic { (about.owner, about.group) } else { (0, 0) };
        self.frame.headers(&Headers {
            path: &path,
            kind,
            mode: entry.mode,
            owner,
            stored: entry.stored,
            modified: entry.modified,
            target: &target,
            real_size: (entry.kind == Kind::Sparse).then_some(entry.size),
            xattrs,
        });
        entry.content = self.frame.end();
        self.entries += 1;
        self.shared.index().add(&entry)
    }
}

impl Stored {
    /// Returns the next range of the content as a piece of at most `room` bytes. The job reads this piece into the
    /// buffer at offset `filled`.
    fn piece(&mut self, filled: usize, room: usize) -> Option<Piece> {
        let (offset, length) = self.extents.take(room as u64)?;
        let piece = Piece {
            source: Arc::clone(&self.source),
            range: filled..filled + length as usize,
            offset,
            stored: self.given,
        };
        self.given += length;
        Some(piece)
    }
}

fn check_name(name: &[u8]) -> Result<(), Error> {
    if matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, b'/' | 0)) || name.len() > 255 {
        return Err(Refusal::NoName.into());
    }
    Ok(())
}

fn unreadable(folder: &Path, error: io::Error) -> Error {
    Error::Entry { action: Action::Read, path: shown_path(folder), error }
}

fn time_of(about: &About) -> Time {
    let (seconds, nanoseconds) = about.modified;
    Time { seconds, nanoseconds }
}
