//! Recovers the data after a damaged place: with `--keep-going`, all undamaged parts of a damaged file are written to
//! `NAME.incomplete`.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::range::library;
use super::{OpenJob, Origin, too_long};
use crate::command::folder::{MOST, others};
use crate::place::output::{Output, Place};
use crate::place::partial::{Attributes, Partial};
use crate::place::window::TooLong;
use crate::tell::failure::Failure;
use crate::tell::progress::Progress;
use crate::tell::shown::shown;
use deadpan_disk::portable::FileExt;
use deadpan_seal::{Cursor, Error, Header, Opened, RangeReader, ReadAt, Summary, Work};

/// The length of the longest segment. If a damaged file is not longer than one segment, no part of the file is
/// undamaged.
const SEGMENT: u64 = 1 << 18;

/// The message if no data after the damaged place can be recovered.
pub const UNFOUND: &str = "what lies behind the damage cannot be found";
pub const NO_FILE: &str = "it is not a file, or has armor";

/// If the user wants the data after a damaged place, and the function finds these data, returns the sealed data and
/// their length. Returns `None` for objects in stores, because a failure of a store does not mean that data are
/// damaged.
pub fn local<'a>(origin: &Origin<'a>, job: &OpenJob<'_>) -> Option<(&'a dyn ReadAt, u64)> {
    origin.positions.filter(|_| job.args.unpack.keep_going && !origin.is_remote())
}

/// If some of the data can be recovered, adds advice about the damage to the failure.
pub fn advised(mut failure: Failure, origin: &Origin<'_>, job: &OpenJob<'_>) -> Failure {
    let length = origin.positions.map_or(0, |(_, length)| length);
    let is_there = length > SEGMENT && !origin.is_remote() && !job.args.unpack.keep_going;
    if let Some(hint) = failure.hint.as_mut().filter(|_| is_there) {
        hint.push_str("; with --keep-going, what is whole of this one comes out");
    }
    failure
}

/// Whether the reason for an error is that data are damaged or cannot be read.
pub fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Segment { .. } | Error::Truncated | Error::Trailing | Error::Read(_))
}

/// Reads all data of a range that can be read. Returns the parts that cannot be read, in order, and the first error.
/// Positions count from the beginning of the range.
pub fn gaps(
    reader: &mut RangeReader<impl Read + Seek>,
    range: Range<u64>,
    name: &str,
    mut put: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<(Vec<Range<u64>>, Option<io::Error>)> {
    let length = range.end - range.start;
    let progress = Progress::new(name, Some(length));
    let (mut gaps, mut first, mut at, mut buffer) = (Vec::<Range<u64>>::new(), None, 0, vec![0; 1 << 18]);
    while at < length {
        reader.seek(SeekFrom::Start(range.start + at))?;
        let most = (length - at).min(buffer.len() as u64) as usize;
        let next = match reader.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(length) => {
                put(at, &buffer[..length])?;
                at + length as u64
            }
            Err(error) => {
                first.get_or_insert(error);
                let end = reader.skip_segment().min(range.end) - range.start;
                match gaps.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end = end,
                    None => gaps.push(at..end),
                }
                end
            }
        };
        progress.add(next - at);
        at = next;
    }
    Ok((gaps, first))
}

/// Writes the undamaged parts of a damaged file, and adds the name of the written file to the failure. The written file
/// has holes where data are missing.
pub fn file(
    opened: &Opened,
    origin: &Origin<'_>,
    job: &OpenJob<'_>,
    output: Output,
    attributes: Attributes,
    mut failure: Failure,
) -> Failure {
    if !job.args.unpack.keep_going {
        return failure;
    }
    let (Some((input, length)), Output::Partial { partial, place, .. }) = (local(origin, job), output) else {
        failure.notes.push(format!("{UNFOUND}: {NO_FILE}"));
        return failure;
    };
    let mut reader = match behind(opened, (input, length)) {
        Ok(Behind { reader, end }) => {
            failure.notes.extend(end.map(|(_, note)| note));
            reader
        }
        Err(why) if opened.is_signed() => {
            failure.notes.extend(why);
            return failure;
        }
        Err(_) => return before(opened, (input, length), partial, attributes, failure),
    };
    match job.judge.verdict(&origin.name, opened, reader.signatures()) {
        Ok(verdict) => failure.notes.extend(verdict.notes),
        Err(refused) => {
            failure.notes.push(format!("nothing is kept: {}", refused.message));
            return failure;
        }
    }
    let range = 0..reader.length();
    keep(&mut reader, range, origin, partial, &place, attributes, failure)
}

