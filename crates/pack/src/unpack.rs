//! Archives become folders again.
//!
//! Reading an archive is one thing after the other, making its files is not. So [`Unpacker::put`] reads the headers in the bytes it is given, makes
//! folders and links, and hands back what is left, a [`Rest`]; any thread completes that while another puts the bytes that follow.

mod drafts;
mod file;
mod folder;
mod index;
mod ledger;
mod make;
mod only;
mod rest;
mod run;
mod single;
mod way;

pub use drafts::Drafts;
pub use rest::Rest;
pub use run::unpack;

use crate::names::Paths;
use crate::path::parent;
use crate::tar::{Event, INDEX_BLOCK, Member, Parser};
use crate::{Entry, Error, Filter, Kind, shown};
use file::{Growing, Place};
use folder::{Dress, Folder};
use index::{Index, facts};
use ledger::{Ledger, Trouble};
use only::Only;
use rest::Job;
use single::Single;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use way::Way;

/// How an archive is unpacked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Files may take the place of others that are there.
    pub replace: bool,
    /// An entry that fails is noted, and the others are unpacked. A full disk ends everything all the same.
    pub keep_going: bool,
    /// Owners are restored, and the bits that lend an owner's rights; only root can do that, for others it means nothing.
    pub owner: bool,
    /// Extended attributes are restored: those of users, whose names begin with `user.`.
    pub attributes: bool,
    /// The target folder is new, and nobody else's before all is done: files are made under their own names at once.
    pub fresh: bool,
}

/// An entry that is not there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Its path.
    pub path: Vec<u8>,
    /// Why, and what to do.
    pub error: Error,
}

/// How far unpacking is.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Entries that are there, whole.
    pub complete: u64,
    /// The last entry of which it can be said that all before it, and it, are there or have failed.
    pub until: Option<Vec<u8>>,
    /// Entries that failed.
    pub failed: u64,
    /// The first thousand of them.
    pub failures: Vec<Failure>,
}

/// What was unpacked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Entries of the archive.
    pub entries: u64,
    /// Bytes of their contents, as they stand there.
    pub bytes: u64,
    /// Whether it was a pack, and agreed with its index.
    pub pack: bool,
    /// The name of a pack's root.
    pub root: Option<Vec<u8>>,
    /// Entries that failed.
    pub failed: u64,
    /// The first thousand of them.
    pub failures: Vec<Failure>,
    /// What should be known, though nothing failed.
    pub remarks: Vec<String>,
}

/// Unpacks an archive into a folder.
#[derive(Debug)]
pub struct Unpacker {
    options: Options,
    parser: Parser,
    ledger: Arc<Ledger>,
    way: Way,
    index: Index,
    /// Not all of it.
    only: Option<Only>,
    /// Not into a folder.
    single: Option<Single>,
    /// Paths as they were made, where others may have made some too.
    made: Paths,
    /// Names, to find those that are alike.
    names: Paths,
    searches: u32,
    /// The entry before, in a pack.
    before: Option<Vec<u8>>,
    current: Current,
    jobs: Vec<Job>,
    attributes: u64,
    entries: u64,
    bytes: u64,
}

/// Whose content comes.
#[derive(Debug, Default)]
enum Current {
    #[default]
    Nobody,
    /// All of it with the next event.
    Whole {
        number: u64,
        place: Place,
        dress: Dress,
    },
    Growing(Arc<Growing>),
    /// It goes to a stream.
    Single,
}

impl Unpacker {
    /// Unpacks into the folder `target`. In an archive that is a pack, the root has its contents go there, and its mode and time, but not its name.
    #[must_use]
    pub fn new(target: OwnedFd, options: Options) -> Self {
        Self::with(Some(target), options)
    }

    /// Writes the one file that `filter` takes to a stream, within [`Unpacker::put`], its holes as zeros. That its content was right is only known at the end.
    #[must_use]
    pub fn single(filter: Filter, output: impl Write + Send + 'static) -> Self {
        let mut unpacker = Self::with(None, Options::default());
        unpacker.only(filter);
        unpacker.single = Some(Single::new(Box::new(output)));
        unpacker
    }

