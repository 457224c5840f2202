//! Sealing and opening one of many objects.

use std::any::Any;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::failure::{Exit, Failure};
use crate::identity::Identities;
use crate::partial::{Attributes, Landing as Land, Partial, folder_of};
use crate::seal::{ENDINGS, FormatArg, armored};
use crate::sealed::Sealed;
use crate::shown::shown;
use crate::signals;
use crate::signed::Judge;
use deadpan_fleet::{About, Act, Divided, Foreign, Landing};
use deadpan_remote::Canceller;
use deadpan_seal::{Kind, Metadata, Opened, Sealing, Work};

/// How results that are files get their names.
pub struct Files {
    /// The folder that all of them lie in.
    pub folder: PathBuf,
    pub sync: bool,
    /// The bits that are removed from a mode.
    pub mask: u32,
}

impl Files {
    /// Begins a file, in folders that are made where they are missing.
    fn create(&self, path: &Path, replace: bool) -> Result<Box<dyn Landing>, Foreign> {
        let folder = folder_of(path);
        // A link that is there already could lead anywhere.
        let inside =
            folder.ancestors().take_while(|folder| folder.starts_with(&self.folder) && **folder != self.folder);
        for folder in inside {
            if fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink()) {
                let message = format!("{} is a link, and results go into real folders", shown(folder));
                return Err(Failure::usage(message, "remove the link, or choose another folder with --to").into());
            }
        }
        fs::create_dir_all(folder).map_err(|error| Failure::path("create", folder, &error))?;
        let (sync, mask) = (self.sync, self.mask);
        Ok(Box::new(Draft { partial: Partial::create(path)?, replace, sync, mask }))
    }
}

struct Draft {
    partial: Partial,
    replace: bool,
    sync: bool,
    mask: u32,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.partial.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Landing for Draft {
    fn land(self: Box<Self>, metadata: &Metadata) -> Result<(), Foreign> {
        let Self { partial, replace, sync, mask } = *self;
        let usual = Attributes::usual();
        let mode = metadata.mode.map_or(usual.mode, |mode| mode & 0o777 & !mask);
        let attributes = Attributes { mode, modified: metadata.modified };
        Ok(partial.land(attributes, Land { replace, sync })?)
    }
}

/// Ends an upload if the user ends the command early.
fn watch(canceller: Canceller) -> Box<dyn Any> {
    Box::new(signals::guard(move || _ = canceller.cancel()))
}

/// Seals each object to the same recipients.
pub struct Sealings<'a> {
    pub sealing: &'a Sealing,
    pub format: FormatArg,
    pub armor: bool,
    pub files: Files,
}

impl Sealings<'_> {
    fn of(&self, about: &About) -> Result<Sealing, Foreign> {
        let name = about.name.rsplit('/').next().unwrap_or_default();
        let metadata = Metadata {
            kind: Kind::File,
            // On Windows, a backslash separates folders.
            name: (!name.contains('\\')).then(|| name.as_bytes().to_vec()),
            modified: Some(about.modified),
            mode: about.mode,
        };
        Ok(self.sealing.clone().metadata(metadata)?)
    }
}

impl Act for Sealings<'_> {
    fn verb(&self) -> &'static str {
        "seal"
    }

    fn target(&self, name: &str) -> Option<String> {
        Some(format!("{name}{}", self.format.ending()))
    }

    fn whole(&self, about: &About, data: &[u8]) -> Result<(Vec<u8>, Metadata), Foreign> {
        let sealing = self.of(about)?;
        if self.armor {
            let mut sealed = Vec::new();
            armored(self.format, &mut sealed, |armor| sealing.stream(data, armor, &Work::default()))?;
            return Ok((sealed, Metadata::default()));
        }
        Ok((sealing.bytes(data)?, Metadata::default()))
    }

    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        let sealing = self.of(about)?;
        match self.armor {
            true => armored(self.format, to, |armor| sealing.stream(from, armor, &Work::default()))?,
            false => sealing.stream(from, to, &Work::default())?,
        };
        Ok(Metadata::default())
    }

    fn divide(&self, about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        if self.armor { Ok(None) } else { Ok(Some(Divided::Seal(self.of(about)?))) }
    }

    fn watch(&self, canceller: Canceller) -> Box<dyn Any> {
        watch(canceller)
    }

    fn create(&self, path: &Path, replace: bool) -> Result<Box<dyn Landing + '_>, Foreign> {
        self.files.create(path, replace)
    }
}

