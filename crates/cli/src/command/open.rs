//! `deadpan open`: opens sealed files.

mod behind;
pub mod folder;
pub mod range;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use crate::command::folder::{FOLDERS, UnpackArgs};
use crate::command::many::{LONG, ManyArgs, OpenedParts, Opening, Route, alone};
use crate::command::plan::Plan;
use crate::command::repair::sidecar::repairable;
use crate::key::identity::{Identities, IdentityArgs};
use crate::key::signed::{Judge, SignerArgs, Verdict, misnamed};
use crate::place::claims::Claims;
use crate::place::ending::{ENDINGS, PAGE};
use crate::place::input::{Input, Source};
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::{Attributes, exists};
use crate::place::remote;
use crate::place::report::{Done, Report};
use crate::place::sealed::Sealed;
use crate::place::window::{Limited, TooLong};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::{bytes, count, is_plain, shown};
use crate::tell::streams::print_json;
use crate::tell::text::{NotText, TextOnly};
use deadpan_disk::names;
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{Pattern, Patterns, Rules};
use deadpan_seal::{Cursor, Error, Kind, Metadata, Opened, ReadAt, Summary, Work};
pub use range::Range;

/// Opens sealed files and folders: FILE.dpn becomes FILE, with its time and mode
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan open report.pdf.dpn               with your own keys: report.pdf",
    "deadpan open -i work.key -o - notes.dpn   with this key, to standard output",
    "deadpan open --verify *.dpn               checks the files, and writes nothing",
    "deadpan open --share bob.share minutes.txt.dpn          with your key and the share of another member",
    "deadpan open --range 4096:100 data.dpn    100 bytes from the middle, to standard output",
    "deadpan open --only 'photos/*.jpg' photos.dpn           a part of a folder",
    "ssh host cat photos.dpn | deadpan open --only notes.txt -o photos  a part of a folder, from a pipe",
    "deadpan open -o - photos.dpn | tar x      a folder is a tar archive",
    "deadpan open s3://backup/photos/ --to photos            each object below a prefix, into a folder"
))]
pub struct OpenArgs {
    #[command(flatten)]
    how: OpenOptions,
    #[command(flatten)]
    many: ManyArgs,
    /// With --each or a prefix, leave out what matches a pattern as in .gitignore: node_modules/, *.tmp. A pattern with
    /// ! includes what earlier patterns left out. May be repeated
    #[arg(long, value_name = "PATTERN", help_heading = FOLDERS)]
    exclude: Vec<OsString>,
    /// The files to open; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The options for opening sealed data from any source.
#[derive(Debug, clap::Args)]
pub struct OpenOptions {
    #[command(flatten)]
    pub keys: IdentityArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Open only LEN bytes from OFFSET on, to standard output unless -o says otherwise. OFFSET is 0 if it is missing;
    /// without LEN, everything from OFFSET to the end is opened
    #[arg(long, value_name = "OFFSET:LEN", conflicts_with = "verify")]
    range: Option<Range>,
    /// Write compressed data as they are stored, in Zstandard's format, to standard output unless -o says otherwise
    #[arg(long, conflicts_with_all = ["range", "verify", "only"])]
    as_stored: bool,
    /// Open everything, but write nothing: check that the files are whole and unchanged
    #[arg(long, conflicts_with = "output")]
    pub verify: bool,
    /// Open only this file, this folder with everything in it, or the matches of this pattern as in .gitignore. May be
    /// repeated
    #[arg(long, value_name = "PATH", conflicts_with_all = ["range", "verify"])]
    pub only: Vec<PathBuf>,
    #[command(flatten)]
    pub signer: SignerArgs,
    #[command(flatten)]
    pub unpack: UnpackArgs,
}

/// A validated `deadpan open` command.
pub struct Open {
    args: OpenOptions,
    sources: Vec<Source>,
    route: Option<Route>,
    many: ManyArgs,
}

impl OpenArgs {
    pub fn is_to_stdout(&self) -> bool {
        let how = &self.how;
        how.is_to_stdout() || !how.verify && how.output.place().is_none() && Source::reads_stdin(&self.files)
    }

