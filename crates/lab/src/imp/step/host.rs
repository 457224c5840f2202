//! Makes a whole trace in a new process. The traced function never runs in the caller's process. Therefore the function
//! cannot end, stop or change the caller's process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{self, End, PATIENCE};
use super::shared::{Array, Shared};
use crate::imp::fork::{end_with, threads};

/// The maximum time of a call that is not traced.
const CALL: Duration = Duration::from_secs(60);
/// A call that uses at least this processor time within [`PATIENCE`] is not treated as stuck.
const BUSY: Duration = Duration::from_millis(50);
/// The maximum pause between two checks of the process.
const PAUSE: Duration = Duration::from_millis(20);
/// Maximum length of a result.
const ROOM: usize = 16 << 20;

#[derive(Clone, Copy, Default)]
struct HostNotes {
    /// The number of the current warm-up call, counted from 0. `None` if no warm-up call runs.
    call: Option<u64>,
    done: bool,
}

/// Reports the progress of the warm-up to the caller's process.
pub(crate) struct WarmUp(Shared<HostNotes>);

impl WarmUp {
    pub(crate) fn call(&mut self) {
        self.0.call = Some(self.0.call.map_or(0, |call| call + 1));
    }

    /// Ends the warm-up. Returns what still runs after the function has returned: `threads` or `processes`.
    pub(crate) fn end(&mut self) -> Option<&'static str> {
        self.0.call = None;
        if more_threads(1) {
            return Some("threads");
        }
        process::children().then_some("processes")
    }
}

/// Returns whether this process has opened the memory of a process as a file. Such a file can change code.
pub(crate) fn opens_memory() -> bool {
    let memory = |file: std::fs::DirEntry| {
        std::fs::read_link(file.path()).is_ok_and(|path| path.starts_with("/proc") && path.ends_with("mem"))
    };
    std::fs::read_dir("/proc/self/fd").is_ok_and(|files| files.flatten().any(memory))
}

/// Returns whether this process has more than `count` threads for longer than 200 ms. The list of threads can briefly
/// contain a thread that has ended, and a new thread has no name yet.
pub(crate) fn more_threads(count: usize) -> bool {
    let since = Instant::now();
    while threads() > count {
        if since.elapsed() > PAUSE * 10 {
            return true;
        }
        thread::sleep(PAUSE / 10);
    }
    false
}

/// Does the work in a new process. Returns the result of the work, or the reason why there is no result. If `stopped`
/// returns true, kills the new process and all processes that the new process started.
pub(crate) fn apart(stopped: &dyn Fn() -> bool, work: &mut dyn FnMut(&mut WarmUp) -> Vec<u8>) -> Result<Vec<u8>, End> {
    let (Some(notes), Some(mut result)) = (Shared::new(HostNotes::default()), Array::<u8>::new(ROOM)) else {
        return Err(End::Refused);
    };
    let read = notes.reader();
    // SAFETY: `fork` has no precondition. The child process has only this thread, and never returns. In the child, the
    // C library makes its own locks usable. If another thread holds a lock of other code, the child process may wait
    // for this lock forever. `watch` detects this.
    let (parent, process) = unsafe { (libc::getpid(), libc::fork()) };
    if process == 0 {
        group(0);
        end_with(parent);
        let mut warm_up = WarmUp(notes);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut warm_up).into_iter().all(|byte| result.push(byte))));
        warm_up.0.done = done.unwrap_or(false);
        process::end();
    }
    if process < 0 {
        return Err(End::Refused);
    }
    group(process);
    let early = watch(process, &read, stopped);
    // SAFETY: this program has not waited for the child process yet, so the process id belongs to no other process. The
    // process group contains the processes that the function started.
    unsafe {
        libc::kill(-process, libc::SIGKILL);
        libc::kill(process, libc::SIGKILL);
    }
    let status = process::wait(process);
    match early {
        Some(end) => Err(end),
        None if read().done => Ok(result.to_vec()),
        None => Err(End::from_status(status)),
    }
}

/// Makes a process the leader of a new process group. Afterwards, keys such as Ctrl-C send a signal to the caller's
/// process, but not to the new group. The new group contains copies of the caller's signal handlers, which must not
/// run.
fn group(process: libc::pid_t) {
    // SAFETY: the call only takes numbers.
    unsafe { libc::setpgid(process, 0) };
}

/// Waits until the process has ended. If the process must end early, returns the reason.
fn watch(process: libc::pid_t, notes: &dyn Fn() -> HostNotes, stopped: &dyn Fn() -> bool) -> Option<End> {
    let mut pause = PAUSE / 100;
    let (mut call, mut since) = (None, Instant::now());
    let (mut busy, mut used) = (since, Duration::ZERO);
    while !over(process) {
        if stopped() {
            return Some(End::Stopped);
        }
        let (now, time) = (notes().call, processor_time(process));
        if now != call {
            (call, since) = (now, Instant::now());
        }
        if now.is_none() || since.elapsed() < PAUSE || time > used + BUSY {
            (busy, used) = (Instant::now(), time);
        }
        if busy.elapsed() > PATIENCE {
            return Some(End::Stuck);
        }
        if now.is_some() && since.elapsed() > CALL {
            return Some(End::Slow(CALL));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
    None
}

/// Returns whether a child process has ended. The caller must still call `wait` for the child.
fn over(process: libc::pid_t) -> bool {
    // SAFETY: this is a plain C structure, for which zeros are valid. The call writes to this local variable.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, process as libc::id_t, &raw mut info, how) != 0 || info.si_pid() != 0
    }
}

fn processor_time(process: libc::pid_t) -> Duration {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: both calls write to a local variable.
    let known = unsafe {
        libc::clock_getcpuclockid(process, &raw mut clock) == 0 && libc::clock_gettime(clock, &raw mut time) == 0
    };
    if known { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
}
