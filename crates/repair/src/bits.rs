//! A set of blocks: one bit for each block.

/// A set of the numbers from 0 up to a length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    length: u64,
}

impl Bits {
    /// Returns an empty set of numbers below `length`.
    pub(crate) fn new(length: u64) -> Self {
        Self { words: vec![0; length.div_ceil(64) as usize], length }
    }

    pub(crate) fn insert(&mut self, number: u64) {
        self.words[(number / 64) as usize] |= 1 << (number % 64);
    }

    pub(crate) fn remove(&mut self, number: u64) {
        self.words[(number / 64) as usize] &= !(1 << (number % 64));
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the first number at or after `from` that is in the set.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        self.find(from, 0)
    }

    /// Returns the first number at or after `from` that is not in the set, or the length.
    pub(crate) fn next_gap(&self, from: u64) -> u64 {
        self.find(from, u64::MAX).unwrap_or(self.length)
    }

    /// Finds the first bit that is set after each word was combined with `flip`.
    fn find(&self, from: u64, flip: u64) -> Option<u64> {
        let first = (from / 64) as usize;
        let mut mask = u64::MAX << (from % 64);
        for (index, word) in self.words.iter().enumerate().skip(first) {
            let found = (word ^ flip) & mask;
            if found != 0 {
                let number = index as u64 * 64 + u64::from(found.trailing_zeros());
                return (number < self.length).then_some(number);
            }
            mask = u64::MAX;
        }
        None
    }

    /// Returns the numbers of the set, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::successors(self.next(0), |number| self.next(number + 1))
    }

    /// Returns runs of consecutive numbers, in order: the first number, and the first number after the run.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let run = |from| self.next(from).map(|begin| (begin, self.next_gap(begin)));
        std::iter::successors(run(0), move |(_, end)| run(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_words() {
        for length in [0, 1, 63, 64, 65, 127, 128, 200] {
            let mut bits = Bits::new(length);
            assert!(bits.is_empty() && bits.runs().next().is_none() && bits.next_gap(0) == 0);
            for number in (0..length).filter(|number| number % 7 != 3 && !(60..70).contains(number)) {
                bits.insert(number);
            }
            let in_runs: Vec<u64> = bits.runs().flat_map(|(begin, end)| begin..end).collect();
            let expected: Vec<u64> = (0..length).filter(|number| bits.has(*number)).collect();
            assert_eq!((in_runs.len() as u64, in_runs), (bits.count(), expected.clone()));
            assert_eq!(bits.iter().collect::<Vec<_>>(), expected);
            for number in 0..length {
                bits.insert(number);
            }
            assert_eq!(bits.runs().collect::<Vec<_>>(), if length == 0 { vec![] } else { vec![(0, length)] });
            (0..length).for_each(|number| bits.remove(number));
            assert!(bits.is_empty());
        }
    }
}
