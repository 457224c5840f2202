//! Temporary files, for tests.

use std::fs::File;
use std::io::{Read, Seek, Write};

pub(crate) fn file_with(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("written");
    file
}

pub(crate) fn contents(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().expect("a file");
    file.read_to_end(&mut bytes).expect("read");
    bytes
}
