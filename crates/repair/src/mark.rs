//! The mark of a block: a weak sum, which can be computed quickly at each offset of a file, and a part of the block's
//! hash.

use std::sync::LazyLock;

use blake3::Hash;

/// The length of a mark.
pub(crate) const MARK: usize = 16;
/// The number of bytes at the beginning of a block over which the weak sum is computed.
pub(crate) const WINDOW: usize = 64;
/// The factor of the weak sum: each byte's weight is this factor times the weight of the next byte.
const FACTOR: u32 = 2_654_435_761;
/// The weight of the byte that leaves the window, one step after it had the highest weight.
const LEAVING: u32 = FACTOR.wrapping_pow(WINDOW as u32);

/// The weights of the bytes in a window.
static WEIGHTS: LazyLock<[u32; WINDOW]> =
    LazyLock::new(|| std::array::from_fn(|at| FACTOR.wrapping_pow((WINDOW - 1 - at) as u32)));

/// What a table says about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(pub(crate) [u8; MARK]);

impl Mark {
    /// Returns the mark of a block that has this hash. A block has at least [`WINDOW`] bytes.
    pub(crate) fn new(block: &[u8], hash: &Hash) -> Self {
        let mut mark = [0; MARK];
        mark[..4].copy_from_slice(&weak(block).to_be_bytes());
        mark[4..].copy_from_slice(&hash.as_bytes()[..MARK - 4]);
        Self(mark)
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Self {
        let mut mark = [0; MARK];
        mark.copy_from_slice(&bytes[..MARK]);
        Self(mark)
    }

    pub(crate) fn weak(self) -> u32 {
        u32::from_be_bytes([self.0[0], self.0[1], self.0[2], self.0[3]])
    }

    /// Whether this is the mark of `block`.
    pub(crate) fn fits(self, block: &[u8]) -> bool {
        self.weak() == weak(block) && self.0[4..] == blake3::hash(block).as_bytes()[..MARK - 4]
    }
}

/// Returns the weak sum of the first [`WINDOW`] bytes.
pub(crate) fn weak(bytes: &[u8]) -> u32 {
    let weighted = bytes[..WINDOW].iter().zip(&*WEIGHTS).map(|(byte, weight)| u32::from(*byte).wrapping_mul(*weight));
    weighted.fold(0, u32::wrapping_add)
}

/// Returns the weak sum of the window that begins one byte later.
pub(crate) fn roll(sum: u32, leaving: u8, entering: u8) -> u32 {
    let leaving = u32::from(leaving).wrapping_mul(LEAVING);
    sum.wrapping_mul(FACTOR).wrapping_add(u32::from(entering)).wrapping_sub(leaving)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolled_sum_is_the_sum_of_its_window() {
        let bytes: Vec<u8> = (0..500u32).map(|at| (at * at / 7) as u8).collect();
        let mut sum = weak(&bytes);
        for at in 0..bytes.len() - WINDOW {
            assert_eq!(sum, weak(&bytes[at..]));
            sum = roll(sum, bytes[at], bytes[at + WINDOW]);
        }
    }
}
