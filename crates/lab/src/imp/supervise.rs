//! A second process for code that the lab does not know. A function of a shared library can end its process, close its
//! descriptors or damage its memory. The first process only waits and says what happened.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::notes::{NOTES, Notes, notes};

/// How the second process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The work is complete, with this exit code.
    Complete(u8),
    /// The library's code ended the process with this exit code.
    Exited(i32),
    /// This signal killed the process.
    Killed(i32),
    /// This signal stopped the process for good.
    Stopped(i32),
    /// The time was over.
    Late,
}

/// The first number for the descriptors of the report. Code that closes descriptors usually closes small numbers.
const HIGH: libc::c_int = 700;
/// How long a process may be stopped, if nobody continues it.
const STOPPED: Duration = Duration::from_secs(1);

/// Signals that end the lab early. The second process handles them.
const FORWARDED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// The process to which signals are forwarded, or 0.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// The last signal that was forwarded.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// Standard output and standard error for the report.
static OUTPUTS: OnceLock<[File; 2]> = OnceLock::new();

/// The number of times that this process is a copy made by `fork`.
static COPIES: AtomicUsize = AtomicUsize::new(0);

/// Runs `work`, which returns an exit code, in a second process and waits for its end. Both are in the same process
/// group. In the second process, standard output goes to standard error; only [`outputs`] leads to the real one. The
/// second process ends with the first. If a signal from outside ends the second process, it also ends this one.
pub(crate) fn run(work: impl FnOnce() -> u8) -> io::Result<End> {
    let notes = Notes::shared()?;
    let before = FORWARDED.map(|signal| (signal, forward(signal)));
    let _ = (io::stdout().flush(), io::stderr().flush());
    // SAFETY: `fork` has no precondition. The second process is a copy with this thread only. The program has no other
    // threads yet, or, in a test, none whose locks the lab needs.
    let (parent, child) = unsafe { (libc::getpid(), libc::fork()) };
    if child == 0 {
        notes.process.store(process(), Ordering::Relaxed);
        before.iter().for_each(|(signal, action)| restore(*signal, action));
        end_with(parent);
        separate_outputs();
        // SAFETY: the function only adds to a static number.
        unsafe { libc::pthread_atfork(None, None, Some(count_copy)) };
        leave(catch_unwind(AssertUnwindSafe(work)).unwrap_or(101));
    }
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    CHILD.store(child, Ordering::Relaxed);
    let end = wait(child, None);
    CHILD.store(0, Ordering::Relaxed);
    before.iter().for_each(|(signal, action)| restore(*signal, action));
    let end = end?;
    let code = notes.code.load(Ordering::Relaxed);
    if code > 255 {
        return Ok(End::Complete(code as u8));
    }
    if let End::Killed(signal) = end
        && signal == RECEIVED.load(Ordering::Relaxed)
    {
        // SAFETY: both functions take numbers only. The action is the one that was set before.
        unsafe { libc::raise(signal) };
    }
    Ok(end)
}

/// Runs `work` in another process for at most this time. The process ends by `_exit`, with the code that `work`
/// returns.
pub(super) fn aside(limit: Duration, work: impl FnOnce() -> u8) -> io::Result<End> {
    // SAFETY: as in `run`. The caller has made sure that the library has no threads either.
    let (parent, child) = unsafe { (libc::getpid(), libc::fork()) };
    if child == 0 {
        end_with(parent);
        let code = catch_unwind(AssertUnwindSafe(work)).unwrap_or(101);
        // SAFETY: `_exit` takes a number and does not return.
        unsafe { libc::_exit(code.into()) };
    }
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    wait(child, Some(Instant::now() + limit))
}

impl Notes {
    /// Creates notes that this process shares with the processes that it starts.
    fn shared() -> io::Result<&'static Self> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: the mapping is new, so it overlaps nothing.
        let memory = unsafe { libc::mmap(null_mut(), size_of::<Self>(), access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NOTES.store(memory.cast(), Ordering::Relaxed);
        // The mapping is never removed.
        notes().ok_or_else(|| io::Error::other("no memory"))
    }
}

/// Ends the second process with this exit code, or returns if this is not the second process.
pub(crate) fn leave_if_supervised(code: i32) {
    if OUTPUTS.get().is_some() {
        leave(code as u8);
    }
}

/// Notes the exit code, and ends the second process without running the exit handlers of a library.
fn leave(code: u8) -> ! {
    stay();
    // SAFETY: the null pointer stands for all files. What the library has written by then is shown.
    unsafe { libc::fflush(null_mut()) };
    if let Some(notes) = notes() {
        notes.code.store(256 + u32::from(code), Ordering::Relaxed);
    }
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(code.into()) }
}

/// Returns standard output and standard error for the report, if this is the second process.
pub(crate) fn outputs() -> Option<&'static [File; 2]> {
    stay();
    OUTPUTS.get()
}

/// Ends this process if it is not the second process, but a copy of it, which the library's code has made.
fn stay() {
    if OUTPUTS.get().is_some() && notes().is_some_and(|notes| notes.process.load(Ordering::Relaxed) != process()) {
        end_copy();
    }
}

/// Notes that the library's code has returned in a copy of the process, and ends the copy.
pub(super) fn end_copy() -> ! {
    if let Some(notes) = notes() {
        notes.copied.store(true, Ordering::Relaxed);
    }
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(2) }
}

