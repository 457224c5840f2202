//! Tests that the archive and the index of a pack must agree.

#![allow(clippy::print_stderr)] // Tests that are skipped say so.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::MetadataExt;

use tempfile::tempdir;

use crate::archive::pack::{
    Entry, Pack, a_device, a_file, a_file_with_holes, a_fine_file, a_folder, a_hard_link, a_link, root,
};
use crate::archive::{ended, file, folder, pax};
use crate::tree::{fresh, in_steps, into, names, tree, unpacker};
use deadpan_pack::{Contents, Error, Flaw, Unpacking};

fn going() -> Unpacking {
    Unpacking { keep_going: true, ..fresh() }
}

fn sample() -> Vec<Entry> {
    let content: Vec<u8> = (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![
        root(),
        a_file("a", b"alpha"),
        a_folder("b"),
        a_fine_file("b/fine", &content),
        a_hard_link("b/hard", "a"),
        a_folder("b/in"),
        a_file("b/in/x", b""),
        a_link("b/link", "../a"),
        a_file("b.txt", &content[..1024]),
        a_file_with_holes("holes", 1 << 20, b"the end"),
    ]
}

fn pack(entries: &[Entry]) -> Vec<u8> {
    entries.iter().fold(Pack::new(), |pack, entry| pack.add(entry)).end()
}

#[test]
fn the_size_of_pieces_does_not_matter() {
    let entries = sample();
    let plain = pack(&entries);
    let blocks = entries.iter().fold(Pack::new(), |pack, entry| pack.add(entry).block()).end();
    let some = entries.iter().enumerate().fold(Pack::new(), |pack, (number, entry)| {
        let pack = pack.add(entry);
        if number % 4 == 3 { pack.block() } else { pack }
    });
    let mut trees = Vec::new();
    for archive in [plain, blocks, some.end()] {
        for step in [1, 511, 512, 513, 2000, archive.len()] {
            let target = tempdir().unwrap();
            let outcome = in_steps(target.path(), &archive, step, fresh()).unwrap();
            assert!(outcome.pack && outcome.failed == 0 && outcome.entries == 10);
            assert_eq!(outcome.root.as_deref(), Some(&b"root"[..]));
            trees.push(tree(target.path(), true));
            assert_eq!(trees.last(), trees.first(), "in steps of {step}");
            assert_eq!(target.path().metadata().unwrap().mtime(), 1_000_000_000);
        }
    }
    let fine = String::from_utf8_lossy(b"b/fine").into_owned().into_bytes();
    assert!(trees[0][&fine].contains(" -6.750000000 "), "{}", trees[0][&fine]);
    let target = tempdir().unwrap();
    into(target.path(), &pack(&entries), Unpacking { replace: true, ..Unpacking::default() }).unwrap();
    assert_eq!(&tree(target.path(), true), &trees[0]);
}

#[test]
fn every_truncation_is_found() {
    let archive = pack(&sample());
    for length in (0..archive.len()).step_by(61).chain(archive.len() - 200..archive.len()) {
        let target = tempdir().unwrap();
        let error = in_steps(target.path(), &archive[..length], 4096, fresh()).unwrap_err();
        assert!(matches!(error, Error::Truncated), "{length}: {error}");
    }
    let longer = [&archive[..], b"\0"].concat();
    for step in [1, 4096, longer.len()] {
        let target = tempdir().unwrap();
        assert!(in_steps(target.path(), &longer, step, fresh()).unwrap_err().to_string().contains("follows the end"));
    }
}

/// A pack of format version 1 has no zeros before its trailer.
#[test]
fn only_zeros_stand_before_the_trailer() {
    for length in (1..90).step_by(7) {
        let archive = pack(&[root(), a_file(&"n".repeat(length), &vec![b'x'; 150 * length])]);
        let number = |from: usize| u64::from_be_bytes(archive[archive.len() - 64 + from..][..8].try_into().unwrap());
        let zeros = (number(0) + number(8)) as usize..archive.len() - 64;
        let without = [&archive[..zeros.start], &archive[zeros.end..]].concat();
        let mut changed = archive.clone();
        if let Some(first) = zeros.clone().last() {
            changed[first] = 1;
        }
        let more = [&archive[..zeros.start], &[0; 10_240], &archive[zeros.start..]].concat();
        for step in [61, 512, 8192] {
            let unpack = |archive: &[u8]| in_steps(tempdir().unwrap().path(), archive, step, fresh());
            assert_eq!(archive.len() % 10_240, 0);
            assert!(unpack(&archive).is_ok() && unpack(&without).is_ok(), "{length}");
            assert!(unpack(&changed).is_err() || zeros.is_empty(), "{length}");
            assert!(unpack(&more).is_err(), "{length}");
        }
    }
}

/// Every byte of a pack is checked: contents by their hash, headers by the index, the index by the table, the table by
/// the trailer. Padding bytes at the end of a block are not checked. Without its marker, a pack is an ordinary archive.
#[test]
fn every_changed_byte_is_found_or_harmless() {
    let entries = [root(), a_file("a", b"alpha"), a_folder("b"), a_link("b/l", "x"), a_hard_link("c", "a")];
    let archive = pack(&entries);
    let whole = tempdir().unwrap();
    into(whole.path(), &archive, fresh()).unwrap();
    let whole = tree(whole.path(), true);
    let mut unnoticed = 0;
    let marker = 512..512 + 26;
    let places = (0..archive.len()).filter(|place| place % 5 == 0 || *place > archive.len() - 700);
    for place in places.filter(|place| !marker.contains(place)) {
        let mut changed = archive.clone();
        changed[place] ^= 0x20;
        let target = tempdir().unwrap();
        if in_steps(target.path(), &changed, changed.len(), fresh()).is_ok() {
            assert_eq!(tree(target.path(), true), whole, "byte {place}");
            unnoticed += 1;
            assert!(place < archive.len() - 700, "byte {place} of the index");
        }
    }
    // Headers have a checksum, so only changes of padding bytes are not noticed.
    assert!(unnoticed < 400, "{unnoticed}");
}

#[test]
fn entries_that_differ_from_the_index_are_removed() {
    let (good, other) = (a_file("b", b"good"), a_file("b", b"evil"));
    let differences: Vec<(&str, Entry)> = vec![
        ("content", other),
        ("size", a_file("b", b"longer")),
        ("mode", Entry { mode: 0o600, ..good.clone() }),
        ("time", Entry { seconds: 5, ..good.clone() }),
        ("nanoseconds", Entry { nanoseconds: 5, ..good.clone() }),
        ("headers", Entry { headers: 2, ..good.clone() }),
        ("path", a_file("bb", b"good")),
        ("kind", a_link("b", "good")),
    ];
    for (what, indexed) in differences {
        for in_block in [true, false] {
            let mut pack = Pack::new().add(&root()).add(&a_file("a", b"first"));
            pack.add_as(&good, &indexed);
            let archive = if in_block { pack.block().end() } else { pack.end() };
            for step in [512, archive.len()] {
                for options in [going(), Unpacking { fresh: false, ..going() }] {
                    let target = tempdir().unwrap();
                    let result = in_steps(target.path(), &archive, step, options);
                    if let Ok(outcome) = &result {
                        assert_eq!(outcome.failed, 1, "{what}: {:?}", outcome.failures);
                        assert!(outcome.failures[0].error.to_string().contains("not what the index says"), "{what}");
                    }
                    assert!(!target.path().join("b").exists(), "{what}");
                    assert_eq!(fs::read(target.path().join("a")).unwrap(), b"first", "{what}");
                }
                let target = tempdir().unwrap();
                let error = in_steps(target.path(), &archive, step, fresh()).unwrap_err();
                assert!(error.to_string().starts_with("b is not what the index says"), "{what}: {error}");
            }
        }
    }
}

#[test]
fn a_wrong_order_or_a_second_root_is_refused() {
    for (what, entries) in [
        ("twice", vec![root(), a_file("a", b""), a_file("a", b"")]),
        ("backwards", vec![root(), a_file("b", b""), a_file("a", b"")]),
        ("a folder and its contents apart", vec![root(), a_folder("a"), a_file("b", b""), a_file("a/x", b"")]),
        ("no folder", vec![root(), a_file("a/x", b"")]),
        ("under a file", vec![root(), a_file("a", b""), a_file("a/x", b"")]),
        ("under a link", vec![root(), a_link("a", "."), a_file("a/x", b"")]),
        ("a device", vec![root(), a_device("a")]),
        ("a hard link to a later entry", vec![root(), a_hard_link("a", "b"), a_file("b", b"")]),
    ] {
        let target = tempdir().unwrap();
        assert!(in_steps(target.path(), &pack(&entries), 512, fresh()).is_err(), "{what}");
    }
    let target = tempdir().unwrap();
    let two = ended(&[pax(b'g', &[("comment", b"deadpan pack 1")]), folder("root/"), file("other", b"x")]);
    assert!(in_steps(target.path(), &two, 512, going()).unwrap_err().to_string().contains("not in the root folder"));
}

#[test]
fn a_pack_without_an_index_counts_as_truncated() {
    let target = tempdir().unwrap();
    let archive = ended(&[pax(b'g', &[("comment", b"deadpan pack 1")]), folder("root/"), file("root/a", b"x")]);
    let mut unpacker = unpacker(target.path(), fresh());
    unpacker.put(&archive).unwrap().complete(&archive);
    assert!(matches!(unpacker.finish(), Err(Error::Truncated)));
    assert_eq!(unpacker.progress().until.as_deref(), Some(&b"a"[..]));
}

/// An earlier version treated an archive with this header as a pack if it read the archive in order, but not if it
/// could seek in the archive.
#[test]
fn a_header_with_the_marker_and_another_record_is_not_a_marker() {
    let marker = pax(b'g', &[("comment", b"deadpan pack 1"), ("x", b"y")]);
    let archive = [marker, ended(&[folder("root/"), file("root/a", b"alpha")])].concat();
    let target = tempdir().unwrap();
    let outcome = into(target.path(), &archive, fresh()).unwrap();
    assert!(!outcome.pack && outcome.root.is_none());
    assert_eq!(names(target.path()), ["root", "root/a"]);
    assert!(Contents::read(Cursor::new(&archive)).unwrap().is_none());
}

/// In an earlier version, the computed end of an entry with these lengths overflowed.
#[test]
fn an_index_block_with_impossible_lengths_is_refused() {
    let good = a_file("a", b"alpha");
    for (what, wrong) in [
        ("content", Entry { stored: Some(u64::MAX), ..good.clone() }),
        ("content and headers", Entry { stored: Some(u64::MAX - 1023), ..good.clone() }),
        ("headers", Entry { headers: 1 << 55, ..good.clone() }),
    ] {
        let mut pack = Pack::new().add(&root());
        pack.add_as(&good, &wrong);
        pack.add_as(&a_file("b", b"beta"), &a_file("b", b"beta"));
        let archive = pack.end();
        let target = tempdir().unwrap();
        let result = in_steps(target.path(), &archive, 700, going());
        assert!(matches!(result, Err(Error::Archive(Flaw::Index(_)))), "{what}: {result:?}");
    }
}

#[test]
fn gnu_tar_unpacks_a_pack() {
    let around = tempdir().unwrap();
    fs::write(around.path().join("pack"), pack(&sample())).unwrap();
    let status = std::process::Command::new("tar").arg("-xf").arg("pack").current_dir(around.path()).output();
    let Ok(output) = status else {
        eprintln!("skipped: tar is not installed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let target = tempdir().unwrap();
    into(target.path(), &pack(&sample()), fresh()).unwrap();
    assert_eq!(names(target.path()), names(&around.path().join("root")));
    assert_eq!(tree(target.path(), true), tree(&around.path().join("root"), true));
}
