//! `deadpan picture reveal`: restores the data that pictures carry.

mod authentic;
mod left_out;
mod one_place;

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::copy::copy;
use super::found::{self, Picture, Search};
use crate::command::open::{OpenJob, OpenOptions, Origin, sealed_name};
use crate::command::plan::Plan;
use crate::place::claims::Claims;
use crate::place::input::Source;
use crate::place::output::{Output, Place};
use crate::place::partial::{Attributes, Partial, folder_of};
use crate::place::report::{Done, Report};
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::{count, shown};
use crate::tell::text::TextOnly;
use deadpan_disk::About;
use deadpan_disk::portable::OsStrExt;
use deadpan_picture::{Damage, Opened, Reader, Set};
use deadpan_seal::{Cursor, Error, ReadAt, Work};

/// Restores what pictures carry. The pictures may have any names and any order, among other files
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan picture reveal report.pdf.png            with your own keys: report.pdf, with its time and mode",
    "deadpan picture reveal -o results/ album         all that a folder's pictures carry, into a folder that exists",
    "deadpan picture reveal --raw -o - out.png        the bytes as they were hidden, to standard output",
    "deadpan picture reveal --verify album            checks that everything is there, and writes nothing"
))]
pub struct RevealArgs {
    #[command(flatten)]
    how: OpenOptions,
    /// Write the bytes as they were hidden, sealed or not. Without this option, only sealed data are revealed
    #[arg(long)]
    raw: bool,
    /// Try a passphrase on pictures that show no data, and ask for it
    #[arg(short, long)]
    passphrase: bool,
    /// The pictures, and folders with pictures
    #[arg(value_name = "PICTURE", required = true)]
    pictures: Vec<PathBuf>,
}

pub struct Reveal(RevealArgs);

impl RevealArgs {
    pub fn is_to_stdout(&self) -> bool {
        self.how.is_to_stdout()
    }

    pub fn plan(self) -> Result<Reveal, Failure> {
        Ok(Reveal(self))
    }
}

impl Plan for Reveal {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.0;
        let how = &args.how;
        how.output.hold(&[]);
        let mut identities = how.keys.identities()?;
        let mut search = Search::among(&args.pictures, &mut identities, args.passphrase)?;
        let mut groups = groups(std::mem::take(&mut search.sets).into_sets());
        if groups.is_empty() {
            search.damaged.append(&mut search.unreadable);
        }
        let to_stdout = how.is_to_stdout();
        let is_one = to_stdout || how.output.place().is_some_and(|place| !place.is_folder());
        let is_one = is_one && !how.verify;
        let unsealed = if is_one && !args.raw { one_place::take_unsealed(&mut groups) } else { Vec::new() };
        let lack = search.lack();
        let mut broken = if is_one { one_place::take_broken(&mut groups, lack) } else { Vec::new() };
        let sources: Vec<_> = search.files.iter().cloned().map(Source::File).collect();
        let judge = how.signer.judge()?;
        let job =
            OpenJob { args: how, claims: Claims::on(&sources), results: groups.len(), identities, judge, many: None };
        let mut job = RevealJob { raw: args.raw, lack, free_work: Cell::new(FREE_WORK), job };
        if is_one && !args.raw {
            broken.extend(one_place::take_foreign(&mut job, &mut groups));
            job.job.results = groups.len();
        }
        let json = how.output.json;
        let mut report = Report::new("reveal", json, groups.len()).aside(to_stdout);
        if json {
            search.damaged.iter().for_each(|(path, failure)| {
                report.add(&Source::File(path.clone()), Instant::now(), &Err(failure.clone()));
            })
        } else {
            search.say_damaged()
        }
        let worst = search.damaged.iter().map(|(_, failure)| failure.exit).max().unwrap_or_default();
        if groups.is_empty() && broken.is_empty() {
            let named = args.pictures.first().cloned().unwrap_or_default();
            if let Some(failure) = search.nothing() {
                report.add(&Source::File(named), Instant::now(), &Err(failure));
            }
            return Ok(report.exit().max(worst));
        }
        let unsealed = (!unsealed.is_empty()).then(|| {
            format!("not revealed, because the data are not sealed, and may be anybody's: {}", names(&unsealed))
        });
        let mut notes: Vec<_> = search.notes().into_iter().chain(unsealed).collect();
        if !json {
            notes.drain(..).for_each(|note| crate::tell::console::say(&format!("note: {note}")));
        }
        how.output.check_room(groups.len())?;
        if groups.len() > 1 && to_stdout {
            return Err(Failure::usage(
                "the pictures carry several sets of data, which cannot be told apart in one stream",
                "name a folder with -o, or the pictures of one set",
            ));
        }
        if how.verify {
            report = report.talking();
        }
        // In the JSON output, the notes on files that belong to no result are in the first result.
        let mut add = |path, start, result| {
            let result = with_notes(result, std::mem::take(&mut notes));
            report.add(&Source::File(path), start, &result);
        };
        for (path, failure) in broken {
            add(path, Instant::now(), Err(failure));
        }
        for group in groups {
            let start = Instant::now();
            let path = group.first().map_or(PathBuf::new(), first_path);
            add(path, start, job.reveal_one_of(group));
        }
        Ok(report.exit().max(worst))
    }
}

