//! Opens a sealed folder, whole or in part.

use std::io::{self, Write};

use super::range::library;
use super::{OpenJob, OpenOptions, Origin};
use crate::advice;
use crate::failure::Failure;
use crate::folder::{self, Target};
use crate::output::{Output, Place};
use crate::partial::Attributes;
use crate::progress::Progress;
use crate::report::Done;
use crate::sealed::Sealed;
use crate::signed::Verdict;
use crate::unpack::selection;
use crate::window::TextOnly;
use deadpan_files::UnpackSink;
use deadpan_pack::{Contents, Entry, Error, Excerpt, Kind, Outcome, Pick, Selection, Unpacker};
use deadpan_seal::{Cursor, Format, Opened, ReadAt, Work};

/// Opens a sealed folder.
pub fn open(opened: &Opened, origin: &Origin<'_>, sealed: &mut Sealed<'_>, job: &OpenJob<'_>) -> Result<Done, Failure> {
    let args = job.args;
    let named = |failure| job.one_of_several(origin, failure);
    let mut renamed = None;
    let place = args.output.folder(job.results, || job.usual(origin, opened, true, &mut renamed))?;
    job.claims.check_folder(&place, origin.source, args.output.force).map_err(named)?;
    let done = to(opened, origin, sealed, &place, job);
    // A failure can come after the folder was changed, but without these options an existing folder is not changed.
    if done.is_ok() || args.output.force || !args.only.is_empty() {
        job.claims.made(&place);
    }
    done.map(|mut done| {
        done.notes.extend(renamed);
        done
    })
}

/// Whether an age file holds a folder that Deadpan packed. age files do not tell what they hold, so the index shows it,
/// which needs a file that can be read at any position.
pub fn is_in_age(opened: &Opened, origin: &Origin<'_>) -> bool {
    let Some((input, length)) = origin.positions.filter(|_| opened.format() == Format::Age) else { return false };
    let reader = opened.seekable(Cursor::new(input, length));
    reader.is_ok_and(|reader| Contents::read(reader).is_ok_and(|contents| contents.is_some()))
}

/// Opens a sealed folder, or a part of it, to `place`.
fn to(
    opened: &Opened,
    origin: &Origin<'_>,
    sealed: &mut Sealed<'_>,
    place: &Place,
    job: &OpenJob<'_>,
) -> Result<Done, Failure> {
    let args = job.args;
    if let Some(positions) = origin.positions.filter(|_| !args.only.is_empty()) {
        return part(opened, origin, positions, place, job);
    }
    if job.judge.is_required() {
        compare_first(opened, origin, place, job)?;
    }
    if !args.only.is_empty() && (place.is_stream() || names_the_file(place, args, false)) {
        return single(opened, origin, sealed, place, job);
    }
    let mut target = target(place, origin, job)?;
    if !args.only.is_empty() {
        target.unpacker().only(selection(&args.only).filter());
    }
    match through(opened, origin, sealed, target.unpacker(), "the folder", job) {
        Ok((outcome, verdict)) => Ok(verdict.joined(target.end(Ok(outcome), args.output.sync)?)),
        Err(Stopped::Failed(failure)) => target.end(Err(failure), args.output.sync),
        Err(Stopped::Refused(failure)) => Err(target.discard(failure)),
    }
}

/// Compares the data with what was signed, before a folder changes that exists already. A new folder needs no such
/// check: it is discarded if the signature is wrong.
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
    let reader = opened.seekable(Cursor::new(input, length));
    let read = reader.and_then(|mut reader| io::copy(&mut reader, &mut io::sink()).map_err(library));
    read.map(drop).map_err(|error| Failure::of(&origin.name, error))
}

/// Why unpacking ended early.
enum Stopped {
    /// What is complete is kept.
    Failed(Failure),
    /// The signature is wrong, not the required one, or was not reached: nothing is kept.
    Refused(Failure),
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Failed(failure) | Stopped::Refused(failure) => failure,
        }
    }
}

/// Unpacks everything that the payload holds, in order.
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
        let failure = folder::blame(error, &name, output);
        if opened.is_signed() { Stopped::Refused(failure) } else { Stopped::Failed(failure) }
    })?;
    let verdict = job.judge.verdict(&name, opened, done.signatures.as_ref()).map_err(Stopped::Refused)?;
    let outcome = unpacker.finish().map_err(|error| Stopped::Failed(blamed(error, origin, output)))?;
    Ok((outcome, verdict))
}

/// Returns the failure for an error of unpacking: about `output` if it could not be written, otherwise about the input.
fn blamed(error: Error, origin: &Origin<'_>, output: &str) -> Failure {
    match error {
        Error::Write(error) => Failure::io("write", output, &error),
        error => failed(error, origin),
    }
}

/// Returns the failure for an error of the sealed archive.
fn failed(error: Error, origin: &Origin<'_>) -> Failure {
    let hint = origin.stem.and_then(|_| advice::pack::in_pictures(&error));
    let failure = Failure::pack(&origin.name, error);
    Failure { hint: hint.map(str::to_owned).or(failure.hint), ..failure }
}

