//! Unpacking any archive, whole or in part, never panics and makes nothing outside the target folder, and the result
//! does not depend on the sizes of the input's pieces.
//!
//! Input: a byte that determines how the archive is cut, whether the checksums of its headers are corrected first, and
//! which part is unpacked; then the archive.
#![no_main]

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::Input;
use deadpan_pack::{Error, Folder, Outcome, Selection, Unpacker, Unpacking};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let how = input.byte();
    let mut archive = input.0.to_vec();
    if how & 1 == 0 {
        repair(&mut archive);
    }
    let keep_going = how & 2 == 0;
    let step = [archive.len().max(1), 511, 512, 700][usize::from(how >> 2 & 3)];
    let take = [Take::Whole, Take::Whole, Take::Only, Take::Single][usize::from(how >> 4 & 3)];
    let wanted = [&b"**"[..], b"**/f*", b"a", b"root/b"][usize::from(how >> 6)];
    let unpacked = |step| unpacked(&archive, step, keep_going, take, wanted);
    assert_eq!(unpacked(archive.len().max(1)), unpacked(step), "the cut makes a difference");
});

/// The part of the archive to unpack.
#[derive(Clone, Copy)]
enum Take {
    Whole,
    Only,
    Single,
}

/// The result of unpacking.
#[derive(Debug, PartialEq)]
struct Came {
    ended_well: bool,
    failed: u64,
    /// The names in the target folder.
    names: Vec<String>,
    single: Vec<u8>,
}

fn unpacked(archive: &[u8], step: usize, keep_going: bool, take: Take, wanted: &[u8]) -> Came {
    let place = tempfile::tempdir().expect("a folder");
    let target = place.path().join("target");
    fs::create_dir(&target).expect("a folder");
    let stream = Stream::default();
    let filter = || Selection::new([wanted.to_vec()]).filter();
    let mut unpacker = match take {
        Take::Single => Unpacker::single(filter(), stream.clone()),
        Take::Whole | Take::Only => {
            let folder = Folder::open(&target).expect("it is there");
            Unpacker::new(folder, Unpacking { fresh: true, keep_going, ..Unpacking::default() })
        }
    };
    if matches!(take, Take::Only) {
        unpacker.only(filter());
    }
    let outcome = archive.chunks(step).try_for_each(|piece| unpacker.put(piece).map(|rest| rest.complete(piece)));
    let outcome: Result<Outcome, Error> = outcome.and_then(|()| unpacker.finish());
    drop(unpacker);
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1, "something was made beside the target");
    let failed = outcome.as_ref().map_or(0, |outcome| outcome.failed);
    let (mut names, mut single) = (Vec::new(), Vec::new());
    // After an error, the result depends on the sizes of the pieces, because they determine how much was unpacked
    // before the error.
    if outcome.is_ok() {
        list(&target, &mut names);
        single.clone_from(&stream.0.lock().expect("nobody panicked"));
    }
    if matches!(take, Take::Single) {
        assert!(names.is_empty(), "something was made for what goes to a stream");
    }
    names.sort();
    Came { ended_well: outcome.is_ok(), failed, names, single }
}

/// The stream fails when it contains more bytes than this number.
const MOST_BYTES: usize = 1 << 20;

/// An output that tests can read.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().expect("nobody panicked");
        // A hole in a file is unpacked as zeros and may have any length, so the zeros could fill the whole memory.
        if written.len() > MOST_BYTES { Err(io::ErrorKind::StorageFull.into()) } else { written.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn list(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("a kind");
        names.push(format!("{:?} {kind:?}", entry.path().file_name()));
        if kind.is_dir() {
            list(&entry.path(), names);
        }
    }
}

fn repair(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512).filter(|block| &block[257..262] == b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}
