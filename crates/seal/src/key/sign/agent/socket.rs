//! One connection to an agent, with a deadline. Each message on the connection begins with its length.

use std::io::{self, ErrorKind, Read, Write};
#[cfg(unix)]
use std::os::unix::net::UnixStream as Stream;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::AgentError;
#[cfg(windows)]
use super::pipe::Pipe as Stream;
use deadpan_ct::Wiped;

/// The longest message that the client accepts. OpenSSH has the same limit.
const MAX_LEN: u32 = 256 << 10;

/// A connection on which each transfer must end before a deadline.
pub(super) struct Socket {
    stream: Stream,
    timeout: Duration,
    deadline: Instant,
}

impl Socket {
    /// Connects to the agent. The system has no time-out for connecting to a Unix socket or a pipe. Another thread
    /// therefore connects, and that thread may wait longer than the deadline.
    pub(super) fn connect(path: &Path, timeout: Duration) -> Result<Self, AgentError> {
        let deadline = Instant::now() + timeout;
        let (sender, receiver) = mpsc::channel();
        let path = path.to_owned();
        thread::Builder::new()
            .spawn(move || {
                // After the deadline, no thread receives the result, so sending the result may fail.
                let _ = sender.send(connect(&path, deadline));
            })
            .map_err(AgentError::Unreachable)?;
        match receiver.recv_timeout(timeout) {
            Ok(Ok(stream)) => Ok(Self { stream, timeout, deadline }),
            Ok(Err(error)) => Err(AgentError::Unreachable(error)),
            Err(RecvTimeoutError::Timeout) => Err(AgentError::TimedOut(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(AgentError::Closed),
        }
    }

    /// Sends a message.
    pub(super) fn send(&mut self, number: u8, contents: &[u8]) -> Result<(), AgentError> {
        let length = u32::try_from(1 + contents.len()).unwrap_or(u32::MAX);
        // The contents may be secret.
        let message = Wiped::new([&length.to_be_bytes()[..], &[number], contents].concat());
        let mut rest = &message[..];
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(self.left()?)).map_err(AgentError::Connection)?;
            match self.stream.write(rest) {
                Ok(0) => return Err(AgentError::Closed),
                Ok(written) => rest = &rest[written..],
                Err(error) => self.judge(error)?,
            }
        }
        Ok(())
    }

    /// Receives a message. Returns the number and the contents of the message.
    pub(super) fn receive(&mut self) -> Result<(u8, Vec<u8>), AgentError> {
        let mut head = [0; 4];
        self.fill(&mut head)?;
        let length = u32::from_be_bytes(head);
        if length > MAX_LEN {
            return Err(AgentError::TooLong(length));
        }
        let mut message = Wiped::new(vec![0; length as usize]);
        self.fill(&mut message)?;
        let (number, contents) = message.split_first().ok_or(AgentError::Malformed("a message without a number"))?;
        Ok((*number, contents.to_vec()))
    }

    fn fill(&mut self, mut rest: &mut [u8]) -> Result<(), AgentError> {
        while !rest.is_empty() {
            self.stream.set_read_timeout(Some(self.left()?)).map_err(AgentError::Connection)?;
            match self.stream.read(rest) {
                Ok(0) => return Err(AgentError::Closed),
                Ok(read) => rest = &mut rest[read..],
                Err(error) => self.judge(error)?,
            }
        }
        Ok(())
    }

    fn left(&self) -> Result<Duration, AgentError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(AgentError::TimedOut(self.timeout)) } else { Ok(left) }
    }

    /// Returns the error for a failed transfer, or `Ok` if the caller may try the transfer again.
    fn judge(&self, error: io::Error) -> Result<(), AgentError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(AgentError::TimedOut(self.timeout)),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Err(AgentError::Closed),
            _ => Err(AgentError::Connection(error)),
        }
    }
}

#[cfg(unix)]
fn connect(path: &Path, _deadline: Instant) -> io::Result<Stream> {
    Stream::connect(path)
}

#[cfg(windows)]
fn connect(path: &Path, deadline: Instant) -> io::Result<Stream> {
    Stream::connect(path, deadline)
}
