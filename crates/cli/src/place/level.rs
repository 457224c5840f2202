//! `--compress`: whether and how hard to compress.

use deadpan_compress::Level;

/// The level of compression.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LevelArgs {
    /// Compress the data with Zstandard, at a level from 1 to 19 [default: 3]. The length of a sealed file then tells
    /// something about the data
    #[arg(
        short = 'z',
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3"
    )]
    compress: Option<Level>,
}

impl LevelArgs {
    /// Returns the level, or `None` if the data are not to be compressed.
    pub fn get(self) -> Option<Level> {
        self.compress
    }
}
