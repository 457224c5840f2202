//! The formats of sealed files: Deadpan's own format and age's format, and code that both formats need.

pub mod age;
pub(crate) mod deadpan;
pub(crate) mod fill;
pub(crate) mod identity;
pub(crate) mod payload;
pub mod plugin;
pub(crate) mod positions;
pub(crate) mod segment;

/// A format of sealed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Deadpan's own format, which stores the name, time and mode of a file, and can hide its length.
    #[default]
    Deadpan,
    /// age v1, which many programs read. It keeps the data alone.
    Age,
}