    fn with(target: Option<OwnedFd>, options: Options) -> Self {
        let ledger = Arc::new(Ledger::new(options.keep_going));
        let owner = options.owner && rustix::process::geteuid().is_root();
        Self {
            options: Options { owner, ..options },
            parser: Parser::new(),
            way: Way::new(Folder::target(target, Arc::clone(&ledger))),
            ledger,
            index: Index::default(),
            only: None,
            single: None,
            made: Paths::default(),
            names: Paths::default(),
            searches: 0,
            before: None,
            current: Current::Nobody,
            jobs: Vec::new(),
            attributes: 0,
            entries: 0,
            bytes: 0,
        }
    }

    /// Unpacks only what `filter` takes, and the folders that lead there. All of the archive is read and, if it is a pack, compared with its index, but
    /// for the contents of files that are passed over. A hard link comes out only if its file does.
    ///
    /// To be said before the first bytes are put. That a path matched nothing is known, and an error, when all is unpacked.
    pub fn only(&mut self, filter: Filter) {
        self.only = Some(Only::new(filter));
    }

    /// Takes the next bytes, in order, cut anywhere. What is left to do with them is handed back, and may be done by any thread at the same time as the
    /// next call.
    ///
    /// This call may wait for what earlier ones handed back: nobody should hold that and call this before he has completed or dropped it.
    ///
    /// An error in the archive, or of an entry when nothing may fail, comes with the next call, so that what was there before it is not lost.
    pub fn put(&mut self, bytes: &[u8]) -> Result<Rest, Error> {
        self.check()?;
        if let Err(error) = self.read(bytes) {
            self.ledger.stop(self.entries, error);
        }
        Ok(Rest::new(std::mem::take(&mut self.jobs), Arc::clone(&self.ledger)))
    }

    /// Ends the work, once all that was handed back is completed: folders get their times, and it is checked that the archive was whole.
    pub fn finish(&mut self) -> Result<Outcome, Error> {
        // A file whose end did not come goes.
        self.current = Current::Nobody;
        self.ledger.wait();
        self.check()?;
        let pack = self.parser.is_pack();
        if !self.parser.ended() || pack && !self.index.done() {
            return Err(Error::Truncated);
        }
        self.way.end();
        self.check()?;
        if !self.ledger.all_done() {
            // Somebody dropped what he should have completed.
            return Err(Error::Stopped);
        }
        if let Some(only) = &mut self.only {
            only.filter().finish()?;
        }
        if self.attributes > 0 {
            self.ledger.remark(format!("{} extended attributes are not restored: their names do not begin with user.", self.attributes));
        }
        let (failures, failed) = self.ledger.failures();
        Ok(Outcome {
            entries: self.entries,
            bytes: self.bytes,
            pack,
            root: self.parser.root().map(<[u8]>::to_vec),
            failed,
            failures,
            remarks: self.ledger.remarks(),
        })
    }

    /// What has to go if the program ends in the middle of it.
    #[must_use]
    pub fn drafts(&self) -> Drafts {
        Drafts(Arc::clone(&self.ledger))
    }

