//! The file formats that are written.

/// A lossless file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// Portable Network Graphics.
    #[default]
    Png,
    /// WebP without loss.
    WebP,
}
