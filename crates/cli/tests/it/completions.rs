//! Tests completions in the shells themselves: presses the Tab key and reads the resulting line.

use crate::sandbox::session::Session;
use crate::sandbox::{Sandbox, skip};

/// The text typed before the Tab key, and the expected line.
const CASES: [(&str, &str); 36] = [
    ("deadpan see", "deadpan see"),
    ("deadpan sea", "deadpan seal"),
    ("deadpan keys rem", "deadpan keys remove"),
    ("deadpan seal --out", "deadpan seal --output"),
    ("deadpan seal --mode h", "deadpan seal --mode hybrid"),
    ("deadpan seal --mode=h", "deadpan seal --mode=hybrid"),
    ("deadpan completions z", "deadpan completions zsh"),
    ("deadpan man keys-a", "deadpan man keys-add"),
    // `help` has no manual pages.
    ("deadpan man keys-he", "deadpan man keys-he"),
    ("deadpan man he", "deadpan man he"),
    // Files, including names with spaces and files in the home folder.
    ("deadpan seal lett", "deadpan seal letter one.txt"),
    ("deadpan seal -o di", "deadpan seal -o dir/"),
    ("deadpan seal --output=di", "deadpan seal --output=dir/"),
    ("deadpan seal -R li", "deadpan seal -R list.txt"),
    ("deadpan seal -r li", "deadpan seal -r list.txt"),
    ("deadpan seal ~/li", "deadpan seal FOLDER/list.txt"),
    // Names of keys and contacts are offered only where these names are valid.
    ("deadpan seal -r ali", "deadpan seal -r alice"),
    ("deadpan seal -r alf", "deadpan seal -r alfred@example.org"),
    ("deadpan seal --recipient=ali", "deadpan seal --recipient=alice"),
    ("deadpan open -i hyb", "deadpan open -i hybrid"),
    ("deadpan open -i ali", "deadpan open -i ali"),
    ("deadpan keys export hyb", "deadpan keys export hybrid"),
    ("deadpan keys remove li", "deadpan keys remove li"),
    // Signing keys are no completions for recipients, and sealing keys are no completions for signers.
    ("deadpan seal -r sig", "deadpan seal -r sig"),
    ("deadpan seal -r sus", "deadpan seal -r sus"),
    ("deadpan seal --sign=sig", "deadpan seal --sign=sign"),
    ("deadpan seal --sign=hyb", "deadpan seal --sign=hyb"),
    ("deadpan open --require-signature=sus", "deadpan open --require-signature=susan"),
    ("deadpan open --require-signature=ali", "deadpan open --require-signature=ali"),
    ("deadpan verify --by sus", "deadpan verify --by susan"),
    ("deadpan rewrap --remove ali", "deadpan rewrap --remove alice"),
    ("deadpan rewrap --remove passp", "deadpan rewrap --remove passphrase"),
    ("deadpan lab timing -t ct.eq.u3", "deadpan lab timing -t ct.eq.u32"),
    // Sealed files are completed first. If no sealed file matches, the shell offers other files.
    ("deadpan open repo", "deadpan open report.dpn"),
    ("deadpan open ~/repo", "deadpan open FOLDER/report.dpn"),
    ("deadpan open li", "deadpan open list.txt"),
];

fn complete(shell: &[&str], setup: &str) {
    let sandbox = Sandbox::with_key("hybrid");
    if sandbox.shell(&format!("command -v {}", shell[0])).code() != Some(0) {
        return skip(&format!("completions in {}", shell[0]), "the shell is missing");
    }
    sandbox
        .shell(
            "touch 'letter one.txt' list.txt; mkdir dir; deadpan keys export > key.pub; \
             for name in alice alfred@example.org; do deadpan keys add $name key.pub; done; \
             touch report.txt report.dpn; deadpan keygen --sign --no-passphrase; \
             deadpan keys export sign > sign.pub; deadpan keys add susan sign.pub; rm sign.pub",
        )
        .expect(0, "added alice");
    sandbox.shell(&format!("deadpan completions {} > script", shell[0])).expect(0, "");
    let folder = sandbox.path("").display().to_string();
    let folder = folder.trim_end_matches('/');
    let home = format!("HOME={folder}");
    let mut session = Session::of(&sandbox, "env", &[&["TERM=dumb", &home], shell].concat());
    session.say(&format!("{setup}; printf 'ready%s\\n' .")).expect("ready.");
    for (typed, expected) in CASES {
        session.type_in(&format!("{typed}\t"));
        // Ctrl-A moves to the beginning of the line. A command is then typed before the line, and prints the words of
        // the line.
        session.control(b'A').say("printf '<%s>' end-of ");
        let words = expected.replace("FOLDER", folder).replace("letter one", "letter\u{1}one");
        let words: String = words.split(' ').map(|word| format!("<{}>", word.replace('\u{1}', " "))).collect();
        session.expect(&format!("<end-of>{words}"));
    }
    session.say("exit 0");
    session.end(0);
}

#[test]
fn bash_completes_files_and_names() {
    complete(&["bash", "--norc", "--noprofile", "-i"], "source ./script");
}

#[test]
fn zsh_completes_files_and_names() {
    complete(
        &["zsh", "-f", "-i"],
        "autoload -Uz compinit; compinit -u -D; unsetopt auto_remove_slash; source ./script",
    );
}

#[test]
fn fish_completes_files_and_names() {
    complete(&["fish", "--no-config", "-i"], "source ./script");
}
