//! Sets of pictures: which pictures belong together, and which pictures are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::Label;

/// Sorts pictures into sets by their labels, in any order.
///
/// `T` is the caller's data about a picture, for example its path.
#[derive(Debug)]
pub struct Sets<T> {
    sets: Vec<Set<T>>,
    by_key: BTreeMap<SetKey, usize>,
}

/// The values that are the same in all labels of a set.
type SetKey = ([u8; 16], u32, u32, u64);

fn key(label: &Label) -> SetKey {
    (label.set, label.count, label.spares, label.total)
}

impl<T> Sets<T> {
    /// Begins without pictures.
    #[must_use]
    pub fn new() -> Self {
        Self { sets: Vec::new(), by_key: BTreeMap::new() }
    }

    /// Whether no picture was added.
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
    /// The pictures whose index also occurs in a different label of another picture.
    conflicts: BTreeMap<u32, Vec<(Label, T)>>,
}

/// Pictures that have the same label.
#[derive(Clone, Debug)]
struct Copies<T> {
    label: Label,
    /// The first picture is used; the other pictures are copies.
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

    /// Returns the pictures that are present, in the order of their indexes. If a picture has copies, returns only the
    /// copy in use.
    pub fn pictures(&self) -> impl Iterator<Item = (&Label, &T)> {
        self.pictures.values().filter_map(|copies| Some((&copies.label, copies.pictures.first()?)))
    }

    /// Returns the picture with this index, if it is present.
    #[must_use]
    pub fn picture(&self, index: u32) -> Option<(&Label, &T)> {
        let copies = self.pictures.get(&index)?;
        Some((&copies.label, copies.pictures.first()?))
    }

    /// Returns the pictures that are present several times, with all copies. Copies do no harm.
    pub fn doubled(&self) -> impl Iterator<Item = (&Label, &[T])> {
        let doubled = self.pictures.values().filter(|copies| copies.pictures.len() > 1);
        doubled.map(|copies| (&copies.label, &*copies.pictures))
    }

    /// Returns the pictures that are not in use because another picture with a different label has the same index. The
    /// order in which the pictures were added decides which label is in use, until [`Set::keep`] decides otherwise.
    pub fn conflicts(&self) -> impl Iterator<Item = (&Label, &T)> {
        self.conflicts.values().flatten().map(|(label, picture)| (label, picture))
    }

    /// Returns the indexes that occur in the labels of several pictures, with the same label or with different labels.
    pub fn claimed_twice(&self) -> impl Iterator<Item = u32> {
        let several =
            |(index, copies): &(&u32, &Copies<T>)| copies.pictures.len() > 1 || self.conflicts.contains_key(*index);
        self.pictures.iter().filter(several).map(|(index, _)| *index)
    }

    /// Returns all pictures whose label has this index. The pictures in use come first.
    pub fn claims(&self, index: u32) -> impl Iterator<Item = (&Label, &T)> {
        let copies = self.pictures.get(&index);
        let copies = copies.into_iter().flat_map(|it| it.pictures.iter().map(|picture| (&it.label, picture)));
        copies.chain(self.conflicts.get(&index).into_iter().flatten().map(|(label, picture)| (label, picture)))
    }

    /// Uses this picture for the index in its label, and removes all other pictures with this index.
    pub fn keep(&mut self, label: Label, picture: T) {
        self.conflicts.remove(&label.index);
        self.pictures.insert(label.index, Copies { label, pictures: vec![picture] });
    }

    /// Removes all pictures with this index.
    pub fn remove(&mut self, index: u32) {
        self.conflicts.remove(&index);
        self.pictures.remove(&index);
    }

    /// Returns the indexes of the pictures that are missing, as ranges. Pictures whose index is [`Set::count`] or
    /// higher are spare pictures.
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

