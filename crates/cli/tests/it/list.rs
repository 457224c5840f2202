//! Lists sealed folders. The small writer in the tests of `deadpan-pack` makes the packs.

use crate::archive::pack::{Pack, a_far_folder, a_folder, root};
use crate::archive::{ended, file, pax};
use crate::reference::{Item, pack};
use crate::sandbox::{Sandbox, skip};
use deadpan_pack::Kind;
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Metadata, Recipient, Sealing};

fn folder(counts: &[usize], inside: bool) -> Vec<u8> {
    let mut items = vec![
        Item::folder(""),
        Item::folder("a"),
        Item::file("a/one", 600_000),
        Item::link("a/two", Kind::HardLink, "a/one"),
    ];
    items.extend((0..200).map(|number| Item::file(format!("b{number:03}"), 5)));
    pack(&items, counts, inside).0
}

/// Seals a pack as `pack.dpn`.
fn seal(sandbox: &Sandbox, pack: &[u8]) -> Vec<u8> {
    let [Found::Public(key)] = &key::read(&sandbox.read("home/ecc.pub")).unwrap()[..] else { panic!("a public key") };
    let metadata = Metadata { kind: deadpan_seal::Kind::Folder, name: Some(b"root".to_vec()), ..Metadata::default() };
    let sealing = Sealing::to(vec![Recipient::Key(key.clone())]).unwrap().metadata(metadata).unwrap();
    let sealed = sealing.seal(pack).unwrap();
    sandbox.write("pack.dpn", &sealed);
    sealed
}

#[test]
fn a_sealed_folder_is_listed_the_same_in_all_ways() {
    let sandbox = Sandbox::with_key("ecc");
    for (counts, inside) in [(&[1000][..], false), (&[7], true)] {
        let pack = folder(counts, inside);
        let sealed = seal(&sandbox, &pack);
        let listed = sandbox.run(&["list", "pack.dpn"]).expect(0, "");
        let text = String::from_utf8(listed.stdout().to_vec()).unwrap();
        assert_eq!(text.lines().count(), 204);
        assert!(
            text.contains("       600000 1970-01-01 00:00:00 root/a/one\n")
                && text.contains(" root/a/two = root/a/one\n"),
            "{text}"
        );
        assert_eq!(sandbox.run_with(&["list"], &sealed).expect(0, "").stdout(), text.as_bytes(), "through a pipe");
        assert_eq!(sandbox.run_with(&["list"], &pack).expect(0, "").stdout(), text.as_bytes(), "not sealed");
        sandbox.write("pack", &pack);
        assert_eq!(
            sandbox.run(&["list", "pack"]).expect(0, "").stdout(),
            text.as_bytes(),
            "not sealed, with its index"
        );
        for only in ["a", "root/a", "[a]", "root/[a]"] {
            let part = sandbox.run(&["list", "--only", only, "pack.dpn"]).expect(0, "");
            assert_eq!(part.stdout().split(|byte| *byte == b'\n').count(), 4, "{only}");
            assert_eq!(
                sandbox.run_with(&["list", "--only", only], &sealed).expect(0, "").stdout(),
                part.stdout(),
                "{only}"
            );
        }
        sandbox.run(&["list", "--only", "c", "pack.dpn"]).expect(2, "nothing in the archive matches c");
        let json = sandbox.run(&["list", "--json", "--only", "a/one", "pack.dpn"]).expect(0, "");
        let json: serde_json::Value = serde_json::from_slice(json.stdout()).unwrap();
        assert_eq!((json["size"].as_u64(), json["blake3"].as_str().map(str::len)), (Some(600_000), Some(64)));
    }
}

/// An earlier version of `list --tree` kept all paths in memory, so it took more than a hundred times the length of the
/// file.
#[test]
fn a_tree_of_an_index_takes_no_memory_for_its_paths() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(60_000);
    let mut made = Pack::new().add(&root());
    made.add_as(&a_folder("x"), &a_far_folder(&long));
    (0..1100).for_each(|number| made.add_as(&a_folder("x"), &a_far_folder(&format!("{long}/{number:04}"))));
    sandbox.write("pack", made.end());
    // The paths alone take 66 MB.
    let drawn = sandbox.shell("ulimit -d 24000; deadpan list --tree pack").expect(0, "");
    let text = String::from_utf8_lossy(drawn.stdout()).into_owned();
    assert_eq!((text.lines().count(), text.lines().last()), (1102, Some("    \u{2514}\u{2500}\u{2500} 1099/")));
}

