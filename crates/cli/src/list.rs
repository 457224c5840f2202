//! `deadpan list`: what is in a folder that was sealed, or in an archive.

mod clock;
mod listing;
mod row;
mod tree;

use crate::failure::{Exit, Failure, help};
use crate::home::Home;
use crate::identity::Identities;
use crate::input::{Input, Source};
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::plan::Plan;
use crate::report::print;
use crate::sealed::Sealed;
use deadpan_pack::{BLOCK, Contents, Kind, Listed, Scan, Selection, Time, is_archive};
use deadpan_seal::{Metadata, Opened, Work};
use listing::{Ended, Form, Listing};
use row::Row;
use std::io::{self, Cursor, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Lists what is in a sealed folder, or in any tar archive, without opening more than that takes
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan list photos.dpn                       a line an entry: mode, size, time in UTC, path",
    "deadpan list --only 'photos/2024' photos.dpn  a folder in it and all that is in that",
    "deadpan list --only '**/*.jpg' photos.dpn     what a pattern matches: * ? [a-z] and **",
    "deadpan list --tree photos.dpn                drawn as a tree",
    "deadpan list --json photos.dpn                an object an entry, with BLAKE3 and exact time",
    "tar c photos | deadpan list                   an archive that is not sealed takes no key"
))]
pub struct ListArgs {
    /// Open with this private key: a file, or the name of one of your own keys; several are possible. Otherwise all of your own are tried
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Only this file, this folder and all that is in it, or what this pattern matches; several are possible
    #[arg(long, value_name = "PATH")]
    only: Vec<PathBuf>,
    /// Draw a tree of the names
    #[arg(long, conflicts_with = "json")]
    tree: bool,
    #[command(flatten)]
    source: PassphraseArgs,
    /// Print JSON, an object a line. A path that is no UTF-8 is null, and its bytes are in path_hex
    #[arg(long)]
    json: bool,
    /// What to list; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Files to be listed.
pub struct List {
    args: ListArgs,
    sources: Vec<Source>,
    only: Option<Selection>,
}

impl ListArgs {
    pub fn plan(self) -> Result<List, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.source.leave_stdin_to(&sources)?;
        let only = (!self.only.is_empty()).then(|| Selection::new(self.only.iter().map(|path| path.as_os_str().as_bytes().to_vec())));
        Ok(List { args: self, sources, only })
    }
}

impl Plan for List {
    fn run(&self) -> Result<Exit, Failure> {
        let form = match (self.args.json, self.args.tree) {
            (true, _) => Form::Json,
            (_, true) => Form::Tree,
            _ => Form::Text,
        };
        let mut job = Job { list: self, form, identities: None };
        let mut worst = Exit::Done;
        for source in &self.sources {
            if self.sources.len() > 1 && form != Form::Json {
                print(&format!("{}:\n", source.shown()))?;
            }
            match job.list(source) {
                Ok(()) => {}
                Err(Ended::Output(failure)) => return Err(failure),
                Err(Ended::Input(failure)) => {
                    worst = worst.max(failure.exit);
                    match form {
                        Form::Json => print(&listing::failed(&source.shown(), &failure))?,
                        _ => failure.say(),
                    }
                }
            }
        }
        Ok(worst)
    }
}

/// All that is the same for every file.
struct Job<'a> {
    list: &'a List,
    form: Form,
    /// Looked for when there is something to open.
    identities: Option<Identities>,
}

