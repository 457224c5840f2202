//! `deadpan unpack`: unpacks packs and tar archives that are not sealed.

use std::ffi::OsStr;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Instant;

use crate::command::folder::{Target, UnpackArgs};
use crate::command::plan::Plan;
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::output::{OutputArgs, Place};
use crate::place::remote;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::shown;
use deadpan_pack::{
    BLOCK, Chosen, Contents, Error, Excerpt, Refusal, Selection, Work, index_is_stale, is_archive, unpack,
};

/// Unpacks packs and tar archives: FILE.tar becomes the folder FILE, and nothing is made outside of it
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |output| {
    output.help("The folder to make; if it ends with a slash, an existing folder in which to make it")
}))]
#[command(after_help = help!(
    "deadpan unpack photos.tar                     the folder photos",
    "deadpan unpack --only 'photos/*.jpg' photos.tar",
    "zcat linux.tar.gz | deadpan unpack -o linux   any tar archive, from a pipe",
    "zcat linux.tar.gz | deadpan unpack -o linux --only 'linux-*/COPYING'"
))]
pub struct UnpackCommand {
    #[command(flatten)]
    output: OutputArgs,
    /// Unpack only this file, this folder with everything in it, or the matches of this pattern as in .gitignore. May
    /// be repeated
    #[arg(long, value_name = "PATH")]
    only: Vec<PathBuf>,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// The archives to unpack; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub struct Unpack {
    args: UnpackCommand,
    sources: Vec<Source>,
}

impl UnpackCommand {
    pub fn plan(self) -> Result<Unpack, Failure> {
        let sources = Source::all(self.files.clone())?;
        if self.output.is_stdout() {
            return Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o"));
        }
        Ok(Unpack { args: self, sources })
    }
}

impl Plan for Unpack {
    fn run(&self) -> Result<Exit, Failure> {
        self.args.output.hold(&self.sources);
        self.sources.iter().for_each(|source| self.args.output.hold_result(|| usual_place(source)));
        self.args.output.check_room(self.sources.len())?;
        let mut report = Report::new("unpack", self.args.output.json, self.sources.len());
        let claims = Claims::on(&self.sources);
        for source in &self.sources {
            let start = Instant::now();
            report.add(source, start, &self.unpack(source, &claims));
        }
        Ok(report.exit())
    }
}

impl Unpack {
    fn unpack(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let input = Input::open(source)?.file_only("name an archive; folders are packed with: deadpan pack")?;
        let name = input.shown();
        if input.is_terminal() {
            let hint = "name a FILE, or read from another program: zcat FILE | deadpan unpack -o OUT";
            return Err(Failure::usage("an archive is bytes, and a terminal gives text", hint));
        }
        let mut start = Vec::new();
        (&input.data).take(BLOCK).read_to_end(&mut start).map_err(|error| Failure::io("read", &name, &error))?;
        if !is_archive(&start) && !is_empty_archive(&start) {
            let hint = "deadpan open unpacks what is sealed; compressed archives go through their own program first: \
                zcat FILE | deadpan unpack -o OUT";
            return Err(Failure::new(Exit::Data, format!("{name} is not a tar archive"), hint));
        }
        let place = args.output.folder(self.sources.len(), || usual_place(source))?;
        claims.check_folder(&place, source, args.output.force)?;
        let failed = |error| Failure::pack(&name, error);
        // If the archive has no index or comes from a pipe, entries are selected while the archive is read.
        let index =
            if !args.only.is_empty() && input.positioned { Contents::read(&input.data).map_err(failed)? } else { None };
        let stale = input.positioned && index_is_stale(&mut &input.data).map_err(failed)?;
        let progress = Progress::new(&name, input.length().filter(|_| index.is_none()));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let begin = || {
            let target = Target::begin(&place, Some(&input), &args.unpack, &args.output, !args.only.is_empty());
            target.map(Target::of_unsealed)
        };
        let mut target;
        let mut idle = Vec::new();
        let outcome = if let Some(mut contents) = index {
            let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
            let other = Contents::read(&input.data).map_err(failed)?.ok_or_else(|| failed(Error::Truncated))?;
            idle = unmatched(&chosen);
            target = begin()?;
            unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work)
        } else {
            target = begin()?;
            if stale {
                target.unpacker().without_index();
            }
            if !args.only.is_empty() {
                target.unpacker().only(selection(&args.only).filter());
            }
            if input.positioned {
                // The search for an index changed the position in the file, so the code sets the position to the end of
                // `start` again.
                (&input.data)
                    .seek(SeekFrom::Start(start.len() as u64))
                    .map_err(|error| Failure::io("read", &name, &error))?;
            }
            unpack(Cursor::new(start).chain(&input.data), target.unpacker(), &work)
        };
        drop(progress);
        let done = target.end(outcome.map_err(failed), args.output.sync);
        claims.made(&place);
        done.map(|mut done| {
            done.notes.append(&mut idle);
            done
        })
    }
}

/// Returns whether a file that begins with `start` is an archive without entries. Such an archive consists of zeros.
pub fn is_empty_archive(start: &[u8]) -> bool {
    start.len() as u64 == BLOCK && start.iter().all(|byte| *byte == 0)
}

pub fn selection(paths: &[PathBuf]) -> Selection {
    Selection::new(paths.iter().map(|path| path.as_os_str().as_bytes().to_vec()))
}

/// Returns notes on the patterns of `--only` that match nothing.
pub fn unmatched(chosen: &Chosen) -> Vec<String> {
    chosen.idle().iter().map(|wanted| Refusal::no_match(wanted).to_string()).collect()
}

/// Returns the input's path without the extension `.tar`.
fn usual_place(source: &Source) -> Result<Place, Failure> {
    let Some(path) = source.path() else {
        return Err(Failure::usage("standard input does not say what the folder is called", "name it with -o"));
    };
    let name = path.file_name().unwrap_or_default().as_bytes();
    match name.strip_suffix(b".tar").filter(|bare| !bare.is_empty()) {
        Some(bare) => Ok(Place::Given(remote::beside(path, OsStr::from_bytes(bare)))),
        None => Err(Failure::usage(
            format!("{} does not end with .tar, so its folder has no name", shown(path)),
            "name it with -o",
        )),
    }
}
