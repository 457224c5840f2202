//! Pages: sources that were listed together. When all results of a page are complete, the sources are listed again.
//! Without the second listing, later runs would treat a result as up to date although its source was replaced after it
//! was read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::Pair;
use crate::place::listed;
use deadpan_remote::{Address, Object, Store};

/// A listing costs as much as this number of requests for single objects.
pub(crate) const FEW: usize = 12;

/// The sources of a page.
pub(crate) struct Page {
    store: Store,
    prefix: Address,
    /// The number of items that are neither done nor failed yet.
    left: AtomicUsize,
    read: Mutex<Vec<Read>>,
}

/// A source whose result is complete, in the state in which it was read.
pub(crate) struct Read {
    pub(crate) pair: Pair,
    pub(crate) object: Object,
}

impl Page {
    pub(crate) fn new(store: &Store, prefix: &Address, items: usize) -> Self {
        Self { store: store.clone(), prefix: prefix.clone(), left: items.into(), read: Mutex::default() }
    }

    /// Records that the result of a source is complete.
    pub(crate) fn note(&self, pair: &Pair, object: &Object) {
        let read = Read { pair: pair.clone(), object: object.without_bytes() };
        self.read.lock().push(read);
    }

    /// Records that an item is done or has failed. Returns `true` for the last item of the page.
    pub(crate) fn ends(&self) -> bool {
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn noted(&self) -> Vec<Read> {
        std::mem::take(&mut *self.read.lock())
    }

    /// Returns the sources whose results are complete. For each source, also returns whether a new listing shows the
    /// version that was read. If the listing does not show this version, a separate request must check the source.
    pub(crate) fn compare(&self) -> Vec<(Read, bool)> {
        let read = self.noted();
        let found = listed(&self.store, &self.prefix, read.iter().map(|it| it.pair.name.as_str())).unwrap_or_default();
        let found: HashMap<_, _> = found.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let compared = read.into_iter().map(|it| {
            let is_shown = found.get(it.pair.name.as_str()).is_some_and(|entry| it.object.is_shown(entry));
            (it, is_shown)
        });
        compared.collect()
    }
}
