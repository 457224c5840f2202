//! What the system does to us: full disks, missing permissions, huge files; and what it may see of us.

mod sandbox;

use sandbox::{PROGRAM, Sandbox, skip};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_full_device() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("a.txt", "straight face");
    sandbox.run(&["seal", "a.txt"]).expect(0, "");
    for args in
        [&["seal", "-o", "/dev/full", "a.txt"][..], &["open", "-o", "/dev/full", "a.txt.dpn"], &["seal", "-a", "-o", "/dev/full", "a.txt"]]
    {
        sandbox.run(args).expect(4, "cannot write /dev/full: the disk is full");
    }
    sandbox.shell("deadpan open -o - a.txt.dpn > /dev/full").expect(4, "cannot write standard output: the disk is full");
    sandbox.shell("deadpan keys > /dev/full").expect(4, "the disk is full");
}

/// A file system of so many bytes, if we may mount one.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(folder: &'a Path, size: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let options = format!("size={size}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).stderr(Stdio::null()).status();
        mount.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_the_destination_as_it_was() {
    let sandbox = Sandbox::with_key("hybrid");
    let folder = sandbox.path("small");
    let Some(_small) = Small::mount(&folder, "4m") else { return skip("a full disk", "mounting a tmpfs is not allowed") };
    sandbox.write("big", vec![7; 8 << 20]);
    sandbox.run(&["seal", "big"]).expect(0, "");
    sandbox.write("small/old.dpn", "as before");
    for args in [
        &["seal", "-o", "small", "big"][..],
        &["seal", "-a", "-o", "small", "big"],
        &["seal", "-f", "-o", "small/old.dpn", "big"],
        &["open", "-o", "small", "big.dpn"],
        &["open", "-f", "-o", "small/old.dpn", "big.dpn"],
    ] {
        sandbox.run(args).expect(4, "the disk is full");
        assert_eq!(names(&folder), ["old.dpn"], "{args:?}");
        assert_eq!(sandbox.read("small/old.dpn"), b"as before");
    }
    sandbox.run(&["seal", "--remove-source", "-o", "small", "big"]).expect(4, "the disk is full");
    assert!(sandbox.path("big").exists());
}

