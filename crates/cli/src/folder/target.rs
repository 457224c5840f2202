//! Where a folder goes when it is unpacked.

use super::allow_many_files;
use crate::failure::{Exit, Failure};
use crate::partial::{Landing, PartialFolder, exists};
use crate::report::{Done, say};
use crate::shown::{bytes, shown};
use crate::signals::{Guard, guard};
use deadpan_pack::{Outcome, Rest, Unpacker, Unpacking};
use deadpan_seal::Sink;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How folders are unpacked.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Folders")]
pub struct UnpackArgs {
    /// Unpack all that can be, say what could not, and end with its code
    #[arg(long)]
    pub keep_going: bool,
    /// Restore the numbers of owners and groups, as root
    #[arg(long)]
    owner: bool,
    /// Restore extended attributes, as far as they are users' own
    #[arg(long)]
    xattrs: bool,
}

/// A folder that is being unpacked.
pub struct Target {
    path: PathBuf,
    place: Place,
    unpacker: Unpacker,
    /// In a folder that was there before, what is begun and not complete must not stay. A new one goes as a whole.
    drafts: Option<Guard>,
}

enum Place {
    /// It gets its name when it is complete.
    New(PartialFolder),
    /// It was there before: what is unpacked joins what is in it.
    There(File),
}

impl Target {
    /// Opens it, or makes it. One that is there is touched only if `join` says so.
    pub fn begin(path: &Path, args: &UnpackArgs, join: bool, force: bool) -> Result<Self, Failure> {
        allow_many_files();
        let place = match fs::metadata(path) {
            Ok(about) if about.is_dir() && (join || force) => {
                Place::There(File::open(path).map_err(|error| Failure::path("open", path, &error))?)
            }
            Ok(about) if about.is_dir() => {
                return Err(Failure::usage(
                    format!("{} exists already", shown(path)),
                    "unpack into it with --force, which replaces files of the same names, or choose another name with -o",
                ));
            }
            Ok(_) => return Err(Failure::usage(format!("{} is there, and is not a folder", shown(path)), "choose another name with -o")),
            Err(_) if fs::symlink_metadata(path).is_ok() => return Err(exists(path)),
            Err(_) => Place::New(PartialFolder::create(path)?),
        };
        let options = Unpacking {
            replace: force,
            keep_going: args.keep_going,
            owner: args.owner,
            attributes: args.xattrs,
            fresh: matches!(place, Place::New(_)),
        };
        let folder = match &place {
            Place::New(partial) => partial.folder(),
            Place::There(folder) => folder,
        };
        let folder = folder.try_clone().map_err(|error| Failure::path("open", path, &error))?;
        let unpacker = Unpacker::new(folder.into(), options);
        let drafts = matches!(place, Place::There(_)).then(|| unpacker.drafts()).map(|drafts| guard(move || drafts.remove()));
        Ok(Self { path: path.into(), place, unpacker, drafts })
    }

    pub fn unpacker(&mut self) -> &mut Unpacker {
        &mut self.unpacker
    }

    /// Completes it, or says what became of it.
    pub fn end(mut self, outcome: Result<Outcome, Failure>, landing: Landing) -> Result<Done, Failure> {
        // If a signal has come, this goes no further: that others were stopped by it is nothing to report.
        drop(self.drafts.take());
        match outcome {
            Ok(outcome) => self.land(&outcome, landing),
            Err(failure) => Err(self.keep(failure)),
        }
    }

    fn land(self, outcome: &Outcome, landing: Landing) -> Result<Done, Failure> {
        let mut exit = Exit::Done;
        for failure in &outcome.failures {
            let said = Failure::pack("", failure.error.clone());
            said.say();
            exit = exit.max(said.exit);
        }
        if outcome.failed > outcome.failures.len() as u64 {
            say(&format!("note: {} entries failed, and these are the first", outcome.failed));
        }
        for remark in &outcome.remarks {
            say(&format!("note: {remark}"));
        }
        match self.place {
            Place::New(partial) => partial.land(landing)?,
            Place::There(folder) if landing.sync => sync(&folder).map_err(|error| Failure::path("write", &self.path, &error))?,
            Place::There(_) => {}
        }
        Ok(Done { output: Some(shown(&self.path)), bytes: outcome.bytes, remark: None, exit })
    }

    /// After a failure: what is complete stays, where nobody takes it for the whole.
    fn keep(self, mut failure: Failure) -> Failure {
        let progress = self.unpacker.progress();
        // Folders get their times and modes.
        drop(self.unpacker);
        let place = match self.place {
            // The root alone is nothing to keep.
            Place::New(_) if progress.complete < 2 => return failure,
            // Nothing was touched.
            Place::There(_) if progress.complete == 0 && progress.failed == 0 => return failure,
            Place::New(partial) => match partial.keep_incomplete() {
                Ok(path) => path,
                Err(other) => {
                    failure.notes.push(other.message);
                    return failure;
                }
            },
            Place::There(_) => self.path,
        };
        let count = if progress.complete == 1 { "1 entry is".to_owned() } else { format!("{} entries are", progress.complete) };
        let until = progress.until.filter(|path| !path.is_empty()).map_or(String::new(), |path| format!(": all up to {}", bytes(&path)));
        let but = if progress.failed > 0 && !until.is_empty() { ", but for what failed" } else { "" };
        failure.notes.push(format!("{count} complete in {}{until}{but}", shown(&place)));
        // The one that ended everything is told already.
        let others = progress.failures.iter().map(|other| Failure::pack("", other.error.clone()).message);
        failure.notes.extend(others.filter(|other| !failure.message.ends_with(other)).map(|other| format!("failed too: {other}")));
        failure
    }
}

#[cfg(target_os = "linux")]
fn sync(folder: &File) -> io::Result<()> {
    rustix::fs::syncfs(folder).map_err(Into::into)
}

#[cfg(not(target_os = "linux"))]
fn sync(_folder: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// An unpacker that the engine gives what it opens.
pub struct Scattered<'a>(pub &'a mut Unpacker);

impl Sink for Scattered<'_> {
    type Rest = Rest;

    fn put(&mut self, bytes: &[u8]) -> io::Result<Rest> {
        self.0.put(bytes).map_err(io::Error::other)
    }

    fn complete(rest: Rest, bytes: &[u8]) -> io::Result<()> {
        rest.complete(bytes);
        Ok(())
    }
}
