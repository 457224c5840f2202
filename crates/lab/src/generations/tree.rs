//! The folder: a few large files, many small ones, and files between, as in a folder that somebody works in. Names, sizes and bytes follow
//! from the number of bytes alone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::Contents;
use crate::random::Random;

const MIB: u64 = 1 << 20;
/// Large files; together they have three quarters of the bytes.
const LARGE: u64 = 10;
/// Small files in a folder of [`FULL`] bytes.
const SMALL: u64 = 10_000;
/// The least and the most bytes in a small file.
const SMALL_BYTES: (u64, u64) = (100, 8_000);
/// The size that the numbers here are for.
const FULL: u64 = 10 << 30;
/// The seed of sizes and bytes.
const SEED: u64 = 10;
/// What is written at once.
const BLOCK: usize = 1 << 20;

/// One file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the folder, with `/`.
    pub name: String,
    /// Bytes in it.
    pub bytes: u64,
}

/// The files of a folder of so many bytes: ten that hold three quarters of them; ten thousand of 100 to 8000 bytes (in a smaller folder fewer,
/// but ten), a hundred in a folder; and the rest in files of 1 to 16 MiB (in a smaller folder smaller).
#[must_use]
pub fn entries(bytes: u64) -> Vec<Entry> {
    let mut random = Random::new(SEED);
    let scale = bytes as f64 / FULL as f64;
    let large = bytes / 4 * 3 / LARGE;
    let mut all: Vec<Entry> = (0..LARGE).map(|number| Entry { name: format!("large/{number:02}.bin"), bytes: large }).collect();
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

/// What is in a folder of so many bytes.
pub(super) fn words(bytes: u64) -> String {
    let medium = entries(bytes).iter().filter(|entry| entry.name.starts_with("medium/")).count();
    let large = bytes / 4 * 3 / LARGE;
    let size = if large >= MIB { format!("{} MiB", large / MIB) } else { format!("{} KiB", large >> 10) };
    format!(
        "{LARGE} files of {size}, {medium} between, {} of {} to {} bytes in folders of a hundred",
        small(bytes),
        SMALL_BYTES.0,
        SMALL_BYTES.1
    )
}

/// Writes the folder, which is new.
pub(super) fn write(folder: &Path, bytes: u64, contents: Contents) -> io::Result<()> {
    for (number, entry) in entries(bytes).iter().enumerate() {
        let path = folder.join(&entry.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fill(&mut File::create_new(path)?, entry.bytes, contents, SEED + 1 + number as u64)?;
    }
    Ok(())
}

/// Writes so many bytes: zeros, or the stream of this seed.
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
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_folder_has_exactly_its_bytes_at_every_size() {
        for bytes in [1, 999, 1_073_742, 107_374_182, FULL] {
            let all = entries(bytes);
            assert_eq!(all.iter().map(|entry| entry.bytes).sum::<u64>(), bytes, "{bytes}");
            assert_eq!(all.iter().map(|entry| &entry.name).collect::<HashSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn the_full_folder_is_what_its_words_say() {
        let all = entries(FULL);
        let of = |kind: &str| all.iter().filter(|entry| entry.name.starts_with(kind)).collect::<Vec<_>>();
        assert!(of("large/").len() == 10 && of("large/").iter().all(|entry| entry.bytes == 768 * MIB));
        assert!(of("small/").len() == 10_000 && of("small/").iter().all(|entry| (100..=8_000).contains(&entry.bytes)));
        assert!((250..350).contains(&of("medium/").len()), "{}", of("medium/").len());
        assert!(words(FULL).contains("10 files of 768 MiB") && words(FULL).contains("10000 of 100 to 8000 bytes"), "{}", words(FULL));
    }

    #[test]
    fn zeros_are_zeros_and_random_bytes_are_the_same_again() {
        let filled = |contents, seed| {
            let mut bytes = Vec::new();
            fill(&mut bytes, (BLOCK + 7) as u64, contents, seed).unwrap();
            bytes
        };
        assert_eq!(filled(Contents::Zero, 1), vec![0; BLOCK + 7]);
        let one = filled(Contents::Random, 1);
        assert!(one == filled(Contents::Random, 1) && one != filled(Contents::Random, 2));
        assert_ne!(one[..7], one[BLOCK..], "a block is not repeated");
    }

    #[test]
    fn what_is_written_is_what_was_planned() {
        let folder = std::env::temp_dir().join(format!("deadpan-lab-tree-{}", std::process::id()));
        write(&folder, 200_000, Contents::Random).unwrap();
        for entry in entries(200_000) {
            assert_eq!(fs::metadata(folder.join(&entry.name)).unwrap().len(), entry.bytes, "{}", entry.name);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
