//! Copies data with reads and writes at any position, on all cores.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use deadpan_seal::{Error, ReadAt, Work, WriteAt};

/// The number of bytes that a worker copies at once.
const PIECE: usize = 1 << 20;
/// The maximum number of bytes that a worker takes at a time. The number is about the size of a picture, because two
/// workers that write to the same file wait for each other.
const STRETCH: u64 = 32 << 20;
/// The minimum number of bytes for which another thread saves more time than it costs.
const WORTH_A_THREAD: u64 = 4 << 20;

/// Copies the first `length` bytes, on all cores. Returns the number of copied bytes.
pub fn copy(input: &impl ReadAt, length: u64, output: &impl WriteAt, work: &Work<'_>) -> Result<u64, Error> {
    let (next, failure) = (AtomicU64::new(0), Mutex::new(None));
    let lock = || failure.lock();
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    // Each piece of work is short, so that the other workers do not wait long for the last worker.
    let stretch = (length / cores / 8).clamp(PIECE as u64, STRETCH);
    let job = || {
        let mut buffer = vec![0; PIECE];
        loop {
            let start = next.fetch_add(stretch, Ordering::Relaxed);
            let end = start.saturating_add(stretch).min(length);
            if start >= end {
                return;
            }
            for position in (start..end).step_by(PIECE) {
                if lock().is_some() {
                    return;
                }
                let piece = &mut buffer[..(end - position).min(PIECE as u64) as usize];
                let copied = read_exact_at(input, piece, position)
                    .and_then(|()| output.write_all_at(piece, position).map_err(Error::Write));
                match copied {
                    Ok(()) => work.progress.iter().for_each(|progress| progress(piece.len() as u64)),
                    Err(error) => return *lock() = Some(error),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // If the system cannot start a thread, the other threads do the work of that thread.
        for _ in 1..cores.min(length / WORTH_A_THREAD) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, job);
        }
        job();
    });
    let failed = lock().take();
    failed.map_or(Ok(length), Err)
}

fn read_exact_at(input: &impl ReadAt, buffer: &mut [u8], position: u64) -> Result<(), Error> {
    let mut length = 0;
    while length < buffer.len() {
        match input.read_at(&mut buffer[length..], position + length as u64) {
            Ok(0) => return Err(Error::Shrank),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
    Ok(())
}
