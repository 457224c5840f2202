//! Where randomness comes from: the system, and in tests a seed, so that the same input gives the same bytes.
//!
//! Straight from the system: keys and IVs are short, and so nothing has to be kept that a fork or a snapshot could repeat.

use crate::Error;

/// A source of random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Entropy {
    /// The system's.
    #[default]
    System,
    /// For known answers: each value follows from what it is for.
    #[cfg(test)]
    Fixed(u8),
}

impl Entropy {
    /// Fills `bytes`, which are for the `number`th use of `purpose`.
    pub(crate) fn fill(self, purpose: &str, number: u64, bytes: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::System => {
                // What it is for makes a difference in tests only.
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
