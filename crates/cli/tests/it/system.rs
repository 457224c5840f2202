//! Faults of the system: full disks, missing permissions, huge files, hostile users.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, skip};

#[test]
fn a_full_device_is_an_error() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("a.txt", "straight face");
    sandbox.run(&["seal", "a.txt"]).expect(0, "");
    for args in [
        &["seal", "-o", "/dev/full", "a.txt"][..],
        &["open", "-o", "/dev/full", "a.txt.dpn"],
        &["seal", "-a", "-o", "/dev/full", "a.txt"],
    ] {
        sandbox.run(args).expect(4, "cannot write /dev/full: the disk is full");
    }
    sandbox
        .shell("deadpan open -o - a.txt.dpn > /dev/full")
        .expect(4, "cannot write standard output: the disk is full");
    sandbox.shell("deadpan keys > /dev/full").expect(4, "the disk is full");
}

/// A small file system.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    /// Mounts the file system, or prints that `what` is skipped.
    fn mount(folder: &'a Path, size: &str, what: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let options = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        if !mount.is_ok_and(|status| status.success()) {
            skip(what, "mounting a tmpfs is not allowed");
            return None;
        }
        Some(Self(folder))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// The disk has no space for the record of a change in place or for a new file, so the file keeps its recipients.
#[test]
fn a_full_disk_leaves_the_recipients_as_they_were() {
    let sandbox = Sandbox::with_key("hybrid");
    let folder = sandbox.path("small");
    let Some(_small) = Small::mount(&folder, "4m", "recipients on a full disk") else { return };
    sandbox.run(&["keygen", "--no-passphrase", "-o", "other.key"]).expect(0, "");
    sandbox.write("long", vec![7; 1_500_000]);
    sandbox.write("short", "straight face");
    for name in ["long", "short"] {
        sandbox.run(&["seal", "-o", &format!("small/{name}"), name]).expect(0, "");
    }
    sandbox.shell("cat /dev/zero > small/rest");
    for name in ["long", "short"] {
        let (path, before) = (format!("small/{name}"), sandbox.read(&format!("small/{name}")));
        sandbox.run(&["rewrap", "-r", "other.pub", &path]).expect(4, "the disk is full");
        assert!(sandbox.read(&path) == before, "{name}");
        sandbox.run(&["open", "--verify", &path]).expect(0, "whole and unchanged");
    }
    assert_eq!(sandbox.shell("ls -A small").stdout(), b"long\nrest\nshort\n");
    fs::remove_file(folder.join("rest")).unwrap();
    for name in ["long", "short"] {
        sandbox.run(&["rewrap", "-r", "other.pub", &format!("small/{name}")]).expect(0, "");
        sandbox.run(&["open", "--verify", "-i", "other.key", &format!("small/{name}")]).expect(0, "whole and");
    }
}

#[test]
fn a_full_disk_leaves_the_destination_as_it_was() {
    let sandbox = Sandbox::with_key("hybrid");
    let folder = sandbox.path("small");
    let Some(_small) = Small::mount(&folder, "4m", "a full disk") else { return };
    sandbox.write("big", vec![7; 8 << 20]);
    sandbox.run(&["keygen", "--no-passphrase", "--sign"]).expect(0, "");
    sandbox.run(&["seal", "big"]).expect(0, "");
    sandbox.run(&["seal", "--sign", "-o", "signed", "big"]).expect(0, "");
    sandbox.write("small/old.dpn", "as before");
    for args in [
        &["seal", "-o", "small", "big"][..],
        &["seal", "-a", "-o", "small", "big"],
        &["seal", "-f", "-o", "small/old.dpn", "big"],
        &["seal", "--sign", "-o", "small", "big"],
        &["open", "-o", "small", "big.dpn"],
        &["open", "-f", "-o", "small/old.dpn", "big.dpn"],
        &["open", "-f", "--require-signature", "-o", "small/old.dpn", "signed"],
        &["picture", "hide", "-o", "small", "big"],
        &["picture", "hide", "-o", "small", "--size", "500x500", "big"],
    ] {
        sandbox.run(args).expect(4, "the disk is full");
        assert_eq!(names(&folder), ["old.dpn"], "{args:?}");
        assert_eq!(sandbox.read("small/old.dpn"), b"as before");
    }
    sandbox.run(&["seal", "--remove-source", "-o", "small", "big"]).expect(4, "the disk is full");
    assert!(sandbox.path("big").exists());
}

