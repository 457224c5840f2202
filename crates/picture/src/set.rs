//! Sets of pictures: which pictures belong together, and which ones are missing.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Label;

/// Sorts pictures into sets by their labels, in any order.
///
/// `T` is what the caller knows about a picture: its path, for example.
#[derive(Debug)]
pub struct Sets<T> {
    sets: Vec<Set<T>>,
    by_key: BTreeMap<Key, usize>,
}

/// What is the same in all labels of a set.
type Key = ([u8; 16], u32, u32, u64);

fn key(label: &Label) -> Key {
    (label.set, label.count, label.spares, label.total)
}

impl<T> Sets<T> {
    /// Begins without pictures.
    #[must_use]
    pub fn new() -> Self {
        Self { sets: Vec::new(), by_key: BTreeMap::new() }
    }

    /// Whether there is no picture.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Adds a picture to its set.
    pub fn add(&mut self, label: Label, picture: T) {
        let sets = &mut self.sets;
        let at = *self.by_key.entry(key(&label)).or_insert_with(|| {
            sets.push(Set { label, pictures: BTreeMap::new(), conflicts: BTreeMap::new() });
            sets.len() - 1
        });
        sets[at].add(label, picture);
    }

    /// Returns the sets in the order in which their first pictures were added.
    #[must_use]
    pub fn into_sets(self) -> Vec<Set<T>> {
        self.sets
    }
}

impl<T> Default for Sets<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The pictures of one set.
#[derive(Clone, Debug)]
pub struct Set<T> {
    /// A label of the set.
    label: Label,
    pictures: BTreeMap<u32, Copies<T>>,
    /// The pictures with an index that another picture has with another label.
    conflicts: BTreeMap<u32, Vec<(Label, T)>>,
}

/// Pictures that have the same label.
#[derive(Clone, Debug)]
struct Copies<T> {
    label: Label,
    /// The one in use is the first.
    pictures: Vec<T>,
}

