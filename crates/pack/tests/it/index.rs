//! Tests of valid and invalid indexes of packs. A small independent writer makes the packs.

use std::io::{Cursor, Read, Seek, SeekFrom};

use crate::archive::pack::{Pack, a_far_folder, a_folder, root};
use crate::reference::{Item, Part, archive, pack, record, string, varint, with_index, with_table};
use deadpan_pack::{Contents, Entry, Error, Fault, Kind, Listed, Scan, Time};

fn items() -> Vec<Item> {
    vec![
        Item::folder(""),
        Item { mode: 0o4755, modified: Time { seconds: -1, nanoseconds: 999_999_999 }, ..Item::file("a", 1) },
        Item::folder("b"),
        Item { size: 1 << 40, ..Item { stored: 1024, ..Item::new("b/holes", Kind::Sparse) } },
        Item::link("b/link", Kind::SymbolicLink, "../away"),
        Item::folder("b/sub"),
        Item { modified: Time { seconds: i64::MIN, nanoseconds: 1 }, ..Item::file("b/sub/deep", 0) },
        Item { modified: Time { seconds: i64::MAX, nanoseconds: 0 }, ..Item::file("b/sub/next", 513) },
        Item::file(b"b/\xff\n", 512),
        Item::folder("b.c"),
        Item::link("b.c/hard", Kind::HardLink, "b/sub/next"),
        Item::file(b"b.c/".iter().copied().chain([b'n'; 150]).collect::<Vec<_>>(), 3),
        Item::file("c", 7),
    ]
}

fn read(pack: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut contents = Contents::read(Cursor::new(pack))?.expect("a pack");
    contents.entries().collect()
}

#[track_caller]
fn refused(pack: &[u8], why: &str) {
    let error = read(pack).expect_err(why);
    assert_eq!(error.fault(), Fault::Data, "{error}");
    assert!(error.to_string().contains(why) && error.fault() == Fault::Data, "no {why:?} in: {error}");
}

#[test]
fn entries_are_the_same_for_all_part_sizes() {
    let items = items();
    for counts in [&[1][..], &[2], &[3, 1], &[5], &[12], &[13], &[100]] {
        for inside in [false, true] {
            let (pack, entries) = pack(&items, counts, inside);
            assert_eq!(read(&pack).unwrap(), entries, "{counts:?} {inside}");
            let mut contents = Contents::read(Cursor::new(&pack)).unwrap().unwrap();
            assert_eq!((contents.count(), contents.root_name()), (13, &b"root"[..]));
            for entry in &entries {
                assert_eq!(contents.find(&entry.path).unwrap().as_ref(), Some(entry));
                let under = contents.under(&entry.path).collect::<Result<Vec<_>, _>>().unwrap();
                let in_it = |other: &&Entry| {
                    other.path == entry.path
                        || entry.path.is_empty()
                        || other.path.starts_with(&[&entry.path[..], b"/"].concat())
                };
                assert_eq!(
                    under,
                    entries.iter().filter(in_it).cloned().collect::<Vec<_>>(),
                    "{}",
                    entry.path.escape_ascii()
                );
            }
            for missing in [&b"0"[..], b"b/", b"b/a", b"b/sub/deep/er", b"b.", b"zzz", b"/", b"\0"] {
                assert_eq!(contents.find(missing).unwrap(), None);
                assert_eq!(contents.under(missing).count(), 0, "{}", missing.escape_ascii());
            }
        }
    }
}

#[test]
fn headers_and_index_agree() {
    let (mut items, unhashed) = (items(), |entry: Entry| Entry { hash: None, ..entry });
    // The small independent writer cannot write the extreme times of these items, so the times are replaced.
    items.iter_mut().for_each(|item| item.modified = Time { seconds: 5, nanoseconds: item.modified.nanoseconds });
    for inside in [false, true] {
        let (pack, entries) = pack(&items, &[3], inside);
        let entries: Vec<_> = entries.into_iter().map(unhashed).collect();
        let found = |listed: Result<Listed, Error>| match listed.unwrap() {
            Listed::Entry(entry) => entry,
            other => panic!("{other:?}"),
        };
        assert_eq!(Scan::stream(&pack[..]).map(found).collect::<Vec<_>>(), entries);
        let mut scan = Scan::seekable(Cursor::new(&pack)).unwrap();
        assert_eq!(scan.by_ref().map(found).collect::<Vec<_>>(), entries);
        assert_eq!((scan.is_pack(), scan.root_name()), (true, Some(&b"root"[..])));
    }
}

