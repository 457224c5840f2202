//! Child processes for traced calls. One child, the template, is started once and stays as it is. It starts another
//! child for each call, so that each call begins with the same memory, and a call that kills its process ends only that
//! child.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::shared::Shared;

/// How long a call may make no progress.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait between two looks at the progress.
const PAUSE_MS: libc::c_int = 200;

/// What a traced call is asked to do.
#[derive(Clone, Copy, Default)]
pub(crate) struct Order {
    /// The index of the input.
    pub(crate) input: usize,
    /// Whether to use the trap flag.
    pub(crate) trap: bool,
}

/// How the process of a traced call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The recording is complete.
    Done,
    /// A signal killed the process.
    Signal(i32),
    /// The function ended the process.
    Exited(i32),
    /// The call made no progress for [`PATIENCE`].
    Stuck,
    /// The system refused to start a process.
    Refused,
}

/// What the processes of one template share.
#[derive(Clone, Copy, Default)]
struct Notes {
    order: Order,
    /// Whether the call has returned and the recording is complete.
    done: bool,
    end: i32,
    detail: i32,
}

/// The process from which the processes of all calls start.
pub(crate) struct Template {
    process: libc::pid_t,
    notes: Shared<Notes>,
    /// The socket on which this process sends one byte for each order, and the template one byte for each end.
    socket: libc::c_int,
}

/// Lets one thread start a template at a time. Otherwise another template would inherit the template's own socket, and
/// its end would go unnoticed.
static STARTING: Mutex<()> = Mutex::new(());

impl Template {
    /// Starts the template. In the process of a call, `call` makes the recording and returns whether
    /// it is complete; `progress` must grow meanwhile.
    /// Returns `None` if the system refuses.
    pub(crate) fn start(progress: &dyn Fn() -> u64, call: &mut dyn FnMut(Order) -> bool) -> Option<Self> {
        let mut notes = Shared::new(Notes::default())?;
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let [socket, own] = sockets()?;
        // SAFETY: `fork` has no precondition. The child is a copy with this thread only, and calls only functions that
        // are allowed there: system calls, and the function to trace, which may stop for good. It never returns.
        let (parent, process) = unsafe { (libc::getpid(), libc::fork()) };
        if process == 0 {
            close(socket);
            end_with(parent);
            serve(&mut notes, own, progress, call);
        }
        close(own);
        drop(starting);
        if process < 0 {
            close(socket);
            return None;
        }
        Some(Self { process, notes, socket })
    }

    /// Makes one call in a new process and waits for its end.
    pub(crate) fn call(&mut self, order: Order) -> End {
        self.notes.order = order;
        if !send(self.socket) || !receive(self.socket) {
            return End::Refused;
        }
        match (self.notes.end, self.notes.detail) {
            (0, _) => End::Done,
            (1, signal) => End::Signal(signal),
            (2, code) => End::Exited(code),
            (3, _) => End::Stuck,
            _ => End::Refused,
        }
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        close(self.socket);
        // SAFETY: the process is a child that this value started and has not waited for. Its own children end with it.
        unsafe { libc::kill(self.process, libc::SIGKILL) };
        wait(self.process);
    }
}

/// Starts a process for each order, until the parent closes the socket or ends.
fn serve(
    notes: &mut Shared<Notes>,
    socket: libc::c_int,
    progress: &dyn Fn() -> u64,
    call: &mut dyn FnMut(Order) -> bool,
) -> ! {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a live structure. A call that crashes leaves no core file.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    while receive(socket) {
        (notes.done, notes.end, notes.detail) = (false, 4, 0);
        if let Some([watched, alive]) = sockets() {
            // SAFETY: as in `Template::start`.
            let (parent, process) = unsafe { (libc::getpid(), libc::fork()) };
            if process == 0 {
                close(socket);
                close(watched);
                end_with(parent);
                notes.done = call(notes.order);
                // SAFETY: `_exit` ends this process without running the program's exit handlers.
                unsafe { libc::_exit(0) };
            }
            close(alive);
            if process > 0 {
                let stuck = !ended(watched, progress);
                // SAFETY: the process is a child that has not been waited for.
                unsafe { libc::kill(process, libc::SIGKILL) };
                let status = wait(process);
                (notes.end, notes.detail) = match (notes.done, stuck, status) {
                    (true, ..) => (0, 0),
                    (_, true, _) => (3, 0),
                    (_, _, Some(status)) if libc::WIFSIGNALED(status) => (1, libc::WTERMSIG(status)),
                    (_, _, Some(status)) => (2, libc::WEXITSTATUS(status)),
                    _ => (4, 0),
                };
            }
            close(watched);
        }
        if !send(socket) {
            break;
        }
    }
    // SAFETY: `_exit` ends this process without running the program's exit handlers.
    unsafe { libc::_exit(0) };
}

/// Waits until a process has ended, which closes the other socket. Returns false if it makes no progress.
fn ended(watched: libc::c_int, progress: &dyn Fn() -> u64) -> bool {
    let (mut last, mut since) = (progress(), Instant::now());
    loop {
        let mut poll = libc::pollfd { fd: watched, events: 0, revents: 0 };
        // SAFETY: the structure is a live local.
        if unsafe { libc::poll(&raw mut poll, 1, PAUSE_MS) } > 0 {
            return true;
        }
        let now = progress();
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > PATIENCE {
            return false;
        }
    }
}

/// Makes the kernel kill this process when its parent ends.
fn end_with(parent: libc::pid_t) {
    // SAFETY: both calls only take numbers. If the parent ended before the first call, the second one tells.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(0);
        }
    }
}

fn sockets() -> Option<[libc::c_int; 2]> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: the call writes two descriptors to a local.
    (unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } == 0).then_some(ends)
}

fn close(descriptor: libc::c_int) {
    // SAFETY: each caller owns the descriptor and uses it no more.
    unsafe { libc::close(descriptor) };
}

fn interrupted() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

fn send(socket: libc::c_int) -> bool {
    loop {
        // SAFETY: the byte is readable. If the other process has ended, the flag turns a signal into an error.
        let sent = unsafe { libc::send(socket, [1_u8].as_ptr().cast(), 1, libc::MSG_NOSIGNAL) };
        if sent >= 0 || !interrupted() {
            return sent == 1;
        }
    }
}

fn receive(socket: libc::c_int) -> bool {
    let mut byte = 0_u8;
    loop {
        // SAFETY: the byte is a live local.
        let received = unsafe { libc::recv(socket, (&raw mut byte).cast(), 1, 0) };
        if received >= 0 || !interrupted() {
            return received == 1;
        }
    }
}

/// Waits for a child. Returns `None` if the system has no status, because the program ignores SIGCHLD.
fn wait(process: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the status is a live local.
        let ended = unsafe { libc::waitpid(process, &raw mut status, 0) };
        if ended == process {
            return Some(status);
        }
        if !interrupted() {
            return None;
        }
    }
}
