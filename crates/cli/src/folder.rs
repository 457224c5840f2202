//! Folders on their way into a pack, and out of it.

mod target;

pub use target::{Scattered, Target, UnpackArgs};

use crate::failure::{Exit, Failure};
use crate::input::Input;
use crate::output::Output;
use crate::report::say;
use deadpan_pack::{Job, Notes, Packer, Packing};
use deadpan_seal::{Error, Source, Taken};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How folders are packed.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Folders")]
pub struct PackArgs {
    /// Record the numbers of owners and groups
    #[arg(long)]
    owner: bool,
    /// Record extended attributes
    #[arg(long)]
    xattrs: bool,
    /// The same bytes for the same contents: no times, no owners, holes in files as zeros
    #[arg(long, conflicts_with = "owner")]
    deterministic: bool,
    /// Go on without what cannot be read (within a file, zeros stand in for it), say so, and end with 4
    #[arg(long)]
    keep_going: bool,
}

impl PackArgs {
    /// Begins to pack the folder that `input` is. What is written to `output` is left out, should it lie in that folder.
    pub fn packer(&self, input: &Input, output: &Output) -> Result<Packer, Failure> {
        allow_many_files();
        let path = input.source.path().unwrap_or(Path::new("."));
        let except = output.file().metadata().ok().filter(fs::Metadata::is_file).map(|it| (it.dev(), it.ino()));
        let options =
            Packing { owner: self.owner, xattrs: self.xattrs, deterministic: self.deterministic, keep_going: self.keep_going, except };
        let name = name_of(path)?;
        Packer::new(path, name.as_bytes(), options).map_err(|error| failed(&input.shown(), error))
    }
}

/// What a folder is called, also if it is named `.` or `..`.
pub fn name_of(path: &Path) -> Result<OsString, Failure> {
    let named = |path: &Path| path.file_name().map(OsString::from);
    let name = match named(path) {
        Some(name) => Some(name),
        None => named(&path.canonicalize().map_err(|error| Failure::path("read", path, &error))?),
    };
    Ok(name.unwrap_or_else(|| "root".into()))
}

/// Where something made of a folder goes: beside it, with an ending.
pub fn beside(path: &Path, ending: &str) -> Result<PathBuf, Failure> {
    let mut name = name_of(path)?;
    name.push(ending);
    Ok(match path.file_name() {
        Some(_) => path.with_file_name(name),
        // From within, it would lie in the folder itself.
        None => path.join("..").join(name),
    })
}

/// A folder that the engine seals.
pub struct Gathered(pub Packer);

impl Source for Gathered {
    type Rest = Job;

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Job>> {
        let (length, rest) = self.0.take(buffer).map_err(io::Error::other)?;
        Ok(Taken { length, last: self.0.ended(), rest })
    }

    fn complete(rest: Job, bytes: &mut [u8]) -> io::Result<()> {
        rest.complete(bytes).map_err(io::Error::other)
    }
}

/// Says what there is to say. Whether something is missing.
pub fn tell(notes: &Notes) -> Exit {
    for note in notes.list() {
        say(&format!("note: {note}"));
    }
    if notes.more() > 0 {
        say(&format!("note: and {} more of that kind", notes.more()));
    }
    if notes.incomplete() { Exit::System } else { Exit::Done }
}

/// An error in packing a folder.
pub fn failed(folder: &str, error: deadpan_pack::Error) -> Failure {
    let unreadable = matches!(&error, deadpan_pack::Error::Entry { verb: "read", .. });
    let failure = Failure::pack(folder, error);
    match unreadable {
        true => Failure { hint: Some("check its permissions, or leave out what cannot be read with --keep-going".into()), ..failure },
        false => failure,
    }
}

/// The engine's error about a pack: that of the pack, if it came from there; of `input` or `output` otherwise.
pub fn blame(error: Error, input: &str, output: &str) -> Failure {
    use deadpan_pack::Error as Packs;
    let of_pack = match error {
        Error::Read(error) => error.downcast::<Packs>().map_err(Error::Read),
        Error::Write(error) => error.downcast::<Packs>().map_err(Error::Write),
        error => Err(error),
    };
    match of_pack {
        // One file of a folder goes to a stream.
        Ok(Packs::Write(error)) => Failure::io("write", output, &error),
        Ok(error) => failed(input, error),
        Err(error) => crate::seal::blame(error, input, output),
    }
}

/// A deep tree needs an open folder for each of its levels.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
