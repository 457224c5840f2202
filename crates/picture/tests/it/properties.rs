//! Carriers with random data, sizes, orders and losses: the written data can be read again, and lost or changed bytes
//! are found.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::carrier::{OPEN, Picture, read};
use deadpan_picture::carrier::{Carrier, Layout, Writer};
use deadpan_picture::{Error, Format, Label, Reader, Set, Sets};

#[derive(Clone, Debug)]
struct Case {
    layout: Layout,
    spares: u32,
    data: Vec<u8>,
    /// The data are written in pieces of this length, in a random order that depends on `seed`.
    step: usize,
    seed: u64,
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random(&mut seed) % (last as u64 + 1)) as usize);
    }
}

/// Sets of 1 to 6 pictures and up to `spares` spare pictures.
fn cases(spares: u32) -> impl Strategy<Value = Case> {
    let size = (any::<bool>(), 1..90_u32, 1..90_u32).prop_filter_map("too small", |(png, width, height)| {
        let format = if png { Format::Png } else { Format::WebP };
        Layout::new(format, width, height).ok().filter(|layout| layout.part() > 0)
    });
    let fill = (0..6_usize, any::<Index>(), 1..3000_usize);
    (size, fill, 0..=spares, any::<u64>()).prop_map(|(layout, (full, last, step), spares, seed)| {
        let part = layout.part() as usize;
        let mut state = seed;
        let data = (0..full * part + last.index(part + 1)).map(|_| random(&mut state) as u8).collect();
        Case { layout, spares, data, step, seed }
    })
}

/// A set in a folder.
struct Written {
    folder: TempDir,
    labels: Vec<Label>,
}

impl Written {
    fn new(case: &Case) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let create = |index: u32| {
            let path = folder.path().join(index.to_string());
            File::options().read(true).write(true).create(true).truncate(false).open(path)
        };
        let writer = Writer::new(case.layout, create).expect("a layout");
        let mut pieces: Vec<_> = case.data.chunks(case.step).enumerate().collect();
        shuffle(&mut pieces, case.seed);
        for (number, piece) in pieces {
            writer.write_all_at(piece, (number * case.step) as u64).expect("written");
        }
        let labels = writer.finish([7; 16], case.spares).expect("finished").labels;
        Self { folder, labels }
    }

    fn path(&self, index: u32) -> PathBuf {
        self.folder.path().join(index.to_string())
    }

    /// Recognizes these pictures, in this order.
    fn set(&self, indexes: &[u32]) -> Option<Set<Picture>> {
        let mut sets = Sets::new();
        for &index in indexes {
            let path = self.path(index);
            if let Ok(Some(carrier)) = Carrier::recognize(&File::open(&path).expect("a file")) {
                sets.add(carrier.label, (path, carrier));
            }
        }
        let mut sets = sets.into_sets();
        assert!(sets.len() <= 1, "one set");
        sets.pop()
    }
}

