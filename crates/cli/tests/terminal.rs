//! On a real pseudo-terminal: what is asked, what is shown, and what is not.

mod sandbox;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sandbox::{PROGRAM, Sandbox};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A program on a terminal of its own.
struct Session {
    terminal: File,
    child: Child,
    received: Receiver<Vec<u8>>,
    /// All that was shown.
    shown: String,
    /// What of it was waited for.
    seen: usize,
}

impl Session {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let side = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        // Signals that whoever runs the tests ignores are not ignored on a terminal.
        let mut command = Command::new("env");
        // --ctty makes it the terminal of the new session; without --wait, setsid becomes the program.
        command.args(["--default-signal", "setsid", "--ctty", PROGRAM]).args(args);
        sandbox.settle(&mut command);
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let terminal = File::from(terminal);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, received) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                let _ = sender.send(buffer[..read].to_vec());
            }
        });
        Self { terminal, child, received, shown: String::new(), seen: 0 }
    }

    /// Waits until this is shown.
    #[track_caller]
    fn expect(&mut self, words: &str) -> &mut Self {
        let deadline = Instant::now() + Duration::from_secs(30);
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

    fn say(&mut self, line: &str) -> &mut Self {
        self.terminal.write_all(line.as_bytes()).unwrap();
        self.terminal.write_all(b"\n").unwrap();
        self
    }

    /// The exit code, and all that was shown.
    #[track_caller]
    fn end(mut self, code: i32) -> String {
        let status = self.child.wait().unwrap();
        while let Ok(bytes) = self.received.recv_timeout(Duration::from_millis(100)) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        assert_eq!(status.code(), Some(code), "{}", self.shown);
        self.shown
    }
}

#[test]
fn a_passphrase_is_asked_for_twice_and_not_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "-p", "a.txt"]);
    session.expect("new passphrase for the sealed file: ").say("correct horse");
    session.expect("the same again: ").say("correct hose").expect("they differ, try again");
    session.expect("new passphrase").say("correct horse").expect("the same again: ").say("correct horse");
    let shown = session.end(0);
    assert!(!shown.contains("horse") && !shown.contains("hose"), "{shown}");
    assert!(shown.contains("seal: a.txt -> a.txt.dpn"), "{shown}");

    let mut session = Session::start(&sandbox, &["open", "-o", "b.txt", "a.txt.dpn"]);
    session.expect("passphrase for a.txt.dpn: ").say("wrong").expect("it does not fit, try again");
    session.expect("passphrase for a.txt.dpn: ").say("correct horse");
    session.end(0);
    assert_eq!(sandbox.read("b.txt"), b"straight face");

    let mut session = Session::start(&sandbox, &["open", "-o", "c.txt", "a.txt.dpn"]);
    for _ in 0..3 {
        session.expect("passphrase for a.txt.dpn: ").say("wrong");
    }
    let shown = session.end(3);
    assert!(shown.contains("the passphrase does not fit a.txt.dpn") && shown.contains("hint: "), "{shown}");
    assert!(!sandbox.path("c.txt").exists());
}

#[test]
fn the_first_key_is_protected_if_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "a.txt"]);
    session.expect("passphrase for your new key").expect("(empty for none): ").say("secret").expect("the same again: ").say("secret");
    let shown = session.end(0);
    assert!(shown.contains("made one: ") && !shown.contains("not protected"), "{shown}");
    assert!(sandbox.read("home/hybrid.key").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----"));

    // Unlocked once, for both files.
    sandbox.run(&["seal", "-o", "b.dpn", "a.txt"]).expect(0, "");
    let mut session = Session::start(&sandbox, &["open", "--verify", "a.txt.dpn", "b.dpn"]);
    session.expect("passphrase for ").expect("hybrid.key: ").say("secret");
    let shown = session.end(0);
    assert_eq!(shown.matches("passphrase for").count(), 1, "{shown}");

    let mut session = Session::start(&sandbox, &["keys", "protect", "hybrid"]);
    session.expect("hybrid.key: ").say("secret").expect("new passphrase for the key").say("other").expect("again: ").say("other");
    assert!(session.end(0).contains("has a new passphrase"));
    let mut session = Session::start(&sandbox, &["keys", "unprotect", "hybrid"]);
    session.expect("hybrid.key: ").say("other");
    assert!(session.end(0).contains("is not protected any more"));
}

