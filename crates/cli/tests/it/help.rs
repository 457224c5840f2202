//! The examples of `--help` work as printed.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sandbox::{Run, Sandbox};

/// Prepares the files and keys that most examples use. The key folder is at a user's default place.
const USUAL: &str = "deadpan keygen && deadpan keygen -o ~/.config/deadpan/work.key && \
    cp ~/.config/deadpan/work.key . && \
    for name in alice bob old; do deadpan keygen -o $name.key; done && deadpan keys add alice alice.pub && \
    mkdir -p photos/2024 folder src && echo x > photos/2024/a.jpg && cp photos/2024/a.jpg photos && \
    for file in report.pdf notes.txt photos/notes.txt folder/a src/a; do echo text > $file; done && \
    head -c 5000 /dev/zero > data && echo words > pw";

/// A command, the shell commands to run before its examples, and the number of examples that cannot run here.
const COMMANDS: [(&str, &str, usize); 34] = [
    ("keygen", "", 0),
    ("keys", "USUAL && deadpan keys remove alice && deadpan keys unprotect hybrid", 0),
    ("keys add", "USUAL && deadpan keys remove alice", 1),
    ("keys remove", "USUAL", 0),
    ("keys default", "USUAL", 0),
    (
        "keys protect",
        "USUAL && deadpan keys unprotect hybrid && deadpan keys unprotect old.key && echo secret > old",
        0,
    ),
    ("keys unprotect", "USUAL", 0),
    ("keys rename", "USUAL", 0),
    ("keys list", "USUAL", 0),
    ("keys backup", "USUAL", 0),
    (
        "keys import",
        "USUAL && deadpan keys move -o keys.dpn && mkdir -p usb/.config && cp -r ~/.config/deadpan usb/.config && \
        rm ~/.config/deadpan/work.* && cp alice.key key.txt",
        1,
    ),
    ("keys move", "USUAL", 0),
    ("keys export", "USUAL && deadpan keygen --sign", 0),
    (
        "seal",
        "USUAL && deadpan keygen --sign && for name in bob carol; do deadpan keygen -o $name-2.key && \
        deadpan keys add $name $name-2.pub; done && echo text > a.txt && cp a.txt minutes.txt",
        1,
    ),
    (
        "open",
        "USUAL && deadpan seal report.pdf photos data && deadpan seal -r work -o notes.dpn notes.txt && \
        rm -r report.pdf photos && echo text > minutes.txt && deadpan keys export > me.pub && \
        deadpan seal --any 2 -r me.pub -r bob.pub -r work minutes.txt && rm minutes.txt && \
        deadpan share open -i bob.key -r me.pub -o bob.share minutes.txt.dpn",
        2,
    ),
    (
        "sign",
        "USUAL && deadpan keygen --sign && rm ~/.config/deadpan/work.* && \
        deadpan keygen --sign -o ~/.config/deadpan/work.key && \
        echo text > a.txt && cp a.txt one.tar.gz",
        1,
    ),
    (
        "verify",
        "USUAL && deadpan keygen --sign -o alice-2.key && deadpan keys remove alice && \
        deadpan keys add alice alice-2.pub && echo text > a.txt && cp a.txt one.tar.gz && \
        deadpan sign -k alice-2.key a.txt report.pdf one.tar.gz && \
        echo alice $(deadpan keys export --ssh alice) > allowed_signers",
        1,
    ),
    (
        "edit",
        "USUAL && deadpan keygen -o carol.key && deadpan seal notes.txt && cp notes.txt minutes.txt && \
        deadpan seal -r hybrid -r carol.pub minutes.txt",
        1,
    ),
    (
        "rewrap",
        "USUAL && deadpan keys add bob bob.pub && deadpan seal -r alice -r hybrid report.pdf photos && \
        deadpan seal -p -o notes.dpn notes.txt && mkdir archive && cp report.pdf.dpn archive",
        2,
    ),
    ("list", "USUAL && deadpan seal photos", 0),
    ("inspect", "USUAL && deadpan seal report.pdf", 0),
    ("pack", "USUAL", 1),
    (
        "unpack",
        "USUAL && deadpan pack photos && rm -r photos && mkdir linux-1 && echo x > linux-1/COPYING && \
        tar czf linux.tar.gz linux-1",
        0,
    ),
    (
        "picture hide",
        "USUAL && deadpan random 99999 -o noise && deadpan picture hide --raw -o beach noise && \
        mv beach.png beach.jpg && mkdir album && cp beach.jpg album",
        0,
    ),
    (
        "picture reveal",
        "USUAL && deadpan picture hide report.pdf && mkdir album results && mv report.pdf album/other && \
        deadpan picture hide -o album/ notes.txt && deadpan picture hide --raw -o out data",
        0,
    ),
    (
        "picture capacity",
        "mkdir photos && deadpan random 9999 -o data && deadpan picture hide --raw -o beach data && \
        mv beach.png beach.jpg && cp beach.jpg photos",
        0,
    ),
    (
        "picture compare",
        "deadpan random 9999 -o data && deadpan picture hide --raw -o beach data && mv beach.png beach.jpg && \
        cp beach.jpg beach-out.png",
        0,
    ),
    (
        "share open",
        "USUAL && echo text > minutes.txt && deadpan keys export > me.pub && \
        deadpan seal --any 2 -r me.pub -r alice -r old.pub minutes.txt && rm minutes.txt && \
        deadpan share open -i old.key -r me.pub -o carol.share minutes.txt.dpn",
        0,
    ),
    (
        "share inspect",
        "USUAL && echo text > minutes.txt && deadpan seal --any 2 -r bob.pub -r alice -r old.pub minutes.txt && \
        deadpan keys export > me.pub && deadpan share open -i bob.key -r me.pub -o bob.share minutes.txt.dpn && \
        deadpan share open -i old.key -r me.pub -o carol.share minutes.txt.dpn",
        0,
    ),
    ("repair make", "USUAL && deadpan seal photos && mkdir disk2 && cp data film.mkv", 0),
    (
        "repair check",
        "USUAL && deadpan seal --repair photos && mkdir disk2 && cp data film.mkv && \
        deadpan repair make -o disk2 film.mkv",
        0,
    ),
    (
        "repair fix",
        "USUAL && deadpan seal --repair photos && echo more >> photos.dpn && mkdir disk2 && cp data film.mkv && \
        deadpan repair make -o disk2 film.mkv",
        0,
    ),
    ("page", "USUAL && mkdir www", 0),
    ("random", "", 3),
];