/// The disk has space for the data, but not for the signatures after the data.
#[test]
fn a_disk_that_fills_up_in_the_trailer_leaves_the_destination_as_it_was() {
    let sandbox = Sandbox::with_key("hybrid");
    let folder = sandbox.path("small");
    let Some(_small) = Small::mount(&folder, "2m", "a disk that fills up in the trailer") else { return };
    sandbox.run(&["keygen", "--no-passphrase", "--sign"]).expect(0, "");
    let mut between = 0;
    for pages in 0..20 {
        sandbox.write("data", vec![7; (2 << 20) - 4096 * pages]);
        let plain = sandbox.run(&["seal", "-o", "small/out", "data"]).0.status.success();
        let _ = fs::remove_file(folder.join("out"));
        let run = sandbox.run(&["seal", "--sign", "-o", "small/out", "data"]);
        if run.0.status.success() {
            sandbox.run(&["open", "--verify", "--require-signature", "small/out"]).expect(0, "whole and unchanged");
            fs::remove_file(folder.join("out")).unwrap();
            continue;
        }
        run.expect(4, "the disk is full");
        assert_eq!(names(&folder), [""; 0], "{pages}");
        between += u32::from(plain);
    }
    assert!(between > 0, "no length shows this");
}

/// Complete files are kept, but the folder does not get its final name.
#[test]
fn a_disk_that_fills_up_while_a_folder_is_unpacked() {
    let sandbox = Sandbox::with_key("hybrid");
    let disk = sandbox.path("small");
    let Some(_small) = Small::mount(&disk, "4m", "a disk too small for a folder") else { return };
    fs::create_dir(sandbox.path("tree")).unwrap();
    for (name, size) in [("a", 1 << 20), ("b", 1 << 20), ("very-large", 16 << 20), ("z", 1)] {
        sandbox.write(&format!("tree/{name}"), vec![7; size]);
    }
    // A hard link needs its target, so this file is complete before the large file is begun.
    fs::hard_link(sandbox.path("tree/b"), sandbox.path("tree/link")).unwrap();
    sandbox.run(&["seal", "tree"]).expect(0, "");
    sandbox.run(&["pack", "tree"]).expect(0, "");
    for (args, kept) in [
        (&["open", "-o", "small/out", "tree.dpn"][..], &["a", "b", "link"][..]),
        // On a full disk, all other entries fail too, so `--keep-going` stops here.
        (&["open", "--keep-going", "-o", "small/out", "tree.dpn"], &["a", "b", "link"]),
        (&["open", "--only", "[bl]*", "--only", "very-large", "-o", "small/out", "tree.dpn"], &["b", "link"]),
        (&["unpack", "-o", "small/out", "tree.tar"], &["a", "b", "link"]),
    ] {
        let run = sandbox.run(args).expect(4, "cannot write very-large: the disk is full");
        assert!(
            run.stderr().contains(&format!("{} entries are complete in small/out.incomplete", kept.len() + 1)),
            "{}",
            run.stderr()
        );
        // Another thread may already have begun the next entry.
        let told = run.stderr().replace("1 more entry failed, since the disk is full", "");
        assert_eq!(told.matches("the disk is full").count(), 1, "{}", run.stderr());
        assert!(!run.stderr().contains("nothing"), "{}", run.stderr());
        assert_eq!(names(&disk), ["out.incomplete"], "{args:?}");
        assert_eq!(names(&disk.join("out.incomplete")), kept, "{args:?}");
        kept.iter()
            .for_each(|name| assert_eq!(sandbox.read(&format!("small/out.incomplete/{name}")), vec![7; 1 << 20]));
        fs::remove_dir_all(disk.join("out.incomplete")).unwrap();
    }
    fs::create_dir(disk.join("tree")).unwrap();
    sandbox.write("small/tree/very-large", "as before");
    sandbox
        .run(&["open", "--force", "-o", "small/", "tree.dpn"])
        .expect(4, "cannot write very-large: the disk is full");
    assert_eq!(sandbox.read("small/tree/very-large"), b"as before");
    assert!(
        !names(&disk.join("tree")).iter().any(|name| name.ends_with(".deadpan-part")),
        "{:?}",
        names(&disk.join("tree"))
    );
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a shell command as an unprivileged user. Returns `None` if the test cannot become another user.
fn as_nobody(sandbox: &Sandbox, line: &str) -> Option<Run> {
    sandbox.copy_program("deadpan");
    let args = ["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", line];
    let probe = sandbox
        .command("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "./deadpan", "--version"])
        .output();
    probe.is_ok_and(|probe| probe.status.success()).then(|| Run(sandbox.command("setpriv", &args).output().unwrap()))
}

#[test]
fn unreadable_input_and_folders_without_permission() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("a.txt", "straight face");
    sandbox.run(&["seal", "a.txt"]).expect(0, "");
    sandbox
        .shell("chmod 600 a.txt; chmod 755 . home; chmod 644 home/hybrid.key; mkdir locked free; chmod 777 free")
        .expect(0, "");
    let Some(run) = as_nobody(&sandbox, "./deadpan seal a.txt") else {
        return skip("unreadable input", "becoming another user is not allowed");
    };
    run.expect(4, "cannot read a.txt: permission denied");
    as_nobody(&sandbox, "./deadpan open -o locked/x a.txt.dpn")
        .unwrap()
        .expect(4, "cannot create locked/x: permission denied");
    as_nobody(&sandbox, "./deadpan picture hide --raw -o locked/x a.txt.dpn")
        .unwrap()
        .expect(4, "cannot create locked/x.png: permission denied");
    as_nobody(&sandbox, "./deadpan open -o free a.txt.dpn && cat free/a.txt").unwrap().expect(0, "");
    as_nobody(&sandbox, "DEADPAN_HOME=locked/home ./deadpan seal a.txt.dpn -o free/x")
        .unwrap()
        .expect(4, "cannot create locked/home: permission denied");
    sandbox.shell("chmod 600 home/hybrid.key").expect(0, "");
    as_nobody(&sandbox, "./deadpan open -o free/y a.txt.dpn").unwrap().expect(3, "cannot read");
}

#[test]
fn a_folder_that_is_sealed_without_a_part_is_an_error_in_words_and_in_json() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkdir tree free; echo 1 > tree/a; echo 2 > tree/b; chmod 0 tree/b; chmod 755 .").expect(0, "");
    sandbox.shell("chmod 777 free").expect(0, "");
    for command in ["pack", "seal -p"] {
        let line = |more: &str| {
            format!(
                "DEADPAN_HOME=free/home DEADPAN_PASSPHRASE=x ./deadpan {command} --keep-going -f -o free/x {more} tree"
            )
        };
        let Some(run) = as_nobody(&sandbox, &line("")) else {
            return skip("a folder with an unreadable file", "becoming another user is not allowed");
        };
        let run = run.expect(4, "error: tree is not complete in the result");
        assert!(run.stderr().contains("note: left out b: "), "{}", run.stderr());
        let run = as_nobody(&sandbox, &line("--json")).unwrap();
        assert_eq!(run.code(), Some(4), "{}", run.stderr());
        let object: serde_json::Value = serde_json::from_slice(run.stdout()).unwrap();
        assert!(object["error"].as_str().unwrap().starts_with("tree is not complete"), "{object}");
        assert!(object["hint"].is_string() && object["output"] == "free/x", "{object}");
        assert!(object["notes"][0].as_str().unwrap().starts_with("left out b: "), "{object}");
    }
}

