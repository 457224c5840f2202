//! Tests harmful labels through the public API: such a label is refused, or belongs to a set that is not read. Also
//! tests that sets of many pictures are read with few open files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Open;
use deadpan_picture::carrier::{Carrier, Layout, Writer};
use deadpan_picture::{Error, Format, Label, Opened, Reader, Set, Sets, checksum, spare};

const FIRST: Label =
    Label { set: [1; 16], index: 0, count: 3, spares: 0, length: 64, offset: 0, total: 192, checksum: 0 };
const SECOND: Label = Label { index: 1, offset: 64, ..FIRST };
const THIRD: Label = Label { index: 2, offset: 128, ..FIRST };

/// A set of parts in memory.
fn set(pictures: impl IntoIterator<Item = (Label, Vec<u8>)>) -> Set<Vec<u8>> {
    let mut sets = Sets::new();
    pictures.into_iter().for_each(|(label, part)| sets.add(label, part));
    let mut sets = sets.into_sets();
    assert_eq!(sets.len(), 1);
    sets.remove(0)
}

const FROM_MEMORY: Open<'static, Vec<u8>> = &|part| Ok(Opened::Bytes(part.clone()));

/// All orders of three items.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

#[test]
fn labels_at_the_limits_are_possible_and_those_beyond_are_not() {
    let most = u64::MAX;
    let possible = [
        Label { count: 65_536, index: 65_535, offset: 128, ..FIRST },
        Label { count: 32_767, spares: 1, index: 32_767, ..FIRST },
        Label { count: 1, spares: 80, index: 80, ..FIRST },
        Label { count: 100, spares: 1664, index: 1763, offset: 0, ..FIRST },
        Label { count: 2000, spares: 30_768, index: 32_767, offset: 0, ..FIRST },
        Label { total: most, offset: most - 64, ..FIRST },
        Label { length: 0, total: 0, ..FIRST },
        Label { length: u32::MAX, total: u64::from(u32::MAX), ..FIRST },
    ];
    for label in possible {
        assert_eq!(Label::from_bytes(&label.to_bytes()), Some(label), "{label:?}");
    }
    let impossible = [
        Label { count: 65_537, ..FIRST },
        Label { count: u32::MAX, ..FIRST },
        Label { count: 32_768, spares: 1, ..FIRST },
        Label { count: 1, spares: 81, ..FIRST },
        Label { count: 100, spares: 1665, ..FIRST },
        Label { count: 1, spares: 32_767, ..FIRST },
        Label { count: 1, spares: 32_768, ..FIRST },
        Label { count: 1, spares: u32::MAX, ..FIRST },
        Label { count: u32::MAX, spares: u32::MAX, index: u32::MAX, offset: 0, ..FIRST },
        Label { count: 0, spares: 3, ..FIRST },
        Label { index: 3, ..FIRST },
        Label { index: u32::MAX, ..FIRST },
        Label { index: 5, spares: 2, ..FIRST },
        Label { total: 0, ..FIRST },
        Label { total: 0, offset: 1, length: 0, ..FIRST },
        Label { total: most, offset: most - 63, ..FIRST },
        Label { total: most, offset: most, length: 1, ..FIRST },
        Label { length: 193, ..FIRST },
        Label { spares: 1, index: 3, length: 63, ..FIRST },
        Label { spares: 1, index: 3, offset: 1, ..FIRST },
    ];
    for label in impossible {
        assert_eq!(Label::from_bytes(&label.to_bytes()), None, "{label:?}");
    }
}

