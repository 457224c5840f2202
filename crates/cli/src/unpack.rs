//! `deadpan unpack`: a pack, or any tar archive, becomes a folder, without keys.

use crate::failure::{Exit, Failure, help};
use crate::folder::{Target, UnpackArgs};
use crate::input::{Input, Source};
use crate::output::{self, Place};
use crate::partial::Landing;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Done, Report};
use crate::shown::shown;
use deadpan_pack::{BLOCK, Contents, Error, Excerpt, Selection, Work, is_archive, unpack};
use std::ffi::OsStr;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Unpacks packs and tar archives: FILE.tar becomes the folder FILE, and nothing is made outside of it
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan unpack photos.tar                     the folder photos",
    "deadpan unpack --only 'photos/*.jpg' photos.tar",
    "zcat linux.tar.gz | deadpan unpack -o linux   any tar, from a pipe",
    "zcat linux.tar.gz | deadpan unpack -o linux --only 'linux-*/COPYING'"
))]
pub struct UnpackCommand {
    /// The folder to be made; one that exists means: in there, under its usual name
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Only this file, this folder and all that is in it, or what this pattern matches; several are possible
    #[arg(long, value_name = "PATH")]
    only: Vec<PathBuf>,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Have the folder on the disk before saying that it is done
    #[arg(long)]
    sync: bool,
    /// Unpack into a folder that exists, and replace files in it
    #[arg(short, long)]
    force: bool,
    /// Print the results as JSON, an object a line
    #[arg(long)]
    json: bool,
    /// What to unpack; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Archives to be unpacked.
pub struct Unpack {
    args: UnpackCommand,
    sources: Vec<Source>,
}

impl UnpackCommand {
    pub fn plan(self) -> Result<Unpack, Failure> {
        let sources = Source::all(self.files.clone())?;
        if self.output.as_deref() == Some(Path::new("-")) {
            return Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o"));
        }
        Ok(Unpack { args: self, sources })
    }
}

impl Plan for Unpack {
    fn run(&self) -> Result<Exit, Failure> {
        output::check_room(self.args.output.as_deref(), self.sources.len())?;
        let mut report = Report::new("unpack", self.args.json, self.sources.len());
        for source in &self.sources {
            let start = Instant::now();
            report.add(&source.shown(), start, &self.unpack(source));
        }
        Ok(report.exit())
    }
}

impl Unpack {
    fn unpack(&self, source: &Source) -> Result<Done, Failure> {
        let args = &self.args;
        let input = Input::open(source)?.file_only("name an archive; folders are packed with: deadpan pack")?;
        let name = input.shown();
        let mut start = Vec::new();
        (&input.file).take(BLOCK).read_to_end(&mut start).map_err(|error| Failure::io("read", &name, &error))?;
        if !is_archive(&start) {
            let hint = "deadpan open unpacks what is sealed; compressed archives go through their own program first: zcat FILE | deadpan unpack -o OUT";
            return Err(Failure::new(Exit::Data, format!("{name} is not a tar archive"), hint));
        }
        let Place::File(path) = Place::resolve(args.output.as_deref(), || usual_place(source))? else {
            return Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o"));
        };
        let failed = |error| Failure::pack(&name, error);
        // Without an index, and through a pipe, what was selected is taken as it comes by.
        let index = match !args.only.is_empty() && input.positioned {
            true => Contents::read(&input.file).map_err(failed)?,
            false => None,
        };
        let progress = Progress::new(&name, input.length().filter(|_| index.is_none()));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let begin = || Target::begin(&path, &args.unpack, !args.only.is_empty(), args.force);
        let mut target;
        let outcome = if let Some(mut contents) = index {
            let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
            let other = Contents::read(&input.file).map_err(failed)?.ok_or_else(|| failed(Error::Truncated))?;
            target = begin()?;
            unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work)
        } else {
            target = begin()?;
            if !args.only.is_empty() {
                target.unpacker().only(selection(&args.only).filter());
            }
            if input.positioned {
                // Whoever looked for an index moved.
                (&input.file).seek(SeekFrom::Start(start.len() as u64)).map_err(|error| Failure::io("read", &name, &error))?;
            }
            unpack(Cursor::new(start).chain(&input.file), target.unpacker(), &work)
        };
        drop(progress);
        target.end(outcome.map_err(failed), Landing { replace: false, sync: args.sync })
    }
}

/// Paths as they are named.
pub fn selection(paths: &[PathBuf]) -> Selection {
    Selection::new(paths.iter().map(|path| path.as_os_str().as_bytes().to_vec()))
}

/// FILE without its ending.
fn usual_place(source: &Source) -> Result<Place, Failure> {
    let Some(path) = source.path() else {
        return Err(Failure::usage("standard input does not say what the folder is called", "name it with -o"));
    };
    let name = path.file_name().unwrap_or_default().as_bytes();
    match name.strip_suffix(b".tar").filter(|bare| !bare.is_empty()) {
        Some(bare) => Ok(Place::File(path.with_file_name(OsStr::from_bytes(bare)))),
        None => Err(Failure::usage(format!("{} does not end with .tar, so its folder has no name", shown(path)), "name it with -o")),
    }
}