/// What fits is kept, but not under the folder's name.
#[test]
fn a_disk_that_fills_up_while_a_folder_is_unpacked() {
    let sandbox = Sandbox::with_key("hybrid");
    let disk = sandbox.path("small");
    let Some(_small) = Small::mount(&disk, "4m") else { return skip("a disk too small for a folder", "mounting a tmpfs is not allowed") };
    fs::create_dir(sandbox.path("tree")).unwrap();
    for (name, size) in [("a", 1 << 20), ("b", 1 << 20), ("very-large", 16 << 20), ("z", 1)] {
        sandbox.write(&format!("tree/{name}"), vec![7; size]);
    }
    // A link waits for the file before it, so that this one is there before anything is large.
    fs::hard_link(sandbox.path("tree/b"), sandbox.path("tree/link")).unwrap();
    sandbox.run(&["seal", "tree"]).expect(0, "");
    sandbox.run(&["pack", "tree"]).expect(0, "");
    for (args, kept) in [
        (&["open", "-o", "small/out", "tree.dpn"][..], &["a", "b", "link"][..]),
        // The rest would fail as well, so there is no going on.
        (&["open", "--keep-going", "-o", "small/out", "tree.dpn"], &["a", "b", "link"]),
        (&["open", "--only", "[bl]*", "--only", "very-large", "-o", "small/out", "tree.dpn"], &["b", "link"]),
        (&["unpack", "-o", "small/out", "tree.tar"], &["a", "b", "link"]),
    ] {
        let run = sandbox.run(args).expect(4, "cannot write very-large: the disk is full");
        assert!(run.stderr().contains(&format!("{} entries are complete in small/out.incomplete", kept.len() + 1)), "{}", run.stderr());
        assert_eq!(names(&disk), ["out.incomplete"], "{args:?}");
        assert_eq!(names(&disk.join("out.incomplete")), kept, "{args:?}");
        kept.iter().for_each(|name| assert_eq!(sandbox.read(&format!("small/out.incomplete/{name}")), vec![7; 1 << 20]));
        fs::remove_dir_all(disk.join("out.incomplete")).unwrap();
    }
    fs::create_dir(disk.join("tree")).unwrap();
    sandbox.write("small/tree/very-large", "as before");
    sandbox.run(&["open", "--force", "-o", "small", "tree.dpn"]).expect(4, "cannot write very-large: the disk is full");
    assert_eq!(sandbox.read("small/tree/very-large"), b"as before");
    assert!(!names(&disk.join("tree")).iter().any(|name| name.ends_with(".deadpan-part")), "{:?}", names(&disk.join("tree")));
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a line of shell as somebody without any rights; `None` if we cannot become such a person.
fn as_nobody(sandbox: &Sandbox, line: &str) -> Option<sandbox::Run> {
    fs::copy(PROGRAM, sandbox.path("deadpan")).unwrap();
    let args = ["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", line];
    let probe = sandbox.command("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "./deadpan", "--version"]).output();
    probe.is_ok_and(|probe| probe.status.success()).then(|| sandbox::Run(sandbox.command("setpriv", &args).output().unwrap()))
}

#[test]
fn unreadable_input_and_folders_without_permission() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("a.txt", "straight face");
    sandbox.run(&["seal", "a.txt"]).expect(0, "");
    sandbox.shell("chmod 600 a.txt; chmod 755 . home; chmod 644 home/hybrid.key; mkdir locked free; chmod 777 free").expect(0, "");
    let Some(run) = as_nobody(&sandbox, "./deadpan seal a.txt") else {
        return skip("unreadable input", "becoming another user is not allowed");
    };
    run.expect(4, "cannot read a.txt: permission denied");
    as_nobody(&sandbox, "./deadpan open -o locked/x a.txt.dpn").unwrap().expect(4, "cannot create locked/x: permission denied");
    as_nobody(&sandbox, "./deadpan open -o free a.txt.dpn && cat free/a.txt").unwrap().expect(0, "");
    as_nobody(&sandbox, "DEADPAN_HOME=locked/home ./deadpan seal a.txt.dpn -o free/x")
        .unwrap()
        .expect(4, "cannot create locked/home: permission denied");
    sandbox.shell("chmod 600 home/hybrid.key").expect(0, "");
    as_nobody(&sandbox, "./deadpan open -o free/y a.txt.dpn").unwrap().expect(3, "cannot read");
}

/// Where root is nobody outside of his own namespace, most owners cannot be given: what failed for that is not there.
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

#[test]
fn ten_sparse_gigabytes_through_a_pipe() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("truncate -s 10G sparse").expect(0, "");
    sandbox.shell("set -o pipefail; deadpan seal -o - sparse | deadpan open --verify").expect(0, "whole and unchanged");
}

#[test]
fn nobody_looks_inside() {
    let sandbox = Sandbox::with_key("hybrid");
    // Standard input stays open, so that it waits.
    let mut child = sandbox.command(PROGRAM, &["seal", "-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let limit = loop {
        // setsid became the program, or waits for it.
        let limits = sandbox.shell(&format!("cat /proc/{0}/limits /proc/$(cat /proc/{0}/task/{0}/children)/limits", child.id()));
        let text = String::from_utf8_lossy(limits.stdout()).into_owned();
        if let Some(line) = text.lines().rfind(|line| line.starts_with("Max core file size")).filter(|line| !line.contains("unlimited")) {
            break line.to_owned();
        }
        assert!(Instant::now() < deadline, "core dumps are on");
    };
    assert_eq!(limit.split_whitespace().filter(|word| *word == "0").count(), 2, "{limit}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