/// A file of a sealed folder.
pub struct Part<'a> {
    pub opened: &'a Opened,
    pub origin: &'a Origin<'a>,
    pub job: &'a OpenJob<'a>,
    /// The place of its data in the sealed data.
    pub range: Range<u64>,
    pub attributes: Attributes,
}

impl Part<'_> {
    fn reader(&self) -> Option<(Reader<'_>, Range<u64>)> {
        let (input, length) = local(self.origin, self.job)?;
        let reader = self.opened.seek_in(Cursor::new(input, length)).ok()?;
        let end = self.range.end.min(reader.length());
        let range = self.range.start.min(end)..end;
        Some((reader, range))
    }

    /// If the user wants the undamaged parts of damaged data, and the data of the file are damaged, writes these parts
    /// to the output, and returns the failure. Otherwise returns the output, to which nothing was written.
    pub fn rescue(&self, output: Output) -> Result<Output, Failure> {
        let name = &self.origin.name;
        let Some((mut reader, range)) = self.reader() else { return Ok(output) };
        let Ok((gaps, Some(first))) = gaps(&mut reader, range.clone(), name, |_, _| Ok(())) else { return Ok(output) };
        let failure = Failure::seal(name, library(first));
        match output {
            Output::Partial { partial, place, .. } => {
                Err(keep(&mut reader, range, self.origin, partial, &place, self.attributes, failure))
            }
            Output::Stream { .. } if !output.is_terminal() => {
                let all = range.end - range.start;
                with_zeros(&mut reader, range, name, &output)?;
                Err(Failure { notes: notes_on(&gaps, all, "zeros"), ..failure })
            }
            output => Ok(output),
        }
    }

    /// Writes the data, which are undamaged, although the folder around them is damaged. Returns their length.
    pub fn copy(&self, output: &Output, failure: Failure) -> Result<u64, Failure> {
        let Some((mut reader, range)) = self.reader() else { return Err(failure) };
        let all = range.end - range.start;
        match with_zeros(&mut reader, range, &self.origin.name, output)? {
            (_, None) => Ok(all),
            (_, Some(first)) => Err(Failure::seal(&self.origin.name, library(first))),
        }
    }
}

/// Keeps the undamaged parts of a range as a file.
fn keep(
    reader: &mut Reader<'_>,
    range: Range<u64>,
    origin: &Origin<'_>,
    partial: Partial,
    place: &Place,
    attributes: Attributes,
    mut failure: Failure,
) -> Failure {
    match with_holes(&origin.name, reader, range, partial.file()) {
        Ok(None) => {}
        Ok(Some(notes)) => match partial.keep_incomplete(attributes) {
            Ok(kept) => {
                failure.notes.push(format!("what is whole is in {}", shown(&kept)));
                failure.notes.extend(notes);
                failure.kept = Some(kept);
            }
            Err(other) => failure.notes.push(other.message),
        },
        Err(error) => {
            let other = Failure::io("write", &place.shown(), &error);
            failure.exit = failure.exit.max(other.exit);
            failure.notes.push(other.message);
        }
    }
    failure
}

type Reader<'a> = RangeReader<Cursor<&'a dyn ReadAt>>;

/// A reader for the data of a damaged file.
struct Behind<'a> {
    reader: Reader<'a>,
    /// What is wrong with the end of the file, and a note about it.
    end: Option<(Error, String)>,
}

/// Returns a reader for the data of a damaged file, or a note why nothing is kept.
fn behind<'a>(opened: &Opened, (input, length): (&'a dyn ReadAt, u64)) -> Result<Behind<'a>, Option<String>> {
    let whole = || Cursor::new(input, length);
    let error = match opened.seek_in(whole()) {
        Ok(reader) => return Ok(Behind { reader, end: None }),
        Err(error) => error,
    };
    if opened.is_signed() {
        return Err(Some("nothing is kept, since its signature at the end is damaged or missing".into()));
    }
    if opened.is_compressed() {
        return Err(Some("nothing is kept, since its table of compressed parts at the end is damaged".into()));
    }
    let reader = opened.seek_in_damaged(whole()).map_err(|_| None)?;
    let note = if opened.hides_length() {
        "its end is damaged, and with it its length: zeros may follow the data"
    } else {
        "its end is damaged or missing, so its length is not known: it may have been longer"
    };
    Ok(Behind { reader, end: Some((error, note.into())) })
}

