//! Seals or opens one of many objects.

use std::any::Any;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::command::many::readers::Readers;
use crate::command::open::attributes;
use crate::command::seal::{FormatArg, armored, portable};
use crate::key::identity::Identities;
use crate::key::signed::Judge;
use crate::place::ending::ENDINGS;
use crate::place::partial::Partial;
use crate::place::remote;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::{self as disk, Replace};
use deadpan_fleet::{About, Act, Divided, Foreign, Landing, Results, Stamp, TreeFile};
use deadpan_remote::{Address, Canceller};
use deadpan_seal::{Error as SealError, Kind, Metadata, Opened, Sealing, Work};

/// The options for making results in folders.
pub struct FolderResults {
    pub sync: bool,
    /// The bits that are removed from the modes of files.
    pub mask: u32,
}

impl Results for FolderResults {
    fn create(&self, place: &TreeFile, replace: bool) -> Result<Box<dyn Landing + '_>, Foreign> {
        let path = place.path();
        let spot = place.spot_to_make().map_err(|error| uncreated(&path, &error))?;
        Ok(Box::new(Draft { partial: Partial::create_at(&spot, &path)?, length: 0, path, replace, files: self }))
    }

    fn create_folder(&self, place: &TreeFile, mode: u32) -> Result<bool, Foreign> {
        // A later run may put results into the folder.
        let mode = mode & 0o777 & !self.mask | 0o700;
        Ok(place.make_folder(mode).map_err(|error| uncreated(&place.path(), &error))?)
    }

    fn watch(&self, canceller: Canceller, target: &Address) -> Box<dyn Any> {
        Box::new(remote::guard(canceller, target.to_string()))
    }
}

/// Returns the failure for a folder that cannot be made, or cannot be entered.
fn uncreated(path: &Path, error: &io::Error) -> Failure {
    let hint = "remove it, or choose another folder with --to";
    match error.kind() {
        // Links are refused, because a link could lead to any folder.
        io::ErrorKind::NotADirectory => {
            let message = format!("a part of {} is a link or a file, and results go into real folders", shown(path));
            Failure::usage(message, hint)
        }
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} is not a folder, and an empty folder goes there", shown(path)), hint)
        }
        _ => Failure::path("create", path, error),
    }
}

struct Draft<'a> {
    partial: Partial,
    /// The number of bytes so far. Zeros at the end are not written.
    length: u64,
    path: PathBuf,
    replace: bool,
    files: &'a FolderResults,
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        disk::write_sparse(self.partial.file(), self.length, bytes)?;
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Landing for Draft<'_> {
    fn stamp(&mut self, stamp: Stamp) {
        stamp.put(self.partial.file());
    }

    fn land(self: Box<Self>, metadata: &Metadata) -> Result<bool, Foreign> {
        let Self { partial, length, path, replace, files } = *self;
        partial.file().set_len(length).map_err(|error| Failure::path("write", &path, &error))?;
        let attributes = attributes(metadata, files.mask);
        let landed = match replace {
            true => partial.land(attributes, Replace::Any, files.sync).map(|()| true),
            false => partial.land_if_free(attributes, files.sync),
        };
        match disk::About::of_name(&path) {
            Ok(about) if !about.is_file() && !matches!(landed, Ok(true)) => {
                let message = format!("{} is not a file, and results replace files only", shown(&path));
                Err(Failure::usage(message, "remove it, or choose another folder with --to").into())
            }
            _ => Ok(landed?),
        }
    }
}

/// Seals each object to the same recipients.
pub struct Sealings<'a> {
    pub sealing: &'a Sealing,
    pub format: FormatArg,
    pub armor: bool,
    /// A lock for sealing with a passphrase. Hashing a passphrase takes 256 MiB of memory, so only one object at a time
    /// is sealed with a passphrase.
    pub turn: Option<Mutex<()>>,
    /// The recipients for whom existing results must be sealed. `None` if the results are objects in a store.
    pub readers: Option<&'a Readers>,
}

impl Sealings<'_> {
    fn sealing_for(&self, about: &About) -> Result<Sealing, Foreign> {
        let name = about.name.rsplit('/').next().unwrap_or_default();
        let metadata = Metadata {
            kind: Kind::File,
            name: portable(name.as_bytes()),
            modified: Some(about.modified),
            mode: about.mode,
        };
        Ok(self.sealing.clone().metadata(metadata)?)
    }

    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.turn.as_ref().map(Mutex::lock)
    }
}

