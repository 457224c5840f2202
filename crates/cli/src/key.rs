//! Keys, passphrases and their owners. Commands open, seal and sign with these keys and passphrases.

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
