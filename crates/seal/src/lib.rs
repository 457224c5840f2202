#![doc = include_str!("../README.md")]

mod bytes;
mod engine;
mod entropy;
mod error;
#[cfg(test)]
mod example;
mod file_key;
mod fill;
pub mod floe;
#[cfg(test)]
mod foreign;
mod header;
pub mod hpke;
#[allow(unsafe_code)]
mod imp;
mod kem;
pub mod key;
mod metadata;
mod opening;
mod padding;
mod passphrase;
pub mod random;
mod recipient;
mod sealing;
mod secret;
mod session;
mod work;

pub use bytes::{open, seal};
pub use engine::units::{Sink, Source, Taken};
pub use error::{Error, Fault};
pub use kem::{Kem, Material, Mode, PrivateKey, PublicKey};
pub use metadata::{Kind, Metadata};
pub use opening::{Header, Identity, Opened, Opener, RangeReader};
pub use passphrase::{Cost, Passphrase};
pub use recipient::{Recipient, Stanza};
pub use sealing::{Sealer, Sealing};
pub use secret::Secret;
pub use session::Session;
pub use work::{Summary, Work};
