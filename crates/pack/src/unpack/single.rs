//! One file of an archive, written to a stream instead of a folder.

use super::ledger::Ledger;
use crate::tar::Member;
use crate::{Error, Kind, shown};
use blake3::Hasher;
use std::fmt;
use std::io::Write;

/// Where the file goes, and how much of it went.
pub(super) struct Single {
    output: Box<dyn Write + Send>,
    /// Its number and path, once it came.
    file: Option<(u64, Vec<u8>)>,
    /// Bytes that are to come.
    left: u64,
    hash: Hasher,
    hashed: bool,
}

impl Single {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output, file: None, left: 0, hash: Hasher::new(), hashed: false }
    }

    /// A selected entry. There may be no other, and nothing but a file can be a stream.
    pub(super) fn begin(&mut self, member: Member, number: u64, hashed: bool, ledger: &Ledger) -> Result<(), Error> {
        let entry = member.entry;
        let refused = |what| {
            let hint = "name a folder with -o, or save the sealed file without armor first";
            Err(Error::Refused { what, hint })
        };
        if let Some((_, first)) = &self.file {
            return refused(format!(
                "{} and {} are both selected, and only one file can be taken out of a pipe",
                shown(first),
                shown(&entry.path)
            ));
        }
        if let Some(target) = entry.target.filter(|_| entry.kind == Kind::HardLink) {
            return Err(without_file(&entry.path, &target));
        }
        if entry.kind != Kind::File {
            return refused(format!("{} is no file that can be taken out of a pipe", shown(&entry.path)));
        }
        (self.left, self.hashed) = (entry.stored, hashed);
        self.file = Some((number, entry.path));
        self.put(&[], ledger)
    }

    /// The next bytes of it.
    pub(super) fn put(&mut self, bytes: &[u8], ledger: &Ledger) -> Result<(), Error> {
        self.output.write_all(bytes).map_err(Error::Write)?;
        self.hash.update(bytes);
        self.left -= bytes.len() as u64;
        if let (0, Some((number, _))) = (self.left, &self.file) {
            self.output.flush().map_err(Error::Write)?;
            ledger.complete(*number, self.hashed.then(|| self.hash.finalize().into()));
        }
        Ok(())
    }
}

/// Of a hard link, whose contents stand with its file and passed by with that.
pub(super) fn without_file(link: &[u8], file: &[u8]) -> Error {
    let what = format!("{} is a hard link to {}, which is not selected", shown(link), shown(file));
    Error::Refused { what, hint: "select that file: its contents are there, and this archive is read once, from the beginning to the end" }
}

impl fmt::Debug for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Single").field("file", &self.file).field("left", &self.left).finish_non_exhaustive()
    }
}
