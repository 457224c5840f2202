//! Checking and repairing with any sidecar never panics, and what a repair makes is whole. A changed file and its
//! changed sidecar give the file as it was, or nothing.
//!
//! Input: two bytes for the length of a file, the file, and a sidecar, which are used unchanged, except that the hash
//! in the sidecar's first header is corrected. Or the byte `S`, a byte for the percentage, sixteen bytes that choose
//! changes to the file, sixteen bytes that choose changes to the sidecar, and a file.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::{Input, change};
use deadpan_repair::{Memory, Percent, Sidecar, Work, make};

const WORK: Work<'_> = Work { threads: 1, progress: None, stop: None };

fuzz_target!(|data: &[u8]| match data {
    [b'S', percent, rest @ ..] => made(percent % 100 + 1, Input(rest)),
    [high, low, rest @ ..] => {
        let (file, sidecar) = rest.split_at(rest.len().min(usize::from(*high) << 8 | usize::from(*low)));
        let mut sidecar = sidecar.to_vec();
        if sidecar.len() >= 96 {
            let hash = blake3::hash(&sidecar[..64]);
            sidecar[64..96].copy_from_slice(hash.as_bytes());
        }
        fix(file, &sidecar);
    }
    _ => {}
});

/// Returns what a repair makes.
fn fix(file: &[u8], sidecar: &[u8]) -> Option<Vec<u8>> {
    let sidecar = Sidecar::open(sidecar, sidecar.len() as u64).ok()?;
    let report = sidecar.check(file, file.len() as u64, &WORK).ok()?;
    let missing: u64 = report.missing().map(|(begin, end)| end - begin).sum();
    assert!(missing == report.missing_bytes() && missing + report.moved_bytes() <= report.original_length());
    let output = Memory::default();
    let fixed = sidecar.fix(file, &report, &output, &WORK);
    assert!(report.fixable().is_ok() || fixed.is_err());
    fixed.ok()?;
    let output = output.into_bytes();
    let again = sidecar.check(&output[..], output.len() as u64, &WORK).expect("memory can be read");
    assert!(again.is_whole(), "a repaired file is not whole");
    Some(output)
}

fn made(percent: u8, mut input: Input<'_>) {
    let mut changes = [(); 2].map(|()| {
        let changes = Input(input.0.get(..16).unwrap_or_default());
        input.0 = input.0.get(16..).unwrap_or_default();
        changes
    });
    let file = input.0;
    let sidecar = Memory::default();
    let percent = Percent::new(percent).expect("from 1 to 100");
    make(file, file.len() as u64, &sidecar, percent, &WORK).expect("memory can be read and written");
    let mut sidecar = sidecar.into_bytes();
    let open = Sidecar::open(&sidecar[..], sidecar.len() as u64).expect("just made");
    let report = open.check(file, file.len() as u64, &WORK).expect("memory can be read");
    assert!(report.is_whole() && report.is_sidecar_whole());
    let mut damaged = file.to_vec();
    change(&mut changes[0], &mut damaged, 0, 512);
    change(&mut changes[1], &mut sidecar, 0, 512);
    assert!(fix(&damaged, &sidecar).is_none_or(|fixed| fixed == file), "a repair made another file");
}
