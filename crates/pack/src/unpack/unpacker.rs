//! Reads an archive, compares it with its index, and passes its entries to a folder or to a stream.

use std::io::Write;
use std::sync::Arc;

use super::index::{IndexCheck, facts};
use super::ledger::Ledger;
use super::make::Maker;
use super::only::Only;
use super::options::Unpacking;
use super::outcome::{Outcome, Progress};
use super::rest::Rest;
use super::single::{Single, without_file};
use super::size::Size;
use super::trouble::Trouble;
use crate::entry::{Entry, Kind};
use crate::error::{Error, Refusal};
use crate::select::Filter;
use crate::shown::shown;
use crate::tar::form::INDEX_BLOCK;
use crate::tar::{Event, Member, Oddity, Parser};
use deadpan_disk::Folder;

/// Unpacks an archive into a folder.
#[derive(Debug)]
pub struct Unpacker {
    /// Extended attributes are restored.
    attributes: bool,
    /// After damage, the unpacker goes on with the next header.
    skip_damage: bool,
    damaged: bool,
    parser: Parser,
    ledger: Arc<Ledger>,
    maker: Maker,
    index: IndexCheck,
    only: Option<Only>,
    /// The stream to which one file is written, instead of a folder.
    single: Option<Single>,
    /// If the archive is a pack, the path of the previous entry.
    before: Option<Vec<u8>>,
    entries: u64,
    bytes: u64,
    size: Size,
}

impl Unpacker {
    /// Unpacks into the folder `target`. The folder `target` receives the contents, the mode and the time of the root
    /// of a pack, but keeps its own name.
    #[must_use]
    pub fn new(target: Folder, options: Unpacking) -> Self {
        Self::with(Some(target), options)
    }

    /// Makes an unpacker whose [`Unpacker::put`] writes the one file that `filter` selects to a stream, with zeros for
    /// the file's holes. Only [`Unpacker::finish`] reports whether the content was correct.
    #[must_use]
    pub fn single(filter: Filter, output: impl Write + Send + 'static) -> Self {
        let mut unpacker = Self::with(None, Unpacking::default());
        unpacker.only(filter);
        unpacker.single = Some(Single::new(Box::new(output)));
        unpacker
    }

    fn with(target: Option<Folder>, options: Unpacking) -> Self {
        let ledger = Arc::new(Ledger::new(options.keep_going));
        let skip_damage = options.skip_damage && options.keep_going;
        Self {
            attributes: options.attributes,
            skip_damage,
            damaged: false,
            parser: if skip_damage { Parser::new().searching_on() } else { Parser::new() },
            maker: Maker::new(target, options, Arc::clone(&ledger)),
            ledger,
            index: IndexCheck::default(),
            only: None,
            single: None,
            before: None,
            entries: 0,
            bytes: 0,
            size: Size::default(),
        }
    }

    /// Unpacks only what `filter` selects, and the folders above it. The archive is read to its end. A pack is compared
    /// with its index, except for the contents of files that are not selected. A hard link is unpacked only if its file
    /// is selected too.
    ///
    /// Call this function before the first call of `put`. A path that matches nothing is an error of
    /// [`Unpacker::finish`].
    pub fn only(&mut self, filter: Filter) {
        self.only = Some(Only::new(filter));
    }

    /// Reads a pack as an archive of another program, with its root as an ordinary folder and without its index. If
    /// [`index_is_stale`](crate::index_is_stale) returns true, call this function before `put`.
    pub fn without_index(&mut self) {
        self.parser = if self.skip_damage { Parser::foreign().searching_on() } else { Parser::foreign() };
        self.ledger.remark(Oddity::Stale.to_string());
    }

    /// Sets the maximum number of bytes of all files, holes included. A file that exceeds the limit fails with
    /// [`Refusal::TooLarge`](crate::Refusal::TooLarge).
    ///
    /// Without this call, the holes of all files may take 64 GiB, or 1000 times the bytes that are stored so far,
    /// whichever is more. A limit is needed because an archive of five kilobytes can describe a file of an exbibyte.
    pub fn max_size(&mut self, bytes: u64) {
        self.size.limit = Some(bytes);
    }

