#![doc = include_str!("../README.md")]

mod api;
mod error;
mod format;
pub mod key;
mod primitive;
#[cfg(test)]
mod tests;

pub use deadpan_compress::Level;

pub use api::engine::units::{Sink, Source, Taken};
pub use api::keyring;
pub use api::one_call::{open, open_stream, seal, seal_stream};
pub use api::opening::{Header, Opened, Opener, RangeReader, Trailer};
pub use api::sealing::parts::{Beginning, Parts};
pub use api::sealing::{Sealer, Sealing};
pub use api::sidecar::{Sidecar, Standing};
pub use api::summary::Summary;
pub use error::{Error, Fault, InvalidKey, LooksLike};
pub use format::Format;
pub use format::deadpan::metadata::{Kind, Metadata};
pub use format::deadpan::recipient::{IntoRecipients, Recipient, Stanza};
pub use format::deadpan::session::Session;
pub use format::deadpan::threshold::{Share, ShareFault, Threshold};
pub use format::deadpan::trailer::{Audience, Signatures};
pub use format::identity::Identity;
pub use format::positions::{Cursor, ReadAt, WriteAt};
pub use key::max_cost::MaxCost;
pub use key::passphrase::Passphrase;
pub use primitive::argon2::Cost;
pub use primitive::kem::{Kem, KeyHolder, Material, Mode, PrivateKey, PublicKey};
pub use primitive::secret::Secret;
pub use primitive::work::Work;

pub use format::deadpan::{floe, threshold};
pub use format::{age, plugin};
#[doc(inline)]
pub use key::sign;
pub use primitive::{hpke, random};
