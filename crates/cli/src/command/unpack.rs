//! `deadpan unpack`: unpacks packs and tar archives that are not sealed.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command::folder::{Target, UnpackArgs, left_out};
use crate::command::plan::Plan;
use crate::command::repair::sidecar::repairable;
use crate::place::archive::{Archive, COMPRESSED, ENDING, ReadSeek};
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::output::{OutputArgs, Place};
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::shown;
use deadpan_compress::Foreign;
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{Chosen, Contents, Error, Excerpt, Refusal, Selection, Work, index_is_stale, is_damaged, unpack};

/// Unpacks packs and tar archives: FILE.tar or FILE.tar.zst becomes the folder FILE, and nothing is made outside of it
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
            report.add(source, start, &repairable(source, self.unpack(source, &claims)));
        }
        Ok(report.exit())
    }
}

impl Unpack {
    fn unpack(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let mut input = Input::open(source)?.file_only("name an archive; folders are packed with: deadpan pack")?;
        let name = input.shown();
        if input.is_terminal() {
            let hint = "name a FILE, or read from another program: zcat FILE | deadpan unpack -o OUT";
            return Err(Failure::usage("an archive is bytes, and a terminal gives text", hint));
        }
        let mut start = Vec::new();
        let archive = match Archive::look(&input, &mut start)? {
            Some(archive) => archive,
            // The first header is damaged.
            None if args.unpack.keep_going && source.path().and_then(Path::extension) == Some("tar".as_ref()) => {
                Archive::Plain
            }
            None => {
                let hint = "deadpan open unpacks what is sealed; compressed archives go through their own program \
                    first: zcat FILE | deadpan unpack -o OUT";
                let failure = Failure::new(Exit::Data, format!("{name} is not a tar archive"), hint);
                return Err(Failure { damaged: true, ..failure });
            }
        };
        if args.unpack.keep_going {
            input = input.spooled(&start)?;
        }
        let place = args.output.folder(self.sources.len(), || usual_place(source))?;
        claims.check_folder(&place, source, args.output.force)?;
        let done = Job { args, input: &input, archive, start: &start, place: &place }.run();
        claims.made(&place);
        done
    }
}

/// The work on one archive.
struct Job<'a> {
    args: &'a UnpackCommand,
    input: &'a Input,
    archive: Archive,
    /// The bytes of the archive that were already read.
    start: &'a [u8],
    place: &'a Place,
}

type Index<'a> = Contents<Box<dyn ReadSeek + 'a>>;

impl<'a> Job<'a> {
    fn run(&self) -> Result<Done, Failure> {
        let args = self.args;
        let (keep_going, all) = (args.unpack.keep_going, args.only.is_empty());
        // If the archive has no index or comes from a pipe, entries are selected while the archive is read.
        let has_index = self.archive.has_positions(self.input) && (keep_going || !all);
        let mut is_damaged = false;
        let index = match if has_index { self.index() } else { Ok(None) } {
            Err(_) if keep_going => {
                is_damaged = true;
                None
            }
            index => index?,
        };
        match index {
            Some(mut contents) => {
                let chosen = if all {
                    Chosen::all()
                } else {
                    selection(&args.only).within(&mut contents).map_err(|error| self.failed(error))?
                };
                match self.damage(&mut contents, &chosen) {
                    // A part of the index is damaged.
                    None => self.through(true),
                    Some(damage) => self.selected(contents, &chosen, damage),
                }
            }
            None => self.through(is_damaged),
        }
    }

    fn failed(&self, error: Error) -> Failure {
        Failure::pack(&self.input.shown(), error)
    }

