//! The extensions of sealed files.

/// The extensions of sealed files: in Deadpan's own format, and in age's format.
pub const ENDINGS: [&str; 2] = [".dpn", ".age"];

/// The extension of a page that holds a sealed file. Most files with this extension are other pages, so only their
/// contents tell which of them are sealed.
pub const PAGE: &str = ".html";
