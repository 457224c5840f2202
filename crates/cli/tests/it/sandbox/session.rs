//! A program on a pseudo-terminal, and a user who types and reads on that terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::LocalModes;

use super::{LIMIT, PROGRAM, Sandbox};

/// A program on its own terminal.
pub struct Session {
    pub terminal: File,
    pub child: Child,
    received: Receiver<Vec<u8>>,
    /// All text that was shown.
    shown: String,
    /// The length of the text that the test has already waited for.
    seen: usize,
}

impl Session {
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::of(sandbox, PROGRAM, args)
    }

    /// Starts any program on a terminal.
    pub fn of(sandbox: &Sandbox, program: &str, args: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let side = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        // The shell that runs the tests may ignore signals. On a terminal, no signal is ignored.
        let mut command = Command::new("env");
        // `--ctty` makes this pseudo-terminal the terminal of the new session. Without `--wait`, the process of setsid
        // becomes the process of the program.
        command.args(["--default-signal", "setsid", "--ctty", program]).args(args);
        sandbox.settle(&mut command);
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let terminal = File::from(terminal);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, received) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Linux may report that the program has closed the terminal before this thread has read the program's last
            // output. In this case, another read returns the last output.
            let mut ends = 0;
            while ends < 2 {
                match reader.read(&mut buffer) {
                    Ok(read @ 1..) => drop(sender.send(buffer[..read].to_vec())),
                    Ok(0) | Err(_) => ends += 1,
                }
            }
        });
        Self { terminal, child, received, shown: String::new(), seen: 0 }
    }

    /// Waits until the terminal shows `words`.
    #[track_caller]
    pub fn expect(&mut self, words: &str) -> &mut Self {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(index) = self.shown[self.seen..].find(words) {
                self.seen += index + words.len();
                return self;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.received.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {words:?} in:\n{}", self.shown),
            }
        }
    }

    pub fn say(&mut self, line: &str) -> &mut Self {
        self.terminal.write_all(line.as_bytes()).unwrap();
        self.terminal.write_all(b"\n").unwrap();
        self
    }

    /// Types something, without Enter.
    pub fn type_in(&mut self, text: &str) -> &mut Self {
        self.terminal.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Presses Ctrl and a letter.
    pub fn control(&mut self, letter: u8) -> &mut Self {
        self.terminal.write_all(&[letter & 0x1f]).unwrap();
        self
    }

    /// Waits until the terminal's echo is on or off.
    #[track_caller]
    pub fn expect_echo(&mut self, wanted: bool) -> &mut Self {
        let deadline = Instant::now() + LIMIT;
        while rustix::termios::tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ECHO) != wanted {
            assert!(Instant::now() < deadline, "echo is {}, after:\n{}", !wanted, self.shown);
            std::thread::sleep(Duration::from_millis(10));
        }
        self
    }

    /// Returns all text that was shown, and checks the exit code.
    #[track_caller]
    pub fn end(mut self, code: i32) -> String {
        let status = self.child.wait().unwrap();
        // The channel closes after the last text, when no process has the terminal any more.
        let deadline = Instant::now() + LIMIT;
        loop {
            match self.received.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("a process still has the terminal, after:\n{}", self.shown),
            }
        }
        assert_eq!(status.code(), Some(code), "{}", self.shown);
        self.shown
    }
}
