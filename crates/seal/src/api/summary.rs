//! Results of sealing and opening.

use crate::Signatures;

/// The number of bytes of data, the number of bytes of the sealed file, and the signatures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of bytes of plain data, without padding.
    pub plain: u64,
    /// The number of bytes of sealed data, including header and trailer.
    pub sealed: u64,
    /// The signatures of the data that were opened; `None` if nobody signed the data, and always `None` after sealing.
    pub signatures: Option<Signatures>,
}
