//! What the fuzz targets share: how bytes become a test case, and references that are right because they are plain.
//!
//! Branch-free code looks the same to the fuzzer whatever it is fed: there is no new edge behind a good symbol that coverage could reward.
//! So the cases are made nearly right by themselves ([`Input::text`], [`Input::pem`]), and the jumps that guide the fuzzer are those of the
//! references.

mod change;
mod cuts;
mod input;
pub mod reference;
mod rules;

pub use change::change;
pub use cuts::{Cuts, Pieces};
pub use input::Input;
pub use rules::Rules;

/// What output buffers hold before they are written to.
pub const CANARY: u8 = 0x5c;

/// A buffer full of canaries.
#[must_use]
pub fn canaries(length: usize) -> Vec<u8> {
    vec![CANARY; length]
}

/// Whether nothing was written.
#[must_use]
pub fn is_untouched(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == CANARY)
}

/// Whether what was written, if anything, has been wiped.
#[must_use]
pub fn is_wiped(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == CANARY || *byte == 0)
}
