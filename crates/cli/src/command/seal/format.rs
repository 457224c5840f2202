//! `--format`: the format of the sealed file.

use std::path::Path;

use crate::place::ending::ENDINGS;
use deadpan_seal::Format;

/// The value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatArg {
    /// Deadpan's own format
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
    /// Returns the format that belongs to the extension of a sealed file's name.
    pub fn of_name(path: &Path) -> Self {
        let [_, age] = ENDINGS;
        if path.as_os_str().as_encoded_bytes().ends_with(age.as_bytes()) { Self::Age } else { Self::Deadpan }
    }

    pub fn ending(self) -> &'static str {
        let [own, age] = ENDINGS;
        match self {
            Self::Deadpan => own,
            Self::Age => age,
        }
    }
}
