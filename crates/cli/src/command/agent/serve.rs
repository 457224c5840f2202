//! The agent's process: its socket, its clients and its clock.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

use crate::key::agent;
use crate::key::home::{self, Home};
use crate::key::passphrase::VARIABLE;
use crate::key::program;
use crate::place::{held, partial};
use crate::tell::failure::{Exit, Failure};
use crate::tell::imp::keep_descriptors;
use crate::tell::shown::{Foreign, shown};
use crate::tell::signals;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{Error, FileId, FileKind, Folder, parent};
use deadpan_seal::Secret;
use deadpan_seal::keyring::{Answer, Keyring, Task, failure};

/// The maximum number of clients at a time. If another client connects, the agent closes the connection of the client
/// that has waited longest.
const CLIENTS: usize = 128;
/// The ending of the lock file. The name of the socket precedes this ending.
const LOCK: &str = ".lock";
/// The maximum length of the lock file, which contains the number of a process.
const LONGEST_LOCK: u64 = 20;
/// The maximum length of a message.
const LONGEST: usize = 64 << 10;
/// How long a client may take to send a message or to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the agent looks at the clock and at its socket.
const TICK: Duration = Duration::from_millis(500);
/// If the machine sleeps longer than this, the agent forgets all keys.
const NAP: Duration = Duration::from_secs(3);
/// A clock that also counts the time while the machine sleeps. [`Instant`] does not count this time.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;
/// How long [`start`] waits until a new agent listens.
const START: Duration = Duration::from_secs(10);

/// Runs the agent until a signal ends it. With `brief`, the agent also ends as soon as it has no key left.
pub fn run(path: &Path, background: bool, brief: bool) -> Result<Exit, Failure> {
    let failed = |what: &str, error: &io::Error| Failure::path(what, path, error);
    let folder = private_folder(path)?;
    let name = path.file_name().unwrap_or_default().to_owned();
    match folder.look(&name).map_err(|error| failed("look at", &error))? {
        Some(about) if about.kind != FileKind::Socket => return Err(foreign(&folder, &name)),
        _ => {}
    }
    let mut lock = lock_file(path, &folder, &name)?;
    match lock.try_lock().map_err(io::Error::from) {
        Ok(()) => {}
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(failed("lock", &error)),
        Err(_) if background => return Ok(Exit::Done),
        Err(_) => return Err(Failure::usage(format!("an agent listens at {} already", shown(path)), "use that one")),
    }
    // The user can end the process with this number.
    lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).map_err(|error| failed("lock", &error))?;
    // Another program, such as an SSH agent, may listen at this path without the lock file.
    if UnixStream::connect(path).is_ok() {
        return Err(Failure::usage(format!("another program listens at {}", shown(path)), "choose another path"));
    }
    match folder.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("remove the old socket", &error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(|error| failed("listen at", &error))?;
    let socket = Arc::new((folder, name));
    let _guard = signals::guard({
        let socket = Arc::clone(&socket);
        move || drop(socket.0.remove(&socket.1))
    });
    if background {
        // The agent goes on when the terminal closes, and does not prevent the user from unmounting a file system.
        let _ = (rustix::process::setsid(), std::env::set_current_dir("/"));
    }
    let keyring = Mutex::new(Keyring::default());
    let clients = Clients::default();
    let own = seen(&socket);
    thread::scope(|scope| {
        scope.spawn(|| {
            watch(&keyring, || seen(&socket) == own, || brief && clients.are_gone());
            if seen(&socket) == own {
                let _ = socket.0.remove(&socket.1);
            }
            // The main thread always waits for the next client, so it cannot end the process.
            std::process::exit(0);
        });
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // For example, the process has too many open files.
                thread::sleep(TICK);
                continue;
            };
            let Some(number) = is_own(&stream).then(|| clients.enter(&stream)).flatten() else { continue };
            let (clients, keyring) = (&clients, &keyring);
            let serve = move || {
                let _ = serve(stream, keyring);
                clients.leave(number);
            };
            if thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, serve).is_err() {
                clients.leave(number);
            }
        }
    });
    Ok(Exit::Done)
}

/// Opens the folder of the socket, and makes the folder if it is missing. Refuses a folder that is open to other users.
fn private_folder(path: &Path) -> Result<Folder, Failure> {
    held::hold([path]);
    let failed = |error: &io::Error| Failure::path("listen at", path, error);
    let folder = held::own_or_make(parent(path), 0o700).map_err(|error| match error {
        Error::Planted(planted) => home::planted_key(&planted),
        Error::System(_, error) => failed(&error),
        error => partial::failure(parent(path), error),
    })?;
    let about = folder.about().map_err(|error| failed(&error))?;
    if !about.is_trusted() || about.mode & 0o077 != 0 {
        let hint = format!("choose a folder of your own: chmod 700 {}", shown(parent(path)));
        return Err(Failure::usage(format!("{} is open to other users", shown(parent(path))), hint));
    }
    Ok(folder)
}

/// Opens the lock file beside the socket, or makes it. The agent locks this file as long as it listens, so the lock
/// tells whether an existing socket is in use. Refuses a file that no agent wrote.
fn lock_file(path: &Path, folder: &Folder, socket: &OsStr) -> Result<File, Failure> {
    let failed = |error: io::Error| Failure::path("lock", path, &error);
    let mut name = socket.to_owned();
    name.push(LOCK);
    match folder.create(&name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result.map_err(failed),
    }
    let (mut file, about) = folder.file_to_change(&name).map_err(failed)?;
    let mut text = String::new();
    let read = (&mut file).take(LONGEST_LOCK).read_to_string(&mut text);
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'\n');
    if read.is_err() || about.length > LONGEST_LOCK || !is_number {
        return Err(foreign(folder, &name));
    }
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// The failure for a file that is in the place of the socket or of the lock file.
fn foreign(folder: &Folder, name: &OsStr) -> Failure {
    let what = shown(folder.path_of(name));
    Failure::usage(format!("{what} is not of an agent, and stays"), "name another path with DEADPAN_AGENT")
}

