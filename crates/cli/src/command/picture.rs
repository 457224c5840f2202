//! `deadpan picture`: pictures that carry data.

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
use crate::tell::failure::{Exit, Failure};
use deadpan_picture::Error;

/// Hides data in pictures, sealed, and reveals them again
#[derive(Debug, clap::Args)]
pub struct PictureArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hide(hide::HideArgs),
    Reveal(reveal::RevealArgs),
    Capacity(capacity::CapacityArgs),
    Compare(compare::CompareArgs),
}

impl PictureArgs {
    /// Whether results in JSON leave standard output to the data.
    pub fn is_to_stdout(&self) -> bool {
        if let Command::Reveal(args) = &self.command { args.is_to_stdout() } else { false }
    }

    pub fn plan(self) -> Result<Box<dyn Plan>, Failure> {
        Ok(match self.command {
            Command::Hide(args) => Box::new(args.plan()?),
            Command::Reveal(args) => Box::new(args.plan()?),
            Command::Capacity(args) => Box::new(args),
            Command::Compare(args) => Box::new(args),
        })
    }
}

/// Returns the failure for an error of the pictures' library about `name`.
fn failed(name: &str, error: Error) -> Failure {
    let what = || if name.is_empty() { "the pictures".to_owned() } else { name.to_owned() };
    let (exit, hint) = match &error {
        Error::Read(inner) => return Failure::io("read", &what(), inner),
        Error::Write(inner) => return Failure::io("write", &what(), inner),
        Error::NotAPicture => (Exit::Data, "name a PNG, WebP or JPEG picture"),
        Error::Cut(_) | Error::Damaged { .. } => (Exit::Data, "get another copy of the picture"),
        Error::OtherFormat(_) | Error::Unsupported { .. } | Error::Animated => {
            (Exit::Data, "write it again as an ordinary PNG with another program")
        }
        // An ordinary PNG keeps the transparency.
        Error::Transparent => (Exit::Data, "write it again without transparency, with another program"),
        Error::Disproportionate { .. } => {
            (Exit::Data, "if you trust the picture, write it again as a PNG without compression")
        }
        Error::TooManyPixels { .. } | Error::TooMuchMemory { .. } => (Exit::Data, "make the picture smaller"),
        Error::CarrierSize { .. } => (Exit::Usage, "width and height are 1 to 16383, and 46 pixels are the fewest"),
        Error::TooManyPictures => (Exit::Usage, "choose larger pictures with --size, or fewer spare ones"),
        Error::TooManySpares { .. } => {
            (Exit::Usage, "choose fewer with --spare: 16 for each picture that carries data, and 64 more")
        }
        Error::ImpossibleLabel => {
            (Exit::Data, "another program made the picture, or a newer deadpan; leave the picture out")
        }
        Error::Sizes { .. } => (Exit::Usage, "name the cover of this picture, then the picture"),
        _ => (Exit::Data, "get another copy of the picture"),
    };
    Failure::new(exit, error.to_string(), hint).about(name)
}