    /// How far it is, also after an error.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.ledger.progress()
    }

    /// Removes what has to go, and says what ended the work.
    fn check(&mut self) -> Result<(), Error> {
        let wrong = self.ledger.wrong();
        if !wrong.is_empty() {
            self.ledger.wait();
        }
        for path in wrong {
            // Its failure is noted already.
            let _ = self.way.remove(&path, self.options.fresh || self.made.has(parent(&path)));
        }
        self.ledger.check()
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut at = 0;
        while let Some(event) = self.parser.next(bytes, &mut at)? {
            match event {
                Event::Member(member) => self.member(*member, bytes, bytes.len() - at)?,
                Event::Content { offset, range } => self.content(offset, range, bytes)?,
                Event::Map(map) => match (&self.current, &mut self.single) {
                    (Current::Growing(file), _) => {
                        let _ = file.map.set(map);
                        // All of it may be one hole.
                        self.jobs.push(Job::Piece { file: Arc::clone(file), offset: 0, range: 0..0 });
                    }
                    (Current::Single, Some(single)) => single.map(map),
                    _ => {}
                },
                Event::Refused { path, error } => {
                    let number = self.number(&path, [0; 16]);
                    if self.takes(&path) { self.ledger.fail(number, Trouble::Known(error)) } else { self.ledger.pass(number) }
                }
                Event::Comment { offset, bytes } if self.parser.is_pack() => {
                    if let Some(part) = bytes.strip_prefix(INDEX_BLOCK) {
                        self.index.block(part, offset + INDEX_BLOCK.len() as u64, &self.ledger)?;
                    }
                }
                Event::Comment { .. } => {}
                Event::End(offset) => self.index.end(offset),
                Event::Tail(range) if self.parser.is_pack() => self.index.tail(&bytes[range], &self.ledger)?,
                Event::Tail(_) => {}
            }
            if self.ledger.stopped() {
                break;
            }
        }
        Ok(())
    }

    /// An entry, of which `ready` bytes of content are there.
    fn member(&mut self, member: Member, bytes: &[u8], ready: usize) -> Result<(), Error> {
        let entry = &member.entry;
        self.in_order(entry)?;
        let number = self.number(&entry.path, if self.parser.is_pack() { facts(entry) } else { [0; 16] });
        if !self.takes(&entry.path) {
            return self.pass(member, number);
        }
        self.bytes += entry.stored;
        if let Some(single) = &mut self.single {
            self.current = Current::Single;
            return single.begin(member, number, self.parser.is_pack(), &self.ledger);
        }
        self.make_above(&entry.path, bytes);
        if let Err(trouble) = self.make(member, number, bytes, ready) {
            self.ledger.fail(number, trouble);
        }
        Ok(())
    }

    /// Whether an entry is wanted.
    fn takes(&mut self, path: &[u8]) -> bool {
        let root = self.parser.root();
        self.only.as_mut().is_none_or(|only| only.filter().takes(path, root))
    }

    fn pass(&mut self, mut member: Member, number: u64) -> Result<(), Error> {
        self.ledger.pass(number);
        if !self.options.attributes {
            member.attributes = Vec::new();
        }
        match &mut self.only {
            Some(only) if member.entry.kind == Kind::Folder => only.pass(number, member),
            _ => Ok(()),
        }
    }

    /// A new entry's number.
    fn number(&mut self, path: &[u8], facts: [u8; 16]) -> u64 {
        self.current = Current::Nobody;
        if self.entries == 0 && !self.parser.is_pack() {
            self.ledger.no_index();
        }
        self.entries += 1;
        self.ledger.begin(path, facts)
    }

    /// In a pack, paths grow; so none comes twice, and none is under a file.
    fn in_order(&mut self, entry: &Entry) -> Result<(), Error> {
        if !self.parser.is_pack() {
            return Ok(());
        }
        if let Some(before) = &self.before {
            let grows = before.split(|byte| *byte == b'/').lt(entry.path.split(|byte| *byte == b'/'));
            if !grows {
                let what = format!("{} comes after {} in the pack, which is not their order", shown(&entry.path), shown(before));
                return Err(Error::damaged(what));
            }
        }
        self.before = Some(entry.path.clone());
        Ok(())
    }

    fn content(&mut self, offset: u64, range: std::ops::Range<usize>, bytes: &[u8]) -> Result<(), Error> {
        match &self.current {
            Current::Nobody => {}
            Current::Single => return self.single.as_mut().map_or(Ok(()), |single| single.put(offset, &bytes[range], &self.ledger)),
            Current::Growing(file) => self.jobs.push(Job::Piece { file: Arc::clone(file), offset, range }),
            Current::Whole { .. } => {
                if let Current::Whole { number, place, dress } = std::mem::take(&mut self.current) {
                    self.jobs.push(Job::Whole { number, place, dress, range, hashed: self.parser.is_pack() });
                }
            }
        }
        Ok(())
    }
}