/// Puts the sets that have the same identifier into one group, because these sets contradict each other. In each group,
/// the set with the most pictures comes first. The names of the pictures do not affect the order.
fn groups(sets: Vec<Set<Picture>>) -> Vec<Vec<Set<Picture>>> {
    let mut groups: Vec<Vec<Set<Picture>>> = Vec::new();
    let mut by_id = HashMap::new();
    for set in sets {
        let at = *by_id.entry(set.id()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(set),
            None => groups.push(vec![set]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|set| {
            (Reverse(set.is_readable()), Reverse(set.pictures().count()), set.count(), set.spares(), set.total())
        });
    }
    groups
}

fn with_notes(result: Result<Done, Failure>, mut notes: Vec<String>) -> Result<Done, Failure> {
    match result {
        Ok(done) => {
            notes.extend(done.notes);
            Ok(Done { notes, ..done })
        }
        Err(failure) => {
            notes.extend(failure.notes);
            Err(Failure { notes, ..failure })
        }
    }
}

fn first_path(set: &Set<Picture>) -> PathBuf {
    set.pictures().next().map_or(PathBuf::new(), |(_, picture)| picture.path.clone())
}

/// For sealed data, missing pictures are always computed if the length of all parts, divided by the length of the
/// files, is at most this number.
const SEALED_PROPORTION: u64 = 2;
/// The same limit as [`SEALED_PROPORTION`], but for data that are not sealed. Such data may compress well.
const RAW_PROPORTION: u64 = 16;
/// If the files are too short for these ratios, one command computes missing pictures only for up to this number of
/// bytes in total. The number includes all pictures of a set, also the missing pictures. Computing pictures of this
/// size takes one core a few seconds at most.
const FREE_WORK: u64 = 1 << 30;

/// The largest number of names in a message.
const NAMES: usize = 5;

fn names(paths: &[PathBuf]) -> String {
    let mut names: Vec<_> = paths.iter().take(NAMES).map(shown).collect();
    if paths.len() > NAMES {
        names.push(format!("and {} more", paths.len() - NAMES));
    }
    names.join(", ")
}

struct RevealJob<'a> {
    raw: bool,
    lack: Lack,
    /// The part of [`FREE_WORK`] that the command has not used yet.
    free_work: Cell<u64>,
    job: OpenJob<'a>,
}

