//! `deadpan edit`: the private folder, signals, the terminal, and full disks.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::sandbox::session::Session;
use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish, skip};

/// A text that no other file contains.
const SECRET: &str = "a secret with a straight face";

/// Makes a sandbox with a sealed file, `notes.txt.dpn`, and with the editor `edit.sh`.
fn prepared(editor: &str) -> Sandbox {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("notes.txt", SECRET);
    sandbox.shell("deadpan seal --remove-source notes.txt; mkdir tmp").expect(0, "");
    sandbox.write("edit.sh", editor);
    sandbox
}

/// Prepares the command, whose editor runs `edit.sh`. The folder for the draft is the test's own, so that other tests
/// leave nothing in it.
fn edit(sandbox: &Sandbox, memory: &Memory) -> Command {
    let mut command = sandbox.command(PROGRAM, &["edit", "--editor", "sh edit.sh", "notes.txt.dpn"]);
    command.env("XDG_RUNTIME_DIR", &memory.0).env("TMPDIR", sandbox.path("tmp"));
    command
}

fn opened(sandbox: &Sandbox, name: &str) -> String {
    let run = sandbox.run(&["open", "-o", "-", name]).expect(0, "");
    String::from_utf8(run.stdout().to_vec()).unwrap()
}

/// A folder in memory. Dropping the value removes the folder.
struct Memory(PathBuf);