#[test]
fn an_empty_answer_means_no_protection() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "a.txt"]);
    session.expect("(empty for none): ").say("");
    let shown = session.end(0);
    assert!(shown.contains("protect it with: deadpan keys protect hybrid"), "{shown}");
    sandbox.run(&["open", "-o", "-", "a.txt.dpn"]).expect(0, "");
}

#[test]
fn a_terminal_gets_text_only() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("text", "straight face\n");
    sandbox.write("bytes", b"\x1b[2Jgone\0");
    sandbox.run(&["seal", "text", "bytes"]).expect(0, "");
    let shown = Session::start(&sandbox, &["seal", "-o", "-", "text"]).end(2);
    assert!(shown.contains("sealed data are bytes, and a terminal shows text") && shown.contains("--armor"), "{shown}");
    assert!(Session::start(&sandbox, &["seal", "-a", "-o", "-", "text"]).end(0).contains("-----END DEADPAN SEALED FILE-----"));
    assert!(Session::start(&sandbox, &["open", "-o", "-", "text.dpn"]).end(0).contains("straight face"));
    let shown = Session::start(&sandbox, &["open", "-o", "-", "bytes.dpn"]).end(2);
    assert!(shown.contains("bytes.dpn holds bytes, and a terminal shows text") && !shown.contains("gone"), "{shown}");
    sandbox.shell("mkdir tree && cp bytes tree && deadpan seal tree && deadpan seal -a -o armored tree").expect(0, "");
    for file in ["tree.dpn", "armored"] {
        let shown = Session::start(&sandbox, &["open", "--only", "bytes", "-o", "-", file]).end(2);
        assert!(shown.contains("a terminal shows text, and these are bytes") && !shown.contains("gone"), "{shown}");
    }
}

#[test]
fn random_bytes_reach_a_terminal_as_text_only() {
    let sandbox = Sandbox::new();
    let shown = Session::start(&sandbox, &["random", "32"]).end(2);
    assert!(shown.contains("random data are bytes, and a terminal shows text") && shown.contains("--hex"), "{shown}");
    let shown = Session::start(&sandbox, &["random", "32", "--hex"]).end(0);
    assert_eq!(shown.trim().len(), 64, "the digits and nothing else: {shown}");
}

#[test]
fn names_from_inside_cannot_talk_to_the_terminal() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("evil\x1b[2J\n", "x");
    sandbox.shell("mkdir out; deadpan seal -o plain evil*").expect(0, "");
    let shown = Session::start(&sandbox, &["open", "-o", "out", "plain"]).end(2);
    assert!(shown.contains("the sealed name evil\\u{1b}[2J\\n is not a safe name for a file"), "{shown}");
}

#[test]
fn ctrl_c_at_the_prompt_gives_the_terminal_back() {
    let sandbox = Sandbox::new();
    let mut session = Session::start(&sandbox, &["keygen"]);
    session.expect("new passphrase for the key");
    let modes = rustix::termios::tcgetattr(&session.terminal).unwrap().local_modes;
    assert!(!modes.contains(rustix::termios::LocalModes::ECHO), "the passphrase would be shown");
    session.terminal.write_all(&[3]).unwrap();
    let status = session.child.wait().unwrap();
    assert_eq!(status.signal(), Some(2));
    let modes = rustix::termios::tcgetattr(&session.terminal).unwrap().local_modes;
    assert!(modes.contains(rustix::termios::LocalModes::ECHO), "the terminal stays silent");
    assert!(!sandbox.path("home").exists());
}

#[test]
fn a_bar_shows_what_takes_long() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkfifo slow; (for i in 1 2 3; do head -c 3000000 /dev/zero; sleep 0.6; done > slow) > /dev/null 2>&1 &").expect(0, "");
    let shown = Session::start(&sandbox, &["seal", "-o", "out", "slow"]).end(0);
    assert!(shown.contains("MiB/s"), "{shown}");
    sandbox.write("quick", "x");
    let shown = Session::start(&sandbox, &["seal", "quick"]).end(0);
    assert!(!shown.contains("B/s"), "{shown}");
}
