//! `deadpan repair`: commands for recovery data, which repair damaged files.

mod check;
mod fix;
mod make;
pub mod sidecar;

use clap::Subcommand;

use crate::command::plan::Plan;
use crate::tell::failure::Failure;

/// Makes recovery data for files, finds damage, and repairs it
#[derive(Debug, clap::Args)]
pub struct RepairArgs {
    #[command(subcommand)]
    command: RepairCommand,
}

#[derive(Debug, Subcommand)]
enum RepairCommand {
    Make(make::RepairMakeArgs),
    Check(check::RepairCheckArgs),
    Fix(fix::RepairFixArgs),
}

impl RepairArgs {
    pub fn plan(self) -> Result<Box<dyn Plan>, Failure> {
        Ok(match self.command {
            RepairCommand::Make(args) => Box::new(args.plan()?),
            RepairCommand::Check(args) => Box::new(args.plan()?),
            RepairCommand::Fix(args) => Box::new(args.plan()?),
        })
    }
}
