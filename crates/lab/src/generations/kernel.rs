//! Functions that are timed by themselves. Each run has a process of its own: it is held on one core like any program, what it finds in memory
//! does not depend on what ran before, and its peak is its own.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Contents, tree};

/// What is read or written at once.
const BLOCK: usize = 1 << 20;
/// Numbers in a block of arithmetic.
const NUMBERS: u64 = 1 << 20;
/// Blocks of arithmetic at full scale: a few seconds' work of one core.
const BLOCKS: f64 = 2000.0;
/// Operations for a number, as the source spells them out.
const INTEGER: f64 = 10.0;
/// Likewise.
const FLOATING: f64 = 6.0;
/// The sum over a block of integers. It was computed in Python.
const SUM: u64 = 0x5a6b_f73a_9172_f180;

/// What one run is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The kernel's name.
    pub kernel: String,
    /// Bytes to work on.
    pub bytes: u64,
    /// What they are.
    pub contents: Contents,
    /// What all sizes were multiplied by.
    pub scale: f64,
    /// What is read.
    pub input: PathBuf,
    /// What is written.
    pub output: PathBuf,
    /// Where [`Done`] goes.
    pub result: PathBuf,
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Of what is timed.
    pub seconds: f64,
    /// Bytes, or operations.
    pub amount: f64,
}

/// Why a kernel failed.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// A function that is timed by itself, and checks its result.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// With dots: `file.write`.
    pub name: &'static str,
    /// Prepares, runs and times. It may use as many threads as [`threads`] says.
    pub run: fn(&Job) -> Result<Done, Trouble>,
}

/// How many threads are as many as there are processors for this process.
#[must_use]
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The bytes of a job in memory, all of them touched.
///
/// # Errors
/// If there is not so much memory in this address space.
pub fn contents_of(job: &Job) -> Result<Vec<u8>, Trouble> {
    let mut bytes = vec![0; usize::try_from(job.bytes)?];
    // Zeros that come from the system are one page, many times, until somebody writes.
    black_box(&mut bytes[..]).fill(black_box(0));
    if job.contents == Contents::Random {
        tree::fill(&mut bytes.as_mut_slice(), job.bytes, job.contents, 1)?;
    }
    Ok(bytes)
}

/// What needs nothing but this crate.
#[must_use]
pub fn own() -> Vec<Kernel> {
    vec![
        Kernel { name: "file.write", run: file_write },
        Kernel { name: "file.read", run: file_read },
        Kernel { name: "memory.copy", run: memory_copy },
        Kernel { name: "numbers.integer", run: integers },
        Kernel { name: "numbers.floating", run: floats },
    ]
}

/// Runs `work` on each of so many blocks, from as many threads as there are processors, and gives the seconds.
fn on_all(blocks: u64, work: impl Fn(u64) -> Result<(), Trouble> + Sync) -> Result<f64, Trouble> {
    let next = AtomicU64::new(0);
    let worker = || {
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return Ok(());
            }
            work(block)?;
        }
    };
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads()).map(|_| scope.spawn(worker)).collect();
        let mine: Result<(), Trouble> = worker();
        others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err("a thread panicked".into()))).fold(mine, Result::and)
    })?;
    Ok(begin.elapsed().as_secs_f64())
}

/// A new file, a mebibyte at a time at positions, into the pages of the system's cache. Every mebibyte is the same: it is not the bytes that cost.
fn file_write(job: &Job) -> Result<Done, Trouble> {
    let mut block = vec![0; BLOCK];
    tree::fill(&mut block.as_mut_slice(), BLOCK as u64, job.contents, 1)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&job.output)?;
    let seconds = on_all(job.bytes.div_ceil(BLOCK as u64), |number| {
        let start = number * BLOCK as u64;
        let length = (job.bytes - start).min(BLOCK as u64) as usize;
        Ok(write_at(&file, &block[..length], start)?)
    })?;
    let written = file.metadata()?.len();
    if written != job.bytes {
        return Err(format!("{written} bytes were written instead of {}", job.bytes).into());
    }
    Ok(Done { seconds, amount: job.bytes as f64 })
}

/// A whole file, a mebibyte at a time at positions.
fn file_read(job: &Job) -> Result<Done, Trouble> {
    let file = File::open(&job.input)?;
    let bytes = file.metadata()?.len();
    let buffers: Vec<_> = (0..threads()).map(|_| std::sync::Mutex::new(vec![0; BLOCK])).collect();
    let seconds = on_all(bytes.div_ceil(BLOCK as u64), |number| {
        let start = number * BLOCK as u64;
        let length = (bytes - start).min(BLOCK as u64) as usize;
        let mut buffer = buffers.iter().find_map(|buffer| buffer.try_lock().ok()).ok_or("no buffer is free")?;
        read_at(&file, &mut buffer[..length], start)?;
        black_box(&buffer[..]);
        Ok(())
    })?;
    Ok(Done { seconds, amount: bytes as f64 })
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, start)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Elsewhere all handles of a file share one position.
#[cfg(not(unix))]
static POSITION: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
fn write_at(file: &File, bytes: &[u8], start: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let _position = POSITION.lock();
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(start)).and_then(|_| file.write_all(bytes))
}

