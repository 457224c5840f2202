//! The endings of sealed files' names.

/// The endings of sealed files' names: in Deadpan's own format, and in age's.
pub const ENDINGS: [&str; 2] = [".dpn", ".age"];
