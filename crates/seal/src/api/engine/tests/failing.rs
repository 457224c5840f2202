//! Tests with inputs, outputs and callbacks that fail.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::WriteAt;

/// A reader and writer that fails after a given number of bytes.
struct Fails(usize);

impl Read for Fails {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("no more"));
        }
        let length = buffer.len().min(self.0);
        self.0 -= length;
        Ok(length)
    }
}

impl Write for Fails {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let length = bytes.len().min(self.0);
        self.0 -= length;
        Ok(length)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn failures_of_the_system_are_told_apart() {
    let data = sample(5 * FULL);
    for threads in [1, 3] {
        for limit in [0, 100, FULL, 3 * FULL] {
            let read = sealing(false).seal_stream(Fails(limit), std::io::sink(), &work(threads));
            assert!(matches!(read, Err(Error::Read(_))), "{read:?} at {limit}");
            let written = sealing(false).seal_stream(&data[..], Fails(limit), &work(threads));
            assert!(matches!(written, Err(Error::Write(_))), "{written:?} at {limit}");
        }
    }
}

/// An output without enough space for the data: its `reserve` fails.
#[derive(Default)]
struct Cramped {
    asked: AtomicU64,
    /// The position after the last byte that was written.
    end: AtomicU64,
}

impl WriteAt for Cramped {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> std::io::Result<()> {
        self.end.fetch_max(position + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn reserve(&self, end: u64) -> std::io::Result<()> {
        self.asked.store(end, Ordering::Relaxed);
        Err(std::io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn a_full_disk_is_noticed_before_the_data_are_sealed() {
    for padded in [false, true] {
        let (data, output) = (sample(20 * FULL), Cramped::default());
        let sealed = sealing(padded).seal_at(&file_with(&data), data.len() as u64, &output, &work(2));
        assert!(matches!(&sealed, Err(Error::Write(error)) if error.kind() == std::io::ErrorKind::StorageFull));
        let wanted = sealing(padded).sealed_length(data.len() as u64).expect("not too long");
        assert_eq!(output.asked.into_inner(), wanted, "padded: {padded}");
        // The header may be written already.
        assert!(output.end.into_inner() < FULL as u64, "padded: {padded}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_has_its_blocks_before_it_is_written() {
    use std::os::unix::fs::MetadataExt;

    for (wanted, worth) in [(1_u64 << 20, false), (9 << 20, true)] {
        let file = tempfile::tempfile().expect("a temporary file");
        file.reserve(wanted).expect("room");
        // The disk has fewer than 2^60 bytes, so the system reserves nothing.
        let _ = file.reserve(1 << 60);
        let about = file.metadata().expect("a file");
        assert_eq!(about.len(), 0, "after a crash, it must not end in zeros");
        // `reserve` does nothing on file systems other than ext4.
        let blocks = about.blocks() * 512;
        assert!(blocks == 0 || worth && blocks >= wanted, "{blocks} for {wanted} bytes");
    }
}

#[test]
fn a_file_that_shrinks_is_noticed() {
    let data = sample(8 * FULL);
    let input = file_with(&data);
    let cut = |_| input.set_len(3 * FULL as u64).expect("cut");
    let work = Work { threads: 1, progress: Some(&cut), stop: None };
    let output = tempfile::tempfile().expect("a temporary file");
    assert!(matches!(sealing(false).seal_file(&input, &output, &work), Err(Error::Shrank)));
}

#[test]
fn an_endless_input_ends_with_the_output() {
    for threads in [1, 3] {
        for limit in [0, 1000, FULL, 3_000_000] {
            let sealed =
                that_ends(move || sealing(false).seal_stream(std::io::repeat(7), Fails(limit), &work(threads)));
            let sealed = sealed.expect("no panic");
            assert!(matches!(sealed, Err(Error::Write(_))), "{sealed:?} at {limit} on {threads}");
        }
        // The payload continues endlessly after its last segment. The program finds the error in the first unit that it
        // reads.
        let sealed = sealing(false).seal(&sample(2 * FULL)).expect("sealed");
        let opened = that_ends(move || {
            let (opened, payload) = opened(&sealed).expect("the passphrase");
            opened.open_stream(payload.chain(std::io::repeat(0)), std::io::sink(), &work(threads))
        });
        assert!(opened.expect("no panic").is_err());
    }
}

#[test]
fn a_file_that_grows_is_sealed_as_far_as_it_was() {
    for (length, threads) in [(100, 1), (8 * FULL, 1), (40 * FULL, 3)] {
        let input = file_with(&sample(length));
        let grow = |_| (&input).write_all(b"more").expect("written");
        let work = Work { threads, progress: Some(&grow), stop: None };
        let output = tempfile::tempfile().expect("a temporary file");
        let summary = sealing(false).seal_file(&input, &output, &work).expect("sealed");
        assert_eq!(summary.plain, length as u64);
        assert!(input.metadata().expect("a file").len() > length as u64);
    }
}
