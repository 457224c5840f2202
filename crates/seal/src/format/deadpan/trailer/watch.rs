//! A payload with a watch. A watch reads the data of each segment when the segment is sealed or opened, while the data
//! are in the processor's cache.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parking_lot::Mutex;

use super::leaves::Leaves;
use super::recorder::Recorder;
use super::tree;
use super::verified::Verified;
use crate::format::fill::read_full;
use crate::format::positions::read_full_at;
use crate::format::segment::{Payload, SegmentCipher, Shape};
use crate::{Error, ReadAt};
use deadpan_ct::Wipe;

/// A watch reads the data of each segment. Several threads call it.
pub(crate) trait Watch {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error>;
}

/// A payload with a watch.
pub(crate) struct Watched<'a, P, W> {
    pub(crate) payload: &'a P,
    pub(crate) watch: &'a W,
}

/// A cipher of segments with a watch.
pub(crate) struct WatchedCipher<C, W> {
    pub(crate) cipher: C,
    pub(crate) watch: W,
}

impl<P: Payload, W: Watch + Sync> Payload for Watched<'_, P, W> {
    type Cipher<'a>
        = WatchedCipher<P::Cipher<'a>, &'a W>
    where
        Self: 'a;

    fn shape(&self) -> Shape {
        self.payload.shape()
    }

    fn cipher(&self) -> Self::Cipher<'_> {
        WatchedCipher { cipher: self.payload.cipher(), watch: self.watch }
    }
}

impl<C: SegmentCipher, W: Watch> SegmentCipher for WatchedCipher<C, W> {
    fn shape(&self) -> Shape {
        self.cipher.shape()
    }

    fn seal(&mut self, segment: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        self.watch.see(segment, data)?;
        self.cipher.seal(segment, last, data, sealed)
    }

    fn open(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.cipher.open(segment, last, sealed, data)?;
        self.watch.see(segment, data).inspect_err(|_| data.wipe())
    }

    /// Only an age file can have a misplaced segment that opens, and age files have no watch.
    fn open_misplaced(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        self.cipher.open_misplaced(segment, last, sealed, data)
    }
}

/// Files without a trailer have no watch.
impl<W: Watch> Watch for Option<W> {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        self.as_ref().map_or(Ok(()), |watch| watch.see(segment, data))
    }
}

impl<W: Watch> Watch for &W {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        (**self).see(segment, data)
    }
}

impl<W: Watch> Watch for Arc<W> {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        (**self).see(segment, data)
    }
}

impl Watch for Recorder<'_> {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        self.record(segment, data)
    }
}

/// Collects the hashes of segments that are opened, to compare them at the end.
impl Watch for Leaves {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        if let Some((number, page)) = self.add(segment, &self.hasher().leaf(segment, data), data.len()) {
            self.completed(number, tree::page(number, &page));
        }
        Ok(())
    }
}

/// Compares the segments that are opened with the leaves in a trailer, which begins at `begin` in `input`.
pub(crate) struct Checker<'a, R> {
    pub(crate) verified: Verified,
    pub(crate) input: &'a R,
    pub(crate) begin: u64,
}

impl<R: ReadAt> Watch for Checker<'_, R> {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        self.verified.check(segment, data, |buffer, position| {
            let read = read_full_at(self.input, buffer, self.begin + position).map_err(Error::Read)?;
            if read < buffer.len() { Err(Error::Truncated) } else { Ok(()) }
        })
    }
}

/// A reader that is shared by two users: the reader of the segments, and the watch.
pub(crate) struct Shared<R>(Arc<Mutex<R>>);

impl<R> Shared<R> {
    pub(crate) fn new(input: R) -> Self {
        Self(Arc::new(Mutex::new(input)))
    }
}

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Read> Read for Shared<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.lock().read(buffer)
    }
}

impl<R: Seek> Seek for Shared<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.lock().seek(to)
    }
}

/// Compares the segments that are opened with the leaves in a trailer, which begins at `begin` in `input`.
pub(crate) struct SeekChecker<R> {
    pub(crate) verified: Verified,
    pub(crate) input: Shared<R>,
    pub(crate) begin: u64,
}

impl<R: Read + Seek> Watch for SeekChecker<R> {
    fn see(&self, segment: u64, data: &[u8]) -> Result<(), Error> {
        self.verified.check(segment, data, |buffer, position| {
            let mut input = self.input.clone();
            input.seek(SeekFrom::Start(self.begin + position)).map_err(Error::Read)?;
            let read = read_full(&mut input, buffer).map_err(Error::Read)?;
            if read < buffer.len() { Err(Error::Truncated) } else { Ok(()) }
        })
    }
}
