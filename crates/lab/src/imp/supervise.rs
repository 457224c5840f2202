//! Runs unknown code, such as a shared library, in a second process. Unknown code can end its process, close the
//! descriptors of the process, or damage the memory of the process. The first process only waits for the second process
//! and reports what happened.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use super::convention::RULES;
use super::fork::end_with;
use super::notes::{NOTES, Notes, notes};

/// How the second process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The second process completed its work and returned this exit code.
    Complete(u8),
    /// The library's code ended the process and gave this exit code.
    Exited(i32),
    /// This signal killed the process.
    Killed(i32),
    /// This signal stopped the process, and no other process continued it.
    Stopped(i32),
    /// The second process exceeded its time limit, or made no progress for too long.
    Late,
    /// The second process did not end in time after a signal, so the lab killed the process.
    Deaf,
}

/// The lab's report uses only descriptors with this number or a higher number. Code that closes descriptors of other
/// code usually closes descriptors with small numbers.
const HIGH: libc::c_int = 700;
/// If the second process stays stopped for this time, the lab kills it.
const STOPPED: Duration = Duration::from_secs(1);

/// `GRACE` is the time limit for the second process to react to a signal that asks it to end. `REPORT` is the time
/// limit for the second process to report its results after this reaction.
const GRACE: Duration = Duration::from_secs(2);
const REPORT: Duration = Duration::from_secs(20);
/// The time between two checks of the second process.
const LOOK: Duration = Duration::from_millis(20);

/// The signals that end the lab early. The second process handles these signals.
const FORWARDED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// The id of the second process, to which this process forwards signals, or 0 if there is no second process.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// The last signal that was forwarded.
static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// The original standard output and standard error, to which the lab writes its report.
static OUTPUTS: OnceLock<[File; 2]> = OnceLock::new();

/// Whether this process is a copy of the second process, created because the library's code called `fork`.
static COPY: AtomicBool = AtomicBool::new(false);

/// Runs `work` in a second process and waits for the end of the process. `work` returns an exit code. Both processes
/// are in the same process group. In the second process, writes to standard output go to standard error. Only
/// [`outputs`] returns the original standard output. The second process ends when the first process ends. If a signal
/// from outside ends the second process, the same signal ends the first process. The first process kills the second
/// process if the second process ignores a signal, or if the notes show no progress for the time `patience`.
pub(crate) fn run(patience: Duration, work: impl FnOnce() -> u8) -> io::Result<End> {
    let notes = Notes::shared()?;
    let before = FORWARDED.map(|signal| (signal, forward(signal)));
    let _ = (io::stdout().flush(), io::stderr().flush());
    // SAFETY: `fork` has no precondition. The second process has only the thread that called `fork`. At this point, the
    // program has no other threads. The program has other threads only in tests, and the lab needs no lock that those
    // threads may hold.
    let (parent, child) = unsafe { (libc::getpid(), libc::fork()) };
    if child == 0 {
        notes.process.store(process(), Ordering::Relaxed);
        before.iter().for_each(|(signal, action)| restore(*signal, action));
        end_with(parent);
        separate_outputs();
        let _ = SURROUNDINGS.set(Surroundings::now());
        // SAFETY: the function only sets a static value.
        unsafe { libc::pthread_atfork(None, None, Some(note_copy)) };
        leave(catch_unwind(AssertUnwindSafe(work)).unwrap_or(101));
    }
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    CHILD.store(child, Ordering::Relaxed);
    let end = wait(child, LOOK, watch(notes, patience));
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
        // SAFETY: both functions take numbers only. The code has already restored the earlier action of the signal.
        unsafe { libc::raise(signal) };
    }
    Ok(end)
}

/// Runs `work` in another process for at most `limit`. The process ends with `_exit`, and its exit code is the result
/// of `work`.
pub(super) fn aside(limit: Duration, work: impl FnOnce() -> u8) -> io::Result<End> {
    // SAFETY: as in `run`. The caller has made sure that the library has no threads.
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
    let deadline = Instant::now() + limit;
    wait(child, Duration::from_millis(1), || (Instant::now() > deadline).then_some(End::Late))
}