#[test]
fn parts_that_overlap_or_leave_gaps_are_no_data() {
    let wrong = [
        [FIRST, Label { offset: 63, ..SECOND }, THIRD],
        [FIRST, Label { offset: 65, ..SECOND }, THIRD],
        [FIRST, Label { length: 63, ..SECOND }, THIRD],
        [FIRST, Label { length: 65, ..SECOND }, THIRD],
        [Label { offset: 1, ..FIRST }, SECOND, THIRD],
        [FIRST, SECOND, Label { length: 63, ..THIRD }],
        // Sets in which the parts are in another order, all parts have the same offset, or each part contains all data.
        [Label { offset: 64, ..FIRST }, Label { offset: 0, ..SECOND }, THIRD],
        [FIRST, Label { offset: 0, ..SECOND }, Label { offset: 0, ..THIRD }],
        [Label { length: 192, ..FIRST }, SECOND, Label { offset: 0, length: 192, ..THIRD }],
        // Some pictures carry no data.
        [Label { length: 128, ..FIRST }, Label { offset: 128, length: 0, ..SECOND }, THIRD],
        [FIRST, Label { length: 128, ..SECOND }, Label { offset: 192, length: 0, ..THIRD }],
    ];
    let parts = |labels: [Label; 3]| labels.map(|label| (label, vec![7; label.length as usize]));
    for labels in wrong {
        for order in ORDERS {
            let parts = parts(labels);
            let result = Reader::new(set(order.map(|at| parts[at].clone())), FROM_MEMORY);
            assert!(matches!(result, Err(Error::Contradiction)), "{labels:?}");
        }
    }
    let reader = Reader::new(set(parts([FIRST, SECOND, THIRD])), FROM_MEMORY).expect("without gaps");
    assert_eq!(reader.length(), 192);
}

#[test]
fn lengths_near_the_largest_number_do_not_overflow() {
    let most = u64::MAX;
    let at_the_end = Label { index: 2, offset: most - 64, total: most, ..FIRST };
    let labels = [Label { total: most, ..FIRST }, Label { index: 1, offset: 64, total: most, ..FIRST }, at_the_end];
    let whole = set(labels.map(|label| (label, vec![0; 64])));
    assert!(matches!(Reader::new(whole, FROM_MEMORY), Err(Error::Contradiction)));
    // The offsets of missing parts are computed from the labels of other pictures.
    for present in 0..8_u32 {
        for length in [64, u32::MAX / 64 * 64] {
            let spare = Label { index: 3, length, total: most, offset: 0, ..FIRST };
            let there = labels.into_iter().filter(|label| present >> label.index & 1 == 1);
            let pictures = there.chain((3..6).map(|index| Label { index, ..spare }));
            let set = set(pictures.map(|label| (Label { spares: 3, ..label }, vec![0; 64])));
            let mut known = (0..8).filter_map(|index| set.part(index));
            assert!(known.all(|(offset, length)| offset.checked_add(length.into()).is_some()));
            let result = Reader::recovering(set, FROM_MEMORY, tempfile::tempfile);
            assert!(matches!(result, Err(Error::Contradiction)), "{present:b}, {length}: {:?}", result.err());
        }
    }
}

#[test]
fn labels_that_cannot_be_read_from_a_picture_do_no_harm_either() {
    let most = u32::MAX;
    let labels = [
        Label { index: 3, ..FIRST },
        Label { index: most, ..FIRST },
        Label { index: most, count: most, spares: most, ..FIRST },
        Label { index: most - 1, count: most, ..FIRST },
        Label { index: 0, count: 0, ..FIRST },
        Label { offset: u64::MAX, ..FIRST },
        Label { offset: u64::MAX, index: 1, ..FIRST },
    ];
    for label in labels {
        let set = set([(label, vec![0; 64])]);
        for index in [0, 1, 2, 3, most - 1, most] {
            let _ = (set.part(index), set.picture(index), set.claims(index).count());
        }
        assert!(set.missing().count() <= 3);
        let _ = (set.lost(), set.spares_present(), set.is_readable());
        assert!(Reader::new(set.clone(), FROM_MEMORY).is_err(), "{label:?}");
        assert!(Reader::recovering(set, FROM_MEMORY, tempfile::tempfile).is_err(), "{label:?}");
    }
}

#[test]
fn one_picture_of_65536_names_the_others() {
    let label = Label { count: 65_536, index: 1000, offset: 64_000, total: 65_536 * 64, ..FIRST };
    let set = set([(label, vec![0; 64])]);
    assert_eq!(set.missing().collect::<Vec<_>>(), [0..1000, 1001..65_536]);
    assert_eq!((set.lost(), set.is_readable()), (65_535, false));
    let result = Reader::recovering(set, FROM_MEMORY, || panic!("no scratch file is needed"));
    assert!(matches!(result, Err(Error::MissingPictures { missing: 65_535, spares: 0, .. })));
}

