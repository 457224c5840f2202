//! Computes the verdict on a block from its wrong bytes. All schemes and back ends use this code.

use super::row::Row;
use deadpan_ct::{Choice, CtOrd, CtZero};

/// The good bytes at the end of a block, without a gap between them: a run. The code finds this run by reading the
/// whole block from the front.
pub struct Run {
    /// The lane in which the run begins: the lane after the last byte that is not good.
    begins: u64,
    /// One if the last byte that is not good is the mark, and zero otherwise.
    marked: u64,
}

impl Run {
    /// Makes an empty run for a block from which no byte was read yet.
    #[inline(always)]
    pub fn new() -> Self {
        Self { begins: 0, marked: 0 }
    }

    /// Processes the flags of the next `LANES` bytes, which begin at lane `at`. Each byte has `64 / LANES` bits in
    /// `bad` and in `marks`. The highest of these bits is set in `bad` if the byte is bad, and in `marks` if the byte
    /// is a mark. All bits after the end of the block are zero.
    #[inline(always)]
    pub fn extend<const LANES: u32>(&mut self, at: usize, bad: u64, marks: u64) {
        let any = bad.ct_is_nonzero();
        // The code counts in `bad | 1`, because the compiler may need a jump to count the leading zeros of zero.
        let above = (bad | 1).leading_zeros();
        let behind = at as u64 + u64::from((63 - above) * LANES / 64) + 1;
        // The code shifts the wanted bit to the top first: if the bit were shifted directly to the bottom, compilers
        // would use a bit test. If the position of a bit test is secret, Valgrind reports it as a secret address.
        self.begins = any.select(behind, self.begins);
        self.marked = any.select((marks << above) >> 63, self.marked);
    }

    /// Returns the verdict on the whole block. See [`verdict`].
    #[inline(always)]
    pub fn verdict(self, row: &Row, last_byte: u8) -> (usize, Choice) {
        verdict(row, u64::from(row.size).wrapping_sub(self.begins), self.marked, last_byte)
    }
}

/// Returns the number of padding bytes, and whether the padding is right. `good` is the number of good bytes at the end
/// of the block, and `marked` is one if the byte before them is the mark. If the padding is wrong, the number has no
/// meaning.
#[inline(always)]
pub fn verdict(row: &Row, good: u64, marked: u64, last_byte: u8) -> (usize, Choice) {
    let seen = good + u64::from(row.mark >> 7);
    let told = i64::from(row.tells_count.cast_signed()).cast_unsigned();
    let count = seen ^ ((seen ^ u64::from(last_byte)) & told);
    // A count of zero is wrong: subtracting 1 makes it so large that the comparison fails.
    (count as usize, count.wrapping_sub(1).ct_lt(&(good + marked)))
}
