//! Ends runs early: by a signal, by SIGKILL, or because the program that reads the output exits.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{LIMIT, PROGRAM, Sandbox, skip};

/// Returns a command that signals reach, even if the tests run under `nohup` or in the background, where some signals
/// are ignored.
fn mortal(sandbox: &Sandbox, program: &str) -> Command {
    let mut command = Command::new("env");
    sandbox.settle(&mut command);
    command.args(["--default-signal", program]);
    command
}

/// Returns a command that runs the program directly, and not under `setsid`, so that signals reach the program.
fn program(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = mortal(sandbox, PROGRAM);
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Chooses the moments at which a test interrupts runs. Later runs can be much faster or slower than the first run,
/// whose time was measured. If a run ends before its signal, the next wait is shorter, until a signal arrives during a
/// run.
struct Moments(Duration);

impl Moments {
    fn of(run: impl FnOnce()) -> Self {
        let start = Instant::now();
        run();
        Self(start.elapsed())
    }

    /// Waits for this part of a run.
    fn wait(&self, part: f64) {
        std::thread::sleep(self.0.mul_f64(part));
    }

    fn came_too_late(&mut self) {
        self.0 = self.0.mul_f64(0.7);
    }
}

fn send(signal: &str, process: u32) {
    assert!(Command::new("kill").args(["-s", signal, &process.to_string()]).status().unwrap().success());
}

#[test]
fn sigkill_at_fifty_random_moments() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("big", vec![7; 64 << 20]);
    sandbox.run(&["keygen", "--no-passphrase", "--sign"]).expect(0, "");
    sandbox.run(&["seal", "big"]).expect(0, "");
    sandbox.run(&["seal", "--sign", "-o", "signed", "big"]).expect(0, "");
    for (args, before) in [
        (&["seal", "-o", "out", "big"][..], None),
        (&["seal", "--sign", "-o", "out", "big"], None),
        (&["open", "--force", "--require-signature", "-o", "out", "signed"], Some("as before")),
        (&["seal", "--force", "-o", "out", "big"], Some("as before")),
        (&["open", "-o", "out", "big.dpn"], None),
        (&["open", "--force", "-o", "out", "big.dpn"], Some("as before")),
    ] {
        let mut moments = Moments::of(|| {
            assert!(program(&sandbox, args).status().unwrap().success() || before.is_none());
        });
        let complete = sandbox.read("out").len();
        let mut random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let mut killed = 0;
        while killed < 9 {
            let _ = std::fs::remove_file(sandbox.path("out"));
            before.inspect(|contents| sandbox.write("out", contents));
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut child = program(&sandbox, args).spawn().unwrap();
            moments.wait((random >> 40) as f64 / (1 << 24) as f64);
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                moments.came_too_late()
            } else {
                killed += 1
            }
            let now = std::fs::read(sandbox.path("out")).ok();
            let is_before = now.as_deref() == before.map(str::as_bytes);
            assert!(
                is_before || now.is_some_and(|now| now.len() == complete),
                "{args:?}: the output is neither the old file nor complete"
            );
            // The name of a file that remains must show the purpose of the file.
            let mut names = sandbox.names();
            names.retain(|name| {
                !["big", "big.dpn", "signed", "out"].contains(&name.as_str()) && !name.ends_with(".deadpan-part")
            });
            assert_eq!(names, [""; 0], "{args:?}");
        }
        let _ = std::fs::remove_file(sandbox.path("out"));
    }
}

