//! What this machine can do at most: copies, files, arithmetic. Other figures are read against these.

use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::clock::Clock;
use crate::record::Baseline;
use crate::speed::sign;

/// Measurements of each rate in memory.
const SAMPLES: usize = 31;

/// Measurements of each rate of files: the fewest whose range is a 95 % interval for the median.
const FILES: usize = 6;

/// Bytes in a file, if there is room.
const FILE: u64 = 256 << 20;

/// What is read or written at once.
const BLOCK: usize = 1 << 20;

/// Measures what the machine can do. Takes a few seconds, and up to 256 MiB in `directory` for as long.
///
/// - `memcpy 64 KiB`, `memcpy 64 MiB`: copies within the second level's cache, and through main memory.
/// - `file write`: into new pages of the system's cache; `file write and sync`: until the disk has them; `file read`: from the cache.
/// - `integer, dependent`: exclusive ors, multiplications and rotations that each wait for the one before; `integer, independent`: eight
///   such chains side by side; `floating, independent`: multiplications and additions of 64-bit numbers in sixteen chains. The compiler may
///   put independent chains into vectors.
///
/// # Errors
/// If no file can be written in `directory`.
pub fn baselines(clock: &dyn Clock, directory: &Path) -> io::Result<Vec<Baseline>> {
    let mut found = vec![copy(clock, "memcpy 64 KiB", 64 << 10, 64), copy(clock, "memcpy 64 MiB", 64 << 20, 1)];
    found.extend(files(clock, directory)?);
    // The rotation keeps the compiler from folding several steps into one, which it does with multiplications and additions alone.
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
    Ok([baseline("file write", "bytes", write), baseline("file write and sync", "bytes", synced), baseline("file read", "bytes", read)])
}

/// The seconds of writing a new file, of writing it until the disk has it, and of reading it again.
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

/// The seconds that it takes; never zero.
fn time(clock: &dyn Clock, work: impl FnOnce()) -> f64 {
    let begin = clock.start();
    work();
    clock.stop().wrapping_sub(begin).max(1) as f64 / clock.hertz()
}

/// The median of rates with its 95 % interval.
fn baseline(name: &str, unit: &str, rates: Vec<f64>) -> Baseline {
    Baseline { name: name.to_owned(), rate: sign::interval(&rates, 0.05), unit: unit.to_owned() }
}
