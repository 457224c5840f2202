//! Opens a sealed folder, whole or in part.

use std::io::{self, Read, Seek, Write};
use std::ops::Range;

use super::range::library;
use super::{OpenJob, OpenOptions, Origin, behind};
use crate::command::folder::{self, Target};
use crate::command::unpack::{selection, unmatched};
use crate::key::signed::Verdict;
use crate::place::output::{Output, Place};
use crate::place::partial::Attributes;
use crate::place::report::Done;
use crate::place::sealed::Sealed;
use crate::tell::advice;
use crate::tell::failure::Failure;
use crate::tell::progress::Progress;
use crate::tell::text::TextOnly;
use deadpan_files::UnpackSink;
use deadpan_pack::{Chosen, Contents, Entry, Error, Excerpt, Kind, Outcome, Pick, Selection, Unpacker};
use deadpan_seal::{Cursor, Format, Opened, RangeReader, ReadAt, Work};

/// Opens a sealed folder.
pub fn open(opened: &Opened, origin: &Origin<'_>, sealed: &mut Sealed<'_>, job: &OpenJob<'_>) -> Result<Done, Failure> {
    let args = job.args;
    let named = |failure| job.one_of_several(origin, failure);
    let mut renamed = None;
    let place = args.output.folder(job.results, || job.usual(origin, opened, true, &mut renamed))?;
    job.claims.check_folder(&place, origin.source, args.output.force).map_err(named)?;
    let done = to(opened, origin, sealed, &place, job);
    // A failure can occur after the folder was changed. If neither `--force` nor `--only` is given, however, the
    // command does not change an existing folder.
    if done.is_ok() || args.output.force || !args.only.is_empty() {
        job.claims.made(&place);
    }
    done.map(|mut done| {
        done.notes.extend(renamed);
        done
    })
}

/// Whether an age file contains a folder that Deadpan packed. An age file does not record the kind of its contents, so
/// the function searches for the index of a pack. The search requires a file that can be read at any position.
pub fn is_in_age(opened: &Opened, origin: &Origin<'_>) -> bool {
    let Some((input, length)) = origin.positions.filter(|_| opened.format() == Format::Age) else { return false };
    opened.seek_in(Cursor::new(input, length)).is_ok_and(is_pack)
}

/// Whether the data are a pack with an index.
pub fn is_pack(reader: impl Read + Seek) -> bool {
    Contents::read(reader).is_ok_and(|contents| contents.is_some())
}

/// Returns the failure for a sealed folder without an index.
pub fn without_index(name: &str, hint: &str) -> Failure {
    Failure::usage(format!("{name} holds an archive without an index, so its entries cannot be found"), hint)
}

fn to(
    opened: &Opened,
    origin: &Origin<'_>,
    sealed: &mut Sealed<'_>,
    place: &Place,
    job: &OpenJob<'_>,
) -> Result<Done, Failure> {
    let args = job.args;
    if let Some(positions) = origin.positions.filter(|_| !args.only.is_empty())
        && !is_index_lost(opened, origin, positions, job)
    {
        return part(opened, origin, positions, place, job);
    }
    if job.judge.is_required() {
        compare_first(opened, origin, place, job)?;
    }
    if !args.only.is_empty() && (place.is_stream() || names_the_file(place, args, false)) {
        return single(opened, origin, sealed, place, job);
    }
    let find = || Damaged::find(opened, origin, job);
    let begin = || target(place, origin, job);
    let mut target = begin()?;
    if !target.is_new()
        && let Some((whole, failure)) = find()
    {
        // The entries of a damaged folder are not added to an existing folder, but to a new folder beside it.
        target = beside(target, place, origin, job)?;
        if let Some(whole) = whole {
            return Ok(whole.unpack(&Chosen::all(), target, origin, failure));
        }
    }
    if !args.only.is_empty() {
        target.unpacker().only(selection(&args.only).filter());
    }
    let mut stopped = match through(opened, origin, sealed, target.unpacker(), "the folder", job) {
        Ok((outcome, verdict)) => return Ok(verdict.joined(target.end(Ok(outcome), args.output.sync)?)),
        Err(stopped) => stopped,
    };
    if stopped.is_damage
        && target.is_new()
        && let Some((Some(whole), _)) = find()
    {
        target.discard(Failure::usage("", ""));
        return Ok(whole.unpack(&Chosen::all(), begin()?, origin, stopped.failure));
    }
    // If the end of the data is missing, the index is missing, too, so `--keep-going` does not help.
    if stopped.is_damage && !stopped.is_cut {
        stopped.failure = behind::advised(stopped.failure, origin, job);
    }
    let Stopped { failure, is_refused, .. } = stopped.unfound(origin, job);
    if is_refused { Err(target.discard(failure)) } else { target.end(Err(failure), args.output.sync) }
}

