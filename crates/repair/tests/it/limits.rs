//! Percentages, threads, and stopping.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

#[test]
fn percentages_are_from_1_to_100() {
    for percent in [0, 101, 255] {
        assert!(matches!(Percent::new(percent), Err(Error::Percent)));
    }
    let file = noise(200_000, 1);
    let mut damaged = file.clone();
    damaged[777..2000].fill(0);
    for percent in 1..=100 {
        assert_fixed(&sidecar(&file, percent), &damaged, &file);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let file = noise(5_000_000, 2);
    let expected = sidecar(&file, 7);
    for threads in [1, 3, 16, 100] {
        let (output, work) = (Memory::default(), Work { threads, ..Work::default() });
        make(&file[..], file.len() as u64, &output, Percent::new(7).unwrap(), &work).unwrap();
        assert!(output.into_bytes() == expected);
    }
}

#[test]
fn progress_counts_all_bytes_and_stopping_ends_the_work() {
    let file = noise(5_000_000, 3);
    let done = AtomicU64::new(0);
    let add = |bytes| _ = done.fetch_add(bytes, Ordering::Relaxed);
    let work = Work { progress: Some(&add), ..Work::default() };
    let output = Memory::default();
    make(&file[..], file.len() as u64, &output, Percent::new(10).unwrap(), &work).unwrap();
    assert_eq!(done.load(Ordering::Relaxed), file.len() as u64);
    let stop = || true;
    let work = Work { stop: Some(&stop), ..Work::default() };
    let made = make(&file[..], file.len() as u64, &Memory::default(), Percent::new(10).unwrap(), &work);
    assert!(matches!(made, Err(Error::Stopped)));
    let sidecar = output.into_bytes();
    let sidecar = Sidecar::open(&sidecar[..], sidecar.len() as u64).unwrap();
    assert!(matches!(sidecar.check(&file[..], file.len() as u64, &work), Err(Error::Stopped)));
}

#[test]
fn a_sparse_file_stays_sparse() {
    use std::os::unix::fs::{FileExt, MetadataExt};

    let (file, sidecar, output) =
        (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let length = 64 << 20;
    file.set_len(length).unwrap();
    file.write_all_at(b"the only bytes", 30_000_000).unwrap();
    make(&file, length, &sidecar, Percent::new(1).unwrap(), &Work::default()).unwrap();
    file.write_all_at(b"other", 30_000_000).unwrap();
    let sidecar_length = sidecar.metadata().unwrap().len();
    let sidecar = Sidecar::open(&sidecar, sidecar_length).unwrap();
    let report = sidecar.check(&file, length, &Work::default()).unwrap();
    sidecar.fix(&file, &report, &output, &Work::default()).unwrap();
    let mut bytes = [0; 14];
    output.read_exact_at(&mut bytes, 30_000_000).unwrap();
    assert_eq!(&bytes, b"the only bytes");
    let about = output.metadata().unwrap();
    assert!(about.len() == length && about.blocks() * 512 < 4 << 20, "{}", about.blocks());
}