#[test]
fn random_trees_are_read_back() {
    let mut seed = 1_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..200 {
        let mut folders = vec![Vec::new()];
        let mut items = vec![Item::folder("")];
        for number in 0..random(60) {
            let folder = folders[random(folders.len() as u64) as usize].clone();
            let mut path = folder;
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend((0..1 + random(6)).map(|_| b"a.\xff-"[random(4) as usize]));
            path.extend(number.to_string().bytes());
            let mut item = match random(5) {
                0 => Item::folder(&path),
                1 => Item::link(&path, Kind::SymbolicLink, "x"),
                2 => Item { size: random(1 << 50), stored: random(2000), ..Item::new(&path, Kind::Sparse) },
                _ => Item::file(&path, random(3000)),
            };
            item.modified =
                Time { seconds: random(1 << 40) as i64 - (1 << 39), nanoseconds: random(1_000_000_000) as u32 };
            item.mode = random(0o10000) as u32;
            if item.kind == Kind::Folder {
                folders.push(path);
            }
            items.push(item);
        }
        let components = |item: &Item| item.path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
        items[1..].sort_by_key(components);
        let counts: Vec<_> = (0..5).map(|_| 1 + random(20) as usize).collect();
        let (pack, entries) = pack(&items, &counts, random(2) == 0);
        assert_eq!(read(&pack).unwrap(), entries);
    }
}

/// A pack with `count` folders. Each path has 60 000 bytes in the index, and few bytes in the archive.
fn far_fetched(count: u32) -> Vec<u8> {
    let long = "x".repeat(60_000);
    let mut made = Pack::new().add(&root());
    made.add_as(&a_folder("x"), &a_far_folder(&long));
    for number in 2..=count {
        made.add_as(&a_folder("x"), &a_far_folder(&format!("{long}/{number:06}")));
        // The limit applies to the paths of all parts together.
        if number % 400 == 0 {
            made = made.block();
        }
    }
    made.end()
}

/// In an earlier version, an index of 64 KiB could list gigabytes of paths.
#[test]
fn an_index_whose_paths_are_out_of_proportion_is_refused() {
    let why = "its paths have more than 64 MiB, and more than 16 times the bytes of their records";
    let fits = far_fetched(1100);
    let entries = read(&fits).unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.path.len() >= 60_000).count(), 1100);
    let beyond = far_fetched(1200);
    assert!(beyond.len() < 1_200_000, "{}", beyond.len());
    refused(&beyond, why);
    let mut contents = Contents::read(Cursor::new(&beyond)).unwrap().unwrap();
    let mut found = contents.under(&b"x".repeat(60_000));
    assert!(found.any(|entry| entry.is_err_and(|error| error.to_string().contains(why))));
    // Each lookup reads only one part, and the paths of one part do not exceed the limit.
    let last = [&b"x".repeat(60_000)[..], b"/001200"].concat();
    assert!((0..20).all(|_| contents.find(&last).unwrap().is_some()));
}

#[test]
fn the_deepest_folders_are_not_out_of_proportion() {
    let mut path = String::new();
    let mut made = Pack::new().add(&root());
    for _ in 0..1024 {
        path.push_str(if path.is_empty() { "" } else { "/" });
        path.push_str(&"x".repeat(63));
        made.add_as(&a_folder("x"), &a_far_folder(&path[..path.len().min(65_535)]));
    }
    assert_eq!(read(&made.end()).unwrap().len(), 1025);
}

#[test]
fn other_archives_and_random_bytes_are_not_packs() {
    for other in [&b""[..], b"DPNPACK\x01", &[0; 5000], &[b'g'; 5000]] {
        assert!(Contents::read(Cursor::new(other)).unwrap().is_none());
    }
}

#[test]
fn every_truncation_is_found() {
    let mut items = items();
    // The small independent writer cannot write the extreme times of these items, so the times are replaced.
    items.iter_mut().for_each(|item| item.modified = Time::default());
    let (pack, _) = pack(&items, &[4], true);
    let (whole, ..) = archive(&items, &[4], true);
    for cut in 1024..pack.len() {
        if cut == whole.len() {
            // The pack ends exactly before the index.
            assert!(Contents::read(Cursor::new(&pack[..cut])).unwrap().is_none())
        } else {
            assert!(read(&pack[..cut]).is_err(), "{cut} of {}", pack.len())
        }
    }
    refused(&pack[..pack.len() - 1], "no index at its end");
    refused(&[&pack[..], b"\0"].concat(), "no index at its end");
}

