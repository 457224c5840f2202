//! Objects that can be read in order or at any position.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Attribute, Attributes, GetOptions, GetRange, GetResult, HeaderMap, ObjectMeta, ObjectStoreExt};
use tokio::task::JoinHandle;

use crate::fault::Fault;
use crate::own::Own;
use crate::store::runtime;
use crate::{Address, Entry, Error, Problem, Store};
use deadpan_seal::ReadAt;

/// The number of bytes in the first request. This number is enough for the header of a sealed object, which may fill a
/// segment, and for the whole of a small object.
const FIRST: u64 = 320 << 10;
/// The number of bytes in a request when an object is read in order.
const PIECE: u64 = 8 << 20;
/// The number of requests that run at the same time when an object is read in order.
const AHEAD: usize = 6;
/// The name of the object's mark (a short label) in its metadata.
pub(crate) const MARK: &str = "deadpan-mark";

/// An object as it was when it was opened. If the object is replaced later, reading fails. A clone is the same object.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) store: Store,
    pub(crate) address: Address,
    pub(crate) path: Path,
    pub(crate) length: u64,
    pub(crate) tag: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) modified: SystemTime,
    /// The beginning of the object, which came with the first answer.
    pub(crate) start: Bytes,
    /// The metadata of the user, and the content type.
    pub(crate) attributes: Attributes,
    /// The number of tags, if the store reports it.
    tags: usize,
}

impl Object {
    /// Opens an object with one request that also returns the beginning of the object.
    ///
    /// # Errors
    /// If the object does not exist, or the store does not return it.
    pub fn open(store: &Store, address: &Address) -> Result<Self, Error> {
        Self::open_with(store, address, FIRST)
    }

    /// Opens an object with one request that also returns its first `first` bytes, or at least 320 KiB.
    ///
    /// # Errors
    /// The errors of [`Object::open`].
    pub fn open_with(store: &Store, address: &Address, first: u64) -> Result<Self, Error> {
        let path = Store::path(address)?;
        let range = GetRange::Bounded(0..first.max(FIRST));
        let options = GetOptions { range: Some(range), ..GetOptions::default() };
        let asked = wait(address, async {
            match store.objects.get_opts(&path, options).await {
                Ok(mut found) => {
                    let (meta, range) = (found.meta.clone(), found.range.clone());
                    let (attributes, tags) = described(&mut found);
                    found.bytes().await.map(|start| (meta, range, start, attributes, tags))
                }
                // An empty object has no first byte, so stores respond in several ways to a request for its first
                // bytes.
                Err(error) if Error::from_store(address, &error).problem() == Problem::Other => {
                    let head = GetOptions { head: true, ..GetOptions::default() };
                    match store.objects.get_opts(&path, head).await.map(|found| found.meta) {
                        Ok(meta) if meta.size == 0 => Ok((meta, 0..0, Bytes::new(), Attributes::new(), 0)),
                        Err(other) if Error::from_store(address, &other).problem() != Problem::Other => Err(other),
                        // Only the first error has a message, because the answer to the second request has no body.
                        _ => Err(error),
                    }
                }
                Err(error) => Err(error),
            }
        })?;
        let (meta, range, start, attributes, tags) = asked;
        if range.start != 0 || range.end > meta.size || range.end != start.len() as u64 {
            return Err(Error::new(address, Problem::Protocol, "it gave another range than was asked for"));
        }
        Ok(Self {
            store: store.clone(),
            address: address.clone(),
            path,
            length: meta.size,
            tag: meta.e_tag,
            version: meta.version,
            modified: meta.last_modified.into(),
            start,
            attributes,
            tags,
        })
    }

    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the tag that distinguishes this version of the object from later versions, if the store has such tags.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the time when the object was written.
    #[must_use]
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Returns the number of tags. [`Splice`](crate::Splice) does not copy tags to the new object. Only S3 reports
    /// their number.
    #[must_use]
    pub const fn tags(&self) -> usize {
        self.tags
    }

