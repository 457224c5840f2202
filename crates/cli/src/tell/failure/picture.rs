//! Failures of pictures, with advice on each failure.

use super::{Exit, Failure};
use deadpan_picture::Error;

impl Failure {
    pub fn picture(name: &str, error: Error) -> Self {
        let what = || if name.is_empty() { "the pictures".to_owned() } else { name.to_owned() };
        let (exit, hint) = match &error {
            Error::Read(inner) => return Self::io("read", &what(), inner),
            Error::Write(inner) => return Self::io("write", &what(), inner),
            Error::NotAPicture => (Exit::Data, "name a PNG, WebP or JPEG picture"),
            Error::Cut(_) | Error::Damaged { .. } => (Exit::Data, "get another copy of the picture"),
            Error::OtherFormat(_) | Error::Unsupported { .. } | Error::Animated => {
                (Exit::Data, "write it again as an ordinary PNG with another program")
            }
            // An ordinary PNG keeps the transparency, so the advice does not mention an ordinary PNG.
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
        Self::new(exit, error.to_string(), hint).about(name)
    }
}
