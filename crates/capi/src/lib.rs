//! The C ABI of Deadpan. `include/deadpan.h` is its documentation, and what callers may rely on.
//!
//! Every function returns a code, catches panics, and takes its results by pointer. Handles are numbers in a table and
//! never addresses: a handle that was freed, or is of another kind, is an error and no access to freed memory.
#![deny(unsafe_code)]

#[allow(unsafe_code, unsafe_op_in_unsafe_fn)]
mod ffi;
mod handles;
mod recipe;
mod watch;
