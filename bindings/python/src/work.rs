//! Long work. Long work runs without the lock of the interpreter, reports progress, and checks for Ctrl-C.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::errors::exception;
use deadpan_bind::Fault;
use deadpan_ct::with_data_independent_timing;
use deadpan_seal::Work;

/// The time between two checks for signals, and between two reports of progress.
const TICK: Duration = Duration::from_millis(40);
/// Processing fewer bytes than this number takes less time than `TICK`.
const SHORT: u64 = 16 << 20;

#[derive(Clone, Copy, Default)]
pub(crate) struct WorkOptions<'a, 'py> {
    /// The function that is called with the number of bytes that are processed so far.
    pub(crate) progress: Option<&'a Bound<'py, PyAny>>,
    /// The number of threads. 0 stands for one thread on each core.
    pub(crate) threads: usize,
}

impl<'a, 'py> From<Option<&'a Bound<'py, PyAny>>> for WorkOptions<'a, 'py> {
    fn from(progress: Option<&'a Bound<'py, PyAny>>) -> Self {
        Self { progress, threads: 0 }
    }
}

/// Runs `work` without the lock of the interpreter, in the mode of data-independent timing.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| with_data_independent_timing(work))
}

/// Runs `work`. `length` is the length of the data, if it is known: for short data, no second thread is started.
/// `progress` is called with the number of bytes that are processed so far, first with 0 and last with the total. If
/// `progress` or a signal handler raises an exception before the end, the work stops and the exception is raised.
pub(crate) fn run<'a, 'py: 'a, T: Send>(
    py: Python<'py>,
    length: Option<u64>,
    how: impl Into<WorkOptions<'a, 'py>>,
    work: impl FnOnce(&Work<'_>) -> Result<T, Fault> + Send,
) -> PyResult<T> {
    let WorkOptions { progress, threads } = how.into();
    if progress.is_none() && length.is_some_and(|length| length < SHORT) {
        return detached(py, || work(&Work { threads, ..Work::default() })).map_err(exception);
    }
    if let Some(progress) = progress {
        progress.call1((0,))?;
    }
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let count = |bytes| {
        done.fetch_add(bytes, Ordering::Relaxed);
    };
    let stopped = || stop.load(Ordering::Relaxed);
    let options = Work { threads, progress: Some(&count), stop: Some(&stopped) };
    let progress = progress.map(|progress| progress.clone().unbind());
    let mut raised = None;
    let job = Mutex::new(Some(work));
    let take = || job.lock().take();
    let result = detached(py, || {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (take, options) = (&take, &options);
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || {
                if let Some(work) = take() {
                    // A new thread inherits the mode on Linux only. The receiver waits for the result, so sending
                    // cannot fail.
                    let _ = sender.send(with_data_independent_timing(|| work(options)));
                }
            });
            if spawned.is_err() {
                // This thread does the work itself, and does not check for signals during the work.
                return take().map(|work| work(options));
            }
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(result) => return Some(result),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        let told = Python::attach(|py| {
                            py.check_signals()?;
                            let Some(progress) = &progress else { return Ok(()) };
                            progress.call1(py, (done.load(Ordering::Relaxed),)).map(drop)
                        });
                        if let Err(error) = told {
                            raised = Some(error);
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let result = result.unwrap_or_else(|| Err(Fault::new(deadpan_bind::Code::Panic, "a fault in Deadpan")));
    let value = result.map_err(exception)?;
    if let Some(progress) = &progress {
        progress.call1(py, (done.load(Ordering::Relaxed),))?;
    }
    Ok(value)
}

/// Calls `each` with all items, in order, without the lock of the interpreter, until `each` fails. Checks for signals
/// once in each period of `TICK`, so each item should take less time than `TICK`.
///
/// # Errors
/// The outer error is the exception of a signal handler, and the inner error is the error of `each`.
pub(crate) fn in_turns<I: Iterator + Send, E: Send>(
    py: Python<'_>,
    mut items: I,
    mut each: impl FnMut(I::Item) -> Result<(), E> + Send,
) -> PyResult<Result<(), E>> {
    loop {
        let turn = detached(py, || {
            let start = Instant::now();
            for item in items.by_ref() {
                each(item)?;
                if start.elapsed() >= TICK {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        match turn {
            Ok(false) => py.check_signals()?,
            turn => return Ok(turn.map(drop)),
        }
    }
}
