//! The user's editor, and its run.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, stdin};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::draft::Draft;
use crate::key::passphrase::VARIABLE;
use crate::key::program::words;
use crate::key::prompt::Terminal;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{bytes, shown};
use crate::tell::signals::{self, Diversion};

/// The variables that name the user's editor.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// The editors that are used if no variable names one.
const USUAL: [&str; 3] = ["editor", "vi", "nano"];
/// Programs that are called Vim.
const VIM: [&str; 3] = ["vim", "nvim", "gvim"];
/// Options for Vim: no swap file, no list of recent texts, and neither backups nor undo files in the user's folders.
/// Vim saves into the file itself, so that its old text is not left in a file without a name.
const PRIVATE: [&str; 5] = ["-n", "-i", "NONE", "-c", "silent! set nobackup noundofile backupcopy=yes"];
/// A Ctrl-C that this program sees so soon after the end of the editor was typed before the end.
const LATE: Duration = Duration::from_millis(500);
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

/// How an editor ended. While this value exists, signals do not end this program, so that no text is lost.
pub struct Ended {
    /// The failure, if the editor did not end well.
    pub failure: Option<Failure>,
    /// Whether a signal ended the editor, so that the user has not rejected the text.
    pub by_signal: bool,
    run: Arc<Mutex<Watched>>,
    _diversion: Diversion,
}

/// The editor's process, for the function that gets the signals.
#[derive(Default)]
struct Watched {
    /// The number of the process, while it runs.
    running: Option<Pid>,
    /// When the process ended.
    ended: Option<Instant>,
    /// The signal by which this program has to end.
    asked: Option<i32>,
}

impl Ended {
    /// Returns the signal by which this program has to end.
    pub fn signal(&self) -> Option<i32> {
        self.run.lock().asked
    }
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
        command.args(&self.arguments).arg(draft.path()).env_remove(VARIABLE);
        // An editor needs the terminal, even if the input of this program is a pipe.
        let terminal = Terminal::find().filter(|_| !stdin().is_terminal()).and_then(|terminal| terminal.file().ok());
        if let Some(terminal) = terminal {
            command.stdin(terminal);
        }
        // A signal that arrives while the editor starts must find the function that gets it.
        let run = Arc::new(Mutex::new(Watched::default()));
        let diversion = signals::divert(watch(Arc::clone(&run)));
        let shared = draft.share_lock().map_err(|error| Failure::path("lock", &draft.path(), &error))?;
        let child = command.spawn().map_err(|error| self.not_run(&error))?;
        drop(shared);
        let status = wait(child, &run).map_err(|error| Failure::io("wait for", "the editor", &error))?;
        let is_asked = run.lock().asked.is_some();
        let failure = (is_asked || !status.success()).then(|| self.failed(status));
        Ok(Ended { failure, by_signal: is_asked || status.code().is_none(), run, _diversion: diversion })
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
        let message = match status.success() {
            true => "a signal has ended the command while the editor ran".into(),
            false => format!("the editor {} failed ({status})", self.shown()),
        };
        Failure::new(Exit::System, message, "nothing was changed")
    }
}

/// Waits for the end of the editor.
fn wait(mut child: Child, run: &Arc<Mutex<Watched>>) -> io::Result<ExitStatus> {
    let id = Pid::from_child(&child);
    let asked = {
        let mut run = run.lock();
        run.running = Some(id);
        run.asked
    };
    if asked.is_some() {
        // The signal came before the number of the process was known. The editor may ignore the signal, and then is
        // killed, while this thread waits for it.
        let run = Arc::clone(run);
        thread::Builder::new().spawn(move || end(&run, Signal::TERM))?;
    }
    // The number of the editor's process stays valid until `wait`.
    let _ = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    {
        let mut run = run.lock();
        (run.running, run.ended) = (None, Some(Instant::now()));
    }
    let status = child.wait()?;
    // If the editor ends by a Ctrl-C, this program does, too: the system has sent the Ctrl-C to both.
    let typed = status.signal().filter(|number| [Signal::INT, Signal::QUIT].map(Signal::as_raw).contains(number));
    let mut run = run.lock();
    run.asked = run.asked.or(typed);
    Ok(status)
}

/// Returns the function that gets the signals. HUP and TERM end the editor. A Ctrl-C is dropped until the editor has
/// ended, because the editor gets the Ctrl-C from the system.
fn watch(run: Arc<Mutex<Watched>>) -> impl FnMut(i32) {
    move |number| {
        let passed = [Signal::HUP, Signal::TERM].into_iter().find(|signal| signal.as_raw() == number);
        {
            let mut run = run.lock();
            if passed.is_some() || run.ended.is_some_and(|ended| ended.elapsed() > LATE) {
                run.asked = Some(number);
            }
        }
        if let Some(signal) = passed {
            end(&run, signal);
        }
    }
}

/// Ends the editor by a signal, or by force if it takes too long.
fn end(run: &Mutex<Watched>, signal: Signal) {
    let kill = |signal| run.lock().running.is_some_and(|id| kill_process(id, signal).is_ok());
    let begin = Instant::now();
    kill(signal);
    while begin.elapsed() < PATIENCE {
        if run.lock().running.is_none() {
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