/// Either the file has the header of the old or of the new recipients, or the next command restores the old header.
#[test]
fn a_killed_change_of_recipients_leaves_a_file_that_opens() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.run(&["keygen", "--no-passphrase", "-o", "other.key"]).expect(0, "");
    // Many other keys make the header long, and writing it takes time.
    for number in 0..40 {
        let name = format!("k{number}.key");
        sandbox.run(&["keygen", "--mode", "pqc", "--no-passphrase", "-o", &name]).expect(0, "");
    }
    sandbox.shell("cat k*.pub home/hybrid.pub > all").expect(0, "");
    sandbox.write("data", vec![7; 2_000_000]);
    for (recipients, new_file) in [("all", false), ("home/hybrid.pub", true)] {
        sandbox.run(&["seal", "-f", "-R", recipients, "-o", "sealed", "data"]).expect(0, "");
        let sealed = sandbox.read("sealed");
        let args = if new_file {
            vec!["rewrap", "-R", "all", "-r", "other.pub", "sealed"]
        } else {
            vec!["rewrap", "-r", "other.pub", "sealed"]
        };
        let mut moments = Moments::of(|| assert!(program(&sandbox, &args).status().unwrap().success()));
        let mut random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let mut killed = 0;
        while killed < 25 {
            sandbox.write("sealed", &sealed);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut child = program(&sandbox, &args).spawn().unwrap();
            moments.wait((random >> 40) as f64 / (1 << 24) as f64);
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                moments.came_too_late()
            } else {
                killed += 1
            }
            let mut names = sandbox.names();
            names.retain(|name| name.starts_with('.') && !name.ends_with(".deadpan-part"));
            assert!(names.is_empty() || names == [".sealed.deadpan-rewrap"], "{names:?}");
            sandbox.run(&["open", "--verify", "sealed"]).expect(0, "whole and unchanged");
            assert!(!sandbox.path(".sealed.deadpan-rewrap").exists());
            let length = sandbox.read("sealed").len();
            assert!(new_file || length == sealed.len(), "{length}");
        }
        sandbox.run(&args).expect(0, "");
        sandbox.run(&["open", "--verify", "-i", "other.key", "sealed"]).expect(0, "whole and unchanged");
    }
}

#[test]
fn a_folder_is_complete_or_does_not_exist() {
    let sandbox = Sandbox::with_key("hybrid");
    std::fs::create_dir_all(sandbox.path("tree/inner")).unwrap();
    for number in 0..300 {
        sandbox.write(&format!("tree/inner/{number}"), vec![number as u8; 100 * number]);
    }
    sandbox.write("tree/large", vec![7; 32 << 20]);
    sandbox.run(&["seal", "tree"]).expect(0, "");
    let args = ["open", "-o", "out", "tree.dpn"];
    let mut moments = Moments::of(|| assert!(program(&sandbox, &args).status().unwrap().success()));
    let mut killed = 0;
    while killed < 11 {
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
        let mut child = program(&sandbox, &args).spawn().unwrap();
        moments.wait(f64::from(killed + 1) / 12.0);
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            moments.came_too_late()
        } else {
            killed += 1
        }
        let count = std::fs::read_dir(sandbox.path("out")).ok().map(Iterator::count);
        assert!(matches!(count, None | Some(2)), "{count:?} entries in the folder `out`");
        let mut names = sandbox.names();
        names.retain(|name| !["tree", "tree.dpn", "out"].contains(&name.as_str()) && !name.ends_with(".deadpan-part"));
        assert_eq!(names, [""; 0]);
    }
    let _ = std::fs::remove_dir_all(sandbox.path("out"));
    // The next run removes what killed runs did not remove, except empty folders, which another run may have made just
    // now.
    assert!(program(&sandbox, &args).status().unwrap().success());
    assert_eq!(sandbox.shell("find . -name '*.deadpan-part' -not -empty").stdout(), b"");
    let same = Command::new("diff").arg("-r").args([sandbox.path("tree"), sandbox.path("out")]).status().unwrap();
    assert!(same.success());
}

