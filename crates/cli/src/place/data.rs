//! The data of an input. The input is a file or an object in a store.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use parking_lot::Mutex;

use deadpan_remote::{Object, ObjectReader};
use deadpan_seal::ReadAt;

/// The data of an input. All readers share one position in the data, and reading changes this position, as with an open
/// file.
pub enum Data {
    File(File),
    Object(Box<Reading>),
}

/// An object, and the position of the next read.
pub struct Reading {
    object: Object,
    place: Mutex<Position>,
}

struct Position {
    at: u64,
    /// Reads the object in order and ahead of the position. The reader is `None` after a seek, since reading ahead does
    /// not help reads at arbitrary positions.
    reader: Option<ObjectReader>,
}

impl Data {
    pub fn from_object(object: Object) -> Self {
        let place = Mutex::new(Position { at: 0, reader: Some(object.reader()) });
        Self::Object(Box::new(Reading { object, place }))
    }

    pub fn file(&self) -> Option<&File> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    pub fn object(&self) -> Option<&Object> {
        if let Self::Object(reading) = self { Some(&reading.object) } else { None }
    }
}

impl Read for &Data {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Data::File(file) => (&*file).read(buffer),
            Data::Object(reading) => {
                let mut place = reading.place.lock();
                let at = place.at;
                let read = match &mut place.reader {
                    Some(reader) => reader.read(buffer)?,
                    None => reading.object.read_at(buffer, at)?,
                };
                place.at += read as u64;
                Ok(read)
            }
        }
    }
}

impl Seek for &Data {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Data::File(file) => (&*file).seek(to),
            Data::Object(reading) => {
                let mut place = reading.place.lock();
                let at = match to {
                    SeekFrom::Start(at) => Some(at),
                    SeekFrom::End(by) => reading.object.length().checked_add_signed(by),
                    SeekFrom::Current(by) => place.at.checked_add_signed(by),
                };
                place.at = at.ok_or(io::ErrorKind::InvalidInput)?;
                place.reader = None;
                Ok(place.at)
            }
        }
    }
}

impl ReadAt for Data {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, position),
            Self::Object(reading) => reading.object.read_at(buffer, position),
        }
    }
}
