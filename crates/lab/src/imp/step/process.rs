//! Child processes for traced calls. One child process, the template, starts once and never changes its memory. The
//! template starts another child for each call, so the memory is the same at the start of each call. If a call kills
//! its process, only this child process ends.

use std::io;
use std::time::{Duration, Instant};

use super::shared::Shared;
use crate::imp::fork::end_with;

/// The maximum time that a call may run without progress.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum time of a traced call.
const CALL: Duration = Duration::from_secs(600);
/// The pause between two checks of the progress.
const PAUSE_MS: libc::c_int = 200;

/// A request for a traced call.
#[derive(Clone, Copy, Default)]
pub(crate) struct Order {
    /// The index of the input.
    pub(crate) input: usize,
    /// Whether the call is traced with the trap flag.
    pub(crate) trap: bool,
}

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
    /// The call took longer than this time.
    Slow(Duration),
    /// The caller stopped the trace.
    Stopped,
    /// The system refused to start a process.
    Refused,
}

impl End {
    /// Describes why a process ended before its work was complete. `status` comes from [`wait`].
    pub(super) fn from_status(status: Option<libc::c_int>) -> Self {
        match status {
            Some(status) if libc::WIFSIGNALED(status) => Self::Signal(libc::WTERMSIG(status)),
            Some(status) => Self::Exited(libc::WEXITSTATUS(status)),
            None => Self::Refused,
        }
    }
}

/// The data that the template, its parent and its children share.
#[derive(Clone, Copy)]
struct ProcessNotes {
    order: Order,
    /// Whether the call has returned and the recording is complete.
    done: bool,
    end: End,
}

/// The template: the process that starts a process for each call.
pub(crate) struct Template {
    process: libc::pid_t,
    notes: Shared<ProcessNotes>,
    /// A socket. The template's parent sends one byte on the socket for each call that the template must start. The
    /// template sends one byte on the socket when a call has ended.
    socket: libc::c_int,
}

impl Template {
    /// Starts the template. The function `call` runs in the process of each traced call, records the call, and returns
    /// whether the recording is complete. The value of `progress` must grow while the function `call` runs. Returns
    /// `None` if the system refuses to start a process.
    pub(crate) fn start(progress: &dyn Fn() -> u64, call: &mut dyn FnMut(Order) -> bool) -> Option<Self> {
        let mut notes = Shared::new(ProcessNotes { order: Order::default(), done: false, end: End::Refused })?;
        let [socket, own] = sockets()?;
        // SAFETY: `fork` has no precondition. The child process has only this thread. The child process makes only
        // system calls, which are allowed after `fork`, and calls the traced function, which may hang. The child never
        // returns.
        let (parent, process) = unsafe { (libc::getpid(), libc::fork()) };
        if process == 0 {
            close(socket);
            end_with(parent);
            serve(&mut notes, own, progress, call);
        }
        close(own);
        if process < 0 {
            close(socket);
            return None;
        }
        Some(Self { process, notes, socket })
    }

    pub(crate) fn call(&mut self, order: Order) -> End {
        self.notes.order = order;
        if !send(self.socket) || !receive(self.socket) {
            return End::Refused;
        }
        self.notes.end
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        close(self.socket);
        // SAFETY: this value started the process and has not waited for it yet. The template's children end together
        // with the template.
        unsafe { libc::kill(self.process, libc::SIGKILL) };
        wait(self.process);
    }
}

/// Starts a process for each request, until the parent closes the socket or the parent ends.
fn serve(
    notes: &mut Shared<ProcessNotes>,
    socket: libc::c_int,
    progress: &dyn Fn() -> u64,
    call: &mut dyn FnMut(Order) -> bool,
) -> ! {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a live structure. A call that crashes leaves no core file.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    while receive(socket) {
        (notes.done, notes.end) = (false, End::Refused);
        if let Some([watched, alive]) = sockets() {
            // SAFETY: as in `Template::start`.
            let (parent, process) = unsafe { (libc::getpid(), libc::fork()) };
            if process == 0 {
                close(socket);
                close(watched);
                end_with(parent);
                notes.done = call(notes.order);
                end();
            }
            close(alive);
            if process > 0 {
                let early = watch(watched, progress);
                // SAFETY: the process is a child, and this program has not waited for the child yet.
                unsafe { libc::kill(process, libc::SIGKILL) };
                let status = wait(process);
                notes.end = if notes.done { End::Done } else { early.unwrap_or_else(|| End::from_status(status)) };
            }
            close(watched);
        }
        if !send(socket) {
            break;
        }
    }
    end();
}

/// Ends this process without running the program's exit handlers.
pub(super) fn end() -> ! {
    // SAFETY: `_exit` only takes a number.
    unsafe { libc::_exit(0) }
}

/// Waits until a process has ended. When the watched process ends, the other end of its socket is closed. If the
/// process must end early, returns the reason.
fn watch(watched: libc::c_int, progress: &dyn Fn() -> u64) -> Option<End> {
    let start = Instant::now();
    let (mut last, mut since) = (progress(), start);
    loop {
        let mut poll = libc::pollfd { fd: watched, events: 0, revents: 0 };
        // SAFETY: the structure is a live local variable.
        if unsafe { libc::poll(&raw mut poll, 1, PAUSE_MS) } > 0 {
            return None;
        }
        let now = progress();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            return Some(End::Stuck);
        }
        if start.elapsed() > CALL {
            return Some(End::Slow(CALL));
        }
    }
}

fn sockets() -> Option<[libc::c_int; 2]> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: the call writes two descriptors to a local variable.
    (unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } == 0).then_some(ends)
}

fn close(descriptor: libc::c_int) {
    // SAFETY: each caller owns the descriptor, and does not use it after this call.
    unsafe { libc::close(descriptor) };
}

fn interrupted() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

fn send(socket: libc::c_int) -> bool {
    loop {
        // SAFETY: the byte is readable. If the other process has ended, the flag `MSG_NOSIGNAL` makes `send` return an
        // error instead of raising a signal.
        let sent = unsafe { libc::send(socket, [1_u8].as_ptr().cast(), 1, libc::MSG_NOSIGNAL) };
        if sent >= 0 || !interrupted() {
            return sent == 1;
        }
    }
}

fn receive(socket: libc::c_int) -> bool {
    let mut byte = 0_u8;
    loop {
        // SAFETY: the byte is a live local variable.
        let received = unsafe { libc::recv(socket, (&raw mut byte).cast(), 1, 0) };
        if received >= 0 || !interrupted() {
            return received == 1;
        }
    }
}

/// Waits for a child. Returns `None` if the program ignores SIGCHLD, because the system then stores no exit status.
pub(super) fn wait(process: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the status is a live local variable.
        let ended = unsafe { libc::waitpid(process, &raw mut status, 0) };
        if ended == process {
            return Some(status);
        }
        if !interrupted() {
            return None;
        }
    }
}

/// Returns whether this process has a child process, even if the child has ended already.
#[cfg(feature = "harness")]
pub(crate) fn any_child() -> bool {
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: this is a plain C structure, for which zeros are valid. The call writes to this local variable.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut info, how) == 0
    }
}

/// Returns whether a child of this process still runs.
pub(super) fn children() -> bool {
    loop {
        // SAFETY: the call takes only numbers and a null pointer.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => return true,
            1.. => {}
            _ => return false,
        }
    }
}