fn examples(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  ")).map(str::trim_start);
    lines.map(|line| line.split("  ").next().unwrap_or_default().trim_end()).collect()
}

/// Runs a line of shell, as a user whose home is the sandbox.
fn shell(sandbox: &Sandbox, line: &str) -> Run {
    let home =
        "unset DEADPAN_HOME XDG_CONFIG_HOME; export HOME=$PWD DEADPAN_PASSPHRASE=secret COLUMNS=200 VISUAL=touch";
    sandbox.shell(&format!("set -eo pipefail; shopt -s nullglob; {home}; {line}"))
}

/// Runs the examples of a command. `usual` is a folder with the files and keys that most examples use.
fn try_examples(usual: &Path, (command, prepare, skipped): (&str, &str, usize)) {
    let sandbox = Sandbox::new();
    let prepared = shell(&sandbox, &prepare.replace("USUAL", &format!("cp -a {}/. .", usual.display())));
    assert_eq!(prepared.code(), Some(0), "{command}: {}", prepared.stderr());
    let help = shell(&sandbox, &format!("deadpan {command} --help"));
    let help = String::from_utf8(help.stdout().to_vec()).unwrap();
    let all = examples(&help);
    assert!(!all.is_empty(), "{command} has no examples:\n{help}");
    let can_run = |line: &&&str| {
        !["ssh ", "~/.ssh/", "curl ", "passphrase -p", "/dev/sdX", "dieharder", " 10G ", "s3://", "code --wait"]
            .iter()
            .any(|word| line.contains(word))
    };
    let runnable: Vec<_> = all.iter().filter(can_run).collect();
    assert_eq!(runnable.len() + skipped, all.len(), "{all:#?}");
    for line in runnable {
        // Each example starts with a fresh copy of the files, so that no example finds the output of an earlier
        // example.
        let line = format!("cp -r . ../$(basename $PWD).tried; cd ../$(basename $PWD).tried; export HOME=$PWD; {line}");
        let run = shell(&sandbox, &line);
        let tried = format!("{}.tried", sandbox.path("").display().to_string().trim_end_matches('/'));
        let _ = std::fs::remove_dir_all(tried);
        assert_eq!(run.code(), Some(0), "{line}\n{}", run.stderr());
    }
}

#[test]
fn the_examples_of_every_command_work() {
    let usual = Sandbox::new();
    shell(&usual, USUAL).expect(0, "");
    let (usual, next) = (usual.path(""), AtomicUsize::new(0));
    let next = || COMMANDS.get(next.fetch_add(1, Ordering::Relaxed));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(next).for_each(|command| try_examples(&usual, *command)));
        }
    });
}