#[test]
fn every_changed_byte_of_the_index_is_found() {
    let (pack, entries) = pack(&items(), &[4], false);
    let (whole, ..) = archive(&items(), &[4], false);
    for place in whole.len()..pack.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = pack.clone();
            changed[place] ^= change;
            assert!(read(&changed).is_err(), "{change} at {place}");
        }
    }
    // The index alone cannot show that a byte of the archive has changed, but reading must not panic.
    for place in 1024..whole.len() {
        let mut changed = pack.clone();
        changed[place] ^= 0xff;
        // An archive without its two blocks of zeros is treated as if another program had changed it.
        if place < whole.len() - 1024
            && let Ok(found) = read(&changed)
        {
            assert_eq!(found, entries);
        }
    }
}

/// Returns a pack whose index has a single part, with the root and the records that `more` adds. The archive of the
/// pack is large enough for `count` entries.
fn forged(count: u32, more: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let room: Vec<_> = std::iter::once(Item::folder(""))
        .chain((1..count).map(|number| Item::file(format!("{number}"), 1000)))
        .collect();
    let (archive, _, _) = archive(&room, &[100], false);
    let mut part = Part { count, ..Part::default() };
    part.bytes.extend(1024_u64.to_be_bytes());
    part.bytes.extend(count.to_be_bytes());
    record(&mut part.bytes, &Item::folder(""), &Item::folder(""), 0, 1);
    more(&mut part.bytes);
    with_index(archive, &[part])
}

/// A pack with the root and one file. The index record of the file contains the given path.
fn forged_path(before: &str, shared: u64, suffix: &[u8]) -> Vec<u8> {
    let two = !before.is_empty();
    forged(if two { 3 } else { 2 }, |bytes| {
        if two {
            record(bytes, &Item::file(before, 1000), &Item::folder(""), 0, 1);
        }
        bytes.push(1);
        varint(bytes, shared);
        string(bytes, suffix);
        bytes.extend([0, 1, 0, 0, 0]);
        varint(bytes, 1000);
        bytes.extend([0; 32]);
    })
}

#[test]
fn invalid_paths_are_refused() {
    assert_eq!(read(&forged_path("a", 1, b"b")).unwrap()[2].path, b"ab");
    assert_eq!(read(&forged_path("ab", 0, b"abc")).unwrap()[2].path, b"abc", "sharing less than it could");
    for (before, shared, suffix, why) in [
        ("", 0, &b"../x"[..], "the folder of a path is missing"),
        ("", 0, b"..", "leads out of its folder"),
        ("", 0, b".", "leads out of its folder"),
        ("", 0, b"", "not in order"),
        ("", 0, b"/x", "leads out of its folder"),
        ("", 0, b"x\0", "leads out of its folder"),
        ("", 0, b"no/x", "the folder of a path is missing"),
        ("", 1, b"x", "shares more bytes"),
        ("", u64::MAX, b"x", "shares more bytes"),
        ("", 0, &[b'x'; 65_536], "longer than 65 535"),
        ("b", 0, b"a", "not in order"),
        ("b", 0, b"b", "not in order"),
        ("b", 1, b"", "not in order"),
        ("b", 1, b"/x", "the folder of a path is missing"),
        ("b", 2, b"x", "shares more bytes"),
    ] {
        refused(&forged_path(before, shared, suffix), why);
    }
}

