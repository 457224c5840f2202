//! Tests that compare the engines with each other, and tests with inputs that must fail.

mod agree;
mod apart;
mod changing;
mod damage;
mod failing;
mod foreign;
mod panics;
mod pieces;
mod refused;
mod watched;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::mpsc;
use std::time::Duration;

use crate::primitive::entropy::Entropy;
use crate::tests::foreign::recipient;
use crate::tests::scratch::{contents, file_with};
use crate::{Error, Fault, Header, Identity, Metadata, Opened, Passphrase, Sealing, Work};

const FULL: usize = (256 << 10) - 32;

fn sealing(padded: bool) -> Sealing {
    let metadata = Metadata { name: Some(b"a file".to_vec()), ..Metadata::default() };
    let sealing = Sealing::to(vec![recipient()]).expect("a passphrase is enough").metadata(metadata).expect("a name");
    sealing.hide_length(padded).with_entropy(Entropy::Fixed(7))
}

fn identity() -> Identity {
    Identity::Passphrase(Passphrase::new(b"straight face"))
}

fn sample(length: usize) -> Vec<u8> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ length as u64;
    let word = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 56) as u8
    };
    (0..length).map(word).collect()
}

fn work(threads: usize) -> Work<'static> {
    Work { threads, ..Work::default() }
}

/// A reader and writer that reads or writes at most a given number of bytes in each call.
struct Slow<T>(T, usize);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

impl<W: Write> Write for Slow<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(self.1)])
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn opened(sealed: &[u8]) -> Result<(Opened, &[u8]), Error> {
    let mut payload = sealed;
    let opened = Header::read(&mut payload)?.open(&[identity()])?;
    Ok((opened, payload))
}

/// Returns the result of a job. The job must end without help. If the job hangs, the test fails after ten minutes, and
/// the job keeps running.
fn that_ends<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> std::thread::Result<T> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(job))));
    result.recv_timeout(Duration::from_secs(600)).expect("it ends")
}
