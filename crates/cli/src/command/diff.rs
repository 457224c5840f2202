//! `deadpan diff`: compares a sealed folder or file with the folder or file on the disk.

mod each;
mod row;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::command::folder::ExcludeArgs;
use crate::command::open::range::library;
use crate::command::open::{bare, sealed_name};
use crate::command::plan::Plan;
use crate::command::repair::sidecar;
use crate::key::identity::IdentityArgs;
use crate::place::archive::Archive;
use crate::place::input::{Input, Source, is_special};
use crate::place::sealed::Sealed;
use crate::place::{remote, report};
use crate::tell::clock::since_1970;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::{joined, put_name};
use crate::tell::progress::Progress;
use crate::tell::shown::{count, shown};
use crate::tell::streams::{print, print_json};
use deadpan_disk::About;
use deadpan_pack::{Comparison, Contents, Differs, Error};
use deadpan_seal::{Metadata, Opened};
use row::{DiffRow, Side};

/// Compares a sealed folder or file with the disk: what was added, removed or changed since
///
/// Files are the same if their sizes and times are. The exit code is 1 if there are differences.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan diff photos.dpn                 with the folder photos beside it",
    "deadpan diff photos.dpn ~/photos        with another folder",
    "deadpan diff --contents photos.dpn      reads all files, and compares their contents",
    "deadpan diff --exclude '*.tmp' src.dpn  without what was left out when the folder was sealed",
    "deadpan diff report.pdf.dpn             a sealed file",
    "deadpan diff --json photos.dpn          one object per difference",
    "deadpan diff --each sealed photos       the results of seal --each with their sources"
))]
pub struct DiffArgs {
    #[command(flatten)]
    keys: IdentityArgs,
    /// Compare the contents of all files, and not only their sizes and times
    #[arg(long)]
    contents: bool,
    /// Compare the results of `seal --each` in the folder FILE with the files in the folder PATH: what is missing, what
    /// has no file any more, what is older or has another size. Sizes take a private key
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    exclude: ExcludeArgs,
    /// Print JSON, one object per line. If a path is not UTF-8, path is null, and path_hex contains the bytes
    #[arg(long)]
    json: bool,
    /// The sealed file, or an archive that deadpan pack made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder or file to compare it with [default: the one that open or unpack would make from FILE]
    #[arg(value_name = "PATH")]
    other: Option<PathBuf>,
}

impl DiffArgs {
    pub fn plan(self) -> Result<Diff, Failure> {
        let [source] = &Source::all(vec![self.file.clone()])?[..] else { unreachable!("one file is one source") };
        if *source == Source::Stdin {
            return Err(Failure::usage("standard input cannot be compared", "save it to a file first"));
        }
        Ok(Diff { source: source.clone(), args: self })
    }
}

/// A validated `deadpan diff` command.
pub struct Diff {
    source: Source,
    args: DiffArgs,
}

impl Plan for Diff {
    fn run(&self) -> Result<Exit, Failure> {
        if self.args.each {
            return self.each();
        }
        self.compare().map_err(|failure| sidecar::advised(&self.source, failure))
    }
}

impl Diff {
    fn compare(&self) -> Result<Exit, Failure> {
        refuse_special(self.source.path())?;
        let input = Input::open(&self.source)?.file_only("name a sealed file or an archive")?;
        let name = input.shown();
        let mut start = Vec::new();
        let mut tally = DiffTally::new(self.args.json, &self.source);
        if let Some(archive) = Archive::look(&input, &mut start)? {
            if !input.positioned {
                return Err(unpositioned(&name));
            }
            if archive == Archive::Foreign {
                return Err(no_index(&name));
            }
            self.folder(&mut tally, archive.anywhere(&input)?, archive.anywhere(&input)?, None)?;
            return tally.end();
        }
        let sealed = Sealed::begun(start, &input.data).map_err(|error| Failure::seal(&name, error))?;
        if sealed.armored || !input.positioned {
            return Err(unpositioned(&name));
        }
        let opened = self.args.keys.identities()?.open(&name, &sealed)?;
        let reader = || opened.seek_in(input.anywhere()).map_err(|error| Failure::seal(&name, error));
        if opened.metadata().kind == deadpan_seal::Kind::Folder {
            self.folder(&mut tally, reader()?, reader()?, opened.metadata().name.as_deref())?;
        } else {
            let reader = reader()?;
            let length = reader.length();
            self.file(&mut tally, &opened, length, reader)?;
        }
        tally.end()
    }

