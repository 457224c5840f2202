//! A sealed input, in armor or not: its header, and what follows.

use crate::armor::{self, Unarmored};
use crate::failure::Failure;
use deadpan_seal::{Header, Stanza};
use std::fs::File;
use std::io::{Cursor, Read};

/// A sealed input that was read up to the end of its header.
pub struct Sealed<'a> {
    pub header: Header,
    pub stanzas: Vec<Stanza>,
    pub armored: bool,
    /// What follows the header.
    pub payload: Box<dyn Read + Send + 'a>,
}

impl<'a> Sealed<'a> {
    /// Reads the header. `file` stands at its start.
    pub fn read(name: &str, file: &'a File) -> Result<Self, Failure> {
        Self::begun(name, Vec::new(), file)
    }

    /// Reads the header of a file whose first bytes were read already.
    pub fn begun(name: &str, mut start: Vec<u8>, file: &'a File) -> Result<Self, Failure> {
        let failed = |error| Failure::io("read", name, &error);
        let missing = armor::BEGINNING.saturating_sub(start.len());
        file.take(missing as u64).read_to_end(&mut start).map_err(failed)?;
        let armored = armor::begins(&start);
        let whole = Cursor::new(start).chain(file);
        let mut payload: Box<dyn Read + Send + 'a> = if armored { Box::new(Unarmored::new(whole)) } else { Box::new(whole) };
        let header = Header::read(&mut payload).map_err(|error| Failure::of(name, error))?;
        Ok(Self { stanzas: header.stanzas(), header, armored, payload })
    }
}
