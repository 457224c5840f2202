//! Another program changes folders while a command works in them. The command waits until it can read its passphrase
//! from a pipe. During this wait, the folder changes, so the folder differs between the first and the second use of a
//! path.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::sandbox::{Run, Sandbox, finish, skip};

const LIMIT: Duration = Duration::from_secs(60);
/// The ID of a user who is neither root nor the user that runs the tests.
const OTHER: u32 = 65534;

/// Makes a sandbox with a pipe for the passphrase `pw`, the key `other`, a folder `d`, and a folder `victim` that only
/// its owner may enter.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["keygen", "--no-passphrase", "-o", "other.key"]).expect(0, "");
    sandbox.write("pw", "pw\n");
    sandbox.shell("mkfifo pipe && mkdir d victim && chmod 700 victim").expect(0, "");
    sandbox
}

fn seal(sandbox: &Sandbox, name: &str, contents: &str, more: &[&str]) {
    sandbox.write("plain", contents);
    sandbox.run(&[&["seal", "-p", "--passphrase-file", "pw", "-o", name, "plain"], more].concat()).expect(0, "");
}

/// Runs the program, and calls `meddle` when the program asks for the passphrase.
fn paused(sandbox: &Sandbox, args: &[&str], meddle: impl FnOnce() + Send) -> Run {
    answered(sandbox, sandbox.command("deadpan", args), b"pw\n", meddle)
}

/// Runs a command, calls `meddle` when the command reads from the pipe, and then writes these bytes to the pipe.
fn answered(sandbox: &Sandbox, command: Command, bytes: &[u8], meddle: impl FnOnce() + Send) -> Run {
    let pipe = &sandbox.path("pipe");
    std::thread::scope(|scope| {
        let run = finish(command, LIMIT, |_| {
            scope.spawn(move || {
                // Opening the pipe for writing waits until the program opens it for reading.
                let mut pipe = File::options().write(true).open(pipe).unwrap();
                meddle();
                pipe.write_all(bytes).unwrap();
            });
        });
        // If the program did not open the pipe, this reader ends the waiting. The reader lives until the thread ends.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        (run, File::options().read(true).custom_flags(nonblocking).open(pipe).unwrap())
    })
    .0
}

/// Renames the folder `d` to `held`, and makes `d` a link to `victim`. The link belongs to the user that runs the
/// tests, or to another user.
fn swap(sandbox: &Sandbox, folder: &str, as_other: bool) {
    let line = format!("mv {folder} {folder}.held && ln -s \"$PWD/victim\" {folder}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(sandbox.path(""));
    if as_other {
        command.uid(OTHER).gid(OTHER);
    }
    assert!(command.status().unwrap().success(), "{folder} could not be swapped");
}

/// Lets another user change the names in the sandbox. Returns false if the tests do not run as root.
fn share(sandbox: &Sandbox) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        chown(sandbox.path(""), Some(OTHER), Some(OTHER)).unwrap();
        fs::set_permissions(sandbox.path(""), Permissions::from_mode(0o755)).unwrap();
        chown(sandbox.path("d"), Some(OTHER), Some(OTHER)).unwrap();
    } else {
        skip("a race against another user", "this needs root");
    }
    is_root
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a test with one user. If the tests run as root, runs the test again with two users.
fn as_one_and_two(test: impl Fn(&Sandbox, bool)) {
    let sandbox = prepared();
    test(&sandbox, false);
    let sandbox = prepared();
    if share(&sandbox) {
        test(&sandbox, true);
    }
}

/// An earlier version looked up the folder again after the question for the passphrase, and replaced a file in another
/// folder.
#[test]
fn rewrap_changes_the_file_that_it_opened() {
    as_one_and_two(|sandbox, as_other| {
        for (folder, more) in [("d", &[][..]), ("e", &["--armor"])] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
            seal(sandbox, &format!("{folder}/x.dpn"), "x", more);
            fs::write(sandbox.path("victim/x.dpn"), "precious").unwrap();
            let before = sandbox.read(&format!("{folder}/x.dpn"));
            let path = format!("{folder}/x.dpn");
            let args = ["rewrap", "-r", "other.pub", "--passphrase-file", "pipe", &path];
            paused(sandbox, &args, || swap(sandbox, folder, as_other)).expect(0, "");
            assert_eq!(sandbox.read("victim/x.dpn"), b"precious");
            assert_eq!(names(&sandbox.path("victim")), ["x.dpn"]);
            assert_ne!(sandbox.read(&format!("{folder}.held/x.dpn")), before);
            assert_eq!(names(&sandbox.path(&format!("{folder}.held"))), ["x.dpn"]);
        }
    });
}

/// If another file gets this name while the command waits, that file is not changed, even if the new header fits that
/// file.
#[test]
fn rewrap_replaces_no_other_file() {
    let sandbox = prepared();
    for more in [&[][..], &["--armor"]] {
        seal(&sandbox, "d/x.dpn", "x", more);
        let args = ["rewrap", "-r", "other.pub", "--passphrase-file", "pipe", "d/x.dpn"];
        let theirs = || {
            sandbox.write("d/theirs", "theirs");
            fs::rename(sandbox.path("d/theirs"), sandbox.path("d/x.dpn")).unwrap();
        };
        paused(&sandbox, &args, theirs).expect(4, "d/x.dpn");
        assert_eq!(sandbox.read("d/x.dpn"), b"theirs");
        assert_eq!(names(&sandbox.path("d")), ["x.dpn"]);
        fs::remove_file(sandbox.path("d/x.dpn")).unwrap();
    }
}

