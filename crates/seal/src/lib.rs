#![doc = include_str!("../README.md")]

pub mod age;
mod argon2;
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
mod format;
mod header;
pub mod hpke;
#[allow(unsafe_code)]
mod imp;
mod kem;
pub mod key;
mod layout;
mod max_cost;
mod metadata;
mod opening;
mod padding;
mod passphrase;
mod payload;
pub mod plugin;
mod positions;
pub mod random;
mod recipient;
#[cfg(test)]
mod scratch;
mod sealing;
mod secret;
mod segment;
mod session;
mod sidecar;
pub mod sign;
pub mod threshold;
mod trailer;
mod work;

pub use bytes::{open, seal};
pub use engine::units::{Sink, Source, Taken};
pub use error::{Error, Fault, InvalidKey, LooksLike};
pub use format::Format;
pub use kem::{Kem, Material, Mode, PrivateKey, PublicKey};
pub use max_cost::MaxCost;
pub use metadata::{Kind, Metadata};
pub use opening::{Header, Identity, Opened, Opener, RangeReader, Trailer};
pub use passphrase::{Cost, Passphrase};
pub use positions::{Cursor, ReadAt, WriteAt};
pub use recipient::{IntoRecipients, Recipient, Stanza};
pub use sealing::parts::{Beginning, Parts};
pub use sealing::{Sealer, Sealing};
pub use secret::Secret;
pub use session::Session;
pub use sidecar::{Sidecar, Standing};
pub use threshold::{Share, ShareFault, Threshold};
pub use trailer::{Audience, Signatures};
pub use work::{Summary, Work};
