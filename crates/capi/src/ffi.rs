//! The border: functions that C calls. Everything about pointers is here.

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
