//! The functions that C calls. All code of the library that handles pointers is in this module.

#[macro_use]
mod border;
mod bytes;
mod errors;
mod files;
mod folders;
mod keys;
mod kinds;
mod reader;
mod sealing;
mod streams;
mod text;
mod work;
mod writer;
