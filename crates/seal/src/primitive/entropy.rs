//! Sources of randomness: the system or, in tests, a seed. With a seed, the same input gives the same bytes.
//!
//! Keys and IVs are short, so this module requests their bytes directly from the system. This module keeps no state
//! that a fork or a snapshot of the machine could repeat.

use crate::Error;

/// A source of random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Entropy {
    /// The system's random bytes.
    #[default]
    System,
    /// A seed for tests with known answers. The seed, the purpose and the number determine each value.
    #[cfg(test)]
    Fixed(u8),
}

impl Entropy {
    /// Fills `bytes` with random bytes for the `number`th use of `purpose`.
    pub(crate) fn fill(self, purpose: &str, number: u64, bytes: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::System => {
                // The purpose and the number are used only in tests.
                let _ = (purpose, number);
                getrandom::fill(bytes).map_err(|_| Error::System("no random bytes"))
            }
            #[cfg(test)]
            Self::Fixed(seed) => {
                for (i, piece) in bytes.chunks_mut(32).enumerate() {
                    let mut text = format!("{seed} {purpose} {number}");
                    if i > 0 {
                        text += &format!(" {i}");
                    }
                    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
                    piece.copy_from_slice(&digest.as_ref()[..piece.len()]);
                }
                Ok(())
            }
        }
    }
}