/// Unpacking replaces the files of an existing folder one by one. Each file is replaced completely or not at all.
#[test]
fn signals_leave_no_drafts_in_an_existing_folder() {
    let sandbox = Sandbox::with_key("hybrid");
    let contents = |version: u8, number: usize| vec![version; 1000 * number + 1];
    let write = |folder: &str, version| {
        std::fs::create_dir_all(sandbox.path(folder)).unwrap();
        (0..60).for_each(|number| sandbox.write(&format!("{folder}/{number}"), contents(version, number)));
        sandbox.write(&format!("{folder}/large"), vec![version; 8 << 20]);
    };
    write("tree/inner", 2);
    sandbox.run(&["seal", "tree"]).expect(0, "");
    sandbox.run(&["pack", "tree"]).expect(0, "");
    std::fs::rename(sandbox.path("tree"), sandbox.path("moved")).unwrap();
    for args in [
        &["open", "--force", "tree.dpn"][..],
        &["unpack", "--force", "tree.tar"],
        &["open", "--only", "*/*", "--force", "tree.dpn"],
    ] {
        write("tree/inner", 1);
        let mut moments = Moments::of(|| assert!(program(&sandbox, args).status().unwrap().success()));
        let mut caught = 0;
        while caught < 6 {
            write("tree/inner", 1);
            let child = program(&sandbox, args).spawn().unwrap();
            moments.wait(f64::from(caught + 1) / 7.0);
            let (name, number) = if caught % 2 == 0 { ("INT", 2) } else { ("TERM", 15) };
            send(name, child.id());
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success() || output.status.signal() == Some(number), "{args:?}: {output:?}");
            if output.status.success() {
                moments.came_too_late()
            } else {
                caught += 1
            }
            assert!(output.status.success() || output.stderr.is_empty(), "{args:?}: {output:?}");
            for entry in std::fs::read_dir(sandbox.path("tree/inner")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let now = sandbox.read(&format!("tree/inner/{name}"));
                let length = name.parse().map_or(8 << 20, |number| contents(1, number).len());
                assert!(now == vec![1; length] || now == vec![2; length], "{args:?}: {name} is neither old nor new");
            }
            assert_eq!(std::fs::read_dir(sandbox.path("tree/inner")).unwrap().count(), 61);
            assert!(!sandbox.shell("find tree -name '*.deadpan-part' | grep .").0.status.success());
        }
    }
}

/// Signals arrive while the pictures get their names, and at other moments. With `-f`, the new pictures replace the
/// pictures of an older set.
#[test]
fn a_set_of_pictures_is_complete_or_does_not_exist() {
    let sandbox = Sandbox::with_key("ecc");
    let folder = sandbox.path("out");
    sandbox.write("data", vec![7; 400_000]);
    let args = ["picture", "hide", "--raw", "--size", "30x30", "-o", "out/", "data"];
    let read = || -> BTreeMap<_, _> {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    let clear = || {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
    };
    clear();
    sandbox.run(&args).expect(0, "");
    let first = folder.join("data-001.png");
    let inode = || std::fs::symlink_metadata(&first).ok().map(|about| about.ino());
    for round in 0..10 {
        let force = round % 2 == 1;
        if !force {
            clear();
        } else if read().is_empty() {
            sandbox.run(&args).expect(0, "");
        }
        let (before, old) = (read(), inode());
        let mut command = program(&sandbox, &args);
        command.args(force.then_some("-f"));
        let (start, mut child) = (Instant::now(), command.spawn().unwrap());
        // In most rounds, the signal is sent when the first picture has its name but other pictures do not yet have
        // their names.
        let late = Duration::from_millis(if round < 8 { 60_000 } else { 30 * (round - 7) });
        while inode() == old && start.elapsed() < late && child.try_wait().unwrap().is_none() {}
        let signal = [Signal::INT, Signal::TERM, Signal::HUP][round as usize % 3];
        // A process can get signals even after its end, until the test waits for the process.
        let _ = kill_process(Pid::from_child(&child), signal);
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(signal.as_raw()), "round {round}: {status}");
        let after = read();
        let is_before = after == before && !status.success();
        let is_new = after.len() > 100 && after.iter().all(|(path, now)| before.get(path).is_none_or(|old| old != now));
        assert!(is_before || is_new, "round {round}: {} of {} pictures", after.len(), before.len());
        assert!(after.keys().all(|path| path.extension().is_some_and(|ending| ending == "png")), "round {round}");
        if is_new {
            let run = sandbox.run(&["picture", "reveal", "--raw", "-o", "-", "out"]).expect(0, "");
            assert!(run.stdout() == sandbox.read("data"), "round {round}");
        }
    }
}

fn open_files(process: u32) -> Vec<String> {
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let targets = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    targets.map(|target| target.display().to_string()).collect()
}

