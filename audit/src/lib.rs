//! Functions for `cargo xtask asm`, which disassembles them and follows every secret through registers, flags and stack.
//!
//! The name is the contract: `ok_…` must be free of jumps, addresses and divisions that depend on a secret; `bad_…` must be caught, or
//! the audit has lost its eyes; `bad3_…` must be caught at the highest optimisation level, where the compiler first makes it bad. Behind
//! `__` stands one letter for each argument register: `s` secret, `p` public. What a pointer points to is secret.
//!
//! They are compiled in the test configuration (`--cfg deadpan_test`), where the crates show their back ends.
#![cfg(deadpan_test)]
#![allow(missing_docs, non_snake_case, unsafe_code)]

mod bad;
mod base64;
mod ct;
mod pad;