    /// Returns whether the data can be read: all pictures that carry data are present, or there are at least as many
    /// spare pictures as missing pictures.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.lost() <= self.spares_present()
    }

    /// Removes a damaged picture. If the set has another copy of the damaged picture, the copy replaces this picture.
    pub fn reject(&mut self, index: u32) -> Option<T> {
        let copies = self.pictures.get_mut(&index)?;
        let rejected = (!copies.pictures.is_empty()).then(|| copies.pictures.remove(0));
        if copies.pictures.is_empty() {
            self.pictures.remove(&index);
        }
        rejected
    }

    /// Removes and returns the pictures whose labels do not match most of the other labels. In a set with spare
    /// pictures, all parts except the last have the same length, and each label determines this length. If a group of
    /// pictures agrees on the length, and only this group is large enough to read the data, all other pictures are
    /// removed. Otherwise no picture is removed.
    pub fn take_misfits(&mut self) -> Vec<T> {
        if self.spares() == 0 {
            return Vec::new();
        }
        let mut indexes: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        let labels = self.pictures.values().map(|copies| &copies.label).chain(self.conflicts().map(|(label, _)| label));
        for label in labels {
            if let Some(length) = usual_length(label) {
                indexes.entry(length).or_default().insert(label.index);
            }
        }
        let mut enough = indexes.iter().filter(|(_, indexes)| indexes.len() >= self.count() as usize);
        let (Some((&length, _)), None) = (enough.next(), enough.next()) else { return Vec::new() };
        let (mut misfits, conflicts) = (Vec::new(), std::mem::take(&mut self.conflicts));
        let in_use = std::mem::take(&mut self.pictures).into_values().flat_map(|copies| {
            let label = copies.label;
            copies.pictures.into_iter().map(move |picture| (label, picture))
        });
        for (label, picture) in in_use.chain(conflicts.into_values().flatten()) {
            if usual_length(&label) == Some(length) { self.add(label, picture) } else { misfits.push(picture) }
        }
        misfits
    }

    /// Returns offset and length of the part with this index, even if its picture is missing. Returns `None` if offset
    /// and length do not follow from the labels that are present.
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
        let end = if index + 1 < count {
            self.pictures.get(&(index + 1)).map(|after| after.label.offset)
        } else {
            Some(total)
        };
        let equal = || {
            let part = self.equal_part()?;
            let begin = u64::from(index).checked_mul(part)?;
            Some((begin, total.min(begin.checked_add(part)?)))
        };
        let (begin, end) = begin.zip(end).or_else(equal)?;
        Some((begin, u32::try_from(end.checked_sub(begin)?).ok()?))
    }

    /// In a set with spare pictures, all parts except the last part have the same length, which this function returns.
    fn equal_part(&self) -> Option<u64> {
        let mut labels = self.pictures.values().map(|copies| &copies.label);
        labels.find_map(|label| match label.index {
            _ if self.spares() == 0 => None,
            // A spare part is as long as the longest part. If there are several parts, this length is a multiple of 64.
            _ if label.is_spare() && self.count() > 1 => Some(u64::from(label.length)),
            _ if label.is_spare() || self.count() == 1 => Some(self.total()),
            index if index + 1 < self.count() => Some(u64::from(label.length)),
            index => Some(label.offset / u64::from(index)),
        })
    }

    fn add(&mut self, label: Label, picture: T) {
        let copies = self.pictures.entry(label.index).or_insert_with(|| Copies { label, pictures: Vec::new() });
        if copies.label == label {
            copies.pictures.push(picture)
        } else {
            self.conflicts.entry(label.index).or_default().push((label, picture))
        }
    }
}

