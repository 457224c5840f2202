//! Uploads whose parts come from several threads, processes or machines.

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::signer::HeaderName;
use object_store::{HeaderMap, HeaderValue, PutPayload};
use reqwest::header::InvalidHeaderValue;

use crate::amend::{ask, with};
use crate::object::wait;
use crate::store::There;
use crate::upload::{exists, started};
use crate::wire::{TAG, encoded};
use crate::xml::{Element, Elements};
use crate::{Address, Error, Problem, Scheme, Store, xml};

/// An upload in parts. Every process that has the upload's [`id`](Pieces::id) can add parts, in any order and more than
/// once. If several parts have the same number, the object contains the last of them. The object gets its name in
/// [`complete`](Pieces::complete).
#[derive(Clone, Debug)]
pub struct Pieces {
    store: Store,
    address: Address,
    path: Path,
    id: String,
}

impl Pieces {
    /// Begins an upload. The object will have the label `mark`, which consists of letters and digits: see
    /// [`Object::mark`].
    ///
    /// [`Object::mark`]: crate::Object::mark
    ///
    /// # Errors
    /// If the store does not allow an operation.
    pub fn begin(store: &Store, address: &Address, mark: &str) -> Result<Self, Error> {
        let path = Store::path(address)?;
        let wrong = |error: InvalidHeaderValue| Error::new(address, Problem::Other, error.to_string());
        let name = HeaderName::from_static("x-amz-meta-deadpan-mark");
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(mark).map_err(wrong)?)]);
        let id = wait(address, with(headers, started(store, &path)))?;
        if let Some(memory) = &store.memory {
            let mut uploads = memory.uploads.lock();
            uploads.insert(id.clone(), (mark.to_owned(), There::new()));
        }
        Ok(Self { store: store.clone(), address: address.clone(), path, id })
    }

    /// Continues an upload that another thread, process or machine began.
    ///
    /// # Errors
    /// If the address is not valid for an object.
    pub fn resume(store: &Store, address: &Address, id: &str) -> Result<Self, Error> {
        let path = Store::path(address)?;
        Ok(Self { store: store.clone(), address: address.clone(), path, id: id.to_owned() })
    }

    /// Returns the name that the store gave to the upload.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether uploads in this store can be continued.
    #[must_use]
    pub fn are_kept(store: &Store, address: &Address) -> bool {
        address.scheme() == Scheme::S3 || store.memory.is_some()
    }

    /// Sends part `number`, counted from 0.
    ///
    /// # Errors
    /// [`Problem::Ended`] if the upload is over, or another error if the store fails.
    pub fn put(&self, number: u64, bytes: Bytes) -> Result<(), Error> {
        let length = bytes.len() as u64;
        let sent = self.store.parts.put_part(&self.path, &self.id, number as usize, PutPayload::from(bytes));
        let part = wait(&self.address, sent).map_err(|error| self.ended(error))?;
        if let Some(memory) = &self.store.memory {
            let mut uploads = memory.uploads.lock();
            let (_, parts) = uploads.get_mut(&self.id).ok_or_else(|| self.over())?;
            parts.insert(number, (part.content_id, length));
        }
        Ok(())
    }

    /// Returns the finished parts, each with the store's name for the part and with its length.
    ///
    /// # Errors
    /// [`Problem::Ended`] if the upload is over, or another error if the store fails.
    pub fn there(&self) -> Result<There, Error> {
        if let Some(memory) = &self.store.memory {
            let uploads = memory.uploads.lock();
            return uploads.get(&self.id).map(|(_, parts)| parts.clone()).ok_or_else(|| self.over());
        }
        let mut parts = There::new();
        let mut marker = Some("0".to_owned());
        while let Some(after) = marker {
            let query = format!("max-parts=1000&part-number-marker={after}&uploadId={}", encoded(&self.id));
            let text = wait(&self.address, ask(&self.store, &self.path, query)).map_err(|error| self.ended(error))?;
            let page = Page::read(&text).ok_or_else(|| {
                Error::new(&self.address, Problem::Protocol, "it lists the parts of an upload in an unknown form")
            })?;
            // Without a limit on part numbers, a list that repeats or never ends would cause endless requests.
            if let Some(next) = &page.next
                && next.parse().ok().filter(|next| *next <= NUMBERS) <= after.parse::<u64>().ok()
            {
                let what = format!("its list of parts goes on behind part {next:.20}, after part {after:.20}");
                return Err(Error::new(&self.address, Problem::Protocol, what));
            }
            marker = page.next;
            parts.extend(page.parts);
        }
        Ok(parts)
    }

    /// Puts the parts together. `parts` are the names of the parts from [`there`](Pieces::there). Without `replace`,
    /// does not replace an existing object.
    ///
    /// # Errors
    /// [`Problem::Exists`] if the object exists already, [`Problem::Ended`] if the upload is over,
    /// [`Problem::WrongPart`] if a part is missing or was sent again, or another error if the store fails.
    pub fn complete(&self, parts: Vec<String>, replace: bool) -> Result<(), Error> {
        if !replace {
            self.store.wire.be_careful(&self.id);
        }
        if let Some(memory) = &self.store.memory {
            let mut uploads = memory.uploads.lock();
            if !replace && exists(&self.store, &self.address, &self.path)? {
                return Err(Error::exists(&self.address));
            }
            let (mark, known) = uploads.get(&self.id).cloned().ok_or_else(|| self.over())?;
            if !known.values().map(|(tag, _)| tag).eq(&parts) {
                return Err(Error::new(&self.address, Problem::WrongPart, ""));
            }
            uploads.remove(&self.id);
            memory.marks.lock().insert(self.path.clone(), mark);
        }
        let parts = parts.into_iter().map(|content_id| PartId { content_id }).collect();
        match wait(&self.address, self.store.parts.complete_multipart(&self.path, &self.id, parts)) {
            Err(error) if error.problem() == Problem::Changed => Err(Error::exists(&self.address)),
            other => other.map(drop).map_err(|error| self.ended(error)),
        }
    }

    /// Ends the upload, and removes its parts.
    ///
    /// # Errors
    /// If the store does not allow the operation. If the upload is already over, `abort` succeeds.
    pub fn abort(&self) -> Result<(), Error> {
        if let Some(memory) = &self.store.memory {
            memory.uploads.lock().remove(&self.id);
        }
        match wait(&self.address, self.store.parts.abort_multipart(&self.path, &self.id)) {
            Err(error) if !matches!(error.problem(), Problem::Ended | Problem::Missing) => Err(error),
            _ => Ok(()),
        }
    }

    fn over(&self) -> Error {
        Error::new(&self.address, Problem::Ended, "")
    }

    /// Changes the error for a missing object into the error for an ended upload. The object does not exist before the
    /// upload ends, so only the upload can be missing.
    fn ended(&self, error: Error) -> Error {
        match error.problem() {
            Problem::Missing => Error::new(&self.address, Problem::Ended, error.detail().raw()),
            _ => error,
        }
    }
}

