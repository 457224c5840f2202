//! Sidecars of other files, and sidecars that were made to do harm.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use deadpan_repair::ReadAt;

#[test]
fn other_bytes_are_no_sidecar() {
    for bytes in [&[][..], &[0; 10], &[0; 5000], b"\x89DPR\r\n\x1a\n", &noise(100_000, 1)] {
        assert!(matches!(check(bytes, b"file"), Err(Error::NotSidecar)));
    }
    let newer = [&b"\x89DPR\r\n\x1a\n\x02"[..], &[0; 600]].concat();
    assert!(matches!(check(&newer, b"file"), Err(Error::Newer(2))));
}

#[test]
fn the_sidecar_of_another_file_makes_nothing() {
    let (file, other) = (noise(1_000_000, 2), noise(1_000_000, 3));
    assert!(matches!(fix(&sidecar(&other, 10), &file), Err(Error::Foreign)));
    // All blocks are there with a sidecar of 100 %, which needs no file.
    assert_fixed(&sidecar(&other, 100), &file, &other);
}

/// Corrects the hash of a header that was changed.
fn signed(sidecar: &[u8], change: impl Fn(&mut [u8])) -> Vec<u8> {
    let length = sidecar.len();
    let mut sidecar = sidecar.to_vec();
    let at: Vec<usize> = sidecar.windows(4).enumerate().filter(|(_, it)| it == b"\x89DPR").map(|(at, _)| at).collect();
    for at in at.into_iter().filter(|at| at + 96 <= length) {
        change(&mut sidecar[at..]);
        let hash = blake3::hash(&sidecar[at..at + 64]);
        sidecar[at + 64..at + 96].copy_from_slice(hash.as_bytes());
    }
    sidecar
}

#[test]
fn a_wrong_hash_in_the_header_gives_no_file() {
    let file = noise(100_000, 4);
    let sidecar = signed(&sidecar(&file, 10), |header| header[40] ^= 1);
    assert!(!check(&sidecar, &file).unwrap().is_whole());
    assert!(matches!(fix(&sidecar, &file).map(drop), Err(Error::Contradiction)));
}

#[test]
fn a_header_cannot_ask_for_memory() {
    let file = noise(100_000, 5);
    let whole = sidecar(&file, 10);
    // 4 TiB, in blocks of 16 KiB: the sets of blocks would take 32 MiB.
    let huge = signed(&whole, |header| {
        header[12..16].copy_from_slice(&(1u32 << 14).to_be_bytes());
        header[16..24].copy_from_slice(&(1u64 << 42).to_be_bytes());
        header[24..28].copy_from_slice(&(1u32 << 19).to_be_bytes());
        header[28..32].copy_from_slice(&[2, 0, 2, 0]);
    });
    let error = check(&huge, &file).unwrap_err();
    assert!(matches!(error, Error::TooMuch { missing, .. } if missing == (1 << 42) - 100_000), "{error}");
    for (at, byte) in [(12, 0xff), (16, 0xff), (24, 0xff), (28, 0xff), (30, 0xff), (29, 0), (31, 0), (9, 1)] {
        let wrong = signed(&whole, |header| header[at] = byte);
        assert!(matches!(check(&wrong, &file), Err(Error::NotSidecar)), "byte {at}");
    }
}

/// A changed sidecar never gives a wrong file: the result is the original, or an error.
#[test]
fn changed_sidecars_never_give_a_wrong_file() {
    let file = noise(60_000, 6);
    let whole = sidecar(&file, 10);
    let mut damaged = file.clone();
    damaged[30_000..32_000].fill(0);
    let mut fixed = 0;
    for round in 0..1000u64 {
        let random: Vec<usize> =
            noise(64, round + 100).chunks(8).map(|it| usize::from_le_bytes(it.try_into().unwrap())).collect();
        let mut sidecar = whole.clone();
        for at in &random[..1 + random[7] % 6] {
            let length = 1 << (at >> 40 & 11);
            let begin = at % sidecar.len();
            let end = (begin + length).min(sidecar.len());
            match at >> 50 & 3 {
                0 => sidecar[begin..end].fill(0),
                1 => sidecar[begin..end].iter_mut().for_each(|byte| *byte ^= 1 << (at >> 55 & 7)),
                2 => drop(sidecar.drain(begin..end)),
                _ => drop(sidecar.splice(begin..begin, noise(length, round))),
            }
        }
        let sidecar = if round % 2 == 0 { sidecar } else { signed(&sidecar, |header| header[random[6] % 64] ^= 4) };
        match fix(&sidecar, &damaged) {
            Ok(result) => {
                assert!(result == file);
                fixed += 1;
            }
            Err(error) => assert!(!matches!(error, Error::Write(_)), "{error}"),
        }
    }
    assert!(fixed > 250, "{fixed}");
}

/// A disk with sectors that cannot be read.
struct Disk<'a> {
    bytes: &'a [u8],
    bad: std::ops::Range<u64>,
}

impl ReadAt for Disk<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        if position < self.bad.end && position + buffer.len() as u64 > self.bad.start {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.bytes.read_at(buffer, position)
    }
}

#[test]
fn sectors_that_cannot_be_read_count_as_damage() {
    let file = noise(1_000_000, 7);
    let sidecar = sidecar(&file, 10);
    let at = sidecar.len() as u64 / 2;
    let sidecar = Disk { bytes: &sidecar, bad: at..at + 512 };
    let length = sidecar.bytes.len() as u64;
    let sidecar = Sidecar::open(sidecar, length).unwrap();
    let disk = Disk { bytes: &file, bad: 400_000..404_096 };
    let report = sidecar.check(&disk, 1_000_000, &Work::default()).unwrap();
    assert!(!report.is_whole() && !report.is_sidecar_whole());
    assert!((4096..6000).contains(&report.missing_bytes()), "{}", report.missing_bytes());
    let output = Memory::default();
    sidecar.fix(&disk, &report, &output, &Work::default()).unwrap();
    assert!(output.into_bytes() == file);
}

#[test]
fn a_file_that_becomes_shorter_is_reported() {
    let sidecar = Memory::default();
    let percent = Percent::new(10).unwrap();
    let made = make(&noise(5000, 8)[..], 5001, &sidecar, percent, &Work::default());
    assert!(matches!(made, Err(Error::Shrank)));
}

/// A file that counts the bytes that are read.
struct Counted<'a>(&'a [u8], AtomicU64);

impl ReadAt for Counted<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let read = self.0.read_at(buffer, position)?;
        self.1.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[test]
fn a_lost_block_that_begins_with_zeros_is_not_compared_with_all_zeros() {
    // The block of 1024 bytes that is lost begins with zeros, and 300 000 zeros stand elsewhere.
    let mut file = noise(1_048_576, 8);
    file[102_400..102_464].fill(0);
    file[500_000..800_000].fill(0);
    let sidecar = sidecar(&file, 5);
    file[102_400..202_400].iter_mut().for_each(|byte| *byte ^= 0x55);
    let counted = Counted(&file, AtomicU64::new(0));
    let report = Sidecar::open(&sidecar[..], sidecar.len() as u64).unwrap();
    let report = report.check(&counted, file.len() as u64, &Work::default()).unwrap();
    assert!(matches!(report.fixable(), Err(Error::TooMuch { missing: 100_000.., .. })));
    let read = counted.1.into_inner();
    assert!(read < 20 * file.len() as u64, "{read} bytes were read");
}
