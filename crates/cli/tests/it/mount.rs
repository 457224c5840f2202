//! `deadpan mount`: what the system shows of a mounted file, damage, and the ends of a mount.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{PROGRAM, Run, Sandbox, skip};

/// Unmounts the folder. Another test may start a program while this process has a file of the mount open. The program
/// inherits the file, and closes it when it is executed, which may be later.
const UNMOUNT: &str = "until umount mnt 2> failed; do grep busy failed && sleep 0.02 || exit 1; done";

/// A folder on which the program shows a sealed file.
struct Mount<'a> {
    sandbox: &'a Sandbox,
    child: Option<Child>,
}

impl<'a> Mount<'a> {
    fn begin(sandbox: &'a Sandbox, args: &[&str]) -> Self {
        let _ = fs::create_dir(sandbox.path("mnt"));
        let before = fs::metadata(sandbox.path("mnt")).unwrap().dev();
        let mut command = Command::new("env");
        sandbox.settle(&mut command);
        command.args(["--default-signal", PROGRAM, "mount"]).args(args).arg("mnt").stderr(Stdio::piped());
        let mut mount = Self { sandbox, child: Some(command.spawn().unwrap()) };
        let until = Instant::now() + Duration::from_secs(60);
        while fs::metadata(sandbox.path("mnt")).is_ok_and(|mnt| mnt.dev() == before) {
            let ended = mount.child.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < until, "{ended:?} {}", mount.end().stderr());
            thread::sleep(Duration::from_millis(5));
        }
        mount
    }

    fn send(&self, signal: &str) {
        let process = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &process]).status().unwrap().success());
    }

    /// Waits for the program.
    fn end(&mut self) -> Run {
        Run(self.child.take().unwrap().wait_with_output().unwrap())
    }

    /// Unmounts the folder, and waits for the program.
    fn unmount(mut self) -> Run {
        self.sandbox.shell(UNMOUNT).expect(0, "");
        let run = self.end();
        assert_eq!(run.code(), Some(0), "{}", run.stderr());
        run
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-ql").arg(self.sandbox.path("mnt")).status();
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether this process may mount. If not, says that the test is skipped.
fn may_mount() -> bool {
    let may = File::options().read(true).write(true).open("/dev/fuse").is_ok() && rustix::process::geteuid().is_root();
    if !may {
        skip("mount", "it takes root and /dev/fuse");
    }
    may
}

/// A folder with files of several kinds, sealed.
fn sealed(options: &str) -> Sandbox {
    let sandbox = Sandbox::with_key("ecc");
    let line = "umask 022 && mkdir -p tree/a/b tree/empty && printf 'one\\n' > tree/a/b/one \
        && ln -s ../one tree/a/link && ln tree/a/b/one tree/hard && : > tree/nothing && truncate -s 3M tree/holes \
        && printf x | dd of=tree/holes bs=1 seek=2000000 conv=notrunc status=none && chmod 750 tree/a \
        && head -c 1500000 /dev/urandom > tree/random && touch -d 2001-02-03T04:05:06.789 tree/random";
    sandbox.shell(line).expect(0, "");
    sandbox.shell(&format!("deadpan seal -q {options} tree")).expect(0, "");
    sandbox
}

#[test]
fn a_folder_looks_as_it_was_sealed() {
    if !may_mount() {
        return;
    }
    for options in ["", "-z", "--hide-length"] {
        let sandbox = sealed(options);
        let mount = Mount::begin(&sandbox, &["tree.dpn"]);
        sandbox.shell("diff -r --no-dereference tree mnt").expect(0, "");
        let facts = "find . -printf '%P %y %m %s %l\\n' | sed 's/ d \\([0-9]*\\) [0-9]*/ d \\1/' | sort";
        let [source, shown] = ["tree", "mnt"].map(|folder| sandbox.shell(&format!("cd {folder} && {facts}")));
        assert_eq!(String::from_utf8_lossy(shown.stdout()), String::from_utf8_lossy(source.stdout()));
        let about = |name: &str| fs::metadata(sandbox.path(name)).unwrap();
        assert_eq!(about("mnt/random").modified().unwrap(), about("tree/random").modified().unwrap());
        assert_eq!((about("mnt/hard").ino(), about("mnt/hard").nlink()), (about("mnt/a/b/one").ino(), 2));
        for change in ["echo x > mnt/new", "rm mnt/hard", "touch mnt/random", "echo x >> mnt/random"] {
            let run = sandbox.shell(change);
            assert!(run.code() == Some(1) && run.stderr().contains("Read-only file system"), "{change}: {run:?}");
        }
        let [source, shown] = ["tree/holes", "mnt/holes"].map(|name| File::open(sandbox.path(name)).unwrap());
        for from in [0, 1_999_999, 2_000_000, 2_100_000] {
            let places = |file| {
                [rustix::fs::SeekFrom::Data(from), rustix::fs::SeekFrom::Hole(from)]
                    .map(|to| rustix::fs::seek(file, to))
            };
            assert_eq!(places(&shown), places(&source), "{options} {from}");
        }
        drop(shown);
        let mut random = File::open(sandbox.path("mnt/random")).unwrap();
        for (at, length) in [(0, 1), (262_100, 30), (262_112, 1), (999_999, 400_000), (1_499_990, 10)] {
            let mut bytes = vec![0; length];
            random.seek(SeekFrom::Start(at)).unwrap();
            random.read_exact(&mut bytes).unwrap();
            assert!(bytes == sandbox.read("tree/random")[at as usize..][..length], "{at} {length}");
        }
        assert_eq!(random.read_at(&mut [0], 1_500_000).unwrap(), 0);
        drop(random);
        mount.unmount().expect(0, "mounted tree.dpn at mnt");
    }
}

#[test]
fn a_file_an_age_file_armor_and_a_pipe() {
    if !may_mount() {
        return;
    }
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("notes.txt", "straight face\n");
    sandbox.shell("mkdir tree && echo a > tree/a && deadpan seal -q --format age -o tree.age tree").expect(0, "");
    sandbox.shell("deadpan seal -q notes.txt && deadpan seal -q --armor -o armored notes.txt").expect(0, "");
    for (args, name, contents) in [
        ("notes.txt.dpn", "notes.txt", "straight face\n"),
        ("armored", "notes.txt", "straight face\n"),
        ("<(cat notes.txt.dpn)", "notes.txt", "straight face\n"),
        ("tree.age", "a", "a\n"),
    ] {
        let line = format!(
            "mkdir -p mnt; deadpan mount {args} mnt & for i in $(seq 500); do mountpoint -q mnt && break; sleep 0.02; \
             done; ls mnt; cat mnt/*; umount mnt && wait"
        );
        let run = sandbox.shell(&line).expect(0, "");
        assert_eq!(String::from_utf8_lossy(run.stdout()), format!("{name}\n{contents}"), "{args}");
    }
}

#[test]
fn a_damaged_segment_is_an_error_for_its_bytes_alone() {
    if !may_mount() {
        return;
    }
    let sandbox = Sandbox::with_key("ecc");
    let data: Vec<u8> = (0..2_000_000_u32).map(|number| (number / 4).to_le_bytes()[(number % 4) as usize]).collect();
    sandbox.shell("mkdir tree && echo whole > tree/whole").expect(0, "");
    sandbox.write("tree/data", &data);
    sandbox.shell("deadpan seal -q tree").expect(0, "");
    // A byte in the fourth segment of the payload.
    let mut bytes = sandbox.read("tree.dpn");
    let at = bytes.len() - 2_000_000 + 3 * (1 << 18);
    bytes[at] ^= 1;
    sandbox.write("tree.dpn", bytes);
    let mount = Mount::begin(&sandbox, &["tree.dpn"]);
    let file = File::open(sandbox.path("mnt/data")).unwrap();
    let mut lost = 0;
    for (page, expected) in data.chunks(4096).enumerate() {
        let mut bytes = vec![0; expected.len()];
        match file.read_exact_at(&mut bytes, page as u64 * 4096) {
            Ok(()) => assert!(bytes == expected, "page {page}"),
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(5), "page {page}: {error}");
                lost += 1;
            }
        }
    }
    // A segment holds 64 pages, and may begin and end inside a page.
    assert!((64..=66).contains(&lost), "{lost} pages");
    assert_eq!(fs::read(sandbox.path("mnt/whole")).unwrap(), b"whole\n");
    assert!(fs::read(sandbox.path("mnt/data")).is_err());
    drop(file);
    let run = mount.unmount();
    let told = run.stderr().matches("a part of data cannot be read").count();
    assert_eq!(told, 1, "{}", run.stderr());
}

