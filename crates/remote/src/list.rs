//! What lies below a prefix.

use std::pin::Pin;
use std::time::SystemTime;

use futures_util::{Stream, StreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use crate::odd::beside;
use crate::store::runtime;
use crate::{Address, Error, Problem, Store};

/// An object in a listing. The name may be one that no [`Address`] can have, such as one with two slashes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, without the prefix that was listed.
    pub name: String,
    /// The number of bytes.
    pub length: u64,
    /// When the object was written, by the store's clock.
    pub modified: SystemTime,
    /// What tells the object from one that replaces it, where the store has something like that.
    pub tag: Option<String>,
}

/// The objects below a prefix, in the order of their keys. A thousand come with each request.
pub struct Listing {
    prefix: Address,
    /// Names that the client cannot name, which come before the next entry.
    odd: Vec<String>,
    found: Pin<Box<dyn Stream<Item = object_store::Result<ObjectMeta>> + Send>>,
}

impl Listing {
    pub(crate) fn begin(store: &Store, prefix: &Address, after: Option<&str>) -> Result<Self, Error> {
        let wrong = |error: object_store::path::Error| Error::new(prefix, Problem::Other, error.to_string());
        let path = Path::parse(prefix.key()).map_err(wrong)?;
        let path = (!prefix.key().is_empty()).then_some(&path);
        let found = match after {
            Some(after) => {
                let after = Path::parse(format!("{}{after}", prefix.key())).map_err(wrong)?;
                store.objects.list_with_offset(path, &after)
            }
            None => store.objects.list(path),
        };
        // A page of which nothing is left is asked for again.
        Ok(Self { prefix: prefix.clone(), odd: Vec::new(), found: found.fuse().boxed() })
    }
}

impl Iterator for Listing {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return Some(Err(Error::new(&self.prefix, Problem::Other, error.to_string()))),
        };
        loop {
            if let Some(key) = self.odd.pop() {
                let name = key.strip_prefix(self.prefix.key()).unwrap_or(&key).to_owned();
                if name.is_empty() {
                    continue;
                }
                return Some(Ok(Entry { name, length: 0, modified: SystemTime::UNIX_EPOCH, tag: None }));
            }
            let (found, odd) = runtime.block_on(beside(self.found.next()));
            self.odd = odd;
            let found = match found {
                None if !self.odd.is_empty() => continue,
                found => found?,
            };
            let found = match found {
                Ok(found) => found,
                Err(error) => return Some(Err(Error::of(&self.prefix, &error))),
            };
            let key = found.location.to_string();
            // An object that has the prefix itself as its key lies not below it.
            if let Some(name) = key.strip_prefix(self.prefix.key()).filter(|name| !name.is_empty()) {
                let (name, modified) = (name.to_owned(), found.last_modified.into());
                return Some(Ok(Entry { name, length: found.size, modified, tag: found.e_tag }));
            }
        }
    }
}