#[test]
fn signals_leave_no_files() {
    let sandbox = Sandbox::with_key("hybrid");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let mut child = program(&sandbox, &["seal", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        // The output has no name yet, so the list of open files shows it as a deleted file.
        let deadline = Instant::now() + LIMIT;
        while !open_files(child.id()).iter().any(|file| file.ends_with(" (deleted)")) && sandbox.names().is_empty() {
            assert!(child.try_wait().unwrap().is_none() && Instant::now() < deadline, "there is no output");
            std::thread::sleep(Duration::from_millis(5));
        }
        let stdin = child.stdin.take();
        send(name, child.id());
        let status = child.wait().unwrap();
        drop(stdin);
        // Shells report 128 plus the signal's number.
        assert_eq!(status.signal(), Some(number), "{name}");
        assert_eq!(sandbox.names(), [""; 0], "{name}");
    }
}

#[test]
fn a_closed_pipe_prints_no_message() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("big", vec![7; 16 << 20]);
    sandbox.run(&["seal", "big"]).expect(0, "");
    for line in [
        "deadpan seal -o - big | head -c 10",
        "deadpan open -o - big.dpn | head -c 10",
        "deadpan seal -a -o - big | head -c 10",
    ] {
        let run = sandbox.shell(&format!("{line}; echo ${{PIPESTATUS[0]}} >&2"));
        assert_eq!(run.stdout().len(), 10, "{line}");
        // The exit code is 128 plus SIGPIPE, and no message is printed.
        assert_eq!(run.stderr(), "141\n", "{line}");
    }
    let run = sandbox.shell(
        "for i in $(seq 200); do echo; done > many; deadpan completions bash | head -1; echo ${PIPESTATUS[0]} >&2",
    );
    assert!(run.stderr() == "141\n" || run.stderr() == "0\n", "{}", run.stderr());
}

/// Without /proc, the program uses a temporary name, as it does on file systems without O_TMPFILE.
#[test]
fn partial_outputs_with_a_name_are_removed() {
    let sandbox = Sandbox::with_key("hybrid");
    let line = "mount -t tmpfs tmpfs /proc && exec deadpan seal -o out";
    let start = || {
        let mut command = mortal(&sandbox, "unshare");
        command.args(["--mount", "bash", "-c", line]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let begun = |child: &mut std::process::Child| {
        let deadline = Instant::now() + LIMIT;
        while sandbox.names().is_empty() && child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        sandbox.names()
    };
    for (name, number) in [("INT", 2), ("TERM", 15), ("KILL", 9)] {
        let mut child = start();
        let names = begun(&mut child);
        if names.is_empty() {
            let _ = child.kill();
            return skip("outputs with a name for a while", "hiding /proc is not allowed");
        }
        assert!(names[0].starts_with(".out.") && names[0].ends_with(".deadpan-part"), "{names:?}");
        // The test takes the child's standard input, because otherwise `wait` closes this input, and the run ends with
        // a result.
        let stdin = child.stdin.take();
        send(name, child.id());
        let status = child.wait().unwrap();
        drop(stdin);
        assert_eq!(status.signal(), Some(number), "{name}: {status}");
        assert_eq!(sandbox.names().len(), usize::from(name == "KILL"), "{name}");
    }
    // The next run with the same output removes the file and succeeds.
    let mut child = start();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("which an earlier run left"));
    assert_eq!(sandbox.names(), ["out"]);
}

/// A run makes its temporary folder, and then locks the folder. Another run that starts before the folder is locked
/// must not remove the folder.
#[test]
fn runs_at_once_leave_the_draft_folders_of_each_other_alone() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir fo && echo 1 > fo/a && deadpan seal fo && deadpan pack fo && rm -r fo").expect(0, "");
    let line = "for i in 1 2 3 4; do deadpan COMMAND -o out INPUT 2> err$i; echo $? > code$i & done; wait";
    for (command, input) in [("open", "fo.dpn"), ("unpack", "fo.tar")] {
        for round in 0..40 {
            sandbox.shell(&line.replace("COMMAND", command).replace("INPUT", input)).expect(0, "");
            let mut won = 0;
            for run in 1..=4 {
                let said = String::from_utf8(sandbox.read(&format!("err{run}"))).unwrap();
                match &sandbox.read(&format!("code{run}"))[..] {
                    b"0\n" => {
                        won += 1;
                        assert_eq!(said, "", "round {round}");
                    }
                    code => {
                        assert_eq!(code, b"2\n", "round {round}: {said}");
                        assert!(said.starts_with("error: out exists already\nhint: "), "round {round}: {said}");
                        assert!(!said.contains("note: "), "round {round}: {said}");
                    }
                }
            }
            assert_eq!(won, 1, "round {round}");
            assert_eq!(sandbox.shell("cat out/a && rm -r out && find . -name '*.deadpan-part'").stdout(), b"1\n");
        }
    }
}