/// In a folder where everybody may write, another user waits for data at a FIFO, or at a link to a FIFO.
#[test]
fn a_fifo_that_another_user_planted_gets_nothing() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("a.txt", "straight face");
    sandbox.shell("deadpan seal a.txt && chmod 755 . && mkdir shared && chmod 1777 shared").expect(0, "");
    let plant = "cd shared && mkfifo fifo && ln -s fifo link && ln -s /dev/null null && \
                 ln -s /dev/stdout out && ln -s /dev/fd fds";
    let Some(planted) = as_nobody(&sandbox, plant) else {
        return skip("planted FIFOs", "becoming another user is not allowed");
    };
    planted.expect(0, "");
    // The shell keeps both ends of the FIFO open. After the command, the FIFO holds the stolen bytes.
    let steal = |command: &str| {
        let line = "exec 9<> shared/fifo; {} 9>&-; code=$?; \
                    dd if=shared/fifo iflag=nonblock bs=100 count=1 2> /dev/null; exit $code";
        sandbox.shell(&line.replace("{}", command))
    };
    for command in ["open -o shared/fifo a.txt.dpn", "random 9 -o shared/fifo", "seal -o shared/fifo a.txt"] {
        let run = steal(&format!("deadpan {command}"));
        assert_eq!(run.stdout(), b"");
        run.expect(2, "shared/fifo is a FIFO or device of another user");
    }
    for link in ["link", "null"] {
        let message = format!("shared/{link} is a link of another user");
        sandbox.run(&["open", "-o", &format!("shared/{link}"), "a.txt.dpn"]).expect(2, &message);
    }
    // A link leads to the caller's own descriptor, so that a write through the link goes to a log that others can read.
    sandbox.shell("ln -s shared/out mine").expect(0, "");
    for link in ["shared/out", "shared/fds/1", "mine"] {
        let run = sandbox.run(&["open", "-o", link, "a.txt.dpn"]);
        assert_eq!(run.stdout(), b"");
        run.expect(2, &format!("{link} is a link of another user"));
    }
    let own = sandbox.shell("ln -s /dev/stdout own && deadpan open -o own a.txt.dpn").expect(0, "");
    assert_eq!(own.stdout(), b"straight face");
    let run = steal("deadpan open -f -o shared/fifo a.txt.dpn").expect(0, "");
    assert_eq!(run.stdout(), b"straight face");
}

