//! The tests of the crate through its public interface, as one program. The tests that measure the whole process are in
//! `tests/alone`.

#![cfg(unix)]

mod archive;
mod attributes;
mod compare;
mod damaged;
mod file_reader;
mod index;
mod packing;
mod reference;
mod round_trip;
mod rules;
mod select;
mod tree;
mod unpack_hostile;
mod unpack_merge;
mod unpack_only;
mod unpack_pack;
mod unpack_tar;
