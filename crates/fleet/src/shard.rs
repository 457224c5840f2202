//! The share of the work that one of several machines does.

use std::fmt;
use std::str::FromStr;

/// One of several shares of the work, counted from 0.
///
/// ```
/// use deadpan_fleet::Shard;
///
/// let shard: Shard = "2/8".parse()?;
/// assert_eq!((shard.index(), shard.count()), (2, 8));
/// assert!("8/8".parse::<Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Default for Shard {
    /// Returns the only share: all of the work.
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

/// The engines that number their tasks, and the names of the environment variables that contain these numbers. Each
/// entry contains the engine, and the variables for the task's number, the first number, and the number of tasks.
const ENGINES: [(&str, &str, &str, &str); 4] = [
    ("AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "AWS_BATCH_JOB_ARRAY_SIZE"),
    ("Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"),
    ("Cloud Run", "CLOUD_RUN_TASK_INDEX", "", "CLOUD_RUN_TASK_COUNT"),
    // Kubernetes gives only the task's number. The manifest of the job has to set the number of tasks.
    ("Kubernetes", "JOB_COMPLETION_INDEX", "", "JOB_COMPLETIONS"),
];

impl Shard {
    /// Reads the share from the variables that an engine sets for its tasks. `variable` returns the value of a
    /// variable, usually from the environment.
    ///
    /// # Errors
    /// If a variable is missing or wrong. The text names the problem.
    pub fn of_engine(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut lacks = None;
        for (engine, index, first, count) in ENGINES {
            let Some(index_text) = variable(index) else { continue };
            let Some(count_text) = variable(count) else {
                lacks.get_or_insert(format!(
                    "{engine} gives {index}, and {count} is missing: set it to the number of tasks"
                ));
                continue;
            };
            let number = |name: &str, text: String| {
                text.trim().parse::<u64>().map_err(|_| format!("{name} is {text}, which is no number"))
            };
            let first = variable(first).filter(|_| !first.is_empty());
            let first = first.map_or(Ok(0), |text| number("the first number", text))?;
            let (index_number, count_number) = (number(index, index_text)?, number(count, count_text)?);
            let index = index_number.checked_sub(first).ok_or(format!("{index} is below the first number"))?;
            return Self::new(index, count_number).ok_or(format!("{engine} says task {index} of {count_number}"));
        }
        Err(lacks.unwrap_or_else(|| {
            let names: Vec<_> = ENGINES.iter().map(|(_, index, ..)| *index).collect();
            format!("no engine says which task this is: none of {} is set", names.join(", "))
        }))
    }

    fn new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// Returns the number of this share.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// Returns the number of shares.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.count
    }

    /// Whether the object with this name is in this share.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.count == 1 || self.has_part(name, 0)
    }

    /// Whether part `number` of a long object is in this share. Parts with neighboring numbers are in different shares.
    #[must_use]
    pub fn has_part(self, name: &str, number: u64) -> bool {
        self.count == 1 || (hash(name) % self.count + number % self.count) % self.count == self.index
    }
}

/// Returns a number that is the same on all machines and in all versions.
fn hash(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?));
        parts.ok_or_else(|| "a share is i/n with i below n, such as 0/8, or auto".to_owned())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_and_each_part_is_in_exactly_one_share() {
        for count in [1, 2, 3, 7] {
            let shards: Vec<_> = (0..count).map(|index| Shard::new(index, count).expect("a share")).collect();
            let mut sizes = vec![0; count as usize];
            for name in 0..1000 {
                let name = format!("a/{name}");
                for part in [0, 1, 9_999, u64::MAX] {
                    assert_eq!(shards.iter().filter(|shard| shard.has_part(&name, part)).count(), 1);
                }
                let owner = shards.iter().position(|shard| shard.has(&name)).expect("one has it");
                sizes[owner] += 1;
            }
            assert!(sizes.iter().all(|size| *size > 800 / count as usize), "{sizes:?}");
        }
    }

    #[test]
    fn engines_say_which_task_this_is() {
        let read = |set: &[(&str, &str)]| {
            Shard::of_engine(|name| set.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
        };
        let shard = |index, count| Ok(Shard { index, count });
        assert_eq!(read(&[("AWS_BATCH_JOB_ARRAY_INDEX", "3"), ("AWS_BATCH_JOB_ARRAY_SIZE", "4")]), shard(3, 4));
        let slurm = [("SLURM_ARRAY_TASK_ID", "5"), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_COUNT", "5")];
        assert_eq!(read(&slurm), shard(4, 5));
        assert_eq!(read(&[("CLOUD_RUN_TASK_INDEX", "0"), ("CLOUD_RUN_TASK_COUNT", "1")]), shard(0, 1));
        assert_eq!(read(&[("JOB_COMPLETION_INDEX", "1"), ("JOB_COMPLETIONS", "2")]), shard(1, 2));
        for (set, words) in [
            (&[][..], "no engine says"),
            (&[("JOB_COMPLETION_INDEX", "1")], "JOB_COMPLETIONS is missing"),
            (&[("JOB_COMPLETION_INDEX", "2"), ("JOB_COMPLETIONS", "2")], "task 2 of 2"),
            (&[("JOB_COMPLETION_INDEX", "x"), ("JOB_COMPLETIONS", "2")], "no number"),
        ] {
            let error = read(set).expect_err("wrong");
            assert!(error.contains(words), "{error}");
        }
    }
}
