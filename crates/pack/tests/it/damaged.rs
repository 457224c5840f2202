//! Tests what is saved from damaged archives.

use std::fs;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::tempdir;

use crate::archive::{ended, file, folder};
use crate::tree::{fresh, in_steps, into, names, unpacker};
use deadpan_pack::{Chosen, Contents, Excerpt, Kind, Packer, Packing, Unpacking, Work, unpack};

/// Overwrites a part of an archive.
fn spoiled(archive: &[u8], begin: usize, length: usize) -> Vec<u8> {
    let mut archive = archive.to_vec();
    archive[begin..begin + length].fill(0xee);
    archive
}

fn packed(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    deadpan_pack::pack(Packer::new(folder, b"root", Packing::default()).unwrap(), &mut bytes, &Work::default())
        .unwrap();
    bytes
}

#[test]
fn after_a_damaged_header_the_next_entries_come_out() {
    let parts = [file("a", b"one"), folder("b"), file("b/c", &[7; 1500]), file("d", b""), file("e", b"two")];
    let all = ["a", "b", "b/c", "d", "e"];
    let archive = ended(&parts);
    let going = Unpacking { keep_going: true, skip_damage: true, ..fresh() };
    let mut begin = 0;
    for (part, lost) in parts.iter().zip(all) {
        for offset in [0, 100, 511] {
            let damaged = spoiled(&archive, begin + offset, 1);
            let place = tempdir().unwrap();
            assert!(into(place.path(), &damaged, fresh()).is_err(), "without keep_going");
            for step in [1, 511, 512, 513, 5000] {
                let place = tempdir().unwrap();
                let outcome = in_steps(place.path(), &damaged, step, going).unwrap();
                assert!(outcome.damaged && outcome.failed == 1, "{lost}");
                // The path of `b/c` still makes the folder.
                let there: Vec<_> = all.into_iter().filter(|it| *it != lost || *it == "b").collect();
                assert_eq!(names(place.path()), there, "{lost} in steps of {step}");
            }
        }
        begin += part.len();
    }
}

#[test]
fn an_archive_that_is_all_damage_ends() {
    let going = Unpacking { keep_going: true, skip_damage: true, ..fresh() };
    let place = tempdir().unwrap();
    let outcome = into(place.path(), &[0xee; 100_000], going).unwrap();
    assert!(outcome.damaged && outcome.entries == 0 && outcome.failed == 1);
}

#[test]
fn every_damaged_byte_of_a_pack_costs_one_entry() {
    let place = tempdir().unwrap();
    fs::create_dir(place.path().join("b")).unwrap();
    for (name, length) in [("a", 700), ("b/c", 1), ("d", 0)] {
        fs::write(place.path().join(name), vec![7; length]).unwrap();
    }
    symlink("c", place.path().join("b/l")).unwrap();
    let bytes = packed(place.path());
    let entries: Vec<_> =
        Contents::read(Cursor::new(&bytes)).unwrap().unwrap().entries().collect::<Result<_, _>>().unwrap();
    let whole = |bytes: &[u8]| {
        let contents = || Contents::read(Cursor::new(bytes.to_vec())).unwrap().unwrap();
        let (mut one, chosen) = (contents(), Chosen::all());
        let damage = Excerpt::new(chosen.entries(&mut one), contents()).damage(&|_| {}).unwrap();
        let place = tempdir().unwrap();
        let mut excerpt = Excerpt::new(chosen.entries(&mut one), contents()).around(damage.clone());
        let mut into = unpacker(place.path(), fresh());
        let outcome = unpack(&mut excerpt, &mut into, &Work::default()).unwrap();
        assert_eq!(outcome.failed, 0);
        (damage, names(place.path()), excerpt.left_out().count)
    };
    let all = ["a", "b", "b/c", "b/l", "d"];
    assert_eq!(whole(&bytes), (vec![], all.map(String::from).to_vec(), 0));
    for entry in &entries[1..] {
        for begin in (entry.begin..entry.content + entry.stored).step_by(97) {
            let (damage, names, left_out) = whole(&spoiled(&bytes, begin as usize, 1));
            let path = String::from_utf8(entry.path.clone()).unwrap();
            // Filling in the headers may not matter, but each byte of the content does.
            if damage.is_empty() {
                assert!(begin < entry.content, "{path}");
                continue;
            }
            assert!(
                damage.len() == 1 && damage[0] == (entry.begin..entry.content + entry.stored),
                "{path}: {damage:?}"
            );
            let is_folder = entry.kind == Kind::Folder;
            let there: Vec<_> = all.into_iter().filter(|it| *it != path || is_folder).collect();
            assert_eq!((names, left_out), (there.iter().map(ToString::to_string).collect(), u64::from(!is_folder)));
        }
    }
}

#[test]
fn the_root_may_be_damaged_too() {
    let place = tempdir().unwrap();
    fs::write(place.path().join("a"), [7; 700]).unwrap();
    let bytes = packed(place.path());
    let root = Contents::read(Cursor::new(&bytes)).unwrap().unwrap().find(b"").unwrap().unwrap();
    let bytes = spoiled(&bytes, root.begin as usize + 150, 2);
    let place = tempdir().unwrap();
    let mut into = unpacker(place.path(), Unpacking { keep_going: true, skip_damage: true, ..fresh() });
    into.without_index();
    let outcome = unpack(&bytes[..], &mut into, &Work::default()).unwrap();
    assert!(outcome.damaged);
    assert!(names(place.path()).iter().any(|name| name.ends_with('a')), "{:?}", fs::read_dir(place.path()).unwrap());
}

/// Gives bytes, and then an error instead of the end.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::other("a bad cable")),
            read => Ok(read),
        }
    }
}

#[test]
fn what_comes_before_an_error_of_the_input_is_unpacked() {
    let archive = [file("a", b"one"), file("b", &[7; 300_000])].concat();
    let place = tempdir().unwrap();
    let failed = unpack(Failing(&archive), &mut unpacker(place.path(), fresh()), &Work::default()).unwrap_err();
    assert!(failed.to_string().contains("a bad cable"), "{failed}");
    assert_eq!(names(place.path()), ["a", "b"]);
    assert_eq!(fs::read(place.path().join("b")).unwrap(), [7; 300_000]);
}
