//! Runs a program once and measures the run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::{Command, Error, Program};
use crate::imp::child::{self, Usage};

/// The part of a failing program's standard error that is kept: maximum number of bytes, and of lines.
const TAIL: (u64, usize) = (4096, 8);

/// A peak of memory must exceed the floor by this many bytes to be distinguished from the floor.
const SLACK: u64 = 256 << 10;

/// The measurements of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Seconds from before the start to after the end.
    pub(crate) wall: f64,
    pub(crate) usage: Usage,
}

/// Runs programs. Holds the file that receives their standard error.
pub(crate) struct Runner {
    // Standard error goes to a file, because a program that fills a pipe would wait for a reader.
    stderr: File,
    sync: bool,
}

impl Runner {
    pub(crate) fn new(sync: bool) -> Result<Self, Error> {
        let stderr =
            nameless().map_err(|source| Error::System { doing: "making a file for standard error", source })?;
        Ok(Self { stderr, sync })
    }

    /// Runs the preparation, then the program.
    pub(super) fn run(&mut self, program: &Program) -> Result<Seen, Error> {
        self.prepared(program, false)
    }

    /// Runs the program once and returns its largest resident memory in bytes.
    pub(super) fn peak(&mut self, program: &Program) -> Result<Option<u64>, Error> {
        let floor = || child::floor().map_err(|source| Error::System { doing: "starting a process", source });
        let before = floor()?;
        let peak = self.prepared(program, true)?.usage.peak;
        // Other threads may have allocated or freed memory in the meantime.
        let floor = before.max(floor()?);
        Ok((peak > floor.saturating_add(SLACK)).then_some(peak))
    }

    /// Runs the program once and returns the measurements with the largest resident memory in bytes, which is `None`
    /// unless it exceeds the memory of this process. The start by `fork` takes some tenths of a millisecond longer than
    /// in [`Runner::run`], so this suits programs that run much longer.
    pub(crate) fn whole(&mut self, program: &Program) -> Result<(Seen, Option<u64>), Error> {
        let floor = child::floor().map_err(|source| Error::System { doing: "starting a process", source })?;
        let seen = self.prepared(program, true)?;
        Ok((seen, (seen.usage.peak > floor.saturating_add(SLACK)).then_some(seen.usage.peak)))
    }

    fn prepared(&mut self, program: &Program, fork: bool) -> Result<Seen, Error> {
        if let Some(prepare) = &program.prepare {
            self.start(prepare, program, false)?;
        }
        if self.sync {
            child::sync();
        }
        self.start(&program.command, program, fork)
    }

    fn start(&mut self, command: &Command, program: &Program, fork: bool) -> Result<Seen, Error> {
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
        let begin = Instant::now();
        let mut child = process.spawn().map_err(|source| Error::Start { command: command.line(), source })?;
        let ended = child::wait(&mut child);
        let wall = begin.elapsed().as_secs_f64();
        let (status, usage) = ended.map_err(|source| Error::System { doing: "waiting for a process", source })?;
        if status.success() { Ok(Seen { wall, usage }) } else { Err(self.failed(command, status)) }
    }

    fn empty(&mut self) -> io::Result<File> {
        self.stderr.set_len(0)?;
        self.stderr.seek(SeekFrom::Start(0))?;
        self.stderr.try_clone()
    }

    fn failed(&mut self, command: &Command, status: ExitStatus) -> Error {
        let mut bytes = Vec::new();
        let end = self.stderr.seek(SeekFrom::End(0)).unwrap_or(0);
        // A part that cannot be read is left out, because the failure itself matters more.
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
    // A system that does not remove open files keeps an empty file.
    let _ = fs::remove_file(&path);
    Ok(file)
}
