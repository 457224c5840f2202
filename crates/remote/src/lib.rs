#![doc = include_str!("../README.md")]

mod address;
mod amend;
mod error;
mod object;
mod profile;
mod splice;
mod store;
mod upload;
mod wire;

pub use address::{Address, Scheme, WrongAddress};
pub use error::{Error, Problem};
pub use object::{Object, ObjectReader};
pub use splice::Splice;
pub use store::Store;
pub use upload::{Canceller, Upload};
