//! Sealing, opening and listing of folders.

use std::io::{Read, Seek};
use std::path::Path;

use crate::draft::{DraftFile, DraftFolder};
use crate::file::{metadata, open_reader, refuse_same, unlock};
use crate::patient::{PatientInput, open_input, refuse_fifo};
use crate::{DataReader, Error, Options, PackSource, UnpackSink};
use deadpan_disk::{Folder, Input, umask};
use deadpan_pack::{Contents, Excerpt, Notes, Outcome, Packer, Packing, Rules, Selection, Unpacker, Unpacking};
use deadpan_seal::{Cursor, Identity, Kind, Sealing, Summary};

/// Seals a folder with everything in it, on all cores. Returns a summary of the sealed file, and notes about entries
/// that were not sealed, such as sockets.
///
/// # Errors
/// If an entry cannot be read, if the output exists or cannot be written, or if the work is stopped.
pub fn seal_folder(
    sealing: &Sealing,
    folder: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: Options<'_>,
) -> Result<(Summary, Notes), Error> {
    seal_folder_part(sealing, folder, output, Rules::default(), options)
}

/// Seals a folder without what the rules leave out.
///
/// # Errors
/// The errors of [`seal_folder`]. Also returns an error if a file with patterns cannot be read.
pub fn seal_folder_part(
    sealing: &Sealing,
    folder: impl AsRef<Path>,
    output: impl AsRef<Path>,
    rules: Rules,
    options: Options<'_>,
) -> Result<(Summary, Notes), Error> {
    let (folder, output) = (folder.as_ref(), output.as_ref());
    let Input { file, about, found } = open_input(folder)?;
    if !about.is_folder() {
        return Err(Error::NotAFolder(folder.to_owned()));
    }
    let opened = Folder::from_file(file, folder).map_err(|error| Error::read(folder, error))?;
    refuse_same(&about, folder, output)?;
    let metadata = metadata(folder, &about, Kind::Folder);
    let name = metadata.name.clone().unwrap_or_else(|| b"root".to_vec());
    let draft = DraftFile::beside(&found, output, options)?;
    let packing = Packing { rules, except: draft.id(), output: draft.place(), ..Packing::default() };
    let packer = Packer::pack_open(opened, &name, packing).map_err(|error| Error::folder(error, folder))?;
    let sealing = sealing.clone().metadata(metadata)?;
    let sealed = sealing.gather_at(PackSource(packer), draft.file(), &options.work);
    let (summary, source) = sealed.map_err(|error| Error::sealed(error, folder, output))?;
    draft.land(options.sync)?;
    Ok((summary, source.0.notes()))
}

/// Opens a sealed folder into a new folder, on all cores. The input may also be a pipe.
///
/// # Errors
/// If the input cannot be read or decrypted, if the input holds no folder, if the output exists, if an entry cannot be
/// written, or if the work is stopped.
pub fn open_folder(
    identities: &[Identity],
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: Options<'_>,
) -> Result<Summary, Error> {
    let (input, output, work) = (input.as_ref(), output.as_ref(), &options.work);
    let Input { file, about, found } = open_input(input)?;
    let failed = |error| Error::sealed(error, input, output);
    let mut source = PatientInput::new(&file, &about, work);
    let opened = unlock(&mut source, identities).map_err(failed)?;
    if opened.metadata().kind != Kind::Folder {
        return Err(Error::HoldsNoFolder(input.to_owned()));
    }
    let draft = DraftFolder::beside(&found, output)?;
    let mut unpacker = unpacker(&draft);
    let (summary, _) = opened.scatter(source, UnpackSink(&mut unpacker), work).map_err(failed)?;
    let outcome = unpacker.finish().map_err(|error| Error::folder(error, input))?;
    land(draft, unpacker, &outcome, input, options)?;
    Ok(summary)
}

/// Opens a part of a sealed folder into a new folder, and reads only this part. `only` contains paths as a listing
/// shows them, and patterns such as `2024/*.jpg`. A selected folder is opened with everything in it.
///
/// # Errors
/// The errors of [`open_folder`]. Also returns an error if `only` is empty, if a path or pattern matches no entry, or
/// if the input is a pipe.
pub fn open_folder_part(
    identities: &[Identity],
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    only: &[impl AsRef<[u8]>],
    options: Options<'_>,
) -> Result<(), Error> {
    let (input, output) = (input.as_ref(), output.as_ref());
    if only.is_empty() {
        return Err(Error::NothingSelected);
    }
    let Input { file, about, found } = open_input(input)?;
    refuse_fifo(&about, input)?;
    let opened = unlock(&file, identities).map_err(|error| Error::sealed(error, input, output))?;
    // One reader reads the index, and a second reader reads the entries.
    let reader = || opened.seek_in(Cursor::new(&file, about.length));
    let contents = || contents(reader().map_err(|error| Error::sealed(error, input, input))?, input);
    let (mut walked, read) = (contents()?, contents()?);
    let failed = |error| Error::folder(error, input);
    let only: Vec<_> = only.iter().map(|path| path.as_ref().to_vec()).collect();
    let chosen = Selection::new(only).within(&mut walked).map_err(failed)?;
    let draft = DraftFolder::beside(&found, output)?;
    let mut unpacker = unpacker(&draft);
    let work = options.work;
    let work = deadpan_pack::Work { threads: work.threads, progress: work.progress, stop: work.stop };
    let excerpt = Excerpt::new(chosen.entries(&mut walked), read);
    let outcome = deadpan_pack::unpack(excerpt, &mut unpacker, &work).map_err(failed)?;
    land(draft, unpacker, &outcome, input, options)
}

fn unpacker(draft: &DraftFolder) -> Unpacker {
    Unpacker::new(draft.folder().clone(), Unpacking { fresh: true, mask: umask(), ..Unpacking::default() })
}

/// Gives the folder its final name if no entry failed.
fn land(
    draft: DraftFolder,
    unpacker: Unpacker,
    outcome: &Outcome,
    input: &Path,
    options: Options<'_>,
) -> Result<(), Error> {
    if let Some(failure) = outcome.failures.first() {
        return Err(Error::folder(failure.error.clone(), input));
    }
    drop(unpacker);
    draft.land(options.sync)
}

/// Returns the contents of a sealed folder, for listing and searching. Reads those parts of the index that the caller's
/// requests need.
///
/// # Errors
/// If the input cannot be read or decrypted, if the input is a pipe, or if the input holds no folder.
pub fn list_folder(identities: &[Identity], input: impl AsRef<Path>) -> Result<Contents<DataReader>, Error> {
    let input = input.as_ref();
    contents(open_reader(identities, input)?, input)
}

fn contents<R: Read + Seek>(reader: R, input: &Path) -> Result<Contents<R>, Error> {
    let contents = Contents::read(reader).map_err(|error| Error::folder(error, input))?;
    contents.ok_or_else(|| Error::HoldsNoFolder(input.to_owned()))
}
