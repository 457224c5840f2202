//! Computes how long the archive of a folder will be, in a separate thread while the folder is packed.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use deadpan_disk::{About, Folder, Walk, next_data};
use deadpan_pack::{Rules, Sieve};

/// The length of a tar block. Headers and data are padded to whole blocks.
const BLOCK: u64 = 512;

/// The length of an archive. A thread computes the length. Dropping the value stops the thread.
pub struct Forecast {
    /// The length, or 0 while it is unknown.
    length: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Forecast {
    /// Starts the thread. If the system cannot start a thread, the length stays unknown.
    pub fn begin(folder: Folder, rules: Rules, keeps_holes: bool) -> Self {
        let (length, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let work = {
            let (length, stop) = (Arc::clone(&length), Arc::clone(&stop));
            move || length.store(search(folder, rules, keeps_holes, &stop).unwrap_or(0), Ordering::Relaxed)
        };
        let _ = thread::Builder::new().name("forecast".into()).spawn(work);
        Self { length, stop }
    }

    pub fn length(&self) -> Option<u64> {
        Some(self.length.load(Ordering::Relaxed)).filter(|length| *length > 0)
    }
}

impl Drop for Forecast {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Returns the total length of all entries, or `None` if `stop` was set. An entry that cannot be read adds nothing to
/// the length.
fn search(folder: Folder, rules: Rules, keeps_holes: bool, stop: &AtomicBool) -> Option<u64> {
    let mut linked = HashSet::new();
    // The initial length is for the entry of the folder itself and for the two blocks at the end.
    let mut length = 3 * BLOCK;
    let Ok(mut walk) = Walk::new(folder) else { return Some(length) };
    let mut sieve = Sieve::new(rules, &walk);
    while walk.advance() {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if !sieve.takes_name(&walk) {
            continue;
        }
        let spot = walk.spot();
        let Ok(about) = walk.look() else { continue };
        if !sieve.takes(&mut walk, &about) {
            continue;
        }
        length += BLOCK;
        // The second hard link to a file becomes an entry without data.
        let mut is_second = || about.links > 1 && !linked.insert(about.id);
        if about.is_file() && !is_second() {
            // If a file takes less space than its length, the file has holes or the file system compresses it.
            let file = spot.filter(|_| keeps_holes && about.stored < about.length);
            let pieces = file.and_then(|spot| in_pieces(&spot.folder.file(&spot.name).ok()?.0, &about));
            length += pieces.unwrap_or(about.length).next_multiple_of(BLOCK);
        }
    }
    Some(length)
}

/// Returns the number of bytes of a file that are not in holes.
fn in_pieces(file: &std::fs::File, about: &About) -> Option<u64> {
    let (mut sum, mut position) = (0, 0);
    while let Some((begin, end)) = next_data(file, position, about.length).ok()? {
        sum += end - begin;
        position = end;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn links_count_once_and_holes_not_at_all() {
        let folder = std::env::temp_dir().join(format!("deadpan-forecast-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/a"), vec![1; 1000]).unwrap();
        fs::hard_link(folder.join("inner/a"), folder.join("b")).unwrap();
        File::create(folder.join("hole")).unwrap().set_len(1 << 30).unwrap();
        let opened = || Folder::open(&folder).unwrap();
        let stop = AtomicBool::new(false);
        let [with, without] =
            [true, false].map(|keeps_holes| search(opened(), Rules::default(), keeps_holes, &stop).unwrap());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(search(opened(), Rules::default(), true, &stop), None);
        fs::remove_dir_all(&folder).unwrap();
        // The archive has three blocks of its own, four entries, and two blocks of data.
        assert_eq!(without, (3 + 4 + 2) * BLOCK + (1 << 30));
        if cfg!(target_os = "linux") {
            assert_eq!(with, (3 + 4 + 2) * BLOCK);
        }
    }
}
