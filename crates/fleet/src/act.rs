//! The work on each object: sealing or opening. The user of this crate provides the keys and asks for passphrases.

use std::any::Any;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::error::Foreign;
use crate::source::About;
use crate::stamp::Stamp;
use crate::tree::TreeFile;
use deadpan_remote::{Address, Canceller};
use deadpan_seal::{Metadata, Opened, Sealing};

/// The work on each object: sealing or opening.
pub trait Act: Sync {
    /// The name of the act: `seal` or `open`.
    fn verb(&self) -> &'static str;

    /// Returns the name of the result for a source with this name, or `None` if a source with this name is skipped.
    fn target(&self, name: &str) -> Option<String>;

    /// Returns the name of the source whose result has this name, or `None` if no result has this name.
    fn source(&self, _result: &str) -> Option<String> {
        None
    }

    /// Whether the act can have made the result that a reader returns. The caller has looked at the name already. By
    /// default, the act has made no result.
    ///
    /// # Errors
    /// If the result cannot be read.
    fn has_made(&self, _result: &mut (dyn Read + Send)) -> io::Result<bool> {
        Ok(false)
    }

    /// Returns a remark for the user about sources that were skipped.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Checks a result in a folder that existed before the run. If the result must not stay, returns the reason. The
    /// run then makes the result again if it may replace results, and otherwise reports the reason.
    ///
    /// # Errors
    /// If the result must not stay.
    fn check(&self, _result: &TreeFile) -> Result<(), Foreign> {
        Ok(())
    }

    /// Makes the result of a short source in memory. Returns the result and the sealed metadata, or `None` if the
    /// result is too long for that.
    ///
    /// # Errors
    /// If sealing or opening fails.
    fn whole(&self, about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign>;

    /// Makes the result of a long source as a whole, and not in parts.
    ///
    /// # Errors
    /// If sealing, opening, reading or writing fails.
    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign>;

    /// Begins the work on a long source whose result is made in parts. `start` is the beginning of the source. Returns
    /// `None` if the result cannot be divided.
    ///
    /// # Errors
    /// If no key fits.
    fn divide(&self, about: &About, start: &[u8]) -> Result<Option<Divided>, Foreign>;
}

/// The engine that makes the parts of a long result.
pub enum Divided {
    /// The parts are sealed.
    Seal(Sealing),
    /// The parts are opened.
    Open(Arc<Opened>),
}

/// Makes results: files, and uploads that the user may end early.
pub trait Results: Sync {
    /// Begins a file, in a folder that may not exist yet. `replace` means that the new file replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be made.
    fn create(&self, place: &TreeFile, replace: bool) -> Result<Box<dyn Landing + '_>, Foreign>;

    /// Makes an empty folder, and the missing folders above it. `mode` holds the permissions of the source. Returns
    /// false if the folder is there already.
    ///
    /// # Errors
    /// If the folder cannot be made.
    fn create_folder(&self, place: &TreeFile, mode: u32) -> Result<bool, Foreign>;

    /// Watches an upload in one stream. Returns a guard that the caller drops when the upload is over. If the process
    /// has to end before the upload is over, the canceller ends the upload.
    fn watch(&self, canceller: Canceller, target: &Address) -> Box<dyn Any>;
}

/// A file that gets its name when it is complete.
pub trait Landing: Write + Send {
    /// Puts a stamp on the file, before the file gets its name.
    fn stamp(&mut self, _stamp: Stamp) {}

    /// Gives the file its name, and the time and the permissions that were sealed with the data. Returns false if
    /// another program has meanwhile made a file with this name, and the file may not be replaced.
    ///
    /// # Errors
    /// If the file cannot get its name.
    fn land(self: Box<Self>, metadata: &Metadata) -> Result<bool, Foreign>;
}