/// In a folder where everybody may write, another user makes a folder or a link with the name of an output.
#[test]
fn folders_and_links_that_another_user_planted_get_nothing() {
    let sandbox = Sandbox::with_key("ecc");
    let make = "mkdir fo own shared && echo new > fo/a && echo 1 > x.txt && deadpan seal fo x.txt && \
                deadpan pack fo && echo old > own/a && chmod 755 . && chmod 1777 shared && \
                cp fo.dpn shared/pk.dpn && cp fo.tar shared/pk.tar";
    sandbox.shell(make).expect(0, "");
    let plant = "cd shared && mkdir plan && ln -s ../own ddl && ln -s ../own pk && chmod 777 plan";
    let Some(planted) = as_nobody(&sandbox, plant) else {
        return skip("planted folders", "becoming another user is not allowed");
    };
    planted.expect(0, "");
    let refused = |line: &str, what: &str| {
        sandbox.shell(line).expect(2, what);
        assert_eq!(names(&sandbox.path("own")), ["a"], "{line}");
        assert_eq!(sandbox.read("own/a"), b"old\n", "{line}");
        assert_eq!(names(&sandbox.path("shared/plan")), [""; 0], "{line}");
    };
    for place in ["plan", "plan/", "ddl", "ddl/"] {
        let what = if place.starts_with("plan") { "is a folder of" } else { "is a link of" };
        let what = format!("shared/{} {what} another user (number 65534)", place.trim_end_matches('/'));
        let commands = ["open -o PLACE x.txt.dpn", "seal -o PLACE x.txt", "pack -o PLACE fo", "random 9 -o PLACE"];
        for command in commands.into_iter().chain(["seal --each fo --to PLACE"]) {
            refused(&format!("deadpan {}", command.replace("PLACE", &format!("shared/{place}"))), &what);
        }
        for command in ["open --only a -o PLACE fo.dpn", "unpack --only a -o PLACE fo.tar"] {
            refused(&format!("deadpan {}", command.replace("PLACE", &format!("shared/{place}"))), &what);
        }
    }
    // The user did not choose the name of the link.
    for line in [
        "open -f shared/pk.dpn",
        "open --only a shared/pk.dpn",
        "open -f --only a shared/pk.dpn",
        "open -f -o shared/ shared/pk.dpn",
        "unpack -f shared/pk.tar",
    ] {
        refused(&format!("deadpan {line}"), "shared/pk is a link of another user (number 65534)");
    }
    refused("deadpan open -o shared/pk fo.dpn", "shared/pk is a link of another user");
    sandbox.shell("deadpan open -f -o shared/pk fo.dpn && cat own/a").expect(0, "");
    assert_eq!(sandbox.read("own/a"), b"new\n");
    sandbox.shell("deadpan open -f -o shared/plan x.txt.dpn && cat shared/plan/x.txt").expect(0, "");
    // A folder of another user in a folder that is not sticky can be the shared folder of a project.
    sandbox.shell("mkdir project && chmod 777 project").expect(0, "");
    as_nobody(&sandbox, "mkdir -m 777 project/all").unwrap().expect(0, "");
    sandbox.shell("deadpan open -o project/all x.txt.dpn && deadpan open --only a -o project/all fo.dpn").expect(0, "");
}

