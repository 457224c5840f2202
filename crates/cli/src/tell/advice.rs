//! Advice on errors of the libraries, chosen by the variant of the error. The libraries are independent of the command
//! line, so their messages say only what is wrong.

pub mod key;
pub mod pack;
pub mod seal;
pub mod sign;
