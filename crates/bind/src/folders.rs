//! Sealing, opening and listing of folders.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::draft::{DraftFile, DraftFolder};
use crate::fault::shown;
use crate::files::{blame, metadata, refuse_same};
use crate::patient::{PatientInput, open_input, open_seekable, refuse_fifo};
use crate::{Code, Fault};
use deadpan_disk::{Folder, Input, umask};
use deadpan_pack::{Contents, Excerpt, Job, Outcome, Packer, Packing, Rest, Selection, Unpacker, Unpacking};
use deadpan_seal::{Cursor, Header, Identity, Opened, RangeReader, Sealing, Sink, Source, Summary, Taken, Work};

pub use deadpan_pack::{Entry, Kind};

/// Lets the engine read from a packer.
struct Gathered(Packer);

impl Source for Gathered {
    type Rest = Job;

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Job>> {
        let (length, rest) = self.0.take(buffer).map_err(io::Error::other)?;
        Ok(Taken { length, last: self.0.ended(), rest })
    }

    fn complete(rest: Job, bytes: &mut [u8]) -> io::Result<()> {
        rest.complete(bytes).map_err(io::Error::other)
    }
}

/// Lets the engine write to an unpacker.
struct Scattered<'a>(&'a mut Unpacker);

impl Sink for Scattered<'_> {
    type Rest = Rest;

    fn put(&mut self, bytes: &[u8]) -> io::Result<Rest> {
        self.0.put(bytes).map_err(io::Error::other)
    }

    fn complete(rest: Rest, bytes: &[u8]) -> io::Result<()> {
        rest.complete(bytes);
        Ok(())
    }
}

/// Seals a folder with everything in it. Returns what was done, and notes about entries that were left out.
///
/// # Errors
/// If an entry cannot be read, if the output exists or cannot be written, or if the work is stopped.
pub fn seal_folder(
    sealing: &Sealing,
    folder: &Path,
    output: &Path,
    replace: bool,
    work: &Work<'_>,
) -> Result<(Summary, Vec<String>), Fault> {
    let Input { file, about, found } = open_input(folder)?;
    if !about.is_folder() {
        return Err(Fault::argument(format!("{} is not a folder", shown(folder))));
    }
    let opened = Folder::from_file(file, folder).map_err(|error| Fault::read(folder, &error))?;
    refuse_same(&about, folder, output)?;
    let metadata = metadata(folder, &about, deadpan_seal::Kind::Folder);
    let name = metadata.name.clone().unwrap_or_else(|| b"root".to_vec());
    let draft = DraftFile::new(output, replace, Some(&found))?;
    let options = Packing { except: draft.id(), output: draft.place(), ..Packing::default() };
    let packer = Packer::of(opened, &name, options).map_err(|error| Fault::from(error).about(folder))?;
    let sealing = sealing.clone().metadata(metadata)?;
    let (summary, source) =
        sealing.gather_file(Gathered(packer), draft.file(), work).map_err(|error| blame(error, folder, output))?;
    draft.land(None, None)?;
    Ok((summary, source.0.notes().list().iter().map(ToString::to_string).collect()))
}

/// Opens a sealed folder to a new folder.
///
/// # Errors
/// If the input cannot be read or does not open, if it holds no folder, if the output exists, if an entry cannot be
/// written, or if the work is stopped.
pub fn open_folder(identities: &[Identity], input: &Path, output: &Path, work: &Work<'_>) -> Result<Summary, Fault> {
    let Input { file, about, found } = open_input(input)?;
    let failed = |error| blame(error, input, output);
    let mut source = PatientInput::new(&file, &about, work);
    let opened = Header::read(&mut source).and_then(|header| header.open(identities)).map_err(failed)?;
    if opened.metadata().kind != deadpan_seal::Kind::Folder {
        return Err(no_folder(input));
    }
    let draft = DraftFolder::new(output, &found)?;
    let mut unpacker = unpacker(&draft);
    let (summary, _) = opened.scatter(source, Scattered(&mut unpacker), work).map_err(failed)?;
    let outcome = unpacker.finish().map_err(|error| Fault::from(error).about(input))?;
    land(draft, unpacker, &outcome, input)?;
    Ok(summary)
}

