//! Expanding any bytes never panics. Reading in order, writing in pieces and reading with the seek table give the same
//! data, or all fail. Compressed data come back.
//!
//! Input: stored bytes that are used unchanged. Or the byte `S`, a byte for the length of pieces, sixteen bytes that
//! choose changes, and data, which the target compresses, changes and expands.
#![no_main]

use std::io::{Cursor, Read, Write};

use libfuzzer_sys::fuzz_target;

use deadpan_compress::{Compressor, ExpandWriter, Expander, Level, SeekExpander};
use deadpan_fuzz::{Input, change};

fuzz_target!(|data: &[u8]| match data {
    [b'S', piece, rest @ ..] => made(usize::from(*piece) + 1, Input(rest)),
    other => drop(read(other, 1000)),
});

fn read(stored: &[u8], piece: usize) -> Option<Vec<u8>> {
    let mut streamed = Vec::new();
    let read = Expander::new(stored, 1).read_to_end(&mut streamed).is_ok();
    let mut writer = ExpandWriter::new(Vec::new(), 1);
    let written = stored.chunks(piece).try_for_each(|piece| writer.write_all(piece)).and_then(|()| writer.finish());
    let mut sought = Vec::new();
    let seek = SeekExpander::new(Cursor::new(stored)).and_then(|mut reader| reader.read_to_end(&mut sought)).is_ok();
    assert!(read == seek && read == written.is_ok(), "the readers disagree");
    if !read {
        return None;
    }
    assert!(streamed == sought, "the readers give other data");
    assert!(written.is_ok_and(|(written, table)| written == streamed && table.length() == written.len() as u64));
    Some(streamed)
}

fn made(piece: usize, mut input: Input<'_>) {
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    let mut stored = Vec::new();
    Compressor::new(input.0, Level::default(), 1).read_to_end(&mut stored).expect("memory can be read");
    assert!(read(&stored, piece).as_deref() == Some(input.0));
    change(&mut changes, &mut stored, 0, 4);
    read(&stored, piece);
}
