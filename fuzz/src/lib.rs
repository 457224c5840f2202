//! Code that the fuzz targets share: functions that turn bytes into test cases, and simple references.
//!
//! Branch-free code gives the fuzzer no feedback, because a valid symbol reaches no new branch in the code. So
//! [`Input::text`] and [`Input::pem`] make inputs that are almost valid, and the jumps of the references guide the
//! fuzzer.

mod change;
mod cuts;
mod input;
pub mod reference;
mod rules;

pub use change::change;
pub use cuts::{Cuts, Pieces};
pub use input::Input;
pub use rules::Rules;

/// The byte that fills output buffers before a call.
pub const CANARY: u8 = 0x5c;

/// A buffer full of canaries.
#[must_use]
pub fn canaries(length: usize) -> Vec<u8> {
    vec![CANARY; length]
}

/// Returns whether the buffer is unchanged.
#[must_use]
pub fn is_untouched(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == CANARY)
}

/// Returns whether each byte of the buffer is either unchanged or wiped.
#[must_use]
pub fn is_wiped(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == CANARY || *byte == 0)
}
