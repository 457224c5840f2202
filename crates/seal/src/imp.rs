//! The edge to the system and to foreign code: all that needs `unsafe`.

pub(crate) mod blocks;
pub(crate) mod locked;
