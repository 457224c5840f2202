//! If the system refuses to create threads, the program does all work on its first thread.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::session::Session;
use crate::sandbox::{Run, Sandbox, skip};

/// Runs a program as a user whose process limit is used up. Threads count as processes.
fn alone(sandbox: &Sandbox, line: &str) -> Run {
    let user = "setpriv --reuid=65534 --regid=65534 --clear-groups bash -c";
    sandbox.shell(&format!("{user} 'ulimit -u 1; {line}'"))
}

/// Whether this system can run a test with an exhausted process limit. A test with a process limit needs root,
/// `setpriv`, a program that other users may run, and a limit that the system enforces.
fn can_be_alone(sandbox: &Sandbox) -> bool {
    let starts = "import subprocess, sys\ntry: subprocess.run([\"true\"])\nexcept OSError: sys.exit(7)";
    sandbox.write("starts.py", starts);
    alone(sandbox, "exec deadpan --version").code() == Some(0)
        && alone(sandbox, "exec python3 starts.py").code() == Some(7)
}

/// Makes a sandbox in which every user may write.
fn open_to_all() -> Sandbox {
    let sandbox = Sandbox::with_key("hybrid");
    for name in [".", "home"] {
        fs::set_permissions(sandbox.path(name), Permissions::from_mode(0o777)).unwrap();
    }
    sandbox.shell("chown -R 65534 . 2> log; true");
    sandbox
}

#[test]
fn every_command_works_without_another_thread() {
    let sandbox = open_to_all();
    if !can_be_alone(&sandbox) {
        return skip("a user without threads", "this takes root, setpriv, python3, and a program that others may run");
    }
    sandbox.write("big", vec![7; 40 << 20]);
    fs::create_dir(sandbox.path("tree")).unwrap();
    for number in 0..50 {
        sandbox.write(&format!("tree/{number}"), vec![number; 100_000]);
    }
    fs::set_permissions(sandbox.path("tree"), Permissions::from_mode(0o755)).unwrap();
    for line in [
        "exec deadpan seal big tree",
        "exec deadpan open -o big.again big.dpn",
        "exec deadpan open -o tree.again tree.dpn",
        "exec deadpan open -o streamed.again < tree.dpn",
        "exec deadpan seal -o streamed.dpn < big",
        "exec deadpan open -o from.stream streamed.dpn",
        "exec deadpan list tree.dpn",
        "exec deadpan pack -o tree.tar tree",
        "exec deadpan unpack -o tar.again tree.tar",
        "exec deadpan unpack -o tar.streamed < tree.tar",
        "exec deadpan random 20M -o random",
        "DEADPAN_PASSPHRASE=correct exec deadpan seal -p -o secret.dpn big",
        "DEADPAN_PASSPHRASE=correct exec deadpan open -o secret secret.dpn",
    ] {
        alone(&sandbox, line).expect(0, "");
    }
    for copy in ["big.again", "from.stream", "secret"] {
        assert!(sandbox.read(copy) == sandbox.read("big"), "{copy}");
    }
    for copy in ["tree.again", "streamed.again", "tar.again", "tar.streamed"] {
        sandbox.shell(&format!("diff -r tree {copy}")).expect(0, "");
    }
    let drafts: Vec<_> = sandbox.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(drafts.is_empty(), "{drafts:?}");
}

/// In an earlier version, the question for a passphrase ended with a panic if the system had no thread for Ctrl-Z.
#[test]
fn a_passphrase_is_asked_for_without_another_thread() {
    let sandbox = open_to_all();
    if !can_be_alone(&sandbox) {
        return skip(
            "a question without threads",
            "this takes root, setpriv, python3, and a program that others may run",
        );
    }
    sandbox.write("a.txt", "straight face");
    let line = "ulimit -u 1; exec deadpan seal -p a.txt";
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", line];
    let mut session = Session::of(&sandbox, "setpriv", &user);
    session.expect("new passphrase").say("correct horse").expect("again").say("correct horse");
    session.end(0);
    alone(&sandbox, "DEADPAN_PASSPHRASE='correct horse' exec deadpan open --verify a.txt.dpn").expect(0, "");
}
