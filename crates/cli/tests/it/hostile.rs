//! Sealed folders that were made to do harm. Anyone with a recipient's public key can make one.

use crate::archive::pack::{Entry, Pack, a_file, a_hard_link, root};
use crate::sandbox::Sandbox;
use deadpan_seal::{Kind, Metadata, Passphrase, Recipient, Sealing};

/// A sandbox with this pack, sealed as a folder.
fn sealed(pack: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    let sealing = Sealing::to(vec![Recipient::from(&Passphrase::new(b"secret"))]).unwrap();
    let metadata = Metadata { kind: Kind::Folder, name: Some(b"root".to_vec()), ..Metadata::default() };
    sandbox.write("root.dpn", sealing.metadata(metadata).unwrap().bytes(pack).unwrap());
    sandbox.write("pass", "secret");
    sandbox
}

/// A pack whose headers and index describe the entries differently.
fn two_faced(entries: &[(Entry, Entry)]) -> Vec<u8> {
    let mut pack = Pack::new().add(&root());
    entries.iter().for_each(|(header, indexed)| pack.add_as(header, indexed));
    pack.end()
}

/// Several files that went to standard output were once not compared with their hashes.
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

/// From such a pack, `tar` once unpacked one content of `a`, and `open --only a -o -` wrote another with exit code 0.
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
        // In a pipe, the index comes last, so the error is reported after the bytes were written.
        let run = sandbox.shell(&format!("cat root.dpn | deadpan open --passphrase-file pass --only {only} -o -"));
        assert!(matches!(run.code(), Some(1 | 2)), "{only}: {}", run.stderr());
        let run = sandbox.shell("deadpan open --passphrase-file pass root.dpn");
        assert_eq!(run.code(), Some(1), "{}", run.stderr());
    }
}
