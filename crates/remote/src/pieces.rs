//! Uploads whose parts come from several places: threads, processes, machines.

use bytes::Bytes;
use object_store::PutPayload;
use object_store::multipart::PartId;
use object_store::path::Path;

use crate::object::wait;
use crate::{Address, Error, Problem, Store};

/// An upload in parts. Whoever knows its [`id`](Pieces::id) can add parts, in any order, and more than once: the last
/// one with a number counts. The object gets its name in [`complete`](Pieces::complete).
#[derive(Clone, Debug)]
pub struct Pieces {
    store: Store,
    address: Address,
    path: Path,
    id: String,
}

impl Pieces {
    /// Begins an upload.
    ///
    /// # Errors
    /// If the store does not allow it.
    pub fn begin(store: &Store, address: &Address) -> Result<Self, Error> {
        let path = Store::path(address)?;
        let id = wait(address, store.parts.create_multipart(&path))?;
        Ok(Self { store: store.clone(), address: address.clone(), path, id })
    }

    /// Goes on with an upload that was begun elsewhere.
    ///
    /// # Errors
    /// If there can be no such object.
    pub fn again(store: &Store, address: &Address, id: &str) -> Result<Self, Error> {
        let path = Store::path(address)?;
        Ok(Self { store: store.clone(), address: address.clone(), path, id: id.to_owned() })
    }

    /// Returns the name that the store gave to the upload.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sends part `number`, counted from 0, and returns what the store calls it.
    ///
    /// # Errors
    /// [`Problem::Ended`] if the upload is over; or if the store fails.
    pub fn put(&self, number: u64, bytes: Bytes) -> Result<String, Error> {
        let sent = self.store.parts.put_part(&self.path, &self.id, number as usize, PutPayload::from(bytes));
        wait(&self.address, sent).map(|part| part.content_id)
    }

    /// Puts the parts together, which are named as [`put`](Pieces::put) named them. Without `replace`, an object that
    /// exists stays.
    ///
    /// # Errors
    /// [`Problem::Exists`] if there is an object; [`Problem::Ended`] if the upload is over; [`Problem::WrongPart`] if a
    /// part is not there, or was sent again; or if the store fails.
    pub fn complete(&self, parts: Vec<String>, replace: bool) -> Result<(), Error> {
        if !replace {
            self.store.wire.be_careful(&self.id);
        }
        let parts = parts.into_iter().map(|content_id| PartId { content_id }).collect();
        match wait(&self.address, self.store.parts.complete_multipart(&self.path, &self.id, parts)) {
            Err(error) if error.problem() == Problem::Changed => Err(Error::new(&self.address, Problem::Exists, "")),
            other => other.map(drop),
        }
    }

    /// Ends the upload. Its parts are removed.
    ///
    /// # Errors
    /// If the store does not allow it. An upload that is over is no error.
    pub fn abort(&self) -> Result<(), Error> {
        match wait(&self.address, self.store.parts.abort_multipart(&self.path, &self.id)) {
            Err(error) if !matches!(error.problem(), Problem::Ended | Problem::Missing) => Err(error),
            _ => Ok(()),
        }
    }
}