    /// Returns the path to compare with.
    fn other(&self, sealed: Option<&[u8]>) -> Result<PathBuf, Failure> {
        if let Some(other) = &self.args.other {
            return Ok(other.clone());
        }
        let path = self.source.path().unwrap_or(Path::new(""));
        let found = match (bare(&self.source), sealed) {
            (Some(bare), _) => Some(bare),
            (None, Some(name)) => Some(remote::beside(path, sealed_name(name)?)),
            (None, None) => Archive::bare(path),
        };
        let unnamed = || Failure::usage(format!("it is not clear what {} is compared with", shown(path)), HINT);
        let found = found.filter(|found| !remote::is_address(found)).ok_or_else(unnamed)?;
        match About::of_path(&found) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Failure::usage(format!("{} does not exist", shown(&found)), HINT))
            }
            _ => Ok(found),
        }
    }

    fn folder<R: Read + Seek>(
        &self,
        tally: &mut DiffTally<'_>,
        reader: R,
        other: R,
        sealed: Option<&[u8]>,
    ) -> Result<(), Failure> {
        let name = self.source.shown();
        let failed = |error| Failure::pack(&name, error);
        let Some(mut contents) = Contents::read(reader).map_err(failed)? else {
            return Err(no_index(&name));
        };
        let path = self.other(sealed)?;
        refuse_special(Some(&path))?;
        let found = Input::open(&Source::File(path.clone()))?;
        if !found.is_folder() {
            let message = format!("{name} holds a folder, and {} is none", shown(&path));
            return Err(Failure::usage(message, HINT));
        }
        let progress = Progress::new(&name, None).hidden_if(!self.args.contents);
        let add = |bytes| progress.add(bytes);
        let mut comparison =
            Comparison::new(&mut contents, other, found.folder()?, self.args.exclude.rules()?).map_err(failed)?;
        if self.args.contents {
            comparison = comparison.by_contents(&add);
        }
        for difference in comparison {
            match difference {
                Ok(it) => tally.row(&DiffRow {
                    path: Some(&it.path),
                    differs: Some(it.differs),
                    packed: it.packed.as_ref().map(Side::of_entry),
                    found: it.found.as_ref().map(Side::of_about),
                })?,
                // The rest is still compared.
                Err(error @ Error::Entry { .. }) => tally.failed(&Failure::pack("", error))?,
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    fn file(&self, tally: &mut DiffTally<'_>, opened: &Opened, length: u64, reader: impl Read) -> Result<(), Failure> {
        let path = self.other(opened.metadata().name.as_deref())?;
        refuse_special(Some(&path))?;
        let found = Input::open(&Source::File(path.clone()))?;
        let Some((file, about)) = found.file().zip(found.about).filter(|(_, about)| about.is_file()) else {
            let message = format!("{} holds a file, and {} is none", self.source.shown(), shown(&path));
            return Err(Failure::usage(message, HINT));
        };
        let compares = self.args.contents || opened.metadata().modified.is_none();
        let reader = compares.then_some(reader);
        let name = self.source.shown();
        match compared(&name, opened.metadata(), Some(length), reader, file, &about)? {
            Some(differing) => tally.row(&DiffRow { path: None, ..differing }),
            None => Ok(()),
        }
    }
}

/// Compares a sealed file with a file. Compares the contents if there is a reader of the sealed data, and otherwise the
/// times. `length` is the length of the sealed data, if it is known. Returns the difference, without a path.
fn compared(
    name: &str,
    metadata: &Metadata,
    length: Option<u64>,
    reader: Option<impl Read>,
    file: &File,
    about: &About,
) -> Result<Option<DiffRow<'static>>, Failure> {
    let packed = Side::of_file(length, metadata.mode, metadata.modified.map(since_1970));
    let there = Side::of_about(about);
    let is_same_time = packed.modified.is_none() || packed.modified == there.modified;
    let is_same_mode = metadata.mode.is_none_or(|mode| mode & 0o777 == about.mode & 0o777);
    let is_other = length.is_some_and(|length| length != about.length)
        || match reader {
            Some(reader) => !is_same(name, reader, file, about.length)?,
            None => !is_same_time,
        };
    let differs = match (is_other, is_same_mode && is_same_time) {
        (true, _) => Differs::Contents,
        (false, false) => Differs::Attributes,
        (false, true) => return Ok(None),
    };
    Ok(Some(DiffRow { path: None, differs: Some(differs), packed: Some(packed), found: Some(there) }))
}

/// Whether sealed data and a file have the same contents. `length` is the length of the file.
fn is_same(name: &str, mut reader: impl Read, mut file: &File, length: u64) -> Result<bool, Failure> {
    let progress = Progress::new(name, Some(length));
    let unread = |error: io::Error| Failure::seal(name, library(error));
    let failed = |error: io::Error| Failure::io("read", "the file", &error);
    let (mut sealed, mut found) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let read = reader.read(&mut sealed).map_err(unread)?;
        if read == 0 {
            return Ok(file.read(&mut found[..1]).map_err(failed)? == 0);
        }
        match file.read_exact(&mut found[..read]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result.map_err(failed)?,
        }
        if sealed[..read] != found[..read] {
            return Ok(false);
        }
        progress.add(read as u64);
    }
}

