//! Objects that get another beginning. The store itself copies the bytes after the new beginning.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use object_store::multipart::PartId;
use object_store::signer::HeaderName;
use object_store::{Attribute, Attributes, HeaderMap, HeaderValue, PutMode, PutOptions, PutPayload, UpdateVersion};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::amend::{COPY_SOURCE, with};
use crate::object::wait;
use crate::store::runtime;
use crate::upload::{AHEAD, LONGEST, PARTS, started};
use crate::wire::encoded_path;
use crate::{Canceller, Error, Object, Problem, Scheme};

/// The length of the first part of the new object, which this machine sends itself. Stores do not accept a shorter
/// first part, and they copy only from objects that are longer than 5 MiB.
const FIRST: u64 = 5 << 20;
/// The number of bytes that one request copies, unless the object is so long that it needs longer pieces.
const PIECE: u64 = 64 << 20;
/// The longest object that this machine sends as a whole. This machine sends the whole object if the store cannot copy,
/// or if no part of the object stays unchanged.
const WHOLE: u64 = 64 << 20;

/// A change of an object. Readers see the old object until the change is complete. If somebody replaced the object
/// after it was opened, the change fails, and the new object stays.
#[derive(Debug)]
pub struct Splice {
    object: Object,
    /// The name that the store gave to the upload.
    id: Arc<Mutex<Option<String>>>,
}

impl Splice {
    /// Begins a change of an object.
    #[must_use]
    pub fn for_object(object: &Object) -> Self {
        Self { object: object.clone(), id: Arc::default() }
    }

    /// Returns a canceller. The canceller ends the change early, for example from a signal handler.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller::new(&self.object.store, &self.object.path, &self.id)
    }

    /// Replaces the first `old` bytes of the object by `new`, and calls `progress` with the number of processed bytes.
    /// S3 itself copies the bytes after the first 5 MiB. In other stores, this machine receives and sends the whole
    /// object, if the object is not too long.
    ///
    /// # Errors
    /// If the object was replaced in the meantime, if it is too long for its store, or if the store fails.
    pub fn replace_beginning(self, old: u64, new: &[u8], progress: impl Fn(u64)) -> Result<(), Error> {
        let length = self.object.length;
        let Some(rest) = length.checked_sub(old) else { return Err(self.error(Problem::Changed, "")) };
        let can_copy = self.object.address.scheme() == Scheme::S3 && length > FIRST;
        let first = FIRST.saturating_sub(new.len() as u64).min(rest);
        if can_copy && first < rest {
            let begin = self.object.bytes(old..old + first)?;
            progress(first);
            return self.copy([new, &*begin].concat(), old + first, progress);
        }
        self.check_length()?;
        let rest = self.object.bytes(old..length)?;
        self.put([new, &*rest].concat())
    }

    /// Replaces all bytes of the object. The object has to be short: see [`Splice::check_length`].
    ///
    /// # Errors
    /// If the object was replaced in the meantime, or if the store fails.
    pub fn replace(self, data: Vec<u8>) -> Result<(), Error> {
        self.put(data)
    }

    /// Refuses an object that is too long for this machine to send as a whole.
    ///
    /// # Errors
    /// If the object has more than 64 MiB.
    pub fn check_length(&self) -> Result<(), Error> {
        let detail = || format!("all of it has to be sent again, and more than {} MiB are not", WHOLE >> 20);
        if self.object.length > WHOLE { Err(self.error(Problem::TooLong, detail())) } else { Ok(()) }
    }

    fn error(&self, problem: Problem, detail: impl Into<String>) -> Error {
        Error::new(&self.object.address, problem, detail)
    }

    fn id(&self) -> Option<String> {
        self.id.lock().clone()
    }

    /// Fails if somebody replaced the object. This check is needed since not every store obeys the condition in the
    /// last request.
    fn check_same(&self) -> Result<(), Error> {
        let is_current = self.object.is_current().map_err(|error| self.changed(error))?;
        if is_current { Ok(()) } else { Err(self.error(Problem::Changed, "")) }
    }

    /// Changes the error for a missing, existing or concurrently written object into [`Problem::Changed`], since the
    /// object was replaced.
    fn changed(&self, error: Error) -> Error {
        match error.problem() {
            Problem::Missing | Problem::Exists | Problem::Contested => self.error(Problem::Changed, ""),
            _ => error,
        }
    }

    /// Writes the whole object in one request.
    fn put(self, data: Vec<u8>) -> Result<(), Error> {
        let Object { store, path, address, tag, version, attributes, .. } = &self.object;
        let payload = PutPayload::from(data);
        let put = |mode| {
            let options = PutOptions { mode, attributes: attributes.clone(), ..PutOptions::default() };
            wait(address, store.objects.put_opts(path, payload.clone(), options))
        };
        self.check_same()?;
        match put(PutMode::Update(UpdateVersion { e_tag: tag.clone(), version: version.clone() })) {
            Err(error) if error.problem() == Problem::Unknowing => put(PutMode::Overwrite),
            other => other,
        }
        .map(|_| ())
        .map_err(|error| self.changed(error))
    }

    /// Sends `first`, lets the store copy the bytes that begin at `from`, and stores the joined parts under the
    /// object's key.
    fn copy(self, first: Vec<u8>, from: u64, progress: impl Fn(u64)) -> Result<(), Error> {
        let Object { store, path, address, length, attributes, tag, .. } = &self.object;
        let tag = tag.as_ref().and_then(|tag| HeaderValue::from_str(tag).ok());
        let tag = tag.ok_or_else(|| self.error(Problem::Other, "it does not tell objects from their successors"))?;
        let piece = (length - from).div_ceil(PARTS - 1).max(PIECE);
        if piece > LONGEST {
            return Err(self.error(Problem::Other, "no object can be so long"));
        }
        let id = wait(address, with(headers(attributes), started(store, path)))?;
        self.id.lock().clone_from(&Some(id.clone()));
        let mut parts = vec![wait(address, store.parts.put_part(path, &id, 0, first.into()))?];
        let mut pieces = CopiedPieces { splice: &self, id: &id, tag: &tag, next: from, piece, ahead: VecDeque::new() };
        while let Some((part, bytes)) = pieces.wait_for(parts.len())? {
            parts.push(part);
            progress(bytes);
        }
        drop(pieces);
        self.check_same()?;
        if self.id().is_none() {
            return Err(self.error(Problem::Other, "the change was ended early"));
        }
        let complete = |condition| with(condition, store.parts.complete_multipart(path, &id, parts.clone()));
        let same = HeaderMap::from_iter([(HeaderName::from_static("if-match"), tag.clone())]);
        match wait(address, complete(same)) {
            Err(error) if error.problem() == Problem::Unknowing => wait(address, complete(HeaderMap::new())),
            other => other,
        }
        .map_err(|error| self.changed(error))?;
        self.id.lock().take();
        Ok(())
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        let _ = self.canceller().cancel();
    }
}

