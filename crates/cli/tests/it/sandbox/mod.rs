//! A sandbox: a folder for one test, in which the real program runs. The key folder is inside the sandbox.

pub mod session;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_deadpan");

/// A command that runs longer than this limit is killed. The slowest command takes seconds, so even on a slow and busy
/// machine only a command that hangs reaches the limit.
pub const LIMIT: Duration = Duration::from_secs(900);

/// The time between two signals that kill a command.
const AGAIN: Duration = Duration::from_millis(100);

/// A folder in which tests run commands. Dropping the value removes the folder.
pub struct Sandbox {
    folder: PathBuf,
    /// The folder with the program that the shell's command `deadpan` starts.
    programs: PathBuf,
}

impl Sandbox {
    pub fn new() -> Self {
        Self::inside(&std::env::temp_dir())
    }

    pub fn inside(parent: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("deadpan-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self { folder, programs: Path::new(PROGRAM).parent().unwrap().into() }
    }

    /// Makes a sandbox. The shell's command `deadpan` starts the program of that name in the folder `programs`.
    pub fn with_programs(programs: &Path) -> Self {
        let mut sandbox = Self::new();
        sandbox.programs = programs.into();
        sandbox
    }

    /// Makes a sandbox with a key of this mode. Tests that run the program thousands of times are faster with small
    /// keys.
    pub fn with_key(mode: &str) -> Self {
        let sandbox = Self::new();
        sandbox.run(&["keygen", "--no-passphrase", "--mode", mode]).expect(0, "");
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the folder, without the key folder.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != "home");
        names.sort();
        names
    }

    /// Prepares `program` to run in the sandbox, without a terminal, as the leader of a group of processes.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        // If the tests have no terminal, for example in CI, the program needs no separate session and starts faster.
        static TERMINAL: LazyLock<bool> = LazyLock::new(|| File::open("/dev/tty").is_ok());
        let mut command = if *TERMINAL {
            let mut command = Command::new("setsid");
            command.arg("-w").arg(program);
            command
        } else {
            let mut command = Command::new(found(program));
            command.process_group(0);
            command
        };
        command.args(args);
        self.settle(&mut command);
        command
    }

    pub fn settle(&self, command: &mut Command) {
        let path = format!("{}:{}", self.programs.to_str().unwrap(), std::env::var("PATH").unwrap());
        command.current_dir(&self.folder).env("PATH", path).env("DEADPAN_HOME", self.path("home"));
        // The folder with the plugin for tests, which is not in `PATH`.
        command.env("PLUGINS", concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/plugin"));
        command.env_remove("DEADPAN_PLUGIN_TIMEOUT").env_remove("DEADPAN_AGENT_TIMEOUT");
        command.env_remove("DEADPAN_PASSPHRASE").env("NO_COLOR", "1").stdin(Stdio::null());
    }

    /// Copies the program into the sandbox. Another process makes the copy. If this process opened the copy for
    /// writing, processes that other threads start would inherit the open file. The system does not execute the copy
    /// while another process has it open for writing.
    pub fn copy_program(&self, name: &str) {
        finish(self.command("cp", &["-f", PROGRAM, name]), LIMIT, |_| ()).expect(0, "");
    }

    /// Runs `deadpan`.
    pub fn run(&self, args: &[&str]) -> Run {
        finish(self.command(PROGRAM, args), LIMIT, |_| ())
    }

    /// Runs `deadpan` with `input` on its standard input.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(PROGRAM, args);
        command.stdin(Stdio::piped());
        std::thread::scope(|scope| {
            finish(command, LIMIT, |child| {
                let mut stdin = child.stdin.take().unwrap();
                // The program may refuse the input before the whole input was written.
                scope.spawn(move || stdin.write_all(input));
            })
        })
    }

    /// Runs a line of shell.
    pub fn shell(&self, line: &str) -> Run {
        self.shell_within(LIMIT, line)
    }

    pub fn shell_within(&self, limit: Duration, line: &str) -> Run {
        finish(self.command("bash", &["-c", line]), limit, |_| ())
    }
}

/// Returns the path of a program. If a program's name has no path, the standard library forks this process, which is
/// slower.
fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::split_paths(&path).map(|folder| folder.join(program));
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    paths.into_iter().find(is_program).unwrap_or_else(|| program.into())
}

/// Runs a command that [`Sandbox::command`] made. After `limit`, the command and the processes that it started are
/// killed, and a line about this is appended to standard error.
pub fn finish(mut command: Command, limit: Duration, started: impl FnOnce(&mut Child)) -> Run {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    started(&mut child);
    let group = format!("-{}", child.id());
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let mut late = false;
            // The process group may not exist yet, or may be growing, so the signal is repeated until the command ends.
            while ended.recv_timeout(if late { AGAIN } else { limit }) == Err(RecvTimeoutError::Timeout) {
                late = true;
                let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
            }
            late
        });
        let mut output = child.wait_with_output().unwrap();
        drop(end);
        if watch.join().unwrap() {
            let words = format!("\nkilled: the command took longer than {} s\n", limit.as_secs());
            output.stderr.extend(words.into_bytes());
        }
        Run(output)
    })
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The result of a run.
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

    /// Asserts the exit code, and that standard error contains `words`. An error must have a hint.
    #[track_caller]
    pub fn expect(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code(), Some(code), "{}", self.stderr());
        assert!(self.stderr().contains(words), "no {words:?} in:\n{}", self.stderr());
        assert!(code == 0 || self.stderr().contains("hint: "), "no hint in:\n{}", self.stderr());
        assert!(!self.stderr().contains("os error") && !self.stderr().contains("panicked"), "{}", self.stderr());
        self
    }
}

/// Reports that a test cannot run on this system.
pub fn skip(what: &str, why: &str) {
    // The text is written directly to standard error, since the test harness captures `eprintln!`.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}