impl Act for Sealings<'_> {
    fn verb(&self) -> &'static str {
        "seal"
    }

    fn target(&self, name: &str) -> Option<String> {
        Some(format!("{name}{}", self.format.ending()))
    }

    fn source(&self, result: &str) -> Option<String> {
        let source = result.strip_suffix(self.format.ending())?;
        (!source.is_empty() && !source.ends_with('/')).then(|| source.to_owned())
    }

    fn has_made(&self, result: &mut (dyn Read + Send)) -> io::Result<bool> {
        match Sealed::begun(Vec::new(), result) {
            Ok(sealed) => Ok(sealed.header.format() == self.format.into()),
            Err(SealError::Read(error)) if error.raw_os_error().is_some() => Err(error),
            Err(_) => Ok(false),
        }
    }

    fn check(&self, result: &TreeFile) -> Result<(), Foreign> {
        self.readers.map_or(Ok(()), |readers| Ok(readers.check(result)?))
    }

    fn whole(&self, about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        let (sealing, _turn) = (self.sealing_for(about)?, self.turn());
        if self.armor {
            let mut sealed = Vec::new();
            armored(self.format, &mut sealed, |armor| sealing.seal_stream(data, armor, &Work::default()))?;
            return Ok(Some((sealed, Metadata::default())));
        }
        Ok(Some((sealing.seal(data)?, Metadata::default())))
    }

    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        let (sealing, _turn) = (self.sealing_for(about)?, self.turn());
        if self.armor {
            armored(self.format, to, |armor| sealing.seal_stream(from, armor, &Work::default()))?
        } else {
            sealing.seal_stream(from, to, &Work::default())?
        };
        Ok(Metadata::default())
    }

    fn divide(&self, about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        if self.armor { Ok(None) } else { Ok(Some(Divided::Seal(self.sealing_for(about)?))) }
    }
}

/// Opens each object with the same keys.
pub struct Opening {
    keys: Mutex<(Identities, Judge)>,
    /// Whether at least one object has a name without the extension of a sealed file.
    is_other: AtomicBool,
}

impl Opening {
    pub fn new(identities: Identities, judge: Judge) -> Self {
        Self { keys: Mutex::new((identities, judge)), is_other: AtomicBool::new(false) }
    }

    fn begin<'a>(&self, about: &About, from: impl Read + Send + 'a) -> Result<(Opened, Sealed<'a>), Failure> {
        let sealed = Sealed::begun(Vec::new(), from).map_err(|error| Failure::seal(&about.shown, error))?;
        let opened = self.keys.lock().0.open(&about.shown, &sealed)?;
        if opened.metadata().kind == Kind::Folder {
            let message = format!("{}: it holds a folder, which is not opened among many objects", about.shown);
            return Err(Failure::new(Exit::Usage, message, "open it in a command of its own, into a folder here"));
        }
        Ok((opened, sealed))
    }

    fn write(
        &self,
        about: &About,
        opened: Opened,
        sealed: Sealed<'_>,
        to: impl Write + Send,
    ) -> Result<Metadata, Foreign> {
        let summary = opened.open_stream(sealed.payload, to, &Work::default())?;
        let keys = self.keys.lock();
        keys.1.verdict(&about.shown, &opened, summary.signatures.as_ref())?;
        if let Some(own) = self.target(&about.name).as_deref().and_then(|target| Path::new(target).file_name()) {
            keys.1.own_name(&about.shown, &opened, own)?;
        }
        Ok(opened.metadata().clone())
    }
}

impl Act for Opening {
    fn verb(&self) -> &'static str {
        "open"
    }

    fn target(&self, name: &str) -> Option<String> {
        let bare = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
        if bare.is_none() {
            self.is_other.store(true, Ordering::Relaxed);
        }
        bare.map(str::to_owned)
    }

    fn remark(&self) -> Option<String> {
        let is_other = self.is_other.load(Ordering::Relaxed);
        is_other.then(|| "names that do not end with .dpn or .age are left out".into())
    }

    fn whole(&self, about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        let (opened, sealed) = self.begin(about, Cursor::new(data))?;
        if opened.is_compressed() {
            // The data may be much longer than the sealed file.
            return Ok(None);
        }
        let mut plain = Vec::with_capacity(data.len());
        let metadata = self.write(about, opened, sealed, &mut plain)?;
        Ok(Some((plain, metadata)))
    }

    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        let (opened, sealed) = self.begin(about, from)?;
        self.write(about, opened, sealed, to)
    }

    fn divide(&self, about: &About, start: &[u8]) -> Result<Option<Divided>, Foreign> {
        let (opened, sealed) = self.begin(about, Cursor::new(start.to_vec()))?;
        if sealed.armored {
            return Ok(None);
        }
        if !opened.is_signed() {
            self.keys.lock().1.verdict(&about.shown, &opened, None)?;
        }
        Ok(Some(Divided::Open(Arc::new(opened))))
    }
}

/// Opens the parts of one object whose header was already opened.
pub struct OpenedParts(pub Arc<Opened>);

/// Returns the error for an operation that needs the whole object and not only its parts.
fn whole_only() -> Foreign {
    Failure::new(Exit::System, "the object cannot be opened in parts", "open it into a file here").into()
}

impl Act for OpenedParts {
    fn verb(&self) -> &'static str {
        "open"
    }

    fn target(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    fn whole(&self, _about: &About, _data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        Err(whole_only())
    }

    fn stream(
        &self,
        _: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        let skipped = io::copy(&mut from.take(self.0.header_length()), &mut io::sink())?;
        if skipped < self.0.header_length() {
            return Err(whole_only());
        }
        self.0.open_stream(from, to, &Work::default())?;
        Ok(self.0.metadata().clone())
    }

    fn divide(&self, _about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        Ok(Some(Divided::Open(Arc::clone(&self.0))))
    }
}
