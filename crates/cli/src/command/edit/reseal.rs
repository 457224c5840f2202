//! Seals the changed draft: in the place of the old file, or beside it if that fails.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::draft::Draft;
use super::original::Original;
use crate::command::rewrap::moved;
use crate::command::seal::{FormatArg, armored};
use crate::key::identity::Identities;
use crate::place::ending::{ENDINGS, PAGE};
use crate::place::page::Page;
use crate::place::partial::{Attributes, Partial};
use crate::place::sealed::Sealed;
use crate::place::window::Comparison;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::portable::{OsStrExt, OsStringExt};
use deadpan_disk::{Folder, Spot};
use deadpan_seal::{Cursor, Error, Format, Sealing, Work, WriteAt};

/// The most names that are tried for a file beside the old one.
const NAMES: u32 = 1000;

/// How the file was sealed, and is sealed again.
pub struct Reseal {
    pub sealing: Sealing,
    pub format: Format,
    pub armored: bool,
    pub page: Option<Page>,
}

impl Reseal {
    /// Seals the draft with a new file key.
    fn write(&self, draft: &Draft, output: &File) -> Result<(), Error> {
        let (file, length) = draft.file().and_then(|file| Ok((file, draft.length()?))).map_err(Error::Read)?;
        let work = Work::default();
        if !self.armored {
            return self.sealing.seal_at(file, length, &(output as &dyn WriteAt), &work).map(drop);
        }
        let format = if self.format == Format::Age { FormatArg::Age } else { FormatArg::Deadpan };
        let seal = |output: &mut (dyn Write + Send)| {
            self.sealing.seal_stream(Cursor::new(file, length), output, &work).map(drop)
        };
        let mut output = output;
        match &self.page {
            Some(page) => page.around(&mut output, |output| armored(format, output, seal)),
            None => armored(format, output, seal),
        }
    }
}

impl Original {
    /// Replaces the old file by the sealed draft. The new file is opened and compared with the draft before, if this
    /// needs no question to the user. Returns notes.
    pub fn replace(&self, draft: &Draft, identities: &Identities, force: bool) -> Result<Vec<String>, Failure> {
        let name = self.target.shown();
        self.refuse_changed()?;
        let (partial, _) = moved::begin(&self.target, force)?;
        self.reseal.write(draft, partial.file()).map_err(|error| Failure::blame(error, "the draft", &name))?;
        compare(&name, partial.file(), draft, identities)?;
        self.refuse_changed()?;
        moved::land(&self.target, partial, force, Some(now()))?;
        Ok(self.notes.clone())
    }

    /// Seals the draft beside the old file, so that no work is lost, and tells the place in `failure`. If this fails,
    /// seals the draft in memory. If this fails as well, leaves the draft in memory as it is.
    pub fn rescue(&self, draft: Draft, mut failure: Failure) -> Failure {
        let beside = self.keep(&draft, &self.target.real.folder).or_else(|_| self.keep(&draft, draft.parent()));
        match beside {
            Ok(path) => {
                failure.hint = Some(format!(
                    "your text is sealed in {}: compare it with {}, and keep what you need",
                    shown(&path),
                    self.target.shown()
                ));
                failure.kept = Some(path);
            }
            Err(second) => {
                failure.notes.push(second.message);
                failure.hint = Some(match draft.leave() {
                    Some(path) => {
                        let folder = path.parent().map(shown).unwrap_or_default();
                        format!("your text is in {}, not sealed: seal it elsewhere, then remove {folder}", shown(&path))
                    }
                    None => "your text is lost".into(),
                });
            }
        }
        failure
    }

    /// Seals the draft in a folder, under a name that is free. Returns the path.
    fn keep(&self, draft: &Draft, folder: &Folder) -> Result<PathBuf, Failure> {
        for number in 1..NAMES {
            let name = edited(&self.target.real.name, number);
            let path = folder.path_of(&name);
            if folder.look(&name).is_ok_and(|found| found.is_some()) {
                continue;
            }
            let partial = Partial::create_at(&Spot { folder: folder.clone(), name }, &path)?;
            self.reseal
                .write(draft, partial.file())
                .map_err(|error| Failure::blame(error, "the draft", &shown(&path)))?;
            let attributes = Attributes { mode: self.target.about.mode & 0o777, modified: None };
            if partial.land_if_free(attributes, true)? {
                return Ok(path);
            }
        }
        Err(Failure::new(Exit::System, "all names for the edited file are taken", "remove some of them"))
    }
}

/// Opens the new file with the keys that need no question, and compares it with the draft.
fn compare(name: &str, mut sealed: &File, draft: &Draft, identities: &Identities) -> Result<(), Failure> {
    let unread = |error: io::Error| Failure::io("read", name, &error);
    sealed.seek(SeekFrom::Start(0)).map_err(unread)?;
    let parts = Sealed::read_file(name, sealed)?;
    let Some(opened) = identities.open_at_once(&parts) else { return Ok(()) };
    let mut comparison = Comparison::new(draft.file().map_err(unread)?);
    let done = opened.open_stream(parts.payload, &mut comparison, &Work::default());
    done.map_err(|error| Failure::seal(name, error))?;
    if comparison.holds().map_err(unread)? {
        return Ok(());
    }
    let message = format!("the text of {name} changed while it was sealed");
    Err(Failure::new(Exit::System, message, "close the editor before the command ends"))
}

/// Returns the name of the edited file beside the old one: `notes.edited.txt.dpn` for `notes.txt.dpn`.
fn edited(name: &OsStr, number: u32) -> OsString {
    let name = name.as_bytes();
    let [own, age] = ENDINGS;
    let ending = [own, age, PAGE].into_iter().find(|ending| name.ends_with(ending.as_bytes())).unwrap_or_default();
    let bare = &name[..name.len() - ending.len()];
    let dot = bare.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0).unwrap_or(bare.len());
    let word = if number == 1 { ".edited".to_owned() } else { format!(".edited-{number}") };
    OsString::from_vec([&bare[..dot], word.as_bytes(), &bare[dot..], ending.as_bytes()].concat())
}

/// Returns the current time as seconds since 1970, and nanoseconds.
fn now() -> (i64, u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edited_file_keeps_its_extensions() {
        for (name, number, expected) in [
            ("notes.txt.dpn", 1, "notes.edited.txt.dpn"),
            ("notes.txt.dpn", 2, "notes.edited-2.txt.dpn"),
            ("notes.dpn", 1, "notes.edited.dpn"),
            (".profile.age", 1, ".profile.edited.age"),
            ("page.html", 1, "page.edited.html"),
            ("sealed", 3, "sealed.edited-3"),
        ] {
            assert_eq!(edited(OsStr::new(name), number), expected);
        }
    }
}
