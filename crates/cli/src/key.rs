//! Keys, passphrases and their owners. The keys and passphrases with which commands open, seal and sign files.

pub mod agent;
pub mod exposed;
pub mod home;
pub mod identity;
pub mod max_cost;
pub mod mode;
pub mod passphrase;
pub mod plugin;
pub mod program;
pub mod prompt;
pub mod protected;
pub mod recipient;
pub mod seed;
pub mod shares;
pub mod signed;
pub mod signers;
pub mod strength;
pub mod words;
