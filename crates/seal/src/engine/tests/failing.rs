//! Inputs, outputs and callbacks that fail.

use super::*;

/// Fails after so many bytes.
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
    let _alone = alone();
    let data = sample(5 * FULL);
    for threads in [1, 3] {
        for limit in [0, 100, FULL, 3 * FULL] {
            let read = sealing(false).stream(Fails(limit), std::io::sink(), &work(threads));
            assert!(matches!(read, Err(Error::Read(_))), "{read:?} at {limit}");
            let written = sealing(false).stream(&data[..], Fails(limit), &work(threads));
            assert!(matches!(written, Err(Error::Write(_))), "{written:?} at {limit}");
        }
    }
}

#[test]
fn a_file_that_shrinks_is_noticed() {
    let _alone = alone();
    let data = sample(8 * FULL);
    let input = file_with(&data);
    let cut = |_| input.set_len(3 * FULL as u64).expect("cut");
    let work = Work { threads: 1, progress: Some(&cut), stop: None };
    let output = tempfile::tempfile().expect("a temporary file");
    assert!(matches!(sealing(false).file(&input, &output, &work), Err(Error::Read(_))));
}
