//! Advice on errors of the libraries, chosen by the variant of the error. The libraries do not depend on the command
//! line, so their messages only describe the error.

pub mod key;
pub mod pack;
pub mod seal;
pub mod sign;
