//! What was packed comes out as it was, all of it or a part, and nothing that was changed on the way.

mod tree;

use deadpan_pack::{Contents, Error, Excerpt, Packer, Packing, Selection, Work, pack, unpack};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;
use tree::odd::odd_tree;
use tree::{fresh, into, unpacker};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn packed(root: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packer = Packer::new(root, b"root", Packing::default()).expect("a folder");
    pack(packer, &mut bytes, &Work::default()).expect("packed");
    bytes
}

/// A tree that comes from root's folders keeps setuid for root only with owners.
fn without_special_bits(mut tree: BTreeMap<Vec<u8>, String>) -> BTreeMap<Vec<u8>, String> {
    tree.values_mut().for_each(|facts| *facts = facts.replacen("104711", "100711", 1));
    tree
}

#[test]
fn a_tree_comes_out_as_it_was() {
    let source = folder();
    odd_tree(source.path());
    let expected = without_special_bits(tree::tree(source.path(), true));
    let bytes = packed(source.path());
    for threads in [1, 2, 5] {
        let target = folder();
        let outcome = unpack(&bytes[..], &mut unpacker(target.path(), fresh()), &Work { threads, ..Work::default() }).expect("unpacked");
        assert!(outcome.pack && outcome.failed == 0 && outcome.remarks.is_empty(), "{outcome:?}");
        assert_eq!(tree::tree(target.path(), true), expected, "{threads} threads");
        let blocks = fs::metadata(target.path().join("holes")).expect("it is there").blocks();
        assert!(blocks * 512 < 4 << 20, "holes stay holes");
    }
}

#[test]
fn a_part_comes_out_alone_with_the_folders_that_lead_to_it() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let all = without_special_bits(tree::tree(source.path(), true));
    let cases: [(&[&str], &[&str]); 7] = [
        (&["lengths/512"], &["", "lengths", "lengths/512"]),
        (&["root/empty"], &["", "empty", "empty/deep"]),
        (&["lengths/51*"], &["", "lengths", "lengths/511", "lengths/512", "lengths/513"]),
        (&["link", "lengths/0", "empty/deep"], &["", "empty", "empty/deep", "lengths", "lengths/0", "link"]),
        (&["holes"], &["", "holes"]),
        (&["hard"], &["", "hard", "hard/first", "hard/second"]),
        (&["**/deep"], &["", "empty", "empty/deep"]),
    ];
    for (wanted, expected) in cases {
        let mut contents = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let other = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let selection = Selection::new(wanted.iter().map(|path| path.as_bytes().to_vec()));
        let chosen = selection.within(&mut contents).expect("they are there");
        let target = folder();
        let outcome = unpack(Excerpt::new(chosen.entries(&mut contents), other), &mut unpacker(target.path(), fresh()), &Work::default());
        let outcome = outcome.expect("unpacked");
        assert!(outcome.pack && outcome.failed == 0, "{outcome:?}");
        let found = tree::tree(target.path(), true);
        assert_eq!(found.keys().map(|path| String::from_utf8_lossy(path)).collect::<Vec<_>>(), expected, "{wanted:?}");
        for (path, facts) in &found {
            // A link fewer than before is no difference.
            let links = |facts: &str| facts.replace(" 2 ", " 3 ");
            assert_eq!(links(facts), links(&all[path]), "{}", path.escape_ascii());
        }
    }
}

#[test]
fn a_link_whose_file_is_not_wanted_comes_out_as_the_file() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let mut contents = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
    let other = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
    let chosen = Selection::new([b"third".to_vec()]).within(&mut contents).expect("it is there");
    let target = folder();
    unpack(Excerpt::new(chosen.entries(&mut contents), other), &mut unpacker(target.path(), fresh()), &Work::default()).expect("unpacked");
    assert_eq!(fs::read(target.path().join("third")).expect("a file"), b"one file");
    assert_eq!(fs::read_dir(target.path()).expect("a folder").count(), 1);
}

