//! The upper floor: what a caller seals and opens with, and the engine that moves the data.

pub(crate) mod engine;
pub(crate) mod one_call;
pub(crate) mod opening;
pub(crate) mod sealing;
pub(crate) mod sidecar;
pub(crate) mod summary;
