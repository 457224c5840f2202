//! The options that choose what opens a file.

use std::path::PathBuf;

use super::Identities;
use crate::key::home::Home;
use crate::key::max_cost::MaxCostArgs;
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::tell::failure::Failure;

/// The keys, shares and passphrases to open files with.
#[derive(Debug, clap::Args)]
pub struct IdentityArgs {
    /// Open with this private key: a file, or the name of one of your own keys. May be repeated [default: all your own
    /// keys]
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Open with this share that another member gave you (deadpan share open). May be repeated
    #[arg(long = "share", value_name = "FILE")]
    shares: Vec<PathBuf>,
    #[command(flatten)]
    pub source: PassphraseArgs,
    #[command(flatten)]
    max_cost: MaxCostArgs,
}

impl IdentityArgs {
    /// Reads the keys that the user chose, or else all of the user's own keys.
    pub fn identities(&self) -> Result<Identities, Failure> {
        let identities = Identities::collect(&self.identities, &Home::find()?, Passphrases::new(&self.source))?;
        identities.within(self.max_cost.get()).add_shares(&self.shares)
    }
}
