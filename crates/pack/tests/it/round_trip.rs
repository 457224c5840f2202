//! Packing and unpacking give the same tree, or the same part of the tree. Changed packs are refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use crate::tree::odd::odd_tree;
use crate::tree::{fresh, into, tree, unpacker};
use deadpan_pack::{Change, Contents, Error, Excerpt, Flaw, Packer, Packing, Selection, Work, pack, unpack};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Returns a folder in memory, or on the disk if the system has no `/dev/shm`. On a disk with ext4, creating files
/// becomes slow after thousands of files were removed.
fn folder_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| folder())
}

fn packed(root: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packer = Packer::new(root, b"root", Packing::default()).expect("a folder");
    pack(packer, &mut bytes, &Work::default()).expect("packed");
    bytes
}

/// Removes the special bits: unpacking restores setuid only for root, and only together with owners.
fn without_special_bits(mut tree: BTreeMap<Vec<u8>, String>) -> BTreeMap<Vec<u8>, String> {
    tree.values_mut().for_each(|facts| *facts = facts.replacen("104711", "100711", 1));
    tree
}

#[test]
fn a_tree_is_restored() {
    let source = folder();
    odd_tree(source.path());
    let expected = without_special_bits(tree(source.path(), true));
    let bytes = packed(source.path());
    for threads in [1, 2, 5] {
        let target = folder();
        let outcome = unpack(&bytes[..], &mut unpacker(target.path(), fresh()), &Work { threads, ..Work::default() })
            .expect("unpacked");
        assert!(outcome.pack && outcome.failed == 0 && outcome.remarks.is_empty(), "{outcome:?}");
        assert_eq!(tree(target.path(), true), expected, "{threads} threads");
        let blocks = fs::metadata(target.path().join("holes")).expect("the path exists").blocks();
        assert!(blocks * 512 < 4 << 20, "holes stay holes");
    }
}

#[test]
fn a_part_is_unpacked_with_its_parent_folders() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let all = without_special_bits(tree(source.path(), true));
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
        let chosen = selection.within(&mut contents).expect("the paths exist");
        let target = folder();
        let outcome = unpack(
            Excerpt::new(chosen.entries(&mut contents), other),
            &mut unpacker(target.path(), fresh()),
            &Work::default(),
        );
        let outcome = outcome.expect("unpacked");
        assert!(outcome.pack && outcome.failed == 0, "{outcome:?}");
        let found = tree(target.path(), true);
        assert_eq!(found.keys().map(|path| String::from_utf8_lossy(path)).collect::<Vec<_>>(), expected, "{wanted:?}");
        for (path, facts) in &found {
            // If only a part is unpacked, the link counts can be smaller.
            let links = |facts: &str| facts.replace(" 2 ", " 3 ");
            assert_eq!(links(facts), links(&all[path]), "{}", path.escape_ascii());
        }
    }
}

#[test]
fn a_hard_link_whose_target_is_not_selected_is_unpacked_as_a_file() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let mut contents = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
    let other = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
    let chosen = Selection::new([b"third".to_vec()]).within(&mut contents).expect("the path exists");
    let target = folder();
    unpack(Excerpt::new(chosen.entries(&mut contents), other), &mut unpacker(target.path(), fresh()), &Work::default())
        .expect("unpacked");
    assert_eq!(fs::read(target.path().join("third")).expect("a file"), b"one file");
    assert_eq!(fs::read_dir(target.path()).expect("a folder").count(), 1);
}

/// Makes a small tree, and packs it.
fn small() -> (TempDir, Vec<u8>) {
    let source = folder();
    fs::create_dir(source.path().join("folder")).expect("a folder");
    fs::write(source.path().join("folder/file"), b"straight face").expect("written");
    std::os::unix::fs::symlink("folder/file", source.path().join("link")).expect("a link");
    fs::hard_link(source.path().join("folder/file"), source.path().join("other name")).expect("a link");
    let bytes = packed(source.path());
    (source, bytes)
}

/// Returns the positions of all bytes of a pack, except most of the thousands of zeros before the trailer.
fn places(pack: &[u8]) -> impl Iterator<Item = usize> {
    let number = |from: usize| u64::from_be_bytes(pack[pack.len() - 64 + from..][..8].try_into().unwrap());
    let zeros = (number(0) + number(8)) as usize + 8..pack.len() - 72;
    (0..pack.len()).filter(move |place| !zeros.contains(place) || place % 97 == 0)
}