#[test]
fn one_of_all_possible_spare_pictures_is_enough_for_one_picture() {
    let (spares, data) = (spare::most_spares(1), *b"a straight face");
    let last = Mutex::new(Vec::new());
    let read = |_, buffer: &mut [u8], at: u64| {
        let rest = data.get(at as usize..).unwrap_or_default();
        buffer.fill(0);
        buffer[..rest.len()].copy_from_slice(rest);
        Ok(())
    };
    let write = |index, bytes: &[u8], _| {
        if index == spares - 1 {
            *last.lock().expect("no panic") = bytes.to_vec();
        }
        Ok(())
    };
    spare::encode(1, spares, 64, &read, &write).expect("encoded");
    let part = last.into_inner().expect("no panic");
    let total = data.len() as u64;
    let label =
        Label { index: spares, count: 1, spares, length: 64, offset: 0, total, checksum: checksum(&part), ..FIRST };
    assert_eq!(Label::from_bytes(&label.to_bytes()), Some(label));
    let reader = Reader::recovering(set([(label, part)]), FROM_MEMORY, tempfile::tempfile).expect("recovered");
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    assert_eq!(back, data);
}

/// In an earlier version, a forged picture of 64 KiB that stated 32 767 spare pictures kept `reveal` busy for five
/// seconds. An earlier version was busy for minutes with a compressed forged picture of a thousand bytes.
#[test]
fn one_picture_cannot_stand_for_thousands() {
    let (part, spares) = (vec![0; 64], spare::MOST - 1);
    let label = Label { index: 1, count: 1, spares, length: 64, total: 64, checksum: checksum(&part), ..FIRST };
    assert_eq!(Label::from_bytes(&label.to_bytes()), None);
    let open: Open<'_, Vec<u8>> = &|_| panic!("no picture is opened");
    let result = Reader::recovering(set([(label, part)]), open, || panic!("no scratch file is needed"));
    assert!(matches!(result, Err(Error::TooManySpares { count: 1, spares: 32_767, most: 80 })), "{:?}", result.err());
    for (count, most) in [(1, 80), (2, 96), (1923, 30_832), (2000, 30_768), (32_767, 1), (32_768, 0), (u32::MAX, 0)] {
        assert_eq!(spare::most_spares(count), most);
        assert_eq!(spare::check(count, most).is_ok(), count <= spare::MOST);
        assert!(spare::check(count, most + 1).is_err());
    }
}

