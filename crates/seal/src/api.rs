//! The functions and types with which a caller seals and opens, and the engine that moves the data.

pub(crate) mod engine;
pub(crate) mod one_call;
pub(crate) mod opening;
pub(crate) mod sealing;
pub(crate) mod sidecar;
pub(crate) mod summary;
