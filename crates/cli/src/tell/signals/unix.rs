//! Signals of Unix. After the cleanup, the program ends by the signal that it got, as shells expect. If another signal
//! comes a moment later, the program ends immediately. Ctrl-Z restores the terminal while the program is stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{getpgrp, getsid};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::ARRIVED;
#[cfg(target_vendor = "apple")]
use crate::tell::imp::is_ignored;
use deadpan_disk::cleanup;

/// If a second signal comes at least this long after the first signal, the second signal ends the program at once. A
/// service manager sends two signals together, and the program must treat them as one signal.
const TOGETHER: Duration = Duration::from_millis(200);

type Cleanup = Box<dyn FnMut() + Send>;

pub(super) fn listen() {
    let wanted: Vec<_> = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // If the system cannot start a thread, no handlers are installed. Without handlers, a signal still ends the
    // program, but unfinished outputs remain. The names of these files show that the files are unfinished.
    let all = wanted.clone();
    serve(wanted, move |mut signals| {
        for signal in all {
            let _ = flag::register(signal, ARRIVED.clone());
        }
        let mut signals = signals.forever();
        let Some(first) = signals.find(|signal| !is_diverted(*signal)) else { return };
        let begin = Instant::now();
        if thread::Builder::new().spawn(move || end(first)).is_err() {
            end(first);
        }
        for other in signals {
            if begin.elapsed() > TOGETHER {
                die(other);
            }
        }
    });
}

type Diverted = Box<dyn FnMut(i32) + Send>;

/// The function that gets the signals, if they do not end the program.
static DIVERTED: Mutex<Option<Diverted>> = Mutex::new(None);

/// While this value exists, the signals do not end the program.
#[must_use]
pub struct Diversion(());

/// Passes the signals that usually end the program to `act`, until the returned value is dropped. Waits for a running
/// call of `act` before the value is dropped.
pub fn divert(act: impl FnMut(i32) + Send + 'static) -> Diversion {
    *DIVERTED.lock() = Some(Box::new(act));
    Diversion(())
}

impl Drop for Diversion {
    fn drop(&mut self) {
        let mut diverted = DIVERTED.lock();
        // The handler of a signal sets `ARRIVED` even if `act` gets the signal. `act` is not called any more, so
        // `ARRIVED` is reset here.
        ARRIVED.store(false, Ordering::Relaxed);
        *diverted = None;
    }
}

/// Passes a signal to the function that gets the signals. Returns whether there is such a function.
fn is_diverted(signal: i32) -> bool {
    let mut diverted = DIVERTED.lock();
    let Some(act) = diverted.as_mut() else { return false };
    act(signal);
    true
}

/// Runs the cleanups, and ends the program by this signal.
pub fn end(signal: i32) {
    // While `_held` exists, no output is created or renamed.
    let _held = cleanup::run();
    die(signal);
}

fn die(signal: i32) -> ! {
    let _ = emulate_default_handler(signal);
    std::process::exit(128 + signal);
}

/// Installs handlers for the signals `wanted`. A new thread serves these signals. The thread is started first: if the
/// system refuses a thread, no handlers are installed.
fn serve(wanted: Vec<i32>, serve: impl FnOnce(Signals) + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let served = thread::Builder::new().spawn(move || {
        if let Ok(signals) = receiver.recv() {
            serve(signals);
        }
    });
    if served.is_ok()
        && let Ok(signals) = Signals::new(wanted)
    {
        let _ = sender.send(signals);
    }
}

/// Functions to run before and after the program is stopped.
struct Pause {
    id: u64,
    before: Cleanup,
    after: Cleanup,
}

static PAUSES: Mutex<Vec<Pause>> = Mutex::new(Vec::new());

fn pauses() -> MutexGuard<'static, Vec<Pause>> {
    PAUSES.lock()
}

/// A registered pair of functions that run before and after the program is stopped. Dropping the guard removes the
/// functions without running them.
#[must_use]
pub struct PauseGuard(u64);

/// Runs `before` when Ctrl-Z is about to stop the program, and `after` when the program continues after any stop.
pub fn around_stop(before: impl FnMut() + Send + 'static, after: impl FnMut() + Send + 'static) -> PauseGuard {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(listen_for_stops);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    pauses().push(Pause { id, before: Box::new(before), after: Box::new(after) });
    PauseGuard(id)
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        pauses().retain(|pause| pause.id != self.0);
    }
}

fn listen_for_stops() {
    let wanted = [SIGCONT, SIGTSTP].into_iter().filter(|signal| *signal == SIGCONT || !is_ignored(*signal)).collect();
    // Without handlers Ctrl-Z still stops the program, but the terminal's echo stays off.
    serve(wanted, |mut signals| {
        for signal in signals.forever() {
            let mut pauses = pauses();
            if signal == SIGCONT {
                pauses.iter_mut().for_each(|pause| (pause.after)());
            } else if can_be_continued() {
                pauses.iter_mut().for_each(|pause| (pause.before)());
                let _ = emulate_default_handler(signal);
            }
        }
    });
}

/// Whether a shell can continue this program after a stop. By default, the system ignores Ctrl-Z in the process group
/// of the session leader.
fn can_be_continued() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

/// Whether the parent process made this process ignore the signal, as `nohup` does.
#[cfg(not(target_vendor = "apple"))]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 == 1
}

/// Ensures that writes beyond the limit of file sizes (`ulimit -f`) return an error. Without this call, the signal
/// SIGXFSZ ends the program. Ignoring the signal has the same effect, but programs that this program starts inherit an
/// ignored signal. Other programs do not inherit a signal handler.
pub fn survive_large_files() {
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Ends the program by SIGPIPE, as usual for a writer whose pipe has no reader left.
pub fn die_of_broken_pipe() {
    let _ = emulate_default_handler(SIGPIPE);
}
