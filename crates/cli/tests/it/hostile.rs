//! Sealed folders that were made to do harm. Anyone with a recipient's public key can make such a folder.

use crate::archive::pack::{Entry, Pack, a_file, a_hard_link, root};
use crate::sandbox::Sandbox;
use deadpan_seal::{Kind, Metadata, Passphrase, Recipient, Sealing};

fn sealed(pack: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    let sealing = Sealing::to(vec![Recipient::from(&Passphrase::new(b"secret"))]).unwrap();
    let metadata = Metadata { kind: Kind::Folder, name: Some(b"root".to_vec()), ..Metadata::default() };
    sandbox.write("root.dpn", sealing.metadata(metadata).unwrap().seal(pack).unwrap());
    sandbox.write("pass", "secret");
    sandbox
}

/// Makes a pack whose headers and index describe the entries differently.
fn two_faced(entries: &[(Entry, Entry)]) -> Vec<u8> {
    let mut pack = Pack::new().add(&root());
    entries.iter().for_each(|(header, indexed)| pack.add_as(header, indexed));
    pack.end()
}

/// If several files went to standard output, an earlier version did not compare the files with their hashes.
#[test]
fn changed_contents_of_one_of_several_files_are_refused() {
    let sandbox =
        sealed(&two_faced(&[(a_file("a", b"one!"), a_file("a", b"two!")), (a_file("b", b"b"), a_file("b", b"b"))]));
    for only in ["--only a --only b", "--only root", "--only a"] {
        let run = sandbox.shell(&format!("deadpan open --passphrase-file pass {only} -o - root.dpn > out"));
        assert_eq!(run.code(), Some(1), "{only}: {}", run.stderr());
        assert!(run.stderr().contains("a is not what the index says: its contents were changed"), "{}", run.stderr());
    }
    sandbox.shell("deadpan open --passphrase-file pass --only b -o - root.dpn").expect(0, "");
}

/// If the headers and the index of a pack describe `a` differently, `tar` uses the headers. In an earlier version,
/// `open --only a -o -` wrote a different content than `tar`, with exit code 0.
#[test]
fn one_path_has_the_same_content_in_every_kind_of_output() {
    let (one, two) = (b"one!", b"two!");
    let swapped = two_faced(&[(a_file("b", two), a_file("a", two)), (a_file("a", one), a_file("b", one))]);
    let mut link = a_hard_link("c", "a");
    link.mode = 0o600;
    let linked = two_faced(&[(a_file("a", one), a_file("a", one)), (a_hard_link("c", "a"), link)]);
    let renamed = two_faced(&[(a_file("b", one), a_file("a", one)), (a_hard_link("c", "a"), a_hard_link("c", "a"))]);
    for (pack, only) in [(&swapped, "a"), (&swapped, "b"), (&linked, "c"), (&renamed, "c"), (&renamed, "a")] {
        let sandbox = sealed(pack);
        for ways in ["-o - root.dpn", "-o out root.dpn"] {
            let run = sandbox.shell(&format!("deadpan open --passphrase-file pass --only {only} {ways}"));
            assert_eq!((run.code(), run.stdout()), (Some(1), &b""[..]), "{only} {ways}: {}", run.stderr());
            assert!(run.stderr().contains("is not what the index says"), "{}", run.stderr());
        }
        // An index in a pipe comes last, so the error is reported after the bytes were written.
        let run = sandbox.shell(&format!("cat root.dpn | deadpan open --passphrase-file pass --only {only} -o -"));
        assert!(matches!(run.code(), Some(1 | 2)), "{only}: {}", run.stderr());
        let run = sandbox.shell("deadpan open --passphrase-file pass root.dpn");
        assert_eq!(run.code(), Some(1), "{}", run.stderr());
    }
}

/// A name that, without escapes, clears the screen and reverses the direction of the following text.
const OBEYED: &str = "a\u{1b}[2J\u{9b}1m\u{202e}\u{200b}\u{2066}b";

#[track_caller]
fn assert_escaped(text: &[u8], shown: bool) {
    let text = String::from_utf8_lossy(text);
    let obeyed = ['\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{2066}'];
    assert!(!text.contains(obeyed), "{}", text.escape_debug());
    assert_eq!(text.contains(r"\u{1b}[2J\u{9b}1m\u{202e}\u{200b}\u{2066}b"), shown, "{text}");
}