#[test]
fn invalid_numbers_are_refused() {
    let file = |fields: &[&[u8]]| {
        forged(2, |bytes| {
            bytes.extend([1, 0, 1, b'x']);
            fields.iter().for_each(|field| bytes.extend(*field));
            bytes.extend([0; 32]);
        })
    };
    const SIZE: &[u8] = &[0xe8, 7];
    const HUGE: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert!(read(&file(&[b"\0\x01\0\0\0", SIZE])).is_ok());
    for (bad, why) in [
        (&[&b"\x80\0\x01\0\0\0"[..], SIZE][..], "not valid LEB128"),
        (&[b"\0\x81\0\0\0\0", SIZE], "not valid LEB128"),
        (&[b"\x01\x01\0\0\0", SIZE], "does not begin where"),
        (&[HUGE, b"\x01\0\0\0", SIZE], "does not begin where"),
        (&[b"\0\0\0\0\0", SIZE], "an entry has an impossible length"),
        (&[b"\0\x02\0\0\0", SIZE], "an entry has an impossible length"),
        (&[b"\0", HUGE, b"\0\0\0", SIZE], "an entry has an impossible length"),
        (&[b"\0\x01\x80\x20\0\0", SIZE], "a mode"),
        (&[b"\0\x01", HUGE, b"\0\0", SIZE], "a mode"),
        (&[b"\0\x01\0\0\x80\x94\xeb\xdc\x03", SIZE], "a time"),
        (&[b"\0\x01\0\0\0", HUGE], "an entry has an impossible length"),
        (&[b"\0\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"], "an entry has an impossible length"),
        (&[b"\0\x01\0\0\0\x01"], "entries are missing"),
    ] {
        refused(&file(bad), why);
    }
    refused(&forged(2, |bytes| bytes.extend([6; 40])), "the kind of an entry is unknown");
    refused(&forged(2, |bytes| bytes.extend([0; 40])), "the kind of an entry is unknown");
    refused(&forged(1, |bytes| bytes.push(0)), "bytes after its last entry");
    refused(&forged(2, |bytes| bytes.extend([1, 0, 1, b'x', 0, 1, 0, 0, 0, 1, 0])), "within a record");
    refused(&forged(2, |bytes| bytes.extend([3, 0, 1, b'x', 0, 1, 0, 0, 0, 0])), "a link has no valid target");
    refused(&forged(2, |bytes| bytes.extend(b"\x04\0\x01x\0\x01\0\0\0\x01y")), "not an earlier file or link");
    refused(&forged(2, |bytes| bytes.extend(b"\x04\0\x01x\0\x01\0\0\0\x02..")), "not an earlier file or link");
}

/// One row of the table.
fn row(offset: u64, length: u32, count: u32, hash: [u8; 32], path: &[u8]) -> Vec<u8> {
    let path = [&(path.len() as u16).to_be_bytes(), path].concat();
    [&offset.to_be_bytes()[..], &length.to_be_bytes(), &count.to_be_bytes(), &hash, &path].concat()
}

#[test]
fn invalid_tables_are_refused() {
    let (archive, parts, _) = archive(&[Item::folder(""), Item::file("a", 1)], &[1], false);
    let mut whole = archive.clone();
    let begin = whole.len() as u64;
    let lengths: Vec<_> = parts.iter().map(|part| part.bytes.len() as u32).collect();
    let hashes: Vec<_> = parts.iter().map(|part| *blake3::hash(&part.bytes).as_bytes()).collect();
    parts.iter().for_each(|part| whole.extend(&part.bytes));
    let (first, second) =
        (row(begin, lengths[0], 1, hashes[0], b""), row(begin + u64::from(lengths[0]), lengths[1], 1, hashes[1], b"a"));
    let table = |rows: &[&[u8]], entries, parts| with_table(whole.clone(), &rows.concat(), entries, parts);
    assert!(read(&table(&[&first, &second], 2, 2)).is_ok());
    refused(&table(&[&first, &second], 3, 2), "counts do not agree");
    refused(&table(&[&first, &second], 1 << 63, 2), "counts do not agree");
    refused(&table(&[&first, &second], 2, 1), "counts do not agree");
    refused(&table(&[&second, &first], 2, 2), "paths in its table");
    refused(&table(&[&first, &first], 2, 2), "paths in its table");
    refused(&table(&[&first, &second[..50]], 2, 2), "within a row");
    refused(&table(&[], 0, 0), "it is empty");
    refused(&table(&[&first], 1, 1), "a part has an impossible position");
    for (offset, length, count, why) in [
        (begin, lengths[1], 1, "a part has an impossible position"),
        (u64::MAX, lengths[1], 1, "a part has an impossible position"),
        (0, lengths[1], 1, "a part has an impossible position"),
        (begin + u64::from(lengths[0]), u32::MAX, 1, "impossible length"),
        (begin + u64::from(lengths[0]), 1 << 20 | 1, 1, "impossible length"),
        (begin + u64::from(lengths[0]), lengths[1], 0, "impossible length"),
        (begin + u64::from(lengths[0]), lengths[1], u32::MAX, "impossible length"),
    ] {
        let second = row(offset, length, count, hashes[1], b"a");
        refused(&table(&[&first, &second], 1 + u64::from(count), 2), why);
    }
    let second = row(begin + u64::from(lengths[0]), lengths[1], 2, hashes[1], b"a");
    refused(&table(&[&first, &second], 3, 2), "the first fields of a part");
    let second = row(begin + u64::from(lengths[0]), lengths[1], 1, hashes[1], b"b");
    refused(&table(&[&first, &second], 2, 2), "differs from its path in the table");
    let second = row(begin + u64::from(lengths[0]), lengths[1], 1, hashes[1], b"no/a");
    refused(&table(&[&first, &second], 2, 2), "the folder of a path is missing");
}

