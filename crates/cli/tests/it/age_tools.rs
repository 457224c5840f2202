//! `age` and `rage` open the files that Deadpan seals, and Deadpan opens the files that `age` and `rage` seal. The
//! tests need these programs to be installed.

use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, skip};

/// Whether a program can be started.
fn exists(program: &str) -> bool {
    Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Returns pairs of other programs: a program that seals and opens, and a program that makes keys.
fn others() -> Vec<(&'static str, &'static str)> {
    let mut all = vec![("age", "age-keygen"), ("rage", "rage-keygen")];
    all.retain(|(program, keygen)| {
        let found = exists(program) && exists(keygen);
        if !found {
            skip("age's format beside another program", &format!("{program} is not installed"));
        }
        found
    });
    all
}

/// Checks that Deadpan and another program open each other's files, for data with lengths around the length of a chunk.
/// `to` and `with` are options that are the same in both programs.
#[track_caller]
fn agree(sandbox: &Sandbox, program: &str, to: &str, with: &str, lengths: &[usize]) {
    for length in lengths {
        sandbox.write("plain", (0..*length).map(|i| (i * 7 % 251) as u8).collect::<Vec<_>>());
        for armor in ["", "--armor"] {
            let line = format!(
                "set -e; rm -f ours theirs; deadpan seal --format age {armor} {to} -o ours plain; \
                 {program} -d {with} ours | cmp - plain; {program} {armor} {to} -o theirs plain; \
                 deadpan open {with} -o - theirs | cmp - plain; deadpan open {with} -o - < theirs | cmp - plain; \
                 deadpan open {with} --verify theirs"
            );
            let run = sandbox.shell(&line);
            assert_eq!(run.code(), Some(0), "{program}, {length} bytes {to} {armor}: {}", run.stderr());
        }
    }
}

const AROUND: [usize; 8] = [0, 1, 65_535, 65_536, 65_537, 131_072, 458_752, 1_000_001];

#[test]
fn native_keys() {
    for (program, keygen) in others() {
        let sandbox = Sandbox::new();
        let line = format!(
            "{keygen} -o one.key 2> log && {keygen} -o two.key 2> log && {keygen} -y one.key > one.pub && \
                            {keygen} -y two.key > two.pub && cat one.pub two.pub > both"
        );
        sandbox.shell(&line).expect(0, "");
        agree(&sandbox, program, "-r $(cat one.pub)", "-i one.key", &AROUND);
        agree(&sandbox, program, "-R both", "-i two.key", &[100]);
    }
}

#[test]
fn post_quantum_keys() {
    let sandbox = Sandbox::new();
    if !exists("age") || sandbox.shell("age-keygen -pq -o pq.key").code() != Some(0) {
        return skip("age's post-quantum keys beside age", "no age of version 1.3 or later");
    }
    sandbox.shell("age-keygen -y pq.key > pq.pub").expect(0, "");
    agree(&sandbox, "age", "-R pq.pub", "-i pq.key", &[0, 65_536, 65_537]);
}

/// age seals to tagged keys, but opens such files only with plugins. So the test does not let age open files that
/// Deadpan sealed.
#[test]
fn tagged_keys() {
    let sandbox = Sandbox::new();
    let recipient = "age1tag1qwe0kafsjrar4txm6heqnhpfuggzr0gvznz7fvygxrlq90u5mq2pysxtw6h";
    if !exists("age") || sandbox.shell(&format!("age -r {recipient} < /dev/null")).code() != Some(0) {
        return skip("age's tagged keys beside age", "no age of version 1.3 or later");
    }
    for mode in ["ecc", "hybrid"] {
        let line = format!(
            "set -e; deadpan keygen --no-passphrase --mode {mode} --curve p256 -o {mode}.key; echo data > plain; \
             age -r $(deadpan keys export --age {mode}.pub) -o theirs plain; \
             deadpan open -i {mode}.key -o - theirs | cmp - plain"
        );
        let run = sandbox.shell(&line);
        assert_eq!(run.code(), Some(0), "{mode}: {}", run.stderr());
    }
}

#[test]
fn ssh_keys() {
    if !exists("ssh-keygen") {
        return skip("SSH keys beside age", "ssh-keygen is not installed");
    }
    for (program, _) in others() {
        let sandbox = Sandbox::new();
        for kind in ["ed25519", "rsa"] {
            sandbox.shell(&format!("ssh-keygen -q -t {kind} -N '' -C 'me@here' -f {kind}")).expect(0, "");
            agree(&sandbox, program, &format!("-R {kind}.pub"), &format!("-i {kind}"), &[0, 65_537]);
        }
        let line = "ssh-keygen -q -t ed25519 -N 'correct horse' -f locked && echo data > plain && \
                    deadpan seal --format age -r \"$(cat locked.pub)\" -o sealed plain && \
                    DEADPAN_PASSPHRASE='correct horse' deadpan open -i locked -o - sealed | cmp - plain";
        sandbox.shell(line).expect(0, "");
    }
}

/// age asks for passphrases only at a terminal, and age's batch plugin exists only since version 1.3.
#[test]
fn passphrases() {
    if !exists("age") || !exists("age-plugin-batchpass") {
        return skip("passphrases beside age", "age-plugin-batchpass is not installed");
    }
    let sandbox = Sandbox::new();
    let line = "set -e; export AGE_PASSPHRASE='correct horse' DEADPAN_PASSPHRASE='correct horse'; echo data > plain; \
                deadpan seal --format age -p -o ours plain; age -d -j batchpass ours | cmp - plain; \
                age -e -j batchpass -o theirs plain; deadpan open -o - theirs | cmp - plain; \
                age-keygen 2> log > id; age -e -j batchpass -o id.age id; age -R <(age-keygen -y id) -o sealed plain; \
                deadpan open -i id.age -o - sealed | cmp - plain";
    let run = sandbox.shell(line);
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
}