#[test]
fn a_fifo_in_the_key_folder_is_no_key() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    sandbox
        .shell("deadpan seal a.txt && mkdir -p home/contacts && mkfifo home/fi.key home/contacts/fo.pub")
        .expect(0, "");
    let listed = sandbox.shell("deadpan keys").expect(0, "");
    assert_eq!(listed.stdout().iter().filter(|byte| **byte == b'\n').count(), 1, "{listed:?}");
    sandbox.shell("deadpan open -o b.txt a.txt.dpn && deadpan seal -o c a.txt").expect(0, "");
    assert_eq!(sandbox.read("b.txt"), b"straight face");
}

#[test]
fn keys_and_key_folders_of_another_user_are_reported() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("deadpan keys export > me.pub && cp home/ecc.pub home/other.pub").expect(0, "");
    for path in ["home", "home/ecc.key", "home/ecc.pub"] {
        if sandbox.shell(&format!("chown 65534 {path}")).code() != Some(0) {
            return skip("keys of another user", "only root can give files away");
        }
        let run = sandbox.run(&["keys"]).expect(0, &format!("{path} belongs to another user (number 65534)"));
        assert_eq!(run.stderr().matches("belongs to another user").count(), 1, "{}", run.stderr());
        sandbox.shell(&format!("chown 0 {path}")).expect(0, "");
    }
    let run = sandbox.shell("chown 65534 me.pub && deadpan seal -r me.pub -o x home/ecc.pub").expect(0, "");
    assert_eq!(run.stderr(), "");
}

/// Another user can plant a folder tree with the name of an unfinished output. The tree can be so deep that its removal
/// takes long.
#[test]
fn drafts_of_another_user_are_left_alone() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir fo shared && echo 1 > fo/a && deadpan seal fo && deadpan seal fo/a").expect(0, "");
    sandbox.shell("chmod 755 . && chmod 1777 shared && echo old > shared/file").expect(0, "");
    let plant = "cd shared && name=.out.0123456789abcdef.deadpan-part && mkdir -p $name/$name/d && \
                 chmod -R 777 .out.* && \
                 touch .file.0123456789abcdef.deadpan-part";
    let Some(planted) = as_nobody(&sandbox, plant) else {
        return skip("planted drafts", "becoming another user is not allowed");
    };
    planted.expect(0, "");
    let drafts = [".file.0123456789abcdef.deadpan-part", ".out.0123456789abcdef.deadpan-part"];
    for line in ["deadpan open -o shared/out fo.dpn", "deadpan open -f -o shared/file fo/a.dpn"] {
        assert_eq!(sandbox.shell(line).expect(0, "").stderr(), "");
    }
    let found = names(&sandbox.path("shared"));
    assert_eq!(found, [drafts[0], drafts[1], "file", "out"]);
    // Unfinished outputs of earlier runs of the same user are removed.
    sandbox.shell("chown -R 0:0 shared && chmod 700 shared/.out.* && rm -r shared/out").expect(0, "");
    for line in ["deadpan open -o shared/out fo.dpn", "deadpan open -f -o shared/file fo/a.dpn"] {
        sandbox.shell(line).expect(0, "which an earlier run left");
    }
    assert_eq!(names(&sandbox.path("shared")), ["file", "out"]);
}

/// In a user namespace, root cannot give files to most owners. An entry that fails for this reason is removed.
#[test]
fn owners_that_cannot_be_given() {
    let sandbox = Sandbox::new();
    let namespace = sandbox.command("unshare", &["-Ur", "true"]).stderr(Stdio::null()).status();
    if !namespace.is_ok_and(|status| status.success()) {
        return skip("owners that cannot be given", "user namespaces are not allowed");
    }
    sandbox.shell("mkdir d there && ln -s target d/link && echo a > d/a && ln -s mine there/link").expect(0, "");
    if sandbox.shell("chown -h 12345 d/link d/a && deadpan pack --owner d").code() != Some(0) {
        return skip("owners that cannot be given", "only root can give files away");
    }
    for (line, folder, left) in [
        ("unshare -Ur deadpan unpack --owner --keep-going -o new d.tar", "new", &[][..]),
        ("rm -r d && mv there d && unshare -Ur deadpan unpack --owner --keep-going --force d.tar", "d", &["link"]),
    ] {
        let run = sandbox.shell(line).expect(4, "cannot set the owner of a: ");
        assert!(run.stderr().contains("cannot set the owner of link: "), "{}", run.stderr());
        assert_eq!(names(&sandbox.path(folder)), left, "{}", run.stderr());
    }
}

