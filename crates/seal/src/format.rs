//! The formats of sealed files.

/// A format of sealed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Deadpan's own, which keeps the name, time and mode of a file, and can hide its length.
    #[default]
    Deadpan,
    /// age v1, which many programs read. It keeps the data alone.
    Age,
}