    pub fn plan(self) -> Result<Open, Failure> {
        let (args, many) = (self.how, self.many);
        let is_many = many.first_of_many(&self.files).is_some();
        if is_many && (args.range().is_some() || !args.only.is_empty()) {
            return Err(Failure::usage("--range, --as-stored and --only take single files", "name one object"));
        }
        let hint = if args.verify {
            "leave it out: --verify checks all sealed objects below a prefix"
        } else {
            "name a prefix, such as s3://BUCKET/PREFIX/, or a folder with --each"
        };
        if is_many && args.unpack.most() < u64::MAX {
            return Err(Failure::usage("--max-size takes single files", "name one object"));
        }
        if args.verify {
            many.refuse_alone(hint)?;
        }
        if args.verify || !is_many {
            let given = [("--exclude", !self.exclude.is_empty()), ("--dry-run", many.is_rehearsal())];
            given.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| Err(alone(option, hint)))?;
        }
        many.limit();
        let exclude = Patterns::new(self.exclude.iter().map(|text| Pattern::new(text.as_bytes())));
        let rules = Rules { exclude: exclude.into(), ..Rules::default() };
        let route = if is_many && args.verify { None } else { many.route(&self.files, &args.output, rules)? };
        let sources = Source::all(self.files)?;
        args.keys.source.leave_stdin_to(&sources)?;
        args.signer.refuse_who_as_file(&sources)?;
        if sources.len() > 1 && (args.output.is_stdout() || args.range().is_some() && args.output.place().is_none()) {
            return Err(Failure::usage(
                "several files in one stream cannot be told apart",
                "open them one by one, or into a folder with -o",
            ));
        }
        Ok(Open { args, sources, route, many })
    }
}

impl Plan for Open {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        if let Some(route) = &self.route {
            let identities = args.keys.identities()?;
            let act = Opening::new(identities, args.signer.judge()?);
            return self.many.all(&args.output, args.unpack.mask(), route, &act, None, None);
        }
        args.output.hold(&self.sources);
        let unpacked = self.sources.iter().filter(|_| !args.verify);
        unpacked.for_each(|source| args.output.hold_result(|| known_place(source)));
        let sources =
            if args.verify { Source::expanded(&self.sources, self.many.is_each())? } else { self.sources.clone() };
        args.output.check_room(sources.len())?;
        let identities = args.keys.identities()?;
        // With `--verify`, the command writes no output that could replace an input. The inputs are not recorded, since
        // a command can have millions of inputs.
        let claims = Claims::on(if args.verify { &[] } else { &sources });
        let judge = args.signer.judge()?;
        let mut job = OpenJob { args, claims, results: sources.len(), identities, judge, many: Some(&self.many) };
        let to_stdout =
            args.is_to_stdout() || !args.verify && args.output.place().is_none() && sources.contains(&Source::Stdin);
        let mut report = Report::new("open", args.output.json, sources.len()).aside(to_stdout);
        if args.verify {
            report = report.talking();
        }
        let mut whole = 0;
        for source in &sources {
            let (start, result) = (Instant::now(), repairable(source, job.open(source)));
            whole += u64::from(result.is_ok());
            report.add(source, start, &result);
        }
        if args.verify && (self.many.is_each() || self.sources.iter().any(Source::is_prefix)) {
            summarize(whole, sources.len() as u64 - whole, args.output.json)?;
        }
        Ok(report.exit())
    }
}

/// Prints how many objects with a prefix are intact, and how many are not.
fn summarize(whole: u64, failed: u64, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let summary = json!({ "whole": whole, "failed": failed });
        return print_json(&json!({ "schema": 1, "command": "open", "summary": summary }));
    }
    let all = count(whole + failed, "object is", "objects are");
    say(&format!("open: {whole} of {all} whole and unchanged, {failed} failed"));
    Ok(())
}

