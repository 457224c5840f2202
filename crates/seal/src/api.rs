//! The public functions and types for sealing and opening, and the engine that processes the data.

pub(crate) mod engine;
pub mod keyring;
pub(crate) mod one_call;
pub(crate) mod opening;
pub(crate) mod sealing;
pub(crate) mod sidecar;
pub(crate) mod summary;