/// Whether the user wants what is undamaged, and the index is damaged. Then the entries are looked for in order.
fn is_index_lost(opened: &Opened, origin: &Origin<'_>, positions: (&dyn ReadAt, u64), job: &OpenJob<'_>) -> bool {
    behind::local(origin, job).is_some()
        && match contents(opened, origin, positions, job) {
            Ok((mut contents, _)) => contents.entries().any(|entry| entry.is_err()),
            Err(failure) => failure.damaged,
        }
}

/// A reader for the data of a sealed file at any position.
type SealedData<'a> = RangeReader<Cursor<&'a dyn ReadAt>>;

/// Reads the contents of a pack from its index. The index is at the end of the pack, so with `keep_going`, it is read
/// even if the beginning of the pack is damaged.
fn read_contents<'a>(
    reader: SealedData<'a>,
    opened: &Opened,
    (input, length): (&'a dyn ReadAt, u64),
    keep_going: bool,
) -> Result<Option<Contents<SealedData<'a>>>, Error> {
    match (Contents::read(reader), &opened.metadata().name) {
        (Err(Error::Read(_)), Some(name)) if keep_going => {
            let reader = opened.seek_in(Cursor::new(input, length)).map_err(|_| Error::Truncated)?;
            Contents::read_behind(reader, name.clone())
        }
        (contents, _) => contents,
    }
}

/// A damaged pack, and the ranges of the pack that cannot be read.
struct Damaged<R> {
    contents: Contents<R>,
    other: Contents<R>,
    gaps: Vec<Range<u64>>,
    /// Notes on the signature.
    notes: Vec<String>,
}

impl<'a> Damaged<SealedData<'a>> {
    /// Finds the undamaged parts of a damaged pack, if the user wants these parts. Also returns the failure. Returns no
    /// parts if the end of the pack or its index are damaged. Returns `None` if nothing is damaged, or if the signature
    /// is not the one that the user requires.
    fn find(opened: &Opened, origin: &Origin<'a>, job: &OpenJob<'_>) -> Option<(Option<Self>, Failure)> {
        let (input, length) = behind::local(origin, job)?;
        let mut reader = match opened.seek_in(Cursor::new(input, length)) {
            Ok(reader) => reader,
            Err(error) => return behind::is_damage(&error).then(|| (None, Failure::seal(&origin.name, error))),
        };
        let verdict = job.judge.verdict(&origin.name, opened, reader.signatures()).ok()?;
        let contents = || {
            let reader = opened.seek_in(Cursor::new(input, length)).ok()?;
            read_contents(reader, opened, (input, length), true).ok().flatten()
        };
        let all = 0..reader.length();
        let (gaps, error) = behind::gaps(&mut reader, all, &origin.name, |_, _| Ok(())).ok()?;
        let failure = Failure::seal(&origin.name, library(error?));
        let whole = contents().zip(contents()).and_then(|(mut contents, other)| {
            let is_usable = contents.entries().all(|entry| entry.is_ok());
            is_usable.then_some(Self { contents, other, gaps, notes: verdict.notes })
        });
        Some((whole, failure))
    }

    /// Unpacks the chosen entries that are undamaged, and adds the names of the damaged entries to the failure.
    fn unpack(self, chosen: &Chosen, mut target: Target, origin: &Origin<'_>, failure: Failure) -> Done {
        let Self { mut contents, other, gaps, notes } = self;
        let progress = Progress::new(&origin.name, None);
        let add = |bytes| progress.add(bytes);
        let work = deadpan_pack::Work { progress: Some(&add), ..deadpan_pack::Work::default() };
        let mut excerpt = Excerpt::new(chosen.entries(&mut contents), other).around(gaps);
        let outcome = deadpan_pack::unpack(&mut excerpt, target.unpacker(), &work);
        drop(progress);
        let left_out = folder::left_out(excerpt.left_out());
        let mut done = target.keep_whole(failure, outcome.map_err(|error| failed(error, origin)), left_out);
        done.notes.splice(..0, notes);
        done
    }
}

