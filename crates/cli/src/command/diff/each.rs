//! `deadpan diff --each`: compares the results of `seal --each` in a folder with their sources.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::row::{DiffRow, Side};
use super::{Diff, DiffTally, compared};
use crate::command::many::left_out::{note, print_left_out};
use crate::key::identity::Identities;
use crate::place::ending::ENDINGS;
use crate::place::remote;
use crate::place::sealed::Sealed;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, shown};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, FileId};
use deadpan_fleet::{LeftOut, Listing, Tree, TreeFile};
use deadpan_pack::{Differs, Rules};
use deadpan_seal::{Cursor, Kind};

/// A result, and the name of its source.
struct FoundResult {
    source: PathBuf,
    name: PathBuf,
}

/// The folders that are compared, and the keys.
struct EachDiff<'a> {
    diff: &'a Diff,
    sealed: Tree,
    sources: Tree,
    identities: Identities,
    /// The number of results that no key without a passphrase opens, so that their lengths are unknown.
    unopened: u64,
}

impl Diff {
    pub(super) fn each(&self) -> Result<Exit, Failure> {
        let hint = "name the folder with the results and the folder with their sources: deadpan diff --each FILE PATH";
        let Some((sealed, sources)) = self.source.path().zip(self.args.other.as_deref()) else {
            return Err(Failure::usage("--each compares two folders", hint));
        };
        if let Some(address) = [sealed, sources].into_iter().find(|path| remote::is_address(path)) {
            let message = format!("{} is in a store, and diff --each compares folders on this machine", shown(address));
            return Err(Failure::usage(message, "check the objects with: deadpan open --verify"));
        }
        let mut job = EachDiff {
            diff: self,
            sealed: opened(sealed, hint)?,
            sources: opened(sources, hint)?,
            identities: self.args.keys.identities()?,
            unopened: 0,
        };
        let mut tally = DiffTally::new(self.args.json, &self.source);
        job.compare_all(&mut tally)?;
        tally.end()
    }
}

/// Opens a folder to compare.
fn opened(path: &Path, hint: &str) -> Result<Tree, Failure> {
    let tree = Tree::new(path.canonicalize().map_err(|error| Failure::path("read", path, &error))?);
    match tree.open() {
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(Failure::usage(format!("{} is not a folder", shown(path)), hint))
        }
        Err(error) => Err(Failure::path("read", path, &error)),
        Ok(_) => Ok(tree),
    }
}

