//! The pipes of a program, each of which a thread reads. Windows cannot wait for several pipes at once.
//!
//! Writing waits until the program reads. The messages are shorter than the buffer of a pipe.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Bytes of the output (false) or of standard error (true). No bytes at the end.
type Piece = (bool, Vec<u8>);

/// The pipes.
pub(super) struct Streams {
    stdin: Option<ChildStdin>,
    pieces: Receiver<Piece>,
    /// The bytes that were received and not read, of the output and of standard error.
    waiting: [VecDeque<u8>; 2],
    ended: [bool; 2],
}

impl Streams {
    pub(super) fn take(child: &mut Child) -> io::Result<Self> {
        let (sender, pieces) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            read(stdout, false, sender.clone())?;
        }
        if let Some(stderr) = child.stderr.take() {
            read(stderr, true, sender)?;
        }
        Ok(Self { stdin: child.stdin.take(), pieces, waiting: Default::default(), ended: [false; 2] })
    }

    /// Waits until the output (`reading`) or standard error can be read, or until the time is over. Returns whether the
    /// output is ready, and whether standard error is. The input is always ready.
    pub(super) fn wait(&mut self, reading: bool, left: Duration) -> io::Result<Option<(bool, bool)>> {
        let left = if !reading || self.is_ready(false) || self.is_ready(true) { Duration::ZERO } else { left };
        match self.pieces.recv_timeout(left) {
            Ok((is_error, bytes)) => {
                self.ended[usize::from(is_error)] |= bytes.is_empty();
                self.waiting[usize::from(is_error)].extend(bytes);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.ended = [true; 2],
        }
        Ok(Some((!reading || self.is_ready(false), !self.waiting[1].is_empty())))
    }

    fn is_ready(&self, is_error: bool) -> bool {
        let index = usize::from(is_error);
        !self.waiting[index].is_empty() || self.ended[index] && !is_error
    }

    /// Writes to the program's input. Returns `None` if the input is closed.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Option<io::Result<usize>> {
        self.stdin.as_mut().map(|stdin| stdin.write(bytes))
    }

    /// Reads the program's output. Returns `None` if the output is closed.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        Some(self.read_of(0, buffer))
    }

    /// Reads the program's standard error. Returns `None` if standard error is closed.
    pub(super) fn read_error(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        // At the end of a conversation, nobody has waited for the last pieces yet.
        while let Ok((is_error, bytes)) = self.pieces.try_recv() {
            self.ended[usize::from(is_error)] |= bytes.is_empty();
            self.waiting[usize::from(is_error)].extend(bytes);
        }
        Some(self.read_of(1, buffer))
    }

    fn read_of(&mut self, index: usize, buffer: &mut [u8]) -> io::Result<usize> {
        if self.waiting[index].is_empty() && !self.ended[index] {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.waiting[index].read(buffer)
    }

    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(super) fn close_output(&mut self) {
        self.ended[0] = true;
    }

    pub(super) fn close_error(&mut self) {
        self.ended[1] = true;
    }
}

/// Starts a thread that reads a pipe to its end.
fn read(mut pipe: impl Read + Send + 'static, is_error: bool, sender: Sender<Piece>) -> io::Result<()> {
    thread::Builder::new()
        .spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let length = pipe.read(&mut buffer).unwrap_or(0);
                if sender.send((is_error, buffer[..length].to_vec())).is_err() || length == 0 {
                    return;
                }
            }
        })
        .map(drop)
}
