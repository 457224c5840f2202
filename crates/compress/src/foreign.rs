//! Reads what other programs compressed with Zstandard: frames of any length, without a seek table.

use std::io::{self, BufReader, Read};

use zstd::stream::read::Decoder;

use crate::Flaw;
use crate::frame::Start;

/// The largest window that a frame may have, as a power of two. `zstd` without `--long` needs no larger one to expand.
const WINDOW: u32 = 27;

/// Whether stored bytes that begin like this may have the form of this crate. They have another form if their first
/// frame does not state the length of its data, or has a checksum, as the frames of `zstd` have.
#[must_use]
pub fn is_ours(start: &[u8]) -> bool {
    Start::read(0, start).is_ok()
}

/// Expands the frames of other programs, in order, on one thread.
pub struct Foreign<R: Read>(ForeignState<R>);

enum ForeignState<R: Read> {
    New(Option<R>),
    Begun(Box<Decoder<'static, BufReader<R>>>),
}

impl<R: Read> Foreign<R> {
    /// Makes a reader of the data in `input`.
    pub fn new(input: R) -> Self {
        Self(ForeignState::New(Some(input)))
    }
}

impl<R: Read> Read for Foreign<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let ForeignState::New(input) = &mut self.0 {
            let input = input.take().ok_or_else(|| io::Error::other("expanding failed before"))?;
            let mut decoder = Decoder::new(input)?;
            decoder.window_log_max(WINDOW)?;
            self.0 = ForeignState::Begun(Box::new(decoder));
        }
        match &mut self.0 {
            // The decoder's own errors have no number of the system.
            ForeignState::Begun(decoder) => decoder.read(buffer).map_err(|error| match error.raw_os_error() {
                None if error.get_ref().is_none_or(|inner| !inner.is::<Flaw>()) => Flaw::Foreign.into(),
                _ => error,
            }),
            ForeignState::New(_) => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_other_programs() {
        let data: Vec<u8> = (0..9_000_000_u32).map(|i| (i / 1000) as u8).collect();
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        io::copy(&mut &data[..], &mut encoder).unwrap();
        let stored = encoder.finish().unwrap();
        assert!(!is_ours(&stored[..18]));
        let mut found = Vec::new();
        Foreign::new(&stored[..]).read_to_end(&mut found).unwrap();
        assert_eq!(found, data);
        let cut = Foreign::new(&stored[..stored.len() - 5]).read_to_end(&mut Vec::new());
        assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
