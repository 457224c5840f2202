//! `--format`: the format of the sealed file.

use crate::seal::ENDINGS;
use deadpan_seal::Format;

/// The value of `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatArg {
    /// Deadpan's own format
    #[default]
    Deadpan,
    /// age's format
    Age,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Deadpan => Self::Deadpan,
            FormatArg::Age => Self::Age,
        }
    }
}

impl FormatArg {
    /// Returns the ending of a sealed file's name.
    pub fn ending(self) -> &'static str {
        let [own, age] = ENDINGS;
        match self {
            Self::Deadpan => own,
            Self::Age => age,
        }
    }
}