impl RevealJob<'_> {
    /// Reveals the authentic set of several sets that have the same identifier. The other sets contradict the authentic
    /// set.
    fn reveal_one_of(&mut self, mut group: Vec<Set<Picture>>) -> Result<Done, Failure> {
        let set = match group.len() {
            0 | 1 => group.pop(),
            _ => self.authentic_one(&mut group),
        };
        let name = shown(group.first().map_or(PathBuf::new(), first_path));
        let others: Vec<_> = group.iter().flat_map(paths).collect();
        let Some(set) = set else { return Err(contradiction(&name, &others)) };
        let mut notes = Vec::new();
        if !others.is_empty() {
            notes.push(unused(&others));
        }
        self.reveal(set, notes)
    }

    fn reveal(&mut self, mut set: Set<Picture>, mut notes: Vec<String>) -> Result<Done, Failure> {
        let first = first_path(&set);
        let (name, stem) = (shown(&first), stem(&first, set.count() + set.spares()));
        notes.extend(doubled(&set));
        let settled = self.settle(&mut set, &name, &mut notes);
        let result = settled.and_then(|()| self.restore_set(set, &name, &stem, &mut notes));
        match result {
            Ok(done) => {
                notes.extend(done.notes);
                Ok(Done { notes, ..done })
            }
            Err(mut failure) => {
                failure.notes.extend(notes);
                Err(failure)
            }
        }
    }

    fn restore_set(
        &mut self,
        set: Set<Picture>,
        name: &str,
        stem: &[u8],
        notes: &mut Vec<String>,
    ) -> Result<Done, Failure> {
        if !set.is_readable() {
            return Err(missing(&set, name, self.lack));
        }
        let has_spares = set.spares_present() > 0;
        let reader = self.reader(set, name, notes, false)?;
        if has_spares && self.job.args.is_stream() {
            // The program cannot take back data that it wrote to a stream, so the data are checked before they are
            // written.
            let reader = self.checked(reader, name, notes)?;
            return self.restore(name, stem, &PictureSetFile::new(&reader));
        }
        let pages = PictureSetFile::new(&reader);
        let failure = match self.restore(name, stem, &pages) {
            Err(failure) if matches!(failure.exit, Exit::Data | Exit::Key) => failure,
            result => return result,
        };
        // The program checks that sealed data are authentic when it opens the data. The checksums are only needed to
        // find the damaged pictures. Damaged data can look like data that are not sealed, or like data that are sealed
        // for another key. If data are damaged, the damage is in the data that were read so far.
        if !pages.failed.into_inner() && reader.damaged_so_far().is_empty() {
            let Some(reader) = self.without_intruder(&reader, name, notes)? else { return Err(failure) };
            return self.restore(name, stem, &PictureSetFile::new(&reader));
        }
        let damaged = damage(&reader);
        let reader = self.replacing(&damaged, reader, name, notes)?;
        self.restore(name, stem, &PictureSetFile::new(&reader))
    }

    /// Checks the data, and uses spare pictures instead of the pictures with wrong data. If no replacement makes the
    /// data authentic, a later step, which restores the data, reports the error.
    fn checked(
        &mut self,
        reader: PictureReader,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<PictureReader, Failure> {
        if !self.raw && self.authenticate(&reader, name).is_ok() {
            return Ok(reader);
        }
        if !self.raw && reader.damaged_so_far().is_empty() {
            return Ok(self.without_intruder(&reader, name, notes)?.unwrap_or(reader));
        }
        let damaged = damage(&reader);
        if damaged.is_empty() { Ok(reader) } else { self.replacing(&damaged, reader, name, notes) }
    }

    /// Opens the set again without the forged picture that replaced a lost picture. Returns `None` if the set has no
    /// such forged picture.
    fn without_intruder(
        &mut self,
        reader: &PictureReader,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<PictureReader>, Failure> {
        if self.no_key_fits(reader, name) {
            return Ok(None);
        }
        let mut set = reader.set().clone();
        let Some(picture) = self.intruder(reader, name).and_then(|index| set.reject(index)) else {
            let note = "made again from a picture that somebody changed or added, the data would be wrong, too: leave \
                        out pictures that came from others";
            notes.extend((!set.is_complete()).then(|| note.to_owned()));
            return Ok(None);
        };
        notes.push(unused(&[picture.path]));
        self.reader(set, name, notes, true).map(Some)
    }

    /// Opens the set again, with spare pictures in place of the damaged pictures.
    fn replacing(
        &self,
        damaged: &[(u32, PathBuf)],
        reader: PictureReader,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<PictureReader, Failure> {
        notes.push(damaged_note(damaged.iter().map(|(_, path)| path.clone()).collect()));
        let mut set = reader.into_set();
        damaged.iter().for_each(|(index, _)| drop(set.reject(*index)));
        if set.is_readable() { self.reader(set, name, notes, true) } else { Err(self::damaged(name)) }
    }

    /// Opens a set. Spare pictures replace the missing pictures. `damaged` means that damaged pictures were already
    /// removed from the set.
    fn reader(
        &self,
        set: Set<Picture>,
        name: &str,
        notes: &mut Vec<String>,
        damaged: bool,
    ) -> Result<PictureReader, Failure> {
        let lost = set.lost();
        if lost > 0 {
            self.check_proportion(&set, name)?;
        }
        let mut left = set.clone();
        let reader = Reader::recovering(set, Picture::open as OpenPicture, || self.scratch().map_err(Failure::into_io));
        let reader = reader.map_err(|error| match error {
            deadpan_picture::Error::MissingPictures { damaged, .. } if !damaged.is_empty() => {
                let rejected = damaged.iter().filter_map(|index| left.reject(*index));
                notes.push(damaged_note(rejected.map(|picture| picture.path).collect()));
                missing(&left, name, Lack::Damaged)
            }
            deadpan_picture::Error::Write(error) => error.downcast().unwrap_or_else(|error| {
                Failure::picture("the parts of missing pictures", deadpan_picture::Error::Write(error))
            }),
            error => Failure::picture(name, error),
        })?;
        let reader = reader.giving_back(found::give_back);
        if !reader.rejected().is_empty() {
            notes.push(damaged_note(reader.rejected().iter().map(|(_, picture)| picture.path.clone()).collect()));
        }
        notes.extend(losses(reader.set(), damaged || !reader.rejected().is_empty()));
        Ok(reader)
    }

    /// Refuses to compute missing parts if the work is large and the files are short. An attacker can compress zeros so
    /// strongly that a file of 62 KB contains 60 MB of zeros. Sealed bytes cannot be compressed, except in the text
    /// form of sealed data (armor). Data that are not sealed can be compressed, so a set that needs little work is
    /// always accepted. The work grows with the number of all pictures of the set, and with the length of their parts.
    fn check_proportion(&self, set: &Set<Picture>, name: &str) -> Result<(), Failure> {
        let most = if self.raw { RAW_PROPORTION } else { SEALED_PROPORTION };
        let file = |picture: &Picture| About::of_path(&picture.path).map_or(0, |about| about.length);
        let files: u64 = set.pictures().map(|(_, picture)| file(picture)).sum();
        let parts: u64 = set.pictures().map(|(label, _)| u64::from(label.length)).sum();
        if parts <= files.saturating_mul(most) {
            return Ok(());
        }
        let longest = set.pictures().map(|(label, _)| u64::from(label.length)).max().unwrap_or(0);
        let work = longest.saturating_mul(u64::from(set.count() + set.spares()));
        if let Some(left) = self.free_work.get().checked_sub(work) {
            self.free_work.set(left);
            return Ok(());
        }
        Err(Failure::new(
            Exit::Data,
            format!("{name}: pictures are missing, and the others are compressed too much to make them again"),
            "if you trust the pictures, write them again as PNG without compression",
        ))
    }

    /// Makes a file without a name for the computed parts of missing pictures. The file is in the folder of the output.
    fn scratch(&self) -> Result<File, Failure> {
        let how = self.job.args;
        let folder = match how.output.place().and_then(Place::path) {
            _ if how.verify => std::env::temp_dir(),
            Some(path) if path.is_dir() => path.to_owned(),
            Some(path) => folder_of(path).to_owned(),
            None if how.output.is_stdout() || how.range().is_some() => std::env::temp_dir(),
            None => PathBuf::new(),
        };
        let partial = Partial::create(&folder.join("recovered"))?;
        partial.file().try_clone().map_err(|error| Failure::path("write", &folder, &error))
    }

    fn restore(&mut self, name: &str, stem: &[u8], pages: &PictureSetFile<'_>) -> Result<Done, Failure> {
        let length = pages.reader.length();
        if !self.raw {
            match Sealed::begun(Vec::new(), Cursor::new(pages, length)) {
                Ok(sealed) => {
                    let positions = (!sealed.armored).then_some((pages as &dyn ReadAt, length));
                    let origin = Origin {
                        name: name.to_owned(),
                        source: &Source::Stdin,
                        positions,
                        length: Some(length),
                        input: None,
                        stem: Some(stem),
                    };
                    return self.job.restore(&origin, sealed);
                }
                // Everybody can make pictures with unsealed data that claim to belong to a sealed set.
                Err(Error::NotSealed(_)) => return Err(not_sealed(name)),
                Err(error) => return Err(Failure::seal(name, error)),
            }
        }
        self.raw(name, stem, pages)
    }

    /// Writes the bytes that were hidden, without opening them.
    fn raw(&self, name: &str, stem: &[u8], pages: &PictureSetFile<'_>) -> Result<Done, Failure> {
        let how = self.job.args;
        let check = |damaged: Vec<Damage>| if damaged.is_empty() { Ok(()) } else { Err(self::damaged(name)) };
        if how.verify {
            check(pages.reader.damaged())?;
            let bytes = pages.reader.length();
            return Ok(Done { bytes, remark: Some("whole and unchanged".into()), ..Done::default() });
        }
        let place = match how.range() {
            Some(_) if how.output.place().is_none() => Place::Stdout,
            _ => how.output.file(|| {
                let name = sealed_name(stem).map_err(|failure| self.job.picture_of_several(name, failure))?;
                Ok(Place::Sealed(name.into()))
            })?,
        };
        let named = |failure| self.job.picture_of_several(name, failure);
        self.job.claims.check(&place, &Source::Stdin).map_err(named)?;
        let output = how.output.open(&place, None).map_err(named)?;
        let total = pages.reader.length();
        let (offset, length) = match how.range() {
            Some(range) => range.place(total).map_err(|error| Failure::seal(name, error))?,
            None => (0, total),
        };
        let progress = Progress::new(name, Some(length)).hidden_if(output.is_terminal());
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let written = match output.positions().filter(|_| offset == 0) {
            Some(file) => copy(pages, length, file, &work).map(drop),
            None => stream(pages, (offset, length), &output, &work),
        };
        written.map_err(|error| Failure::blame(error, name, &output.shown()))?;
        drop(progress);
        // If only a range is revealed, only the pictures with bytes of this range are checked.
        check(if how.range().is_none() { pages.reader.damaged() } else { pages.reader.damaged_so_far() })?;
        let place = output.land(Attributes::usual(), how.output.sync).map_err(named)?;
        self.job.claims.made(&place);
        Ok(Done { output: Some(place), bytes: length, ..Done::default() })
    }
}

fn stream(pages: &impl ReadAt, (offset, length): (u64, u64), output: &Output, work: &Work<'_>) -> Result<(), Error> {
    let mut input = Cursor::new(pages, offset + length);
    input.seek(SeekFrom::Start(offset)).map_err(Error::Read)?;
    let mut writer: Box<dyn Write> =
        if output.is_terminal() { Box::new(TextOnly::new(output.writer())) } else { output.writer() };
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = input.read(&mut buffer).map_err(Error::Read)?;
        if read == 0 {
            return Ok(());
        }
        writer.write_all(&buffer[..read]).map_err(Error::Write)?;
        work.progress.iter().for_each(|progress| progress(read as u64));
    }
}

/// A set of pictures that can be read like one file.
struct PictureSetFile<'a> {
    reader: &'a PictureReader,
    /// Whether reading a picture has failed.
    failed: AtomicBool,
}

