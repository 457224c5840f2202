#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
// The environment variable for the CPU level and the requests to Valgrind need `std`, and exist only in the test
// configuration.
#[cfg(any(test, deadpan_test))]
extern crate std;

#[cfg(all(target_arch = "x86_64", not(target_pointer_width = "64"), not(deadpan_portable)))]
compile_error!("the back ends for x86-64 need 64-bit pointers; build with RUSTFLAGS='--cfg deadpan_portable'");

#[cfg(all(
    target_arch = "aarch64",
    not(all(target_pointer_width = "64", target_endian = "little", target_feature = "neon")),
    not(deadpan_portable)
))]
compile_error!(
    "the back end for AArch64 needs 64-bit pointers, little-endian numbers and NEON; \
     build with RUSTFLAGS='--cfg deadpan_portable'"
);

mod assign;
#[allow(unsafe_code)]
mod barrier;
mod choice;
pub mod cpu;
mod equal;
#[cfg(not(deadpan_test))]
#[allow(unsafe_code)]
mod imp;
#[cfg(deadpan_test)]
#[allow(missing_docs)]
#[allow(unsafe_code)]
pub mod imp;
mod lookup;
mod option;
mod order;
mod select;
mod timing;
mod wipe;

pub use assign::CtAssign;
pub use choice::{Choice, declassify, declassify_bytes};
pub use equal::{CtEq, CtZero};
pub use lookup::lookup;
pub use option::CtOption;
pub use order::{CtOrd, CtSign};
pub use select::CtSelect;
pub use timing::with_data_independent_timing;
pub use wipe::{Wipe, Wiped};