impl<T> Set<T> {
    /// Returns the name of the set, which is random.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        self.label.set
    }

    /// Returns how many pictures of the set carry data, present or not.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.label.count
    }

    /// Returns how many spare pictures the set has, present or not.
    #[must_use]
    pub fn spares(&self) -> u32 {
        self.label.spares
    }

    /// Returns the length of the data.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.label.total
    }

    /// Returns the pictures that are present, in the order of their indexes. Of copies, returns the one in use.
    pub fn pictures(&self) -> impl Iterator<Item = (&Label, &T)> {
        self.pictures.values().filter_map(|copies| Some((&copies.label, copies.pictures.first()?)))
    }

    /// Returns the picture with this index, if it is present.
    #[must_use]
    pub fn picture(&self, index: u32) -> Option<(&Label, &T)> {
        let copies = self.pictures.get(&index)?;
        Some((&copies.label, copies.pictures.first()?))
    }

    /// Returns the pictures that are present several times, with all copies. They do no harm.
    pub fn doubled(&self) -> impl Iterator<Item = (&Label, &[T])> {
        let doubled = self.pictures.values().filter(|copies| copies.pictures.len() > 1);
        doubled.map(|copies| (&copies.label, &*copies.pictures))
    }

    /// Returns the pictures that claim the index of another picture with another label, and are not in use. Which of
    /// the labels is in use depends on the order in which the pictures were added, until [`Set::keep`] decides.
    pub fn conflicts(&self) -> impl Iterator<Item = (&Label, &T)> {
        self.conflicts.values().flatten().map(|(label, picture)| (label, picture))
    }

    /// Returns the indexes that several pictures claim, with the same label or with different ones.
    pub fn claimed_twice(&self) -> impl Iterator<Item = u32> {
        let several =
            |(index, copies): &(&u32, &Copies<T>)| copies.pictures.len() > 1 || self.conflicts.contains_key(*index);
        self.pictures.iter().filter(several).map(|(index, _)| *index)
    }

    /// Returns all pictures that claim an index, those in use first.
    pub fn claims(&self, index: u32) -> impl Iterator<Item = (&Label, &T)> {
        let copies = self.pictures.get(&index);
        let copies = copies.into_iter().flat_map(|it| it.pictures.iter().map(|picture| (&it.label, picture)));
        copies.chain(self.conflicts.get(&index).into_iter().flatten().map(|(label, picture)| (label, picture)))
    }

    /// Uses this picture, with the index in its label, and takes all others with this index out.
    pub fn keep(&mut self, label: Label, picture: T) {
        self.conflicts.remove(&label.index);
        self.pictures.insert(label.index, Copies { label, pictures: vec![picture] });
    }

    /// Takes all pictures with this index out.
    pub fn remove(&mut self, index: u32) {
        self.conflicts.remove(&index);
        self.pictures.remove(&index);
    }

    /// Returns the indexes of the pictures that are missing, as ranges. Indexes from [`Set::count`] on are those of
    /// spare pictures.
    pub fn missing(&self) -> impl Iterator<Item = Range<u32>> {
        let all = self.count().saturating_add(self.spares());
        let present = self.pictures.keys().copied().chain([all]);
        let gaps = present.scan(0, |next, index| {
            let gap = *next..index;
            *next = index.saturating_add(1);
            Some(gap)
        });
        gaps.filter(|gap| !gap.is_empty())
    }

    /// Returns how many pictures that carry data are missing.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.count() - self.pictures.range(..self.count()).count() as u32
    }

    /// Returns how many spare pictures are present.
    #[must_use]
    pub fn spares_present(&self) -> u32 {
        self.pictures.range(self.count()..).count() as u32
    }

    /// Returns whether all pictures that carry data are present.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost() == 0
    }

    /// Returns whether the data can be read: all pictures that carry data are present, or there are as many spare ones
    /// as are missing.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.lost() <= self.spares_present()
    }

    /// Takes a picture out that turned out to be damaged. A copy takes its place, if there is one.
    pub fn reject(&mut self, index: u32) -> Option<T> {
        let copies = self.pictures.get_mut(&index)?;
        let rejected = (!copies.pictures.is_empty()).then(|| copies.pictures.remove(0));
        if copies.pictures.is_empty() {
            self.pictures.remove(&index);
        }
        rejected
    }

    /// Returns offset and length of the part with this index, also if its picture is missing. Returns `None` if the
    /// labels that are present do not tell.
    #[must_use]
    pub fn part(&self, index: u32) -> Option<(u64, u32)> {
        if let Some(copies) = self.pictures.get(&index) {
            return Some((copies.label.offset, copies.label.length));
        }
        let (count, total) = (self.count(), self.total());
        if index >= count {
            return None;
        }
        let begin = match index.checked_sub(1).map(|before| self.pictures.get(&before)) {
            None => Some(0),
            Some(before) => before.and_then(|it| it.label.offset.checked_add(u64::from(it.label.length))),
        };
        let end = match index + 1 < count {
            true => self.pictures.get(&(index + 1)).map(|after| after.label.offset),
            false => Some(total),
        };
        let equal = || {
            let part = self.equal_part()?;
            let begin = u64::from(index).checked_mul(part)?;
            Some((begin, total.min(begin.checked_add(part)?)))
        };
        let (begin, end) = begin.zip(end).or_else(equal)?;
        Some((begin, u32::try_from(end.checked_sub(begin)?).ok()?))
    }

    /// Returns the length that all parts except the last have in a set with spare pictures.
    fn equal_part(&self) -> Option<u64> {
        let mut labels = self.pictures.values().map(|copies| &copies.label);
        labels.find_map(|label| match label.index {
            _ if self.spares() == 0 => None,
            // A spare part is as long as the longest part, which is a multiple of 64 if there are several.
            _ if label.is_spare() && self.count() > 1 => Some(u64::from(label.length)),
            _ if label.is_spare() || self.count() == 1 => Some(self.total()),
            index if index + 1 < self.count() => Some(u64::from(label.length)),
            index => Some(label.offset / u64::from(index)),
        })
    }

    fn add(&mut self, label: Label, picture: T) {
        let copies = self.pictures.entry(label.index).or_insert_with(|| Copies { label, pictures: Vec::new() });
        match copies.label == label {
            true => copies.pictures.push(picture),
            false => self.conflicts.entry(label.index).or_default().push((label, picture)),
        }
    }
}
