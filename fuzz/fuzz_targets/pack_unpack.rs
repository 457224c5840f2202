//! An archive unpacked, whatever it says: nothing panics, nothing is made outside of the target, and where the input is cut makes no difference.
//!
//! Input: how it is cut and whether headers get the right sums first, without which hardly any would be read; and an archive.
#![no_main]

use deadpan_fuzz::Input;
use deadpan_pack::{Outcome, Unpacker, Unpacking};
use libfuzzer_sys::fuzz_target;
use std::fs::{self, File};
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let how = input.byte();
    let mut archive = input.0.to_vec();
    if how & 1 == 0 {
        repair(&mut archive);
    }
    let keep_going = how & 2 == 0;
    let step = [archive.len().max(1), 511, 512, 700][usize::from(how >> 2 & 3)];
    let whole = unpacked(&archive, archive.len().max(1), keep_going);
    let in_steps = unpacked(&archive, step, keep_going);
    assert_eq!(whole, in_steps, "the cut makes a difference");
});

/// What came of it: whether it ended well, how many entries failed, which names are there.
fn unpacked(archive: &[u8], step: usize, keep_going: bool) -> (bool, u64, Vec<String>) {
    let place = tempfile::tempdir().expect("a folder");
    let target = place.path().join("target");
    fs::create_dir(&target).expect("a folder");
    let handle = File::open(&target).expect("it is there");
    let mut unpacker = Unpacker::new(handle.into(), Unpacking { fresh: true, keep_going, ..Unpacking::default() });
    let outcome = archive.chunks(step).try_for_each(|piece| unpacker.put(piece).map(|rest| rest.complete(piece)));
    let outcome = outcome.and_then(|()| unpacker.finish());
    drop(unpacker);
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1, "something was made beside the target");
    let failed = outcome.as_ref().map_or(0, |outcome: &Outcome| outcome.failed);
    let mut names = Vec::new();
    // After an error it depends on the cut how much came before it.
    if outcome.is_ok() {
        list(&target, &mut names);
    }
    names.sort();
    (outcome.is_ok(), failed, names)
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

/// Gives each header its sum.
fn repair(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512).filter(|block| &block[257..262] == b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}