/// In an earlier version, the code ran again for each damaged spare picture, and each run opened all pictures for each
/// stripe.
#[test]
fn each_picture_is_opened_once_however_many_are_damaged() {
    const PART: usize = 1 << 20;
    const SPARES: u32 = 9;
    let byte = |seed: u32, at: u32| (at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8;
    let parts: Vec<Vec<u8>> = (1..6).map(|seed| (0..PART as u32).map(|at| byte(seed * 77_777, at)).collect()).collect();
    let spares = Mutex::new(vec![vec![0; PART]; SPARES as usize]);
    let read = |index: u32, buffer: &mut [u8], at: u64| {
        buffer.copy_from_slice(&parts[index as usize][at as usize..][..buffer.len()]);
        Ok(())
    };
    let write = |index: u32, bytes: &[u8], at: u64| {
        spares.lock().expect("no panic")[index as usize][at as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    };
    spare::encode(5, SPARES, PART as u64, &read, &write).expect("encoded");
    let total = 5 * PART as u64;
    let all: Vec<_> = parts.iter().cloned().chain(spares.into_inner().expect("no panic")).collect();
    let pictures = |damaged: &[u32]| {
        let pictures = (0..).zip(&all).map(|(index, part)| {
            let offset = if index < 5 { u64::from(index) * PART as u64 } else { 0 };
            let checksum = checksum(part);
            let length = PART as u32;
            (Label { index, count: 5, spares: SPARES, length, offset, total, checksum, ..FIRST }, part.clone())
        });
        let mut pictures: Vec<_> = pictures.collect();
        damaged.iter().for_each(|index| pictures[*index as usize].1[PART - 1] ^= 1);
        // Two pictures are missing.
        pictures.drain(1..3);
        set(pictures)
    };
    let opened = AtomicUsize::new(0);
    let open: Open<'_, Vec<u8>> = &|part| {
        opened.fetch_add(1, Ordering::Relaxed);
        FROM_MEMORY(part)
    };
    let reader = Reader::recovering(pictures(&[0, 5, 6, 7, 9]), open, tempfile::tempfile).expect("recovered");
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    assert!(back == parts.concat());
    let rejected: Vec<u32> = reader.rejected().iter().map(|(index, _)| *index).collect();
    assert!(rejected == [0, 5, 6, 7, 9], "{rejected:?}");
    assert!(opened.load(Ordering::Relaxed) <= 12, "{opened:?} for 12 pictures");

    opened.store(0, Ordering::Relaxed);
    let result = Reader::recovering(pictures(&[0, 4, 5, 6, 7, 8, 9, 10, 11]), open, tempfile::tempfile);
    let Err(Error::MissingPictures { missing: 4, damaged, .. }) = result else { panic!("{:?}", result.err()) };
    assert!(damaged.starts_with(&[0, 4, 5, 6]), "{damaged:?}");
    assert!(opened.load(Ordering::Relaxed) <= 12, "{opened:?} for 12 pictures");
}

/// A copy replaces a damaged spare picture, and the copy is checked, too.
#[test]
fn copies_of_damaged_spare_pictures_are_checked() {
    let good = vec![9; 64];
    let label = Label { index: 1, count: 1, spares: 1, length: 64, total: 64, checksum: checksum(&good), ..FIRST };
    let copies = [vec![1; 64], vec![2; 64], good.clone(), vec![3; 64]].map(|part| (label, part));
    let reader = Reader::recovering(set(copies.clone()), FROM_MEMORY, tempfile::tempfile).expect("recovered");
    assert_eq!(reader.rejected(), [(1, vec![1; 64]), (1, vec![2; 64])]);
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    assert_eq!(back, good);
    let result =
        Reader::recovering(set(copies.into_iter().filter(|(_, part)| *part != good)), FROM_MEMORY, tempfile::tempfile);
    let Err(Error::MissingPictures { missing: 1, spares: 0, damaged }) = result else { panic!("{:?}", result.err()) };
    assert_eq!(damaged, [1, 1, 1]);
}

#[test]
fn spare_pictures_that_claim_gigabytes_are_rejected() {
    // According to the labels, two lost pictures carry 8 GiB, but the spare pictures have only 64 bytes.
    let length = u32::MAX / 64 * 64;
    let total = 2 * u64::from(length);
    let label = |index| Label { index, count: 2, spares: 2, length, offset: 0, total, checksum: 0, ..FIRST };
    let set = set([2, 3].map(|index| (label(index), vec![0; 64])));
    assert!(set.is_readable());
    let result = Reader::recovering(set, FROM_MEMORY, tempfile::tempfile);
    assert!(matches!(result, Err(Error::MissingPictures { missing: 2, .. })), "{:?}", result.err());
}

#[test]
fn pictures_that_claim_the_same_index_are_told_apart() {
    let other = Label { checksum: 1, ..SECOND };
    let third = Label { checksum: 2, length: 63, ..SECOND };
    let pictures = [(FIRST, "a"), (SECOND, "b"), (other, "c"), (SECOND, "d"), (third, "e"), (other, "f")];
    let mut sets = Sets::new();
    pictures.into_iter().for_each(|(label, name)| sets.add(label, name));
    // A label with another count, another total or another number of spare pictures belongs to another set.
    sets.add(Label { count: 4, ..SECOND }, "g");
    sets.add(Label { total: 193, ..SECOND }, "h");
    sets.add(Label { spares: 1, ..SECOND }, "i");
    let mut sets = sets.into_sets();
    assert_eq!(sets.len(), 4);
    let mut set = sets.remove(0);

    let names = |pictures: Vec<(&Label, &&'static str)>| pictures.iter().map(|(_, name)| **name).collect::<String>();
    assert_eq!(names(set.pictures().collect()), "ab");
    assert_eq!(names(set.conflicts().collect()), "cef");
    assert_eq!(names(set.claims(1).collect()), "bdcef");
    assert_eq!(names(set.claims(2).collect()), "");
    assert!(set.conflicts().all(|(label, _)| *label == other || *label == third));
    assert_eq!(set.claimed_twice().collect::<Vec<_>>(), [1]);
    assert_eq!(
        set.doubled().map(|(label, copies)| (*label, copies.to_vec())).collect::<Vec<_>>(),
        [(SECOND, vec!["b", "d"])]
    );

    // If two pictures are in conflict, one never replaces the other automatically, because their parts differ.
    let mut rejecting = set.clone();
    assert_eq!([(); 3].map(|()| rejecting.reject(1)), [Some("b"), Some("d"), None]);
    assert!(rejecting.missing().flatten().eq(1..3));
    assert_eq!(rejecting.conflicts().count(), 3);

    set.keep(other, "f");
    assert_eq!((names(set.pictures().collect()), set.conflicts().count()), ("af".into(), 0));
    assert_eq!((set.picture(1), set.claimed_twice().count()), (Some((&other, &"f")), 0));
    set.remove(1);
    assert!(set.missing().flatten().eq(1..3));
}

/// The maximum number of open files of a set: 128, plus one file that a thread is opening.
const OPEN: usize = 128 + 1;

/// This is known only on Linux.
fn open_in(folder: &Path) -> usize {
    let Ok(files) = fs::read_dir("/proc/self/fd") else { return 0 };
    files.flatten().filter_map(|file| fs::read_link(file.path()).ok()).filter(|path| path.starts_with(folder)).count()
}

#[test]
fn more_pictures_than_files_may_be_open_are_written_and_read() {
    const PICTURES: u32 = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("a path");
    let path = |index: u32| folder.join(index.to_string());
    let (calls, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |file: File| {
        calls.fetch_add(1, Ordering::Relaxed);
        most.fetch_max(open_in(&folder), Ordering::Relaxed);
        file
    };
    let layout = Layout::new(Format::Png, 30, 20).expect("a layout");
    let part = layout.part() as usize;
    let data: Vec<u8> = (0..PICTURES as usize * part - 7).map(|at| (at * at / 7) as u8).collect();

    let create = |index: u32| {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).open(path(index)).map(count)
    };
    let writer = Writer::new(layout, create).expect("a layout");
    // First read one half of every picture, then the other half.
    for half in [0, 1] {
        for (number, part) in data.chunks(part).enumerate() {
            let (first, second) = part.split_at(part.len() / 2);
            let (piece, at) = if half == 0 { (first, 0) } else { (second, first.len()) };
            writer.write_all_at(piece, (number * layout.part() as usize + at) as u64).expect("written");
        }
    }
    assert_eq!(writer.finish([5; 16], 0).expect("finished").labels.len() as u32, PICTURES);
    assert!(calls.swap(0, Ordering::Relaxed) >= 3 * PICTURES as usize, "all files were open at once");
    assert!(most.swap(0, Ordering::Relaxed) <= OPEN);
    assert_eq!(open_in(&folder), 0, "files stay open");

    let mut sets = Sets::new();
    for index in 0..PICTURES {
        let carrier = Carrier::recognize(&File::open(path(index)).expect("a file")).expect("whole").expect("a carrier");
        sets.add(carrier.label, (index, carrier));
    }
    let set = sets.into_sets().remove(0);
    let open: Open<'_, (u32, Carrier)> = &|(index, carrier)| Ok(carrier.open(count(File::open(path(*index))?)));
    let reader = Reader::new(set, open).expect("complete");
    for _ in 0..2 {
        let mut back = Vec::new();
        reader.stream().read_to_end(&mut back).expect("read");
        assert!(back == data);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2 * PICTURES as usize, "files that were not used for long stay open");
    assert!(most.swap(0, Ordering::Relaxed) <= OPEN);

    // Besides the files in the list of open files, each of four threads may be opening one file and reading another
    // file that was already removed from the list.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (reader, data) = (&reader, &data);
            scope.spawn(move || {
                let mut buffer = vec![0; part / 3];
                for number in 0..600 {
                    let at = (number * 7919 + thread * 104_729) % (data.len() - buffer.len());
                    assert_eq!(reader.read_at(&mut buffer, at as u64).expect("read"), buffer.len());
                    assert!(buffer == data[at..][..buffer.len()]);
                }
            });
        }
    });
    assert!(most.load(Ordering::Relaxed) <= OPEN + 2 * 4);
    assert!(reader.damaged().is_empty());
}