impl<'a> PictureSetFile<'a> {
    fn new(reader: &'a PictureReader) -> Self {
        Self { reader, failed: AtomicBool::new(false) }
    }
}

impl ReadAt for PictureSetFile<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.reader.read_at(buffer, position).inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
    }
}

/// The reader of a set.
type PictureReader = Reader<Picture, OpenPicture>;
type OpenPicture = fn(&Picture) -> io::Result<Opened>;

/// Returns the damaged pictures.
fn damage(reader: &PictureReader) -> Vec<(u32, PathBuf)> {
    let path = |index| reader.set().picture(index).map_or(PathBuf::new(), |(_, picture)| picture.path.clone());
    reader.damaged().iter().map(|damage| (damage.index, path(damage.index))).collect()
}

fn not_sealed(name: &str) -> Failure {
    Failure::new(
        Exit::Data,
        format!("{name}: the data are not sealed, so anybody may have hidden them"),
        "take the bytes as they are with --raw",
    )
}

/// Notes name the damaged pictures.
fn damaged(name: &str) -> Failure {
    let hint = "get another copy of the pictures that are named below";
    Failure::new(Exit::Data, format!("{name}: the data are damaged"), hint)
}

/// Returns notes on pictures that occur several times in the set.
fn doubled(set: &Set<Picture>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut doubled = set.doubled();
    for (_, copies) in doubled.by_ref().take(NAMES) {
        let paths: Vec<_> = copies.iter().map(|picture| picture.path.clone()).collect();
        notes.push(format!("the same picture several times: {}", names(&paths)));
    }
    match doubled.count() {
        0 => {}
        more => notes.push(format!("{} several times", count(more as u64, "more picture", "more pictures"))),
    }
    notes
}