/// Positions and lengths of this stream need more than 32 bits.
#[test]
fn more_than_four_gigabytes_through_a_pipe() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("truncate -s 4400M sparse").expect(0, "");
    sandbox.shell("set -o pipefail; deadpan seal -o - sparse | deadpan open --verify").expect(0, "whole and unchanged");
}

/// Returns a shell line that runs `command` with its output in a pipe. The file `log` becomes shorter after the first
/// bytes came out of the pipe.
fn cut_meanwhile(command: &str, log: &str) -> String {
    format!(
        "set -o pipefail; head -c 30000000 /dev/urandom > {log}; \
         {command} | (dd bs=1 count=9 status=none; truncate -s 20000000 {log}; cat) > out"
    )
}

/// In an earlier version, a file that became shorter was sealed into a pipe without its lost end, and without an error.
#[test]
fn a_file_that_becomes_shorter_is_an_error_in_a_pipe_too() {
    let sandbox = Sandbox::with_key("hybrid");
    for options in ["-o -", "-a -o -", "--hide-length -o /dev/stdout"] {
        let line = cut_meanwhile(&format!("deadpan seal {options} log"), "log");
        sandbox.shell(&line).expect(4, "log: the file became shorter while it was read");
        let opened = sandbox.run(&["open", "-o", "opened", "out"]);
        assert_eq!(opened.code(), Some(1), "{options}: {}", opened.stderr());
        assert_eq!(sandbox.names(), ["log", "out"]);
    }
}

/// In an earlier version, a file that became shorter in a folder was sealed with zeros in place of its lost end, and
/// without an error.
#[test]
fn a_file_that_becomes_shorter_in_a_folder_is_an_error() {
    let sandbox = Sandbox::with_key("hybrid");
    std::fs::create_dir(sandbox.path("d")).unwrap();
    for command in ["seal", "pack"] {
        let line = cut_meanwhile(&format!("deadpan {command} -o - d"), "d/log");
        sandbox.shell(&line).expect(4, "d: log became shorter while it was read");
        let line = cut_meanwhile(&format!("deadpan {command} --keep-going -o - d"), "d/log");
        let run = sandbox.shell(&line).expect(4, "d is not complete in the result");
        let note = "note: log became shorter while it was read: zeros were packed for the missing part";
        assert!(run.stderr().contains(note), "{}", run.stderr());
        if command == "pack" {
            sandbox.shell("mv out out.tar && deadpan unpack -o copy out.tar").expect(0, "");
            assert_eq!(sandbox.read("copy/log").len(), 30_000_000);
            assert!(sandbox.read("copy/log").starts_with(&sandbox.read("d/log")));
        }
    }
}

/// In an earlier version, a write beyond the limit of file sizes ended the program by a signal, and unfinished outputs
/// remained.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkdir d there && head -c 3000000 /dev/urandom > big && cp big d/a").expect(0, "");
    sandbox.shell("deadpan seal big && deadpan seal d && deadpan pack d && echo old > old").expect(0, "");
    let before = sandbox.names();
    for command in [
        "seal -o new big",
        "seal -a -o new big",
        "seal -f -o old big",
        "seal -o new d",
        "pack -o new d",
        "open -o new big.dpn",
        "open -f -o old big.dpn",
        "open -o new d.dpn",
        "open -f -o there d.dpn",
        "unpack -o new d.tar",
        "unpack -f -o there d.tar",
        "random 2M -o new",
        "picture hide -o new big",
        "picture hide --size 700x700 -o new big",
    ] {
        let line = format!("ulimit -f 1000; exec deadpan {command}");
        sandbox.shell(&line).expect(4, "the file would grow too large");
        assert_eq!(sandbox.names(), before, "{command}");
        assert_eq!(names(&sandbox.path("there")), [""; 0], "{command}");
        assert_eq!(sandbox.read("old"), b"old\n", "{command}");
    }
}

