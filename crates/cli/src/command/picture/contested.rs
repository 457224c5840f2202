//! Pictures that claim the same place in a set. Neither names nor order decide between them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::found::Picture;
use deadpan_picture::{Label, Set};

/// Different pictures that claim the same index, all with the checksums in their labels. The order depends on labels
/// and contents only.
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

/// What was found out about pictures that claim the same index.
#[derive(Default)]
pub struct Contested {
    /// Pictures that differ although the checksums of all of them are right, in the order of their indexes.
    pub contests: Vec<Contest>,
    /// Pictures that do not have their checksums.
    pub damaged: Vec<PathBuf>,
}

/// Reads each picture whose index another one claims, too. Takes the damaged ones out of the set. Of equal ones, keeps
/// one.
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

/// The choices between contested pictures, in an order in which none comes twice.
pub struct Choices<'c> {
    contests: &'c [Contest],
    chosen: Vec<usize>,
}

impl<'c> Choices<'c> {
    /// Begins with the first picture of each contest.
    pub fn new(contests: &'c [Contest]) -> Self {
        Self { contests, chosen: vec![0; contests.len()] }
    }

    /// Returns the chosen pictures.
    pub fn pictures(&self) -> impl Iterator<Item = &'c (Label, Picture)> {
        self.contests.iter().zip(&self.chosen).map(|(contest, chosen)| &contest.claims[*chosen])
    }

    /// Goes to the next choice with another picture among those that `decided` selects. The selected ones must come
    /// first. Returns `false` if there is none.
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

/// Returns the index of the first part that does not begin where the one before it ends.
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
