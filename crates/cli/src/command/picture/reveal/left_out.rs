//! Messages about files from which nothing was revealed.

use super::{Lack, NAMES, names};
use crate::command::picture::cover;
use crate::command::picture::found::Search;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::count;

impl Search {
    /// Returns the failure for a search that found no data. Returns `None` if the failures of damaged files already
    /// report everything.
    pub(super) fn nothing(&self) -> Option<Failure> {
        let (lost, lossy) = (names(&self.lost), names(&self.lossy));
        let mut failure = match (self.lost.is_empty(), self.lossy.is_empty()) {
            (false, _) => Failure::new(
                Exit::Data,
                format!("{lost}: written again with loss, or scaled, so the data are gone"),
                "ask for the original files: send them as files, not as photos",
            ),
            (true, false) if self.foreign.is_empty() => Failure::new(
                Exit::Data,
                format!("{lossy}: compressed with loss, and no data survive that"),
                "ask for the original PNG or WebP files: send them as files, not as photos",
            ),
            _ if self.foreign.is_empty() && !self.damaged.is_empty() => return None,
            _ if self.foreign.is_empty() => return Some(self.no_pictures()),
            _ => Failure::new(
                Exit::Key,
                format!("no data that your keys reveal in {}", names(&self.foreign)),
                "name the key with -i, or try a passphrase with -p; a picture that was cropped, scaled, turned or \
                compressed with loss carries nothing any more",
            ),
        };
        if !self.foreign.is_empty() && !self.lossy.is_empty() {
            failure.notes.push(format!("compressed with loss, which no data survive: {lossy}"));
        }
        let inside = cover::folders_in(&self.folders);
        if !inside.is_empty() {
            failure.notes.push(format!("not searched, because only folders that are named are: {}", names(&inside)));
        }
        Some(failure)
    }

    fn no_pictures(&self) -> Failure {
        let these = if self.folders.len() == 1 { "this folder" } else { "these folders" };
        let message = if self.files.is_empty() {
            format!("there are no files in {these}")
        } else {
            format!("no file in {these} is a PNG, WebP or JPEG picture")
        };
        let inside = cover::folders_in(&self.folders);
        let hint = if inside.is_empty() {
            "name the pictures, or the folder that they are in".into()
        } else {
            format!("folders in a folder are not searched; name them too: {}", names(&inside))
        };
        Failure::new(Exit::Data, message, hint).about(&names(&self.folders))
    }

    pub(super) fn say_damaged(&self) {
        self.damaged.iter().take(NAMES).for_each(|(_, failure)| failure.say());
        if let Some(more) = self.damaged.len().checked_sub(NAMES).filter(|more| *more > 0) {
            crate::tell::console::say(&format!(
                "note: {} cannot be read either",
                count(more as u64, "more file", "more files")
            ));
        }
    }

    /// Returns notes on the pictures that were not used.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.lost.is_empty() {
            notes.push(format!("written again with loss, or scaled, so their data are gone: {}", names(&self.lost)));
        }
        if !self.lossy.is_empty() {
            notes.push(format!("compressed with loss, which no data survive: {}", names(&self.lossy)));
        }
        if !self.foreign.is_empty() {
            let with = if self.tried_passphrase { "your keys or the passphrase" } else { "your keys" };
            let advice = if self.used_passphrase {
                "; if they have another passphrase, reveal them in a command of their own"
            } else {
                ""
            };
            notes.push(format!("no data that {with} reveal: {}{advice}", names(&self.foreign)));
        }
        notes.extend(self.unreadable.iter().take(NAMES).map(|(_, failure)| format!("left out: {}", failure.message)));
        if let Some(more) = self.unreadable.len().checked_sub(NAMES).filter(|more| *more > 0) {
            notes.push(format!("{} left out, too", count(more as u64, "more file was", "more files were")));
        }
        notes
    }

    /// Returns the reason why a set may lack pictures: the pictures are missing, or may be among the files that cannot
    /// be read.
    pub(super) fn lack(&self) -> Lack {
        if self.unreadable.is_empty() && self.damaged.is_empty() { Lack::Missing } else { Lack::Unreadable }
    }
}