/// Compares the data with the signed digest before an existing folder changes. For a new folder, this check is not
/// needed, because the new folder is discarded if the signature is wrong.
fn compare_first(opened: &Opened, origin: &Origin<'_>, place: &Place, job: &OpenJob<'_>) -> Result<(), Failure> {
    if job.args.only.is_empty() && place.path().is_some_and(|path| !path.exists()) {
        return Ok(());
    }
    let Some((input, length)) = origin.positions else {
        let message = "--require-signature cannot check a signature at the end before entries are written";
        return Err(Failure::usage(
            message,
            "name a file without armor as input; or a new folder with -o, without --only",
        ));
    };
    let reader = opened.seek_in(Cursor::new(input, length));
    let read = reader.and_then(|mut reader| io::copy(&mut reader, &mut io::sink()).map_err(library));
    read.map(drop).map_err(|error| Failure::seal(&origin.name, error))
}

/// The reason why unpacking ended early.
struct Stopped {
    failure: Failure,
    /// Whether the signature is wrong, is not by the required signer, or was not read. In these cases no entry is kept.
    is_refused: bool,
    /// Whether the sealed data are damaged. `is_cut` shows whether the end of the data is missing.
    is_damage: bool,
    is_cut: bool,
}

impl Stopped {
    fn failed(failure: Failure) -> Self {
        Self { failure, is_refused: false, is_damage: false, is_cut: false }
    }

    fn refused(failure: Failure) -> Self {
        Self { is_refused: true, ..Self::failed(failure) }
    }

    /// Adds a note that explains why the entries after the damaged place cannot be recovered.
    fn unfound(mut self, origin: &Origin<'_>, job: &OpenJob<'_>) -> Self {
        if self.is_damage && job.args.unpack.keep_going {
            let why = match behind::local(origin, job) {
                Some(_) if self.is_refused => "its signature or its index at the end is damaged or missing",
                Some(_) => "its index at the end is damaged or missing",
                None => behind::NO_FILE,
            };
            self.failure.notes.push(format!("{}: {why}", behind::UNFOUND));
        }
        self
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        stopped.failure
    }
}

/// Unpacks all entries of the payload, in order.
fn through(
    opened: &Opened,
    origin: &Origin<'_>,
    sealed: &mut Sealed<'_>,
    unpacker: &mut Unpacker,
    output: &str,
    job: &OpenJob<'_>,
) -> Result<(Outcome, Verdict), Stopped> {
    let name = origin.shown();
    let progress = Progress::new(&name, origin.length);
    let add = |bytes| progress.add(bytes);
    let work = Work { progress: Some(&add), ..Work::default() };
    let scattered = opened.scatter(&mut sealed.payload, UnpackSink(unpacker), &work);
    let (done, _) = scattered.map_err(|error| {
        let is_damage = behind::is_damage(&error);
        let is_cut = matches!(error, deadpan_seal::Error::Truncated);
        Stopped { failure: folder::blame(error, &name, output), is_refused: opened.is_signed(), is_damage, is_cut }
    })?;
    let verdict = job.judge.verdict(&name, opened, done.signatures.as_ref()).map_err(Stopped::refused)?;
    let outcome = unpacker.finish().map_err(|error| Stopped::failed(blamed(error, origin, output)))?;
    Ok((outcome, verdict))
}

/// The failure is about `output` if `output` could not be written, and otherwise about the input.
fn blamed(error: Error, origin: &Origin<'_>, output: &str) -> Failure {
    match error {
        Error::Write(error) => Failure::io("write", output, &error),
        error => failed(error, origin),
    }
}

fn failed(error: Error, origin: &Origin<'_>) -> Failure {
    let hint = origin.stem.and_then(|_| advice::pack::in_pictures(&error));
    let failure = Failure::pack(&origin.name, error);
    Failure { hint: hint.map(str::to_owned).or(failure.hint), ..failure }
}