/// An earlier version resolved each path from the root, so a new recipient got access to a file outside of the tree.
#[test]
fn a_recursive_rewrap_stays_in_its_tree() {
    as_one_and_two(|sandbox, as_other| {
        fs::create_dir(sandbox.path("d/inner")).unwrap();
        for folder in ["d/a", "d/b"] {
            fs::create_dir(sandbox.path(folder)).unwrap();
            if as_other {
                chown(sandbox.path(folder), Some(OTHER), Some(OTHER)).unwrap();
            }
        }
        for name in ["d/a/1.dpn", "d/a/2.dpn", "d/b/3.dpn", "d/c.dpn", "victim/2.dpn", "victim/3.dpn"] {
            seal(sandbox, name, "x", &[]);
        }
        let private = [sandbox.read("victim/2.dpn"), sandbox.read("victim/3.dpn")];
        let second = sandbox.read("d/a/2.dpn");
        let args = ["rewrap", "--recursive", "-r", "other.pub", "--passphrase-file", "pipe", "d"];
        let meddle = || {
            swap(sandbox, "d/a", as_other);
            swap(sandbox, "d/b", as_other);
            sandbox.shell("rm d/c.dpn && mkfifo d/c.dpn").expect(0, "");
        };
        let run = paused(sandbox, &args, meddle).expect(0, "rewrap: 2 changed, 0 unchanged, 0 failed");
        assert_eq!([sandbox.read("victim/2.dpn"), sandbox.read("victim/3.dpn")], private, "{}", run.stderr());
        // If a folder is moved after the program entered it, the files in the moved folder are changed.
        assert_ne!(sandbox.read("d/a.held/2.dpn"), second);
    });
}

/// When the data arrived, an earlier version looked up the folder of the input again, and made the output there.
#[test]
fn open_writes_beside_the_input_that_it_opened() {
    as_one_and_two(|sandbox, as_other| {
        fs::create_dir(sandbox.path("tree")).unwrap();
        sandbox.write("tree/file", "inside");
        seal(sandbox, "d/x.dpn", "an executable", &[]);
        let seal_tree = ["seal", "-p", "--passphrase-file", "pw", "-o", "d/t.dpn", "tree"];
        sandbox.run(&seal_tree).expect(0, "");
        let args = ["open", "--passphrase-file", "pipe", "d/x.dpn"];
        paused(sandbox, &args, || swap(sandbox, "d", as_other)).expect(0, "");
        sandbox.shell("rm d && mv d.held d").expect(0, "");
        let args = ["open", "--passphrase-file", "pipe", "d/t.dpn"];
        paused(sandbox, &args, || swap(sandbox, "d", as_other)).expect(0, "");
        assert_eq!(names(&sandbox.path("victim")), [""; 0]);
        assert_eq!(sandbox.read("d.held/x"), b"an executable");
        assert_eq!(sandbox.read("d.held/t/file"), b"inside");
    });
}

/// Swaps two names repeatedly until `stop` is set.
fn flip(folder: &Path, one: &str, other: &str, stop: &AtomicBool) {
    let folder = File::open(folder).unwrap();
    while !stop.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(&folder, one, &folder, other, rustix::fs::RenameFlags::EXCHANGE).unwrap();
    }
}

/// In 31 of 39 runs, an earlier version followed a link into a folder that only its owner may enter.
#[test]
fn sealing_each_file_follows_no_link() {
    let sandbox = Sandbox::with_key("hybrid");
    fs::create_dir_all(sandbox.path("d/sub")).unwrap();
    fs::create_dir(sandbox.path("private")).unwrap();
    fs::create_dir(sandbox.path("out")).unwrap();
    for number in 0..20 {
        sandbox.write(&format!("d/sub/{number}"), "public");
        sandbox.write(&format!("private/{number}"), "SECRET");
    }
    symlink(sandbox.path("private"), sandbox.path("d/link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| flip(&sandbox.path("d"), "sub", "link", &stop));
        for round in 0..10 {
            let to = format!("out/{round}");
            // The test ignores the result, because the run also fails if a file no longer exists.
            let _ = sandbox.run(&["seal", "--each", "d", "--to", &to]);
        }
        stop.store(true, Ordering::Relaxed);
    });
    sandbox.run(&["open", "--each", "out", "--to", "back"]).expect(0, "");
    let opened = sandbox.shell("cat back/*/*/*");
    let text = String::from_utf8(opened.stdout().to_vec()).unwrap();
    assert!(text.contains("public") && !text.contains("SECRET"), "{text}");
}