    /// Returns the bytes that were read from the beginning of the object when the object was opened.
    #[must_use]
    pub const fn start(&self) -> &Bytes {
        &self.start
    }

    /// Returns the label (the mark) that [`Pieces::begin`](crate::Pieces::begin) gave the object.
    #[must_use]
    pub fn mark(&self) -> Option<String> {
        if let Some(memory) = &self.store.memory {
            return memory.marks.lock().get(&self.path).cloned();
        }
        self.attributes.get(&Attribute::Metadata(MARK.into())).map(|mark| mark.to_string())
    }

    /// Returns a reader of the whole object. After the beginning of the object, the reader reads ahead with several
    /// requests at the same time.
    #[must_use]
    pub fn reader(&self) -> ObjectReader {
        let (here, next) = (self.start.clone(), self.start.len() as u64);
        ObjectReader { object: self.clone(), here, next, ahead: VecDeque::new() }
    }

    /// Whether this version of the object still exists under its key. The request asks only for the length and the tag.
    ///
    /// # Errors
    /// [`Problem::Missing`] if the object does not exist any more, or another error if the store fails.
    pub fn is_current(&self) -> Result<bool, Error> {
        let now = wait(&self.address, self.store.objects.head(&self.path))?;
        Ok(self.is_same(&now))
    }

    /// Whether an entry of a listing describes this version of the object. In listings, some stores write tags in
    /// another form, so the same version can have another tag in its entry.
    #[must_use]
    pub fn is_shown(&self, entry: &Entry) -> bool {
        let is_same = match (bare(self.tag.as_deref()), bare(entry.tag.as_deref())) {
            ("", "") => seconds(entry.modified) == seconds(self.modified),
            (tag, shown) => tag == shown,
        };
        is_same && entry.length == self.length
    }

    /// Returns the same object without the bytes that were read when it was opened.
    #[must_use]
    pub fn without_bytes(&self) -> Self {
        Self { start: Bytes::new(), ..self.clone() }
    }

    fn is_same(&self, now: &ObjectMeta) -> bool {
        let is_same = match &self.tag {
            Some(tag) => now.e_tag.as_ref() == Some(tag),
            None => SystemTime::from(now.last_modified) == self.modified,
        };
        is_same && now.size == self.length
    }

    /// Fills a buffer with the bytes at a position. A call needs at most one request, since the beginning is already in
    /// memory.
    ///
    /// # Errors
    /// [`Problem::Changed`] if the object was replaced, or another error if the store fails or if the object ends
    /// inside the range.
    pub fn fill(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        let end = position.saturating_add(buffer.len() as u64);
        let known = usize::try_from(position).ok().and_then(|begin| self.start.get(begin..)).unwrap_or_default();
        let (here, mut left) = buffer.split_at_mut(known.len().min(buffer.len()));
        here.copy_from_slice(&known[..here.len()]);
        if left.is_empty() {
            return Ok(());
        }
        wait(&self.address, async {
            let other = || Fault::length().of_client();
            let found = self.ask(position + here.len() as u64..end).await?;
            let mut pieces = found.into_stream();
            while let Some(piece) = pieces.next().await.transpose()? {
                let (here, rest) = left.split_at_mut_checked(piece.len()).ok_or_else(other)?;
                here.copy_from_slice(&piece);
                left = rest;
            }
            if left.is_empty() { Ok(()) } else { Err(other()) }
        })
    }

    /// Returns the bytes of a range with at most one request. Only the part of the range before the end of the object
    /// is returned.
    ///
    /// # Errors
    /// [`Problem::Changed`] if the object was replaced, or another error if the store fails.
    pub fn bytes(&self, range: Range<u64>) -> Result<Bytes, Error> {
        let end = range.end.min(self.length);
        let begin = range.start.min(end);
        if end <= self.start.len() as u64 {
            return Ok(self.start.slice(begin as usize..end as usize));
        }
        let mut bytes = vec![0; (end - begin) as usize];
        self.fill(&mut bytes, begin)?;
        Ok(bytes.into())
    }

