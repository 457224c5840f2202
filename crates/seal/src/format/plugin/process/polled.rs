//! The pipes of a program, none of which blocks.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// The pipes. A pipe that is closed is `None`.
pub(super) struct Streams {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Streams {
    pub(super) fn take(child: &mut Child) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let streams = Self { stdin, stdout, stderr };
        let (stdin, stdout) = (streams.stdin.as_ref().map(AsFd::as_fd), streams.stdout.as_ref().map(AsFd::as_fd));
        let stderr = streams.stderr.as_ref().map(AsFd::as_fd);
        for pipe in [stdin, stdout, stderr].into_iter().flatten() {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(streams)
    }

    /// Waits until the output can be read (`reading`) or the input can be written, or standard error can be read, or
    /// until the time is over. Returns whether the output or input is ready, and whether standard error is. Returns
    /// `None` if the output or input is closed.
    pub(super) fn wait(&mut self, reading: bool, left: Duration) -> io::Result<Option<(bool, bool)>> {
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let (main, flags) = match reading {
            true => (self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            false => (self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
        };
        let Some(main): Option<BorrowedFd<'_>> = main else { return Ok(None) };
        let mut fds = vec![PollFd::from_borrowed_fd(main, flags)];
        fds.extend(self.stderr.as_ref().map(|stderr| PollFd::from_borrowed_fd(stderr.as_fd(), PollFlags::IN)));
        match poll(&mut fds, Some(&limit)) {
            Err(Errno::INTR) => {}
            result => drop(result?),
        }
        let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        Ok(Some((ready(0), ready(1))))
    }

    /// Writes to the program's input. Returns `None` if the input is closed.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Option<io::Result<usize>> {
        self.stdin.as_mut().map(|stdin| stdin.write(bytes))
    }

    /// Reads the program's output. Returns `None` if the output is closed.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        self.stdout.as_mut().map(|stdout| stdout.read(buffer))
    }

    /// Reads the program's standard error. Returns `None` if standard error is closed.
    pub(super) fn read_error(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        self.stderr.as_mut().map(|stderr| stderr.read(buffer))
    }

    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(super) fn close_output(&mut self) {
        self.stdout = None;
    }

    pub(super) fn close_error(&mut self) {
        self.stderr = None;
    }
}
