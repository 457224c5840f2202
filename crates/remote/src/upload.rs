//! Objects that are written part by part. An object appears under its key only when it is complete.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode, PutOptions, PutPayload};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::fault::Fault;
use crate::object::wait;
use crate::store::runtime;
use crate::{Address, Error, Problem, Store};

/// The number of bytes in a part, unless the object is so long that it needs longer parts.
const PART: u64 = 8 << 20;
/// The most parts of an upload, a little below the limit of stores.
pub(crate) const PARTS: u64 = 9_990;
/// The number of parts that are sent at the same time.
pub(crate) const AHEAD: usize = 6;
/// The time within which the store must remove the parts of an upload that ends early.
const FAREWELL: Duration = Duration::from_secs(5);
/// The longest part that stores accept.
pub(crate) const LONGEST: u64 = 5 << 30;
/// If the length of an object is not known, the part length is multiplied by four after each group of this number of
/// parts.
const GROWTH: u64 = 2_400;

/// An object that is being written. The object appears under its key only in [`Upload::finish`]. If [`Upload::finish`]
/// is not called, nothing of the object remains.
#[derive(Debug)]
pub struct Upload {
    store: Store,
    address: Address,
    path: Path,
    replace: bool,
    /// The number of bytes in a part, if the length of the object is known.
    part: Option<u64>,
    buffer: BytesMut,
    /// The name that the store gave to an upload of several parts.
    id: Arc<Mutex<Option<String>>>,
    ahead: VecDeque<JoinHandle<object_store::Result<PartId>>>,
    parts: Vec<PartId>,
    started: u64,
    written: u64,
}

impl Upload {
    /// Starts to write an object. Longer objects than a few terabytes are possible only if `length`, the length of the
    /// object, is known. An existing object is replaced only if `replace` is set.
    ///
    /// # Errors
    /// If the object exists already, or if the address is not valid for an object.
    pub fn start(store: &Store, address: &Address, length: Option<u64>, replace: bool) -> Result<Self, Error> {
        let path = Store::path(address)?;
        if length.is_some_and(|length| length.div_ceil(PARTS) > LONGEST) {
            return Err(Error::new(address, Problem::Other, "no object can be so long"));
        }
        if !replace && exists(store, address, &path)? {
            return Err(Error::new(address, Problem::Exists, ""));
        }
        Ok(Self {
            store: store.clone(),
            address: address.clone(),
            path,
            replace,
            part: length.map(|length| length.div_ceil(PARTS).max(PART)),
            buffer: BytesMut::new(),
            id: Arc::default(),
            ahead: VecDeque::new(),
            parts: Vec::new(),
            started: 0,
            written: 0,
        })
    }

    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns a canceller. The canceller ends the upload early, for example from a signal handler.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller::new(&self.store, &self.path, &self.id)
    }

    fn ended_early(&self) -> Error {
        Error::new(&self.address, Problem::Other, "the upload was ended early")
    }

    /// Returns the length of the next part.
    fn room(&self) -> usize {
        let growing = || PART << (2 * (self.started / GROWTH)).min(8);
        usize::try_from(self.part.unwrap_or_else(growing)).unwrap_or(usize::MAX)
    }

    /// Sends the buffer as a part.
    fn send(&mut self) -> Result<(), Error> {
        let known = self.id.lock().clone();
        let id = match known {
            Some(id) => id,
            None if self.started > 0 => {
                return Err(self.ended_early());
            }
            None => {
                let id = wait(&self.address, started(&self.store, &self.path))?;
                if !self.replace {
                    self.store.wire.be_careful(&id);
                }
                self.id.lock().insert(id).clone()
            }
        };
        if self.ahead.len() >= AHEAD {
            self.receive()?;
        }
        let (parts, path, number) = (self.store.parts.clone(), self.path.clone(), self.started as usize);
        let payload = PutPayload::from(self.buffer.split().freeze());
        let runtime = runtime().map_err(|error| Error::new(&self.address, Problem::Other, error.to_string()))?;
        self.ahead.push_back(runtime.spawn(async move { parts.put_part(&path, &id, number, payload).await }));
        self.started += 1;
        Ok(())
    }

    /// Waits for the oldest part.
    fn receive(&mut self) -> Result<(), Error> {
        let Some(part) = self.ahead.pop_front() else { return Ok(()) };
        let part = wait(&self.address, async { part.await.map_err(object_store::Error::from)? })?;
        self.parts.push(part);
        Ok(())
    }

    /// Completes the object under its key, and returns its length.
    ///
    /// # Errors
    /// If an object with this name exists and must not be replaced, or if the store fails. After an error, the store
    /// contains no part of the upload, except if the store cannot be reached.
    pub fn finish(mut self) -> Result<u64, Error> {
        let result = self.end();
        if result.is_ok() {
            *self.id.lock() = None;
        }
        result
    }

    fn end(&mut self) -> Result<u64, Error> {
        let known = self.id.lock().clone();
        let Some(id) = known else {
            if self.started > 0 {
                return Err(self.ended_early());
            }
            let mode = if self.replace { PutMode::Overwrite } else { PutMode::Create };
            let options = PutOptions { mode, ..PutOptions::default() };
            let payload = PutPayload::from(self.buffer.split().freeze());
            wait(&self.address, self.store.objects.put_opts(&self.path, payload, options))?;
            return Ok(self.written);
        };
        if !self.buffer.is_empty() {
            self.send()?;
        }
        while !self.ahead.is_empty() {
            self.receive()?;
        }
        let parts = std::mem::take(&mut self.parts);
        match wait(&self.address, self.store.parts.complete_multipart(&self.path, &id, parts)) {
            Err(error) if error.problem() == Problem::Changed => Err(Error::new(&self.address, Problem::Exists, "")),
            other => other.map(|_| self.written),
        }
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room();
        if self.buffer.len() >= room {
            self.send()?;
        }
        if self.buffer.capacity() == 0 {
            // The system provides memory only when the memory is used, so a large reserved buffer takes little memory
            // for a short object. The reserved memory is limited, since a store could report a wrong length.
            self.buffer.reserve(self.room().min(PART as usize));
        }
        let length = bytes.len().min(self.room() - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..length]);
        self.written += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        // A part is sent when it is full.
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.ahead.iter().for_each(JoinHandle::abort);
        let _ = self.canceller().cancel();
    }
}