/// Writes all data that can be read to a stream, with zeros where data are missing. Returns `None` if nothing after the
/// damage can be found.
pub fn stream(
    opened: &Opened,
    origin: &Origin<'_>,
    job: &OpenJob<'_>,
    output: &Output,
) -> Result<Option<Summary>, Failure> {
    let (name, most) = (&origin.name, job.args.unpack.most());
    let Some(Ok(Behind { mut reader, end: damage })) = local(origin, job).map(|positions| behind(opened, positions))
    else {
        return Ok(None);
    };
    let (signatures, all) = (reader.signatures().cloned(), reader.length());
    if all > most {
        return Err(too_long(name, TooLong(most)));
    }
    let (gaps, first) = with_zeros(&mut reader, 0..all, name, output)?;
    let mut notes = notes_on(&gaps, all, "zeros");
    let error = match (damage, first.map(library)) {
        (None, None) => return Ok(Some(Summary { plain: all, sealed: 0, signatures })),
        (Some((error, note)), first) => {
            notes.insert(0, note);
            first.unwrap_or(error)
        }
        (None, Some(first)) => first,
    };
    Err(Failure { notes, ..Failure::seal(name, error) })
}

/// Writes the data of a range that can be read, and zeros where data are missing. Returns the missing parts and the
/// first error.
fn with_zeros(
    reader: &mut Reader<'_>,
    range: Range<u64>,
    name: &str,
    output: &Output,
) -> Result<(Vec<Range<u64>>, Option<io::Error>), Failure> {
    let unwritten = |error: io::Error| Failure::io("write", &output.shown(), &error);
    let (all, mut writer, mut end) = (range.end - range.start, output.writer(), 0);
    let mut put = |at: u64, bytes: &[u8]| {
        io::copy(&mut io::repeat(0).take(at - end), &mut writer)?;
        writer.write_all(bytes)?;
        end = at + bytes.len() as u64;
        Ok(())
    };
    let found = gaps(reader, range, name, &mut put).map_err(unwritten)?;
    put(all, &[]).map_err(unwritten)?;
    Ok(found)
}

/// Keeps the data before the damage, if nothing after it can be found.
fn before(
    opened: &Opened,
    (input, length): (&dyn ReadAt, u64),
    partial: Partial,
    attributes: Attributes,
    mut failure: Failure,
) -> Failure {
    let (mut input, mut file) = (Cursor::new(input, length), partial.file());
    let kept = Header::read(&mut input).and_then(|_| {
        file.set_len(0).and_then(|()| file.rewind()).map_err(Error::Write)?;
        // The same damage ends the work again.
        let _ = opened.open_stream(input, file, &Work::default());
        file.stream_position().map_err(Error::Write)
    });
    if kept.is_ok_and(|kept| kept > 0) {
        match partial.keep_incomplete(attributes) {
            Ok(kept) => {
                failure.notes.push(format!("what comes before the damage is in {}", shown(&kept)));
                failure.kept = Some(kept);
            }
            Err(other) => failure.notes.push(other.message),
        }
    }
    failure.notes.push("what comes after it is lost, since the table of compressed parts at the end is damaged".into());
    failure
}

/// Writes all data that can be read. Returns notes about the missing data. Returns `None` if no data can be read.
fn with_holes(
    name: &str,
    reader: &mut RangeReader<impl Read + Seek>,
    range: Range<u64>,
    file: &std::fs::File,
) -> io::Result<Option<Vec<String>>> {
    let all = range.end - range.start;
    file.set_len(0)?;
    file.set_len(all)?;
    let (gaps, _) = gaps(reader, range, name, |at, bytes| file.write_all_at(bytes, at))?;
    let missing: u64 = gaps.iter().map(|gap| gap.end - gap.start).sum();
    Ok((missing < all).then(|| notes_on(&gaps, all, "a hole")))
}

fn notes_on(gaps: &[Range<u64>], all: u64, filled: &str) -> Vec<String> {
    let note = |gap: &Range<u64>| {
        format!("bytes {} to {} of {all} are missing, and are {filled} there", gap.start, gap.end - 1)
    };
    gaps.iter().take(MOST).map(note).chain(others(gaps.len() as u64, "gap", "gaps")).collect()
}