/// Reads the archive as a stream, and writes the one selected file to standard output or to a file.
fn single(
    opened: &Opened,
    origin: &Origin<'_>,
    sealed: &mut Sealed<'_>,
    place: &Place,
    job: &OpenJob<'_>,
) -> Result<Done, Failure> {
    let args = job.args;
    if !selection(&args.only).is_one_name() {
        let message = format!("{} is read only once, and only one file that is named can go to a stream", origin.name);
        let hint = "name one file with --only, or a folder with -o, or save the sealed file without armor first";
        return Err(Failure::usage(message, hint));
    }
    let output = args.output.open(place, origin.input)?;
    let name = output.shown();
    let mut unpacker = Unpacker::single(selection(&args.only).filter(), stream(&output)?);
    args.unpack.limit(&mut unpacker);
    let (outcome, verdict) = through(opened, origin, sealed, &mut unpacker, &name, job)?;
    drop(unpacker);
    let place = output.land(Attributes::usual(), args.output.sync)?;
    Ok(verdict.joined(Done { output: Some(place), bytes: outcome.bytes, ..Done::default() }))
}

/// Returns a writer to the output. The writer owns the output's file. If the output is a terminal, the writer accepts
/// only text.
fn stream(output: &Output) -> Result<Box<dyn Write + Send>, Failure> {
    let writer = output.owned_writer().map_err(|error| Failure::io("write", &output.shown(), &error))?;
    Ok(if output.is_terminal() { Box::new(TextOnly::new(writer)) } else { writer })
}

/// Reads the contents of a pack from its index. Each reader reads the signatures again and compares its data with the
/// signatures, because the file can change between two readers.
fn contents<'a>(
    opened: &Opened,
    origin: &Origin<'_>,
    (input, length): (&'a dyn ReadAt, u64),
    job: &OpenJob<'_>,
) -> Result<(Contents<SealedData<'a>>, Verdict), Failure> {
    let name = origin.shown();
    let reader = opened.seek_in(Cursor::new(input, length)).map_err(|error| Failure::seal(&name, error))?;
    let verdict = job.judge.verdict(&name, opened, reader.signatures())?;
    let no_index = || without_index(&name, "open the whole archive, without --only");
    let keep_going = behind::local(origin, job).is_some();
    let contents = read_contents(reader, opened, (input, length), keep_going).map_err(|error| failed(error, origin))?;
    contents.ok_or_else(no_index).map(|contents| (contents, verdict))
}