fn refuse_special(path: Option<&Path>) -> Result<(), Failure> {
    match path.filter(|path| is_special(path)) {
        Some(path) => Err(Failure::usage(format!("{} is neither a file nor a folder", shown(path)), HINT)),
        None => Ok(()),
    }
}

const HINT: &str = "name what to compare it with: deadpan diff FILE PATH";

/// How many bytes are compared at once.
const PIECE: usize = 1 << 18;

fn no_index(name: &str) -> Failure {
    let hint = "unpack it, and compare the folders with: diff -r";
    Failure::usage(format!("{name} holds an archive without an index"), hint)
}

fn unpositioned(name: &str) -> Failure {
    Failure::usage(
        format!("{name} is a pipe or has armor, and is read only from its beginning to its end"),
        "write it without armor first: deadpan open -i KEY -o - FILE | deadpan seal -r KEY -o NEW.dpn",
    )
}

/// Prints the differences of one file, and counts them.
struct DiffTally<'a> {
    json: bool,
    source: &'a Source,
    lines: u64,
    /// How many paths could not be compared.
    failed: u64,
    worst: Exit,
}

impl<'a> DiffTally<'a> {
    fn new(json: bool, source: &'a Source) -> Self {
        Self { json, source, lines: 0, failed: 0, worst: Exit::Done }
    }

    fn row(&mut self, row: &DiffRow<'_>) -> Result<(), Failure> {
        self.lines += 1;
        if !self.json {
            return print(&row.text(self.source));
        }
        let mut fields = self.source.fields();
        put_name(&mut fields, "path", Some(row.path.unwrap_or_default()));
        print_json(&joined(fields, row.json()))
    }

    /// Reports a path that cannot be compared.
    fn failed(&mut self, failure: &Failure) -> Result<(), Failure> {
        self.worst = self.worst.max(failure.exit);
        self.failed += 1;
        if self.json {
            return print_json(&report::failed("diff", self.source, failure));
        }
        failure.say();
        Ok(())
    }

    fn end(self) -> Result<Exit, Failure> {
        let same =
            if self.lines == 0 { "no difference".into() } else { count(self.lines, "difference", "differences") };
        let failed = match self.failed {
            0 => String::new(),
            failed => format!("; {} could not be compared", count(failed, "path", "paths")),
        };
        if !self.json {
            say(&format!("diff: {}: {same}{failed}", self.source.shown()));
        }
        Ok(self.worst.max(if self.lines > 0 { Exit::Data } else { Exit::Done }))
    }
}
