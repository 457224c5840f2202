//! The tests of the command line, as one program. Each test starts the real program in its own folder.
#![allow(clippy::disallowed_methods)] // The names here are those of the tests.

mod age_tools;
mod agent;
mod agents;
#[path = "../../../pack/tests/it/archive/mod.rs"]
mod archive;
mod archives;
mod azure;
mod backup;
mod completions;
mod costs;
mod covers;
mod damage;
mod edit;
mod faults;
mod forged_pictures;
mod frozen;
mod generations;
mod help;
mod hostile;
mod killed;
mod list;
mod many;
#[cfg(target_os = "linux")]
mod mount;
mod paper;
#[path = "../../../picture/examples/covers/photograph/mod.rs"]
mod photograph;
mod races;
mod readme;
mod real_plugin;
#[path = "../../../pack/tests/it/reference/mod.rs"]
mod reference;
mod remote;
mod repair;
mod rewrap;
mod sandbox;
mod scripts;
mod store;
mod system;
mod terminal;
mod threads;
mod trees;
mod windows;