    fn index(&self) -> Result<Option<Index<'a>>, Failure> {
        Contents::read(self.archive.anywhere(self.input)?).map_err(|error| self.failed(error))
    }

    fn other_index(&self) -> Result<Index<'a>, Failure> {
        self.index()?.ok_or_else(|| self.failed(Error::Truncated))
    }

    fn target(&self) -> Result<Target, Failure> {
        let args = self.args;
        let target = Target::begin(self.place, Some(self.input), &args.unpack, &args.output, !args.only.is_empty());
        target.map(Target::of_unsealed)
    }

    /// With `--keep-going`, finds the chosen entries that are damaged. Returns `None` if the index cannot be used.
    fn damage(&self, contents: &mut Index<'_>, chosen: &Chosen) -> Option<Vec<Range<u64>>> {
        if !self.args.unpack.keep_going {
            return Some(Vec::new());
        }
        let progress = Progress::new(&self.input.shown(), None);
        let excerpt = Excerpt::new(chosen.entries(contents), self.other_index().ok()?);
        excerpt.damage(&|bytes| progress.add(bytes)).ok()
    }

    /// Unpacks the chosen entries of a pack, except for the damaged ones. If there is damage, nothing is added to an
    /// existing folder.
    fn selected(&self, mut contents: Index<'_>, chosen: &Chosen, damage: Vec<Range<u64>>) -> Result<Done, Failure> {
        let args = self.args;
        let is_damaged = !damage.is_empty();
        let mut target = self.target()?;
        if is_damaged {
            target = self.beside(target)?;
        }
        let progress = Progress::new(&self.input.shown(), None);
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let mut excerpt = Excerpt::new(chosen.entries(&mut contents), self.other_index()?).around(damage);
        let outcome = unpack(&mut excerpt, target.unpacker(), &work).map_err(|error| self.failed(error));
        drop(progress);
        let mut idle = unmatched(chosen);
        if !is_damaged {
            let mut done = target.end(outcome, args.output.sync)?;
            done.notes.append(&mut idle);
            return Ok(done);
        }
        Ok(target.keep_whole(self.damaged(), outcome, left_out(excerpt.left_out())))
    }

    /// Unpacks an archive from its beginning to its end. `is_damaged` means that the archive has an index which cannot
    /// be used.
    fn through(&self, is_damaged: bool) -> Result<Done, Failure> {
        let (args, input) = (self.args, self.input);
        let stale = !is_damaged
            && self.archive.has_positions(input)
            && index_is_stale(&mut self.archive.anywhere(input)?).map_err(|error| self.failed(error))?;
        let progress = Progress::new(&input.shown(), input.length().filter(|_| self.archive == Archive::Plain));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let mut target = self.target()?;
        if args.unpack.keep_going && !target.is_new() && (is_damaged || self.is_damaged()?) {
            target = self.beside(target)?;
        }
        if stale || is_damaged {
            target.unpacker().without_index();
        }
        if !args.only.is_empty() {
            target.unpacker().only(selection(&args.only).filter());
        }
        let outcome = unpack(self.archive.through(input, self.start), target.unpacker(), &work);
        drop(progress);
        match outcome.map_err(|error| self.failed(error)) {
            Ok(outcome) if outcome.damaged || is_damaged => {
                Ok(target.keep_whole(self.damaged(), Ok(outcome), Vec::new()))
            }
            outcome => target.end(outcome, args.output.sync),
        }
    }

    /// Returns a new target beside a folder that exists.
    fn beside(&self, target: Target) -> Result<Target, Failure> {
        if target.is_new() {
            return Ok(target);
        }
        let beside = Target::begin_beside(self.place, Some(self.input), &self.args.unpack, &self.args.output)?;
        Ok(beside.map_or(target, Target::of_unsealed))
    }

    /// Whether an archive that is read without an index is damaged.
    fn is_damaged(&self) -> Result<bool, Failure> {
        if self.archive == Archive::Foreign {
            return is_damaged(Foreign::new(self.input.anywhere())).map_err(|error| self.failed(error));
        }
        is_damaged(self.archive.anywhere(self.input)?).map_err(|error| self.failed(error))
    }

    fn damaged(&self) -> Failure {
        let hint = "what is whole of it is kept; get a whole copy for the rest";
        let failure = Failure::new(Exit::Data, format!("{} is damaged", self.input.shown()), hint);
        Failure { damaged: true, ..failure }
    }
}

pub fn selection(paths: &[PathBuf]) -> Selection {
    Selection::new(paths.iter().map(|path| path.as_os_str().as_bytes().to_vec()))
}

/// Returns notes on the patterns of `--only` that match nothing.
pub fn unmatched(chosen: &Chosen) -> Vec<String> {
    chosen.idle().iter().map(|wanted| Refusal::no_match(wanted).to_string()).collect()
}

/// Returns the input's path without the ending of an archive.
fn usual_place(source: &Source) -> Result<Place, Failure> {
    let Some(path) = source.path() else {
        return Err(Failure::usage("standard input does not say what the folder is called", "name it with -o"));
    };
    Archive::bare(path).map(Place::Given).ok_or_else(|| {
        let message = format!("{} does not end with {ENDING} or {COMPRESSED}, so its folder has no name", shown(path));
        Failure::usage(message, "name it with -o")
    })
}
