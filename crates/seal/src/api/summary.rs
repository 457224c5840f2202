//! Results of sealing and opening.

use crate::Signatures;

/// The work that was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of plain data, without padding.
    pub plain: u64,
    /// Bytes of sealed data, header and trailer included.
    pub sealed: u64,
    /// Who signed the data that were opened; `None` if nobody did, and after sealing.
    pub signatures: Option<Signatures>,
}