/// In an earlier version, results went through a link that was made after the check of the folder.
#[test]
fn opening_each_file_writes_into_real_folders() {
    let sandbox = Sandbox::with_key("hybrid");
    fs::create_dir_all(sandbox.path("d/sub")).unwrap();
    fs::create_dir_all(sandbox.path("back/sub")).unwrap();
    fs::create_dir(sandbox.path("bin")).unwrap();
    for number in 0..20 {
        sandbox.write(&format!("d/sub/{number}"), "an executable");
    }
    sandbox.run(&["seal", "--each", "d", "--to", "sealed"]).expect(0, "");
    symlink(sandbox.path("bin"), sandbox.path("back/link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| flip(&sandbox.path("back"), "sub", "link", &stop));
        for _ in 0..10 {
            let _ = sandbox.run(&["open", "--each", "--force", "sealed", "--to", "back"]);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(names(&sandbox.path("bin")), [""; 0]);
}

/// If a change needs a new file, and the new file would have another owner, the change is refused. With `--force`, the
/// change is made, and the new file does not give other users the right to write.
#[test]
fn a_new_file_keeps_owner_and_rights_or_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return skip("files of another user", "this needs root");
    }
    let sandbox = prepared();
    let path = sandbox.path("d/x.dpn");
    let set = |mode: u32| {
        seal(&sandbox, "d/x.dpn", "x", &["--armor", "--force"]);
        chown(&path, Some(0), Some(0)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    };
    let about = || fs::metadata(&path).map(|about| (about.uid(), about.gid(), about.mode() & 0o7777)).unwrap();
    sandbox.shell("chmod 755 . && chmod 777 d && chmod 644 other.pub pw").expect(0, "");
    sandbox.copy_program("program");
    let as_other = |more: &str| {
        let mut command = sandbox.command("sh", &["-c"]);
        command
            .arg(format!("HOME=/ DEADPAN_HOME=none ./program rewrap -r other.pub --passphrase-file pw {more} d/x.dpn"));
        command.uid(OTHER).gid(OTHER);
        finish(command, LIMIT, |_| ())
    };
    set(0o666);
    as_other("--dry-run").expect(2, "d/x.dpn needs a new file, which would lose its owner (number 0)");
    as_other("").expect(2, "d/x.dpn needs a new file, which would lose its owner (number 0)");
    assert_eq!(about(), (0, 0, 0o666));
    as_other("--force").expect(0, "note: d/x.dpn: the new file loses its owner (number 0), rights (mode 022)");
    assert_eq!(about(), (OTHER, OTHER, 0o644), "others may not write it any more");
    // If root makes the change, the new file keeps its owner and all rights.
    set(0o640);
    chown(&path, Some(OTHER), Some(OTHER)).unwrap();
    sandbox.run(&["rewrap", "-r", "other.pub", "--passphrase-file", "pw", "d/x.dpn"]).expect(0, "");
    assert_eq!(about(), (OTHER, OTHER, 0o640));
}

/// `--force` replaces a file whose name the command itself chose, but does not allow writing to a FIFO of another user.
#[test]
fn force_writes_to_no_fifo_of_another_user_that_was_not_named() {
    if !rustix::process::geteuid().is_root() {
        return skip("a FIFO of another user", "this needs root");
    }
    let sandbox = prepared();
    seal(&sandbox, "d/x.dpn", "x", &[]);
    sandbox.shell("mkfifo -m 666 d/x").expect(0, "");
    chown(sandbox.path("d/x"), Some(OTHER), Some(OTHER)).unwrap();
    let run = sandbox.run(&["open", "-f", "--passphrase-file", "pw", "d/x.dpn"]);
    run.expect(2, "d/x is a FIFO or device of another user");
}

/// An earlier version opened the folder of an output after the question for the passphrase. Affected outputs: results
/// beside the input that existed already; pictures; outputs that `-o` names.
#[test]
fn the_folder_of_an_output_is_the_one_that_was_named() {
    as_one_and_two(|sandbox, as_other| {
        fs::create_dir(sandbox.path("tree")).unwrap();
        sandbox.write("tree/file", "chosen");
        sandbox.run(&["seal", "-p", "--passphrase-file", "pw", "-o", "t.dpn", "tree"]).expect(0, "");
        sandbox.run(&["seal", "-p", "--passphrase-file", "pw", "-o", "x.dpn", "tree/file"]).expect(0, "");
        sandbox.run(&["picture", "hide", "-p", "--passphrase-file", "pw", "-o", "x.png", "tree/file"]).expect(0, "");
        let lines: [(&str, &str); 14] = [
            ("open -f", "d/t.dpn"),
            ("open -f --only file", "d/t.dpn"),
            ("picture hide -p", "d/plain"),
            ("picture hide -p -f", "d/plain"),
            ("open -o d/", "x.dpn"),
            ("open -f -o d", "x.dpn"),
            ("open -o d/new", "x.dpn"),
            ("open -o d/", "t.dpn"),
            ("open -f -o d/t", "t.dpn"),
            ("open -f -o d/file", "x.dpn"),
            ("open -f", "x.dpn d/t.dpn"),
            ("open -f", "x.dpn d/x.dpn"),
            ("picture reveal -p -o d", "x.png"),
            ("picture reveal -p -f -o d/file", "x.png"),
        ];
        for (line, input) in lines {
            sandbox
                .shell("rm -rf d d.held victim x; mkdir -p d/t victim/t; cp t.dpn x.dpn d; echo x > d/plain")
                .expect(0, "");
            sandbox
                .shell("echo own > victim/t/file; echo own > victim/file; echo own > victim/plain.png")
                .expect(0, "");
            if !line.contains("-f") {
                sandbox.shell("rmdir d/t").expect(0, "");
            }
            if as_other {
                chown(sandbox.path("d"), Some(OTHER), Some(OTHER)).unwrap();
            }
            let mut args: Vec<_> = line.split(' ').collect();
            args.extend(["--passphrase-file", "pipe"]);
            args.extend(input.split(' '));
            let run = paused(sandbox, &args, || swap(sandbox, "d", as_other));
            // The command may also refuse the link because it belongs to another user.
            assert!(run.code() == Some(0) || as_other && run.code() == Some(2), "{line}: {}", run.stderr());
            for name in ["t/file", "file", "plain.png"] {
                assert_eq!(sandbox.read(&format!("victim/{name}")), b"own\n", "{line}");
            }
            assert_eq!(names(&sandbox.path("victim")), ["file", "plain.png", "t"], "{line}");
        }
    });
}

/// A link of another user can lead to any file. To give that file new recipients, or to put its contents beside the
/// link, the user has to name the file itself.
#[test]
fn links_of_another_user_do_not_choose_the_file() {
    if !rustix::process::geteuid().is_root() {
        return skip("links of another user", "this needs root");
    }
    let sandbox = prepared();
    seal(&sandbox, "victim/diary.dpn", "diary", &[]);
    symlink("../victim/diary.dpn", sandbox.path("d/report.dpn")).unwrap();
    std::os::unix::fs::lchown(sandbox.path("d/report.dpn"), Some(OTHER), Some(OTHER)).unwrap();
    let before = sandbox.read("victim/diary.dpn");
    let line = |line: &str| sandbox.shell(&format!("deadpan {line} --passphrase-file pw d/report.dpn"));
    let words = "d/report.dpn is a link of another user (number 65534)";
    line("rewrap -r other.pub").expect(2, words);
    assert!(sandbox.read("victim/diary.dpn") == before);
    line("open").expect(2, words);
    line("seal -p").expect(2, words);
    symlink("../victim", sandbox.path("d/folder")).unwrap();
    std::os::unix::fs::lchown(sandbox.path("d/folder"), Some(OTHER), Some(OTHER)).unwrap();
    for path in ["d/folder", "d/folder/", "d/./folder/"] {
        sandbox.shell(&format!("deadpan pack {path}")).expect(2, "is a link of another user (number 65534)");
    }
    fs::remove_file(sandbox.path("d/folder")).unwrap();
    assert_eq!(names(&sandbox.path("d")), ["report.dpn"]);
    line("open -o mine").expect(0, "");
    assert_eq!(sandbox.read("mine"), b"diary");
    line("rewrap --force -r other.pub").expect(0, "");
    assert!(sandbox.read("victim/diary.dpn") != before);
}

/// If another program wrote to the file in the meantime, an earlier version put the header of the old data before the
/// new data.
#[test]
fn rewrap_replaces_nothing_that_was_written_meanwhile() {
    let sandbox = prepared();
    for more in [&[][..], &["--armor"]] {
        seal(&sandbox, "d/x.dpn", "x", more);
        seal(&sandbox, "other.dpn", &"other".repeat(1000), more);
        let args = ["rewrap", "-r", "other.pub", "--passphrase-file", "pipe", "d/x.dpn"];
        let write = || drop(sandbox.shell("cat other.dpn > d/x.dpn").expect(0, ""));
        paused(&sandbox, &args, write).expect(4, "another program has written to d/x.dpn meanwhile");
        assert_eq!(sandbox.read("d/x.dpn"), sandbox.read("other.dpn"));
        sandbox.shell("rm d/x.dpn other.dpn").expect(0, "");
    }
}

/// In an earlier version, `keys protect` overwrote another key if a folder was exchanged, and did not change the key
/// that the user named.
#[test]
fn the_passphrase_goes_onto_the_key_that_was_read() {
    let sandbox = prepared();
    for folder in ["d", "victim"] {
        sandbox.run(&["keygen", "--no-passphrase", "-o", &format!("{folder}/x.key")]).expect(0, "");
    }
    let before = sandbox.read("victim/x.key");
    let args = ["keys", "protect", "d/x.key", "--passphrase-file", "pipe"];
    paused(&sandbox, &args, || swap(&sandbox, "d", false)).expect(0, "is protected now");
    assert!(sandbox.read("victim/x.key") == before);
    let is_protected =
        |name: &str| String::from_utf8(sandbox.read(name)).unwrap().contains("BEGIN ENCRYPTED PRIVATE KEY");
    assert!(is_protected("d.held/x.key"));
    // If the user names a link, the key that the link leads to is protected.
    symlink("victim/x.key", sandbox.path("link.key")).unwrap();
    sandbox.run(&["keys", "protect", "link.key", "--passphrase-file", "pw"]).expect(0, "is protected now");
    assert!(is_protected("victim/x.key"));
    assert!(fs::symlink_metadata(sandbox.path("link.key")).unwrap().is_symlink());
}

/// An earlier version looked up the folder of a new key, and the key folder, again after the question for the
/// passphrase.
#[test]
fn a_new_key_goes_where_it_was_to_go() {
    let sandbox = prepared();
    let args = ["keygen", "--passphrase-file", "pipe", "-o", "d/x.key"];
    paused(&sandbox, &args, || swap(&sandbox, "d", false)).expect(0, "");
    assert_eq!(names(&sandbox.path("victim")), [""; 0]);
    assert_eq!(names(&sandbox.path("d.held")), ["x.key", "x.pub"]);
    // The cases are an existing key folder and a missing key folder.
    for folder in ["home", "home/inner/keys"] {
        sandbox
            .shell(&format!("rm -rf home home.held victim/*; mkdir -p victim home && mkdir -p {folder}"))
            .expect(0, "");
        if folder != "home" {
            sandbox.shell("rmdir home/inner/keys home/inner").expect(0, "");
        }
        let mut command = sandbox.command("deadpan", &["keygen", "--passphrase-file", "pipe"]);
        command.env("DEADPAN_HOME", folder);
        answered(&sandbox, command, b"pw\n", || swap(&sandbox, "home", false)).expect(0, "");
        assert_eq!(names(&sandbox.path("victim")), [""; 0], "{folder}");
        let held = sandbox.path(&folder.replacen("home", "home.held", 1));
        assert_eq!(names(&held), ["default", "hybrid.key", "hybrid.pub"]);
    }
    // A contact whose key comes from a pipe.
    sandbox.shell("rm -rf home.held home victim/*; mkdir home").expect(0, "");
    let mut command = sandbox.command("deadpan", &["keys", "add", "bob", "pipe"]);
    command.env("DEADPAN_HOME", "home");
    let key = sandbox.read("other.pub");
    answered(&sandbox, command, &key, || swap(&sandbox, "home", false)).expect(0, "added bob");
    assert_eq!(names(&sandbox.path("victim")), [""; 0]);
    assert_eq!(names(&sandbox.path("home.held/contacts")), ["bob.pub"]);
}

/// An earlier version checked only the end of a path, but a link of another user in the middle of a path can also lead
/// to any folder.
#[test]
fn links_of_another_user_in_the_middle_of_a_path_are_not_followed() {
    if !rustix::process::geteuid().is_root() {
        return skip("links of another user", "this needs root");
    }
    let sandbox = prepared();
    fs::create_dir(sandbox.path("victim/sub")).unwrap();
    seal(&sandbox, "victim/sub/diary.dpn", "diary", &[]);
    sandbox
        .shell("ln -s ../victim d/link && ln -s d/link own && mkdir -m 1777 t && mkdir -p t/theirs/sub")
        .expect(0, "");
    std::os::unix::fs::lchown(sandbox.path("d/link"), Some(OTHER), Some(OTHER)).unwrap();
    chown(sandbox.path("t/theirs"), Some(OTHER), Some(OTHER)).unwrap();
    let before = sandbox.read("victim/sub/diary.dpn");
    let line = |line: &str| sandbox.shell(&format!("deadpan {line}"));
    let words = "d/link is a link of another user (number 65534)";
    for way in ["d/link", "own", "d/../d/link", "./own/../victim", "d/link/sub/.."] {
        let path = format!("{way}/sub/diary.dpn");
        line(&format!("rewrap -r other.pub --passphrase-file pw {path}")).expect(2, words);
        line(&format!("rewrap --recursive -r other.pub --passphrase-file pw {way}/sub")).expect(2, words);
        line(&format!("rewrap --recursive -r other.pub --passphrase-file pw {way}/sub/..")).expect(2, words);
        line(&format!("open --passphrase-file pw {path}")).expect(2, words);
        line(&format!("seal -p --passphrase-file pw {path}")).expect(2, words);
        line(&format!("seal -p --passphrase-file pw -o {way}/sub/new plain")).expect(2, words);
        line(&format!("seal -p --passphrase-file pw -o {way}/sub/ plain")).expect(2, words);
        line(&format!("pack d -o {way}/sub/d.tar")).expect(2, words);
        line(&format!("keygen --no-passphrase -o {way}/sub/x.key")).expect(2, words);
    }
    let words = "t/theirs is a folder of another user (number 65534), who could read or replace the result";
    line("seal -p --passphrase-file pw -o t/theirs/sub/new plain").expect(2, words);
    assert_eq!(names(&sandbox.path("victim")), ["sub"]);
    assert_eq!(names(&sandbox.path("victim/sub")), ["diary.dpn"]);
    assert!(sandbox.read("victim/sub/diary.dpn") == before);
    // Reading with `-o` is allowed, since it changes no file. With --force, the other commands follow the link, too.
    line("open --passphrase-file pw -o mine own/sub/diary.dpn").expect(0, "");
    assert_eq!(sandbox.read("mine"), b"diary");
    line("seal -p --passphrase-file pw --force -o own/sub/new plain").expect(0, "");
    line("rewrap --force --recursive -r other.pub --passphrase-file pw own/sub").expect(0, "2 changed");
}

/// An earlier version looked up the target folder of unpacking again after the question for the passphrase, even if the
/// folder was missing before.
#[test]
fn a_folder_is_unpacked_where_it_was_named() {
    as_one_and_two(|sandbox, as_other| {
        sandbox.shell("mkdir tree && echo chosen > tree/file && echo pw > pw").expect(0, "");
        sandbox.run(&["seal", "-p", "--passphrase-file", "pw", "-o", "t.dpn", "tree"]).expect(0, "");
        sandbox.run(&["seal", "-p", "--passphrase-file", "pw", "-o", "x.dpn", "tree/file"]).expect(0, "");
        for (line, is_there) in [
            ("open -f -o d/t t.dpn", true),
            ("open -f -o d/ t.dpn", true),
            ("open -f -o d/ x.dpn t.dpn", true),
            ("open --only file -o d/t t.dpn", true),
            ("open -f d/t.dpn", true),
            ("open --only file d/t.dpn", true),
            ("open -f d/t.dpn", false),
            ("open --each -f e --to d/t", true),
            ("open --each e --to d/t", false),
            ("open --each e --to d/t/u", false),
        ] {
            let prepare = "rm -rf d d.held victim e && mkdir -p d/t victim e && echo own > victim/file && \
                           cp t.dpn d && cp x.dpn e/file.dpn";
            sandbox.shell(prepare).expect(0, "");
            if !is_there {
                sandbox.shell("rmdir d/t").expect(0, "");
            }
            if as_other {
                sandbox.shell("chown -R 65534:65534 d").expect(0, "");
            }
            let mut args: Vec<_> = line.split(' ').collect();
            args.extend(["--passphrase-file", "pipe"]);
            let meddle = || {
                if !is_there {
                    sandbox.shell("mkdir d/t && chown 65534 d/t || true").expect(0, "");
                }
                swap(sandbox, "d/t", as_other);
            };
            let run = paused(sandbox, &args, meddle);
            assert_eq!(names(&sandbox.path("victim")), ["file"], "{line}: {}", run.stderr());
            assert_eq!(sandbox.read("victim/file"), b"own\n", "{line}: {}", run.stderr());
        }
        // The cases are an archive from a pipe, an archive after the archive from the pipe, and pictures.
        sandbox.run(&["pack", "-o", "t.tar", "tree"]).expect(0, "");
        sandbox.run(&["picture", "hide", "-p", "--passphrase-file", "pw", "-o", "t.png", "tree"]).expect(0, "");
        let archive = sandbox.read("t.tar");
        for (line, swapped) in [
            ("unpack -f -o d/t pipe", "d/t"),
            ("unpack --only file -o d/t pipe", "d/t"),
            ("unpack -f -o d/ pipe.tar t.tar", "d/t"),
            ("unpack -f pipe.tar d/t.tar", "d/t"),
            ("unpack --only file d/pipe.tar", "d/pipe"),
            ("picture reveal -p -f -o d/t --passphrase-file pipe t.png", "d/t"),
            ("picture reveal -p --only file -o d/t --passphrase-file pipe t.png", "d/t"),
        ] {
            for is_there in [true, false] {
                let prepare = "rm -rf pipe.tar d d.held victim && mkdir -p d/t d/pipe victim && cp t.tar d && \
                               echo own > victim/file && ln -s pipe pipe.tar && ln -s ../pipe d/pipe.tar";
                sandbox.shell(prepare).expect(0, "");
                if !is_there {
                    sandbox.shell("rmdir d/t d/pipe").expect(0, "");
                }
                if as_other {
                    sandbox.shell("chown -R 65534:65534 d").expect(0, "");
                }
                let meddle = || {
                    sandbox.shell(&format!("mkdir -p {swapped} && chown 65534 {swapped} || true")).expect(0, "");
                    swap(sandbox, swapped, as_other);
                };
                let bytes = if line.starts_with("unpack") { &archive } else { &b"pw\n"[..] };
                let args: Vec<_> = line.split(' ').collect();
                let run = answered(sandbox, sandbox.command("deadpan", &args), bytes, meddle);
                assert_eq!(names(&sandbox.path("victim")), ["file"], "{line}: {}", run.stderr());
                assert_eq!(sandbox.read("victim/file"), b"own\n", "{line}: {}", run.stderr());
            }
        }
    });
}

/// An earlier version looked up the second and later inputs only when it began to work on them.
#[test]
fn all_inputs_are_found_before_anything_is_asked() {
    let sandbox = prepared();
    sandbox.shell("mkdir d/t && echo x > d/t/file").expect(0, "");
    let args = ["pack", "-f", "pipe", "d/t"];
    answered(&sandbox, sandbox.command("deadpan", &args), b"", || swap(&sandbox, "d", false)).expect(2, "");
    assert_eq!(names(&sandbox.path("victim")), [""; 0]);
    sandbox.shell("rm d && mv d.held d").expect(0, "");
    for name in ["d/a.dpn", "d/b.dpn", "victim/b.dpn", "d/t/c.dpn", "victim/c.dpn"] {
        seal(&sandbox, name, "x", &[]);
    }
    let before = [sandbox.read("victim/b.dpn"), sandbox.read("victim/c.dpn")];
    let told = "another program has put something else in its place meanwhile";
    let args = ["rewrap", "-r", "other.pub", "--passphrase-file", "pipe", "d/a.dpn", "d/b.dpn"];
    let link = || drop(sandbox.shell("mv d/b.dpn d/old && ln -s ../victim/b.dpn d/b.dpn").expect(0, ""));
    paused(&sandbox, &args, link).expect(4, told);
    sandbox.shell("mv d/old d/b.dpn").expect(0, "");
    let args = ["rewrap", "-f", "-r", "other.pub", "--passphrase-file", "pipe", "d/a.dpn", "d/b.dpn"];
    let name = || drop(sandbox.shell("mv d/b.dpn d/old && ln victim/b.dpn d/b.dpn").expect(0, ""));
    paused(&sandbox, &args, name).expect(4, told);
    sandbox.shell("rm d/b.dpn && mv d/old d/b.dpn && ln -s d/b.dpn own.dpn").expect(0, "");
    let args = ["rewrap", "-f", "-r", "other.pub", "--passphrase-file", "pipe", "d/a.dpn", "own.dpn"];
    paused(&sandbox, &args, name).expect(4, told);
    let args = ["rewrap", "--recursive", "-r", "other.pub", "--passphrase-file", "pipe", "d/a.dpn", "d/t"];
    paused(&sandbox, &args, || swap(&sandbox, "d/t", false)).expect(4, told);
    assert!([sandbox.read("victim/b.dpn"), sandbox.read("victim/c.dpn")] == before);
    // A link to another input still counts as this input, and so does a file that an editor saved while the command
    // waited.
    sandbox.shell("ln -s a.dpn d/latest.dpn && deadpan keygen --no-passphrase -o third.key").expect(0, "");
    let line = "rewrap -r third.pub -r other.pub --passphrase-file pipe d/a.dpn d/latest.dpn d/old";
    let args: Vec<_> = line.split(' ').collect();
    let save = || drop(sandbox.shell("cp d/old d/new && mv d/new d/old").expect(0, ""));
    paused(&sandbox, &args, save).expect(0, "d/latest.dpn");
    // If the system allows only few open files, folders are opened again, and must be the same folders. Only the first
    // file has a passphrase, because each passphrase takes long on a busy machine.
    sandbox.shell("deadpan keygen --no-passphrase -o fast.key").expect(0, "");
    sandbox.shell("deadpan seal -r fast.pub -o key.dpn plain").expect(0, "");
    sandbox.shell("for i in $(seq 12); do mkdir m$i && cp key.dpn m$i/a.dpn; done; cp d/a.dpn m1").expect(0, "");
    sandbox.shell("echo own > victim/a").expect(0, "");
    let line = "ulimit -n 20; exec deadpan open -f -i fast.key --passphrase-file pipe m*/a.dpn d/a.dpn";
    let run = answered(&sandbox, sandbox.command("sh", &["-c", line]), b"pw\n", || swap(&sandbox, "d", false));
    run.expect(4, told);
    assert_eq!(sandbox.read("victim/a"), b"own\n");
    assert_eq!(sandbox.shell("cat m*/a | wc -c").stdout(), b"12\n");
}

/// Some commands of an earlier version wrote through a link without a check of its owner.
#[test]
fn no_command_writes_through_a_link_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return skip("links of another user", "this needs root");
    }
    let sandbox = prepared();
    sandbox
        .shell("echo mine > victim/z && mkdir victim/sub && ln -s ../victim d/l && chown -h 65534 d/l")
        .expect(0, "");
    let words = "d/l is a link of another user (number 65534)";
    let line = |line: &str| sandbox.shell(line).expect(2, words);
    line("deadpan seal --remove-source -r other.pub -o zz d/l/z");
    line("deadpan cluster key -o d/l/key");
    line("deadpan man -o d/l/man");
    line("deadpan seal -f -r other.pub d/l/sub/..");
    line("deadpan pack -f d/l/sub/..");
    line("DEADPAN_HOME=d/l deadpan keys add bob other.pub");
    line("DEADPAN_HOME=d/l deadpan keygen --no-passphrase");
    sandbox.shell("mkdir victim/contacts && cp other.pub victim/contacts/bob.pub").expect(0, "");
    line("DEADPAN_HOME=d/l deadpan keys remove bob");
    sandbox.shell("rm victim/contacts/bob.pub && rmdir victim/contacts").expect(0, "");
    line("DEADPAN_HOME=d/l/new deadpan keygen --no-passphrase");
    line("DEADPAN_HOME=d/l/new deadpan seal -o zz plain; deadpan seal --each d --to d/l/new");
    assert_eq!(names(&sandbox.path("victim")), ["sub", "z"]);
    let json = "deadpan lab speed --quick --target base64 --json d/report";
    sandbox.shell("ln -s ../victim/z d/report && chown -h 65534 d/report").expect(0, "");
    sandbox.shell(json);
    assert_eq!(sandbox.read("victim/z"), b"mine\n");
    sandbox.shell("ln -s d/l own");
    for place in ["d/l/new", "own/new", "d/../own/new"] {
        let line = format!("deadpan lab speed --quick --target base64 --json {place}");
        sandbox.shell(&line).expect(2, "a link or FIFO of another user is in its path");
        let line = format!("deadpan lab speed --quick --target base64 --markdown {place}/deep --html {place}");
        sandbox.shell(&line).expect(2, "a link or FIFO of another user is in its path");
    }
    sandbox
        .shell("ln -s ../victim/none d/none && chown -h 65534 d/none && mkdir -m 1777 t && mkdir t/theirs")
        .expect(0, "");
    sandbox.shell("chown 65534 t/theirs").expect(0, "");
    sandbox.shell("mkfifo -m 666 d/fifo && chown 65534 d/fifo").expect(0, "");
    for place in ["d/none", "t/theirs/x", "d/fifo"] {
        let line = format!("deadpan lab speed --quick --target base64 --json {place}");
        sandbox.shell(&line).expect(2, "of another user");
    }
    assert_eq!(names(&sandbox.path("t/theirs")), [""; 0]);
    assert_eq!(names(&sandbox.path("victim")), ["sub", "z"]);
}

