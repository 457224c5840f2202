//! The verdict on a block from its wrong bytes, the same for all schemes and back ends.

use super::row::Row;
use deadpan_ct::{Choice, CtOrd, CtZero};

/// The run of good bytes at the end of a block, found by reading the whole block from the front.
pub struct Run {
    /// The lane after the last bad byte, where the run begins.
    begins: u64,
    /// One if the last bad byte is the mark.
    marked: u64,
}

impl Run {
    /// Makes a run before any byte is read.
    #[inline(always)]
    pub fn new() -> Self {
        Self { begins: 0, marked: 0 }
    }

    /// Takes the flags of the next `LANES` bytes, from lane `at` on: the highest of the `64 / LANES` bits for a byte is
    /// set in `bad` for a bad byte, and in `marks` for a mark. All bits after the end of the block are clear.
    #[inline(always)]
    pub fn extend<const LANES: u32>(&mut self, at: usize, bad: u64, marks: u64) {
        let any = bad.ct_is_nonzero();
        // `| 1` because counting the zeros of zero may be compiled to a jump.
        let above = (bad | 1).leading_zeros();
        let behind = at as u64 + u64::from((63 - above) * LANES / 64) + 1;
        // The bit is shifted to the top: compilers turn a shift to the bottom into a bit test, which Valgrind takes for
        // a secret address.
        self.begins = any.select(behind, self.begins);
        self.marked = any.select((marks << above) >> 63, self.marked);
    }

    /// Returns the verdict on the whole block. See [`verdict`].
    #[inline(always)]
    pub fn verdict(self, row: &Row, last_byte: u8) -> (usize, Choice) {
        verdict(row, u64::from(row.size).wrapping_sub(self.begins), self.marked, last_byte)
    }
}

/// Returns the number of padding bytes, and whether the padding is right, from the number of `good` bytes at the end
/// and whether the byte before them is the mark. If the padding is wrong, the number has no meaning.
#[inline(always)]
pub fn verdict(row: &Row, good: u64, marked: u64, last_byte: u8) -> (usize, Choice) {
    let seen = good + u64::from(row.mark >> 7);
    let told = i64::from(row.tells_count.cast_signed()).cast_unsigned();
    let count = seen ^ ((seen ^ u64::from(last_byte)) & told);
    // `- 1` turns a count of zero into a count that is too large.
    (count as usize, count.wrapping_sub(1).ct_lt(&(good + marked)))
}
