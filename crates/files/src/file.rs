//! Sealing and opening of files by path.

use std::io::Read;
use std::path::Path;

use crate::draft::DraftFile;
use crate::patient::{PatientInput, open_input, open_seekable};
use crate::{DataReader, Error, Options};
use deadpan_disk::{About, Input};
use deadpan_seal::{Cursor, Header, Identity, Kind, Metadata, Opened, Sealing, Summary};

/// Seals a file, with its name, time and mode, on all cores. The input may also be a pipe.
///
/// # Errors
/// If the input cannot be read or is a folder, if the output exists or cannot be written, or if the work is stopped.
pub fn seal_file(
    sealing: &Sealing,
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: Options<'_>,
) -> Result<Summary, Error> {
    let (input, output, work) = (input.as_ref(), output.as_ref(), &options.work);
    let Input { file, about, found } = open_input(input)?;
    refuse_same(&about, input, output)?;
    if about.is_folder() {
        return Err(Error::IsFolder(input.to_owned()));
    }
    let sealing = sealing.clone().metadata(metadata(input, &about, Kind::File))?;
    let draft = DraftFile::beside(&found, output, options)?;
    let sealed = if about.is_file() {
        sealing.seal_file(&file, draft.file(), work)
    } else {
        sealing.seal_stream(PatientInput::new(&file, &about, work), draft.file(), work)
    };
    let summary = sealed.map_err(|error| Error::sealed(error, input, output))?;
    draft.land(options.sync)?;
    Ok(summary)
}

/// Opens a sealed file or an age file on all cores, and gives the output the time and the mode that were sealed. The
/// input may also be a pipe.
///
/// # Errors
/// If the input cannot be read or decrypted, if the input holds a folder, if the output exists or cannot be written, or
/// if the work is stopped.
pub fn open_file(
    identities: &[Identity],
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: Options<'_>,
) -> Result<Summary, Error> {
    let (input, output, work) = (input.as_ref(), output.as_ref(), &options.work);
    let Input { file, about, found } = open_input(input)?;
    refuse_same(&about, input, output)?;
    let failed = |error| Error::sealed(error, input, output);
    let mut source = PatientInput::new(&file, &about, work);
    let opened = unlock(&mut source, identities).map_err(failed)?;
    let metadata = opened.metadata();
    if metadata.kind == Kind::Folder {
        return Err(Error::HoldsFolder(input.to_owned()));
    }
    let draft = DraftFile::beside(&found, output, options)?;
    let done = if about.is_file() {
        opened.open_file(&file, draft.file(), work)
    } else {
        opened.open_stream(source, draft.file(), work)
    };
    let summary = done.map_err(failed)?;
    draft.land_with(metadata.mode, metadata.modified, options.sync)?;
    Ok(summary)
}

/// Returns a reader for the data of a sealed file. The reader can seek to any position, and decrypts only the bytes
/// that are read.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// use deadpan_files::{Options, open_reader, seal_file};
/// use deadpan_seal::{Kem, PrivateKey, Sealing};
///
/// # let place = tempfile::tempdir()?;
/// # let [disk, sealed] = ["disk.img", "disk.img.dpn"].map(|name| place.path().join(name));
/// # std::fs::write(&disk, "straight face")?;
/// let key = PrivateKey::generate(Kem::XWing)?;
/// seal_file(&Sealing::to(key.public())?, &disk, &sealed, Options::default())?;
///
/// let mut reader = open_reader(&[(&key).into()], &sealed)?;
/// reader.seek(SeekFrom::Start(9))?;
/// let mut part = String::new();
/// reader.read_to_string(&mut part)?;
/// assert_eq!(part, "face");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the input cannot be read or decrypted, or if the input is a pipe.
pub fn open_reader(identities: &[Identity], input: impl AsRef<Path>) -> Result<DataReader, Error> {
    let input = input.as_ref();
    let (file, length) = open_seekable(input)?;
    let reader = unlock(&file, identities).and_then(|opened| opened.seek_in(Cursor::new(file, length)));
    reader.map_err(|error| Error::sealed(error, input, input))
}

/// Reads and opens the header.
pub(crate) fn unlock(source: impl Read, identities: &[Identity]) -> Result<Opened, deadpan_seal::Error> {
    Header::read(source)?.open(identities)
}

/// Fails if the output would replace the input.
pub(crate) fn refuse_same(input: &About, path: &Path, output: &Path) -> Result<(), Error> {
    match About::of_path(output) {
        Ok(about) if about.id == input.id => Err(Error::SameFile(path.to_owned())),
        _ => Ok(()),
    }
}

pub(crate) fn metadata(path: &Path, about: &About, kind: Kind) -> Metadata {
    let name = path.canonicalize().ok().and_then(|path| path.file_name().map(|name| name.as_encoded_bytes().to_vec()));
    Metadata {
        kind,
        name: name.filter(|name| !name.contains(&b'\\')),
        modified: Some(about.modified_at()),
        mode: Some(about.mode),
    }
}