/// The highest number of a part.
const NUMBERS: u64 = 10_000;

/// A page of the parts of an upload.
struct Page {
    parts: Vec<(u64, (String, u64))>,
    /// The number of the part after which the next page begins.
    next: Option<String>,
}

impl Page {
    fn read(text: &str) -> Option<Self> {
        // The server moto names this XML element `ListPartsResponse`.
        let mut names = ["ListPartsResult", "ListPartsResponse"].into_iter();
        let list = names.find_map(|name| Elements::new(text, name).next())?.inside;
        let part = |part: Element<'_>| {
            let field = |name| xml::text(part.inside, name);
            let (number, length) = (field("PartNumber")?.parse::<u64>().ok()?, field("Size")?.parse().ok()?);
            let name = field("ETag").filter(|name| number <= NUMBERS && name.len() <= TAG)?;
            Some((number.checked_sub(1)?, (name, length)))
        };
        let parts = Elements::new(list, "Part").map(part).collect::<Option<_>>()?;
        let is_whole = xml::text(list, "IsTruncated").is_none_or(|truncated| truncated != "true");
        let next = xml::text(list, "NextPartNumberMarker").filter(|_| !is_whole);
        if !is_whole && next.is_none() { None } else { Some(Self { parts, next }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parts_are_read() {
        let text = "<?xml version='1.0'?><ListPartsResult xmlns='x'><Bucket>b</Bucket><IsTruncated>true</IsTruncated>\
            <NextPartNumberMarker>2</NextPartNumberMarker><Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag>\
            <Size>5</Size></Part><Part><Size>7</Size><ETag>\"b\"</ETag><PartNumber>2</PartNumber></Part>\
            </ListPartsResult>";
        let page = Page::read(text).expect("a page");
        assert_eq!(page.parts, [(0, ("\"a\"".to_owned(), 5)), (1, ("\"b\"".to_owned(), 7))]);
        assert_eq!(page.next.as_deref(), Some("2"));
        let long = format!("<ETag>{}", "b".repeat(TAG));
        for (from, to) in [
            ("<PartNumber>1<", "<PartNumber>0<"),
            ("<Size>5<", "<Size>x<"),
            ("NextPart", "Next"),
            ("<ListParts", "<"),
            ("<PartNumber>2<", "<PartNumber>10001<"),
            ("<ETag>\"b", &long),
        ] {
            assert!(Page::read(&text.replace(from, to)).is_none(), "{from}");
        }
        assert!(Page::read(&text.replace("true", "false")).is_some_and(|page| page.next.is_none()));
        assert!(Page::read(&text.replace("ListPartsResult", "ListPartsResponse")).is_some());
    }
}
