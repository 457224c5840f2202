//! Access to the standard streams and to descriptors by number, and a setting of the allocator. All `unsafe` of this
//! crate is here.
#![allow(unsafe_code)]

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_vendor = "apple")]
pub use self::unix::is_ignored;
#[cfg(unix)]
pub use self::unix::{descriptor, give_back_memory, keep_descriptors, was_closed};
#[cfg(windows)]
pub use self::windows::{
    columns, descriptor, give_back_memory, on_control, read_line, set_mode, show_colors, was_closed,
};
