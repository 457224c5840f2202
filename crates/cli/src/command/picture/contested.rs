//! Compares the pictures of a set whose labels contain the same index. The choice between pictures with the same index
//! depends neither on their names nor on their order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::found::Picture;
use deadpan_picture::{Label, Set};

/// Different pictures whose labels contain the same index. The contents of each of these pictures match the checksum in
/// the picture's label. The order of the pictures depends only on their labels and contents.
pub struct Contest {
    pub index: u32,
    pub claims: Vec<(Label, Picture)>,
}

impl Contest {
    /// Returns the paths of the pictures.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.claims.iter().map(|(_, picture)| picture.path.clone())
    }
}

/// The result of comparing the pictures whose labels contain the same index.
#[derive(Default)]
pub struct Contested {
    /// Pictures that differ although all their checksums are right. The contests are sorted by index.
    pub contests: Vec<Contest>,
    /// Pictures whose contents do not match the checksums in their labels.
    pub damaged: Vec<PathBuf>,
}

/// If several pictures have the same index, reads each of these pictures. Removes the damaged pictures from the set.
/// Keeps one picture if several pictures are equal.
pub fn compare(set: &mut Set<Picture>) -> Contested {
    let mut result = Contested::default();
    let indexes: Vec<u32> = set.claimed_twice().collect();
    for index in indexes {
        let mut different = BTreeMap::new();
        for (label, picture) in set.claims(index) {
            match picture.open().and_then(|opened| opened.digest(label.length)) {
                Ok(digest) if digest.checksum == label.checksum => {
                    different.entry((label.to_bytes(), digest)).or_insert_with(|| (*label, picture.clone()));
                }
                _ => result.damaged.push(picture.path.clone()),
            }
        }
        let claims: Vec<_> = different.into_values().collect();
        match claims.first() {
            Some((label, picture)) => set.keep(*label, picture.clone()),
            None => set.remove(index),
        }
        if claims.len() > 1 {
            result.contests.push(Contest { index, claims });
        }
    }
    result
}

/// Goes through all combinations with one picture for each index that several pictures have.
pub struct Choices<'c> {
    contests: &'c [Contest],
    chosen: Vec<usize>,
}

impl<'c> Choices<'c> {
    /// Begins with the combination of the first picture for each index.
    pub fn new(contests: &'c [Contest]) -> Self {
        Self { contests, chosen: vec![0; contests.len()] }
    }

    /// Returns the chosen pictures.
    pub fn pictures(&self) -> impl Iterator<Item = &'c (Label, Picture)> {
        self.contests.iter().zip(&self.chosen).map(|(contest, chosen)| &contest.claims[*chosen])
    }

    /// Goes to the next combination that replaces at least one of the pictures for which `decided` returns true. The
    /// pictures for which `decided` returns true must come before all other pictures. Returns `false` if no other
    /// combination is left.
    pub fn next(&mut self, decided: impl Fn(&Label) -> bool) -> bool {
        let decided = self.pictures().take_while(|(label, _)| decided(label)).count();
        self.chosen[decided..].fill(0);
        for (chosen, contest) in self.chosen[..decided].iter_mut().zip(self.contests).rev() {
            *chosen += 1;
            if *chosen < contest.claims.len() {
                return true;
            }
            *chosen = 0;
        }
        false
    }
}

/// Returns the index of the first part of the data that does not begin where the preceding part ends.
pub fn gap(set: &Set<Picture>) -> Option<u32> {
    let mut end = 0;
    for (label, _) in set.pictures().filter(|(label, _)| !label.is_spare()) {
        if label.offset != end {
            return Some(label.index);
        }
        end += u64::from(label.length);
    }
    (end != set.total()).then(|| set.count() - 1)
}
