//! Measures the highest rates of this machine for copies, files and arithmetic. The lab compares other speeds with
//! these rates.

use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::cleanup::Cleanup;
use crate::clock::Clock;
use crate::record::Baseline;
use crate::speed::sign;

/// Number of measurements of each rate that does not involve files.
const SAMPLES: usize = 31;

/// Number of measurements of each rate of files. With six measurements, the range from the smallest to the largest
/// value is a 95 % interval for the median. Fewer measurements are not enough.
const FILES: usize = 6;

/// Size of the test file in bytes, if the disk has enough free space.
const FILE: u64 = 256 << 20;

/// The number of bytes in one read or write.
const BLOCK: usize = 1 << 20;

/// Measures the highest rates of this machine. The measurement takes a few seconds, and needs up to 256 MiB of disk
/// space in `directory` during that time.
///
/// - `memcpy 64 KiB`, `memcpy 64 MiB`: copies within the second-level cache, and through main memory.
/// - `file write`: writes into new pages of the system's cache. `file write and sync`: writes until the disk has the
///   data. `file read`: reads from the cache.
/// - `integer, dependent`: exclusive ors, multiplications and rotations, each of which needs the result of the
///   operation before.
/// - `integer, independent`: eight chains of these operations at the same time.
/// - `floating, independent`: multiplications and additions of 64-bit numbers in sixteen independent chains, which the
///   compiler may vectorize.
///
/// # Errors
/// Returns an error if no file can be written in `directory`.
pub fn baselines(clock: &dyn Clock, directory: &Path) -> io::Result<Vec<Baseline>> {
    let mut found = vec![copy(clock, "memcpy 64 KiB", 64 << 10, 64), copy(clock, "memcpy 64 MiB", 64 << 20, 1)];
    found.extend(files(clock, directory)?);
    // Without the rotation, the compiler would combine several operations into one.
    let step = |value: u64, turn: u64| (value ^ turn).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    found.push(arithmetic(clock, "integer, dependent", 3.0, |turns| {
        black_box((0..turns).fold(black_box(1), step));
    }));
    found.push(arithmetic(clock, "integer, independent", 24.0, |turns| {
        let mut values = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
        for turn in 0..turns {
            values = values.map(|value| step(value, turn));
        }
        black_box(values);
    }));
    found.push(arithmetic(clock, "floating, independent", 32.0, |turns| {
        let (mut values, factor) = (black_box([1.0_f64; 16]), black_box(0.999));
        for _ in 0..turns {
            values = values.map(|value| value * factor + 1e-3);
        }
        black_box(values);
    }));
    Ok(found)
}

fn copy(clock: &dyn Clock, name: &str, length: usize, repeats: usize) -> Baseline {
    let (from, mut to) = (vec![1_u8; length], vec![2_u8; length]);
    let rates = (0..=SAMPLES).map(|_| {
        let seconds = time(clock, || {
            for _ in 0..repeats {
                black_box(&mut to[..]).copy_from_slice(black_box(&from));
            }
        });
        (length * repeats) as f64 / seconds
    });
    baseline(name, "bytes", rates.skip(1).collect())
}

fn arithmetic(clock: &dyn Clock, name: &str, per_turn: f64, mut work: impl FnMut(u64)) -> Baseline {
    const TURNS: u64 = 500_000;
    let rates = (0..=SAMPLES).map(|_| TURNS as f64 * per_turn / time(clock, || work(TURNS)));
    baseline(name, "operations", rates.skip(1).collect())
}

fn files(clock: &dyn Clock, directory: &Path) -> io::Result<[Baseline; 3]> {
    let path = directory.join(format!("deadpan-lab-rate-{}", std::process::id()));
    let _removed = Cleanup::removing(&path);
    let mut size = FILE;
    let mut rates: [Vec<f64>; 3] = Default::default();
    while rates[0].len() < FILES {
        let took = file(clock, &path, size);
        let _ = fs::remove_file(&path);
        match took {
            Ok(seconds) => rates.iter_mut().zip(seconds).for_each(|(rates, seconds)| rates.push(size as f64 / seconds)),
            Err(error) if error.kind() == io::ErrorKind::StorageFull && size > FILE >> 6 => size /= 4,
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }
    let [write, synced, read] = rates;
    Ok([
        baseline("file write", "bytes", write),
        baseline("file write and sync", "bytes", synced),
        baseline("file read", "bytes", read),
    ])
}

/// Returns the times in seconds of three actions: writing a new file, writing and syncing the file, and reading the
/// file.
fn file(clock: &dyn Clock, path: &Path, size: u64) -> io::Result<[f64; 3]> {
    let mut block = vec![0x5a; BLOCK];
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut result = Ok(());
    let write = time(clock, || result = (0..size / BLOCK as u64).try_for_each(|_| file.write_all(&block)));
    result?;
    let mut result = Ok(());
    let sync = time(clock, || result = file.sync_all());
    result?;
    let mut file = File::open(path)?;
    let mut result = Ok(());
    let read = time(clock, || result = (0..size / BLOCK as u64).try_for_each(|_| file.read_exact(&mut block)));
    result?;
    Ok([write, write + sync, read])
}

/// Returns the seconds that `work` takes. The result is never zero.
fn time(clock: &dyn Clock, work: impl FnOnce()) -> f64 {
    let begin = clock.start();
    work();
    clock.stop().wrapping_sub(begin).max(1) as f64 / clock.hertz()
}

/// Returns the median of the rates with its 95 % interval.
fn baseline(name: &str, unit: &str, rates: Vec<f64>) -> Baseline {
    Baseline { name: name.to_owned(), rate: sign::interval(&rates, 0.05), unit: unit.to_owned() }
}