/// Returns the identity of the socket, or `None` if it is gone.
fn seen((folder, name): &(Folder, OsString)) -> Option<FileId> {
    folder.look(name).ok().flatten().map(|about| about.id)
}

/// The clients that are connected, in the order in which they came.
#[derive(Default)]
struct Clients {
    next: AtomicU64,
    connected: Mutex<VecDeque<(u64, UnixStream)>>,
}

impl Clients {
    /// Adds a client, and returns its number.
    fn enter(&self, stream: &UnixStream) -> Option<u64> {
        let stream = stream.try_clone().ok()?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut connected = self.connected.lock();
        if connected.len() == CLIENTS
            && let Some((_, first)) = connected.pop_front()
        {
            let _ = first.shutdown(Shutdown::Both);
        }
        connected.push_back((number, stream));
        Some(number)
    }

    /// Whether no client is connected.
    fn are_gone(&self) -> bool {
        self.connected.lock().is_empty()
    }

    fn leave(&self, number: u64) {
        self.connected.lock().retain(|(client, _)| *client != number);
    }
}

/// Whether the client is a process of this user. The permissions of the socket's folder also keep other users out.
#[cfg(target_os = "linux")]
fn is_own(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

#[cfg(not(target_os = "linux"))]
fn is_own(_stream: &UnixStream) -> bool {
    true
}

/// Makes the agent forget each key when its time is over, and all keys after the machine has slept. Returns when the
/// agent has to end: if its socket was removed, for example at logout, or if it has no key left and `may_end` returns
/// true. A brief agent may end when no client waits for an answer.
fn watch(keyring: &Mutex<Keyring>, is_there: impl Fn() -> bool, may_end: impl Fn() -> bool) {
    let start = Instant::now();
    let (mut awake, mut time) = (start, now());
    let mut was_used = false;
    loop {
        thread::sleep(TICK);
        let (now_awake, now_time) = (Instant::now(), now());
        let mut keyring = keyring.lock();
        if now_time.saturating_sub(time).saturating_sub(now_awake - awake) > NAP {
            keyring.forget_all();
        }
        (awake, time) = (now_awake, now_time);
        let is_used = keyring.forget(now()).is_some();
        was_used |= is_used;
        let is_over = !is_used && (was_used || start.elapsed() > START) && may_end();
        if is_over || !is_there() {
            keyring.forget_all();
            // The mutex stays locked until the process ends. A client that sends another key now gets no answer, so the
            // client does not report that the agent has the key.
            std::mem::forget(keyring);
            return;
        }
    }
}

/// Returns the time since the start of the machine, including the time that the machine slept.
fn now() -> Duration {
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// Reads the messages of one client, and answers each message.
fn serve(mut stream: UnixStream, keyring: &Mutex<Keyring>) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    loop {
        let deadline = Instant::now() + PATIENCE;
        let mut head = [0; 4];
        fill(&mut stream, &mut head, deadline)?;
        let length = u32::from_be_bytes(head) as usize;
        if length == 0 || length > LONGEST {
            return send(&mut stream, failure());
        }
        let mut message = Secret::zeroed(length);
        fill(&mut stream, &mut message, deadline)?;
        let task = keyring.lock().task(now(), message[0], &message[1..]);
        let answer = match task {
            Task::Answer(answer) => answer,
            Task::Use(wanted) => {
                let question = || format!("Use {} to {}?", Foreign::new(wanted.name()), wanted.purpose());
                let is_allowed = wanted.asks().is_none_or(|program| {
                    let agreed = program::confirm(OsStr::from_bytes(program), &question());
                    // Until the user answered, another client may have removed the keys, or their time may be over.
                    let mut keyring = keyring.lock();
                    keyring.forget(now());
                    agreed && keyring.holds(&wanted)
                });
                if is_allowed { wanted.answer() } else { failure() }
            }
        };
        send(&mut stream, answer)?;
    }
}

fn fill(stream: &mut UnixStream, mut rest: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !rest.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(rest) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => rest = &mut rest[read..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn send(stream: &mut UnixStream, (number, contents): Answer) -> io::Result<()> {
    let mut message = Secret::zeroed(5 + contents.len());
    message[..4].copy_from_slice(&(1 + contents.len() as u32).to_be_bytes());
    message[4] = number;
    message[5..].copy_from_slice(&contents);
    stream.write_all(&message)
}

/// Starts an agent in the background, unless an agent already runs. A brief agent ends as soon as it has no key left.
pub fn start(home: &Home, path: &Path, brief: bool) -> Result<(), Failure> {
    let runs = || agent::find(home).map(|agent| agent.is_some_and(|agent| matches!(agent::held(&agent), Ok(Some(_)))));
    if runs()? {
        return Ok(());
    }
    let failed = |error: &io::Error| Failure::io("start", "the agent", error);
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command.args(["agent", "--background"]).env(agent::VARIABLE, path).env_remove(VARIABLE);
    if brief {
        command.arg("--brief");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    keep_descriptors();
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let deadline = Instant::now() + START;
    while Instant::now() < deadline {
        if runs()? {
            return Ok(());
        }
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let hint = "run it in the foreground to see why: deadpan agent";
    Err(Failure::new(Exit::Key, format!("the agent does not listen at {}", shown(path)), hint))
}
