//! Sealing and opening of files by path.

use std::path::Path;

use crate::draft::DraftFile;
use crate::fault::shown;
use crate::patient::{PatientInput, open_input};
use crate::{Code, Fault};
use deadpan_disk::{About, Input};
use deadpan_seal::{Error, Header, Identity, Kind, Metadata, Sealing, Summary, Work};

/// Seals a file, with its name, time and mode. `replace` lets the output replace another file.
///
/// # Errors
/// If the input cannot be read, the output exists or cannot be written, or the work is stopped.
pub fn seal_file(
    sealing: &Sealing,
    input: &Path,
    output: &Path,
    replace: bool,
    work: &Work<'_>,
) -> Result<Summary, Fault> {
    let Input { file, about, found } = open_input(input)?;
    refuse_same(&about, input, output)?;
    if about.is_folder() {
        return Err(Fault::argument(format!("{} is a folder", shown(input))));
    }
    let sealing = sealing.clone().metadata(metadata(input, &about, Kind::File))?;
    let draft = DraftFile::new(output, replace, Some(&found))?;
    let sealed = match about.is_file() {
        true => sealing.file(&file, draft.file(), work),
        false => sealing.stream(PatientInput::new(&file, &about, work), draft.file(), work),
    };
    let summary = sealed.map_err(|error| blame(error, input, output))?;
    draft.land(None, None)?;
    Ok(summary)
}

/// Opens a sealed file, and gives the output its time and mode. `replace` lets the output replace another file.
///
/// # Errors
/// If the input cannot be read or does not open, if it holds a folder, if the output exists or cannot be written, or if
/// the work is stopped.
pub fn open_file(
    identities: &[Identity],
    input: &Path,
    output: &Path,
    replace: bool,
    work: &Work<'_>,
) -> Result<Summary, Fault> {
    let Input { file, about, found } = open_input(input)?;
    refuse_same(&about, input, output)?;
    let failed = |error| blame(error, input, output);
    let mut source = PatientInput::new(&file, &about, work);
    let opened = Header::read(&mut source).and_then(|header| header.open(identities)).map_err(failed)?;
    let metadata = opened.metadata();
    if metadata.kind == Kind::Folder {
        return Err(Fault::argument(format!("{} holds a folder", shown(input))));
    }
    let draft = DraftFile::new(output, replace, Some(&found))?;
    let done = match about.is_file() {
        true => opened.file(&file, draft.file(), work),
        false => opened.stream(source, draft.file(), work),
    };
    let summary = done.map_err(failed)?;
    draft.land(metadata.mode, metadata.modified)?;
    Ok(summary)
}

/// Refuses to replace the input by the output.
pub(crate) fn refuse_same(input: &About, path: &Path, output: &Path) -> Result<(), Fault> {
    match About::of_path(output) {
        Ok(about) if about.id == input.id => {
            Err(Fault::argument(format!("{} is the input as well as the output", shown(path))))
        }
        _ => Ok(()),
    }
}

/// Returns the metadata that are sealed with a file or folder.
pub(crate) fn metadata(path: &Path, about: &About, kind: Kind) -> Metadata {
    let name = path.canonicalize().ok().and_then(|path| path.file_name().map(|name| name.as_encoded_bytes().to_vec()));
    Metadata {
        kind,
        name: name.filter(|name| !name.contains(&b'\\')),
        modified: Some(about.modified_at()),
        mode: Some(about.mode),
    }
}

/// Returns the error with the path that it is about.
pub(crate) fn blame(error: Error, input: &Path, output: &Path) -> Fault {
    let is_output = matches!(error, Error::Write(_) | Error::NotEmpty);
    let fault = Fault::from(error);
    match fault.code {
        Code::Stopped => fault,
        _ => fault.about(if is_output { output } else { input }),
    }
}

#[cfg(test)]
mod tests;
