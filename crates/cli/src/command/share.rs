//! `deadpan share`: commands for the shares of files that several keys open together.

mod inspect;
mod open;

use clap::Subcommand;

use crate::command::plan::Plan;
use crate::tell::failure::Failure;

/// Hands over shares, and looks at them: shares of files that several keys open together (seal --any)
#[derive(Debug, clap::Args)]
pub struct ShareArgs {
    #[command(subcommand)]
    command: ShareCommand,
}

#[derive(Debug, Subcommand)]
enum ShareCommand {
    Open(open::ShareOpenArgs),
    Inspect(inspect::ShareInspectArgs),
}

impl ShareArgs {
    pub fn is_to_stdout(&self) -> bool {
        if let ShareCommand::Open(args) = &self.command { args.is_to_stdout() } else { false }
    }

    pub fn plan(self) -> Result<Box<dyn Plan>, Failure> {
        Ok(match self.command {
            ShareCommand::Open(args) => Box::new(args.plan()?),
            ShareCommand::Inspect(args) => Box::new(args.plan()?),
        })
    }
}
