//! The inputs of workloads: files and folders of given sizes, with zeros or with random bytes.

use serde::{Deserialize, Serialize};

use super::{Subject, tree};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// One set: a file or a folder of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The name of the set: a letter, or its size.
    pub name: &'static str,
    /// Whether the set is a file or a folder.
    pub shape: Shape,
    /// The number of bytes in the file, or in all files of the folder.
    pub bytes: u64,
    /// The number of rounds. If `None`, the number of rounds depends on the size.
    pub rounds: Option<usize>,
}

/// Whether a set is a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One file. Workloads in memory use a buffer of the same size.
    File,
    /// A folder with the files of [`entries`](super::entries).
    Folder,
    /// A folder with these files. The numbers of files do not scale.
    Files(Files),
}

/// The files of a folder: some large files, and many small files in subfolders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Files {
    /// The number of large files.
    pub large: u64,
    /// The bytes of a large file.
    pub large_bytes: u64,
    /// The number of small files.
    pub small: u64,
    /// The smallest and the largest size of a small file in bytes.
    pub small_bytes: (u64, u64),
    /// The number of small files in a subfolder.
    pub each: u64,
}

impl Set {
    /// Creates a set that is a file.
    #[must_use]
    pub fn file(name: &'static str, bytes: u64) -> Self {
        Self { name, shape: Shape::File, bytes, rounds: None }
    }

    /// Creates a set that is a folder with these files.
    #[must_use]
    pub fn files(name: &'static str, files: Files) -> Self {
        let bytes = tree::described(&files).iter().map(|entry| entry.bytes).sum();
        Self { name, shape: Shape::Files(files), bytes, rounds: None }
    }

    /// Sets the number of rounds.
    #[must_use]
    pub fn rounds_of(self, rounds: usize) -> Self {
        Self { rounds: Some(rounds), ..self }
    }

    /// Multiplies the size of the set by `scale`. The new size is at least one byte.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { bytes: ((self.bytes as f64 * scale).round() as u64).max(1), ..self }
    }

    /// Returns whether workloads with this kind of input use this set.
    #[must_use]
    pub fn has(&self, subject: Subject) -> bool {
        match subject {
            Subject::File | Subject::Memory | Subject::Amount => self.shape == Shape::File,
            Subject::Folder => self.shape != Shape::File,
            Subject::Numbers => false,
        }
    }

    /// Returns the maximum number of bytes that the workloads of this set need on the disk at the same time: the input,
    /// the outputs of two operations, and a reserve.
    #[must_use]
    pub fn disk(&self) -> u64 {
        // A small file takes a whole block on the disk. In an archive, a small file also has headers and an index
        // entry.
        let small = if let Shape::Files(files) = self.shape { files.small * (12 << 10) } else { 0 };
        self.bytes.saturating_mul(3).saturating_add(self.bytes / 50 + small + 64 * MIB)
    }

    /// Describes the set in words, for example `a file of 300 MiB`.
    #[must_use]
    pub fn what(&self) -> String {
        let size = match self.bytes {
            bytes if bytes >= GIB => format!("{} GiB", short(bytes as f64 / GIB as f64)),
            bytes if bytes >= MIB => format!("{} MiB", short(bytes as f64 / MIB as f64)),
            bytes => format!("{bytes} bytes"),
        };
        match self.shape {
            Shape::File => format!("a file of {size}"),
            Shape::Folder => format!("a folder of {size}: {}", tree::words(self.bytes)),
            Shape::Files(Files { large, large_bytes, small, small_bytes: (least, most), each }) => {
                let large = format!("{large} of {} MiB", large_bytes / MIB);
                format!("files of {size} in all: {large}, and {small} of {least} to {most} bytes in folders of {each}")
            }
        }
    }

    /// Returns the default number of rounds. Small sets have more rounds, because their rounds are short.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds.unwrap_or(match self.bytes {
            bytes if bytes <= 512 * MIB => 7,
            bytes if bytes <= 2 * GIB => 5,
            _ => 3,
        })
    }
}

/// Formats a number with at most two decimal places and without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The contents of the files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// Zeros. The zeros are really written, so the files are not sparse.
    Zero,
    /// Random bytes that do not repeat.
    Random,
}

impl Contents {
    /// Returns the name in tables and options: `zero` or `random`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Random => "random",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generations::SETS;

    #[test]
    fn scaled_sets_are_smaller_and_sets_need_three_times_their_size_on_the_disk() {
        let small = SETS.map(|set| set.scaled(0.01));
        assert_eq!(small.map(|set| set.bytes), [3_145_728, 10_737_418, 32_212_255, 107_374_182, 107_374_182]);
        assert!(SETS.iter().all(|set| set.disk() > 3 * set.bytes));
        assert_eq!(SETS[0].scaled(1e-12).bytes, 1);
    }

    #[test]
    fn descriptions_and_rounds_follow_the_size() {
        assert_eq!(SETS[0].what(), "a file of 300 MiB");
        assert_eq!(SETS[2].what(), "a file of 3 GiB");
        assert_eq!(SETS[0].scaled(0.0005).what(), "a file of 157286 bytes");
        assert_eq!(SETS.map(|set| set.rounds()), [7, 5, 3, 3, 3]);
    }

    #[test]
    fn workloads_run_on_sets_of_their_kind() {
        let of = |subject| SETS.iter().filter(|set| set.has(subject)).map(|set| set.name).collect::<String>();
        assert_eq!(of(Subject::File), "ABCD");
        assert_eq!(of(Subject::Folder), "E");
        assert_eq!(of(Subject::Numbers), "");
    }
}
