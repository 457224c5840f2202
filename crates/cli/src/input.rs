//! What is read: a file, a pipe, standard input.

use crate::failure::Failure;
use crate::shown::shown;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// An input as it is named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    /// `FILE…`, where none at all means standard input.
    pub fn all(files: Vec<PathBuf>) -> Result<Vec<Self>, Failure> {
        let mut sources: Vec<_> =
            files.into_iter().map(|file| if file == Path::new("-") { Self::Stdin } else { Self::File(file) }).collect();
        if sources.iter().filter(|source| **source == Self::Stdin).count() > 1 {
            return Err(Failure::usage("standard input can be read once only", "name - once"));
        }
        if sources.is_empty() {
            sources.push(Self::Stdin);
        }
        Ok(sources)
    }

    pub fn shown(&self) -> String {
        match self {
            Self::Stdin => "standard input".into(),
            Self::File(path) => shown(path),
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }
}

/// Which file a file is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64, u64);

impl Identity {
    pub fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// An open input.
pub struct Input {
    pub source: Source,
    pub file: File,
    pub metadata: Metadata,
    /// Whether it can be read at any position from several threads: a regular file, opened by name.
    pub positioned: bool,
}

impl Input {
    pub fn open(source: &Source) -> Result<Self, Failure> {
        let name = source.shown();
        let failed = |error| Failure::io("read", &name, &error);
        let file = match source {
            Source::Stdin => File::from(rustix::stdio::stdin().try_clone_to_owned().map_err(failed)?),
            Source::File(path) => File::open(path).map_err(failed)?,
        };
        let metadata = file.metadata().map_err(failed)?;
        if metadata.file_type().is_fifo() {
            widen(&file);
        }
        // Standard input may be a file that somebody has read half of; its position counts, and only a stream respects it. A length of 0 may
        // be one of the system's files whose contents are made when they are read.
        let positioned = metadata.is_file() && metadata.len() > 0 && *source != Source::Stdin;
        Ok(Self { source: source.clone(), file, metadata, positioned })
    }

    /// Refuses a folder where only a file will do.
    pub fn file_only(self, hint: &str) -> Result<Self, Failure> {
        match self.is_folder() {
            true => Err(Failure::usage(format!("{} is a folder", self.shown()), hint)),
            false => Ok(self),
        }
    }

    pub fn is_folder(&self) -> bool {
        self.metadata.is_dir()
    }

    pub fn shown(&self) -> String {
        self.source.shown()
    }

    /// Bytes in it, where that is known.
    pub fn length(&self) -> Option<u64> {
        self.metadata.is_file().then_some(self.metadata.len())
    }
}

/// Has a pipe hold a mebibyte: with the usual 64 KiB, the two ends mostly wait for each other. Where it is not allowed, it stays as it is.
pub fn widen(pipe: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