/// In a set with spare pictures, all parts except the last part have the same length: this function returns the length
/// that follows from a label. The spare parts have the same length. Returns `None` if the label cannot belong to a set
/// with spare pictures.
fn usual_length(label: &Label) -> Option<u64> {
    let (index, last) = (u64::from(label.index), u64::from(label.count) - 1);
    let length = match index {
        _ if last == 0 => label.total.checked_next_multiple_of(64)?,
        _ if label.is_spare() => u64::from(label.length),
        index if index < last => u64::from(label.length),
        index => label.offset / index,
    };
    let offset = if label.is_spare() { 0 } else { index.checked_mul(length)? };
    let is_last = index == last && !label.is_spare();
    let part = if is_last { label.total.checked_sub(offset)? } else { length };
    let fits = length.is_multiple_of(64)
        && (label.offset, u64::from(label.length)) == (offset, part)
        && label.total <= u64::from(label.count).checked_mul(length)?
        && (last == 0 || last.checked_mul(length)? < label.total);
    fits.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of a set with 3 pictures that carry 3000 bytes, and 2 spare pictures.
    fn labels() -> Vec<Label> {
        let label = |index: u32| {
            let offset = if index < 3 { u64::from(index) * 1024 } else { 0 };
            let length = if index == 2 { 952 } else { 1024 };
            Label { set: [7; 16], index, count: 3, spares: 2, length, offset, total: 3000, checksum: 9 }
        };
        (0..5).map(label).collect()
    }

    /// Returns the positions of the labels that do not match the other labels.
    fn misfits(labels: &[Label]) -> Vec<usize> {
        let mut sets = Sets::new();
        labels.iter().enumerate().for_each(|(at, label)| sets.add(*label, at));
        let mut set = sets.into_sets().remove(0);
        let mut misfits = set.take_misfits();
        misfits.sort_unstable();
        let left: usize = set.pictures.values().map(|copies| copies.pictures.len()).sum();
        assert_eq!(left + set.conflicts().count() + misfits.len(), labels.len());
        assert!(set.claims(0).chain(set.claims(4)).all(|(_, at)| !misfits.contains(at)));
        misfits
    }

    #[test]
    fn pictures_that_fit_each_other_stay() {
        let all = labels();
        assert_eq!(misfits(&all), []);
        assert_eq!(misfits(&all[2..]), []);
        assert_eq!(misfits(&[&all[1..], &all[2..4]].concat()), []);
        for total in [0, 1, 63, 64, 65] {
            let one = Label { count: 1, spares: 1, index: 0, length: total, offset: 0, total: total.into(), ..all[0] };
            let spare = Label { index: 1, length: total.next_multiple_of(64), ..one };
            assert_eq!(misfits(&[one, spare]), []);
            assert_eq!(misfits(&[spare]), []);
            assert_eq!(misfits(&[one, Label { length: spare.length + 64, ..spare }]), [1]);
        }
        let huge = Label { count: 1, spares: 1, index: 0, length: 9, offset: 0, total: u64::MAX, ..all[0] };
        assert_eq!(misfits(&[huge, Label { index: 1, length: 64, ..huge }]), []);
    }

    #[test]
    fn the_pictures_that_are_enough_decide_about_the_others() {
        let all = labels();
        let odd = [
            Label { length: 1088, ..all[3] },
            Label { length: 64, ..all[4] },
            Label { length: 1088, ..all[0] },
            Label { offset: 64, ..all[1] },
            Label { length: 1088, offset: 1088, ..all[1] },
            Label { length: 824, offset: 2176, ..all[2] },
            Label { length: 951, ..all[2] },
        ];
        for odd in odd {
            // The wrong picture is found at any position, and whether or not the correct picture with the same index is
            // present.
            assert_eq!(misfits(&[&all[..], &[odd]].concat()), [5], "{odd:?}");
            assert_eq!(misfits(&[&[odd], &all[..]].concat()), [0], "{odd:?}");
            let mut replaced = all.clone();
            replaced[odd.index as usize] = odd;
            assert_eq!(misfits(&replaced), [odd.index as usize], "{odd:?}");
        }
    }

    #[test]
    fn nothing_decides_if_no_pictures_or_two_kinds_are_enough() {
        let all = labels();
        let others = [0, 3, 4].map(|at: usize| Label { length: 1088, ..all[at] });
        assert_eq!(misfits(&[all[0], all[1], others[1]]), []);
        assert_eq!(misfits(&[&all[..], &others].concat()), []);
    }
}