    /// Takes the next bytes of the archive, which may begin and end anywhere. Returns the files that must still be
    /// written; any thread may complete these files during the next call.
    ///
    /// This call may wait until earlier [`Rest`]s were completed or dropped. A thread must complete or drop its
    /// [`Rest`] before it calls `put` again.
    ///
    /// If the archive has an error, the next call returns this error, so that the entries before the error are not
    /// lost. If an entry fails, the next call returns its error, unless [`Unpacking::keep_going`] is set.
    pub fn put(&mut self, bytes: &[u8]) -> Result<Rest, Error> {
        self.check()?;
        if let Err(error) = self.read(bytes) {
            self.ledger.stop(self.entries, error);
        }
        Ok(Rest::new(self.maker.jobs(), Arc::clone(&self.ledger)))
    }

    /// Ends the work after each [`Rest`] was completed or dropped. Sets the modes and times of folders, and checks that
    /// the archive was complete.
    pub fn finish(&mut self) -> Result<Outcome, Error> {
        // If the file of the last entry is not complete, the file is removed.
        self.maker.next_entry();
        self.ledger.wait();
        self.check()?;
        let pack = self.parser.is_pack();
        let odd = self.parser.end()?;
        if pack && !self.index.done() {
            return Err(Error::Truncated);
        }
        odd.iter().for_each(|odd| self.ledger.remark(odd.to_string()));
        self.maker.end();
        self.check()?;
        if !self.ledger.all_done() {
            // The caller dropped a `Rest` instead of completing it.
            return Err(Error::Stopped);
        }
        if let Some(only) = &mut self.only {
            let idle = only.filter().finish()?;
            idle.iter().for_each(|wanted| self.ledger.remark(Refusal::no_match(wanted).to_string()));
        }
        let (failures, failed) = self.ledger.failures();
        Ok(Outcome {
            entries: self.entries,
            bytes: self.bytes,
            pack,
            root: self.parser.root().map(<[u8]>::to_vec),
            failed,
            failures,
            damaged: self.damaged,
            remarks: self.ledger.remarks(),
        })
    }

