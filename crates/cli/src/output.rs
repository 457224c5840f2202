//! What is written: a file that appears when it is complete, a pipe or a device, standard output.

use crate::failure::Failure;
use crate::input::{Identity, Input, widen};
use crate::partial::{Landing, Partial, exists};
use crate::shown::shown;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Several files go into a folder only.
pub fn check_room(output: Option<&Path>, files: usize) -> Result<(), Failure> {
    match output.filter(|output| files > 1 && !output.is_dir()) {
        None => Ok(()),
        Some(output) => Err(Failure::usage(
            format!("{} is not a folder, and several files do not fit into one", shown(output)),
            "make the folder first, or leave out -o",
        )),
    }
}

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Stdout,
    File(PathBuf),
}

impl Place {
    /// What `-o` means, or its absence; `usual` is the place without it, and its name the name in a folder.
    pub fn resolve(wanted: Option<&Path>, usual: impl FnOnce() -> Result<Self, Failure>) -> Result<Self, Failure> {
        let Some(wanted) = wanted else { return usual() };
        if wanted == Path::new("-") {
            return Ok(Self::Stdout);
        }
        if !wanted.is_dir() {
            return if wanted.as_os_str().as_bytes().ends_with(b"/") {
                Err(Failure::usage(format!("there is no folder {}", shown(wanted)), "make it first, with mkdir"))
            } else {
                Ok(Self::File(wanted.into()))
            };
        }
        match usual()? {
            Self::File(path) => Ok(Self::File(wanted.join(path.file_name().unwrap_or_default()))),
            Self::Stdout => Err(Failure::usage(
                format!("{} is a folder, and there is no name for a file in it", shown(wanted)),
                "name the file with -o",
            )),
        }
    }
}

/// An open output.
pub enum Output {
    /// Bytes go out as they come.
    Stream { file: File, name: String },
    /// Nobody sees it before it is complete.
    Partial(Partial, PathBuf),
}

impl Output {
    /// Opens it, if nothing stands against that: nothing is replaced unless `force` says so, and never the input, if there is one.
    pub fn open(place: &Place, force: bool, input: Option<&Input>) -> Result<Self, Failure> {
        let output = match place {
            Place::Stdout => Self::stream(rustix::stdio::stdout().try_clone_to_owned().map(File::from), "standard output"),
            Place::File(path) => match fs::metadata(path) {
                Ok(metadata) => {
                    refuse_input(Identity::of(&metadata), input, &shown(path))?;
                    let kind = metadata.file_type();
                    if metadata.is_dir() {
                        return Err(Failure::usage(format!("{} is a folder", shown(path)), "name a file with -o"));
                    } else if kind.is_fifo() || kind.is_char_device() {
                        return Self::stream(OpenOptions::new().write(true).open(path), &shown(path));
                    } else if !metadata.is_file() {
                        return Err(Failure::usage(
                            format!("{} is not a file", shown(path)),
                            "write to it through a pipe: deadpan … -o - > …",
                        ));
                    } else if !force {
                        return Err(exists(path));
                    }
                    Partial::create(path).map(|partial| Self::Partial(partial, path.clone()))
                }
                // A link that points nowhere has the name as well.
                Err(error) if error.kind() == ErrorKind::NotFound && !force && fs::symlink_metadata(path).is_ok() => Err(exists(path)),
                _ => Partial::create(path).map(|partial| Self::Partial(partial, path.clone())),
            },
        }?;
        if let Self::Stream { file, name } = &output {
            let metadata = file.metadata().map_err(|error| Failure::io("write", name, &error))?;
            refuse_input(Identity::of(&metadata), input, name)?;
        }
        Ok(output)
    }

    fn stream(file: std::io::Result<File>, name: &str) -> Result<Self, Failure> {
        let file = file.map_err(|error| Failure::io("write", name, &error))?;
        widen(&file);
        Ok(Self::Stream { file, name: name.into() })
    }

    pub fn file(&self) -> &File {
        match self {
            Self::Stream { file, .. } => file,
            Self::Partial(partial, _) => partial.file(),
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Self::Stream { name, .. } => name.clone(),
            Self::Partial(_, path) => shown(path),
        }
    }

    /// Whether it can be written at any position from several threads.
    pub fn is_positioned(&self) -> bool {
        matches!(self, Self::Partial(..))
    }

    pub fn is_terminal(&self) -> bool {
        self.file().is_terminal()
    }

    /// Completes it.
    pub fn land(self, landing: Landing) -> Result<(), Failure> {
        match self {
            Self::Partial(partial, _) => partial.land(landing),
            Self::Stream { file, name } if landing.sync => match file.sync_all() {
                // Pipes and terminals have no disk behind them.
                Err(error) if error.kind() != ErrorKind::InvalidInput => Err(Failure::io("write", &name, &error)),
                _ => Ok(()),
            },
            Self::Stream { .. } => Ok(()),
        }
    }
}

/// Sealing a file onto itself would leave neither.
fn refuse_input(output: Identity, input: Option<&Input>, name: &str) -> Result<(), Failure> {
    let Some(input) = input else { return Ok(()) };
    let kind = input.metadata.file_type();
    if (kind.is_file() || kind.is_fifo()) && output == Identity::of(&input.metadata) {
        let message = format!("{} and {name} are the same file", input.shown());
        return Err(Failure::usage(message, "choose another output with -o"));
    }
    Ok(())
}
