//! Writes folders. The folder of set E resembles a folder in which a person works: it contains a few large files, many
//! small files, and files of medium size. Names, sizes and contents depend only on the total number of bytes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::{Contents, Files};
use crate::random::Random;

const MIB: u64 = 1 << 20;
/// The number of large files. All large files together have three quarters of the bytes.
const LARGE: u64 = 10;
/// The number of small files in a folder of [`FULL`] bytes.
const SMALL: u64 = 10_000;
/// The smallest and the largest size of a small file in bytes.
const SMALL_BYTES: (u64, u64) = (100, 8_000);
/// The full size of the folder. A smaller folder has proportionally fewer small files and smaller medium files.
const FULL: u64 = 10 << 30;
/// The seed for sizes and contents.
const SEED: u64 = 10;
/// Bytes in one write.
const BLOCK: usize = 1 << 20;

/// One file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path relative to the folder, with `/` between components.
    pub name: String,
    /// The number of bytes in the file.
    pub bytes: u64,
}

/// Returns the files of a folder with `bytes` bytes in total.
///
/// Ten large files have three quarters of the bytes. Small files have 100 to 8000 bytes each, and each subfolder has a
/// hundred small files. At the full size of 10 GiB, there are ten thousand small files. A smaller folder has
/// proportionally fewer small files, but at least ten. Medium files have the rest of the bytes. Each medium file has 1
/// to 16 MiB at the full size, and proportionally less in a smaller folder.
#[must_use]
pub fn entries(bytes: u64) -> Vec<Entry> {
    let mut random = Random::new(SEED);
    let scale = bytes as f64 / FULL as f64;
    let large = bytes / 4 * 3 / LARGE;
    let mut all: Vec<Entry> =
        (0..LARGE).map(|number| Entry { name: format!("large/{number:02}.bin"), bytes: large }).collect();
    let mut rest = bytes - large * LARGE;
    for number in 0..small(bytes) {
        let size = (SMALL_BYTES.0 + random.below(SMALL_BYTES.1 - SMALL_BYTES.0 + 1)).min(rest);
        rest -= size;
        all.push(Entry { name: format!("small/{:02}/{:02}.txt", number / 100, number % 100), bytes: size });
    }
    for number in 0.. {
        if rest == 0 {
            break;
        }
        let drawn = (MIB + random.below(15 * MIB + 1)) as f64 * scale;
        let size = (drawn as u64).clamp(1, rest);
        rest -= size;
        all.push(Entry { name: format!("medium/{:02}/{:02}.bin", number / 100, number % 100), bytes: size });
    }
    all
}

fn small(bytes: u64) -> u64 {
    ((SMALL as f64 * (bytes as f64 / FULL as f64)).round() as u64).max(10)
}

pub(super) fn words(bytes: u64) -> String {
    let medium = entries(bytes).iter().filter(|entry| entry.name.starts_with("medium/")).count();
    let large = bytes / 4 * 3 / LARGE;
    let size = if large >= MIB { format!("{} MiB", large / MIB) } else { format!("{} KiB", large >> 10) };
    format!(
        "{LARGE} large files of {size}, {medium} medium files, {} small files of {} to {} bytes in folders of 100",
        small(bytes),
        SMALL_BYTES.0,
        SMALL_BYTES.1
    )
}

pub(super) fn described(files: &Files) -> Vec<Entry> {
    let mut random = Random::new(SEED);
    let (least, most) = files.small_bytes;
    let large =
        (0..files.large).map(|number| Entry { name: format!("large-{number:02}.bin"), bytes: files.large_bytes });
    let small = (0..files.small).map(|number| {
        let (folder, number) = (number / files.each.max(1), number % files.each.max(1));
        Entry { name: format!("small-{folder:04}/{number:04}.txt"), bytes: least + random.below(most - least + 1) }
    });
    large.chain(small).collect()
}

/// Writes files into a folder. Before the call, none of these files may exist in the folder.
pub(super) fn write(folder: &Path, entries: &[Entry], contents: Contents) -> io::Result<()> {
    for (number, entry) in entries.iter().enumerate() {
        let path = folder.join(&entry.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fill(&mut File::create_new(path)?, entry.bytes, contents, SEED + 1 + number as u64)?;
    }
    Ok(())
}

/// Writes `bytes` bytes: either zeros, or random bytes from a generator with the seed `seed`.
pub(super) fn fill(file: &mut impl Write, bytes: u64, contents: Contents, seed: u64) -> io::Result<()> {
    let mut random = Random::new(seed);
    let mut block = vec![0; BLOCK.min(usize::try_from(bytes).unwrap_or(BLOCK))];
    let mut left = bytes;
    while left > 0 {
        let now = &mut block[..BLOCK.min(usize::try_from(left).unwrap_or(BLOCK))];
        if contents == Contents::Random {
            random.fill(now);
        }
        file.write_all(now)?;
        left -= now.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_folder_has_exactly_its_bytes_at_every_size() {
        for bytes in [1, 999, 1_073_742, 107_374_182, FULL] {
            let all = entries(bytes);
            assert_eq!(all.iter().map(|entry| entry.bytes).sum::<u64>(), bytes, "{bytes}");
            assert_eq!(all.iter().map(|entry| &entry.name).collect::<HashSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn the_full_folder_agrees_with_its_description() {
        let all = entries(FULL);
        let of = |kind: &str| all.iter().filter(|entry| entry.name.starts_with(kind)).collect::<Vec<_>>();
        assert!(of("large/").len() == 10 && of("large/").iter().all(|entry| entry.bytes == 768 * MIB));
        assert!(of("small/").len() == 10_000 && of("small/").iter().all(|entry| (100..=8_000).contains(&entry.bytes)));
        assert!((250..350).contains(&of("medium/").len()), "{}", of("medium/").len());
        assert!(
            words(FULL).contains("10 large files of 768 MiB")
                && words(FULL).contains("10000 small files of 100 to 8000 bytes"),
            "{}",
            words(FULL)
        );
    }

    #[test]
    fn zeros_are_zeros_and_a_seed_repeats_its_random_bytes() {
        let filled = |contents, seed| {
            let mut bytes = Vec::new();
            fill(&mut bytes, (BLOCK + 7) as u64, contents, seed).unwrap();
            bytes
        };
        assert_eq!(filled(Contents::Zero, 1), vec![0; BLOCK + 7]);
        let one = filled(Contents::Random, 1);
        assert!(one == filled(Contents::Random, 1) && one != filled(Contents::Random, 2));
        assert_ne!(one[..7], one[BLOCK..], "the second block repeats the first");
    }

    #[test]
    fn the_written_files_have_the_planned_sizes() {
        let folder = std::env::temp_dir().join(format!("deadpan-lab-tree-{}", std::process::id()));
        write(&folder, &entries(200_000), Contents::Random).unwrap();
        for entry in entries(200_000) {
            assert_eq!(fs::metadata(folder.join(&entry.name)).unwrap().len(), entry.bytes, "{}", entry.name);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
