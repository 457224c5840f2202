//! Rounds a length down to whole blocks without a division. The time of a division instruction depends on its operands,
//! and the remainder is secret.

/// A block size and its reciprocal, with which a length is rounded.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    block: usize,
    /// The power of two for the reciprocal is 2^(63 + `shift`).
    reciprocal: u64,
    /// The exponent of the power of two for the reciprocal, minus 63.
    shift: u32,
}

impl Divisor {
    /// Computes the reciprocal of `block`. `block` must not be zero.
    pub const fn new(block: u8) -> Self {
        let shift = (block as u32).next_power_of_two().trailing_zeros();
        // Let `r` be this reciprocal. `r * block` is greater than 2^(63 + shift), by at least one and by at most
        // `block`, and `block` is at most 2^shift. These limits are the condition of Granlund and Montgomery (1994,
        // theorem 4.2). This condition implies that the quotients of all 63-bit numbers are exact.
        let reciprocal = ((1_u128 << (63 + shift)) / block as u128 + 1) as u64;
        Self { block: block as usize, reciprocal, shift }
    }

    /// Returns the block size.
    #[inline(always)]
    pub const fn block(self) -> usize {
        self.block
    }

    /// Rounds `length` down to a multiple of the block size. `length` must be at most `isize::MAX`.
    #[inline(always)]
    pub const fn full(self, length: usize) -> usize {
        // The length is doubled, so that the upper half of the product, shifted right by `shift`, is the quotient.
        let product = (2 * length as u64) as u128 * self.reciprocal as u128;
        (((product >> 64) as u64) >> self.shift) as usize * self.block
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn agrees_with_division() {
        for block in 1..=255_u8 {
            let (divisor, size) = (Divisor::new(block), usize::from(block));
            let borders = [0, 1, 255, 65536, usize::MAX >> 2, (usize::MAX >> 1) - 300];
            let lengths = borders.into_iter().flat_map(|border| border..border + 300);
            for length in lengths.chain((0..usize::BITS - 1).map(|bit| 1 << bit)) {
                assert_eq!(divisor.full(length), length - length % size, "{length} by {block}");
                let whole = length - length % size;
                assert_eq!(
                    divisor.full(whole.saturating_sub(1)),
                    whole.saturating_sub(1) / size * size,
                    "{whole} - 1 by {block}"
                );
            }
        }
    }
}