#[test]
fn a_file_that_becomes_shorter_gives_errors_and_no_wrong_bytes() {
    if !may_mount() {
        return;
    }
    let sandbox = sealed("");
    let mount = Mount::begin(&sandbox, &["tree.dpn"]);
    File::options().write(true).open(sandbox.path("tree.dpn")).unwrap().set_len(400_000).unwrap();
    let error = fs::read(sandbox.path("mnt/random")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(5));
    mount.unmount().expect(0, "cannot be read");
}

#[test]
fn a_killed_mount_says_how_to_go_on() {
    if !may_mount() {
        return;
    }
    let sandbox = sealed("");
    let mut mount = Mount::begin(&sandbox, &["tree.dpn"]);
    mount.send("KILL");
    assert_eq!(mount.end().0.status.signal(), Some(9));
    assert_eq!(fs::read(sandbox.path("mnt/random")).unwrap_err().kind(), ErrorKind::NotConnected);
    sandbox.run(&["mount", "tree.dpn", "mnt"]).expect(2, "mnt is still mounted by a program that has ended");
    sandbox.shell(UNMOUNT).expect(0, "");
    Mount::begin(&sandbox, &["tree.dpn"]).unmount();
}

/// Reads in many threads until an error comes, and passes the number of bytes that were read.
fn under_load(sandbox: &Sandbox, end: impl FnOnce()) {
    let (ends, read) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    // The system keeps no pages of a file that is read directly, so each read is a request.
                    let _ = Command::new("dd")
                        .args(["if=random", "of=/dev/null", "bs=64k", "iflag=direct", "status=none"])
                        .current_dir(sandbox.path("mnt"))
                        .stderr(Stdio::null())
                        .status()
                        .map(|status| read.fetch_add(u64::from(status.success()), Ordering::Relaxed));
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(60);
        while read.load(Ordering::Relaxed) < 8 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        end();
        ends.store(true, Ordering::Relaxed);
    });
    assert!(read.load(Ordering::Relaxed) >= 8);
}

