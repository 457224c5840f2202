//! What is worked on: files of four sizes and a folder, of zeros or of random bytes.

use serde::{Deserialize, Serialize};

use super::Subject;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// One set at its full size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// Its letter.
    pub name: char,
    /// File or folder.
    pub shape: Shape,
    /// Bytes.
    pub bytes: u64,
}

/// Whether a set is a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One file; also bytes in memory.
    File,
    /// A folder; see [`entries`](super::entries).
    Folder,
}

/// All sets.
pub const SETS: [Set; 5] = [
    Set { name: 'A', shape: Shape::File, bytes: 300 * MIB },
    Set { name: 'B', shape: Shape::File, bytes: GIB },
    Set { name: 'C', shape: Shape::File, bytes: 3 * GIB },
    Set { name: 'D', shape: Shape::File, bytes: 10 * GIB },
    Set { name: 'E', shape: Shape::Folder, bytes: 10 * GIB },
];

impl Set {
    /// The same, smaller or larger.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { bytes: ((self.bytes as f64 * scale).round() as u64).max(1), ..self }
    }

    /// Whether a workload on such a thing is run in this set.
    #[must_use]
    pub fn has(&self, subject: Subject) -> bool {
        match subject {
            Subject::File | Subject::Memory | Subject::Amount => self.shape == Shape::File,
            Subject::Folder => self.shape == Shape::Folder,
            Subject::Numbers => false,
        }
    }

    /// The bytes on the disk that its workloads need at one time: what is worked on, what is made of it, what becomes of that, and a little.
    #[must_use]
    pub fn disk(&self) -> u64 {
        self.bytes.saturating_mul(3).saturating_add(self.bytes / 50 + 64 * MIB)
    }

    /// Its letter and its size in words.
    #[must_use]
    pub fn what(&self) -> String {
        let size = match self.bytes {
            bytes if bytes >= GIB => format!("{} GiB", short(bytes as f64 / GIB as f64)),
            bytes if bytes >= MIB => format!("{} MiB", short(bytes as f64 / MIB as f64)),
            bytes => format!("{bytes} bytes"),
        };
        match self.shape {
            Shape::File => format!("a file of {size}"),
            Shape::Folder => format!("a folder of {size}: {}", super::tree::words(self.bytes)),
        }
    }

    /// Rounds, where nobody says how many: more where they are short.
    #[must_use]
    pub fn rounds(&self) -> usize {
        match self.bytes {
            bytes if bytes <= 512 * MIB => 7,
            bytes if bytes <= 2 * GIB => 5,
            _ => 3,
        }
    }
}

/// A number without digits that say nothing.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// Zeros, written, not holes.
    Zero,
    /// Bytes that do not repeat.
    Random,
}

impl Contents {
    /// Its name.
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

    #[test]
    fn sets_shrink_and_need_three_times_their_size() {
        let small = SETS.map(|set| set.scaled(0.01));
        assert_eq!(small.map(|set| set.bytes), [3_145_728, 10_737_418, 32_212_255, 107_374_182, 107_374_182]);
        assert!(SETS.iter().all(|set| set.disk() > 3 * set.bytes));
        assert_eq!(SETS[0].scaled(1e-12).bytes, 1);
    }

    #[test]
    fn words_and_rounds_follow_the_size() {
        assert_eq!(SETS[0].what(), "a file of 300 MiB");
        assert_eq!(SETS[2].what(), "a file of 3 GiB");
        assert_eq!(SETS[0].scaled(0.0005).what(), "a file of 157286 bytes");
        assert_eq!(SETS.map(|set| set.rounds()), [7, 5, 3, 3, 3]);
    }

    #[test]
    fn workloads_run_where_they_belong() {
        let of = |subject| SETS.iter().filter(|set| set.has(subject)).map(|set| set.name).collect::<String>();
        assert_eq!(of(Subject::File), "ABCD");
        assert_eq!(of(Subject::Folder), "E");
        assert_eq!(of(Subject::Numbers), "");
    }
}