/// Uses the index to find the selected entries, and opens these entries.
fn part(
    opened: &Opened,
    origin: &Origin<'_>,
    positions: (&dyn ReadAt, u64),
    place: &Place,
    job: &OpenJob<'_>,
) -> Result<Done, Failure> {
    let (name, args) = (origin.shown(), job.args);
    let failed = |error| failed(error, origin);
    let contents = || contents(opened, origin, positions, job);
    let ((mut contents, mut verdict), (other, _)) = (contents()?, contents()?);
    let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
    verdict.notes.extend(unmatched(&chosen));
    let first: Vec<_> = chosen.entries(&mut contents).take(2).collect::<Result<_, _>>().map_err(failed)?;
    let is_file = |pick: &Pick| matches!(pick.file().kind, Kind::File | Kind::Sparse);
    // The form of the output depends on the request of the user, and not on the number of entries that match.
    let one = first.first().filter(|pick| chosen.is_one_name() && first.len() == 1 && is_file(pick));
    if !place.is_stream() && (one.is_none() || !names_the_file(place, args, true)) {
        let mut target = target(place, origin, job)?;
        let find = || Damaged::find(opened, origin, job);
        if !target.is_new()
            && let Some((Some(whole), failure)) = find()
        {
            return Ok(whole.unpack(&chosen, beside(target, place, origin, job)?, origin, failure));
        }
        let progress = Progress::new(&name, None);
        let add = |bytes| progress.add(bytes);
        let work = deadpan_pack::Work { progress: Some(&add), ..deadpan_pack::Work::default() };
        let outcome =
            deadpan_pack::unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work);
        drop(progress);
        return match outcome {
            Err(error @ Error::Read(_))
                if target.is_new()
                    && let Some((Some(whole), _)) = find() =>
            {
                target.discard(Failure::usage("", ""));
                Ok(whole.unpack(&chosen, self::target(place, origin, job)?, origin, failed(error)))
            }
            outcome => target.end(outcome.map_err(failed), args.output.sync).map(|done| verdict.joined(done)),
        };
    }
    let mut output = args.output.open(place, origin.input)?;
    let file = one.map(Pick::file).filter(|file| args.unpack.keep_going && file.kind == Kind::File);
    let file = file.map(|file| behind::Part {
        opened,
        origin,
        job,
        range: file.content..file.content.saturating_add(file.size),
        attributes: of_file(file, args.unpack.mask()),
    });
    if let Some(file) = &file {
        output = file.rescue(output)?;
    }
    let blamed = |error| blamed(error, origin, &output.shown());
    let mut writer = stream(&output)?;
    let bytes = match one {
        // A single file is written as a plain file, and all other selections are written as an archive. For a plain
        // file and for an archive, the contents are compared with the hashes in their headers.
        Some(pick) => {
            // A slash at the beginning keeps a `!` in the name from being a sign.
            let path = [b"/", contents.root_name(), b"/", &pick.entry.path].concat();
            let mut unpacker = Unpacker::single(Selection::new([path]).filter(), writer);
            args.unpack.limit(&mut unpacker);
            let excerpt = Excerpt::new(chosen.entries(&mut contents), other);
            let unpacked = deadpan_pack::unpack(excerpt, &mut unpacker, &deadpan_pack::Work::default());
            drop(unpacker);
            match (unpacked, &file) {
                // The damage lies before the data of the file, so nothing was written yet.
                (Err(error @ Error::Read(_)), Some(file)) => file.copy(&output, failed(error))?,
                (unpacked, _) => unpacked.map_err(blamed)?.bytes,
            }
        }
        None => io::copy(&mut Excerpt::new(chosen.entries(&mut contents), other).hashed(), &mut writer)
            .map_err(|error| blamed(of_copy(error)))?,
    };
    let attributes = one.map_or(Attributes::usual(), |pick| of_file(pick.file(), args.unpack.mask()));
    let place = output.land(attributes, args.output.sync)?;
    Ok(verdict.joined(Done { output: Some(place), bytes, ..Done::default() }))
}

/// Returns the error for an excerpt that could not be copied: an error of the excerpt, of the sealed data, or of the
/// output.
fn of_copy(error: io::Error) -> Error {
    if error.get_ref().is_some_and(|inner| inner.is::<deadpan_seal::Error>()) {
        Error::Read(error)
    } else {
        error.downcast().unwrap_or_else(Error::Write)
    }
}

/// Whether `-o` is the path of the output file itself, and not of a folder for the file that `--only` selects.
/// `is_known` is true if `--only` certainly is the name of a file. If `is_known` is false, `-o` and `--only` must end
/// with the same name.
fn names_the_file(place: &Place, args: &OpenOptions, is_known: bool) -> bool {
    let (Place::Given(path), [only]) = (place, args.only.as_slice()) else { return false };
    args.output.place() == Some(place)
        && !place.ends_with_slash()
        && !path.is_dir()
        && (is_known || path.file_name() == only.file_name() && selection(&args.only).is_one_name())
}

/// The bits in `mask` and the bits setuid, setgid and sticky are removed from the mode.
fn of_file(entry: &Entry, mask: u32) -> Attributes {
    Attributes { mode: entry.mode & 0o777 & !mask, modified: entry.modified.system() }
}

/// Begins the output folder. A part of a sealed folder is added to an existing folder, unless the sender chose the name
/// of the output folder.
fn target(place: &Place, origin: &Origin<'_>, job: &OpenJob<'_>) -> Result<Target, Failure> {
    let args = job.args;
    Target::begin(place, origin.input, &args.unpack, &args.output, !args.only.is_empty())
        .map_err(|failure| job.one_of_several(origin, failure))
}

/// Begins a new folder for the undamaged entries, beside the existing target folder.
fn beside(target: Target, place: &Place, origin: &Origin<'_>, job: &OpenJob<'_>) -> Result<Target, Failure> {
    let args = job.args;
    Ok(Target::begin_beside(place, origin.input, &args.unpack, &args.output)?.unwrap_or(target))
}
