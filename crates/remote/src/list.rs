//! The objects below a prefix.

use std::collections::VecDeque;
use std::time::SystemTime;

use object_store::list::PaginatedListOptions;
use object_store::path::Path;

use crate::fault::Fault;
use crate::odd::{Course, PageKeys};
use crate::store::runtime;
use crate::{Address, Error, Problem, Store};

/// The largest number of successive pages without a key. A store that has removed many objects may send pages without a
/// key.
const EMPTY: u32 = 1000;
/// The most keys in one listing that the client cannot represent. Each such key is reported to the caller as an error.
const ODD: usize = 100_000;
/// The longest token that continues a listing. A request contains the token in its address, and a token may contain a
/// key.
const TOKEN: usize = 16 << 10;

/// An object in a listing. The name may not be allowed in an [`Address`], for example because it contains two slashes
/// in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, without the prefix that was listed.
    pub name: String,
    /// The number of bytes.
    pub length: u64,
    /// The time when the object was written, by the store's clock.
    pub modified: SystemTime,
    /// The tag that distinguishes this version of the object from later versions, if the store has such tags.
    pub tag: Option<String>,
}

/// The objects below a prefix, in the order of their keys. Each request returns a thousand objects, and no more objects
/// are in memory. If the keys are not in ascending order, the listing ends with an error.
pub struct Listing {
    store: Store,
    prefix: Address,
    /// The key after which the listing begins.
    after: Option<String>,
    /// The entries of the last page. Entries that the client cannot represent come first.
    here: VecDeque<Entry>,
    next: NextPage,
    course: Course,
    /// The number of successive pages without a key.
    empty: u32,
    /// The number of keys so far that the client cannot represent.
    odd: usize,
}

/// The continuation of a listing.
enum NextPage {
    First,
    Behind(String),
    None,
}

impl Listing {
    pub(crate) fn begin(store: &Store, prefix: &Address, after: Option<&str>) -> Result<Self, Error> {
        let wrong = |error: object_store::path::Error| Error::new(prefix, Problem::Other, error.to_string());
        Path::parse(prefix.key()).map_err(wrong)?;
        let after = after.map(|after| Path::parse(format!("{}{after}", prefix.key()))).transpose().map_err(wrong)?;
        Ok(Self {
            store: store.clone(),
            prefix: prefix.clone(),
            after: after.map(|after| after.to_string()),
            here: VecDeque::new(),
            next: NextPage::First,
            course: Course::default(),
            empty: 0,
            odd: 0,
        })
    }

    /// Asks for the next page.
    fn turn(&mut self) -> Result<(), Error> {
        let address = self.prefix.clone();
        let failed = |error: object_store::Error| Error::from_store(&address, &error);
        let runtime = runtime().map_err(|error| Error::new(&address, Problem::Other, error.to_string()))?;
        let token = match std::mem::replace(&mut self.next, NextPage::None) {
            NextPage::First => None,
            NextPage::Behind(token) => Some(token),
            NextPage::None => return Ok(()),
        };
        let key = address.key();
        let prefix = if key.is_empty() || key.ends_with('/') { key.to_owned() } else { format!("{key}/") };
        let (offset, page_token) = (self.after.clone(), token.clone());
        let options = PaginatedListOptions { offset, page_token, ..PaginatedListOptions::default() };
        let page = self.store.pages.list_paginated(Some(prefix.as_str()).filter(|it| !it.is_empty()), options);
        let found = runtime.block_on(self.course.follow(page)).map_err(failed)?;
        let keys = self.course.page.take();
        let goes_on = found.page_token.filter(|next| !next.is_empty());
        let checked = self.check(keys.as_ref(), found.result.objects.len()).and_then(|()| match token {
            _ if goes_on.as_ref().is_some_and(|next| next.len() > TOKEN) => {
                Err(Fault::protocol(format!("it continues a listing with a token of more than {TOKEN} bytes")))
            }
            Some(token) if goes_on.as_ref() == Some(&token) => {
                Err(Fault::protocol("its listing goes in a circle: a token that continues it came again"))
            }
            _ => Ok(()),
        });
        checked.map_err(|fault| failed(fault.of_client()))?;
        self.next = goes_on.map_or(NextPage::None, NextPage::Behind);
        for key in keys.into_iter().flat_map(|keys| keys.odd) {
            self.push(&key, 0, SystemTime::UNIX_EPOCH, None);
        }
        for found in found.result.objects {
            self.push(found.location.as_ref(), found.size, found.last_modified.into(), found.e_tag);
        }
        Ok(())
    }

    /// Refuses listings that never end. Also refuses a page if the client found more keys in the page than this crate
    /// found. `found` is the client's number. `keys` are the keys that this crate found in the received page.
    fn check(&mut self, keys: Option<&PageKeys>, found: usize) -> Result<(), Fault> {
        let Some(keys) = keys else { return Ok(()) };
        self.empty = if keys.all == 0 { self.empty + 1 } else { 0 };
        if found > keys.kept {
            return Err(Fault::protocol("its listing has an unknown form"));
        }
        if self.empty > EMPTY {
            return Err(Fault::protocol(format!("its listing has {EMPTY} pages without a key, one after the other")));
        }
        self.odd += keys.odd.len();
        if self.odd > ODD {
            Err(Fault::protocol(format!("its listing has more than {ODD} keys that cannot be named here")))
        } else {
            Ok(())
        }
    }

    /// Adds an entry. An object whose key is the prefix itself does not lie below the prefix.
    fn push(&mut self, key: &str, length: u64, modified: SystemTime, tag: Option<String>) {
        if let Some(name) = key.strip_prefix(self.prefix.key()).filter(|name| !name.is_empty()) {
            self.here.push_back(Entry { name: name.to_owned(), length, modified, tag });
        }
    }
}

impl Iterator for Listing {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.here.is_empty() {
            if matches!(self.next, NextPage::None) {
                return None;
            }
            if let Err(error) = self.turn() {
                return Some(Err(error));
            }
        }
        self.here.pop_front().map(Ok)
    }
}
