//! A connection to an agent on Windows, over a named pipe. OpenSSH for Windows has its agent there.
//!
//! Transfers over a pipe have no time limit, so another thread makes each transfer. If a transfer takes too long, that
//! thread waits until the agent answers or ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The agent may see who this user is, and cannot act as this user (`SECURITY_IDENTIFICATION`).
const IDENTIFICATION: u32 = 1 << 16;
/// All instances of the pipe are in use (`ERROR_PIPE_BUSY`).
const BUSY: i32 = 231;
/// The agent has closed the pipe (`ERROR_PIPE_NOT_CONNECTED`).
const NOT_CONNECTED: i32 = 233;
/// The time between two attempts to open a pipe that is busy.
const AGAIN: Duration = Duration::from_millis(20);

/// An open pipe.
pub(super) struct Pipe {
    file: File,
    timeout: Option<Duration>,
}

impl Pipe {
    /// Opens a pipe of this machine. Other paths are refused: a request is not written into a file, and not sent to
    /// another machine.
    pub(super) fn connect(path: &Path, deadline: Instant) -> io::Result<Self> {
        let name = path.to_string_lossy().replace('/', r"\").to_lowercase();
        // Windows resolves `..`, so a name with separators could lead to a file or to another machine.
        if !name.strip_prefix(r"\\.\pipe\").is_some_and(|name| !name.is_empty() && !name.contains('\\')) {
            let message = r"this is no pipe of this machine, such as \\.\pipe\openssh-ssh-agent";
            return Err(io::Error::new(ErrorKind::Unsupported, message));
        }
        loop {
            match OpenOptions::new().read(true).write(true).security_qos_flags(IDENTIFICATION).open(path) {
                Err(error) if error.raw_os_error() == Some(BUSY) && Instant::now() < deadline => thread::sleep(AGAIN),
                opened => return Ok(Self { file: opened?, timeout: None }),
            }
        }
    }

    /// Sets the time limit of each transfer, as for a socket.
    pub(super) fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.timeout = timeout;
        Ok(())
    }

    /// Sets the time limit of each transfer, as for a socket.
    pub(super) fn set_write_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(timeout)
    }

    /// Makes a transfer on another thread.
    fn transfer<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let mut file = self.file.try_clone()?;
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            // After the deadline, no thread receives the result, so sending the result may fail.
            let _ = sender.send(act(&mut file));
        })?;
        let done = receiver.recv_timeout(self.timeout.unwrap_or(Duration::MAX));
        match done.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Err(error) if error.raw_os_error() == Some(NOT_CONNECTED) => Err(ErrorKind::BrokenPipe.into()),
            done => done,
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = vec![0; buffer.len()];
        let bytes = self.transfer(move |file| {
            let read = file.read(&mut bytes)?;
            bytes.truncate(read);
            Ok(bytes)
        })?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

impl Write for Pipe {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let bytes = buffer.to_vec();
        self.transfer(move |file| file.write(&bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
