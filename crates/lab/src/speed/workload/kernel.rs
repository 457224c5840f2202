//! Kernels: functions of this program that are timed alone. The measured time of a kernel (a timed function) does not
//! include the start of a process.
//!
//! Each run of a kernel (a timed function) takes place in a new process. Like any program, this process can be
//! restricted to one core. The memory of this process does not depend on earlier runs, and its peak memory belongs to a
//! single run.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Contents, tree};

/// Bytes in one read or write.
const BLOCK: usize = 1 << 20;
/// Numbers in a block of arithmetic.
const NUMBERS: u64 = 1 << 20;
/// Number of blocks of arithmetic at full scale. One core needs a few seconds for these blocks.
const BLOCKS: f64 = 2000.0;
/// The number of integer operations for each computed number, as counted in the source.
const INTEGER: f64 = 10.0;
/// The number of floating-point operations for each computed number, as counted in the source.
const FLOATING: f64 = 6.0;
/// The expected sum of one block in the integer kernel. A Python program has computed the same sum independently.
const SUM: u64 = 0x5a6b_f73a_9172_f180;

/// The work of one run of a kernel. The measuring process sends this structure as JSON to the process that runs the
/// kernel (a timed function).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The kernel's name.
    pub kernel: String,
    /// The number of bytes to process.
    pub bytes: u64,
    /// The contents of these bytes.
    pub contents: Contents,
    /// The factor by which all sizes of the table are multiplied.
    pub scale: f64,
    /// The path that the kernel reads.
    pub input: PathBuf,
    /// The path that the kernel writes.
    pub output: PathBuf,
    /// The file into which the process that runs the kernel (a timed function) writes [`Done`].
    pub result: PathBuf,
}

/// The result of one run of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The time of the function's work, without the preparation.
    pub seconds: f64,
    /// The number of bytes or operations that were processed.
    pub amount: f64,
}

/// The reason why a kernel or a measurement failed.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// A function whose time is measured alone, and that checks its own result.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The name, with dots: `file.write`.
    pub name: &'static str,
    /// Does the work after a preparation, measures the time of the work and checks the result. The function may use as
    /// many threads as [`threads`] returns.
    pub run: fn(&Job) -> Result<Done, Trouble>,
}

/// Returns the number of processors that this process may use.
#[must_use]
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a buffer with the bytes of a job. When the function returns, it has written to every page of the buffer.
///
/// # Errors
/// Returns an error if the job has more bytes than the address space.
pub fn contents_of(job: &Job) -> Result<Vec<u8>, Trouble> {
    let mut bytes = vec![0; usize::try_from(job.bytes)?];
    // The system maps all pages of a new buffer to one page of zeros. A page gets its own memory only when the program
    // first writes to the page.
    black_box(&mut bytes[..]).fill(black_box(0));
    if job.contents == Contents::Random {
        tree::fill(&mut bytes.as_mut_slice(), job.bytes, job.contents, 1)?;
    }
    Ok(bytes)
}

/// Returns the kernels of this crate.
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

/// Runs `work` for each block number below `blocks`, on all processors. Returns the seconds from the start until all
/// blocks are done.
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
        others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|_| Err("a thread panicked".into())))
            .fold(mine, Result::and)
    })?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Writes a new file into the system's cache, one block at a time. Each write has an explicit offset in the file. All
/// blocks have the same contents, because the time does not depend on the contents.
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

/// Reads a whole file, one block at a time. Each read has an explicit offset in the file.
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

/// A lock around each seek and the read or write that follows it. Without positioned I/O, all handles of a file share
/// one position.
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

/// Copies all bytes on one thread, into a buffer whose pages were written before.
fn memory_copy(job: &Job) -> Result<Done, Trouble> {
    let from = contents_of(job)?;
    let mut to = vec![1; from.len()];
    black_box(&mut to[..]).fill(black_box(2));
    let begin = Instant::now();
    black_box(&mut to[..]).copy_from_slice(black_box(&from));
    let seconds = begin.elapsed().as_secs_f64();
    if from != to {
        return Err("the copy differs from the source".into());
    }
    Ok(Done { seconds, amount: job.bytes as f64 })
}

/// For each block, computes the sum of the first [`NUMBERS`] outputs of splitmix64. Each number takes ten operations:
/// an addition, three shifts, three exclusive ors, two multiplications, and an addition to the sum.
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

/// For each block, computes π as the integral of 4 / (1 + x²) from 0 to 1 with [`NUMBERS`] midpoints. Each midpoint
/// takes six operations: two for x, two for the denominator, a division, and an addition to the sum. There are eight
/// partial sums, so that an addition need not wait for the previous addition.
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
    use std::fs;

    use super::*;

    fn job(bytes: u64, contents: Contents) -> Job {
        let place =
            std::env::temp_dir().join(format!("deadpan-lab-kernel-{}-{bytes}-{}", std::process::id(), contents.name()));
        Job {
            kernel: String::new(),
            bytes,
            contents,
            scale: 1e-6,
            input: place.clone(),
            output: place.clone(),
            result: place,
        }
    }

    #[test]
    fn files_are_written_and_read_at_every_length() {
        for bytes in [1, BLOCK as u64 - 1, BLOCK as u64, BLOCK as u64 + 1, 3 * BLOCK as u64 + 5] {
            let job = job(bytes, Contents::Random);
            let written = file_write(&job).unwrap();
            assert!(written.amount == bytes as f64 && written.seconds > 0.0);
            assert_eq!(file_read(&job).unwrap().amount, bytes as f64);
            assert!(file_write(&job).is_err(), "an existing file was overwritten");
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
    fn contents_in_memory_have_the_length_and_the_kind_of_the_job() {
        assert_eq!(contents_of(&job(9, Contents::Zero)).unwrap(), [0; 9]);
        let random = contents_of(&job(4096, Contents::Random)).unwrap();
        assert!(random.len() == 4096 && random.iter().filter(|&&byte| byte == 0).count() < 100);
    }

    #[test]
    fn a_failing_block_fails_the_whole_run() {
        assert!(on_all(9, |number| if number == 5 { Err("five".into()) } else { Ok(()) }).is_err());
    }
}