/// An earlier version did not escape control characters of names in the advice of `verify`, in both names of a
/// rehearsal, in addresses of stores, and in clap's messages.
#[test]
fn names_of_others_do_not_control_the_terminal() {
    let sandbox = Sandbox::with_key("ecc");
    std::fs::create_dir(sandbox.path("in")).unwrap();
    for name in [OBEYED.to_owned(), format!("{OBEYED}.sig"), format!("in/{OBEYED}")] {
        sandbox.write(&name, b"x");
    }
    let run = sandbox.run(&["verify", &format!("{OBEYED}.sig")]);
    assert_eq!(run.code(), Some(2), "{}", run.stderr());
    assert_eq!(run.stderr().matches(r"\u{1b}").count(), 2, "message and advice: {}", run.stderr());
    assert_escaped(run.stderr().as_bytes(), true);
    let run = sandbox.run(&["seal", "--each", "--dry-run", "-r", "home/ecc.pub", "--to", "out/", "in"]).expect(0, "");
    let lines = String::from_utf8(run.stdout().to_vec()).unwrap();
    assert_eq!(lines.matches(r"\u{1b}").count(), 2, "both sides: {lines}");
    assert_escaped(run.stdout(), true);
    let address = format!("s3://bucket/{}/", OBEYED.replace(['\u{1b}', '\u{9b}'], ""));
    let run = sandbox.run(&["open", &address]);
    assert!(run.stderr().contains(r"\u{202e}\u{200b}\u{2066}"), "{}", run.stderr());
    assert_escaped(run.stderr().as_bytes(), false);
    for arguments in [&[&*format!("--{OBEYED}")][..], &["open", &format!("--{OBEYED}")], &["random", OBEYED], &[OBEYED]]
    {
        let run = sandbox.run(arguments);
        assert_eq!(run.code(), Some(2), "{}", run.stderr());
        assert_escaped(run.stderr().as_bytes(), true);
    }
}

/// JSON does not escape U+007F and the characters above it, and people also read JSON on terminals.
#[test]
fn json_has_escapes_for_what_a_terminal_obeys() {
    let sandbox = Sandbox::with_key("ecc");
    let (pack, sealed, none) = (format!("{OBEYED}.tar"), format!("{OBEYED}.dpn"), format!("{OBEYED}.none"));
    sandbox.write(&pack, Pack::new().add(&root()).add(&a_file(OBEYED, b"x")).end());
    sandbox.write(OBEYED, b"x");
    sandbox.run(&["seal", "-r", "home/ecc.pub", OBEYED]).expect(0, "");
    let read = |arguments: &[&str], code: i32, key: &str, expected: &str| {
        let run = sandbox.run(arguments);
        assert_eq!(run.code(), Some(code), "{arguments:?}: {}", run.stderr());
        let all = [run.stdout(), b"\n", run.stderr().as_bytes()].concat();
        let is_right = |line: &[u8]| {
            serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|line| line[key].as_str() == Some(expected))
        };
        assert!(all.split(|byte| *byte == b'\n').any(is_right), "{arguments:?}: {}", run.stderr());
        let escaped = r"a\u001b[2J\u009b1m\u202e\u200b\u2066b";
        assert!(String::from_utf8_lossy(&all).contains(escaped), "{arguments:?}: {}", run.stderr());
        assert_escaped(&all, false);
    };
    read(&["list", "--json", &pack], 0, "path", &format!("root/{OBEYED}"));
    read(&["list", "--json", &none], 2, "file", &none);
    read(&["inspect", "--json", &sealed], 0, "file", &sealed);
    read(&["open", "--json", "-i", "home/ecc.key", "-o", "out", &sealed], 0, "file", &sealed);
    read(&["open", "--json", "-i", "home/ecc.key", "-o", "-", &sealed], 0, "file", &sealed);
    read(&["verify", "--json", OBEYED], 2, "file", OBEYED);
    read(&["picture", "capacity", "--json", OBEYED], 1, "file", OBEYED);
}