    fn get(&self, range: Range<u64>) -> impl Future<Output = object_store::Result<Bytes>> + Send + 'static {
        let asked = self.ask(range.clone());
        async move {
            let bytes = asked.await?.bytes().await?;
            let is_whole = bytes.len() as u64 == range.end - range.start;
            if is_whole { Ok(bytes) } else { Err(Fault::length().of_client()) }
        }
    }

    /// Requests a range of this version of the object. Fails if the object was replaced.
    fn ask(&self, range: Range<u64>) -> impl Future<Output = object_store::Result<GetResult>> + Send + 'static {
        let object = self.clone();
        let options = GetOptions {
            if_match: self.tag.clone(),
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        async move {
            let found = object.store.objects.get_opts(&object.path, options).await?;
            // Some stores ignore the condition in the request.
            if !object.is_same(&found.meta) || found.range != range {
                let (path, source) = (object.path.to_string(), "it is another object now".into());
                return Err(object_store::Error::Precondition { path, source });
            }
            Ok(found)
        }
    }
}

/// Returns a time in whole seconds, since an answer that contains an object shows only whole seconds.
fn seconds(time: SystemTime) -> Option<u64> {
    time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Returns a tag without its quotation marks, or an empty text if there is no tag.
fn bare(tag: Option<&str>) -> &str {
    tag.unwrap_or_default().trim_start_matches("W/").trim_matches('"')
}

/// Returns the attributes of an object, and the number of its tags. The function reads the headers itself, since the
/// client does not read all of them.
fn described(found: &mut GetResult) -> (Attributes, usize) {
    let mut attributes = std::mem::take(&mut found.attributes);
    let headers = found.extensions.get::<HeaderMap>();
    let header = |name| headers.and_then(|headers| headers.get(name)?.to_str().ok());
    if let Some(class) = header("x-amz-storage-class") {
        attributes.insert(Attribute::StorageClass, class.to_owned().into());
    }
    (attributes, header("x-amz-tagging-count").and_then(|count| count.parse().ok()).unwrap_or(0))
}

pub(crate) fn wait<T>(address: &Address, answer: impl Future<Output = object_store::Result<T>>) -> Result<T, Error> {
    let answer = match Own::find() {
        Some(own) => own.wait(answer),
        None => {
            let runtime = runtime().map_err(|error| Error::new(address, Problem::Other, error.to_string()))?;
            runtime.block_on(answer)
        }
    };
    answer.map_err(|error| Error::from_store(address, &error))
}

impl ReadAt for Object {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let left = self.length.saturating_sub(position);
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(0);
        }
        self.fill(&mut buffer[..length], position)?;
        Ok(length)
    }
}

/// Reads an object in order.
#[derive(Debug)]
pub struct ObjectReader {
    object: Object,
    here: Bytes,
    /// The position after all requested pieces.
    next: u64,
    ahead: VecDeque<JoinHandle<object_store::Result<Bytes>>>,
}

impl ObjectReader {
    /// Requests the next pieces.
    fn ask(&mut self) -> io::Result<()> {
        let runtime = runtime()?;
        while self.ahead.len() < AHEAD && self.next < self.object.length {
            let end = (self.next + PIECE).min(self.object.length);
            self.ahead.push_back(runtime.spawn(self.object.get(self.next..end)));
            self.next = end;
        }
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.here.is_empty() || !self.ahead.is_empty() {
            // The reader sends no request until it has returned the beginning that is already in memory, since the
            // caller often needs only the header.
            self.ask()?;
        }
        if self.here.is_empty() {
            let runtime = runtime()?;
            let Some(piece) = self.ahead.pop_front() else { return Ok(0) };
            let piece = runtime.block_on(piece).map_err(io::Error::other)?;
            self.here = piece.map_err(|error| Error::from_store(&self.object.address, &error))?;
        }
        let length = buffer.len().min(self.here.len());
        buffer[..length].copy_from_slice(&self.here.split_to(length));
        Ok(length)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        self.ahead.iter().for_each(JoinHandle::abort);
    }
}