#[cfg(not(unix))]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let _position = POSITION.lock();
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(bytes))
}

/// One thread copies everything into memory that it has touched before.
fn memory_copy(job: &Job) -> Result<Done, Trouble> {
    let from = contents_of(job)?;
    let mut to = vec![1; from.len()];
    black_box(&mut to[..]).fill(black_box(2));
    let begin = Instant::now();
    black_box(&mut to[..]).copy_from_slice(black_box(&from));
    let seconds = begin.elapsed().as_secs_f64();
    if from != to {
        return Err("the copy is not the same".into());
    }
    Ok(Done { seconds, amount: job.bytes as f64 })
}

/// The sum of splitmix64's output over the first million numbers, again and again: an addition, three shifts, three exclusive ors, two
/// multiplications and the sum make ten operations each.
fn integers(job: &Job) -> Result<Done, Trouble> {
    arithmetic(job, INTEGER, |_| {
        let sum = integer_block(black_box(0));
        if sum == SUM { Ok(()) } else { Err(format!("the sum is {sum:#x} instead of {SUM:#x}").into()) }
    })
}

fn integer_block(seed: u64) -> u64 {
    let (mut state, mut sum) = (seed, 0_u64);
    for _ in 0..NUMBERS {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum = sum.wrapping_add(mixed ^ (mixed >> 31));
    }
    sum
}

/// π as the integral of 4 / (1 + x²) over 0 to 1 by a million midpoints, again and again: two operations for x, two for the denominator, a
/// division and the sum make six each. The sum is kept in eight parts, so that no addition waits for the one before.
fn floats(job: &Job) -> Result<Done, Trouble> {
    arithmetic(job, FLOATING, |_| {
        let found = float_block(black_box(1.0 / NUMBERS as f64));
        if (found - std::f64::consts::PI).abs() < 1e-11 { Ok(()) } else { Err(format!("π is not {found}").into()) }
    })
}

fn float_block(step: f64) -> f64 {
    let mut sums = [0.0; 8];
    for turn in 0..NUMBERS / 8 {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let x = ((turn * 8 + lane as u64) as f64 + 0.5) * step;
            *sum += 4.0 / (1.0 + x * x);
        }
    }
    sums.iter().sum::<f64>() * step
}

fn arithmetic(job: &Job, each: f64, work: impl Fn(u64) -> Result<(), Trouble> + Sync) -> Result<Done, Trouble> {
    let blocks = (BLOCKS * job.scale).ceil().max(8.0);
    Ok(Done { seconds: on_all(blocks as u64, work)?, amount: blocks * NUMBERS as f64 * each })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn job(bytes: u64, contents: Contents) -> Job {
        let place = std::env::temp_dir().join(format!("deadpan-lab-kernel-{}-{bytes}-{}", std::process::id(), contents.name()));
        Job { kernel: String::new(), bytes, contents, scale: 1e-6, input: place.clone(), output: place.clone(), result: place }
    }

    #[test]
    fn files_are_written_and_read_at_every_length() {
        for bytes in [1, BLOCK as u64 - 1, BLOCK as u64, BLOCK as u64 + 1, 3 * BLOCK as u64 + 5] {
            let job = job(bytes, Contents::Random);
            let written = file_write(&job).unwrap();
            assert!(written.amount == bytes as f64 && written.seconds > 0.0);
            assert_eq!(file_read(&job).unwrap().amount, bytes as f64);
            assert!(file_write(&job).is_err(), "nothing is written over");
            fs::remove_file(&job.output).unwrap();
        }
    }

    #[test]
    fn copies_and_arithmetic_check_their_results() {
        assert_eq!(memory_copy(&job(100_000, Contents::Random)).unwrap().amount, 100_000.0);
        assert_eq!(integers(&job(1, Contents::Zero)).unwrap().amount, 8.0 * 10.0 * NUMBERS as f64);
        assert_eq!(floats(&job(1, Contents::Zero)).unwrap().amount, 8.0 * 6.0 * NUMBERS as f64);
        assert_ne!(integer_block(1), SUM);
    }

    #[test]
    fn contents_in_memory_are_as_long_and_as_random_as_asked() {
        assert_eq!(contents_of(&job(9, Contents::Zero)).unwrap(), [0; 9]);
        let random = contents_of(&job(4096, Contents::Random)).unwrap();
        assert!(random.len() == 4096 && random.iter().filter(|&&byte| byte == 0).count() < 100);
    }

    #[test]
    fn a_failing_block_fails_the_whole() {
        assert!(on_all(9, |number| if number == 5 { Err("five".into()) } else { Ok(()) }).is_err());
    }
}
