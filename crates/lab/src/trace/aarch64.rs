//! Instructions of AArch64.

pub(super) mod decode;
pub(super) mod listing;