extern "C" fn count_copy() {
    COPIES.fetch_add(1, Ordering::Relaxed);
}

/// Returns a number that changes in a copy of this process.
#[inline]
pub(super) fn copies() -> usize {
    COPIES.load(Ordering::Relaxed)
}

pub(super) fn process() -> libc::pid_t {
    // SAFETY: the function has no arguments and cannot fail.
    unsafe { libc::getpid() }
}

/// Keeps standard output and standard error under high numbers, and leads standard output to standard error.
fn separate_outputs() {
    let copy = |descriptor| {
        let wanted = [HIGH, 3].into_iter();
        // SAFETY: the calls take numbers only.
        wanted.map(|least| unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, least) }).find(|&copy| copy >= 0)
    };
    // A closed output stays closed.
    let closed = || {
        // SAFETY: the path is a literal that ends with a zero byte.
        unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) }
    };
    let files = [1, 2].map(|descriptor| {
        let copy = copy(descriptor).unwrap_or_else(closed);
        // SAFETY: the descriptor is new and belongs to nothing else.
        unsafe { File::from_raw_fd(copy) }
    });
    let _ = OUTPUTS.set(files);
    // SAFETY: the call takes numbers only.
    unsafe { libc::dup2(2, 1) };
}

/// Waits for the end of a child, at most until the deadline, and kills it afterwards.
fn wait(child: libc::pid_t, deadline: Option<Instant>) -> io::Result<End> {
    loop {
        let mut status = 0;
        let patience = if deadline.is_some() { libc::WNOHANG } else { 0 };
        // SAFETY: the status is a live local.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WUNTRACED | patience) } {
            0 if deadline.is_some_and(|deadline| Instant::now() > deadline) => {
                kill(child);
                return Ok(End::Late);
            }
            0 => std::thread::sleep(Duration::from_millis(1)),
            found if found == child && libc::WIFEXITED(status) => return Ok(End::Exited(libc::WEXITSTATUS(status))),
            found if found == child && libc::WIFSIGNALED(status) => return Ok(End::Killed(libc::WTERMSIG(status))),
            // Ctrl-Z stops both processes, and the shell continues both.
            found if found == child && libc::WSTOPSIG(status) != libc::SIGTSTP && !continued(child) => {
                kill(child);
                return Ok(End::Stopped(libc::WSTOPSIG(status)));
            }
            found if found == child => {}
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Returns whether a stopped child is soon continued.
fn continued(child: libc::pid_t) -> bool {
    std::thread::sleep(STOPPED);
    let mut status = 0;
    // SAFETY: the status is a live local.
    unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG | libc::WCONTINUED) == child }
}

/// Kills a child that has not been waited for.
fn kill(child: libc::pid_t) {
    // SAFETY: the calls take numbers and a null pointer, which is allowed.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, null_mut(), 0);
    }
}

/// Forwards a signal to the second process, and returns the action that was set before.
fn forward(signal: libc::c_int) -> libc::sigaction {
    extern "C" fn pass(signal: libc::c_int) {
        RECEIVED.store(signal, Ordering::Relaxed);
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 {
            // SAFETY: `kill` may be called in a signal handler. The child has not been waited for.
            unsafe { libc::kill(child, signal) };
        }
    }
    // SAFETY: `sigaction` consists of integers only, for which zeros are valid. The handler has the type that the flags
    // announce. A signal that is ignored stays ignored.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigaction(signal, std::ptr::null(), &raw mut before);
        if before.sa_sigaction != libc::SIG_IGN {
            action.sa_sigaction = pass as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &raw const action, null_mut());
        }
        before
    }
}

fn restore(signal: libc::c_int, action: &libc::sigaction) {
    // SAFETY: the action is one that the system returned.
    unsafe { libc::sigaction(signal, action, null_mut()) };
}

/// Makes the kernel kill this process when its parent ends, on Linux.
fn end_with(parent: libc::pid_t) {
    // SAFETY: the calls take numbers only. If the parent ended before the first call, the second one tells.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(2);
        }
    }
}

/// Returns the name of a signal and its usual reason.
pub(crate) fn signal_name(signal: i32) -> String {
    let names = [
        (libc::SIGSEGV, "SIGSEGV (memory that does not exist or must not be written)"),
        (libc::SIGBUS, "SIGBUS (memory that is misaligned or does not exist)"),
        (libc::SIGILL, "SIGILL (an instruction that this processor does not have)"),
        (libc::SIGFPE, "SIGFPE (an arithmetic error, such as a division by zero)"),
        (libc::SIGABRT, "SIGABRT (`abort`, or a failed assertion)"),
        (libc::SIGTRAP, "SIGTRAP (a breakpoint)"),
        (libc::SIGSYS, "SIGSYS (a system call that is forbidden)"),
        (libc::SIGKILL, "SIGKILL (sent by a process, or by the system when memory is short)"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGSTOP, "SIGSTOP"),
        (libc::SIGTTIN, "SIGTTIN (reading from the terminal)"),
        (libc::SIGTTOU, "SIGTTOU (writing to the terminal)"),
        (libc::SIGXCPU, "SIGXCPU (a limit of processor time)"),
        (libc::SIGXFSZ, "SIGXFSZ (a limit of the size of files)"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGUSR2, "SIGUSR2"),
    ];
    let known = names.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
