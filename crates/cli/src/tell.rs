//! The texts that the user reads: failures and advice, results, progress, and the forms of names and numbers.

pub mod advice;
pub mod clock;
pub mod console;
pub mod failure;
pub mod imp;
pub mod names;
pub mod patience;
pub mod progress;
pub mod shown;
pub mod signals;
pub mod size;
pub mod streams;
pub mod suggest;
pub mod text;
