//! Damage at, below and above what the recovery data can restore.

use super::*;

/// Lengths around the boundaries of blocks, rows and grids.
const LENGTHS: [usize; 15] =
    [0, 1, 63, 64, 511, 512, 513, 1024, 5000, 65_536, 458_751, 458_752, 458_753, 1_000_000, 3_000_001];

#[test]
fn an_undamaged_file_is_whole() {
    for length in LENGTHS {
        for percent in [1, 10, 100] {
            let file = noise(length, 1);
            let sidecar = sidecar(&file, percent);
            let report = check(&sidecar, &file).unwrap();
            assert!(report.is_whole() && report.is_sidecar_whole(), "{length}");
            assert_eq!((report.missing_bytes(), report.missing().count()), (0, 0));
            assert_fixed(&sidecar, &file, &file);
        }
    }
}

#[test]
fn a_burst_of_the_percentage_is_repaired_anywhere() {
    for length in LENGTHS.into_iter().filter(|length| (100..1_000_000).contains(length)) {
        let file = noise(length, 2);
        for percent in [1, 10, 50, 100] {
            let sidecar = sidecar(&file, percent);
            let burst = length * usize::from(percent) / 100;
            for begin in [0, 1, 511, length / 3, (length - burst).saturating_sub(1), length - burst] {
                let begin = begin.min(length - burst);
                let mut damaged = file.clone();
                damaged[begin..begin + burst].iter_mut().for_each(|byte| *byte ^= 0x55);
                assert_fixed(&sidecar, &damaged, &file);
            }
        }
    }
}

#[test]
fn a_burst_above_the_percentage_is_too_much() {
    let file = noise(3_000_001, 3);
    for percent in [1, 10, 30] {
        let sidecar = sidecar(&file, percent);
        let mut damaged = file.clone();
        let burst = file.len() * usize::from(percent) / 100 + 20_000;
        damaged[100_000..100_000 + burst].fill(0);
        assert_too_much(&sidecar, &damaged);
        let report = check(&sidecar, &damaged).unwrap();
        assert!(report.missing_bytes() >= burst as u64 && report.recovery_bytes() < burst as u64);
    }
}

#[test]
fn one_bit_is_repaired() {
    let file = noise(100_000, 4);
    let sidecar = sidecar(&file, 1);
    for at in [0, 511, 512, 50_000, 99_999] {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        let report = check(&sidecar, &damaged).unwrap();
        let ranges: Vec<_> = report.missing().collect();
        assert!(matches!(ranges[..], [(begin, end)] if (begin..end).contains(&(at as u64)) && end - begin <= 512));
        assert_fixed(&sidecar, &damaged, &file);
    }
}

#[test]
fn a_hundredth_of_scattered_sectors_is_repaired() {
    let file = noise(24 << 20, 5);
    let sidecar = sidecar(&file, 10);
    let mut damaged = file.clone();
    let sectors = file.len() / 4096;
    for number in 0..sectors / 100 {
        let sector = u64::from_le_bytes(noise(8, 1000 + number as u64).try_into().unwrap()) as usize % sectors;
        damaged[sector * 4096..][..4096].fill(0xa5);
    }
    assert_fixed(&sidecar, &damaged, &file);
}

#[test]
fn a_cut_end_is_repaired() {
    for length in LENGTHS.into_iter().filter(|length| *length > 100) {
        let file = noise(length, 6);
        let sidecar = sidecar(&file, 10);
        for cut in [1, length / 20, length / 10] {
            let report = check(&sidecar, &file[..length - cut]).unwrap();
            assert_eq!((report.file_length(), report.original_length()), ((length - cut) as u64, length as u64));
            assert_fixed(&sidecar, &file[..length - cut], &file);
        }
    }
    let file = noise(1_000_000, 6);
    assert_too_much(&sidecar(&file, 10), &file[..800_000]);
    assert_too_much(&sidecar(&file, 10), &[]);
    assert_fixed(&sidecar(&file, 100), &[], &file);
}

#[test]
fn bytes_after_the_end_are_cut_off() {
    for length in [0, 1, 5000, 1_000_000] {
        let file = noise(length, 7);
        let longer = [&file[..], &noise(70_000, 8)].concat();
        let sidecar = sidecar(&file, 10);
        let report = check(&sidecar, &longer).unwrap();
        assert!(!report.is_whole() && report.missing_bytes() == 0);
        assert_fixed(&sidecar, &longer, &file);
    }
}

#[test]
fn the_rest_is_found_after_lost_or_added_bytes() {
    let file = noise(1_000_001, 9);
    let sidecar = sidecar(&file, 5);
    for at in [0, 1, 300_000, 999_000] {
        for by in [1, 64, 4096, 40_001] {
            let lost = [&file[..at], &file[(at + by).min(file.len())..]].concat();
            assert_fixed(&sidecar, &lost, &file);
            let added = [&file[..at], &noise(by, 10), &file[at..]].concat();
            assert_fixed(&sidecar, &added, &file);
        }
    }
    // All blocks but the first are found, also the short one at the end.
    let report = check(&sidecar, &file[1..]).unwrap();
    assert_eq!(report.missing().count(), 1);
    assert!(report.moved_bytes() > 990_000 && report.missing_bytes() < 10_000);
}

