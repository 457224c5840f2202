//! Tests that unpacking takes a limited amount of memory for any archive.
#![allow(clippy::print_stderr)] // Tests that are skipped say so.

use std::io::Read;

use crate::alone;
use crate::archive::{folder, header, pax};
use deadpan_pack::{Error, Flaw, Folder, Selection, Unpacker, Unpacking, Work, unpack};

/// The limit for a pack that is read to the end, including the buffers of two threads.
const MOST: u64 = 128 << 20;

/// A reader must refuse a pack without index blocks before it has read this many entries.
const MOST_ENTRIES: u64 = 1_000_000;

/// The most memory that this process has used so far, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// An endless pack without index blocks.
struct Endless {
    kind: u8,
    number: u64,
    ready: Vec<u8>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.number > MOST_ENTRIES {
            return Err(std::io::Error::other("the pack is not refused"));
        }
        while self.ready.len() < buffer.len() {
            let name = format!("root/{:08}{}", self.number, if self.kind == b'5' { "/" } else { "" });
            self.ready.extend(header(name.as_bytes(), self.kind, 0, b""));
            self.number += 1;
        }
        buffer.copy_from_slice(&self.ready[..buffer.len()]);
        self.ready.drain(..buffer.len());
        Ok(buffer.len())
    }
}

/// In an earlier version, unpacking kept all paths of a pack without index blocks in memory.
#[test]
fn a_pack_without_index_blocks_is_refused() {
    let _alone = alone();
    let Some(before) = peak() else {
        eprintln!("skipped: the system does not report the peak memory of a process");
        return;
    };
    for kind in [b'0', b'5'] {
        let target = tempfile::tempdir().unwrap();
        let target = Folder::open(target.path()).unwrap();
        let mut unpacker = Unpacker::new(target, Unpacking { fresh: true, ..Unpacking::default() });
        // No entry is selected, so the test measures only the memory of the reader.
        unpacker.only(Selection::new([b"none".to_vec()]).filter());
        let ready = [pax(b'g', &[("comment", b"deadpan pack 1")]), folder("root/")].concat();
        let mut endless = Endless { kind, number: 0, ready };
        let error = unpack(&mut endless, &mut unpacker, &Work { threads: 2, ..Work::default() }).unwrap_err();
        assert!(matches!(error, Error::Archive(Flaw::Index(_))), "{error}");
        assert!(endless.number > 100_000, "a pack made by deadpan has its first index block here");
        let taken = peak().unwrap() - before;
        assert!(taken < MOST, "{taken} bytes for {} entries", endless.number);
        eprintln!("{} entries, {} MiB", endless.number, taken >> 20);
    }
}
