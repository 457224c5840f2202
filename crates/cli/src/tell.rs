//! What the user reads: failures and advice, results, progress, and how names and numbers are shown.

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
