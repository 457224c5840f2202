//! Overwrites a header with a new header. Until the new header is on the disk, a record with both headers lies beside
//! the file: `.NAME.deadpan-rewrap`. After a crash, [`recover`] puts the old header back.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Write};

use aws_lc_rs::digest::{SHA256, digest};

use crate::place::locked::LockedFile;
use crate::place::recover;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use crate::tell::signals;
use deadpan_disk::portable::{FileExt, OsStrExt, OsStringExt};
use deadpan_disk::{Handle, sync_data, sync_file};
use deadpan_seal::Sidecar;

const SUFFIX: &[u8] = b".deadpan-rewrap";
/// The maximum number of bytes of a file's name that are copied into the name of the file's record. Names have 255
/// bytes at most.
const LONGEST_STEM: usize = 200;

/// Returns the name of the record of a file. If the file's name is long, the record's name contains the beginning and a
/// hash of the file's name.
pub fn name(file: &OsStr) -> OsString {
    let stem = file.as_bytes();
    if stem.len() <= LONGEST_STEM {
        return OsString::from_vec([b".", stem, SUFFIX].concat());
    }
    let hash: String = digest(&SHA256, stem).as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    OsString::from_vec([b".", &stem[..LONGEST_STEM - hash.len()], hash.as_bytes(), SUFFIX].concat())
}

pub fn is_record(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".") && name.as_bytes().ends_with(SUFFIX)
}

/// Writes `new` over the header `old` of the file. When the function returns, the new header is on the disk. If the
/// function fails or does not return, the file still has the old header, or the next command puts the old header back.
pub fn overwrite(target: &LockedFile, old: Vec<u8>, new: Vec<u8>) -> Result<(), Failure> {
    let payload = recover::beginning(&target.file, old.len() as u64).map_err(|error| target.failed("read", &error))?;
    let record = Sidecar::new(target.about.id.number, target.about.length, &payload, old.clone(), new.clone());
    let record =
        record.ok_or_else(|| Failure::usage(format!("{} changed while it was read", target.shown()), "try again"))?;
    let (folder, name) = (&target.real.folder, name(&target.real.name));
    let path = folder.path_of(&name);
    let failed = |error: std::io::Error| Failure::path("write", &path, &error);
    let file = create(target, &name)?;
    let written = (|| {
        file.set_len(0)?;
        (&file).write_all(&record.encode())?;
        sync_file(&file)?;
        folder.sync()
    })();
    let remove = || {
        if folder.has(&name, &file) {
            let _ = folder.remove(&name);
        }
    };
    if let Err(error) = written {
        remove();
        return Err(failed(error));
    }
    // Ctrl-C has to wait, so that it takes effect before or after the write of the header, but not during the write.
    signals::hold(|_| {
        let write = |header: &[u8]| target.file.write_all_at(header, 0).and_then(|()| sync_data(&target.file));
        let Err(error) = write(&new) else {
            remove();
            return Ok(());
        };
        let failure = target.failed("write", &error);
        if write(&old).is_ok() {
            remove();
            return Err(failure);
        }
        let hint = format!("keep {} beside it: the next command puts the old header back", shown(&path));
        Err(Failure { hint: Some(hint), ..failure })
    })
}

/// Makes the empty record. If a record of this file already exists, [`recover`] no longer needs it. A record of another
/// file stays, because that file may still need the record.
fn create(target: &LockedFile, name: &OsStr) -> Result<File, Failure> {
    let folder = &target.real.folder;
    let path = folder.path_of(name);
    let file = match folder.create(name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && recover::is_stale(target, name) => {
            let _ = folder.remove(name);
            folder.create(name)
        }
        opened => opened,
    };
    let file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(
            Exit::System,
            format!("{} is in the way, and does not belong to this file", shown(&path)),
            "find out who made it; if it is the record of a file that had this name, give the file its name back and \
             run `deadpan inspect` on it; remove the record when nothing needs it",
        ),
        _ => Failure::path("create", &path, &error),
    })?;
    // Users who can read the file can read the record, since another user may run the next command.
    let _ = file.set_mode(target.about.mode & 0o444 | 0o600);
    let _ = file.set_owner(Some(target.about.owner), target.about.group);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_long_names_have_names_of_their_own() {
        let long = |last: &str| name(OsStr::new(&format!("{}{last}", "n".repeat(254))));
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() <= 255 && is_record(&long("a")));
        assert_eq!(name(OsStr::new("a.dpn")), ".a.dpn.deadpan-rewrap");
    }
}