#[test]
fn every_changed_byte_is_found() {
    let (source, bytes) = small();
    let expected = tree(source.path(), true);
    for place in places(&bytes) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x20;
        let target = folder_in_memory();
        let Ok(outcome) = into(target.path(), &changed, fresh()) else { continue };
        // Padding bytes at the end of a block have no meaning. Without its marker, a pack is an ordinary tar archive.
        let same = tree(target.path(), true) == expected;
        assert!(same || place < 1024 && !outcome.pack, "a change at {place} went through");
    }
}

#[test]
fn every_truncation_is_found() {
    let (_source, bytes) = small();
    for length in places(&bytes) {
        let target = folder_in_memory();
        let cut = into(target.path(), &bytes[..length], fresh());
        assert!(cut.is_err(), "{length} of {} bytes: {cut:?}", bytes.len());
    }
    let target = folder_in_memory();
    assert!(into(target.path(), &[&bytes[..], b"more"].concat(), fresh()).is_err(), "nothing may follow");
}

#[test]
fn only_entries_with_changed_contents_are_missing() {
    let source = folder();
    odd_tree(source.path());
    let mut bytes = packed(source.path());
    let place = bytes.windows(17).position(|window| window == b"no prefix will do").expect("it is in there");
    bytes[place] ^= 1;
    let target = folder();
    let failed = into(target.path(), &bytes, fresh());
    assert!(matches!(&failed, Err(Error::Archive(Flaw::Changed { change: Change::Content, .. }))), "{failed:?}");
    let target = folder();
    let outcome =
        into(target.path(), &bytes, deadpan_pack::Unpacking { keep_going: true, ..fresh() }).expect("unpacked");
    assert_eq!((outcome.failed, outcome.failures.len()), (1, 1));
    assert!(outcome.failures[0].path.ends_with(&[b'n'; 250]));
    let (ours, theirs) = (tree(source.path(), true), tree(target.path(), true));
    let missing: Vec<_> = ours.keys().filter(|path| !theirs.contains_key(*path)).collect();
    assert_eq!(missing, [&outcome.failures[0].path]);
}

#[test]
fn a_hard_link_to_changed_contents_is_removed_too() {
    let (_source, mut bytes) = small();
    let place = bytes.windows(13).position(|window| window == b"straight face").expect("it is in there");
    bytes[place] ^= 1;
    let target = folder();
    let outcome =
        into(target.path(), &bytes, deadpan_pack::Unpacking { keep_going: true, ..fresh() }).expect("unpacked");
    assert_eq!(outcome.failed, 2, "{outcome:?}");
    assert!(!target.path().join("other name").exists() && !target.path().join("folder/file").exists());
    assert!(target.path().join("link").is_symlink());
}

/// `cp -al` makes several names of one symbolic link. After unpacking, these names are again names of one link.
#[test]
fn the_names_of_a_symbolic_link_come_back_as_one_link() {
    let source = folder();
    symlink("nowhere", source.path().join("a")).expect("a link");
    fs::create_dir(source.path().join("copy")).expect("a folder");
    fs::hard_link(source.path().join("a"), source.path().join("copy/a")).expect("another name");
    let bytes = packed(source.path());
    let target = folder();
    into(target.path(), &bytes, fresh()).expect("unpacked");
    let is = |path: &str| fs::symlink_metadata(target.path().join(path)).expect("a link");
    assert!(is("a").is_symlink() && is("a").nlink() == 2 && is("a").ino() == is("copy/a").ino());
    assert_eq!(fs::read_link(target.path().join("copy/a")).expect("a link"), Path::new("nowhere"));
    // If the first name is not unpacked, the second name becomes a separate link.
    let read = || Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
    let (mut contents, other) = (read(), read());
    let chosen = Selection::new([b"copy".to_vec()]).within(&mut contents).expect("it is there");
    let target = folder();
    unpack(Excerpt::new(chosen.entries(&mut contents), other), &mut unpacker(target.path(), fresh()), &Work::default())
        .expect("unpacked");
    assert_eq!(fs::read_link(target.path().join("copy/a")).expect("a link"), Path::new("nowhere"));
    assert!(!target.path().join("a").exists());
}

#[test]
fn an_excerpt_is_the_same_for_all_buffer_sizes() {
    let source = folder();
    odd_tree(source.path());
    let bytes = packed(source.path());
    let read = |step: usize| {
        let mut contents = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let other = Contents::read(Cursor::new(&bytes)).expect("readable").expect("a pack");
        let chosen =
            Selection::new([b"lengths".to_vec(), b"third".to_vec()]).within(&mut contents).expect("the paths exist");
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
