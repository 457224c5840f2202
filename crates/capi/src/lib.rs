//! The C ABI of Deadpan. `include/deadpan.h` is the documentation of the ABI. Callers may rely on every statement in
//! this file.
//!
//! Every function returns a code, catches panics, and takes its results by pointer. Handles are numbers in a table and
//! never addresses. A handle that was freed, or that is of another kind, therefore causes an error, and never an access
//! to freed memory.
#![deny(unsafe_code)]

#[allow(unsafe_code, unsafe_op_in_unsafe_fn)]
mod ffi;
mod handles;
mod recipe;
mod watch;