/// If `-o` is missing and the output's name is known before the file is opened, returns the place of the output.
fn known_place(source: &Source) -> Result<Place, Failure> {
    bare(source).map(Place::Given).ok_or_else(|| Failure::usage("no name yet", ""))
}

impl OpenOptions {
    /// The range of bytes to open. Bytes as they are stored are a range, and not a file or a folder.
    pub fn range(&self) -> Option<Range> {
        if self.as_stored { Some(Range::ALL) } else { self.range }
    }

    /// Other rules apply to folders.
    pub fn is_to_stdout(&self) -> bool {
        !self.verify && (self.output.is_stdout() || self.range().is_some() && self.output.place().is_none())
    }

    /// Whether the data go to standard output, a pipe or a device. The program cannot take back data that it wrote to a
    /// stream.
    pub fn is_stream(&self) -> bool {
        self.is_to_stdout() || self.output.place().is_some_and(|place| !self.verify && place.is_stream())
    }
}

pub struct OpenJob<'a> {
    pub args: &'a OpenOptions,
    pub claims: Claims,
    /// The number of files to open.
    pub results: usize,
    pub identities: Identities,
    pub judge: Judge,
    /// The value is `None` if results are not made in parts. `None` if results are not made in parts.
    pub many: Option<&'a ManyArgs>,
}

/// The source of sealed data: a file, a pipe, or a set of pictures.
pub struct Origin<'a> {
    /// The name for messages.
    pub name: String,
    pub source: &'a Source,
    /// The sealed data and their length, if the data can be read at any position.
    pub positions: Option<(&'a dyn ReadAt, u64)>,
    pub length: Option<u64>,
    /// The opened input. `None` for pictures.
    pub input: Option<&'a Input>,
    /// The name of the data, which comes from the file names of the pictures.
    pub stem: Option<&'a [u8]>,
}

impl<'a> Origin<'a> {
    fn from_input(input: &'a Input, armored: bool) -> Self {
        let positions =
            input.length().filter(|_| input.positioned && !armored).map(|length| (&input.data as &dyn ReadAt, length));
        let (name, source, length) = (input.shown(), &input.source, input.length());
        Self { name, source, positions, length, input: Some(input), stem: None }
    }

    fn shown(&self) -> String {
        self.name.clone()
    }

    fn is_remote(&self) -> bool {
        self.input.is_some_and(|input| input.data.object().is_some())
    }
}

