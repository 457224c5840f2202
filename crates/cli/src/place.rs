//! Sources and targets of data: files, folders, pipes, objects in stores.

pub mod archive;
pub mod armor;
pub mod claims;
pub mod data;
pub mod ending;
pub mod held;
pub mod input;
pub mod journal;
pub mod level;
pub mod locked;
pub mod output;
pub mod page;
pub mod partial;
pub mod recover;
pub mod remote;
pub mod report;
pub mod sealed;
pub mod window;