#[test]
fn the_rest_is_found_after_several_places() {
    let file = noise(3_000_001, 11);
    let sidecar = sidecar(&file, 5);
    // The lengths are the same again, so that the difference of the lengths tells nothing.
    let parts = [&file[..500_000], &file[500_777..1_400_000], &noise(1000, 12), &file[1_400_000..]];
    let mut damaged = parts.concat();
    damaged.truncate(file.len());
    damaged[2_000_000..2_010_000].fill(0);
    assert_fixed(&sidecar, &damaged, &file);
    let back = [&file[..500_000], &file[500_777..1_400_000], &noise(777, 12), &file[1_400_000..]].concat();
    assert_fixed(&sidecar, &back, &file);
}

#[test]
fn equal_blocks_and_zeros_do_not_mislead_the_search() {
    let mut file = noise(2_000_000, 13);
    file[300_000..900_000].fill(0);
    let text = b"The same line again and again.\n".repeat(10_000);
    file[1_000_000..1_000_000 + text.len()].copy_from_slice(&text);
    let sidecar = sidecar(&file, 5);
    for at in [10, 299_999, 500_000, 950_000, 1_100_000] {
        assert_fixed(&sidecar, &[&file[..at], &file[at + 1..]].concat(), &file);
        assert_fixed(&sidecar, &[&file[..at], b"x", &file[at..]].concat(), &file);
    }
}

#[test]
fn a_damaged_sidecar_still_repairs() {
    let file = noise(1_000_000, 14);
    let whole = sidecar(&file, 20);
    let mut damaged = file.clone();
    damaged[400_000..450_000].fill(0);
    let burst = whole.len() / 10;
    // One burst, anywhere.
    for begin in (0..whole.len() - burst).step_by(burst).chain([whole.len() - burst]) {
        let mut sidecar = whole.clone();
        sidecar[begin..begin + burst].fill(0x77);
        assert!(!check(&sidecar, &damaged).unwrap().is_sidecar_whole());
        assert!(check(&sidecar, &file).unwrap().is_whole());
        assert_fixed(&sidecar, &damaged, &file);
    }
    // A cut end, and a cut beginning.
    for length in [burst, whole.len() / 2 - burst] {
        assert_fixed(&whole[..whole.len() - length], &damaged, &file);
    }
    assert_fixed(&whole[burst..], &damaged, &file);
    // Bytes were lost or added in the middle.
    let middle = whole.len() / 2 - 5000;
    assert_fixed(&[&whole[..middle], &whole[middle + 1..]].concat(), &damaged, &file);
    assert_fixed(&[&whole[..middle], b"added", &whole[middle..]].concat(), &damaged, &file);
    // Both tables are lost: the file is only known to be whole or not.
    let mut sidecar = whole.clone();
    let table = (file.len() / 512 * 6 / 5 + 50) * 16;
    sidecar[512..table].fill(0);
    let end = sidecar.len() - 512;
    sidecar[end - table..end].fill(0);
    assert!(check(&sidecar, &file).unwrap().is_whole());
    assert_too_much(&sidecar, &damaged);
}

#[test]
fn any_of_the_three_headers_is_enough() {
    let file = noise(300_000, 15);
    let whole = sidecar(&file, 10);
    let at: Vec<usize> = whole.windows(4).enumerate().filter(|(_, it)| it == b"\x89DPR").map(|(at, _)| at).collect();
    assert_eq!((at.len(), at[0]), (3, 0));
    for kept in 0..3 {
        let mut sidecar = whole.clone();
        for other in (0..3).filter(|other| *other != kept) {
            sidecar[at[other] + 20] ^= 1;
        }
        let report = check(&sidecar, &file).unwrap();
        assert!(report.is_whole() && !report.is_sidecar_whole());
    }
    let mut sidecar = whole;
    at.iter().for_each(|at| sidecar[at + 20] ^= 1);
    assert!(matches!(check(&sidecar, &file), Err(Error::NotSidecar)));
}

#[test]
fn a_file_and_its_sidecar_share_the_recovery_data() {
    let file = noise(1_000_000, 16);
    let whole = sidecar(&file, 10);
    let mut damaged = file.clone();
    damaged[..50_000].fill(0);
    let middle = whole.len() / 2;
    let mut sidecar = whole.clone();
    sidecar[middle - 20_000..middle + 20_000].fill(0);
    assert_fixed(&sidecar, &damaged, &file);
    sidecar[middle - 30_000..middle + 30_000].fill(0);
    assert_too_much(&sidecar, &damaged);
}