/// In an earlier version, an unfinished folder remained at the limit of open files, because removing the folder also
/// needs a descriptor.
#[test]
fn a_limit_of_open_files_leaves_no_draft() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkdir -p d/s && echo 1 > d/a && echo 2 > d/s/b && deadpan seal d").expect(0, "");
    let mut failed = 0;
    for limit in 4..14 {
        let run = sandbox.shell(&format!("ulimit -n {limit}; exec deadpan open -o out d.dpn"));
        assert!(matches!(run.code(), Some(0 | 4)), "{limit}: {}", run.stderr());
        failed += u32::from(run.code() == Some(4));
        let drafts: Vec<_> = sandbox.names().into_iter().filter(|name| name.ends_with(".deadpan-part")).collect();
        assert_eq!(drafts, [""; 0], "{limit}");
        sandbox.shell("rm -rf out out.incomplete").expect(0, "");
    }
    assert!(failed > 0, "no limit was too low");
}

/// In an earlier version, files that waited to be read stayed open, together with their folders, until the limit of
/// open files was reached.
#[test]
fn many_folders_need_few_open_files() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("for i in $(seq 150); do mkdir -p d/$i && echo $i > d/$i/x; done").expect(0, "");
    for line in
        ["seal -f d", "pack -f d", "seal --each --to e/ d/", "open -o from-d d.dpn", "open --each --to from-e/ e/"]
    {
        sandbox.shell(&format!("ulimit -n 20; exec deadpan {line}")).expect(0, "");
    }
    sandbox.shell("deadpan unpack -o from-t d.tar && diff -r d from-d && diff -r d from-t").expect(0, "");
    sandbox.shell("diff -r d from-e").expect(0, "");
}

#[test]
fn core_dumps_are_off() {
    let sandbox = Sandbox::with_key("hybrid");
    // Standard input stays open, so the program waits for data.
    let mut child = sandbox.command(PROGRAM, &["seal", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + LIMIT;
    let limit = loop {
        // The program is either the process itself or the child of `setsid`.
        let limits =
            sandbox.shell(&format!("cat /proc/{0}/limits /proc/$(cat /proc/{0}/task/{0}/children)/limits", child.id()));
        let text = String::from_utf8_lossy(limits.stdout()).into_owned();
        if let Some(line) =
            text.lines().rfind(|line| line.starts_with("Max core file size")).filter(|line| !line.contains("unlimited"))
        {
            break line.to_owned();
        }
        assert!(Instant::now() < deadline, "core dumps are on");
    };
    assert_eq!(limit.split_whitespace().filter(|word| *word == "0").count(), 2, "{limit}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_passphrase_comes_from_a_socket() {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"secret\nwhat follows is not for us").unwrap();
    let args = ["seal", "-p", "--passphrase-fd", "0", "a.txt"];
    let output = sandbox.command(PROGRAM, &args).stdin(OwnedFd::from(theirs)).output().unwrap();
    Run(output).expect(0, "");
    sandbox.shell("DEADPAN_PASSPHRASE=secret deadpan open -o b.txt a.txt.dpn").expect(0, "");
    assert_eq!(sandbox.read("b.txt"), b"straight face");
}

#[test]
fn a_passphrase_comes_from_a_descriptor_that_only_another_user_can_open() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    sandbox.write("secret", "secret\n");
    sandbox.copy_program("program");
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups env DEADPAN_HOME=/nonexistent ./program";
    sandbox.shell("chmod 755 . && chmod 644 a.txt && chmod 600 secret").expect(0, "");
    if sandbox.shell(&format!("{nobody} --version")).code() != Some(0) {
        return skip("a descriptor of another user", "it takes root and setpriv");
    }
    let run =
        sandbox.shell(&format!("{nobody} seal -q -p --passphrase-fd 3 -o - a.txt 3< secret > a.dpn")).expect(0, "");
    assert_eq!(run.stderr(), "");
    sandbox.shell("deadpan open --passphrase-file secret -o b.txt a.dpn").expect(0, "");
    assert_eq!(sandbox.read("b.txt"), b"straight face");
}
