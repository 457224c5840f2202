//! `deadpan open`: sealed files become files again.

mod folder;
mod range;

use crate::failure::{Exit, Failure, help};
use crate::folder::UnpackArgs;
use crate::home::Home;
use crate::identity::Identities;
use crate::input::{Input, Source};
use crate::output::{self, Output, Place};
use crate::partial::{Landing, exists};
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::plan::Plan;
use crate::process;
use crate::progress::Progress;
use crate::report::{Done, Report};
use crate::seal::{ENDING, blame};
use crate::sealed::Sealed;
use crate::shown::{bytes, is_plain, shown};
use crate::window::{NotText, TextOnly};
use deadpan_seal::{Error, Kind, Metadata, Opened, Work};
use range::Range;
use std::ffi::OsStr;
use std::fs::{FileTimes, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Opens sealed files and folders: FILE.dpn becomes FILE, with its time and mode
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan open report.pdf.dpn               with your own keys: report.pdf",
    "deadpan open -i work.key -o - notes.dpn   with this key, to standard output",
    "deadpan open --verify *.dpn               are they whole? nothing is written",
    "deadpan open --range 4096:100 data.dpn    100 bytes out of the middle, to standard output",
    "deadpan open --only 'photos/*.jpg' photos.dpn  a part of a folder; `deadpan list` shows what there is",
    "ssh host cat photos.dpn | deadpan open --only notes.txt -o photos  out of a pipe, too",
    "deadpan open -o - photos.dpn | tar x      a folder is a tar archive"
))]
pub struct OpenArgs {
    /// Open with this private key: a file, or the name of one of your own keys; several are possible. Otherwise all of your own are tried
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Where the opened file goes; a folder is possible, and - is standard output
    #[arg(short, long, value_name = "OUT", conflicts_with = "verify")]
    output: Option<PathBuf>,
    /// Open only LEN bytes from OFFSET on (either may be left out), to standard output unless -o says otherwise
    #[arg(long, value_name = "OFFSET:LEN", conflicts_with = "verify")]
    range: Option<Range>,
    /// Open everything, write nothing
    #[arg(long)]
    verify: bool,
    /// Of a folder, only this file, this folder and all that is in it, or what this pattern matches; several are possible
    #[arg(long, value_name = "PATH", conflicts_with_all = ["range", "verify"])]
    only: Vec<PathBuf>,
    #[command(flatten)]
    source: PassphraseArgs,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Have the opened file on the disk before saying that it is done
    #[arg(long)]
    sync: bool,
    /// Replace an output that exists
    #[arg(short, long)]
    force: bool,
    /// Print the results as JSON, an object a line
    #[arg(long)]
    json: bool,
    /// What to open; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Files to be opened.
pub struct Open {
    args: OpenArgs,
    sources: Vec<Source>,
}

impl OpenArgs {
    pub fn plan(self) -> Result<Open, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.source.leave_stdin_to(&sources)?;
        if sources.len() > 1 && (self.output.as_deref() == Some(Path::new("-")) || self.range.is_some() && self.output.is_none()) {
            return Err(Failure::usage(
                "several files in one stream cannot be told apart",
                "open them one by one, or into a folder with -o",
            ));
        }
        Ok(Open { args: self, sources })
    }
}

impl Plan for Open {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        output::check_room(args.output.as_deref(), self.sources.len())?;
        let home = Home::find()?;
        let identities = Identities::collect(&args.identities, &home, Passphrases::new(&args.source))?;
        let mut job = Job { args, identities };
        let to_stdout = !args.verify
            && (args.output.as_deref() == Some(Path::new("-"))
                || args.output.is_none() && (self.sources.contains(&Source::Stdin) || args.range.is_some()));
        let mut report = Report::new("open", args.json, self.sources.len()).aside(to_stdout);
        if args.verify {
            report = report.talking();
        }
        for source in &self.sources {
            let start = Instant::now();
            report.add(&source.shown(), start, &job.open(source));
        }
        Ok(report.exit())
    }
}

/// All that is the same for every file.
struct Job<'a> {
    args: &'a OpenArgs,
    identities: Identities,
}

