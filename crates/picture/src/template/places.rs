//! The place of each value: the sample of a line that carries it.

use super::secret::Seed;
use super::{LINE, Order};

const PERMUTATIONS: usize = 256;
/// The number of bytes from which the table is made.
const TABLE_BYTES: usize = PERMUTATIONS * LINE * 2;

/// A permutation of the numbers 0 to 63.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Permutation(pub(super) [u8; LINE]);

impl Permutation {
    pub(super) const IDENTITY: Self = {
        let mut identity = [0; LINE];
        let mut at = 0;
        while at < LINE {
            identity[at] = at as u8;
            at += 1;
        }
        Self(identity)
    };

    fn inverse(&self) -> Self {
        let mut inverse = [0; LINE];
        for (at, &place) in (0..).zip(&self.0) {
            inverse[usize::from(place)] = at;
        }
        Self(inverse)
    }
}

/// The permutations. Each line takes one permutation.
pub(super) type Table = [Permutation; PERMUTATIONS];

/// The permutation of a line: an index in the table, and a number from 0 to 63 that is added to all places.
pub(super) type Choice = [u8; 2];

/// The places of a picture.
#[derive(Clone)]
pub(super) struct Places {
    /// Permutation `t` gives the place of value `j` as `table[t].0[j]`.
    pub(super) table: Box<Table>,
    /// The bytes from which lines take their permutations. If the values lie in order, there are no such bytes, and
    /// each line takes permutation 0 without a change.
    stream: Option<blake3::OutputReader>,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Places").finish_non_exhaustive()
    }
}

impl Places {
    pub(super) fn new(order: Order, set_key: &[u8; 32], seed: &Seed) -> Self {
        let identity = Box::new([Permutation::IDENTITY; PERMUTATIONS]);
        match order {
            Order::InOrder => Self { table: identity, stream: None },
            Order::Keyed => Self::keyed(identity, stream("deadpan picture places 1", set_key, seed)),
        }
    }

    fn keyed(mut table: Box<Table>, mut stream: blake3::OutputReader) -> Self {
        let mut random = vec![0; TABLE_BYTES];
        stream.fill(&mut random);
        for (permutation, random) in table.iter_mut().zip(random.chunks_exact(LINE * 2)) {
            for (at, random) in random.as_chunks::<2>().0.iter().enumerate().skip(1).rev() {
                let other = (usize::from(u16::from_be_bytes(*random)) * (at + 1)) >> 16;
                permutation.0.swap(at, other);
            }
        }
        Self { table, stream: Some(stream) }
    }

    pub(super) fn order(&self) -> Order {
        if self.stream.is_some() { Order::Keyed } else { Order::InOrder }
    }

    /// Returns the inverse of each permutation: for each place, the index of the value that it carries.
    pub(super) fn inverses(&self) -> Box<Table> {
        let mut inverses = self.table.clone();
        inverses.iter_mut().for_each(|permutation| *permutation = permutation.inverse());
        inverses
    }

    /// Returns a generator for the permutations of the lines.
    pub(super) fn choices(&self) -> Choices {
        Choices(self.stream.clone())
    }
}

/// Generates the permutation of each line.
#[derive(Clone)]
pub(super) struct Choices(Option<blake3::OutputReader>);

impl Choices {
    /// Computes the permutations for the lines from `line` on.
    pub(super) fn choose(&mut self, line: u64, choices: &mut [Choice]) {
        match &mut self.0 {
            None => choices.fill([0; 2]),
            Some(stream) => {
                stream.set_position(TABLE_BYTES as u64 + 2 * line);
                stream.fill(choices.as_flattened_mut());
            }
        }
    }
}

/// Returns the key stream that encrypts the part by exclusive or.
pub(super) fn mask(set_key: &[u8; 32], seed: &Seed) -> blake3::OutputReader {
    stream("deadpan picture mask 1", set_key, seed)
}

fn stream(context: &str, set_key: &[u8; 32], seed: &Seed) -> blake3::OutputReader {
    blake3::Hasher::new_derive_key(context).update(set_key).update(&seed.0).finalize_xof()
}
