//! Decisions on secrets, without a jump: choose, compare, select, swap, look up and wipe in a time that does not depend on the values.
//!
//! Choose it when code holds a key, a password, a MAC or a plaintext and must decide something about it. It is `no_std`, needs no
//! allocator and has no `unsafe` in its interface.
//!
//! ```
//! use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd};
//!
//! let expected = [0x5a_u8; 32];
//! let received = [0x5a_u8; 32];
//!
//! // A `Choice` is a mask, not a `bool`: conditions combine without a jump …
//! let good: Choice = expected.ct_eq(&received) & 3_u32.ct_lt(&4);
//! // … and pick values without one.
//! let limit = good.select(4096_u32, 0);
//! let mut key = [0_u8; 32];
//! key.ct_assign(&[7; 32], good);
//!
//! // Only here does the secret become public, and the word says so.
//! assert!(good.declassify());
//! assert_eq!((limit, key[0]), (4096, 7));
//! ```
//!
//! # What keeps it branch-free
//! Every [`Choice`] passes through an empty assembly statement on a register when it is made. It costs no instruction, but the compiler
//! no longer knows that the mask is all zeros or all ones, so it can never turn the arithmetic that follows back into a jump. Targets
//! without stable inline assembly take the slower [`core::hint::black_box`].
//!
//! # What may leak
//! Lengths of slices, and whatever is passed to a function named `declassify`. Nothing else; each function says so where it takes a
//! length.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
// The CPU switch and the Valgrind marks exist only in the test configuration.
#[cfg(any(test, deadpan_test))]
extern crate std;

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
#[allow(unsafe_code)]
mod wipe;

pub use assign::CtAssign;
pub use choice::{Choice, declassify};
pub use equal::{CtEq, CtZero};
pub use lookup::lookup;
pub use option::CtOption;
pub use order::{CtOrd, CtSign};
pub use select::CtSelect;
pub use wipe::{Wipe, Wiped};
