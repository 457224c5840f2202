//! Random files, percentages and damage.

use proptest::prelude::*;

use super::*;

/// Bursts in a file: where each begins, and how long it is, as parts of 65 536.
fn bursts() -> impl Strategy<Value = Vec<(u16, u16)>> {
    proptest::collection::vec((any::<u16>(), 0u16..3000), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The result is the original file, or the report says that too much is damaged: more than the percentage.
    #[test]
    fn damage_is_repaired_or_reported(
        length in 0usize..400_000,
        percent in 1u8..=100,
        bursts in bursts(),
        cut in 0usize..3,
        seed: u64,
    ) {
        let file = noise(length, seed);
        let sidecar = sidecar(&file, percent);
        let mut damaged = file.clone();
        let part = |share: u16| length * usize::from(share) / 65_536;
        for (begin, burst) in &bursts {
            let begin = part(*begin);
            let end = (begin + part(*burst)).min(length);
            damaged[begin..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        }
        let keep = length - cut * length / 50;
        damaged.truncate(keep);
        let lost: usize = bursts.iter().map(|(_, burst)| part(*burst)).sum::<usize>() + length - keep;
        match fix(&sidecar, &damaged) {
            Ok(result) => prop_assert!(result == file),
            Err(Error::TooMuch { missing, .. }) => {
                let touched = (lost + (bursts.len() + 1) * 2 * 512) as u64;
                prop_assert!(missing <= touched, "{missing} of {touched}");
                // Each burst may begin and end within a block, and several bursts may meet in a column.
                prop_assert!(bursts.len() + cut > 1 || lost > length * usize::from(percent) / 100);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn bytes_lost_and_added_anywhere_are_found(
        length in 100_000usize..400_000,
        at in 0usize..100_000,
        by in 1usize..5000,
        is_lost: bool,
        seed: u64,
    ) {
        let file = noise(length, seed);
        let damaged = if is_lost {
            [&file[..at], &file[(at + by).min(length)..]].concat()
        } else {
            [&file[..at], &noise(by, !seed), &file[at..]].concat()
        };
        prop_assert!(fix(&sidecar(&file, 7), &damaged).unwrap() == file);
    }
}
