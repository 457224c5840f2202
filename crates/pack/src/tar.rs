//! Headers of tar, as the specification of pax has them.

pub(crate) mod write;
