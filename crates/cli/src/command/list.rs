//! `deadpan list`: lists the entries of a sealed folder or of an archive.

mod listing;
mod row;
mod tree;

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::command::plan::Plan;
use crate::command::repair::sidecar;
use crate::key::identity::{Identities, IdentityArgs};
use crate::place::archive::Archive;
use crate::place::input::{Input, Source};
use crate::place::report;
use crate::place::sealed::Sealed;
use crate::tell::clock::since_1970;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::amount;
use crate::tell::streams::{print, print_json};
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{BLOCK, Chosen, Contents, Kind, Listed, Refusal, Scan, Selection, is_archive};
use deadpan_seal::{Error, Metadata, Opened, Work};
use listing::{Ended, ListForm, Listing};
use row::EntryRow;

/// Lists the entries of a sealed folder or of any tar archive
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan list photos.dpn                       one line per entry: mode, size, time, path",
    "deadpan list --only 'photos/2024' photos.dpn  a folder in it, with everything inside",
    "deadpan list --only '*.jpg' photos.dpn        the matches of a pattern as in .gitignore",
    "deadpan list --tree photos.dpn                drawn as a tree",
    "deadpan list --json photos.dpn                one object per entry, with BLAKE3 and exact time",
    "tar c photos | deadpan list                   an archive that is not sealed takes no key"
))]
pub struct ListArgs {
    /// List only this file, this folder with everything in it, or the matches of this pattern as in .gitignore. May be
    /// repeated
    #[arg(long, value_name = "PATH")]
    only: Vec<PathBuf>,
    /// Draw a tree of the names
    #[arg(long, conflicts_with = "json")]
    tree: bool,
    /// Show sizes in bytes, and times to the nanosecond in UTC. Otherwise, on a terminal, sizes are rounded and times
    /// local; JSON has them exactly
    #[arg(long, conflicts_with_all = ["json", "tree"])]
    exact: bool,
    #[command(flatten)]
    keys: IdentityArgs,
    /// Take all sealed files in the named folders and in their subfolders
    #[arg(long)]
    each: bool,
    /// Print JSON, one object per line. If a path is not UTF-8, path is null, and path_hex contains the bytes
    #[arg(long)]
    json: bool,
    /// The files to list; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A validated `deadpan list` command.
pub struct List {
    args: ListArgs,
    sources: Vec<Source>,
    only: Option<Selection>,
}

impl ListArgs {
    pub fn plan(self) -> Result<List, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.keys.source.leave_stdin_to(&sources)?;
        let only = (!self.only.is_empty())
            .then(|| Selection::new(self.only.iter().map(|path| path.as_os_str().as_bytes().to_vec())));
        Ok(List { args: self, sources, only })
    }
}

impl Plan for List {
    fn run(&self) -> Result<Exit, Failure> {
        let form = match (self.args.json, self.args.tree) {
            (true, _) => ListForm::Json,
            (_, true) => ListForm::Tree,
            _ => ListForm::Text,
        };
        let mut job = ListJob { list: self, form, identities: None };
        let mut worst = Exit::Done;
        let sources = Source::expanded(&self.sources, self.args.each)?;
        for source in &sources {
            if sources.len() > 1 && form != ListForm::Json {
                print(&format!("{}:\n", source.shown()))?;
            }
            match job.list(source) {
                Ok(()) => {}
                Err(Ended::Output(failure)) => return Err(failure),
                Err(Ended::Input(failure)) => {
                    let failure = sidecar::advised(source, failure);
                    worst = worst.max(failure.exit);
                    match form {
                        ListForm::Json => print_json(&report::failed("list", source, &failure))?,
                        _ => failure.say(),
                    }
                }
            }
        }
        Ok(worst)
    }
}

/// The options and keys that apply to every file.
struct ListJob<'a> {
    list: &'a List,
    form: ListForm,
    /// The user's keys. The program reads these keys when it opens the first sealed file.
    identities: Option<Identities>,
}

