//! The user's editor, and its run.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::draft::Draft;
use crate::key::program::words;
use crate::key::prompt::Terminal;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{bytes, shown};
use crate::tell::signals;

/// The variables that name the user's editor.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// The editors that are used if no variable names one.
const USUAL: [&str; 3] = ["editor", "vi", "nano"];
/// Programs that are called Vim.
const VIM: [&str; 3] = ["vim", "nvim", "gvim"];
/// Options for Vim: no swap file, no list of recent texts, and neither backups nor undo files in the user's folders.
const PRIVATE: [&str; 5] = ["-n", "-i", "NONE", "-c", "silent! set nobackup noundofile"];
/// How long the editor may take to end after a signal, and the time between two checks.
const PATIENCE: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_millis(10);

/// The command of an editor: its words. No shell runs the command.
#[derive(Clone, Debug)]
pub struct EditorCommand(Vec<String>);

impl FromStr for EditorCommand {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        words(text).map(Self)
    }
}

pub struct Editor {
    program: PathBuf,
    arguments: Vec<String>,
}

/// How an editor ended.
#[derive(Default)]
pub struct Ended {
    /// The failure, if the editor did not end well.
    pub failure: Option<Failure>,
    /// Whether a signal ended the editor, so that the user has not rejected the text.
    pub by_signal: bool,
    /// The signal that asked this program to end.
    pub signal: Option<i32>,
}

impl Editor {
    /// Returns the editor that the user has chosen, or else one that this machine has.
    pub fn find(given: Option<&EditorCommand>) -> Result<Self, Failure> {
        if let Some(EditorCommand(words)) = given {
            return Ok(Self::of(words));
        }
        for variable in VARIABLES {
            let Some(text) = std::env::var_os(variable).filter(|text| !text.is_empty()) else { continue };
            let split = text.to_str().ok_or("the command is not UTF-8").and_then(words);
            let hint = "set it to a command, such as nano, or name the editor with --editor";
            return match split {
                Ok(words) => Ok(Self::of(&words)),
                Err(why) => Err(Failure::usage(format!("the variable {variable} names no editor: {why}"), hint)),
            };
        }
        let found = USUAL.into_iter().find(|name| in_path(name).is_some());
        let missing = || Failure::usage("no editor was found", "name one with --editor, or in the variable EDITOR");
        found.map(|name| Self::of(&[name.to_owned()])).ok_or_else(missing)
    }

    fn of(words: &[String]) -> Self {
        let program = PathBuf::from(&words[0]);
        let private = if is_vim(&program) { &PRIVATE[..] } else { &[] };
        let arguments = private.iter().map(|word| (*word).to_owned()).chain(words[1..].iter().cloned()).collect();
        Self { program, arguments }
    }

    /// Runs the editor, and waits for its end. Signals do not end this program meanwhile: a Ctrl-C on the terminal is
    /// for the editor, which gets it from the system, and the other signals are passed to the editor.
    pub fn run(&self, draft: &Draft) -> Result<Ended, Failure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(draft.path());
        // An editor needs the terminal, even if the input of this program is a pipe.
        let terminal = Terminal::find().filter(|_| !stdin().is_terminal()).and_then(|terminal| terminal.file().ok());
        if let Some(terminal) = terminal {
            command.stdin(terminal);
        }
        let child = command.spawn().map_err(|error| self.not_run(&error))?;
        let (status, signal) = watched(child).map_err(|error| Failure::io("wait for", "the editor", &error))?;
        let failed = signal.is_some() || !status.success();
        let by_signal = signal.is_some() || status.code().is_none();
        Ok(Ended { failure: failed.then(|| self.failed(status)), by_signal, signal })
    }

    fn shown(&self) -> String {
        bytes(self.program.as_os_str().as_encoded_bytes())
    }

    fn not_run(&self, error: &io::Error) -> Failure {
        let hint = "name another editor with --editor, or in the variable EDITOR";
        match error.kind() {
            io::ErrorKind::NotFound => Failure::usage(format!("there is no editor {}", self.shown()), hint),
            _ => Failure { hint: Some(hint.into()), ..Failure::io("run", &shown(&self.program), error) },
        }
    }

    fn failed(&self, status: ExitStatus) -> Failure {
        let message = format!("the editor {} failed ({status})", self.shown());
        Failure::new(Exit::System, message, "nothing was changed")
    }
}

/// Waits for the editor. Returns its status, and the signal that asked this program to end.
fn watched(mut child: Child) -> io::Result<(ExitStatus, Option<i32>)> {
    let (id, asked) = (Pid::from_child(&child), Arc::new(Mutex::new(None)));
    let running = Arc::new(Mutex::new(Some(id)));
    let diversion = signals::divert({
        let (running, asked) = (Arc::clone(&running), Arc::clone(&asked));
        move |number| {
            let signal = [Signal::HUP, Signal::TERM].into_iter().find(|signal| signal.as_raw() == number);
            if let Some(signal) = signal {
                *asked.lock() = Some(number);
                end(&running, signal);
            }
        }
    });
    // The number of the editor's process stays valid until `wait`.
    let _ = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    *running.lock() = None;
    let status = child.wait();
    drop(diversion);
    let asked = *asked.lock();
    Ok((status?, asked))
}

/// Ends the editor by a signal, or by force if it takes too long.
fn end(running: &Mutex<Option<Pid>>, signal: Signal) {
    let kill = |signal| running.lock().is_some_and(|id| kill_process(id, signal).is_ok());
    let begin = Instant::now();
    kill(signal);
    while begin.elapsed() < PATIENCE {
        if running.lock().is_none() {
            return;
        }
        thread::sleep(PERIOD);
    }
    kill(Signal::KILL);
}

/// Whether a program is Vim, also under the name of a link, such as `vi`.
fn is_vim(program: &Path) -> bool {
    let found = program.file_name().filter(|name| *name == program).and_then(in_path);
    let path = found.unwrap_or_else(|| program.to_owned());
    let names =
        [path.canonicalize().ok().as_deref().and_then(Path::file_stem).map(OsStr::to_owned), Some(program.into())];
    names.into_iter().flatten().any(|name| VIM.iter().any(|vim| name == *vim))
}

/// Returns the path of a program without folders in its name.
fn in_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