fn paths(set: &Set<Picture>) -> Vec<PathBuf> {
    set.pictures().map(|(_, picture)| picture.path.clone()).collect()
}

/// Returns the note about pictures whose contents do not match their checksums.
fn damaged_note(mut paths: Vec<PathBuf>) -> String {
    paths.sort();
    format!("damaged: {}", names(&paths))
}

/// Returns the note about pictures that were not used, because they contradict other pictures.
fn unused(paths: &[PathBuf]) -> String {
    let mut paths = paths.to_vec();
    paths.sort();
    format!("not used, because they contradict other pictures of their set: {}", names(&paths))
}

/// Returns a note on a set with spare pictures: which pictures the set has lost, and how many it may still lose.
fn losses(set: &Set<Picture>, or_damaged: bool) -> Option<String> {
    let (lost, spares) = (set.lost(), set.spares_present());
    let lost_spares = set.spares() - spares;
    if lost + lost_spares == 0 {
        return None;
    }
    let state = if or_damaged { "missing or damaged" } else { "missing" };
    let mut parts = Vec::new();
    if lost > 0 {
        let pictures = count(lost.into(), "picture was", "pictures were");
        parts.push(format!("{pictures} {state}, and made again from spare ones"));
    }
    if lost_spares > 0 {
        let pictures = count(lost_spares.into(), "spare picture is", "spare pictures are");
        parts.push(format!("{pictures} {state}{}", if lost > 0 { ", too" } else { "" }));
    }
    parts.push(match spares.saturating_sub(lost) {
        0 => "no other picture may be lost".into(),
        left => format!("{} may be lost", count(left.into(), "other picture", "other pictures")),
    });
    Some(parts.join("; "))
}

