//! The commands of `deadpan`. The source code of each command is a separate file or folder.

pub mod agent;
pub mod cluster;
pub mod completions;
pub mod diff;
#[cfg(unix)]
pub mod edit;
pub mod folder;
pub mod inspect;
pub mod keygen;
pub mod keys;
pub mod lab;
pub mod list;
pub mod man;
pub mod many;
#[cfg(all(feature = "mount", target_os = "linux"))]
pub mod mount;
pub mod open;
pub mod pack;
pub mod page;
pub mod picture;
pub mod plan;
pub mod process;
pub mod random;
pub mod repair;
pub mod rewrap;
pub mod seal;
pub mod share;
pub mod sign;
pub mod synonym;
pub mod unpack;
pub mod verify;
