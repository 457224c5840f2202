//! The extensions of sealed files.

/// The extensions of sealed files: in Deadpan's own format, and in age's format.
pub const ENDINGS: [&str; 2] = [".dpn", ".age"];