/// Runs a test on random cases. If a test fails, the smallest failing case is printed.
fn check<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) {
    let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn any_set_comes_back_in_any_order_with_pictures_that_come_twice() {
    let strategy = (cases(3), any::<u64>(), prop::collection::vec(any::<Index>(), 0..4));
    check(&strategy, |(case, order, doubled)| {
        let written = Written::new(&case);
        let count = written.labels.len() as u32;
        assert_eq!(count - case.spares, case.layout.pictures(case.data.len() as u64).expect("few pictures"));
        let doubled: Vec<u32> = doubled.iter().map(|index| index.index(count as usize) as u32).collect();
        let mut indexes: Vec<u32> = (0..count).chain(doubled.iter().copied()).collect();
        shuffle(&mut indexes, order);
        let set = written.set(&indexes).expect("a set");
        let twice: Vec<u32> = set.doubled().map(|(label, _)| label.index).collect();
        assert_eq!(twice, Vec::from_iter(BTreeSet::from_iter(doubled)));
        assert_eq!((set.missing().count(), set.conflicts().count()), (0, 0));
        assert!(set.pictures().map(|(label, _)| label).eq(&written.labels));
        let reader = Reader::new(set, OPEN).expect("complete");
        assert_eq!(read(&reader), case.data);
        assert!(reader.damaged().is_empty());
    });
}

#[test]
fn ranges_are_slices_of_the_data() {
    let ranges = prop::collection::vec((any::<Index>(), any::<Index>()), 1..20);
    check(&(cases(0), ranges), |(case, ranges)| {
        let written = Written::new(&case);
        let indexes: Vec<u32> = (0..written.labels.len() as u32).collect();
        let reader = Reader::new(written.set(&indexes).expect("a set"), OPEN).expect("complete");
        for (from, length) in ranges {
            // The read may begin up to two bytes after the end of the data.
            let from = from.index(case.data.len() + 3);
            let mut buffer = vec![0x5c; length.index(case.data.len() + 70)];
            let there = case.data.get(from..).unwrap_or_default();
            let expected = &there[..there.len().min(buffer.len())];
            assert_eq!(reader.read_at(&mut buffer, from as u64).expect("read"), expected.len());
            assert_eq!(&buffer[..expected.len()], expected, "from {from}");
            assert!(buffer[expected.len()..].iter().all(|byte| *byte == 0x5c), "written after the end");
        }
        // Pieces that overlap give the same checksums.
        assert!(reader.damaged().is_empty());
    });
}

#[test]
fn a_missing_picture_is_named() {
    check(&(cases(0), any::<Index>()), |(case, lost)| {
        let written = Written::new(&case);
        let count = written.labels.len() as u32;
        let lost = lost.index(count as usize) as u32;
        let rest: Vec<u32> = (0..count).filter(|index| *index != lost).collect();
        let Some(set) = written.set(&rest) else { return assert_eq!(count, 1) };
        assert!(set.missing().flatten().eq([lost]));
        assert!(!set.is_complete() && !set.is_readable());
        let result = Reader::new(set, OPEN);
        assert!(matches!(result, Err(Error::MissingPictures { missing: 1, spares: 0, .. })));
    });
}

#[test]
fn a_changed_byte_of_a_part_is_named() {
    let found = Cell::new(0);
    check(&(cases(0), any::<Index>(), any::<Index>(), 1..=255_u8), |(case, picture, byte, change)| {
        let written = Written::new(&case);
        let indexes: Vec<u32> = (0..written.labels.len() as u32).collect();
        let label = written.labels[picture.index(indexes.len())];
        let part = &case.data[label.offset as usize..][..label.length as usize];
        // Finds the byte in the file by means of its neighboring bytes. In narrow PNG pictures, filter bytes may be
        // stored between the bytes of the part.
        let Some(around) = part.len().checked_sub(8).map(|last| &part[byte.index(last + 1)..][..8]) else { return };
        let mut file = fs::read(written.path(label.index)).expect("a file");
        let Some(at) = file.windows(8).position(|bytes| bytes == around) else { return };
        file[at + usize::from(change % 8)] ^= change;
        fs::write(written.path(label.index), file).expect("written");
        for read_before in [false, true] {
            let reader = Reader::new(written.set(&indexes).expect("a set"), OPEN).expect("complete");
            assert!(!read_before || read(&reader) != case.data);
            let damaged: Vec<u32> = reader.damaged().iter().map(|damage| damage.index).collect();
            assert_eq!(damaged, [label.index]);
        }
        found.set(found.get() + 1);
    });
    assert!(found.get() >= 24, "only {} changes hit a part", found.get());
}

#[test]
fn a_changed_byte_anywhere_is_named_or_does_no_harm() {
    check(&(cases(0), any::<Index>(), any::<Index>(), 1..=255_u8), |(case, picture, byte, change)| {
        let written = Written::new(&case);
        let indexes: Vec<u32> = (0..written.labels.len() as u32).collect();
        let changed = written.path(picture.index(indexes.len()) as u32);
        let mut file = fs::read(&changed).expect("a file");
        let at = byte.index(file.len());
        file[at] ^= change;
        fs::write(&changed, file).expect("written");
        // A picture whose label was damaged is not recognized, so its part is missing.
        let Some(set) = written.set(&indexes) else { return assert_eq!(indexes.len(), 1) };
        let Ok(reader) = Reader::new(set, OPEN) else { return };
        assert_eq!(read(&reader) == case.data, reader.damaged().is_empty(), "byte {at}");
    });
}

#[test]
fn spare_pictures_replace_as_many_lost_or_changed_ones() {
    let strategy = (cases(4), any::<u64>(), any::<Index>(), any::<bool>());
    check(&strategy, |(case, order, lost, damage)| {
        let written = Written::new(&case);
        let mut indexes: Vec<u32> = (0..written.labels.len() as u32).collect();
        shuffle(&mut indexes, order);
        let away = indexes.split_off(indexes.len() - lost.index(case.spares as usize + 1));
        // One of the lost pictures may be present with a wrong part.
        let bad = away.first().filter(|index| damage && written.labels[**index as usize].length > 0);
        if let Some(&bad) = bad {
            let path = written.path(bad);
            let mut file = fs::read(&path).expect("a file");
            let at = file.len() / 2;
            file[at] ^= 0x10;
            fs::write(&path, file).expect("written");
            indexes.insert(0, bad);
        }
        let set = written.set(&indexes).expect("a set");
        assert!(set.is_readable());
        let complete = set.is_complete();
        let reader = Reader::recovering(set, OPEN, tempfile::tempfile).expect("recovered");
        // If no picture is missing, no picture is checked.
        if !complete || bad.is_none_or(|bad| written.labels[*bad as usize].is_spare()) {
            assert_eq!(read(&reader), case.data);
        }
        // If one more picture that carries data is lost, the data cannot be read.
        let data = |index: &&u32| !written.labels[**index as usize].is_spare();
        if away.len() == case.spares as usize && bad.is_none() {
            let one_more = *indexes.iter().find(data).unwrap_or(&u32::MAX);
            let rest: Vec<u32> = indexes.iter().copied().filter(|index| *index != one_more).collect();
            if let Some(set) = written.set(&rest).filter(|_| rest.len() < indexes.len()) {
                let result = Reader::recovering(set, OPEN, tempfile::tempfile);
                assert!(matches!(result, Err(Error::MissingPictures { .. })), "too many are missing");
            }
        }
    });
}
