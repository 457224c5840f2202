//! The script of the guide to backups: which backups it removes, and its exit codes. The test of the guides runs the
//! other commands of that page.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, skip};
use crate::scripts::files;

const RUN: &str = "HOME=$PWD sh backup.sh me disk";

/// Makes a sandbox with the files of the guide, a contact `backup`, a folder `me`, and a disk with four old backups.
/// The script keeps two backups of each kind.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backup.md")).unwrap();
    for (name, text) in files(&page) {
        assert!(name != "backup.sh" || text.contains("keep=14 "), "{text}");
        sandbox.write(name, text.replace("keep=14 ", "keep=2 "));
    }
    let prepare = "deadpan keygen --no-passphrase -o backup.key && deadpan keys add backup backup.pub && \
                   mkdir me disk && echo dear > me/letter.txt && \
                   touch disk/home-2020-01-0{1,2,3,4}-023000.dpn{,.incomplete}{,.dpr}";
    sandbox.shell(prepare).expect(0, "");
    sandbox
}

fn on_disk(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path("disk")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn older_backups_are_removed_with_their_recovery_data_and_other_files_stay() {
    let sandbox = prepared();
    sandbox.shell("touch disk/home-photos.dpn disk/home-2020.txt disk/other.dpn").expect(0, "");
    let run = sandbox.shell(RUN).expect(0, "");
    assert_eq!(run.stderr(), "");
    let mut names = on_disk(&sandbox);
    let made: Vec<_> =
        names.extract_if(.., |name| name.starts_with("home-2") && !name.starts_with("home-2020")).collect();
    assert!(made.len() == 2 && made[0].ends_with(".dpn") && made[1] == format!("{}.dpr", made[0]), "{made:?}");
    names.retain(|name| !name.contains(".incomplete"));
    let kept = ["home-2020-01-04-023000.dpn", "home-2020-01-04-023000.dpn.dpr"];
    assert_eq!(names, [&kept[..], &["home-2020.txt", "home-photos.dpn", "other.dpn"]].concat());
    assert_eq!(of_kind(&sandbox, ".dpn.incomplete").len(), 4, "older incomplete backups stay");
}

/// Returns the names on the disk that have this ending.
fn of_kind(sandbox: &Sandbox, ending: &str) -> Vec<String> {
    on_disk(sandbox).into_iter().filter(|name| name.ends_with(ending)).collect()
}

#[test]
fn the_new_backup_stays_whatever_names_there_are() {
    let sandbox = prepared();
    // As after the clock was ahead, and with names that a shell could take for several paths.
    let plant = "touch disk/home-2999-01-0{1,2,3}-023000.dpn && touch $'disk/home-0\nme\n.dpn' && \
                 touch $'disk/home-0\nme/letter.txt\n.dpn' 2> /dev/null; mkdir -p disk/home-0.dpn/me";
    sandbox.shell(plant);
    sandbox.shell(RUN);
    let is_new =
        |name: &&String| name.starts_with("home-2") && !["2020", "2999"].iter().any(|year| name.contains(year));
    assert_eq!(of_kind(&sandbox, ".dpn").iter().filter(is_new).count(), 1);
    assert!(sandbox.path("me/letter.txt").exists());
}

#[test]
fn an_incomplete_backup_has_another_name_removes_no_complete_one_and_is_opened_like_one() {
    // Root may read every file, so the script runs without this right.
    let modest =
        if rustix::process::geteuid().is_root() { "setpriv --bounding-set=-dac_override,-dac_read_search" } else { "" };
    let sandbox = prepared();
    sandbox.shell("echo secret > me/secret; mkfifo me/fifo; chmod 0 me/secret").expect(0, "");
    let run = sandbox.shell(&format!("{modest} cat me/letter.txt && ! {modest} cat me/secret"));
    if run.code() != Some(0) {
        return skip("a backup without an unreadable file", "this takes setpriv");
    }
    let before = of_kind(&sandbox, ".dpn");
    let run = sandbox.shell(&format!("HOME=$PWD {modest} sh backup.sh me disk")).expect(4, "note: left out secret: ");
    assert_eq!(run.stderr().lines().count(), 3, "no other note is printed: {}", run.stderr());
    assert_eq!(of_kind(&sandbox, ".dpn"), before);
    assert_eq!(of_kind(&sandbox, ".dpn.dpr").len(), 4);
    let kept = of_kind(&sandbox, ".dpn.incomplete");
    assert!(kept.len() == 2 && kept[0] == "home-2020-01-04-023000.dpn.incomplete", "{kept:?}");
    assert_eq!(of_kind(&sandbox, ".incomplete.dpr"), [0, 1].map(|at| format!("{}.dpr", kept[at])));
    let name = &kept[1];
    sandbox.shell(&format!("deadpan repair check disk/{name}")).expect(0, "");
    sandbox.shell(&format!("deadpan open -i backup.key --verify disk/{name}")).expect(0, "");
    sandbox.shell(&format!("cd disk && deadpan open -i ../backup.key {name} && cat me/letter.txt")).expect(0, "");
}

#[test]
fn an_empty_folder_or_a_missing_argument_gives_no_backup_and_removes_none() {
    let sandbox = prepared();
    let before = on_disk(&sandbox);
    let refuse = |line: &str, why: &str| {
        let run = sandbox.shell(line);
        assert!(run.code() == Some(2) && run.stderr().contains(why), "{line}: {:?} {}", run.code(), run.stderr());
    };
    sandbox.shell("mkdir empty").expect(0, "");
    for script in ["backup.sh", "backup-to-store.sh"] {
        refuse(&format!("HOME=$PWD sh {script} empty disk"), &format!("{script}: there is nothing in empty"));
        refuse(&format!("HOME=$PWD sh {script} missing disk"), "missing");
        for words in ["", " me"] {
            refuse(&format!("HOME=$PWD sh {script}{words}"), &format!("usage: {script} FOLDER "));
        }
    }
    assert_eq!(on_disk(&sandbox), before);
}

#[test]
fn after_a_failure_no_backup_is_removed_and_the_exit_code_is_that_of_deadpan() {
    let sandbox = prepared();
    let before = on_disk(&sandbox);
    fs::create_dir(sandbox.path("fake")).unwrap();
    for code in 1..5 {
        // The shell writes the program, as in `Sandbox::copy_program`.
        let fake = format!("printf '#!/bin/sh\\nexit {code}\\n' > fake/deadpan; chmod +x fake/deadpan");
        let run = sandbox.shell(&format!("{fake}; PATH=$PWD/fake:$PATH; {RUN}"));
        assert_eq!((run.code(), on_disk(&sandbox)), (Some(code), before.clone()));
    }
    sandbox.shell("deadpan keys remove backup").expect(0, "");
    sandbox.shell(RUN).expect(2, "error: ");
    assert_eq!(on_disk(&sandbox), before);
}

#[test]
fn a_disk_that_is_not_mounted_gets_no_backup() {
    let sandbox = prepared();
    sandbox.shell("rm -r disk").expect(0, "");
    sandbox.shell(RUN).expect(2, "there is no folder disk");
    assert!(!sandbox.path("disk").exists());
}