/// Opens a part of a sealed folder to a new folder, and reads only this part. `only` has paths, as a listing shows
/// them, and patterns; a folder is taken with everything in it.
///
/// # Errors
/// The errors of [`open_folder`], and if nothing is selected, if a path or pattern matches nothing, or if the input is
/// a pipe.
pub fn open_folder_part(
    identities: &[Identity],
    input: &Path,
    output: &Path,
    only: Vec<Vec<u8>>,
    work: &Work<'_>,
) -> Result<(), Fault> {
    if only.is_empty() {
        return Err(Fault::argument("no path is selected"));
    }
    let Input { file, about, found } = open_input(input)?;
    refuse_fifo(&about, input)?;
    let opened = Header::read(&file).and_then(|header| header.open(identities));
    let opened = opened.map_err(|error| blame(error, input, output))?;
    let failed = |error: deadpan_pack::Error| match Fault::from(error) {
        fault if fault.code == Code::Stopped => fault,
        fault => fault.about(input),
    };
    // One reader walks the index, and the other reads the entries.
    let (mut walked, read) =
        (contents(&opened, &file, about.length, input)?, contents(&opened, &file, about.length, input)?);
    let chosen = Selection::new(only).within(&mut walked).map_err(failed)?;
    let draft = DraftFolder::new(output, &found)?;
    let mut unpacker = unpacker(&draft);
    let work = deadpan_pack::Work { threads: work.threads, progress: work.progress, stop: work.stop };
    let excerpt = Excerpt::new(chosen.entries(&mut walked), read);
    let outcome = deadpan_pack::unpack(excerpt, &mut unpacker, &work).map_err(failed)?;
    land(draft, unpacker, &outcome, input)
}

fn unpacker(draft: &DraftFolder) -> Unpacker {
    Unpacker::new(draft.folder().clone(), Unpacking { fresh: true, mask: umask(), ..Unpacking::default() })
}

/// Gives the folder its name, unless an entry failed.
fn land(draft: DraftFolder, unpacker: Unpacker, outcome: &Outcome, input: &Path) -> Result<(), Fault> {
    if let Some(failure) = outcome.failures.first() {
        return Err(Fault::from(failure.error.clone()).about(input));
    }
    drop(unpacker);
    draft.land()
}

/// Returns the contents of a sealed folder. Makes a new reader for them.
fn contents<'a>(
    opened: &Opened,
    file: &'a File,
    length: u64,
    input: &Path,
) -> Result<Contents<RangeReader<Cursor<&'a File>>>, Fault> {
    let reader = opened.seekable(Cursor::new(file, length)).map_err(|error| blame(error, input, input))?;
    let contents = Contents::read(reader).map_err(|error| Fault::from(error).about(input))?;
    contents.ok_or_else(|| no_folder(input))
}

fn no_folder(input: &Path) -> Fault {
    Fault::argument(format!("{} holds no folder", shown(input)))
}

/// Calls `each` with the entries of a sealed folder, in order, until it returns false. Only the index is read.
///
/// # Errors
/// If the input cannot be read or does not open, or if it holds no folder.
pub fn list_folder(identities: &[Identity], input: &Path, mut each: impl FnMut(&Entry) -> bool) -> Result<(), Fault> {
    let (file, length) = open_seekable(input)?;
    let opened = Header::read(&file).and_then(|header| header.open(identities));
    let opened = opened.map_err(|error| blame(error, input, input))?;
    let mut contents = contents(&opened, &file, length, input)?;
    for entry in contents.entries() {
        let entry = entry.map_err(|error| Fault::from(error).about(input))?;
        if !each(&entry) {
            return Err(Fault::new(Code::Stopped, Code::Stopped.message()));
        }
    }
    Ok(())
}
