//! Sealed folders, listed. Their packs come from the small writer that the tests of `deadpan-pack` have.

#[path = "../../pack/tests/reference/mod.rs"]
mod reference;
mod sandbox;

use deadpan_pack::Kind;
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Metadata, Recipient, Sealing};
use reference::{Item, pack};
use sandbox::Sandbox;

fn folder(counts: &[usize], inside: bool) -> Vec<u8> {
    let mut items = vec![Item::folder(""), Item::folder("a"), Item::file("a/one", 600_000), Item::link("a/two", Kind::HardLink, "a/one")];
    items.extend((0..200).map(|number| Item::file(format!("b{number:03}"), 5)));
    pack(&items, counts, inside).0
}

/// Seals a pack as `pack.dpn`.
fn seal(sandbox: &Sandbox, pack: &[u8]) -> Vec<u8> {
    let [Found::Public(key)] = &key::read(&sandbox.read("home/ecc.pub")).unwrap()[..] else { panic!("a public key") };
    let metadata = Metadata { kind: deadpan_seal::Kind::Folder, name: Some(b"root".to_vec()), ..Metadata::default() };
    let sealing = Sealing::to(vec![Recipient::Key(key.clone())]).unwrap().metadata(metadata).unwrap();
    let sealed = sealing.bytes(pack).unwrap();
    sandbox.write("pack.dpn", &sealed);
    sealed
}

#[test]
fn a_sealed_folder_is_listed_alike_in_all_ways() {
    let sandbox = Sandbox::with_key("ecc");
    for (counts, inside) in [(&[1000][..], false), (&[7], true)] {
        let pack = folder(counts, inside);
        let sealed = seal(&sandbox, &pack);
        let listed = sandbox.run(&["list", "pack.dpn"]).expect(0, "");
        let text = String::from_utf8(listed.stdout().to_vec()).unwrap();
        assert_eq!(text.lines().count(), 204);
        assert!(text.contains("       600000 1970-01-01 00:00:00 root/a/one\n") && text.contains(" root/a/two = root/a/one\n"), "{text}");
        assert_eq!(sandbox.run_with(&["list"], &sealed).expect(0, "").stdout(), text.as_bytes(), "through a pipe");
        assert_eq!(sandbox.run_with(&["list"], &pack).expect(0, "").stdout(), text.as_bytes(), "not sealed");
        sandbox.write("pack", &pack);
        assert_eq!(sandbox.run(&["list", "pack"]).expect(0, "").stdout(), text.as_bytes(), "not sealed, with its index");
        for only in ["a", "root/a", "[a]", "root/[a]"] {
            let part = sandbox.run(&["list", "--only", only, "pack.dpn"]).expect(0, "");
            assert_eq!(part.stdout().split(|byte| *byte == b'\n').count(), 4, "{only}");
            assert_eq!(sandbox.run_with(&["list", "--only", only], &sealed).expect(0, "").stdout(), part.stdout(), "{only}");
        }
        sandbox.run(&["list", "--only", "c", "pack.dpn"]).expect(2, "nothing in the archive matches c");
        let json = sandbox.run(&["list", "--json", "--only", "a/one", "pack.dpn"]).expect(0, "");
        let json: serde_json::Value = serde_json::from_slice(json.stdout()).unwrap();
        assert_eq!((json["size"].as_u64(), json["blake3"].as_str().map(str::len)), (Some(600_000), Some(64)));
    }
}

/// Bytes in the middle of a file are not read for a listing; those of the index are, and a change there is found.
#[test]
fn only_what_is_needed_is_opened_and_that_is_checked() {
    let sandbox = Sandbox::with_key("ecc");
    let sealed = seal(&sandbox, &folder(&[1000], false));
    let change = |at: usize| {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        sandbox.write("changed.dpn", &changed);
        changed
    };
    let changed = change(sealed.len() / 2);
    sandbox.run(&["list", "changed.dpn"]).expect(0, "");
    let through = sandbox.run_with(&["list"], &changed).expect(1, "segment 1 is damaged");
    assert!(!through.stdout().is_empty(), "what came before");
    change(sealed.len() - 100);
    assert_eq!(sandbox.run(&["list", "changed.dpn"]).expect(1, "is damaged or was changed").stdout(), b"");
    sandbox.write("cut.dpn", &sealed[..sealed.len() - 100]);
    sandbox.run(&["list", "cut.dpn"]).expect(1, "cut.dpn: ");
}

#[test]
fn without_the_key() {
    let (sandbox, other) = (Sandbox::with_key("ecc"), Sandbox::with_key("ecc"));
    let sealed = seal(&sandbox, &folder(&[10], false));
    other.write("pack.dpn", sealed);
    other.run(&["list", "pack.dpn"]).expect(3, "no key fits");
}