impl Memory {
    fn new(name: &str) -> Option<Self> {
        let path = Path::new("/dev/shm").join(format!("deadpan-test-{name}-{}", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => Some(Self(path)),
            Err(error) => {
                skip(name, &format!("no folder in /dev/shm: {error}"));
                None
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// Asserts that the folder is empty.
    #[track_caller]
    fn expect_empty(&self) {
        assert_eq!(self.names(), Vec::<String>::new());
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits until the editor has made this file.
#[track_caller]
fn wait_for(path: &Path) {
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < LIMIT, "no {}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(id: u32, signal: Signal) {
    kill_process(Pid::from_raw(id.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn the_draft_lies_in_a_private_folder_in_memory_and_is_wiped() {
    let editor = "stat -f -c %T $1 > seen; stat -c %a $1 >> seen
        folder=$(dirname $1); stat -c %a $folder $(dirname $folder) >> seen; basename $1 >> seen
        cp $1 $1~; mkdir $folder/sub; cp $1 $folder/sub/.notes.txt.swp; ln -s $PWD/outside $folder/link
        echo changed > $1.new; mv $1.new $1";
    let (sandbox, Some(memory)) = (prepared(editor), Memory::new("private")) else { return };
    sandbox.write("outside", "stays");
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
    assert_eq!(String::from_utf8(sandbox.read("seen")).unwrap(), "tmpfs\n600\n700\n700\nnotes.txt\n");
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), "changed\n");
    assert_eq!(sandbox.read("outside"), b"stays");
    memory.expect_empty();
    assert_eq!(sandbox.names(), ["edit.sh", "notes.txt.dpn", "outside", "seen", "tmp"]);
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}

/// While the editor runs and after its end, no file beside the sealed file and in the folder for temporary files holds
/// the text.
#[test]
fn the_text_never_lies_on_the_disk() {
    let search = "grep -rlf pattern . | grep -v pattern";
    let editor = format!("{search} > found; grep -cf pattern $1 >> found; echo new >> $1");
    let (sandbox, Some(memory)) = (prepared(&editor), Memory::new("disk")) else { return };
    sandbox.write("pattern", SECRET);
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
    assert_eq!(sandbox.read("found"), b"1\n");
    assert_eq!(sandbox.shell(search).stdout(), b"");
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), format!("{SECRET}new\n"));
}

#[test]
fn without_a_folder_in_memory_a_note_names_the_folder_on_the_disk() {
    let (sandbox, Some(memory)) = (prepared("echo $1 > seen; echo x >> $1"), Memory::new("none")) else { return };
    // In this namespace, the folders in memory are covered by folders of the disk.
    let line = "mount --bind tmp /dev/shm && XDG_RUNTIME_DIR=$PWD/tmp TMPDIR=$PWD/tmp \
        deadpan edit --editor 'sh edit.sh' notes.txt.dpn";
    let mut command = sandbox.command("unshare", &["-m", "bash", "-c", line]);
    command.env("XDG_RUNTIME_DIR", &memory.0);
    let run = finish(command, LIMIT, |_| ());
    if run.stderr().contains("unshare failed") || run.stderr().contains("permission denied") {
        return skip("edit without a folder in memory", run.stderr().trim());
    }
    let folder = sandbox.path("tmp").display().to_string();
    run.expect(0, &format!("note: no folder in memory can be used, so the text lies in {folder} while you edit it"));
    assert!(String::from_utf8(sandbox.read("seen")).unwrap().starts_with(&folder));
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}

/// Runs the command until the editor has begun, sends a signal to the command, and returns its end.
fn signalled(sandbox: &Sandbox, memory: &Memory, signal: Signal) -> Run {
    finish(edit(sandbox, memory), LIMIT, |child| {
        wait_for(&sandbox.path("begun"));
        send(child.id(), signal);
    })
}

#[test]
fn signals_end_the_editor_and_wipe_the_draft() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (sandbox, Some(memory)) = (prepared("echo > begun; exec sleep 900"), Memory::new("ended")) else { return };
        let before = sandbox.read("notes.txt.dpn");
        let run = signalled(&sandbox, &memory, signal);
        assert_eq!(run.0.status.signal(), Some(signal.as_raw()), "{}", run.stderr());
        memory.expect_empty();
        assert_eq!(sandbox.read("notes.txt.dpn"), before);
        assert_eq!(sandbox.names(), ["begun", "edit.sh", "notes.txt.dpn", "tmp"]);
    }
}

/// The editor has saved the text before the signal, so the text is sealed beside the file. The editor ignores the
/// signal, so it is killed.
#[test]
fn saved_text_survives_a_signal() {
    let editor = "trap '' TERM; echo saved > $1; echo > begun; while :; do sleep 0.1; done";
    let (sandbox, Some(memory)) = (prepared(editor), Memory::new("saved")) else { return };
    let run = signalled(&sandbox, &memory, Signal::TERM);
    assert_eq!(run.0.status.signal(), Some(Signal::TERM.as_raw()), "{}", run.stderr());
    assert!(run.stderr().contains("hint: your text is sealed in notes.edited.txt.dpn"), "{}", run.stderr());
    memory.expect_empty();
    assert_eq!(opened(&sandbox, "notes.edited.txt.dpn"), "saved\n");
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), SECRET);
}

/// A Ctrl-C on the terminal is for the editor. The command must not die from it while the editor lives on.
#[test]
fn ctrl_c_belongs_to_the_editor() {
    let editor = "trap 'caught=yes' INT; echo ready; while [ -z \"$caught\" ]; do sleep 0.1; done; echo kept > $1";
    let (sandbox, Some(memory)) = (prepared(editor), Memory::new("ctrl-c")) else { return };
    let memory_is = format!("XDG_RUNTIME_DIR={}", memory.0.display());
    let args = [&memory_is, PROGRAM, "edit", "--editor", "sh edit.sh", "notes.txt.dpn"];
    let mut session = Session::of(&sandbox, "env", &args);
    session.expect("ready").control(b'C');
    let shown = session.end(0);
    assert!(shown.contains("edit: notes.txt.dpn (changed)"), "{shown}");
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), "kept\n");
    memory.expect_empty();
    // An editor that ends by Ctrl-C has not rejected the text that it saved.
    sandbox.write("edit.sh", "echo more > $1; echo ready; while :; do sleep 0.1; done");
    let mut session = Session::of(&sandbox, "env", &args);
    session.expect("ready").control(b'C');
    session.expect("your text is sealed in notes.edited.txt.dpn");
    assert_eq!(session.child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    assert_eq!(opened(&sandbox, "notes.edited.txt.dpn"), "more\n");
    memory.expect_empty();
}

#[test]
fn the_editor_gets_the_terminal() {
    let (sandbox, Some(memory)) = (prepared("test -t 0 && test -t 1 && echo terminal"), Memory::new("terminal")) else {
        return;
    };
    let line =
        format!("XDG_RUNTIME_DIR={} deadpan edit --editor 'sh edit.sh' notes.txt.dpn < edit.sh", memory.0.display());
    let shown = Session::of(&sandbox, "bash", &["-c", &line]).end(0);
    assert!(shown.contains("terminal") && shown.contains("edit: notes.txt.dpn (unchanged)"), "{shown}");
    assert!(shown.contains("note: the editor ended at once"), "{shown}");
}