impl OpenJob<'_> {
    /// Returns an error if the output's name is already known and the output exists. The existence of the output is
    /// checked before the user is asked for a passphrase.
    fn refuse_existing(&self, source: &Source) -> Result<(), Failure> {
        let args = self.args;
        if args.verify || args.range().is_some() && args.output.place().is_none() {
            return Ok(());
        }
        let usual = || known_place(source);
        // A sealed folder is unpacked into `-o FOLDER` itself, and a sealed file is opened inside this folder. Which of
        // the two the input is, only opening it shows.
        let undecided = args.output.place().is_some_and(|place| place.is_folder() && !place.ends_with_slash());
        match args.output.file(usual) {
            Ok(place) if place.descriptor().is_some() => Ok(()),
            Ok(place) if args.output.force => self.claims.check(&place, source),
            Ok(Place::Given(path)) if path.is_file() || args.only.is_empty() && path.is_dir() && !undecided => {
                self.claims.check(&Place::Given(path.clone()), source)?;
                Err(if path.is_dir() { crate::command::folder::exists(&path) } else { exists(&path) })
            }
            _ => Ok(()),
        }
    }

    /// Whether the output of a sealed folder is the archive itself, and not an unpacked folder.
    fn wants_bytes(&self, origin: &Origin<'_>) -> bool {
        let args = self.args;
        let piped = *origin.source == Source::Stdin && origin.stem.is_none();
        let to_stream = args.output.place().map_or(piped, Place::is_stream);
        args.range().is_some() || args.only.is_empty() && to_stream
    }

    fn open(&mut self, source: &Source) -> Result<Done, Failure> {
        let hint = if self.args.verify {
            "name a sealed file, or check all sealed files in the folder with --each"
        } else {
            "name a sealed file, or open all sealed files in the folder: --each --to FOLDER"
        };
        let mut input = Input::open(source)?.file_only(hint)?;
        input.announce();
        if self.args.unpack.keep_going && !self.args.verify {
            input = input.spooled_sealed()?;
        }
        let sealed = Sealed::read(&input)?;
        self.refuse_existing(source)?;
        self.restore(&Origin::from_input(&input, sealed.armored), sealed)
    }

    /// Opens sealed data whose header was read, and restores the file or folder in them.
    pub fn restore(&mut self, origin: &Origin<'_>, mut sealed: Sealed<'_>) -> Result<Done, Failure> {
        let (name, source) = (origin.shown(), origin.source);
        let mut opened = self.identities.open(&name, &sealed)?;
        if self.args.as_stored {
            if !opened.is_compressed() {
                return Err(Failure::usage(format!("the data in {name} are not compressed"), "leave out --as-stored"));
            }
            opened = opened.as_stored();
        }
        let opened = Arc::new(opened);
        if self.args.verify {
            let done = pass(&opened, origin, sealed, io::sink()).map_err(|error| Failure::seal(&name, error))?;
            let Verdict { mut notes, more, .. } = self.judge.verdict(&name, &opened, done.signatures.as_ref())?;
            notes.extend(bare_name(origin).and_then(|own| misnamed(&name, &opened, &own)));
            let remark = Some("whole and unchanged".into());
            return Ok(Done { bytes: done.plain, remark, notes, more, ..Done::default() });
        }
        self.judge_first(&opened, origin)?;
        if !self.wants_bytes(origin) && (opened.metadata().kind == Kind::Folder || folder::is_in_age(&opened, origin)) {
            return folder::open(&opened, origin, &mut sealed, self);
        }
        if !self.args.only.is_empty() {
            let hint = "leave out --only, or name a range with --range";
            return Err(Failure::usage(format!("{name} holds no folder, so there is no part of it to open"), hint));
        }
        let mut renamed = None;
        let usual = || match self.args.range() {
            Some(_) if self.args.output.place().is_none() => Ok(Place::Stdout),
            _ => self.usual(origin, &opened, self.args.output.place().is_some(), &mut renamed),
        };
        let place = self.args.output.file(usual)?;
        if let Some(done) = self.divided(origin, &opened, &place)? {
            return Ok(done);
        }
        let output = self
            .claims
            .check(&place, source)
            .and_then(|()| self.args.output.open(&place, origin.input))
            .map_err(|failure| self.one_of_several(origin, failure))?;
        if self.judge.is_required() && !output.is_positioned() && origin.positions.is_none() {
            let hint = "name a file without armor as input, or one as output with -o";
            let message = "--require-signature cannot check a signature at the end before the data go out";
            return Err(Failure::usage(message, hint));
        }
        let is_saved = self.args.unpack.keep_going && !output.is_positioned() && !output.is_terminal();
        let saved = if is_saved && self.args.range().is_none() {
            behind::stream(&opened, origin, self, &output)?
        } else {
            None
        };
        let written = match self.args.range() {
            _ if saved.is_some() => saved.ok_or(Error::Truncated),
            Some(range) => range.write(&opened, origin, sealed, &output),
            // The data are compared with the signed digest before any data are written to the output.
            None if self.judge.is_required() && !output.is_positioned() => {
                self.check_length(&opened, origin)?;
                Range::ALL.write(&opened, origin, sealed, &output)
            }
            None => whole(&opened, origin, sealed, &output, self.args.unpack.most()),
        };
        let metadata = if self.args.range().is_some() { &Metadata::default() } else { opened.metadata() };
        let attributes = attributes(metadata, self.args.unpack.mask());
        let done = match written {
            Ok(done) => done,
            Err(error) => {
                let is_damage = behind::is_damage(&error) && self.args.range().is_none();
                let failure = blame_output(error, &name, &output);
                if !is_damage || !output.is_positioned() {
                    return Err(failure);
                }
                let failure = behind::file(&opened, origin, self, output, attributes, failure);
                return Err(behind::advised(failure, origin, self));
            }
        };
        let Verdict { mut notes, more, .. } = self.judge.verdict(&name, &opened, done.signatures.as_ref())?;
        notes.extend(renamed);
        let bytes = done.plain;
        let place =
            output.land(attributes, self.args.output.sync).map_err(|failure| self.one_of_several(origin, failure))?;
        self.claims.made(&place);
        Ok(Done { output: Some(place), bytes, notes, more, ..Done::default() })
    }

    /// Makes a long result in a store in parts, so that another run can continue after an interruption. Returns `None`
    /// if this result cannot be made in parts.
    fn divided(&self, origin: &Origin<'_>, opened: &Arc<Opened>, place: &Place) -> Result<Option<Done>, Failure> {
        let length = origin.positions.map_or(0, |(_, length)| length);
        let is_divided =
            length >= LONG && self.args.range().is_none() && !opened.is_signed() && !self.judge.is_required();
        let address = place.path().filter(|_| is_divided).map_or(Ok(None), remote::address)?;
        let (Some(address), Some(input), Some(many)) = (address, origin.input, self.many) else { return Ok(None) };
        self.claims.check(place, origin.source)?;
        let force = self.args.output.force;
        remote::refuse_existing(&address, force)?;
        let Some(bytes) = many.one(input, &address, force, &OpenedParts(Arc::clone(opened)), None)? else {
            return Ok(None);
        };
        self.claims.made(place);
        Ok(Some(Done { output: Some(place.clone()), bytes, ..Done::default() }))
    }

    /// Refuses data that are longer than the user allows.
    fn check_length(&self, opened: &Opened, origin: &Origin<'_>) -> Result<(), Failure> {
        let most = self.args.unpack.most();
        let Some((input, length)) = origin.positions.filter(|_| most < u64::MAX) else { return Ok(()) };
        let reader = opened.seek_in(Cursor::new(input, length));
        let reader = reader.map_err(|error| Failure::seal(&origin.name, error))?;
        if reader.length() > most { Err(too_long(&origin.name, TooLong(most))) } else { Ok(()) }
    }

    /// Checks the signatures that the user requires, before anything is written. If the input cannot be read at any
    /// position, only checks that the input is signed.
    fn judge_first(&self, opened: &Opened, origin: &Origin<'_>) -> Result<(), Failure> {
        if !self.judge.is_required() {
            return Ok(());
        }
        let signatures = match origin.positions {
            _ if !opened.is_signed() => None,
            Some((input, length)) => opened
                .check_signatures(Cursor::new(input, length))
                .map_err(|error| Failure::seal(&origin.name, error))?,
            None => return Ok(()),
        };
        self.judge.verdict(&origin.name, opened, signatures.as_ref()).map(drop)
    }

    /// If `-o` is missing, returns the place of the output. If the output's name comes from the sealed file's name, but
    /// the signature is for another name, sets `renamed` to a note.
    fn usual(
        &self,
        origin: &Origin<'_>,
        opened: &Opened,
        in_folder: bool,
        renamed: &mut Option<String>,
    ) -> Result<Place, Failure> {
        let place = usual_place(origin, opened.metadata(), in_folder);
        let place = place.map_err(|failure| self.one_of_several(origin, failure))?;
        if let Some(own) = bare_name(origin) {
            *renamed = self.judge.own_name(&origin.name, opened, &own)?;
        }
        Ok(place)
    }

    /// If the command has several outputs, adds the names of the pictures to a failure about their output. The sender
    /// chose the output's name, so this name does not show which pictures caused the failure. With several outputs,
    /// `-o` can only be a folder.
    fn one_of_several(&self, origin: &Origin<'_>, failure: Failure) -> Failure {
        match origin.stem {
            Some(_) => self.picture_of_several(&origin.name, failure),
            None => failure,
        }
    }

    /// Does the same as `one_of_several`, for pictures whose hidden bytes are written without being opened.
    pub fn picture_of_several(&self, name: &str, failure: Failure) -> Failure {
        let hint = match failure.exit {
            _ if self.results < 2 => return failure,
            Exit::Usage => Some("reveal it in a command of its own, and name its output with -o".into()),
            _ => failure.hint,
        };
        Failure { hint, ..failure }.about(name)
    }
}

