//! Runs a program once and measures the run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Command, Error, Program};
use crate::cleanup::Cleanup;
use crate::imp::child::{self, Usage};
use crate::watch::Watch;

/// Of a failing program's standard error, the runner keeps at most this number of bytes and at most this number of
/// lines.
const TAIL: (u64, usize) = (4096, 8);

/// A program's peak memory is valid only if it is larger than the memory of this process, by at least this number of
/// bytes. If the difference is smaller, the measured peak may be the memory of this process.
const SLACK: u64 = 256 << 10;

/// The measurements of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The time in seconds from just before the start of the program to just after its end.
    pub(crate) wall: f64,
    pub(crate) usage: Usage,
    pub(crate) code: i32,
}

/// Runs programs. A runner owns the file to which the programs write their standard error.
pub(crate) struct Runner {
    // Standard error goes to a file. If standard error were a pipe, a program would block as soon as the pipe is full.
    stderr: File,
    sync: bool,
    /// The time for one run.
    limit: Option<Duration>,
}

impl Runner {
    pub(crate) fn new(sync: bool, limit: Option<Duration>) -> Result<Self, Error> {
        let stderr =
            nameless().map_err(|source| Error::System { doing: "making a file for standard error", source })?;
        Ok(Self { stderr, sync, limit })
    }

    /// If `watch` stops the run, the runner kills the program.
    pub(super) fn run(&mut self, program: &Program, watch: &dyn Watch) -> Result<Seen, Error> {
        self.prepared(program, false, Some(watch))
    }

    /// Runs the program once and returns its largest resident memory in bytes.
    pub(super) fn peak(&mut self, program: &Program, watch: &dyn Watch) -> Result<Option<u64>, Error> {
        let floor = || child::floor().map_err(|source| Error::System { doing: "starting a process", source });
        let before = floor()?;
        let peak = self.prepared(program, true, Some(watch))?.usage.peak;
        // The code measures the memory of this process again, because other threads may have allocated or freed memory
        // during the run.
        let floor = before.max(floor()?);
        Ok((peak > floor.saturating_add(SLACK)).then_some(peak))
    }

    /// Runs the program once. Returns the measurements and the largest resident memory in bytes. The memory is `None`
    /// if the program does not use more memory than this process. This method starts the program with `fork`. This
    /// start takes some tenths of a millisecond longer than the start in [`Runner::run`]. Use this method only for
    /// programs that run much longer.
    pub(crate) fn whole(&mut self, program: &Program) -> Result<(Seen, Option<u64>), Error> {
        let floor = child::floor().map_err(|source| Error::System { doing: "starting a process", source })?;
        let seen = self.prepared(program, true, None)?;
        Ok((seen, (seen.usage.peak > floor.saturating_add(SLACK)).then_some(seen.usage.peak)))
    }

    fn prepared(&mut self, program: &Program, fork: bool, watch: Option<&dyn Watch>) -> Result<Seen, Error> {
        if let Some(prepare) = &program.prepare {
            let strict = Program { may_fail: false, ..program.clone() };
            self.start(prepare, &strict, false, watch).map_err(|error| match error {
                Error::Failed { command, status, stderr } => Error::Prepare { command, status, stderr },
                error => error,
            })?;
        }
        if self.sync {
            child::sync();
        }
        self.start(&program.command, program, fork, watch)
    }

    fn start(
        &mut self,
        command: &Command,
        program: &Program,
        fork: bool,
        watch: Option<&dyn Watch>,
    ) -> Result<Seen, Error> {
        let stderr =
            self.empty().map_err(|source| Error::System { doing: "emptying the file for standard error", source })?;
        let mut process = command.process();
        process.stdin(Stdio::null()).stderr(stderr).stdout(if program.output {
            Stdio::inherit()
        } else {
            Stdio::null()
        });
        process.envs(program.environment.iter().map(|(name, value)| (name, value)));
        if let Some(processor) = program.processor {
            child::held(&mut process, processor);
        } else if fork {
            child::by_fork(&mut process);
        }
        if watch.is_some() {
            child::group(&mut process);
        }
        let begin = Instant::now();
        let mut child = process.spawn().map_err(|source| Error::Start { command: command.line(), source })?;
        let ended = match watch {
            Some(watch) => {
                let id = child.id();
                let guard = Cleanup::new(move || child::end_group(id));
                let late = || self.limit.is_some_and(|limit| begin.elapsed() > limit);
                let ended = child::wait_while(&mut child, &|| !late() && !watch.stopped());
                guard.cancel();
                ended
            }
            None => child::wait(&mut child),
        };
        let wall = begin.elapsed().as_secs_f64();
        let (status, usage) = ended.map_err(|source| Error::System { doing: "waiting for a process", source })?;
        match (watch, self.limit) {
            _ if status.success() => {}
            (Some(watch), _) if watch.stopped() => return Err(Error::Stopped),
            (Some(_), Some(limit)) if wall > limit.as_secs_f64() => {
                return Err(Error::Late { command: command.line(), seconds: limit.as_secs_f64() });
            }
            _ if program.may_fail && status.code().is_some() && !command.unstarted(status) => {}
            _ => return Err(self.failed(command, status)),
        }
        Ok(Seen { wall, usage, code: status.code().unwrap_or_default() })
    }

    fn empty(&mut self) -> io::Result<File> {
        self.stderr.set_len(0)?;
        self.stderr.seek(SeekFrom::Start(0))?;
        self.stderr.try_clone()
    }

    fn failed(&mut self, command: &Command, status: ExitStatus) -> Error {
        let mut bytes = Vec::new();
        let end = self.stderr.seek(SeekFrom::End(0)).unwrap_or(0);
        // If a part of standard error cannot be read, the error does not contain this part, because the failure itself
        // is more important.
        let _ = self
            .stderr
            .seek(SeekFrom::Start(end.saturating_sub(TAIL.0)))
            .and_then(|_| self.stderr.read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let stderr = lines[lines.len().saturating_sub(TAIL.1)..].join("\n");
        Error::Failed { command: command.line(), status, stderr }
    }
}

impl Command {
    fn process(&self) -> std::process::Command {
        match self {
            Self::Arguments(arguments) => {
                let mut process = std::process::Command::new(arguments.first().map_or("", String::as_str));
                process.args(arguments.iter().skip(1));
                process
            }
            Self::Shell(line) => {
                let mut process = std::process::Command::new("sh");
                process.args(["-c", line]);
                process
            }
        }
    }

    /// Returns whether the exit code of the shell means that the shell could not start a command.
    fn unstarted(&self, status: ExitStatus) -> bool {
        matches!(self, Self::Shell(_)) && matches!(status.code(), Some(126 | 127))
    }

    fn line(&self) -> String {
        match self {
            Self::Arguments(arguments) => arguments.join(" "),
            Self::Shell(line) => line.clone(),
        }
    }
}

/// Creates a file that disappears when it is closed.
fn nameless() -> io::Result<File> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("deadpan-lab-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    // On a system that cannot remove open files, the empty file remains.
    let _ = fs::remove_file(&path);
    Ok(file)
}