/// In an earlier version, root wrote files with root as their owner into the key folder of another user, and that user
/// could not open any file afterwards.
#[test]
fn root_leaves_keys_to_their_owner() {
    if !rustix::process::geteuid().is_root() {
        return skip("keys of another user", "this needs root");
    }
    let sandbox = Sandbox::with_key("hybrid");
    sandbox
        .shell("chown -R 65534:65534 home && echo pw > pw && deadpan keygen --no-passphrase -o bob.key")
        .expect(0, "");
    let lines = "deadpan keys protect hybrid --passphrase-file pw; deadpan keygen --mode ecc --no-passphrase; \
                 deadpan keys default ecc; deadpan keys add bob bob.pub";
    sandbox.shell(lines).expect(0, "");
    sandbox.shell("mkdir theirs && chown 65534:65534 theirs").expect(0, "");
    sandbox.shell("env -u DEADPAN_HOME -u XDG_CONFIG_HOME HOME=theirs deadpan keygen --no-passphrase").expect(0, "");
    assert_eq!(sandbox.shell("find theirs -not -uid 65534 -or -not -gid 65534").stdout(), b"");
    let owners = sandbox.shell("find home -not -uid 65534 -or -not -gid 65534").expect(0, "");
    assert_eq!(String::from_utf8_lossy(owners.stdout()), "");
    // A key outside the key folder belongs to the user that makes it.
    sandbox.shell("deadpan keygen --no-passphrase -o theirs/x.key").expect(0, "");
    assert_eq!(fs::metadata(sandbox.path("theirs/x.key")).unwrap().uid(), 0);
}

