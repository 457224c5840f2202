//! Objects to read: at any position, or in order.

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

/// How much the first request asks for: the header of a sealed object, which may fill a segment, and all of a small
/// object.
const FIRST: u64 = 320 << 10;
/// How much a request asks for when an object is read in order.
const PIECE: u64 = 8 << 20;
/// How many such requests run at the same time.
const AHEAD: usize = 6;
/// The name of a mark among the metadata of an object.
pub(crate) const MARK: &str = "deadpan-mark";

/// An object as it was when it was opened: if it is replaced meanwhile, reading fails. A clone is the same object.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) store: Store,
    pub(crate) address: Address,
    pub(crate) path: Path,
    pub(crate) length: u64,
    /// What tells this object from one that replaces it.
    pub(crate) tag: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) modified: SystemTime,
    /// The beginning, which came with the answer.
    pub(crate) start: Bytes,
    /// The metadata of the user, and the kind of the contents.
    pub(crate) attributes: Attributes,
    /// The number of tags, if the store tells it.
    tags: usize,
}

impl Object {
    /// Opens an object, with one request that also brings its beginning.
    ///
    /// # Errors
    /// If there is no such object, or the store does not give it.
    pub fn open(store: &Store, address: &Address) -> Result<Self, Error> {
        Self::open_with(store, address, FIRST)
    }

    /// Opens an object, with one request that also brings so many bytes of its beginning, at least 320 KiB.
    ///
    /// # Errors
    /// As [`Object::open`].
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
                // An empty object has no first byte to ask for, and stores answer that in several ways.
                Err(error) if Error::from_store(address, &error).problem() == Problem::Other => {
                    let head = GetOptions { head: true, ..GetOptions::default() };
                    match store.objects.get_opts(&path, head).await.map(|found| found.meta) {
                        Ok(meta) if meta.size == 0 => Ok((meta, 0..0, Bytes::new(), Attributes::new(), 0)),
                        Err(other) if Error::from_store(address, &other).problem() != Problem::Other => Err(other),
                        // The answer to the second request has no body: only the first error has the message.
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

    /// Returns what tells this object from one that replaces it, where the store has something like that.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns when the object was written.
    #[must_use]
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Returns the number of tags, which [`Splice`](crate::Splice) does not keep. Only S3 tells it.
    #[must_use]
    pub const fn tags(&self) -> usize {
        self.tags
    }

    /// Returns the beginning that came when the object was opened.
    #[must_use]
    pub const fn start(&self) -> &Bytes {
        &self.start
    }

    /// Returns the mark that [`Pieces::begin`](crate::Pieces::begin) gave the object.
    #[must_use]
    pub fn mark(&self) -> Option<String> {
        if let Some(memory) = &self.store.memory {
            return memory.marks.lock().get(&self.path).cloned();
        }
        self.attributes.get(&Attribute::Metadata(MARK.into())).map(|mark| mark.to_string())
    }

    /// Returns a reader of the whole object. Behind its beginning, it reads ahead with several requests at the same
    /// time.
    #[must_use]
    pub fn reader(&self) -> ObjectReader {
        let (here, next) = (self.start.clone(), self.start.len() as u64);
        ObjectReader { object: self.clone(), here, next, ahead: VecDeque::new() }
    }

    /// Whether the object is still the one under its name. Only its length and its tag are asked for.
    ///
    /// # Errors
    /// [`Problem::Missing`] if there is no object any more; or if the store fails.
    pub fn is_current(&self) -> Result<bool, Error> {
        let now = wait(&self.address, self.store.objects.head(&self.path))?;
        Ok(self.is_same(&now))
    }

    /// Whether a listing shows this object. Some stores write tags in listings in another way, so an object that is not
    /// shown may still be there.
    #[must_use]
    pub fn is_shown(&self, entry: &Entry) -> bool {
        let is_same = match (bare(self.tag.as_deref()), bare(entry.tag.as_deref())) {
            ("", "") => seconds(entry.modified) == seconds(self.modified),
            (tag, shown) => tag == shown,
        };
        is_same && entry.length == self.length
    }

    /// Returns the same object without the bytes that came when it was opened.
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

    /// Fills a buffer with the bytes at a position, with at most one request: the beginning is known.
    ///
    /// # Errors
    /// [`Problem::Changed`] if the object was replaced; or if the store fails, or the object ends before.
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

    /// Returns the bytes of a range, as far as the object has them, with at most one request.
    ///
    /// # Errors
    /// [`Problem::Changed`] if the object was replaced; or if the store fails.
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

    /// Asks for a range of this object, and of no other.
    fn ask(&self, range: Range<u64>) -> impl Future<Output = object_store::Result<GetResult>> + Send + 'static {
        let object = self.clone();
        let options = GetOptions {
            if_match: self.tag.clone(),
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        async move {
            let found = object.store.objects.get_opts(&object.path, options).await?;
            // Not every store obeys the condition.
            if !object.is_same(&found.meta) || found.range != range {
                let (path, source) = (object.path.to_string(), "it is another object now".into());
                return Err(object_store::Error::Precondition { path, source });
            }
            Ok(found)
        }
    }
}

/// Answers to requests for objects show no less than seconds.
fn seconds(time: SystemTime) -> Option<u64> {
    time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Returns a tag without its quotation marks; of no tag, nothing.
fn bare(tag: Option<&str>) -> &str {
    tag.unwrap_or_default().trim_start_matches("W/").trim_matches('"')
}

/// Returns the attributes of an object, and the number of its tags. The client itself does not read all headers.
fn described(found: &mut GetResult) -> (Attributes, usize) {
    let mut attributes = std::mem::take(&mut found.attributes);
    let headers = found.extensions.get::<HeaderMap>();
    let header = |name| headers.and_then(|headers| headers.get(name)?.to_str().ok());
    if let Some(class) = header("x-amz-storage-class") {
        attributes.insert(Attribute::StorageClass, class.to_owned().into());
    }
    (attributes, header("x-amz-tagging-count").and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// Waits for an answer about an object.
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
    /// The position after all pieces that were asked for.
    next: u64,
    ahead: VecDeque<JoinHandle<object_store::Result<Bytes>>>,
}

impl ObjectReader {
    /// Asks for the next pieces.
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
            // Nothing is asked for before the beginning is used up: often only the header is wanted.
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
