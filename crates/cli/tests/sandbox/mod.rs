//! A folder of a test's own, with a key folder in it, and the real program run inside.

// Each test program uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_deadpan");

/// The folder; removed with all that is in it.
pub struct Sandbox(PathBuf);

impl Sandbox {
    pub fn new() -> Self {
        Self::inside(&std::env::temp_dir())
    }

    pub fn inside(parent: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("deadpan-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// With a small key, so that what is tried thousands of times is small.
    pub fn with_key(mode: &str) -> Self {
        let sandbox = Self::new();
        sandbox.run(&["keygen", "--no-passphrase", "--mode", mode]).expect(0, "");
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names in it, but for the key folder's.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "home");
        names.sort();
        names
    }

    /// Prepares `program` to run here, away from the terminal of whoever runs the tests.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        command.arg("-w").arg(program).args(args);
        self.settle(&mut command);
        command
    }

    /// Gives a command its folder and its environment.
    pub fn settle(&self, command: &mut Command) {
        let program = Path::new(PROGRAM).parent().unwrap().to_str().unwrap();
        let path = format!("{program}:{}", std::env::var("PATH").unwrap());
        command.current_dir(&self.0).env("PATH", path).env("DEADPAN_HOME", self.path("home"));
        command.env_remove("DEADPAN_PASSPHRASE").env("NO_COLOR", "1").stdin(Stdio::null());
    }

    /// Runs `deadpan`.
    pub fn run(&self, args: &[&str]) -> Run {
        Run(self.command(PROGRAM, args).output().unwrap())
    }

    /// Runs `deadpan` with this on its standard input.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self.command(PROGRAM, args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // The program may refuse before it has read everything.
            scope.spawn(move || stdin.write_all(input));
            Run(child.wait_with_output().unwrap())
        })
    }

    /// Runs a line of shell.
    pub fn shell(&self, line: &str) -> Run {
        Run(self.command("bash", &["-c", line]).output().unwrap())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct Run(pub Output);

impl Run {
    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub fn stdout(&self) -> &[u8] {
        &self.0.stdout
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Asserts the exit code, and that standard error says `words`; where they ask for a failure, that there is a hint.
    #[track_caller]
    pub fn expect(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code(), Some(code), "{}", self.stderr());
        assert!(self.stderr().contains(words), "no {words:?} in:\n{}", self.stderr());
        assert!(code == 0 || self.stderr().contains("hint: "), "no hint in:\n{}", self.stderr());
        assert!(!self.stderr().contains("os error") && !self.stderr().contains("panicked"), "{}", self.stderr());
        self
    }
}

/// Says that something could not be tried here.
pub fn skip(what: &str, why: &str) {
    // Past the harness, which would keep it to itself.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}