impl Job<'_> {
    /// Where the output's name is known before the file is open, an output that exists is refused before anybody types a passphrase in vain.
    fn refuse_existing(&self, source: &Source) -> Result<(), Failure> {
        let args = self.args;
        let path = match args.output.as_deref() {
            Some(folder) if folder.is_dir() => bare(source).and_then(|bare| bare.file_name().map(|name| folder.join(name))),
            Some(file) => Some(file.into()),
            None if args.range.is_some() => None,
            None => bare(source),
        };
        match path.filter(|path| !args.force && !args.verify && (path.is_file() || args.only.is_empty() && path.is_dir())) {
            Some(path) => Err(exists(&path)),
            None => Ok(()),
        }
    }

    /// Whether a folder is to go out as the archive that it is.
    fn wants_bytes(&self, source: &Source) -> bool {
        let args = self.args;
        let to_stdout = args.output.as_deref().map_or(*source == Source::Stdin, |output| output == Path::new("-"));
        args.range.is_some() || args.only.is_empty() && to_stdout
    }

    fn open(&mut self, source: &Source) -> Result<Done, Failure> {
        let input = Input::open(source)?.file_only("name a sealed file; folders are sealed as one: deadpan seal FOLDER")?;
        let name = input.shown();
        let mut sealed = Sealed::read(&name, &input.file)?;
        self.refuse_existing(source)?;
        let opened = self.identities.open(&name, &sealed)?;
        if self.args.verify {
            let bytes = pass(&opened, &input, sealed, io::sink()).map_err(|error| Failure::of(&name, error))?;
            return Ok(Done { bytes, remark: Some("whole and unchanged".into()), ..Done::default() });
        }
        if opened.metadata().kind == Kind::Folder && !self.wants_bytes(source) {
            return folder::open(&opened, &input, &mut sealed, self.args);
        }
        if !self.args.only.is_empty() {
            let hint = "leave out --only, or name a range with --range";
            return Err(Failure::usage(format!("{name} holds no folder, so there is no part of it to open"), hint));
        }
        let usual = || match self.args.range {
            Some(_) if self.args.output.is_none() => Ok(Place::Stdout),
            _ => usual_place(source, opened.metadata(), self.args.output.is_some()),
        };
        let output = Output::open(&Place::resolve(self.args.output.as_deref(), usual)?, self.args.force, Some(&input))?;
        let written = match self.args.range {
            Some(range) => range.write(&opened, &input, sealed, &output),
            None => whole(&opened, &input, sealed, &output),
        };
        let bytes = written.map_err(|error| blame_output(error, &name, &output))?;
        if let Output::Partial(partial, path) = &output {
            let metadata = if self.args.range.is_some() { &Metadata::default() } else { opened.metadata() };
            restore(metadata, partial.file()).map_err(|error| Failure::path("set time and mode of", path, &error))?;
        }
        let place = output.shown();
        output.land(Landing { replace: self.args.force, sync: self.args.sync })?;
        Ok(Done { output: Some(place), bytes, ..Done::default() })
    }
}

fn whole(opened: &Opened, input: &Input, sealed: Sealed<'_>, output: &Output) -> Result<u64, Error> {
    if output.is_terminal() {
        return pass(opened, input, sealed, TextOnly::new(output.file()));
    }
    if !(input.positioned && output.is_positioned()) || sealed.armored {
        return pass(opened, input, sealed, output.file());
    }
    watched(input, |work| opened.file(&input.file, output.file(), work)).map(|summary| summary.plain)
}

/// All of it, as a stream.
fn pass(opened: &Opened, input: &Input, sealed: Sealed<'_>, output: impl Write + Send) -> Result<u64, Error> {
    watched(input, |work| opened.stream(sealed.payload, output, work)).map(|summary| summary.plain)
}

/// With a bar.
fn watched<T>(input: &Input, act: impl FnOnce(&Work<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let progress = Progress::new(&input.shown(), input.length());
    let add = |bytes| progress.add(bytes);
    act(&Work { progress: Some(&add), ..Work::default() })
}

fn blame_output(error: Error, input: &str, output: &Output) -> Failure {
    match error {
        Error::Write(inner) if inner.get_ref().is_some_and(|inner| inner.is::<NotText>()) => {
            let hint = "name a file with -o, or send it to another program";
            Failure::usage(format!("{input} holds bytes, and a terminal shows text"), hint)
        }
        error => blame(error, input, &output.shown()),
    }
}

/// FILE without its ending, if it has that.
fn bare(source: &Source) -> Option<PathBuf> {
    let path = source.path()?;
    let bare = path.file_name()?.as_bytes().strip_suffix(ENDING.as_bytes()).filter(|bare| !bare.is_empty())?;
    Some(path.with_file_name(OsStr::from_bytes(bare)))
}

/// FILE without its ending; otherwise, and in a folder for what has no name, the sealed name.
fn usual_place(source: &Source, metadata: &Metadata, in_folder: bool) -> Result<Place, Failure> {
    if let Some(bare) = bare(source) {
        return Ok(Place::File(bare));
    }
    match (source.path(), &metadata.name) {
        (None, _) if !in_folder => Ok(Place::Stdout),
        (path, Some(name)) => {
            let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
            Ok(Place::File(folder.join(sealed_name(name)?)))
        }
        (path, None) => {
            let what = path.map_or("standard input".into(), shown);
            Err(Failure::usage(format!("{what} does not say what its contents are called"), "name the output with -o"))
        }
    }
}

/// The name from inside, if it is one: whoever sealed the file chose it.
fn sealed_name(name: &[u8]) -> Result<&OsStr, Failure> {
    let is_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0);
    if is_name && is_plain(name) {
        return Ok(OsStr::from_bytes(name));
    }
    Err(Failure::usage(format!("the sealed name {} is not a safe name for a file", bytes(name)), "name the output with -o"))
}

/// Time and mode as they were; never a bit that lends its owner's rights to others.
fn restore(metadata: &Metadata, file: &std::fs::File) -> io::Result<()> {
    let mode = metadata.mode.map_or(0o666 & !process::umask(), |mode| mode & 0o777);
    file.set_permissions(Permissions::from_mode(mode))?;
    if let Some(modified) = metadata.modified {
        file.set_times(FileTimes::new().set_modified(modified))?;
    }
    Ok(())
}
