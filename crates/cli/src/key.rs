//! Keys, passphrases and the people they belong to: what a command opens, seals and signs with.

pub mod exposed;
pub mod home;
pub mod identity;
pub mod max_cost;
pub mod mode;
pub mod passphrase;
pub mod plugin;
pub mod prompt;
pub mod protected;
pub mod recipient;
pub mod shares;
pub mod signed;
pub mod signers;
