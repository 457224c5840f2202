//! `deadpan picture`: commands for pictures that carry data.

mod capacity;
mod compare;
mod contested;
mod copy;
mod cover;
mod drafts;
mod found;
mod hide;
mod reveal;
mod shape;

use clap::Subcommand;

use crate::command::plan::Plan;
use crate::tell::failure::Failure;

/// Seals and hides data in pictures, and reveals them
#[derive(Debug, clap::Args)]
pub struct PictureArgs {
    #[command(subcommand)]
    command: PictureCommand,
}

#[derive(Debug, Subcommand)]
enum PictureCommand {
    Hide(hide::HideArgs),
    Reveal(reveal::RevealArgs),
    Capacity(capacity::CapacityArgs),
    Compare(compare::CompareArgs),
}

impl PictureArgs {
    pub fn is_to_stdout(&self) -> bool {
        if let PictureCommand::Reveal(args) = &self.command { args.is_to_stdout() } else { false }
    }

    pub fn plan(self) -> Result<Box<dyn Plan>, Failure> {
        Ok(match self.command {
            PictureCommand::Hide(args) => Box::new(args.plan()?),
            PictureCommand::Reveal(args) => Box::new(args.plan()?),
            PictureCommand::Capacity(args) => Box::new(args),
            PictureCommand::Compare(args) => Box::new(args),
        })
    }
}
