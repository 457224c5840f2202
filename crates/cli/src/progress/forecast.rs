//! Computes how long the archive of a folder will be, in a separate thread while the folder is packed.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::input::FileId;

/// The length of a tar block. Headers and data are padded to whole blocks.
const BLOCK: u64 = 512;

/// The length of an archive, which a thread computes. Dropping the value stops the thread.
pub struct Forecast {
    /// The length, or 0 while it is unknown.
    length: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Forecast {
    /// Starts the thread. If the system cannot start one, the length stays unknown.
    pub fn begin(folder: &Path, keeps_holes: bool) -> Self {
        let (length, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let work = {
            let (folder, length, stop) = (folder.to_owned(), Arc::clone(&length), Arc::clone(&stop));
            move || length.store(search(folder, keeps_holes, &stop).unwrap_or(0), Ordering::Relaxed)
        };
        let _ = thread::Builder::new().name("forecast".into()).spawn(work);
        Self { length, stop }
    }

    /// Returns the length, or `None` while it is unknown.
    pub fn length(&self) -> Option<u64> {
        Some(self.length.load(Ordering::Relaxed)).filter(|length| *length > 0)
    }
}

impl Drop for Forecast {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Returns the total length of all entries, or `None` if `stop` was set. An entry that cannot be read counts as zero.
fn search(folder: PathBuf, keeps_holes: bool, stop: &AtomicBool) -> Option<u64> {
    let (mut folders, mut linked) = (vec![folder], HashSet::new());
    // The entry of the folder itself, and the two blocks at the end.
    let mut length = 3 * BLOCK;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            length += BLOCK;
            // The second name of a file is an entry without data.
            let mut is_second = || metadata.nlink() > 1 && !linked.insert(FileId::of(&metadata));
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.is_file() && !is_second() {
                length += data(&entry.path(), &metadata, keeps_holes).next_multiple_of(BLOCK);
            }
        }
    }
    Some(length)
}

/// Returns how many bytes of a file are data, without its holes.
fn data(path: &Path, metadata: &Metadata, keeps_holes: bool) -> u64 {
    // A file that takes less room than its length has holes, or the file system compresses it.
    let is_short = metadata.blocks().saturating_mul(512) < metadata.len();
    let found = if keeps_holes && is_short { in_extents(path, metadata.len()).ok() } else { None };
    found.unwrap_or(metadata.len())
}

#[cfg(target_os = "linux")]
fn in_extents(path: &Path, length: u64) -> io::Result<u64> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    let file = File::open(path)?;
    let (mut sum, mut position) = (0, 0);
    while position < length {
        let start = match seek(&file, SeekFrom::Data(position)) {
            // The rest of the file is a hole.
            Err(Errno::NXIO) => break,
            start => start?,
        };
        position = seek(&file, SeekFrom::Hole(start))?;
        sum += position.saturating_sub(start);
    }
    Ok(sum)
}

#[cfg(not(target_os = "linux"))]
fn in_extents(path: &Path, _length: u64) -> io::Result<u64> {
    let _ = File::open(path)?;
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_count_once_and_holes_not_at_all() {
        let folder = std::env::temp_dir().join(format!("deadpan-forecast-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/a"), vec![1; 1000]).unwrap();
        fs::hard_link(folder.join("inner/a"), folder.join("b")).unwrap();
        File::create(folder.join("hole")).unwrap().set_len(1 << 30).unwrap();
        let stop = AtomicBool::new(false);
        let [with, without] = [true, false].map(|keeps_holes| search(folder.clone(), keeps_holes, &stop).unwrap());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(search(folder.clone(), true, &stop), None);
        fs::remove_dir_all(&folder).unwrap();
        // Three blocks of the archive, four entries, and the data of one file.
        assert_eq!(without, (3 + 4 + 2) * BLOCK + (1 << 30));
        if cfg!(target_os = "linux") {
            assert_eq!(with, (3 + 4 + 2) * BLOCK);
        }
    }
}