/// Writes the one selected file to standard output or to a file, while the archive passes as a stream.
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

/// Returns a writer to the output that owns its file. A terminal gets only text.
fn stream(output: &Output) -> Result<Box<dyn Write + Send>, Failure> {
    let writer = output.owned_writer().map_err(|error| Failure::io("write", &output.shown(), &error))?;
    Ok(if output.is_terminal() { Box::new(TextOnly::new(writer)) } else { writer })
}

/// Opens the selected entries, and finds them through the index.
fn part(
    opened: &Opened,
    origin: &Origin<'_>,
    (input, length): (&dyn ReadAt, u64),
    place: &Place,
    job: &OpenJob<'_>,
) -> Result<Done, Failure> {
    let (name, args) = (origin.shown(), job.args);
    let failed = |error| failed(error, origin);
    // Each reader reads the signatures again and compares its data with them, because the file can change in between.
    let contents = || {
        let reader = opened.seekable(Cursor::new(input, length)).map_err(|error| Failure::of(&name, error))?;
        let verdict = job.judge.verdict(&name, opened, reader.signatures())?;
        let no_index = || {
            Failure::usage(
                format!("{name} holds an archive without an index, so its entries cannot be found"),
                "open the whole archive, without --only",
            )
        };
        Contents::read(reader).map_err(failed)?.ok_or_else(no_index).map(|contents| (contents, verdict))
    };
    let ((mut contents, verdict), (other, _)) = (contents()?, contents()?);
    let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
    let first: Vec<_> = chosen.entries(&mut contents).take(2).collect::<Result<_, _>>().map_err(failed)?;
    let is_file = |pick: &Pick| matches!(pick.file().kind, Kind::File | Kind::Sparse);
    // The form follows from what is asked for, and not from how many entries match.
    let one = first.first().filter(|pick| chosen.is_one_name() && first.len() == 1 && is_file(pick));
    if !place.is_stream() && (one.is_none() || !names_the_file(place, args, true)) {
        let mut target = target(place, origin, job)?;
        let progress = Progress::new(&name, None);
        let add = |bytes| progress.add(bytes);
        let work = deadpan_pack::Work { progress: Some(&add), ..deadpan_pack::Work::default() };
        let outcome =
            deadpan_pack::unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work);
        drop(progress);
        return target.end(outcome.map_err(failed), args.output.sync).map(|done| verdict.joined(done));
    }
    let output = args.output.open(place, origin.input)?;
    let blamed = |error| blamed(error, origin, &output.shown());
    let mut writer = stream(&output)?;
    let bytes = match one {
        // A file is written as it is, everything else as an archive. Both are compared with their headers.
        Some(pick) => {
            let path = [contents.root_name(), b"/", &pick.entry.path].concat();
            let mut unpacker = Unpacker::single(Selection::new([path]).filter(), writer);
            args.unpack.limit(&mut unpacker);
            let excerpt = Excerpt::new(chosen.entries(&mut contents), other);
            deadpan_pack::unpack(excerpt, &mut unpacker, &deadpan_pack::Work::default()).map_err(blamed)?.bytes
        }
        None => io::copy(&mut Excerpt::new(chosen.entries(&mut contents), other).hashed(), &mut writer)
            .map_err(|error| blamed(error.downcast::<Error>().unwrap_or_else(Error::Write)))?,
    };
    let attributes = one.map_or(Attributes::usual(), |pick| of_file(pick.file(), args.unpack.mask()));
    let place = output.land(attributes, args.output.sync)?;
    Ok(verdict.joined(Done { output: Some(place), bytes, ..Done::default() }))
}

/// Whether `-o` names a file for the one file that `--only` names, and not a folder around it. Unless it `is_known`
/// that this is a file, `-o` has to have its name.
fn names_the_file(place: &Place, args: &OpenOptions, is_known: bool) -> bool {
    let (Place::Given(path), [only]) = (place, args.only.as_slice()) else { return false };
    args.output.place() == Some(place)
        && !place.ends_with_slash()
        && !path.is_dir()
        && (is_known || path.file_name() == only.file_name())
        && selection(&args.only).is_one_name()
}

/// Returns the time and the mode of a file in the archive, without the bits in `mask`, setuid, setgid and sticky.
fn of_file(entry: &Entry, mask: u32) -> Attributes {
    Attributes { mode: entry.mode & 0o777 & !mask, modified: entry.modified.system() }
}

/// Begins the folder. A part of a sealed folder is added to an existing folder, unless the sender chose the name.
fn target(place: &Place, origin: &Origin<'_>, job: &OpenJob<'_>) -> Result<Target, Failure> {
    let args = job.args;
    Target::begin(place, origin.input, &args.unpack, &args.output, !args.only.is_empty())
        .map_err(|failure| job.one_of_several(origin, failure))
}
