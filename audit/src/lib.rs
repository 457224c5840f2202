//! Functions for `cargo xtask asm`, which disassembles these functions and follows every secret through registers,
//! flags and the stack.
//!
//! The name of a function states the result that the audit expects. The code of `ok_…` functions must not contain
//! jumps, addresses or divisions that depend on a secret. The audit must report every `bad_…` function, as a test that
//! the audit works. The audit must report every `bad3_…` function at the highest optimization level, because the
//! compiler generates leaking code only at this level. After `__`, the function name has one letter for each argument
//! register: `s` for secret, `p` for public. Memory behind pointers is secret.
//!
//! The functions are compiled in the test configuration (`--cfg deadpan_test`), where the crates export their back
//! ends.
#![cfg(deadpan_test)]
#![allow(missing_docs, non_snake_case, unsafe_code)]

mod bad;
mod base64;
mod ct;
mod pad;