/// Opens each object with the same keys.
pub struct Opening {
    pub keys: Mutex<(Identities, Judge)>,
    pub files: Files,
}

impl Opening {
    fn keys(&self) -> MutexGuard<'_, (Identities, Judge)> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin<'a>(&self, about: &About, from: impl Read + Send + 'a) -> Result<(Opened, Sealed<'a>), Failure> {
        let sealed = Sealed::begun(Vec::new(), from).map_err(|error| Failure::of(&about.shown, error))?;
        let opened = self.keys().0.open(&about.shown, &sealed)?;
        if opened.metadata().kind == Kind::Folder {
            let message = format!("{}: it holds a folder, which is not opened among many objects", about.shown);
            return Err(Failure::new(Exit::Usage, message, "open it in a command of its own, into a folder here"));
        }
        Ok((opened, sealed))
    }

    fn write(&self, about: &About, from: impl Read + Send, to: impl Write + Send) -> Result<Metadata, Foreign> {
        let (opened, sealed) = self.begin(about, from)?;
        let summary = opened.stream(sealed.payload, to, &Work::default());
        let summary = summary.map_err(|error| Failure::of(&about.shown, error))?;
        self.keys().1.verdict(&about.shown, summary.signatures.as_ref())?;
        Ok(opened.metadata().clone())
    }
}

impl Act for Opening {
    fn verb(&self) -> &'static str {
        "open"
    }

    fn target(&self, name: &str) -> Option<String> {
        let bare = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
        (!bare.is_empty() && !bare.ends_with('/')).then(|| bare.to_owned())
    }

    fn whole(&self, about: &About, data: &[u8]) -> Result<(Vec<u8>, Metadata), Foreign> {
        let mut plain = Vec::with_capacity(data.len());
        let metadata = self.write(about, Cursor::new(data), &mut plain)?;
        Ok((plain, metadata))
    }

    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        self.write(about, from, to)
    }

    fn divide(&self, about: &About, start: &[u8]) -> Result<Option<Divided>, Foreign> {
        let (opened, sealed) = self.begin(about, Cursor::new(start.to_vec()))?;
        if sealed.armored {
            return Ok(None);
        }
        if !opened.is_signed() {
            self.keys().1.verdict(&about.shown, None)?;
        }
        Ok(Some(Divided::Open(Arc::new(opened))))
    }

    fn watch(&self, canceller: Canceller) -> Box<dyn Any> {
        watch(canceller)
    }

    fn create(&self, path: &Path, replace: bool) -> Result<Box<dyn Landing + '_>, Foreign> {
        self.files.create(path, replace)
    }
}

/// Opens the parts of one object, whose header was opened.
pub struct Begun(pub Arc<Opened>);

/// What is asked only of an object that is not divided.
fn whole_only() -> Foreign {
    Failure::new(Exit::System, "the object cannot be opened in parts", "open it into a file here").into()
}

impl Act for Begun {
    fn verb(&self) -> &'static str {
        "open"
    }

    fn target(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    fn whole(&self, _about: &About, _data: &[u8]) -> Result<(Vec<u8>, Metadata), Foreign> {
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
        self.0.stream(from, to, &Work::default())?;
        Ok(self.0.metadata().clone())
    }

    fn divide(&self, _about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        Ok(Some(Divided::Open(Arc::clone(&self.0))))
    }

    fn create(&self, _path: &Path, _replace: bool) -> Result<Box<dyn Landing + '_>, Foreign> {
        Err(whole_only())
    }
}