    /// Returns how much was unpacked so far, also after an error.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.ledger.progress()
    }

    /// Removes files that contradict the index, and returns the error that ended the work.
    fn check(&mut self) -> Result<(), Error> {
        let wrong = self.ledger.wrong();
        if !wrong.is_empty() {
            self.ledger.wait();
        }
        for path in wrong {
            self.maker.remove(&path);
        }
        self.ledger.check()
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut at = 0;
        loop {
            let event = match self.parser.next(bytes, &mut at) {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                // The rest of a pack would not fit its index, so a pack with an index ends here.
                Err(error) if self.skip_damage && !self.parser.is_pack() => {
                    self.maker.next_entry();
                    self.damaged = true;
                    self.maker.keep_first();
                    match self.entries.checked_sub(1).filter(|_| self.parser.is_within()) {
                        Some(number) => self.ledger.fail(number, Trouble::Known(error)),
                        None => self.ledger.fail_late(self.entries, b"", Trouble::Known(error)),
                    }
                    self.parser.lose();
                    continue;
                }
                Err(error) => return Err(error),
            };
            match event {
                Event::Member(member) => self.member(*member, bytes, bytes.len() - at)?,
                Event::Content { offset, range } => match &mut self.single {
                    Some(single) => single.put(offset, &bytes[range], &self.ledger)?,
                    None => self.maker.content(offset, range),
                },
                Event::Map(map) => match &mut self.single {
                    Some(single) => single.map(map),
                    None => self.maker.map(map),
                },
                Event::Refused { path, flaw } => {
                    let number = self.number(&path, None);
                    if self.takes(&path, path.ends_with(b"/")) {
                        self.ledger.fail(number, Trouble::Known(flaw.into()))
                    } else {
                        self.ledger.pass(number)
                    }
                }
                Event::Comment { offset, bytes } if self.parser.is_pack() => {
                    if let Some(part) = bytes.strip_prefix(INDEX_BLOCK) {
                        self.index.block(part, offset + INDEX_BLOCK.len() as u64, &self.ledger)?;
                    }
                }
                Event::Comment { .. } => {}
                Event::Odd(odd) => self.ledger.remark(odd.to_string()),
                Event::GoesOn(offset) => {
                    self.damaged = true;
                    self.maker.keep_first();
                    let error = Error::damaged(format!("blocks of zeros stand before byte {offset}"));
                    self.ledger.fail_late(self.entries, b"", Trouble::Known(error));
                }
                Event::End(offset) => self.index.end(offset),
                Event::Tail(range) if self.parser.is_pack() => self.index.tail(&bytes[range], &self.ledger)?,
                Event::Tail(_) => {}
            }
            if self.ledger.stopped() {
                return Ok(());
            }
        }
    }

    /// Handles an entry. Starts an entry. In `bytes`, the last `ready` bytes come after the headers of the entry.
    fn member(&mut self, member: Member, bytes: &[u8], ready: usize) -> Result<(), Error> {
        let entry = &member.entry;
        self.in_order(entry)?;
        let number = self.number(&entry.path, Some(entry));
        if !self.takes(&entry.path, entry.kind == Kind::Folder) {
            return self.pass(member, number);
        }
        if !self.size.add(entry) {
            let refusal = Refusal::TooLarge { path: shown(&entry.path), size: entry.size, limit: self.size.limit };
            if self.single.is_some() {
                return Err(refusal.into());
            }
            self.ledger.fail(number, Trouble::Known(refusal.into()));
            return Ok(());
        }
        self.bytes += entry.stored;
        if let Some(single) = &mut self.single {
            return single.begin(member, number, self.parser.is_pack(), &self.ledger);
        }
        if let (Some(only), Some(target), Kind::HardLink) = (&mut self.only, &entry.target, entry.kind)
            && !only.filter().has(target)
        {
            self.ledger.fail(number, Trouble::Known(without_file(&entry.path, target).into()));
            return Ok(());
        }
        self.make_above(&entry.path, bytes);
        if let Err(trouble) = self.maker.make(member, number, bytes, ready) {
            self.ledger.fail(number, trouble);
        }
        Ok(())
    }

    /// If folders above a selected entry were skipped, makes these folders now.
    fn make_above(&mut self, path: &[u8], bytes: &[u8]) {
        let above = self.only.as_mut().map_or_else(Vec::new, |only| only.above(path));
        for (number, folder) in above {
            let path = folder.entry.path.clone();
            if let Err(trouble) = self.maker.make(folder, number, bytes, 0) {
                self.ledger.fail_late(number, &path, trouble);
            }
        }
    }

    /// Whether an entry is selected.
    fn takes(&mut self, path: &[u8], is_folder: bool) -> bool {
        let root = self.parser.root();
        self.only.as_mut().is_none_or(|only| only.filter().takes(path, is_folder, root))
    }

    fn pass(&mut self, mut member: Member, number: u64) -> Result<(), Error> {
        self.ledger.pass(number);
        if !self.attributes {
            member.attributes = Vec::new();
        }
        match &mut self.only {
            Some(only) if member.entry.kind == Kind::Folder => only.pass(number, member),
            _ => Ok(()),
        }
    }

    fn number(&mut self, path: &[u8], entry: Option<&Entry>) -> u64 {
        self.maker.next_entry();
        if self.entries == 0 {
            self.maker.begin(self.parser.is_pack());
            if !self.parser.is_pack() {
                self.ledger.no_index();
            }
        }
        self.entries += 1;
        let facts = entry.filter(|_| self.parser.is_pack()).map_or([0; 16], facts);
        self.ledger.begin(path, facts, entry)
    }

    /// Checks that the paths of a pack are sorted. If the paths are sorted, no path occurs twice, and no path is inside
    /// a file.
    fn in_order(&mut self, entry: &Entry) -> Result<(), Error> {
        if !self.parser.is_pack() {
            return Ok(());
        }
        if let Some(before) = &self.before {
            let grows = before.split(|byte| *byte == b'/').lt(entry.path.split(|byte| *byte == b'/'));
            if !grows {
                let what = format!(
                    "{} comes after {} in the pack, which is not the order of paths in a pack",
                    shown(&entry.path),
                    shown(before)
                );
                return Err(Error::damaged(what));
            }
        }
        self.before = Some(entry.path.clone());
        Ok(())
    }
}
