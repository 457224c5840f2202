//! Functions for `cargo xtask asm`, which disassembles them and follows every secret through registers, flags and
//! stack.
//!
//! A function's name says what the audit expects. `ok_…` must be free of jumps, addresses and divisions that depend on
//! a secret. `bad_…` must be reported, which shows that the audit works. `bad3_…` must be reported at the highest
//! optimization level, because only there the compiler makes code that leaks. After `__`, the name has one letter for
//! each argument register: `s` for secret, `p` for public. Memory behind pointers is secret.
//!
//! The functions are compiled in the test configuration (`--cfg deadpan_test`), where the crates export their back
//! ends.
#![cfg(deadpan_test)]
#![allow(missing_docs, non_snake_case, unsafe_code)]

mod bad;
mod base64;
mod ct;
mod pad;