#[test]
fn a_signal_and_a_lazy_unmount_end_a_mount_under_load() {
    if !may_mount() {
        return;
    }
    let sandbox = sealed("");
    for signal in ["INT", "TERM", "HUP"] {
        let mut mount = Mount::begin(&sandbox, &["tree.dpn"]);
        let held = File::open(sandbox.path("mnt/random")).unwrap();
        let mut ended = None;
        under_load(&sandbox, || {
            mount.send(signal);
            ended = Some(mount.end());
        });
        let status = ended.unwrap().0.status;
        assert!(status.signal().is_some(), "{signal}: {status:?}");
        assert!(fs::read_dir(sandbox.path("mnt")).unwrap().next().is_none(), "{signal}: it is not mounted any more");
        assert!(held.read_at(&mut [0; 9], 1_000_000).is_err(), "{signal}");
    }
    let mut mount = Mount::begin(&sandbox, &["tree.dpn"]);
    under_load(&sandbox, || sandbox.shell("umount -l mnt").expect(0, "").0.stdout.clear());
    assert_eq!(mount.end().code(), Some(0));
}

#[test]
fn a_signature_is_required_before_anything_is_shown() {
    if !may_mount() {
        return;
    }
    let sandbox = sealed("");
    sandbox
        .shell("deadpan keygen -q --no-passphrase --sign && deadpan seal -q --sign -o signed.dpn tree")
        .expect(0, "");
    sandbox.shell("mkdir mnt; deadpan mount --require-signature tree.dpn mnt").expect(5, "it is not signed");
    let mount = Mount::begin(&sandbox, &["--require-signature", "signed.dpn"]);
    sandbox.shell("diff -r --no-dereference tree mnt").expect(0, "");
    // The name is signed, too.
    mount.unmount().expect(0, "signed by").expect(0, "it was signed as tree, and is now called signed");
}

