//! Clients that hang, flood the agent or send nonsense keep nobody else from its keys. Another user gets nothing.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, skip};

/// A sandbox with a protected key in the agent, and a file for it.
fn unlocked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("pw", "correct horse\n");
    sandbox.write("note", "straight face\n");
    sandbox.run(&["keygen", "--passphrase-file", "pw"]).expect(0, "");
    sandbox.run(&["seal", "note"]).expect(0, "");
    sandbox.run(&["keys", "unlock", "--passphrase-file", "pw"]).expect(0, "");
    sandbox
}

fn connect(sandbox: &Sandbox) -> UnixStream {
    let stream = UnixStream::connect(sandbox.path("home/agent/socket")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn opens(sandbox: &Sandbox) {
    let run = sandbox.run(&["open", "-o", "-", "note.dpn"]);
    assert_eq!((run.stdout(), run.code()), (&b"straight face\n"[..], Some(0)), "{}", run.stderr());
}

#[test]
fn clients_that_hang_or_flood_are_sent_away() {
    let sandbox = unlocked();
    let hanging: Vec<_> = (0..300).map(|_| connect(&sandbox)).collect();
    opens(&sandbox);
    // Those that came first were sent away, and the others after a while.
    let start = Instant::now();
    for mut stream in hanging {
        assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)), "the agent closes the connection");
    }
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
    // One byte now and then does not keep the connection.
    let (mut slow, start) = (connect(&sandbox), Instant::now());
    while slow.write_all(&[0]).is_ok() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_secs(1));
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    opens(&sandbox);
    sandbox.run(&["keys", "lock"]).expect(0, "");
}

#[test]
fn nonsense_gets_a_failure_and_changes_nothing() {
    let sandbox = unlocked();
    let failure = [0, 0, 0, 1, 5];
    for message in [
        &[0, 0, 0, 1, 200][..],
        &[0, 0, 0, 1, 27],
        &[0, 0, 0, 5, 27, 255, 255, 255, 255],
        &[0, 0, 0, 2, 19, 0],
        &[0, 0, 0, 0],
        &[255, 255, 255, 255],
        &[0, 1, 0, 1],
    ] {
        let mut stream = connect(&sandbox);
        stream.write_all(message).unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, failure, "{message:?}");
    }
    opens(&sandbox);
    sandbox.run(&["keys", "lock"]).expect(0, "");
}

/// Runs only as root, because only root can become another user.
#[test]
fn another_user_gets_nothing() {
    if !rustix::process::geteuid().is_root() {
        skip("another user", "only root can become one");
        return;
    }
    let sandbox = unlocked();
    // Even if every folder is open, the agent looks at the user of the client.
    let set = |mode| {
        for path in ["home", "home/agent", "home/agent/socket"] {
            fs::set_permissions(sandbox.path(path), Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o777);
    let socket = sandbox.path("home/agent/socket");
    let code = "import socket, sys\n\
                s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])\n\
                s.sendall(bytes([0, 0, 0, 1, 11])); print(len(s.recv(100)))";
    let ask = |user: &str| {
        let arguments = ["--reuid", user, "--clear-groups", "python3", "-c", code];
        let run = Command::new("setpriv").args(arguments).arg(&socket).output();
        run.map(|run| String::from_utf8_lossy(&run.stdout).trim().to_owned())
    };
    match ask("0") {
        Ok(answer) if answer == "9" => assert_ne!(ask("65534").unwrap(), "9"),
        other => skip("another user", &format!("setpriv or Python is missing ({other:?})")),
    }
    // The user's own commands do not trust such a socket.
    sandbox.run(&["open", "-o", "-", "note.dpn"]).expect(3, "another user can replace it");
    set(0o700);
    sandbox.run(&["keys", "lock"]).expect(0, "");
}