impl EachDiff<'_> {
    fn compare_all(&mut self, tally: &mut DiffTally<'_>) -> Result<(), Failure> {
        let (mut results, mut sources, mut others) = (Vec::new(), Vec::new(), 0);
        let beside = self.list(tally, &self.sealed, None, &Rules::default(), |name, _| match source_of(name) {
            Some(source) => results.push(FoundResult { source, name: name.to_owned() }),
            None => others += 1,
        })?;
        let avoid = self.sealed.open().and_then(|folder| folder.about()).ok().map(|about| about.id);
        let rules = self.diff.args.exclude.rules()?;
        let listing =
            self.list(tally, &self.sources, avoid, &rules, |name, about| sources.push((name.to_owned(), *about)))?;
        results.sort_by(|one, other| one.source.cmp(&other.source));
        sources.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.merge(tally, &results, &sources)?;
        self.folders(tally, &beside, &listing)?;
        self.tell(&listing, others)
    }

    /// Lists the files of a folder, and reports what cannot be read.
    fn list(
        &self,
        tally: &mut DiffTally<'_>,
        tree: &Tree,
        avoid: Option<FileId>,
        rules: &Rules,
        take: impl FnMut(&Path, &About),
    ) -> Result<Listing, Failure> {
        let failed = |error| Failure::job(&shown(tree.path()), error);
        let mut listing = Listing::read(tree, avoid, rules, take).map_err(failed)?;
        for (_, error) in std::mem::take(&mut listing.unreadable) {
            tally.failed(&failed(error))?;
        }
        listing.remarks.iter().for_each(|remark| say(&format!("note: {remark}")));
        Ok(listing)
    }

    /// Goes through results and sources in the order of the sources' names.
    fn merge(
        &mut self,
        tally: &mut DiffTally<'_>,
        results: &[FoundResult],
        sources: &[(PathBuf, About)],
    ) -> Result<(), Failure> {
        let (mut results, mut sources) = (results.iter().peekable(), sources.iter().peekable());
        // Two results, of different formats, may have the same source.
        let mut last = None;
        loop {
            let order = match (results.peek(), sources.peek()) {
                (None, None) => return Ok(()),
                (Some(result), _) if last.is_some_and(|last: &PathBuf| *last == result.source) => Ordering::Equal,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(result), Some((source, _))) => result.source.cmp(source),
            };
            if order == Ordering::Greater {
                if let Some((path, about)) = sources.next() {
                    let found = Some(Side::of_about(about));
                    tally.row(&row(path, Some(Differs::Added), None, found))?;
                }
                continue;
            }
            let Some(result) = results.next() else { continue };
            if order == Ordering::Less {
                self.without_source(tally, result)?;
                continue;
            }
            if sources.peek().is_some_and(|(source, _)| *source == result.source) {
                last = sources.next().map(|(source, _)| source);
            }
            match self.compare(result) {
                Ok(Some(differing)) => {
                    tally.row(&DiffRow { path: Some(result.source.as_os_str().as_bytes()), ..differing })?;
                }
                Ok(None) => {}
                Err(failure) => tally.failed(&failure)?,
            }
        }
    }

    /// Reports a result without a source, unless the source was only left out.
    fn without_source(&self, tally: &mut DiffTally<'_>, result: &FoundResult) -> Result<(), Failure> {
        let place = TreeFile { tree: self.sources.clone(), name: result.source.clone() };
        let packed = Some(Side::of_file(None, None, None));
        match place.reach() {
            Ok(Some(about)) if about.is_file() => Ok(()),
            // The source, or a folder above it, has become a link or a special file.
            Ok(Some(about)) if !about.is_folder() => {
                tally.row(&row(&result.source, Some(Differs::Kind), packed, Some(Side::of_about(&about))))
            }
            Ok(_) => tally.row(&row(&result.source, Some(Differs::Removed), packed, None)),
            Err(error) => tally.failed(&Failure::path("read", &place.path(), &error)),
        }
    }

    /// Compares a result with its source. Returns the difference, without a path.
    fn compare(&mut self, result: &FoundResult) -> Result<Option<DiffRow<'static>>, Failure> {
        let place = TreeFile { tree: self.sealed.clone(), name: result.name.clone() };
        let (name, (file, sealed_about)) = (shown(place.path()), file(&place)?);
        let source = TreeFile { tree: self.sources.clone(), name: result.source.clone() };
        let (source, about) = self::file(&source)?;
        let sealed = Sealed::begun(Vec::new(), &file).map_err(|error| Failure::seal(&name, error))?;
        let contents = self.diff.args.contents;
        let opened = match contents {
            true => Some(self.identities.open(&name, &sealed)?),
            false => self.identities.open_at_once(&sealed),
        };
        let failed = |error| Failure::seal(&name, error);
        let differing = match opened {
            None => {
                self.unopened += 1;
                None
            }
            Some(opened) if opened.metadata().kind == Kind::Folder => {
                let (packed, found) = (Some(Side::of_folder()), Some(Side::of_about(&about)));
                Some(DiffRow { path: None, differs: Some(Differs::Kind), packed, found })
            }
            Some(opened) if sealed.armored => {
                let reader = contents.then(|| opened.read_from(sealed.payload)).transpose().map_err(failed)?;
                compared(&name, opened.metadata(), None, reader, &source, &about)?
            }
            Some(opened) => {
                let reader = opened.seek_in(Cursor::new(&file, sealed_about.length)).map_err(failed)?;
                let length = reader.length();
                compared(&name, opened.metadata(), Some(length), contents.then_some(reader), &source, &about)?
            }
        };
        let is_older = sealed_about.modified_at() < about.modified_at().max(about.changed_at());
        let older = || DiffRow {
            path: None,
            differs: None,
            packed: Some(Side::of_file(None, None, Side::of_about(&sealed_about).modified)),
            found: Some(Side::of_about(&about)),
        };
        // The same contents need no new result.
        Ok(differing.or_else(|| (is_older && !contents).then(older)))
    }

    /// Reports empty folders that only one side has.
    fn folders(&self, tally: &mut DiffTally<'_>, sealed: &Listing, sources: &Listing) -> Result<(), Failure> {
        let sides = [(sources, &self.sealed, Differs::Added), (sealed, &self.sources, Differs::Removed)];
        for (listing, other, differs) in sides {
            for (path, _) in &listing.folders {
                let place = TreeFile { tree: other.clone(), name: path.clone() };
                if place.look().is_ok_and(|about| about.is_some_and(|about| about.is_folder())) {
                    continue;
                }
                let (packed, found) = match differs {
                    Differs::Added => (None, Some(Side::of_folder())),
                    _ => (Some(Side::of_folder()), None),
                };
                tally.row(&row(path, Some(differs), packed, found))?;
            }
        }
        Ok(())
    }

    /// Names what was not compared.
    fn tell(&self, sources: &Listing, others: u64) -> Result<(), Failure> {
        let whole = |paths: &[PathBuf]| paths.iter().map(|path| self.sources.path().join(path)).collect();
        let left_out =
            LeftOut { links: whole(&sources.links), specials: whole(&sources.specials), ..LeftOut::default() };
        if self.diff.args.json {
            return print_left_out("diff", &left_out);
        }
        if let Some(text) = note(&left_out) {
            say(&format!("note: {text}"));
        }
        if others > 0 {
            let files = count(others, "file", "files");
            say(&format!("note: left out {files} in {} without .dpn or .age", self.diff.source.shown()));
        }
        if self.unopened > 0 {
            let files = count(self.unopened, "sealed file", "sealed files");
            say(&format!("note: none of your keys opens {files} without a passphrase, so only times were compared"));
        }
        Ok(())
    }
}

/// Opens a file, and follows no link.
fn file(place: &TreeFile) -> Result<(File, About), Failure> {
    let opened = place.spot().and_then(|spot| spot.folder.file(&spot.name));
    let (file, about) = opened.map_err(|error| Failure::path("read", &place.path(), &error))?;
    if about.is_file() {
        Ok((file, about))
    } else {
        Err(Failure::new(Exit::System, format!("{} is not a file any more", shown(place.path())), "try again"))
    }
}

fn row(path: &Path, differs: Option<Differs>, packed: Option<Side>, found: Option<Side>) -> DiffRow<'_> {
    DiffRow { path: Some(path.as_os_str().as_bytes()), differs, packed, found }
}

/// Returns the name of a result's source, or `None` if no result has this name.
fn source_of(name: &Path) -> Option<PathBuf> {
    let last = name.file_name()?.as_bytes();
    let bare = ENDINGS.iter().find_map(|ending| last.strip_suffix(ending.as_bytes()))?;
    (!bare.is_empty()).then(|| name.with_file_name(OsStr::from_bytes(bare)))
}