/// Whether an object exists. The program calls this function before it seals the object, so that it fails early. Before
/// an upload ends, the program checks again whether the object exists.
pub(crate) fn exists(store: &Store, address: &Address, path: &Path) -> Result<bool, Error> {
    match wait(address, store.objects.head(path)) {
        Ok(_) => Ok(true),
        // With credentials that may only write, the store refuses this request, but it allows the request that
        // completes the upload.
        Err(error) if matches!(error.problem(), Problem::Missing | Problem::Denied) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The longest name of an upload. A request contains the name of the upload in its address.
const NAME: usize = 4096;

/// Begins an upload, and returns the store's name for it.
pub(crate) async fn started(store: &Store, path: &Path) -> object_store::Result<String> {
    let id = store.parts.create_multipart(path).await?;
    if id.len() > NAME {
        Err(Fault::protocol(format!("it names an upload with more than {NAME} bytes")).of_client())
    } else {
        Ok(id)
    }
}

/// A handle that ends an upload early.
#[derive(Clone, Debug)]
pub struct Canceller {
    store: Store,
    path: Path,
    id: Arc<Mutex<Option<String>>>,
}

impl Canceller {
    pub(crate) fn new(store: &Store, path: &Path, id: &Arc<Mutex<Option<String>>>) -> Self {
        Self { store: store.clone(), path: path.clone(), id: Arc::clone(id) }
    }

    /// Removes the parts of an unfinished upload, and returns whether all parts are removed. This call does not wait
    /// long for a store that does not answer, because the store's rule for old uploads removes the parts later.
    pub fn cancel(&self) -> bool {
        let id = self.id.lock().take();
        let (Some(id), Ok(runtime)) = (id, runtime()) else { return true };
        let abort = self.store.parts.abort_multipart(&self.path, &id);
        let within = async { tokio::time::timeout(FAREWELL, abort).await };
        matches!(runtime.block_on(within), Ok(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::Object;
    use deadpan_seal::ReadAt;

    fn address(text: &str) -> Address {
        text.parse().expect("an address")
    }

    fn sample(length: usize) -> Vec<u8> {
        (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    fn put(store: &Store, address: &Address, data: &[u8], replace: bool) -> Result<u64, Error> {
        let mut upload = Upload::start(store, address, None, replace)?;
        // The length of the written pieces is not a divisor of the part length, so some pieces lie in two parts.
        data.chunks(999_983).for_each(|piece| upload.write_all(piece).expect("written"));
        upload.finish()
    }

    #[test]
    fn lengths_around_everything_come_back() {
        let address = address("s3://bucket/a/b c");
        let store = Store::in_memory(&address);
        let (part, first, piece) = (PART as usize, 320 << 10, 8 << 20);
        for around in [1, first, first + piece, part, 3 * part, first + 7 * piece] {
            for length in [around - 1, around, around + 1] {
                let data = sample(length);
                assert_eq!(put(&store, &address, &data, true).expect("stored"), length as u64);
                let object = Object::open(&store, &address).expect("an object");
                let mut read = Vec::new();
                object.reader().read_to_end(&mut read).expect("read");
                assert!(object.length() == length as u64 && read == data, "{length}");
                for begin in [0, length / 3, length.saturating_sub(5), length] {
                    let (mut buffer, mut done) = (vec![0; 70_000.min(length - begin)], 0);
                    while done < buffer.len() {
                        let read = object.read_at(&mut buffer[done..], (begin + done) as u64).expect("read");
                        assert!(read > 0);
                        done += read;
                    }
                    assert!(buffer == data[begin..begin + done], "{length} {begin}");
                }
                assert_eq!(object.read_at(&mut [0; 9], length as u64).expect("read"), 0);
            }
        }
    }

    #[test]
    fn an_object_is_replaced_only_on_request() {
        let address = address("s3://bucket/key");
        let store = Store::in_memory(&address);
        put(&store, &address, b"first", false).expect("stored");
        let refused = put(&store, &address, b"second", false).expect_err("it exists");
        assert_eq!(refused.problem(), Problem::Exists);
        // Two uploads begin at the same time. The store refuses the upload that is completed second.
        let other = self::address("s3://bucket/other");
        let mut uploads = [(); 2].map(|()| Upload::start(&store, &other, None, false).expect("started"));
        uploads.iter_mut().zip([b"one", b"two"]).for_each(|(upload, data)| upload.write_all(data).expect("written"));
        let [one, two] = uploads;
        two.finish().expect("stored");
        assert_eq!(one.finish().expect_err("it exists").problem(), Problem::Exists);
        put(&store, &address, b"third", true).expect("stored");
        let mut read = String::new();
        Object::open(&store, &address).expect("an object").reader().read_to_string(&mut read).expect("read");
        assert_eq!(read, "third");
    }

    #[test]
    fn what_does_not_end_leaves_nothing() {
        let address = address("s3://bucket/key");
        let store = Store::in_memory(&address);
        for length in [10, 40 << 20] {
            let mut upload = Upload::start(&store, &address, None, false).expect("started");
            upload.write_all(&sample(length)).expect("written");
            drop(upload);
            assert_eq!(Object::open(&store, &address).expect_err("nothing").problem(), Problem::Missing);
        }
        let mut upload = Upload::start(&store, &address, None, false).expect("started");
        upload.write_all(&sample(40 << 20)).expect("written");
        assert!(upload.canceller().cancel());
        upload.finish().expect_err("it was cancelled");
        assert_eq!(Object::open(&store, &address).expect_err("nothing").problem(), Problem::Missing);
    }

    #[test]
    fn an_object_that_is_replaced_is_not_mixed_with_the_new_one() {
        let address = address("s3://bucket/key");
        let store = Store::in_memory(&address);
        put(&store, &address, &sample(1 << 20), true).expect("stored");
        let object = Object::open(&store, &address).expect("an object");
        put(&store, &address, &vec![7; 1 << 20], true).expect("stored");
        let error = object.reader().read_to_end(&mut Vec::new()).expect_err("it changed");
        let error = error.downcast::<Error>().expect("an error of the store");
        assert_eq!(error.problem(), Problem::Changed);
        assert!(object.read_at(&mut [0; 9], 900_000).is_err());
    }
}