/// Writes all data, at most `most` bytes.
fn whole(
    opened: &Opened,
    origin: &Origin<'_>,
    sealed: Sealed<'_>,
    output: &Output,
    most: u64,
) -> Result<Summary, Error> {
    if output.is_terminal() {
        // No progress bar is shown, because the terminal already shows the text.
        let text = Limited::new(TextOnly::new(output.writer()), most);
        return opened.open_stream(sealed.payload, text, &Work::default());
    }
    // A store answers each request with a delay, so the program reads an object in order, and sends requests for the
    // next bytes in advance.
    let positions = origin.positions.filter(|_| !origin.is_remote());
    match (positions, output.positions()) {
        (Some((input, length)), Some(file)) => {
            if most < u64::MAX && opened.seek_in(Cursor::new(input, length))?.length() > most {
                return Err(Error::Write(io::Error::other(TooLong(most))));
            }
            watched(opened, origin, |work| opened.open_at(&input, length, file, work))
        }
        _ => pass(opened, origin, sealed, Limited::new(output.writer(), most)),
    }
}

fn pass(opened: &Opened, origin: &Origin<'_>, sealed: Sealed<'_>, output: impl Write + Send) -> Result<Summary, Error> {
    watched(opened, origin, |work| opened.open_stream(sealed.payload, output, work))
}

