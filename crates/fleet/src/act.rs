//! What is done to each object. The keys, and how somebody is asked for them, are matters of whoever uses this crate.

use std::any::Any;
use std::io::{Read, Write};
use std::sync::Arc;

use crate::error::Foreign;
use crate::source::About;
use crate::tree::TreeFile;
use deadpan_remote::{Address, Canceller};
use deadpan_seal::{Metadata, Opened, Sealing};

/// What is done to each object.
pub trait Act: Sync {
    /// The name of the act: `seal` or `open`.
    fn verb(&self) -> &'static str;

    /// Returns the name of the result for a source of this name; `None` if such a source is left out.
    fn target(&self, name: &str) -> Option<String>;

    /// Returns what the user should know of sources that were left out.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Makes the result of a short source, and what was sealed about it.
    ///
    /// # Errors
    /// If sealing or opening fails.
    fn whole(&self, about: &About, data: &[u8]) -> Result<(Vec<u8>, Metadata), Foreign>;

    /// Makes the result of a long source that is not divided.
    ///
    /// # Errors
    /// If sealing or opening fails, or reading, or writing.
    fn stream(
        &self,
        about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign>;

    /// Begins with a long source that is made in parts, of which `start` is the beginning; `None` if it cannot be
    /// divided.
    ///
    /// # Errors
    /// If no key fits.
    fn divide(&self, about: &About, start: &[u8]) -> Result<Option<Divided>, Foreign>;
}

/// What makes the parts of a long result.
pub enum Divided {
    /// They are sealed.
    Seal(Sealing),
    /// They are opened.
    Open(Arc<Opened>),
}

/// How results come about: files, and uploads that the user may end early.
pub trait Results: Sync {
    /// Begins a file, in a folder that may not exist yet. `replace` tells that a file which is there is to be replaced.
    ///
    /// # Errors
    /// If the file cannot be made.
    fn create(&self, place: &TreeFile, replace: bool) -> Result<Box<dyn Landing + '_>, Foreign>;

    /// Is told of an upload in one stream, and returns what is dropped when the upload is over. If the process has to
    /// end before, the canceller ends the upload.
    fn watch(&self, canceller: Canceller, target: &Address) -> Box<dyn Any>;
}

/// A file that gets its name when all of it is there.
pub trait Landing: Write + Send {
    /// Gives the file its name, and the time and the permissions that were sealed with the data.
    ///
    /// # Errors
    /// If the file cannot get its name.
    fn land(self: Box<Self>, metadata: &Metadata) -> Result<(), Foreign>;
}