impl ListJob<'_> {
    fn list(&mut self, source: &Source) -> Result<(), Ended> {
        let hint = "name a sealed file or an archive, or list all sealed files in the folder with --each";
        let input = Input::open(source)?.file_only(hint)?;
        let name = input.shown();
        input.announce();
        let mut listing = Listing::new(self.form, self.list.args.exact, &name, source);
        let mut start = Vec::new();
        if let Some(archive) = Archive::look(&input, &mut start)? {
            if archive.has_positions(&input) {
                let mut reader = archive.anywhere(&input)?;
                let all = reader.seek(SeekFrom::End(0)).map_err(|error| Failure::io("read", &name, &error))?;
                self.anywhere(&mut listing, reader)?;
                let stored = input.length().filter(|_| archive == Archive::Compressed);
                stored.map_or(Ok(()), |stored| listing.note(&sizes(all, stored)))?;
            } else {
                self.through(&mut listing, Scan::stream(archive.through(&input, &start)))?;
            }
            return listing.end();
        }
        let sealed = Sealed::begun(start, &input.data).map_err(|error| neither(&name, error))?;
        let opened = self.open(&name, &sealed)?;
        let failed = |error| Failure::seal(&name, error);
        let folder = opened.metadata().kind == deadpan_seal::Kind::Folder;
        match (folder, input.positioned && !sealed.armored) {
            (true, true) => {
                let reader = opened.seek_in(&input.data).map_err(failed)?;
                let (all, stored) = (reader.length(), reader.compressed_length());
                self.anywhere(&mut listing, reader)?;
                stored.map_or(Ok(()), |stored| listing.note(&sizes(all, stored)))?;
            }
            (true, false) => {
                self.through(&mut listing, Scan::stream(opened.read_from(sealed.payload).map_err(failed)?))?
            }
            (false, anywhere) if opened.metadata().name.is_none() => {
                return self.stream(listing, &opened, &input, sealed, anywhere);
            }
            (false, anywhere) => {
                self.refuse_only(&name)?;
                if anywhere {
                    let reader = opened.seek_in(&input.data).map_err(failed)?;
                    single(&mut listing, opened.metadata(), reader.length())?;
                    let (all, stored) = (reader.length(), reader.compressed_length());
                    stored.map_or(Ok(()), |stored| listing.note(&sizes(all, stored)))?;
                } else {
                    let all = opened.open_stream(sealed.payload, io::sink(), &Work::default()).map_err(failed)?;
                    single(&mut listing, opened.metadata(), all.plain)?;
                }
            }
        }
        listing.end()
    }

    /// Lists the entries of data that were sealed from a stream, if these data are an archive.
    fn stream(
        &self,
        mut listing: Listing<'_>,
        opened: &Opened,
        input: &Input,
        sealed: Sealed<'_>,
        anywhere: bool,
    ) -> Result<(), Ended> {
        let name = input.shown();
        let failed = |error| Failure::seal(&name, error);
        let unread = |error: io::Error| failed(error.downcast().unwrap_or_else(Error::Read));
        let mut start = Vec::new();
        let size = if anywhere {
            let mut reader = opened.seek_in(&input.data).map_err(failed)?;
            reader.by_ref().take(BLOCK).read_to_end(&mut start).map_err(unread)?;
            if is_archive(&start) {
                self.anywhere(&mut listing, reader)?;
                return listing.end();
            }
            reader.length()
        } else {
            let mut reader = opened.read_from(sealed.payload).map_err(failed)?;
            reader.by_ref().take(BLOCK).read_to_end(&mut start).map_err(unread)?;
            if is_archive(&start) {
                self.through(&mut listing, Scan::stream(Cursor::new(start).chain(reader)))?;
                return listing.end();
            }
            start.len() as u64 + io::copy(&mut reader, &mut io::sink()).map_err(unread)?
        };
        self.refuse_only(&name)?;
        single(&mut listing, opened.metadata(), size)?;
        listing.end()
    }

    /// Returns an error if `--only` is used with an input that is not a folder.
    fn refuse_only(&self, name: &str) -> Result<(), Failure> {
        match self.list.only {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                format!("{name} holds no folder, so there is no part of it to list"),
                "leave out --only",
            )),
        }
    }

    fn open(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Opened, Failure> {
        if self.identities.is_none() {
            self.identities = Some(self.list.args.keys.identities()?);
        }
        match &mut self.identities {
            Some(identities) => identities.open(name, sealed),
            None => Err(Failure::usage("no key", "name one with -i")),
        }
    }

    /// Lists an input that can be read at any position. Uses the index if the input has an index.
    fn anywhere<R: Read + Seek>(&self, listing: &mut Listing<'_>, mut input: R) -> Result<(), Ended> {
        let name = listing.file().to_owned();
        let failed = |error| Failure::pack(&name, error);
        let Some(mut contents) = Contents::read(&mut input).map_err(failed)? else {
            return self.through(listing, Scan::seekable(&mut input).map_err(failed)?);
        };
        listing.under(contents.root_name());
        let chosen = self.list.only.as_ref().map(|only| only.within(&mut contents)).transpose().map_err(failed)?;
        let mut visit = |listing: &mut Listing<'_>| match &chosen {
            None => contents.entries().try_for_each(|entry| listing.entry(&entry.map_err(failed)?)),
            Some(chosen) => {
                chosen.entries(&mut contents).try_for_each(|pick| listing.entry(&pick.map_err(failed)?.entry))
            }
        };
        if listing.measure() {
            visit(listing)?;
            listing.draw();
        }
        visit(listing)?;
        let idle = chosen.iter().flat_map(Chosen::idle);
        idle.map(|wanted| Refusal::no_match(wanted).to_string()).try_for_each(|note| listing.note(&note))
    }

    /// Lists an archive by reading all headers in order.
    fn through<R: Read>(&self, listing: &mut Listing<'_>, mut scan: Scan<R>) -> Result<(), Ended> {
        let name = listing.file().to_owned();
        let mut filter = self.list.only.as_ref().map(Selection::filter);
        while let Some(listed) = scan.next().transpose().map_err(|error| Failure::pack(&name, error))? {
            let root = scan.root_name();
            match listed {
                Listed::Entry(entry) => {
                    listing.under(root.unwrap_or_default());
                    if filter.as_mut().is_none_or(|filter| filter.takes(&entry.path, entry.kind == Kind::Folder, root))
                    {
                        listing.entry(&entry)?;
                    }
                }
                Listed::Refused { path, flaw }
                    if filter.as_mut().is_none_or(|filter| filter.takes(&path, path.ends_with(b"/"), root)) =>
                {
                    listing.refused(&path, &flaw)?;
                }
                Listed::Note(note) => listing.note(&note)?,
                _ => {}
            }
        }
        if let Some(filter) = filter {
            let idle = filter.finish().map_err(|error| Failure::pack(&name, error))?;
            idle.iter().try_for_each(|wanted| listing.note(&Refusal::no_match(wanted).to_string()))?;
        }
        Ok(())
    }
}

/// Describes both lengths of compressed data.
fn sizes(all: u64, stored: u64) -> String {
    format!("{} compressed to {}", amount(all), amount(stored))
}

/// Returns the failure for a file that is neither a sealed file nor an archive.
fn neither(name: &str, error: Error) -> Failure {
    let looks_like = if let Error::NotSealed(looks_like) = error { Some(looks_like) } else { None };
    let failure = Failure::seal(name, error);
    match looks_like {
        Some(it) => Failure { message: format!("{name}: neither a sealed file nor a tar archive: {it}"), ..failure },
        None => failure,
    }
}

/// Lists a sealed file that contains a single file, and not a folder.
fn single(listing: &mut Listing<'_>, metadata: &Metadata, size: u64) -> Result<(), Ended> {
    let Metadata { name, mode, modified, .. } = metadata;
    let modified = modified.map(since_1970);
    listing.row(&EntryRow {
        path: name.as_deref(),
        kind: Kind::File,
        size,
        mode: *mode,
        modified,
        target: None,
        entry: None,
    })
}