/// The pieces that the store copies. Several copies run at the same time.
struct CopiedPieces<'a> {
    splice: &'a Splice,
    id: &'a str,
    tag: &'a HeaderValue,
    next: u64,
    piece: u64,
    ahead: VecDeque<(u64, JoinHandle<object_store::Result<PartId>>)>,
}

impl CopiedPieces<'_> {
    /// Waits for the next piece, and returns it with its length. `parts` is the number of complete parts.
    fn wait_for(&mut self, parts: usize) -> Result<Option<(PartId, u64)>, Error> {
        let Object { store, path, address, length, .. } = &self.splice.object;
        let failed = |error: std::io::Error| self.splice.error(Problem::Other, error.to_string());
        let runtime = runtime().map_err(failed)?;
        while self.ahead.len() < AHEAD && self.next < *length {
            let end = (self.next + self.piece).min(*length);
            let headers = self.copy_of(self.next..end)?;
            let (store, path, id) = (store.parts.clone(), path.clone(), self.id.to_owned());
            let number = parts + self.ahead.len();
            let ask = async move { with(headers, store.put_part(&path, &id, number, PutPayload::default())).await };
            self.ahead.push_back((end - self.next, runtime.spawn(ask)));
            self.next = end;
        }
        let Some((bytes, part)) = self.ahead.pop_front() else { return Ok(None) };
        let part = wait(address, async { part.await.map_err(object_store::Error::from)? });
        part.map(|part| Some((part, bytes))).map_err(|error| self.splice.changed(error))
    }

    fn copy_of(&self, range: Range<u64>) -> Result<HeaderMap, Error> {
        let address = &self.splice.object.address;
        let source = format!("{}/{}", address.bucket(), encoded_path(address.key()));
        let range = format!("bytes={}-{}", range.start, range.end - 1);
        let value = |text: String| {
            HeaderValue::try_from(text).map_err(|error| self.splice.error(Problem::Other, error.to_string()))
        };
        Ok(HeaderMap::from_iter([
            (COPY_SOURCE, value(source)?),
            (HeaderName::from_static("x-amz-copy-source-range"), value(range)?),
            (HeaderName::from_static("x-amz-copy-source-if-match"), self.tag.clone()),
        ]))
    }
}

impl Drop for CopiedPieces<'_> {
    fn drop(&mut self) {
        self.ahead.iter().for_each(|(_, task)| task.abort());
    }
}