/// An earlier version waited for data from a pipe that had the name of a contact.
#[test]
fn a_pipe_in_the_key_folder_is_no_key() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkdir -p home/contacts && mkfifo home/contacts/bob.pub && echo x > x").expect(0, "");
    sandbox.run(&["seal", "-r", "bob", "x"]).expect(2, "bob.pub is not a file");
}

/// An earlier version wrote the data into a folder or pipe of another user that appeared with the name of an output.
#[test]
fn what_another_user_makes_meanwhile_gets_nothing() {
    if !rustix::process::geteuid().is_root() {
        return skip("folders of another user", "this needs root");
    }
    let sandbox = prepared();
    seal(&sandbox, "x.dpn", "secret", &[]);
    sandbox.shell("mkdir tree && echo secret > tree/file && mkdir -m 1777 t").expect(0, "");
    sandbox.run(&["seal", "-p", "--passphrase-file", "pw", "-o", "t.dpn", "tree"]).expect(0, "");
    sandbox.run(&["picture", "hide", "-p", "--passphrase-file", "pw", "-o", "x.png", "tree/file"]).expect(0, "");
    for line in [
        "open -o t/x x.dpn",
        "open -o t/x/y x.dpn",
        "open --only file -o t/x t.dpn",
        "open --range 0:3 -o t/x x.dpn",
        "picture reveal -p -o t/x x.png",
    ] {
        let mut args: Vec<_> = line.split(' ').collect();
        args.extend(["--passphrase-file", "pipe"]);
        let appear = || drop(sandbox.shell("mkdir t/x && chown 65534 t/x").expect(0, ""));
        let run = paused(&sandbox, &args, appear);
        assert!(matches!(run.code(), Some(2 | 4)), "{line}: {}", run.stderr());
        assert_eq!(names(&sandbox.path("t/x")), [""; 0], "{line}");
        sandbox.shell("rmdir t/x").expect(0, "");
    }
    // Results never go into a folder of another user, whether the folder exists before or appears later, and even with
    // --force.
    sandbox.run(&["pack", "-o", "t.tar", "tree"]).expect(0, "");
    sandbox.shell("mkdir -p tree/sub e/sub && echo 1 > tree/sub/g && cp x.dpn e/sub/one.dpn").expect(0, "");
    sandbox.run(&["seal", "-f", "-p", "--passphrase-file", "pw", "-o", "t.dpn", "tree"]).expect(0, "");
    sandbox.run(&["pack", "-f", "-o", "t.tar", "tree"]).expect(0, "");
    for line in ["open --each e --to t/sub", "open -f --each e --to t/sub", "open -f -o t/sub t.dpn"] {
        let mut args: Vec<_> = line.split(' ').collect();
        args.extend(["--passphrase-file", "pipe"]);
        let appear = || drop(sandbox.shell("mkdir t/sub && chown 65534 t/sub").expect(0, ""));
        let run = paused(&sandbox, &args, appear);
        assert!(matches!(run.code(), Some(2 | 4)), "{line}: {}", run.stderr());
        assert_eq!(names(&sandbox.path("t/sub")), [""; 0], "{line}");
        sandbox.shell("rmdir t/sub").expect(0, "");
    }
    sandbox.shell("mkdir t/sub && chown 65534 t/sub").expect(0, "");
    for line in [
        "open --passphrase-file pw --each e --to t",
        "open -f --passphrase-file pw --each e --to t",
        "open --passphrase-file pw --only sub/g -o t t.dpn",
        "open -f --passphrase-file pw -o t t.dpn",
        "unpack --only sub -o t t.tar",
        "unpack -f -o t t.tar",
    ] {
        let run = sandbox.shell(&format!("deadpan {line}"));
        assert!(matches!(run.code(), Some(2 | 4)), "{line}: {}", run.stderr());
        assert!(run.stderr().contains("another user"), "{line}: {}", run.stderr());
        assert_eq!(names(&sandbox.path("t/sub")), [""; 0], "{line}");
    }
    // After damage, the result goes beside the existing folder, but never into a folder of another user. The test
    // checks that the existing folder is unchanged, so that the next run again finds a folder to refuse.
    let sealed =
        sandbox.shell("head -c 900000 /dev/urandom > tree/a; deadpan seal -f -p --passphrase-file pw -o t.dpn tree");
    sealed.expect(0, "");
    let mut bytes = sandbox.read("t.dpn");
    bytes[600_000] ^= 1;
    sandbox.write("t.dpn", bytes);
    for number in ["", "-2"] {
        let run = sandbox.shell("deadpan open -f --keep-going --passphrase-file pw -o t t.dpn");
        run.expect(1, &format!("complete in t.incomplete{number}\n")).expect(1, "left out: a");
        sandbox.shell("deadpan unpack -f --keep-going -o t t.tar").expect(2, "t/sub is a folder of another user");
        assert_eq!(names(&sandbox.path("t/sub")), [""; 0]);
    }
    // Results also never go into the user's own folder inside the folder of another user. An earlier version made the
    // user's own folder before it refused the command.
    sandbox.shell("mkdir -p deep/sub/own && echo 1 > deep/sub/own/g && chmod 777 t/sub").expect(0, "");
    let args = ["seal", "-p", "--passphrase-file", "pw", "--each", "deep", "--to", "t"];
    sandbox.run(&args).expect(2, "t/sub is a folder of another user");
    assert_eq!(names(&sandbox.path("t/sub")), [""; 0]);
    sandbox.shell("rm -r t && mkdir -m 1777 t").expect(0, "");
    let appear = || drop(sandbox.shell("mkfifo -m 666 t/x && chown 65534 t/x").expect(0, ""));
    let args = ["open", "-f", "-o", "t/x", "--passphrase-file", "pipe", "x.dpn"];
    paused(&sandbox, &args, appear).expect(2, "t/x is a FIFO or device of another user");
}

/// If another user may change names in a folder, that user can exchange an unfinished output. In an earlier version,
/// the cleanup of the unfinished output then removed the other file or folder with that name.
#[test]
fn the_cleanup_of_a_draft_removes_nothing_else() {
    let sandbox = prepared();
    sandbox
        .shell(
            "mkdir tree && head -c 3000000 /dev/urandom > tree/a && cp tree/a tree/b && deadpan pack tree && mkfifo p",
        )
        .expect(0, "");
    let exchange = "for i in $(seq 500); do N=$(ls -d .out.*) && break; sleep 0.01; done; mv $N moved && mv mine $N";
    for (name, end) in [("TERM", "kill -TERM $!"), ("cut short", "true")] {
        sandbox.shell("rm -rf moved mine .out.* && mkdir -p mine/sub && echo years > mine/sub/thesis").expect(0, "");
        let line = format!(
            "deadpan unpack -o out < p & exec 3> p; head -c 2000000 tree.tar >&3; {exchange}; {end}; exec 3>&-; \
            wait $!; cat $N/sub/thesis; ls moved"
        );
        let run = sandbox.shell(&line);
        assert_eq!(String::from_utf8_lossy(run.stdout()), "years\n", "{name}: {}", run.stderr());
    }
}