/// Returns a function that decides whether the second process must be killed. The function ignores the time during
/// which the first process was stopped.
fn watch(notes: &'static Notes, patience: Duration) -> impl FnMut() -> Option<End> {
    let (mut last, mut beats) = (Instant::now(), 0);
    let (mut quiet, mut since_signal) = (Duration::ZERO, Duration::ZERO);
    move || {
        let step = last.elapsed().min(10 * LOOK);
        last = Instant::now();
        let before = std::mem::replace(&mut beats, notes.beats());
        quiet = if beats == before { quiet + step } else { Duration::ZERO };
        if RECEIVED.load(Ordering::Relaxed) != 0 {
            since_signal += step;
        }
        let grace = if notes.ending.load(Ordering::Relaxed) { REPORT } else { GRACE };
        match () {
            () if since_signal > grace => Some(End::Deaf),
            () if quiet > patience => Some(End::Late),
            () => None,
        }
    }
}

impl Notes {
    /// Creates the notes. Their memory is shared between this process and the child processes that it starts later.
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

/// If this is the second process, ends it with this exit code. Otherwise the function returns.
pub(crate) fn leave_if_supervised(code: i32) {
    if OUTPUTS.get().is_some() {
        leave(code as u8);
    }
}

/// The parts of the process state on which the lab's report depends: the current folder, the root folder, the
/// permission mask of new files, and the outputs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Surroundings {
    folder: Option<(u64, u64)>,
    root: Option<(u64, u64)>,
    mask: libc::mode_t,
    outputs: Option<[Option<(u64, u64)>; 2]>,
}

/// The process state before the library was loaded.
static SURROUNDINGS: OnceLock<Surroundings> = OnceLock::new();

/// Changes of the process state that a library's function may have caused.
pub(crate) const CHANGES: [&str; 4] = [
    "it closes or replaces the descriptors to which the lab writes",
    "it changes the current folder",
    "it changes the root folder",
    "it changes the permissions of new files (`umask`)",
];

impl Surroundings {
    fn now() -> Self {
        use std::os::unix::fs::MetadataExt;
        let place = |path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let same = |file: &File| file.metadata().ok().map(|found| (found.dev(), found.ino()));
        // SAFETY: the calls take numbers only. The second call restores the mask that the first call changed.
        let mask = unsafe {
            let mask = libc::umask(0o077);
            libc::umask(mask);
            mask
        };
        let outputs = OUTPUTS.get().map(|files| [same(&files[0]), same(&files[1])]);
        Self { folder: place("."), root: place("/"), mask, outputs }
    }

    /// Compares the process state with this earlier state, and returns the position in [`CHANGES`] of the first change.
    fn changed(&self) -> Option<usize> {
        let now = Self::now();
        let differs =
            [now.outputs != self.outputs, now.folder != self.folder, now.root != self.root, now.mask != self.mask];
        differs.into_iter().position(|differs| differs)
    }
}

/// Ends the second process if its results are invalid. The first process reports the reason.
pub(crate) fn leave_if_spoiled() {
    stay();
    if let (Some(notes), Some(before)) = (notes(), SURROUNDINGS.get()) {
        if let Some(change) = before.changed() {
            notes.note_broken(RULES.len() + change);
        }
        if notes.copied() || notes.broken_rule().is_some() {
            notes.silent.store(true, Ordering::Relaxed);
            end(2);
        }
    }
}

/// Records the exit code, and ends the second process. The exit handlers of a library do not run.
fn leave(code: u8) -> ! {
    stay();
    if code != 2 || SURROUNDINGS.get().and_then(Surroundings::changed).is_some() {
        leave_if_spoiled();
    }
    end(code)
}

fn end(code: u8) -> ! {
    // SAFETY: `fflush` accepts the null pointer, which means all files. The call writes the library's buffered output.
    unsafe { libc::fflush(null_mut()) };
    if let Some(notes) = notes() {
        notes.code.store(256 + u32::from(code), Ordering::Relaxed);
    }
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(code.into()) }
}