/// Returns the headers with which the new object gets the attributes of the old object.
fn headers(attributes: &Attributes) -> HeaderMap {
    let named = attributes.iter().filter_map(|(attribute, value)| {
        let name = match attribute {
            Attribute::CacheControl => "cache-control".to_owned(),
            Attribute::ContentDisposition => "content-disposition".to_owned(),
            Attribute::ContentEncoding => "content-encoding".to_owned(),
            Attribute::ContentLanguage => "content-language".to_owned(),
            Attribute::ContentType => "content-type".to_owned(),
            Attribute::StorageClass => "x-amz-storage-class".to_owned(),
            Attribute::Metadata(name) => format!("x-amz-meta-{name}"),
            _ => return None,
        };
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value.as_ref()).ok()?))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{Read, Write};

    use super::*;
    use crate::{Address, Store, Upload};

    fn put(store: &Store, address: &Address, data: &[u8]) -> Object {
        let mut upload = Upload::start(store, address, None, true).expect("started");
        upload.write_all(data).expect("written");
        upload.finish().expect("stored");
        Object::open(store, address).expect("an object")
    }

    fn read(store: &Store, address: &Address) -> Vec<u8> {
        let mut data = Vec::new();
        Object::open(store, address).expect("an object").reader().read_to_end(&mut data).expect("read");
        data
    }

    #[test]
    fn a_store_that_cannot_copy_gets_all_of_the_object() {
        let address: Address = "gs://bucket/key".parse().expect("an address");
        let store = Store::in_memory(&address);
        let data: Vec<u8> = (0..6_000_000_u32).map(|i| (i >> 3) as u8).collect();
        for (old, new) in [(0, 0), (0, 9), (9, 0), (70, 5), (5, 70), (1_000_000, 1_000_000), (6_000_000, 1)] {
            let object = put(&store, &address, &data);
            let new = vec![b'n'; new];
            Splice::for_object(&object).replace_beginning(old, &new, |_| ()).expect("replaced");
            let wanted = [&new, &data[usize::try_from(old).expect("short")..]].concat();
            assert!(read(&store, &address) == wanted, "{old} {}", new.len());
        }
        let object = put(&store, &address, &data);
        let error = Splice::for_object(&object).replace_beginning(6_000_001, b"", |_| ()).expect_err("it is shorter");
        assert_eq!(error.problem(), Problem::Changed);
        assert!(read(&store, &address) == data);
    }

    #[test]
    fn an_object_that_was_replaced_stays() {
        let address: Address = "gs://bucket/key".parse().expect("an address");
        let store = Store::in_memory(&address);
        let object = put(&store, &address, b"first");
        put(&store, &address, b"other");
        let error = Splice::for_object(&object).replace_beginning(1, b"F", |_| ()).expect_err("it was replaced");
        assert_eq!((error.problem(), &read(&store, &address)[..]), (Problem::Changed, &b"other"[..]));
        let error = Splice::for_object(&object).replace(b"new".to_vec()).expect_err("it was replaced");
        assert_eq!((error.problem(), &read(&store, &address)[..]), (Problem::Changed, &b"other"[..]));
    }

    #[test]
    fn a_long_object_is_not_read_as_a_whole() {
        let address: Address = "az://bucket/key".parse().expect("an address");
        let store = Store::in_memory(&address);
        for (length, problem) in [(WHOLE, None), (WHOLE + 1, Some(Problem::TooLong))] {
            let object = put(&store, &address, &vec![1; usize::try_from(length).expect("short")]);
            let done = Splice::for_object(&object).replace_beginning(1, b"2", |_| ());
            assert_eq!(done.err().map(|error| error.problem()), problem, "{length}");
        }
    }

    #[test]
    fn pieces_follow_each_other() {
        // The store in memory accepts each part, but copies no bytes.
        let address: Address = "s3://bucket/a b/\u{e4}%".parse().expect("an address");
        let store = Store::in_memory(&address);
        let object = put(&store, &address, &vec![1; 150 << 20]);
        let (splice, tag) = (Splice::for_object(&object), HeaderValue::from_static("\"tag\""));
        let pieces =
            CopiedPieces { splice: &splice, id: "0", tag: &tag, next: 0, piece: PIECE, ahead: VecDeque::new() };
        let headers = pieces.copy_of(5 << 20..6 << 20).expect("headers");
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("x-amz-copy-source"), Some("bucket/a%20b/%C3%A4%25"));
        assert_eq!(header("x-amz-copy-source-range"), Some("bytes=5242880-6291455"));
        assert_eq!(header("x-amz-copy-source-if-match"), Some("\"tag\""));
        drop(pieces);
        let done = Cell::new(0);
        splice.replace_beginning(1, b"2", |bytes| done.set(done.get() + bytes)).expect("replaced");
        assert_eq!(done.get(), (150 << 20) - 1);
        assert_eq!(read(&store, &address).len(), 5 << 20, "the first part");
    }
}
