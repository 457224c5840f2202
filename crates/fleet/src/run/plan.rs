//! Plans a run: finds the sources that have no result yet.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::pool::{Item, Pool};
use super::{Outcome, Pair, Run, unplaced};
use crate::clock::is_older;
use crate::listing::path_of;
use crate::maker::PART;
use crate::page::{FEW, Page};
use crate::place::{Known, Place};
use crate::stamp::Stamp;
use crate::{Error, Spot};
use deadpan_remote::Entry;

impl Run<'_> {
    /// Compares a page of sources with the existing targets, and queues the sources without a result.
    pub(super) fn plan(
        &self,
        pool: &Pool<'_>,
        from: &Place,
        to: &Place,
        page: Vec<(Entry, String)>,
    ) -> Result<(), Error> {
        let there =
            to.which(page.iter().map(|(_, target)| target.as_str()), !self.is_opening(), self.stamps.as_ref())?;
        let (mut targets, mut planned) = (HashSet::new(), Vec::new());
        for (found, target) in page {
            let spots = from.spot(&found.name).and_then(|source| Ok((source, to.spot(&target)?)));
            let known = there.get(&target);
            let is_mine = self.shard.has(&found.name);
            let (source, target) = match spots {
                Ok(spots) => spots,
                Err(_) if !is_mine => continue,
                Err(error) => {
                    let path = match from {
                        Place::Folder(tree) => tree.path().join(path_of(&found.name)),
                        Place::Prefix(..) => format!("{}/{}", from.text().trim_end_matches('/'), found.name).into(),
                    };
                    self.observer.ended(&unplaced(found.name, path), Outcome::Failed(error));
                    continue;
                }
            };
            let is_first = targets.insert(target.text());
            let pair = Pair { name: found.name, source, target, length: found.length, replace: known.is_some() };
            if !is_first {
                // If two sources have the same result, later runs would mistake the result of one source for the result
                // of the other source.
                self.observer.ended(&pair, Outcome::Failed(Error::Twice));
                continue;
            }
            // The parts of a long result are distributed over all shares of the job.
            if !(is_mine || found.length >= self.long && self.has_part(&pair, found.length)) {
                continue;
            }
            let stamp = match (&pair.source, &self.stamps, &found.tag) {
                (Spot::File(_), Some(key), Some(tag)) => Some(key.stamp(tag)),
                _ => None,
            };
            match self.verdict(&pair, found.modified, stamp, known) {
                Some(outcome) if is_mine => self.observer.ended(&pair, outcome),
                Some(_) => {}
                None => planned.push(pair),
            }
        }
        let items = planned.len();
        let page = match from {
            Place::Prefix(store, prefix) if items > FEW => Some(Arc::new(Page::new(store, prefix, items))),
            _ => None,
        };
        for pair in planned {
            self.observer.planned(Some(pair.length));
            pool.push(Item { pair, page: page.clone() });
        }
        Ok(())
    }

    /// If the existing target shows that a result is not needed or not possible, returns the outcome of the pair.
    /// Returns `None` if the result has to be made.
    /// `stamp` is the stamp of the source's present version.
    pub(super) fn verdict(
        &self,
        pair: &Pair,
        modified: SystemTime,
        stamp: Option<Stamp>,
        known: Option<&Known>,
    ) -> Option<Outcome> {
        let Some(known) = known else { return self.rehearse.then_some(Outcome::Would(pair.length)) };
        // A sealed object is longer than its source.
        let is_short = !self.is_opening() && known.length <= pair.length;
        let is_old = match (known.stamp, stamp) {
            (Some(known), Some(now)) => known != now,
            _ => known.written.map_or(self.replace, |written| is_older(written, modified, pair)),
        };
        let why = match &pair.target {
            _ if is_old => Some(Error::Outdated),
            _ if is_short => Some(Error::Short),
            Spot::File(file) => self.act.check(file).err().map(Error::Foreign),
            Spot::Object(..) => None,
        };
        match why {
            None => Some(Outcome::There),
            Some(why) if !self.replace => Some(Outcome::Failed(why)),
            Some(_) => self.rehearse.then_some(Outcome::Would(pair.length)),
        }
    }

    /// Whether this share may have to make a part of a result. A result has at most `length / PART + 2` parts, and
    /// parts with neighboring numbers are in different shares.
    fn has_part(&self, pair: &Pair, length: u64) -> bool {
        let most = (length / PART + 2).min(self.shard.count());
        self.is_divided(pair) && (0..most).any(|part| self.shard.has_part(&pair.name, part))
    }

    /// Whether the result may be made in parts.
    pub(super) fn is_divided(&self, pair: &Pair) -> bool {
        self.job.is_some() && matches!(pair.target, Spot::Object(..))
    }
}
