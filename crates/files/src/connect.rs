//! Connects the pack engine (for folders) with the sealing engine. Neither of the two engines depends on the other.

use std::io;

use deadpan_pack::{Job, Packer, Rest, Unpacker};
use deadpan_seal::{Sink, Source, Taken};

/// Lets the sealing engine read from a packer, as in [`Sealing::gather`](deadpan_seal::Sealing::gather). If the packer
/// returns an error, reading returns an error that contains it.
#[derive(Debug)]
pub struct PackSource(pub Packer);

impl Source for PackSource {
    type Rest = Job;

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Job>> {
        let (length, rest) = self.0.take(buffer).map_err(io::Error::other)?;
        Ok(Taken { length, last: self.0.ended(), rest })
    }

    fn complete(rest: Job, bytes: &mut [u8]) -> io::Result<()> {
        rest.complete(bytes).map_err(io::Error::other)
    }
}

/// Lets the opening engine write to an unpacker, as in [`Opened::scatter`](deadpan_seal::Opened::scatter). If the
/// unpacker returns an error, writing returns an error that contains it.
#[derive(Debug)]
pub struct UnpackSink<'a>(pub &'a mut Unpacker);

impl Sink for UnpackSink<'_> {
    type Rest = Rest;

    fn put(&mut self, bytes: &[u8]) -> io::Result<Rest> {
        self.0.put(bytes).map_err(io::Error::other)
    }

    fn complete(rest: Rest, bytes: &[u8]) -> io::Result<()> {
        rest.complete(bytes);
        Ok(())
    }
}
