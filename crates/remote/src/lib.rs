#![doc = include_str!("../README.md")]

mod address;
mod amend;
mod body;
mod error;
mod fault;
#[cfg(test)]
mod hostile;
mod list;
mod object;
mod odd;
mod own;
mod patience;
mod pieces;
mod profile;
mod splice;
mod store;
mod trouble;
mod upload;
mod wire;
mod words;
mod xml;

pub use address::{Address, Scheme, WrongAddress};
pub use deadpan_pack::shown;
pub use error::{Error, Problem};
pub use list::{Entry, Listing};
pub use object::{Object, ObjectReader};
pub use own::with_own_connections;
pub use pieces::Pieces;
pub use splice::Splice;
pub use store::{Store, There};
pub use trouble::tell_of_trouble;
pub use upload::{Canceller, Upload};
pub use wire::limit;
pub use words::Words;