/// In the second process, returns the original standard output and the original standard error.
pub(crate) fn outputs() -> Option<&'static [File; 2]> {
    stay();
    OUTPUTS.get()
}

/// If this process is a copy that the library's code created with `fork`, ends this process.
fn stay() {
    if OUTPUTS.get().is_some() && notes().is_some_and(|notes| notes.process.load(Ordering::Relaxed) != process()) {
        end_copy();
    }
}

/// Writes to the notes that a copy of the second process has returned from the library's code, and ends the copy.
pub(super) fn end_copy() -> ! {
    if let Some(notes) = notes() {
        notes.copied.store(true, Ordering::Relaxed);
    }
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(2) }
}

extern "C" fn note_copy() {
    COPY.store(true, Ordering::Relaxed);
}

/// Notes the beginning of a call of a library's function. If the lab itself created this process with `fork` before the
/// call, this process is not a copy that the library's code created.
#[inline]
pub(super) fn begin_call() {
    COPY.store(false, Ordering::Relaxed);
}

/// Returns whether the library's code created this process with `fork` after the call began.
#[inline]
pub(super) fn is_copy() -> bool {
    COPY.load(Ordering::Relaxed)
}

pub(super) fn process() -> libc::pid_t {
    // SAFETY: the function has no arguments and cannot fail.
    unsafe { libc::getpid() }
}

/// Duplicates standard output and standard error to descriptors with high numbers, and then redirects standard output
/// to standard error.
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

/// Waits until a child process ends. Kills the child process when `over` returns a reason.
fn wait(child: libc::pid_t, look: Duration, mut over: impl FnMut() -> Option<End>) -> io::Result<End> {
    loop {
        let mut status = 0;
        // SAFETY: the status is a live local variable.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WUNTRACED | libc::WNOHANG) } {
            0 => {
                if let Some(end) = over() {
                    kill(child);
                    return Ok(end);
                }
                std::thread::sleep(look);
            }
            found if found == child && libc::WIFEXITED(status) => return Ok(End::Exited(libc::WEXITSTATUS(status))),
            found if found == child && libc::WIFSIGNALED(status) => return Ok(End::Killed(libc::WTERMSIG(status))),
            // Ctrl-Z stops both processes, and the shell can later continue both processes, so the child is not killed.
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

/// Waits one second, and returns whether the stopped child process was continued in the meantime.
fn continued(child: libc::pid_t) -> bool {
    std::thread::sleep(STOPPED);
    let mut status = 0;
    // SAFETY: the status is a live local variable.
    unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG | libc::WCONTINUED) == child }
}

/// Kills a child process. The caller must not have waited for the child.
fn kill(child: libc::pid_t) {
    // SAFETY: the calls take numbers and a null pointer, which is allowed.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, null_mut(), 0);
    }
}

/// Installs a handler that forwards a signal to the second process, and returns the earlier action of the signal.
fn forward(signal: libc::c_int) -> libc::sigaction {
    extern "C" fn pass(signal: libc::c_int) {
        RECEIVED.store(signal, Ordering::Relaxed);
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 {
            // SAFETY: `kill` may be called in a signal handler. This program has not waited for the child yet, so the
            // process id is still valid.
            unsafe { libc::kill(child, signal) };
        }
    }
    // SAFETY: `sigaction` consists of integers only, for which zeros are valid. The handler has the type that the flags
    // announce. A signal that was ignored before stays ignored.
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
    // SAFETY: the system returned this action earlier.
    unsafe { libc::sigaction(signal, action, null_mut()) };
}

/// Returns the name of a signal and its usual cause, as text.
pub(crate) fn signal_name(signal: i32) -> String {
    let names = [
        (libc::SIGSEGV, "SIGSEGV (memory that does not exist or must not be written)"),
        (libc::SIGBUS, "SIGBUS (memory that is misaligned or does not exist)"),
        (libc::SIGILL, "SIGILL (an instruction that this processor does not have)"),
        (libc::SIGFPE, "SIGFPE (an arithmetic error, such as a division by zero)"),
        (libc::SIGABRT, "SIGABRT (`abort`, a failed assertion, or an exception that leaves the function)"),
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
