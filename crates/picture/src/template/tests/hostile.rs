//! Pictures that are made to harm a reader.

use super::super::door::{DoorKey, Inside};
use super::super::{Found, SEED_LINES, extract};
use super::*;
use crate::Channels;

/// Makes a picture whose first open sealed label has these contents, and returns the picture and the result of a
/// reader.
fn find_inside(contents: &[u8; 96], samples: u32) -> Option<(Pixels, Found)> {
    let mut pixels = cover(samples, 1, Channels::Gray);
    let door = DoorKey::new(&Secret::open(), &SEED).seal(contents);
    let front = [&SEED.0[..], &noise("door 0", 104), &door].concat();
    for (at, sample) in pixels.samples.iter_mut().enumerate().take(front.len() * 8) {
        *sample = *sample & !1 | front[at / 8] >> (at % 8) & 1;
    }
    let found = find(&pixels, &[Secret::open()])?;
    Some((pixels, found))
}

fn contents(length: u32) -> [u8; 96] {
    let label = Label { length, total: u64::from(length), ..label(&[]) };
    Inside { label, bits: Bits::new(2).unwrap(), doors: 2, order: Order::Keyed, set_key: [1; 32] }.to_bytes()
}

#[test]
fn impossible_contents_of_a_door_are_no_data() {
    assert!(find_inside(&contents(16), 30 * 64).is_some());
    assert!(find_inside(&contents(17), 30 * 64).is_none(), "longer than the capacity");
    assert!(find_inside(&contents(u32::MAX), 30 * 64).is_none(), "longer than the capacity");
    // The labels have invalid numbers of bits and of doors (sealed labels), an invalid order, wrong zeros, and finally
    // impossible values.
    let wrong = [(56, 0), (56, 5), (56, 200), (57, 0), (57, 1), (57, 3), (57, 33), (57, 255), (58, 2), (58, 255)];
    for (at, byte) in wrong.into_iter().chain((59..64).map(|at| (at, 1))).chain([(23, 0), (16, 1)]) {
        let mut contents = contents(16);
        contents[at] = byte;
        assert!(find_inside(&contents, 30 * 64).is_none(), "byte {at} is {byte}");
    }
}

#[test]
fn a_door_that_the_picture_has_no_room_for_is_not_read() {
    for samples in [0, 1, 63, 64, 191, 192, 193, 16 * 64, 16 * 64 + 1, 29 * 64 - 1, 29 * 64] {
        assert_eq!(find_inside(&contents(0), samples).is_some(), samples == 29 * 64, "{samples} samples");
    }
}

#[test]
fn each_changed_bit_of_a_door_closes_it() {
    let (pixels, _) = find_inside(&contents(16), 30 * 64).expect("door");
    for at in 0..13 * 64 {
        let mut pixels = pixels.clone();
        pixels.samples[(SEED_LINES + 13) * 64 + at] ^= 1;
        assert!(find(&pixels, &[Secret::open()]).is_none(), "bit {at}");
    }
}

#[test]
fn garbage_in_the_data_lines_is_extracted_as_garbage() {
    for bits in 1..=4 {
        for order in 0..2 {
            let mut contents = contents(1000);
            contents[56] = bits;
            contents[58] = order;
            let (pixels, found) = find_inside(&contents, 200 * 64).expect("door");
            let mut part = vec![0; 1000];
            extract(&pixels, &found, &mut part, 2);
            assert_ne!(part, vec![0; 1000]);
        }
    }
}

#[test]
fn samples_that_do_not_fit_the_size_are_no_reason_to_panic() {
    let pixels = Pixels { width: u32::MAX, height: u32::MAX, channels: Channels::Rgb, samples: vec![1; 3000] };
    assert!(find(&pixels, &[Secret::open(), Secret::set(&[0; 32])]).is_none());
}
