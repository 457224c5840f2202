//! Keeps a limited number of files open: the files that were used most recently.

use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of files that are open for a set. By default, systems allow a process 256 to 1024 open files.
const MOST: usize = 128;

/// Open items, by the index of their picture. Another thread may still use an item that was removed.
#[derive(Debug)]
pub(crate) struct Open<T> {
    items: HashMap<u32, (Arc<T>, u64)>,
    clock: u64,
    most: usize,
}

impl<T> Open<T> {
    pub(crate) fn new() -> Self {
        Self { items: HashMap::new(), clock: 0, most: MOST }
    }

    pub(crate) fn get(&mut self, index: u32) -> Option<Arc<T>> {
        self.clock += 1;
        let (item, used) = self.items.get_mut(&index)?;
        *used = self.clock;
        Some(Arc::clone(item))
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        self.items.contains_key(&index)
    }

    /// Inserts an item. If there are too many items, removes the item that was used least recently.
    pub(crate) fn insert(&mut self, index: u32, item: T) -> Arc<T> {
        self.limit(self.most - 1, |_| true);
        self.clock += 1;
        let item = Arc::new(item);
        self.items.insert(index, (Arc::clone(&item), self.clock));
        item
    }

    /// Allows only half as many open items as are open now. Returns `false` if at most one item is open.
    pub(crate) fn shrink(&mut self) -> bool {
        let open = self.items.len();
        if open > 1 {
            self.most = open / 2;
            self.limit(self.most, |_| true);
        }
        open > 1
    }

    pub(crate) fn remove(&mut self, index: u32) {
        self.items.remove(&index);
    }

    /// Removes items of one kind until at most `most` items of this kind are open. Removes those items first that were
    /// used least recently. Returns the removed items.
    pub(crate) fn limit(&mut self, most: usize, kind: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut out = Vec::new();
        while self.items.values().filter(|(item, _)| kind(item)).count() > most {
            let of_kind = self.items.iter().filter(|(_, (item, _))| kind(item));
            let Some(oldest) = of_kind.min_by_key(|(_, (_, used))| *used).map(|(index, _)| *index) else { break };
            out.extend(self.items.remove(&oldest).map(|(item, _)| item));
        }
        out
    }
}