#[test]
fn lengths_beyond_the_file_take_no_memory() {
    let (pack, _) = pack(&items(), &[4], false);
    for (place, bytes) in [(0, u64::MAX), (0, 0), (8, u64::MAX), (8, 1 << 62), (8, 0)] {
        let mut changed = pack.clone();
        let at = pack.len() - 64 + place;
        changed[at..at + 8].copy_from_slice(&bytes.to_be_bytes());
        refused(&changed, "its table");
    }
}

/// The zeros before the trailer make the length of the pack a multiple of GNU tar's record size. Packs of format
/// version 1 have no zeros before the trailer.
#[test]
fn only_zeros_stand_between_the_table_and_the_trailer() {
    let mut lengths = std::collections::BTreeSet::new();
    for length in (0..12_000).step_by(97) {
        let items = [Item::folder(""), Item::link("l", Kind::SymbolicLink, vec![b'x'; 1 + length])];
        let (pack, entries) = pack(&items, &[100], false);
        assert_eq!((pack.len() % 10_240, read(&pack).unwrap()), (0, entries.clone()));
        let end = |from: usize| u64::from_be_bytes(pack[pack.len() - 64 + from..][..8].try_into().unwrap()) as usize;
        let zeros = end(0) + end(8)..pack.len() - 64;
        lengths.insert(zeros.len());
        let without = [&pack[..zeros.start], &pack[zeros.end..]].concat();
        assert_eq!(read(&without).unwrap(), entries);
        if let Some(first) = zeros.clone().next() {
            let mut changed = pack.clone();
            changed[first] = 1;
            refused(&changed, "between its table and its trailer");
        }
        if zeros.len() > 1 {
            refused(&[&pack[..zeros.start], &pack[zeros.start + 1..]].concat(), "not where the trailer says");
        }
        let more = [&pack[..zeros.start], &[0; 10_240], &pack[zeros.start..]].concat();
        refused(&more, "not where the trailer says");
    }
    assert!(lengths.len() > 60, "{lengths:?}");
}

/// A reader that counts its bytes.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn finding_reads_one_part() {
    let names: Vec<_> = (0..1000).map(|number| Item::file(format!("{number:04}"), 0)).collect();
    let items: Vec<_> = std::iter::once(Item::folder("")).chain(names).collect();
    let (pack, entries) = pack(&items, &[100], false);
    let mut contents = Contents::read(Counted(Cursor::new(&pack), 0)).unwrap().unwrap();
    for entry in [&entries[0], &entries[1], &entries[500], &entries[1000]] {
        assert_eq!(contents.find(&entry.path).unwrap().as_ref(), Some(entry));
    }
    assert_eq!(contents.find(b"0999x").unwrap(), None);
    let part = 100 * 44 + 12;
    let before = 70_000 + 11 * 60;
    assert!(contents.into_inner().1 < before + 5 * part, "five parts, the table, and the start for the root's name");
}

/// `cargo test --release -p deadpan-pack --test it index:: -- --ignored --nocapture`
#[test]
#[ignore = "takes seconds; for measuring"]
fn a_million_entries() {
    let mut items = vec![Item::folder("")];
    for folder in 0..1000 {
        items.push(Item::folder(format!("folder-{folder:04}")));
        items.extend((0..999).map(|file| Item::file(format!("folder-{folder:04}/photograph-{file:04}.jpeg"), 0)));
    }
    let (pack, entries) = pack(&items, &[2000], false);
    let start = std::time::Instant::now();
    let mut contents = Contents::read(Cursor::new(&pack)).unwrap().unwrap();
    let opened = start.elapsed();
    let bytes: u64 = contents.entries().map(|entry| entry.unwrap().path.len() as u64).sum();
    let listed = start.elapsed() - opened;
    assert_eq!(bytes, entries.iter().map(|entry| entry.path.len() as u64).sum());
    let start = std::time::Instant::now();
    for entry in entries.iter().step_by(entries.len() / 1000) {
        assert_eq!(contents.find(&entry.path).unwrap().as_ref(), Some(entry));
    }
    let found = start.elapsed() / 1000;
    #[expect(clippy::print_stderr, reason = "what it is for")]
    {
        eprintln!("{} entries: open {opened:?}, all {listed:?}, find one {found:?}", entries.len());
    }
    if let Some(path) = std::env::var_os("DEADPAN_TEST_PACK") {
        std::fs::write(path, &pack).unwrap();
    }
}
