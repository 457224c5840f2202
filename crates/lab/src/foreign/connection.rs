//! Starts and ends a worker's process, and exchanges messages with the process within a time limit.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Error;
use crate::cleanup::Cleanup;
use crate::imp::child;
use crate::visible::visible;

/// The maximum number of bytes of the worker's standard error that a message shows.
const TAIL: usize = 2000;
/// The time that a worker may take to end after its standard input is closed.
const GRACE: Duration = Duration::from_secs(1);

/// A running worker.
pub(super) struct Connection {
    command: String,
    limit: Duration,
    process: Child,
    /// `None` after the pipe is closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<JoinHandle<()>>,
    alarm: Arc<Alarm>,
    /// A guard that ends the worker's process if a signal ends the program.
    guard: Option<Cleanup>,
}

/// Ends the worker's process if an exchange of messages takes too long. After the process has ended, a read or write
/// that waits for the process fails.
#[derive(Default)]
struct Alarm {
    state: Mutex<State>,
    changed: Condvar,
    rang: AtomicBool,
}

#[derive(Default)]
struct State {
    deadline: Option<Instant>,
    closed: bool,
}

impl Connection {
    /// Starts a command line through `sh`.
    pub(super) fn start(command: &str, limit: Duration) -> Result<Self, Error> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        child::group(&mut shell);
        let mut process = shell.spawn().map_err(|source| Error::Start { command: command.to_owned(), source })?;
        let id = process.id();
        let guard = Cleanup::new(move || child::end_group(id));
        let piped = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(input), Some(output), Some(mut errors)) = piped else {
            let source = io::Error::other("it has no pipes");
            return Err(Error::Start { command: command.to_owned(), source });
        };
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&stderr);
        let reader = thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut part) {
                let mut kept = locked(&kept);
                kept.extend_from_slice(&part[..count]);
                let surplus = kept.len().saturating_sub(4 * TAIL);
                kept.drain(..surplus);
            }
        });
        let alarm = Arc::new(Alarm::default());
        let watched = Arc::clone(&alarm);
        thread::spawn(move || watched.wait(id));
        Ok(Self {
            command: command.to_owned(),
            limit,
            process,
            input: Some(input),
            output: BufReader::with_capacity(1 << 16, output),
            stderr,
            stderr_reader: Some(reader),
            alarm,
            guard: Some(guard),
        })
    }

    /// Runs an exchange of messages within the time limit. `doing` is the phase that error messages show, for example
    /// `at its start`.
    pub(super) fn within<T>(
        &mut self,
        doing: &'static str,
        exchange: impl FnOnce(&mut dyn Write, &mut dyn Read) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        self.alarm.set(Some(Instant::now() + self.limit));
        let result = match &mut self.input {
            Some(input) => exchange(input, &mut self.output),
            None => Err(Fault::Pipe),
        };
        self.alarm.set(None);
        result.map_err(|fault| self.error(doing, fault))
    }

    /// Ends the worker and describes why the exchange failed.
    fn error(&mut self, doing: &'static str, fault: Fault) -> Error {
        self.input = None;
        let status = if matches!(fault, Fault::Pipe) { self.ended() } else { None };
        self.kill();
        // The thread that reads standard error ends when the worker's process ends, unless a descendant in another
        // process group keeps the pipe open.
        let begin = Instant::now();
        while self.stderr_reader.as_ref().is_some_and(|reader| !reader.is_finished()) && begin.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(2));
        }
        let command = self.command.clone();
        let stderr = tail(&locked(&self.stderr));
        if self.alarm.rang.load(Ordering::Relaxed) {
            return Error::Silent { command, doing, seconds: self.limit.as_secs_f64(), stderr };
        }
        match fault {
            Fault::Pipe => {
                let status = status.map_or_else(|| "it closed its pipes".to_owned(), |status| status.to_string());
                Error::Ended { command, doing, status, stderr }
            }
            Fault::Version(found) => Error::Version { command, found },
            Fault::Broken(why) => Error::Protocol { command, why, stderr },
        }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Closes the worker's standard input. Returns the exit status if the worker ends soon after the input is closed.
    pub(super) fn close(&mut self) -> Option<ExitStatus> {
        self.input = None;
        self.ended()
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(None) if begin.elapsed() < GRACE => thread::sleep(Duration::from_millis(2)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }

    fn kill(&mut self) {
        // The guard's action ends the process and its descendants. The system can give the process id to another
        // process only after `wait`.
        self.guard = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.input = None;
        if self.guard.is_some() {
            self.ended();
            self.kill();
        }
        self.alarm.close();
    }
}

impl Alarm {
    fn set(&self, deadline: Option<Instant>) {
        // The code does not wake the thread that checks the deadline, because the woken thread would run during each
        // measurement.
        locked(&self.state).deadline = deadline;
    }

    fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_one();
    }

    fn wait(&self, id: u32) {
        /// The longest pause between two checks of the deadline.
        const PAUSE: Duration = Duration::from_millis(200);
        let mut state = locked(&self.state);
        while !state.closed {
            let left = state.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                self.rang.store(true, Ordering::Relaxed);
                // This thread holds the lock, so no other thread has waited for the process, and the id is still the id
                // of this process.
                child::end_group(id);
                return;
            }
            let (next, _) = self
                .changed
                .wait_timeout(state, left.map_or(PAUSE, |left| left.min(PAUSE)))
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
    }
}

/// The reason why an exchange of messages failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// A pipe to the worker was closed.
    Pipe,
    /// The worker uses a different version of the protocol: the version with this number.
    Version(u32),
    Broken(String),
}

impl From<io::Error> for Fault {
    fn from(_: io::Error) -> Self {
        Self::Pipe
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the last lines of a text.
fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<_> = text.trim_end().lines().map(visible).collect();
    let text = lines.join("\n");
    let mut from = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = &text[from..];
    match end.find('\n').filter(|_| from > 0) {
        Some(line) => end[line + 1..].to_owned(),
        None => end.to_owned(),
    }
}
