//! Unpacks a stream on several threads.

use std::io::{self, Read};
use std::thread;

use parking_lot::Mutex;

use super::outcome::Outcome;
use super::rest::Rest;
use super::unpacker::Unpacker;
use crate::error::Error;
use crate::work::Work;

/// The number of bytes that a thread reads at once.
const UNIT: usize = 1 << 20;

/// The maximum number of threads. More threads do not make a file system faster.
const MOST_THREADS: usize = 16;

/// Unpacks all of `input`. After an error, [`Unpacker::progress`] reports which entries are complete.
pub fn unpack(input: impl Read + Send, unpacker: &mut Unpacker, work: &Work<'_>) -> Result<Outcome, Error> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if work.threads == 0 { cores() } else { work.threads }.min(MOST_THREADS);
    let turn = Mutex::new(UnpackTurn { input, unpacker: &mut *unpacker, error: None, later: None, ended: false });
    thread::scope(|scope| {
        // If the system cannot start a thread, the running threads do the work of that thread.
        let spawned =
            (1..threads).filter_map(|_| thread::Builder::new().spawn_scoped(scope, || take_turns(&turn, work)).ok());
        let _others: Vec<_> = spawned.collect();
        take_turns(&turn, work);
    });
    match turn.into_inner().error {
        Some(error) => Err(error),
        None => unpacker.finish(),
    }
}

/// The state that only one thread at a time may use.
struct UnpackTurn<'u, R> {
    input: R,
    unpacker: &'u mut Unpacker,
    error: Option<Error>,
    /// An error of the input that comes after the bytes which were read before.
    later: Option<io::Error>,
    ended: bool,
}

fn take_turns<R: Read>(turn: &Mutex<UnpackTurn<'_, R>>, work: &Work<'_>) {
    let mut unit = vec![0; UNIT];
    loop {
        let (rest, length) = {
            let mut turn = turn.lock();
            match turn.next(&mut unit, work) {
                Ok(Some(next)) => next,
                Ok(None) => return,
                Err(error) => {
                    turn.ended = true;
                    turn.error = Some(error);
                    return;
                }
            }
        };
        rest.complete(&unit[..length]);
        if let Some(progress) = work.progress {
            progress(length as u64);
        }
    }
}

impl<R: Read> UnpackTurn<'_, R> {
    fn next(&mut self, unit: &mut [u8], work: &Work<'_>) -> Result<Option<(Rest, usize)>, Error> {
        if self.ended {
            return Ok(None);
        }
        if work.stop.is_some_and(|stop| stop()) {
            return Err(Error::Stopped);
        }
        // If the input is an `Excerpt`, its read errors can contain errors of this crate, which are returned unchanged.
        let failed = |error: io::Error| error.downcast().unwrap_or_else(Error::Read);
        if let Some(error) = self.later.take() {
            return Err(failed(error));
        }
        let (length, error) = fill(&mut self.input, unit);
        if let Some(error) = error {
            if length == 0 {
                return Err(failed(error));
            }
            self.later = Some(error);
        }
        self.ended = length < unit.len() && self.later.is_none();
        if length == 0 {
            return Ok(None);
        }
        self.unpacker.put(&unit[..length]).map(|rest| Some((rest, length)))
    }
}

/// Fills the buffer as far as possible. Returns how many bytes were read, and what ended the reading.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}