impl Job<'_> {
    fn list(&mut self, source: &Source) -> Result<(), Ended> {
        let input = Input::open(source)?;
        let name = input.shown();
        let mut listing = Listing::new(self.form, &name);
        let mut start = Vec::new();
        (&input.file).take(BLOCK).read_to_end(&mut start).map_err(|error| Failure::io("read", &name, &error))?;
        if is_archive(&start) {
            if input.positioned {
                self.anywhere(&mut listing, &input.file)?;
            } else {
                self.through(&mut listing, Scan::stream(Cursor::new(start).chain(&input.file)))?;
            }
            return listing.end();
        }
        let sealed = Sealed::begun(&name, start, &input.file).map_err(neither)?;
        let opened = self.open(&name, &sealed)?;
        let failed = |error| Failure::of(&name, error);
        let folder = opened.metadata().kind == deadpan_seal::Kind::Folder;
        match (folder, input.positioned && !sealed.armored) {
            (true, true) => self.anywhere(&mut listing, opened.seekable(&input.file).map_err(failed)?)?,
            (true, false) => self.through(&mut listing, Scan::stream(opened.reader(sealed.payload).map_err(failed)?))?,
            (false, anywhere) => {
                if self.list.only.is_some() {
                    return Err(
                        Failure::usage(format!("{name} holds no folder, so there is no part of it to list"), "leave out --only").into()
                    );
                }
                let size = if anywhere {
                    opened.seekable(&input.file).map_err(failed)?.length()
                } else {
                    opened.stream(sealed.payload, io::sink(), &Work::default()).map_err(failed)?.plain
                };
                single(&mut listing, opened.metadata(), size)?;
            }
        }
        listing.end()
    }

    fn open(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Opened, Failure> {
        if self.identities.is_none() {
            let args = &self.list.args;
            self.identities = Some(Identities::collect(&args.identities, &Home::find()?, Passphrases::new(&args.source))?);
        }
        match &mut self.identities {
            Some(identities) => identities.open(name, sealed),
            None => Err(Failure::usage("no key", "name one with -i")),
        }
    }

    /// Jumps to what it needs.
    fn anywhere<R: Read + Seek>(&self, listing: &mut Listing<'_>, mut input: R) -> Result<(), Ended> {
        let name = listing.file().to_owned();
        let failed = |error| Failure::pack(&name, error);
        let Some(mut contents) = Contents::read(&mut input).map_err(failed)? else {
            return self.through(listing, Scan::seekable(&mut input).map_err(failed)?);
        };
        listing.under(contents.root_name());
        let Some(only) = &self.list.only else {
            return contents.entries().try_for_each(|entry| listing.entry(&entry.map_err(failed)?));
        };
        let chosen = only.within(&mut contents).map_err(failed)?;
        chosen.entries(&mut contents).try_for_each(|pick| listing.entry(&pick.map_err(failed)?.entry))
    }

    /// Goes from header to header.
    fn through<R: Read>(&self, listing: &mut Listing<'_>, mut scan: Scan<R>) -> Result<(), Ended> {
        let name = listing.file().to_owned();
        let mut filter = self.list.only.as_ref().map(Selection::filter);
        while let Some(listed) = scan.next().transpose().map_err(|error| Failure::pack(&name, error))? {
            let root = scan.root_name();
            match listed {
                Listed::Entry(entry) => {
                    listing.under(root.unwrap_or_default());
                    if filter.as_mut().is_none_or(|filter| filter.takes(&entry.path, root)) {
                        listing.entry(&entry)?;
                    }
                }
                Listed::Refused { path, why } if filter.as_mut().is_none_or(|filter| filter.takes(&path, root)) => {
                    listing.refused(&path, &why)?;
                }
                _ => {}
            }
        }
        filter.map_or(Ok(()), |filter| filter.finish()).map_err(|error| Failure::pack(&name, error).into())
    }
}

/// Where a file is not sealed, it could have been an archive, too.
fn neither(failure: Failure) -> Failure {
    match failure.message.contains("not a sealed file") {
        true => Failure { message: failure.message.replace("not a sealed file", "neither a sealed file nor a tar archive"), ..failure },
        false => failure,
    }
}

/// What was sealed and is no folder.
fn single(listing: &mut Listing<'_>, metadata: &Metadata, size: u64) -> Result<(), Ended> {
    let Metadata { name, mode, modified, .. } = metadata;
    let modified = modified.map(since_1970);
    listing.row(&Row { path: name.as_deref(), kind: Kind::File, size, mode: *mode, modified, target: None, entry: None })
}

/// Seconds, rounded down, and nanoseconds after that.
fn since_1970(time: SystemTime) -> Time {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => Time { seconds: after.as_secs().try_into().unwrap_or(i64::MAX), nanoseconds: after.subsec_nanos() },
        Err(before) => {
            let before = before.duration();
            let up = i64::from(before.subsec_nanos() > 0);
            let seconds = 0_i64.saturating_sub_unsigned(before.as_secs()).saturating_sub(up);
            Time { seconds, nanoseconds: (1_000_000_000 - before.subsec_nanos()) % 1_000_000_000 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_before_1970() {
        let before = |duration| since_1970(UNIX_EPOCH - duration);
        assert_eq!(before(Duration::new(5, 0)), Time { seconds: -5, nanoseconds: 0 });
        assert_eq!(before(Duration::new(5, 1)), Time { seconds: -6, nanoseconds: 999_999_999 });
        assert_eq!(since_1970(UNIX_EPOCH + Duration::new(5, 1)), Time { seconds: 5, nanoseconds: 1 });
    }
}