/// Returns the note about pictures whose labels do not fit the other pictures of their set.
fn foreign(mut paths: Vec<PathBuf>) -> String {
    paths.sort();
    format!("not used, because their labels do not fit the other pictures of their set: {}", names(&paths))
}

/// Returns the failure for pictures that contradict each other, if the program cannot determine which picture is right.
fn contradiction(name: &str, paths: &[PathBuf]) -> Failure {
    let mut paths = paths.to_vec();
    paths.sort();
    let mut failure = Failure::new(
        Exit::Data,
        format!("{name}: pictures of its set contradict each other"),
        "leave out those that somebody else put there",
    );
    failure.notes.push(format!("they contradict each other: {}", names(&paths)));
    failure
}

/// The reason why a set lacks pictures.
#[derive(Clone, Copy)]
enum Lack {
    /// The pictures are not among the files.
    Missing,
    /// The pictures may be among the files that cannot be read.
    Unreadable,
    /// The pictures may be damaged, and were removed from the set.
    Damaged,
}

/// Returns the failure for a set in which pictures are missing. Missing pictures include pictures that are so damaged
/// that they were removed from the set.
fn missing(set: &Set<Picture>, name: &str, lack: Lack) -> Failure {
    let all = set.count() + set.spares();
    let mut ranges: Vec<_> = set.missing().take(NAMES).map(|range| numbers(&range)).collect();
    match set.missing().skip(NAMES).map(|range| range.len()).sum() {
        0 => {}
        more => ranges.push(format!("and {more} more")),
    }
    let spares = match set.spares() {
        0 => String::new(),
        spares => format!(", of which {} may be missing", count(spares.into(), "picture", "pictures")),
    };
    let (state, hint) = match lack {
        Lack::Missing => ("missing", "name them too, or a folder with all of them"),
        Lack::Unreadable => ("missing", "get another copy of the files that cannot be read, and name what is missing"),
        Lack::Damaged => ("missing or damaged", "name them too, and get another copy of the damaged ones"),
    };
    Failure::new(
        Exit::Data,
        format!("{name}: of its set of {all} pictures{spares}, these are {state}: {}", ranges.join(", ")),
        hint,
    )
}

/// Returns the numbers of the pictures in a range of indexes. The numbers begin with 1, as in the names of pictures.
fn numbers(range: &Range<u32>) -> String {
    match range.len() {
        1 => format!("{}", range.start + 1),
        _ => format!("{} to {}", range.start + 1, range.end),
    }
}

/// Returns the name of a picture without the number and the extension.
fn stem(path: &Path, pictures: u32) -> Vec<u8> {
    let name = path.file_stem().unwrap_or_default().as_bytes();
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let bare = name[..name.len() - digits].strip_suffix(b"-").filter(|bare| digits >= 3 && !bare.is_empty());
    bare.filter(|_| pictures > 1).unwrap_or(name).to_vec()
}