/// A tree whose pack is short.
fn small() -> (TempDir, Vec<u8>) {
    let source = folder();
    fs::create_dir(source.path().join("folder")).expect("a folder");
    fs::write(source.path().join("folder/file"), b"straight face").expect("written");
    std::os::unix::fs::symlink("folder/file", source.path().join("link")).expect("a link");
    fs::hard_link(source.path().join("folder/file"), source.path().join("other name")).expect("a link");
    let bytes = packed(source.path());
    (source, bytes)
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let (source, bytes) = small();
    let expected = tree::tree(source.path(), true);
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x20;
        let target = folder();
        let Ok(outcome) = into(target.path(), &changed, fresh()) else { continue };
        // What fills blocks says nothing; and without its marker, a pack is an archive of somebody else.
        let same = tree::tree(target.path(), true) == expected;
        assert!(same || place < 1024 && !outcome.pack, "a change at {place} went through");
    }
}

#[test]
fn no_missing_end_goes_unnoticed() {
    let (_source, bytes) = small();
    for length in 0..bytes.len() {
        let target = folder();
        let cut = into(target.path(), &bytes[..length], fresh());
        assert!(cut.is_err(), "{length} of {} bytes: {cut:?}", bytes.len());
    }
    let target = folder();
    assert!(into(target.path(), &[&bytes[..], b"more"].concat(), fresh()).is_err(), "nothing may follow");
}

#[test]
fn other_contents_are_noticed_and_only_they_are_missing() {
    let source = folder();
    odd_tree(source.path());
    let mut bytes = packed(source.path());
    let place = bytes.windows(17).position(|window| window == b"no prefix will do").expect("it is in there");
    bytes[place] ^= 1;
    let target = folder();
    let failed = into(target.path(), &bytes, fresh());
    assert!(matches!(&failed, Err(Error::Archive { what, .. }) if what.contains("contents were changed")), "{failed:?}");
    let target = folder();
    let outcome = into(target.path(), &bytes, deadpan_pack::Unpacking { keep_going: true, ..fresh() }).expect("unpacked");
    assert_eq!((outcome.failed, outcome.failures.len()), (1, 1));
    assert!(outcome.failures[0].path.ends_with(&[b'n'; 250]));
    let (ours, theirs) = (tree::tree(source.path(), true), tree::tree(target.path(), true));
    let missing: Vec<_> = ours.keys().filter(|path| !theirs.contains_key(*path)).collect();
    assert_eq!(missing, [&outcome.failures[0].path]);
}

#[test]
fn a_link_to_contents_that_were_changed_goes_with_them() {
    let (_source, mut bytes) = small();
    let place = bytes.windows(13).position(|window| window == b"straight face").expect("it is in there");
    bytes[place] ^= 1;
    let target = folder();
    let outcome = into(target.path(), &bytes, deadpan_pack::Unpacking { keep_going: true, ..fresh() }).expect("unpacked");
    assert_eq!(outcome.failed, 2, "{outcome:?}");
    assert!(!target.path().join("other name").exists() && !target.path().join("folder/file").exists());
    assert!(target.path().join("link").is_symlink());
}

#[test]
fn an_excerpt_is_the_same_however_it_is_read() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let read = |step: usize| {
        let mut contents = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let other = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let chosen = Selection::new([b"lengths".to_vec(), b"third".to_vec()]).within(&mut contents).expect("they are there");
        let mut excerpt = Excerpt::new(chosen.entries(&mut contents), other);
        let (mut all, mut buffer) = (Vec::new(), vec![0; step]);
        loop {
            match excerpt.read(&mut buffer).expect("readable") {
                0 => return all,
                length => all.extend_from_slice(&buffer[..length]),
            }
        }
    };
    let whole = read(1 << 20);
    for step in [511, 512, 513, 10_000] {
        assert!(read(step) == whole, "{step} bytes at a time");
    }
}
