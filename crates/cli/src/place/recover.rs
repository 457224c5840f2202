//! Repairs a file if a change of its recipients was interrupted while the header was written.
//!
//! Each command that opens a file looks for a record of an interrupted change beside the file. The record is used only
//! if three conditions are met. First, the record was written by a user who may change the file. Second, the inode
//! number, the length and the payload of the file match the record. Third, each byte of the file's header is equal to
//! the byte at the same offset in the old header or in the new header. So a planted, copied or outdated record does not
//! change a healthy file. A healthy file has exactly the old header, exactly the new header, or an unrelated header.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use crate::place::journal;
use crate::place::locked::LockedFile;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::portable::FileExt;
use deadpan_disk::{About, Folder, Handle, Locked, Spot, sync_data};
use deadpan_seal::{Sidecar, Standing};

/// The maximum time to wait for a run that is writing the header, and the time between two checks.
const PATIENCE: Duration = Duration::from_secs(10);
const PERIOD: Duration = Duration::from_millis(10);

/// Puts the old header back if an earlier run was interrupted while it wrote the header. `path` is the path of the
/// file, `real` contains its folder and its name, and `file` is the open file.
pub fn settle(path: &Path, real: &Spot, file: &File, about: &About) -> Result<(), Failure> {
    // The record lies beside the file, and not beside a link to the file. Usually there is no record, and one system
    // call is enough to find this out.
    let record = journal::name(&real.name);
    if !about.is_file() || !real.folder.look(&record).is_ok_and(|found| found.is_some()) {
        return Ok(());
    }
    // Another user may have planted a record and may hold the lock, so the command does not wait for an untrusted
    // record.
    if Record::read(&real.folder, &record, about).is_none() {
        return Ok(());
    }
    wait(path, file)?;
    let settled = settle_locked(path, real, file, about);
    file.unlock_file();
    settled
}

/// Does the same as [`settle`], for a caller that holds the lock on the file.
pub fn settle_target(target: &LockedFile) -> Result<(), Failure> {
    settle_locked(&target.path, &target.real, &target.file, &target.about)
}

/// Waits until no other run writes the header.
fn wait(path: &Path, file: &File) -> Result<(), Failure> {
    for _ in 0..PATIENCE.as_millis() / PERIOD.as_millis() {
        match file.lock_now() {
            Ok(Locked::ByOthers) => std::thread::sleep(PERIOD),
            // On a file system without locks, a run cannot wait for another run.
            _ => return Ok(()),
        }
    }
    Err(busy(path))
}

pub fn busy(path: &Path) -> Failure {
    let message = format!("another run changes {} at this moment", shown(path));
    Failure::new(Exit::System, message, "try again when it has ended")
}

fn settle_locked(path: &Path, real: &Spot, file: &File, about: &About) -> Result<(), Failure> {
    let name = journal::name(&real.name);
    let Some(found) = Record::read(&real.folder, &name, about) else { return Ok(()) };
    let remove = || {
        let _ = real.folder.remove(&name);
    };
    let sidecar = match found {
        // The record was not complete, so nothing was written to the file.
        Record::Incomplete => {
            remove();
            return Ok(());
        }
        Record::Whole(sidecar) => sidecar,
    };
    let failed = |error: io::Error| Failure::path("read", path, &error);
    if sidecar.inode() != about.id.number || !belongs(&sidecar, file, about).map_err(failed)? {
        return Ok(());
    }
    let mut now = vec![0; sidecar.old().len()];
    file.read_exact_at(&mut now, 0).map_err(failed)?;
    match sidecar.standing(&now) {
        Standing::Old | Standing::New => remove(),
        Standing::Torn => {
            put_back(real, about, sidecar.old()).map_err(|error| {
                let hint = "run the command again as a user who may write the file";
                let failure = Failure::path("complete the interrupted change of the recipients of", path, &error);
                Failure { hint: Some(hint.into()), ..failure }
            })?;
            remove();
            let name = shown(path);
            say(&format!("note: a change of the recipients of {name} was interrupted; they are as before"));
        }
        Standing::Other => {}
    }
    Ok(())
}

fn put_back(real: &Spot, about: &About, old: &[u8]) -> io::Result<()> {
    let (file, now) = real.folder.file_to_change(&real.name)?;
    if now.id != about.id {
        return Err(io::ErrorKind::StaleNetworkFileHandle.into());
    }
    file.write_all_at(old, 0)?;
    sync_data(&file)
}

/// Whether the record belongs to a file of this length and payload.
fn belongs(sidecar: &Sidecar, file: &File, about: &About) -> io::Result<bool> {
    let payload = beginning(file, sidecar.old().len() as u64)?;
    Ok(sidecar.is_of(about.length, &payload))
}

/// Reads the beginning of the payload. The payload follows a header of the length `header`.
pub fn beginning(file: &File, header: u64) -> io::Result<Vec<u8>> {
    let mut payload = vec![0; Sidecar::BEGINNING];
    let mut read = 0;
    while read < payload.len() {
        match file.read_at(&mut payload[read..], header + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    payload.truncate(read);
    Ok(payload)
}

/// A record that a trusted user wrote.
enum Record {
    Whole(Box<Sidecar>),
    Incomplete,
}

impl Record {
    /// Reads a record. Returns `None` if the file is not a record, or if another user may have planted the file.
    fn read(folder: &Folder, name: &OsStr, target: &About) -> Option<Self> {
        let (file, about) = folder.file(name).ok()?;
        let is_trusted = (about.is_trusted() || about.owner == target.owner)
            && about.is_file()
            && about.links == 1
            && about.mode & 0o022 == 0
            && about.length <= Sidecar::LONGEST as u64;
        if !is_trusted {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(Sidecar::LONGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
        match Sidecar::decode(&bytes) {
            Some(sidecar) => Some(Self::Whole(Box::new(sidecar))),
            None => Sidecar::begins(&bytes).then_some(Self::Incomplete),
        }
    }
}

/// Whether a new record may replace the existing record with the same name, because no file needs the existing record.
pub fn is_stale(target: &LockedFile, name: &OsStr) -> bool {
    match Record::read(&target.real.folder, name, &target.about) {
        Some(Record::Incomplete) => true,
        Some(Record::Whole(sidecar)) => sidecar.inode() == target.about.id.number,
        None => false,
    }
}