/// Runs `act` with a progress bar.
fn watched<T>(
    opened: &Opened,
    origin: &Origin<'_>,
    act: impl FnOnce(&Work<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    // The length of the sealed file does not show how long compressed data are.
    let progress = Progress::new(&origin.name, origin.length.filter(|_| !opened.is_compressed()));
    let add = |bytes| progress.add(bytes);
    act(&Work { progress: Some(&add), ..Work::default() })
}

fn too_long(input: &str, long: TooLong) -> Failure {
    Failure::new(Exit::Data, format!("{input}: {long}"), "allow more with --max-size")
}

fn blame_output(error: Error, input: &str, output: &Output) -> Failure {
    match error {
        Error::Write(inner) if inner.get_ref().is_some_and(|inner| inner.is::<NotText>()) => {
            let hint = "name a file with -o, or send it to another program";
            Failure::usage(format!("{input} holds bytes, and a terminal shows text"), hint)
        }
        Error::Write(ref inner)
            if let Some(long) = inner.get_ref().and_then(|inner| inner.downcast_ref::<TooLong>()) =>
        {
            too_long(input, *long)
        }
        error => Failure::blame(error, input, &output.shown()),
    }
}

/// Returns the input's path without the extension `.dpn` or `.age`. Returns `None` if the path has neither extension.
pub fn bare(source: &Source) -> Option<PathBuf> {
    without_ending(source, &ENDINGS)
}

/// Returns the input's path without its extension, if the path has one of the extensions `endings`.
fn without_ending(source: &Source, endings: &[&str]) -> Option<PathBuf> {
    let path = source.path()?;
    let name = path.file_name()?.as_bytes();
    let bare =
        endings.iter().find_map(|ending| name.strip_suffix(ending.as_bytes())).filter(|bare| !bare.is_empty())?;
    let bare = OsStr::from_bytes(bare);
    Some(remote::beside(path, bare))
}

/// Returns the output's name: the name of the sealed file without its extension.
fn bare_name(origin: &Origin<'_>) -> Option<OsString> {
    let path = bare(origin.source).filter(|_| origin.stem.is_none())?;
    Some(Path::new(&path).file_name()?.to_owned())
}

/// If `-o` is missing, returns the place of the output: the input's path without its extension, or the sealed name. The
/// extension `.html` is removed only if the result is the sealed name, or if there is no sealed name.
/// Data from standard input go to standard output, unless the result goes into a folder.
fn usual_place(origin: &Origin<'_>, metadata: &Metadata, in_folder: bool) -> Result<Place, Failure> {
    if let Some(stem) = origin.stem {
        // The sender may also have chosen the name of a picture, so that name is checked like a sealed name.
        return sealed_name(metadata.name.as_deref().unwrap_or(stem)).map(|name| Place::Sealed(name.into()));
    }
    let source = origin.source;
    if let Some(bare) = bare(source) {
        return Ok(Place::Given(bare));
    }
    // The name of a page counts only if it fits the sealed name, or if there is no sealed name.
    let page = without_ending(source, &[PAGE]);
    let is_named = |page: &&PathBuf| {
        let own = page.file_name().map(OsStrExt::as_bytes);
        metadata.name.as_deref().is_none_or(|name| own == Some(name))
    };
    if let Some(bare) = page.as_ref().filter(is_named) {
        return Ok(Place::Given(bare.clone()));
    }
    match (source.path(), &metadata.name) {
        (None, _) if !in_folder => Ok(Place::Stdout),
        (path, Some(name)) => {
            let folder = path.filter(|path| !remote::is_address(path)).and_then(Path::parent).unwrap_or(Path::new(""));
            Ok(Place::Sealed(folder.join(sealed_name(name)?)))
        }
        (path, None) => {
            let what = path.map_or("standard input".into(), shown);
            Err(Failure::usage(format!("{what} does not say what its contents are called"), "name the output with -o"))
        }
    }
}

/// Returns the sealed name if the name is safe. The sender chose the name. A name that begins with a dot can be a file
/// that programs execute (`.bashrc`). A name that begins with a dash can become an option of the next command (`rm *`).
/// A name with invisible characters can look like another name.
pub fn sealed_name(name: &[u8]) -> Result<&OsStr, Failure> {
    let why = match name {
        [] => "is empty",
        [b'.', ..] => "begins with a dot",
        [b'-', ..] => "begins with a dash",
        name if name.contains(&b'/') => "is a path",
        // On Windows, a backslash or a colon would lead to another folder, drive or stream.
        name if cfg!(windows) && names::windows::flaw(name).is_some() => "is no name for a file on Windows",
        name if has_outer_space(name) => "begins or ends with white space",
        name if !is_plain(name) => "has characters that a terminal does not show",
        _ => return Ok(OsStr::from_bytes(name)),
    };
    Err(Failure::usage(
        format!("the sealed name {} {why}, and the sender chose it", bytes(name)),
        "name the output with -o",
    ))
}

/// Whether a name begins or ends with white space. A name with white space at the beginning or the end looks like the
/// same name without this white space. Inside a name, white space is common: macOS writes U+202F into the names of
/// screenshots.
fn has_outer_space(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|name| name.trim() != name)
}

/// Returns the sealed time and mode as attributes of the output. Removes the bits in `mask` and the bits setuid, setgid
/// and sticky from the mode.
pub fn attributes(metadata: &Metadata, mask: u32) -> Attributes {
    let usual = Attributes::usual();
    Attributes { mode: metadata.mode.map_or(usual.mode, |mode| mode & 0o777 & !mask), modified: metadata.modified }
}