/// A few bytes of paths can describe many folders, and each folder takes a line in a tree.
#[test]
fn a_tree_of_folders_that_only_paths_name_is_bounded() {
    let sandbox = Sandbox::new();
    let deep = |number: u32| file_of(format!("{number}/{}x", "a/".repeat(1000)));
    let archive = |count: u32| ended(&(0..count).map(deep).collect::<Vec<_>>());
    sandbox.write("few.tar", archive(4));
    let drawn = sandbox.run(&["list", "--tree", "few.tar"]).expect(0, "");
    assert_eq!(drawn.stdout().split(|byte| *byte == b'\n').count(), 4 * 1002 + 1);
    sandbox.write("many.tar", archive(5));
    let refused = sandbox.run(&["list", "--tree", "many.tar"]).expect(1, "name 5005 folders that have no entry");
    assert!(refused.stdout().is_empty());
    sandbox.run(&["list", "many.tar"]).expect(0, "");
}

fn file_of(path: String) -> Vec<u8> {
    [pax(b'x', &[("path", path.as_bytes())]), file("x", b"")].concat()
}

/// `tar r` once destroyed packs. If another program appends entries, the old index must not be used.
#[test]
fn entries_that_other_programs_append_are_listed_and_unpacked() {
    let sandbox = Sandbox::new();
    sandbox.write("new", b"n");
    let python = "import sys, tarfile; t = tarfile.open(sys.argv[1], 'a'); t.add('new'); t.close()";
    for count in [1, 20, 61, 100, 400] {
        let folder = format!("pack{count}");
        std::fs::create_dir(sandbox.path(&folder)).unwrap();
        (0..count).for_each(|number| sandbox.write(&format!("{folder}/file{number}"), b"f"));
        let archive = format!("{folder}.tar");
        for with in [&["tar", "-rf"][..], &["tar", "-uf"], &["bsdtar", "-rf"], &["python3", "-c", python]] {
            sandbox.run(&["pack", "-f", &folder]).expect(0, "");
            let mut program = std::process::Command::new(with[0]);
            program.args(&with[1..]).arg(&archive).args((with[0] != "python3").then_some("new"));
            match program.current_dir(sandbox.path("")).output() {
                Err(error) => {
                    skip(with[0], &error.to_string());
                    continue;
                }
                Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{with:?}: {output:?}"),
            }
            let listed = sandbox.run(&["list", "--json", &archive]).expect(0, "another program has changed");
            assert_eq!(listed.stdout().split(|byte| *byte == b'\n').count(), count + 3, "{with:?} {count}");
            let out = format!("{}{}-{count}", with[0], &with[1][..2]);
            sandbox.run(&["unpack", "-o", &out, &archive]).expect(0, "contents are not checked");
            sandbox
                .run(&["unpack", "--only", "new", "-o", &format!("{out}.new"), &archive])
                .expect(0, "another program");
            let last = format!("{folder}/file0");
            let only = ["unpack", "--only", &last, "-o", &format!("{out}.old"), &archive];
            sandbox.run(&only).expect(0, "another program");
            assert_eq!(
                (sandbox.read(&format!("{out}/new")), sandbox.read(&format!("{out}.new/new"))),
                (b"n".into(), b"n".into())
            );
            assert_eq!(sandbox.read(&format!("{out}.old/{last}")), b"f");
            let pipe = sandbox.run_with(&["unpack", "-o", &format!("{out}.pipe")], &sandbox.read(&archive));
            pipe.expect(1, "new is not in the root folder of the pack");
        }
    }
}

#[test]
fn only_the_index_is_opened_and_it_is_checked() {
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
    assert!(!through.stdout().is_empty(), "entries before the damage are listed");
    change(sealed.len() - 100);
    assert_eq!(sandbox.run(&["list", "changed.dpn"]).expect(1, "is damaged or was changed").stdout(), b"");
    sandbox.write("cut.dpn", &sealed[..sealed.len() - 100]);
    sandbox.run(&["list", "cut.dpn"]).expect(1, "cut.dpn: ");
}

#[test]
fn listing_without_the_key_is_refused() {
    let (sandbox, other) = (Sandbox::with_key("ecc"), Sandbox::with_key("ecc"));
    let sealed = seal(&sandbox, &folder(&[10], false));
    other.write("pack.dpn", sealed);
    other.run(&["list", "pack.dpn"]).expect(3, "no key fits");
}
