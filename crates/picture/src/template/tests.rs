//! Tests every back end against a slow reference, hostile pictures, and the changes that embedding makes.

mod hostile;
mod reference;

use std::io::{Cursor, ErrorKind};
use std::sync::Mutex;

use super::embed::{Engine, embed_with};
use super::extract::extract_with;
use super::imp::Level;
use super::{Bits, Distortion, Front, Hiding, Order, Secret, Seed, capacity, embed, extract, find, open, smoothness};
use crate::{Channels, Compression, Error, Format, Label, Limits, Pixels, Reader, Sets, write};

pub(super) const SEED: Seed = Seed([5; 24]);
const SIGNS: [u8; 16] = [9; 16];

/// Returns `length` random bytes that depend on the name.
pub(super) fn noise(name: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(name.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Returns a picture with noise, including many samples near 0 and 255.
pub(super) fn cover(width: u32, height: u32, channels: Channels) -> Pixels {
    let mut samples = noise("cover", width as usize * height as usize * channels.count());
    for (at, sample) in samples.iter_mut().enumerate() {
        *sample = match at % 5 {
            0 => *sample % 5,
            1 => 255 - *sample % 5,
            _ => *sample,
        };
    }
    Pixels { width, height, channels, samples }
}

pub(super) fn label(part: &[u8]) -> Label {
    let length = part.len() as u32;
    Label { set: [3; 16], index: 0, count: 1, spares: 0, length, offset: 0, total: part.len() as u64, checksum: 7 }
}

pub(super) fn hiding(bits: u8, order: Order, doors: Vec<Secret>) -> Hiding {
    Hiding { bits: Bits::new(bits).unwrap(), order, set_key: [7; 32], doors }
}

/// Returns the levels of this CPU, and prints the levels that the CPU does not have.
#[allow(clippy::print_stderr)]
fn levels() -> Vec<Level> {
    let (available, skipped): (Vec<_>, Vec<_>) = Level::ALL.iter().partition(|level| level.is_available());
    assert!(available.contains(&Level::Portable));
    if !skipped.is_empty() {
        eprintln!("skipped: this CPU does not have {skipped:?}");
    }
    available
}

/// Embeds and extracts with every level and with one and three threads, and compares with the reference.
fn check(cover: &Pixels, part: &[u8], hiding: &Hiding) {
    let label = label(part);
    let mut expected = cover.clone();
    let cost = reference::embed(&mut expected.samples, &label, part, hiding, &SEED, &SIGNS);
    assert_eq!(reference::extract(&expected.samples, part.len(), hiding), part);
    let what = format!("{} of {} samples, {:?}", part.len(), cover.samples.len(), hiding);
    for level in levels() {
        for threads in [1, 3] {
            let mut pixels = cover.clone();
            let distortion =
                embed_with(Engine { level, threads }, &mut pixels, &label, part, hiding, &SEED, &SIGNS).expect("room");
            assert!(pixels == expected, "{level:?}: {what}");
            assert_eq!(distortion, cost, "{level:?}: {what}");
            let found = find(&pixels, &[Secret::open()]).expect("open door");
            assert_eq!((found.label, found.bits, found.order), (label, hiding.bits, hiding.order));
            let mut copy = vec![0xa5; part.len()];
            extract_with(level, &pixels, &found, &mut copy, threads);
            assert!(copy == part, "{level:?}: {what}");
        }
    }
}

#[test]
fn every_back_end_agrees_with_the_reference() {
    let mut pictures = vec![cover(301, 73, Channels::Rgb), cover(331, 200, Channels::Gray)];
    // 29 lines are reserved. These numbers of samples are around multiples of 64.
    pictures.extend([30 * 64 - 1, 30 * 64, 30 * 64 + 1, 31 * 64 - 1, 100 * 64].map(|n| cover(n, 1, Channels::Gray)));
    for cover in &pictures {
        for bits in 1..=4 {
            for order in [Order::Keyed, Order::InOrder] {
                let hiding = hiding(bits, order, vec![Secret::open()]);
                let room = capacity(cover.samples.len() as u64, hiding.bits, 1) as usize;
                let part = noise("part", room);
                let fills = [0, 1, room / 100, room / 20, room / 5, room * 99 / 100, room.max(1) - 1, room];
                for length in fills {
                    check(cover, &part[..length.min(room)], &hiding);
                }
            }
        }
    }
}

#[test]
fn several_threads_share_a_large_picture() {
    // The picture is so large that each thread works on several blocks of lines, and that the bytes of a thread can
    // begin inside a line.
    let cover = cover(1024, 500, Channels::Rgb);
    for bits in 1..=4 {
        let hiding = hiding(bits, Order::Keyed, vec![Secret::open()]);
        let room = capacity(cover.samples.len() as u64, hiding.bits, 1) as usize;
        check(&cover, &noise("part", room / 3 * 2 + 1), &hiding);
    }
}

#[test]
fn parts_are_read_from_files_without_compression_at_any_position() {
    for channels in [Channels::Gray, Channels::Rgb] {
        for (bits, order) in [(1, Order::Keyed), (2, Order::Keyed), (3, Order::InOrder), (4, Order::Keyed)] {
            let mut pixels = cover(700, 500, channels);
            let hiding = hiding(bits, order, vec![Secret::open()]);
            let room = capacity(pixels.samples.len() as u64, hiding.bits, 1) as usize;
            for length in [0, 1, 1000, room / 3, room] {
                let part = noise("part", length);
                embed(&mut pixels, &label(&part), &part, &hiding, &SEED, 1).unwrap();
                let found = find(&pixels, &[Secret::open()]).expect("door");
                let set = |compression| {
                    let mut file = tempfile::tempfile().expect("a file");
                    write(&pixels, Format::Png, compression, 1, &mut file).expect("written");
                    let mut sets = Sets::new();
                    sets.add(found.label, ());
                    let open = open(file, &found).ok();
                    let open = Mutex::new(open);
                    Reader::new(sets.into_sets().remove(0), move |()| {
                        open.lock().expect("whole").take().ok_or_else(|| ErrorKind::Unsupported.into())
                    })
                };
                let reader = set(Compression::Stored).expect("a whole set");
                for (at, wanted) in [(0, length), (length / 2, 1), (length / 7, length / 2), (length, 0)] {
                    let mut copy = vec![0xa5; wanted.min(length - at)];
                    assert_eq!(reader.read_at(&mut copy, at as u64).expect("read"), copy.len());
                    assert!(copy == part[at..at + copy.len()], "{bits} bits, {order:?}, {at} of {length}");
                }
                if length > 0 {
                    assert!(set(Compression::Fast).expect("a whole set").read_at(&mut [0], 0).is_err());
                }
            }
        }
    }
}

#[test]
fn each_secret_opens_its_door_only() {
    let part = noise("part", 100);
    let secrets = [Secret::recipient(b"key"), Secret::passphrase(&[4; 32]), Secret::open()];
    let strangers = [Secret::recipient(b"other"), Secret::passphrase(&[5; 32]), Secret::set(&[8; 32])];
    let mut pixels = cover(120, 120, Channels::Gray);
    embed(&mut pixels, &label(&part), &part, &hiding(1, Order::Keyed, secrets.to_vec()), &SEED, 1).unwrap();
    for secret in secrets.into_iter().chain([Secret::set(&[7; 32])]) {
        let found = find(&pixels, &[&strangers[..], &[secret]].concat()).expect("door");
        assert_eq!((found.secret, found.doors, found.set_key), (3, 4, [7; 32]));
        let mut copy = vec![0; 100];
        extract(&pixels, &found, &mut copy, 1);
        assert_eq!(copy, part);
    }
    assert!(find(&pixels, &strangers).is_none());
    assert_eq!(Seed::in_pixels(&pixels), Some(SEED));
}

#[test]
fn gray_templates_survive_in_files_with_three_channels() {
    let mut pixels = cover(300, 200, Channels::Gray);
    let hiding = hiding(2, Order::Keyed, vec![Secret::open()]);
    let part = noise("part", capacity(300 * 200, hiding.bits, 1) as usize);
    embed(&mut pixels, &label(&part), &part, &hiding, &SEED, 1).unwrap();
    let color = pixels.into_rgb();
    for format in [Format::Png, Format::WebP] {
        let mut file = Vec::new();
        write(&color, format, Compression::Fast, 1, &mut file).unwrap();
        let front = Front::read(Cursor::new(&file), &Limits::default()).unwrap().expect("the first rows");
        for found in [front.find(&[Secret::open()]), find(&color, &[Secret::open()])] {
            let found = found.expect("door");
            assert!(found.gray_in_color && found.fits(&color) && !found.fits(&cover(300, 199, Channels::Rgb)));
            let mut copy = vec![0; part.len()];
            extract(&color, &found, &mut copy, 1);
            assert_eq!(copy, part);
        }
    }
}

#[test]
fn a_label_tells_which_pictures_have_room_for_its_part() {
    let mut pixels = cover(120, 120, Channels::Gray);
    let part = noise("part", capacity(120 * 120, Bits(1), 1) as usize);
    embed(&mut pixels, &label(&part), &part, &hiding(1, Order::Keyed, vec![Secret::open()]), &SEED, 1).unwrap();
    let found = find(&pixels, &[Secret::open()]).expect("door");
    assert!(found.fits(&pixels));
    for (width, height) in [(119, 120), (64, 64), (1, 1)] {
        assert!(!found.fits(&cover(width, height, Channels::Gray)));
    }
}

#[test]
fn a_secret_that_comes_twice_makes_no_two_doors_that_are_alike() {
    let doors = vec![Secret::open(), Secret::recipient(b"key"), Secret::open()];
    let mut pixels = cover(120, 120, Channels::Gray);
    embed(&mut pixels, &label(&[]), &[], &hiding(1, Order::Keyed, doors), &SEED, 1).unwrap();
    let mut doors = [[0; 104]; 4];
    super::low::read(&pixels.samples[192..], doors.as_flattened_mut());
    assert!((0..4).all(|at| !doors[..at].contains(&doors[at])));
    assert!(find(&pixels, &[Secret::open()]).is_some());
}

#[test]
fn all_32_doors_open() {
    let secrets: Vec<_> = (0..31_u8).map(|number| Secret::recipient(&[number])).collect();
    let mut pixels = cover(200, 200, Channels::Gray);
    let mut hiding = hiding(3, Order::Keyed, secrets.clone());
    embed(&mut pixels, &label(b"part"), b"part", &hiding, &SEED, 2).unwrap();
    assert!(secrets.iter().all(|secret| find(&pixels, std::slice::from_ref(secret)).is_some()));
    hiding.doors.push(Secret::open());
    let before = pixels.clone();
    let result = embed(&mut pixels, &label(b"part"), b"part", &hiding, &SEED, 2);
    assert!(matches!(result, Err(Error::Doors { doors: 33 })));
    assert_eq!(pixels, before);
}

#[test]
fn smooth_covers_are_rough_after_they_carry_data() {
    for channels in [Channels::Gray, Channels::Rgb] {
        let mut sky = cover(90, 60, channels);
        assert!(smoothness(&sky, 1) < 0.1);
        let row = 90 * channels.count();
        sky.samples.iter_mut().enumerate().for_each(|(at, sample)| *sample = (at / row + at % row / 9) as u8);
        assert!(smoothness(&sky, 1) > 0.9);
        embed(&mut sky, &label(b"short"), b"short", &hiding(1, Order::Keyed, vec![Secret::open()]), &SEED, 1).unwrap();
        assert!(smoothness(&sky, 1) < 0.6);
    }
    let tiny = Pixels { width: 1, height: 1, channels: Channels::Rgb, samples: vec![1; 3] };
    assert!(smoothness(&tiny, 1) < 0.1);
}

#[test]
fn covers_without_the_room_are_refused_and_unchanged() {
    let hiding = hiding(2, Order::Keyed, vec![Secret::open()]);
    for (samples, length, room) in
        [(0, 0, 0), (191, 0, 0), (29 * 64 - 1, 0, 0), (29 * 64, 1, 0), (30 * 64 - 1, 1, 0), (30 * 64, 17, 16)]
    {
        let mut pixels = cover(samples, 1, Channels::Gray);
        let (before, part) = (pixels.clone(), vec![0; length]);
        let result = embed(&mut pixels, &label(&part), &part, &hiding, &SEED, 1);
        let Err(Error::SmallCover { samples: had, reserved, room: has, length: asked }) = result else {
            panic!("{samples} samples, {length} bytes: {result:?}")
        };
        assert_eq!((had, reserved, has, asked), (u64::from(samples), 29 * 64, room, length as u64));
        assert_eq!(pixels, before);
    }
    let mut pixels = cover(29 * 64, 1, Channels::Gray);
    embed(&mut pixels, &label(&[]), &[], &hiding, &SEED, 1).expect("a part of length 0 needs no data line");
    assert_eq!(find(&pixels, &[Secret::open()]).expect("door").label.length, 0);
}

#[test]
fn full_pictures_keep_their_quality() {
    // A photograph has few samples that are 0 or 255 and can therefore change in only one direction.
    let samples = noise("photograph", 3_000_000).iter().map(|sample| 20 + sample % 200).collect();
    let cover = Pixels { width: 1000, height: 1000, channels: Channels::Rgb, samples };
    for (bits, least) in [(1, 51.0), (2, 46.2), (3, 40.0), (4, 34.0)] {
        let hiding = hiding(bits, Order::Keyed, vec![Secret::open()]);
        let part = noise("part", capacity(3_000_000, hiding.bits, 1) as usize);
        let mut pixels = cover.clone();
        let distortion = embed(&mut pixels, &label(&part), &part, &hiding, &SEED, 1).unwrap();
        let differences = pixels.samples.iter().zip(&cover.samples).map(|(new, old)| u64::from(new.abs_diff(*old)));
        let expected = Distortion {
            squares: differences.clone().map(|difference| difference * difference).sum(),
            changed: differences.filter(|&difference| difference != 0).count() as u64,
            samples: 3_000_000,
        };
        assert_eq!(distortion, expected);
        assert!(distortion.psnr() >= least, "{} dB at {bits} bits", distortion.psnr());
    }
}

#[test]
fn samples_go_up_as_often_as_down_whatever_their_value() {
    // Replacement of the lowest bits would never decrease an even sample, and never increase an odd sample.
    for level in levels() {
        for bits in 1..=4 {
            for value in [100_u8, 101, 102, 103] {
                let mut pixels =
                    Pixels { width: 1000, height: 1000, channels: Channels::Gray, samples: vec![value; 1_000_000] };
                let hiding = hiding(bits, Order::Keyed, vec![Secret::open()]);
                let part = noise("part", capacity(1_000_000, hiding.bits, 1) as usize);
                let engine = Engine { level, threads: 1 };
                embed_with(engine, &mut pixels, &label(&part), &part, &hiding, &SEED, &SIGNS).unwrap();
                let count =
                    |there: &dyn Fn(u8) -> bool| pixels.samples.iter().filter(|&&new| there(new)).count() as i64;
                let (ups, downs) = (count(&|new| new > value), count(&|new| new < value));
                // The standard deviation of the difference is at most 1000.
                assert!((ups - downs).abs() < 5000, "{level:?}: {bits} bits, {value}: {ups} up, {downs} down");
                let half = 1 << (bits - 1);
                let (most_up, most_down) = (count(&|new| new == value + half), count(&|new| new == value - half));
                assert!((most_up - most_down).abs() < 5000 && most_up > 10_000, "{level:?}: {most_up}, {most_down}");
                assert_eq!(count(&|new| new.abs_diff(value) > half), 0);
            }
        }
    }
}