#[test]
fn the_next_run_removes_the_draft_of_a_killed_run() {
    let (sandbox, Some(memory)) = (prepared("echo > begun; exec sleep 900"), Memory::new("killed")) else { return };
    let run = finish(edit(&sandbox, &memory), LIMIT, |child| {
        wait_for(&sandbox.path("begun"));
        send(child.id(), Signal::KILL);
        waitid(WaitId::Pid(Pid::from_child(child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        // The editor is still open, so its text stays.
        sandbox.write("edit.sh", "");
        finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
        assert_eq!(memory.names().len(), 1);
        // The editor must end as well, since it runs longer than the killed command.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    });
    assert_eq!(run.0.status.signal(), Some(9));
    assert_eq!(memory.names().len(), 1);
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "which an earlier run left");
    memory.expect_empty();
}

/// A second run must not remove the draft of the first run.
#[test]
fn two_runs_for_two_files_do_not_disturb_each_other() {
    let editor =
        "cp notes.txt.dpn other.dpn; deadpan edit --editor 'sed -i s/secret/second/' other.dpn; echo first > $1";
    let (sandbox, Some(memory)) = (prepared(editor), Memory::new("two")) else { return };
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
    assert_eq!(opened(&sandbox, "other.dpn"), SECRET.replace("secret", "second"));
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), "first\n");
}

/// If the folder of the file is full or read-only, the text is sealed in memory.
#[test]
fn text_that_cannot_be_written_is_sealed_in_memory() {
    let (sandbox, Some(memory)) = (prepared(""), Memory::new("full")) else { return };
    let line = "mkdir disk && mount -t tmpfs -o size=64k none disk && cp notes.txt.dpn disk && \
        echo 'head -c 70000 /dev/urandom > disk/full; echo long > $1' > edit.sh; \
        deadpan edit --editor 'sh edit.sh' disk/notes.txt.dpn; code=$?; \
        deadpan open -o - disk/notes.txt.dpn; exit $code";
    let mut command = sandbox.command("unshare", &["-m", "bash", "-c", line]);
    command.env("XDG_RUNTIME_DIR", &memory.0);
    let run = finish(command, LIMIT, |_| ());
    if run.stderr().contains("unshare failed") || run.stderr().contains("permission denied") {
        return skip("edit on a full disk", run.stderr().trim());
    }
    let place = memory.0.join("notes.edited.txt.dpn");
    let run = run.expect(4, &format!("hint: your text is sealed in {}", place.display()));
    assert_eq!(run.stdout(), SECRET.as_bytes());
    assert_eq!(memory.names(), ["notes.edited.txt.dpn"]);
    assert_eq!(opened(&sandbox, place.to_str().unwrap()), "long\n");
}

#[test]
fn the_new_file_keeps_the_owner_and_attributes() {
    let (sandbox, Some(memory)) = (prepared("echo x > $1"), Memory::new("owner")) else { return };
    sandbox.shell("chown 1234:1234 notes.txt.dpn 2> log; setfattr -n user.kept -v yes notes.txt.dpn 2> log").code();
    let before = fs::metadata(sandbox.path("notes.txt.dpn")).unwrap();
    let attribute = || sandbox.shell("getfattr --only-values -n user.kept notes.txt.dpn 2> log").stdout().to_vec();
    let had = attribute();
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
    let after = fs::metadata(sandbox.path("notes.txt.dpn")).unwrap();
    assert_eq!((before.uid(), before.gid(), before.mode()), (after.uid(), after.gid(), after.mode()));
    assert_ne!(before.ino(), after.ino());
    assert_eq!(attribute(), had);
}

/// An editor that saves by renaming leaves the old text in a file without a name.
#[test]
fn the_text_before_the_change_is_overwritten() {
    let editor = "echo > begun; while ! test -e go; do sleep 0.1; done; sed -i s/secret/story/ $1";
    let (sandbox, Some(memory)) = (prepared(editor), Memory::new("overwritten")) else { return };
    let mut open = None;
    let run = finish(edit(&sandbox, &memory), LIMIT, |_| {
        wait_for(&sandbox.path("begun"));
        let around = memory.0.join(&memory.names()[0]);
        let draft = fs::read_dir(around).unwrap().next().unwrap().unwrap().path().join("notes.txt");
        open = Some(fs::File::open(draft).unwrap());
        sandbox.write("go", "");
    });
    run.expect(0, "");
    assert_eq!(opened(&sandbox, "notes.txt.dpn"), SECRET.replace("secret", "story"));
    let mut old = Vec::new();
    std::io::Read::read_to_end(&mut open.unwrap(), &mut old).unwrap();
    assert_eq!(old, vec![0; SECRET.len()]);
}

/// The owner of the folder could put another folder in the place of the private one.
#[test]
fn a_runtime_folder_of_another_user_is_not_used() {
    let (sandbox, Some(memory)) = (prepared("echo $1 > where"), Memory::new("foreign")) else { return };
    if std::os::unix::fs::chown(&memory.0, Some(65534), Some(65534)).is_err() {
        return skip("a folder of another user", "it takes root");
    }
    finish(edit(&sandbox, &memory), LIMIT, |_| ()).expect(0, "");
    let place = String::from_utf8(sandbox.read("where")).unwrap();
    assert!(place.ends_with("notes.txt\n") && !place.starts_with(memory.0.to_str().unwrap()), "{place}");
}