#[test]
fn what_cannot_be_mounted_is_refused_before_a_key_is_needed() {
    let sandbox = Sandbox::with_key("ecc");
    let line = "mkdir mnt full && echo a > full/a && tar c full | deadpan seal -q -o tar.dpn && deadpan seal -q full \
        && : > file && ln -s mnt link";
    sandbox.shell(line).expect(0, "");
    for (args, code, words) in [
        ("full.dpn none", 2, "there is no folder none\nhint: make it first: mkdir none"),
        ("full.dpn full", 2, "full is not empty, and mounting would hide what is in it"),
        ("full.dpn file", 2, "file is not a folder\nhint: name an empty folder"),
        ("mnt full.dpn", 2, "full.dpn is not a folder\nhint: the FILE comes first: deadpan mount FILE FOLDER"),
        ("none.dpn mnt", 2, "none.dpn"),
        ("file mnt", 1, "file: not a sealed file: it is empty"),
        ("full mnt", 2, "full is a folder"),
        ("full.dpn", 2, "<FOLDER>"),
    ] {
        let run = sandbox.shell(&format!("deadpan mount {args} < /dev/null"));
        assert!(run.code() == Some(code) && run.stderr().contains(words), "{args}: {:?} {}", run.code(), run.stderr());
    }
    sandbox.shell("DEADPAN_HOME=other deadpan keygen -q --no-passphrase").expect(0, "");
    sandbox.shell("DEADPAN_HOME=other deadpan mount full.dpn mnt").expect(3, "no key fits");
}

#[test]
fn a_folder_that_is_exchanged_while_a_passphrase_is_asked_hides_no_other() {
    if !may_mount() {
        return;
    }
    let sandbox = Sandbox::with_key("ecc");
    let line = "echo secret > pw && echo text > a && deadpan seal -q -p --passphrase-file pw a && mkdir mnt victim \
        && echo there > victim/file && echo 'mv mnt moved; ln -s victim mnt; cat pw' > swap.sh";
    sandbox.shell(line).expect(0, "");
    // If the mount went elsewhere, it ends after a minute.
    let line = "timeout 60 deadpan mount --passphrase-command 'sh swap.sh' a.dpn mnt & \
        for i in $(seq 500); do mountpoint -q moved && break; sleep 0.02; done; \
        cat moved/a victim/file; umount moved && wait";
    let run = sandbox.shell(line).expect(0, "");
    assert_eq!(String::from_utf8_lossy(run.stdout()), "text\nthere\n");
}

#[test]
fn the_end_of_a_mount_unmounts_nothing_else() {
    if !may_mount() {
        return;
    }
    let sandbox = sealed("");
    // Another file system lies on the mount.
    let mut mount = Mount::begin(&sandbox, &["tree.dpn"]);
    sandbox.shell("mount -t tmpfs none mnt && echo x > mnt/x").expect(0, "");
    mount.send("INT");
    mount.end();
    assert_eq!(sandbox.read("mnt/x"), b"x\n");
    sandbox.shell("umount mnt; umount -l mnt; true").expect(0, "");
    // The path leads to another mount, and the folder has another name.
    sandbox.shell("mkdir -p p/mnt other/mnt && mount -t tmpfs none other/mnt && echo x > other/mnt/x").expect(0, "");
    let line = "env --default-signal deadpan mount tree.dpn p/mnt & \
        for i in $(seq 500); do mountpoint -q p/mnt && break; sleep 0.02; done; \
        mv p 'q 1' && ln -s other p && kill -INT $! ; wait $!; echo $?; cat other/mnt/x; \
        mountpoint -q 'q 1/mnt'; echo $?; umount other/mnt";
    let run = sandbox.shell(line).expect(0, "");
    assert_eq!(String::from_utf8_lossy(run.stdout()), "130\nx\n32\n", "{}", run.stderr());
}
