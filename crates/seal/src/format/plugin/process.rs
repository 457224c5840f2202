//! The program of a plugin. This module starts the program without a shell. The module always stops the program and
//! waits for its end, even after an error.

#[cfg(unix)]
mod polled;
#[cfg(not(unix))]
mod threads;

use std::io::ErrorKind;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

#[cfg(unix)]
use self::polled::Streams;
#[cfg(not(unix))]
use self::threads::Streams;
use super::dialog::Question;
use super::error::Reason;
use super::talk::Pipe;
use super::{Client, search, text};
use crate::key::plugin::PluginName;

/// The time that a plugin may take to end by itself after the conversation.
const GRACE: Duration = Duration::from_secs(2);
/// The maximum number of bytes from a plugin's standard error that are shown.
const LOG: usize = 8 << 10;

/// The program of a plugin that was started.
#[derive(Clone, Debug)]
pub struct Process(Arc<Mutex<Child>>);

impl Process {
    /// Stops the program immediately. Does nothing if the program has already ended.
    pub fn kill(&self) {
        let _ = self.child().kill();
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.0.lock()
    }

    /// Waits until the program ends by itself. Stops the program if it has not ended after the grace period. Returns
    /// the status of the program.
    fn end(&self, grace: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(100);
        loop {
            // The lock is not held during the pause, so that a signal handler can stop the program.
            let status = self.child().try_wait();
            match status {
                Ok(None) if begin.elapsed() < grace => {}
                Ok(None) | Err(_) => break,
                Ok(status) => return status,
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
        None
    }
}

/// Starts the plugin with this state machine, and calls `talk` to communicate with the plugin. The program has ended
/// when this function returns, even after an error.
pub(super) fn run<T>(
    name: &PluginName,
    client: &Client,
    machine: &str,
    talk: impl FnOnce(&mut dyn Pipe) -> Result<T, Reason>,
) -> Result<T, Reason> {
    let program = search::find(name, client).ok_or(Reason::Missing)?;
    let mut command = Command::new(program);
    command.arg(format!("--age-plugin={machine}"));
    // The plugin runs in the root folder. Plugins need no particular folder. The user's current folder could contain
    // files that change what a plugin does.
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in &client.hidden {
        command.env_remove(variable);
    }
    let mut child = command.spawn().map_err(Reason::Start)?;
    let streams = Streams::take(&mut child);
    let mut running = Running { process: Process(Arc::new(Mutex::new(child))), note: None };
    running.note = Some(client.dialog.started(&running.process));
    let streams = streams.map_err(Reason::Pipe)?;
    let mut pipes = Pipes { streams, log: Log { left: LOG, line: Vec::new() }, client, name };
    let result = talk(&mut pipes);
    // Closing the plugin's input shows the plugin that the conversation is over.
    pipes.streams.close_input();
    let grace = match &result {
        Ok(_) | Err(Reason::Ended(_) | Reason::Refused { .. } | Reason::Unanswered(_)) => GRACE,
        Err(_) => Duration::ZERO,
    };
    pipes.streams.close_output();
    let status = running.process.end(grace);
    pipes.rest_of_log();
    match result {
        Err(Reason::Ended(_)) => Err(Reason::Ended(status)),
        result => result,
    }
}

/// A guard that stops the program when the guard is dropped, even during a panic.
struct Running {
    process: Process,
    note: Option<Box<dyn std::any::Any>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.end(Duration::ZERO);
        self.note = None;
    }
}

/// The three pipes of the program.
struct Pipes<'a> {
    streams: Streams,
    log: Log,
    client: &'a Client,
    name: &'a PluginName,
}

/// The plugin's standard error.
struct Log {
    /// The number of further bytes that may be shown.
    left: usize,
    /// The beginning of a line that is not complete yet.
    line: Vec<u8>,
}

impl Pipes<'_> {
    /// Waits until the output can be read (`reading`) or the input can be written, or until the time is over.
    /// Meanwhile, this function reads the plugin's standard error.
    fn wait(&mut self, reading: bool, until: Instant) -> Result<(), Reason> {
        loop {
            let left = until.checked_duration_since(Instant::now()).unwrap_or_default();
            let (main, error) = self.streams.wait(reading, left).map_err(Reason::Pipe)?.ok_or(Reason::Ended(None))?;
            if error {
                self.read_log();
            }
            if main {
                return Ok(());
            }
            if left.is_zero() {
                return Err(Reason::Silent(Duration::ZERO));
            }
        }
    }

    /// Reads the bytes that are available on standard error, but at most a few lines.
    fn read_log(&mut self) {
        let mut buffer = [0; 4096];
        match self.streams.read_error(&mut buffer) {
            Some(Ok(length @ 1..)) => self.show(&buffer[..length]),
            Some(Err(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            _ => self.streams.close_error(),
        }
    }

    /// Shows whole lines of standard error, up to the maximum number of bytes. Further bytes are dropped.
    fn show(&mut self, bytes: &[u8]) {
        let shown = &bytes[..bytes.len().min(self.log.left)];
        self.log.left -= shown.len();
        for byte in shown {
            if *byte == b'\n' { self.show_line() } else { self.log.line.push(*byte) }
        }
        if shown.len() < bytes.len() && !shown.is_empty() {
            self.show_line();
            self.say("the rest of its messages is not shown".into());
        }
    }

    fn show_line(&mut self) {
        let line = text::lines(&std::mem::take(&mut self.log.line));
        if !line.is_empty() {
            self.say(line);
        }
    }

    fn say(&self, line: String) {
        self.client.dialog.ask(&self.name.program(), &Question::Log(line));
    }

    /// Shows the rest of standard error that is already available.
    fn rest_of_log(&mut self) {
        for _ in 0..=LOG / 4096 {
            self.read_log();
        }
        self.show_line();
    }
}

impl Pipe for Pipes<'_> {
    fn send(&mut self, mut bytes: &[u8], limit: Duration) -> Result<(), Reason> {
        let until = Instant::now() + limit;
        while !bytes.is_empty() {
            self.wait(false, until).map_err(|reason| match reason {
                Reason::Silent(_) => Reason::Silent(limit),
                reason => reason,
            })?;
            match self.streams.write(bytes).ok_or(Reason::Ended(None))? {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(Reason::Ended(None)),
                Err(error) => return Err(Reason::Pipe(error)),
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> Result<usize, Reason> {
        let until = Instant::now() + limit;
        loop {
            self.wait(true, until)?;
            match self.streams.read(buffer).ok_or(Reason::Ended(None))? {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                result => return result.map_err(Reason::Pipe),
            }
        }
    }
}
