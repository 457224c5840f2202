//! The storage for sealed leaf pages until the trailer is written. If the positions of the pages in the output are
//! known, the pages are written there immediately. Otherwise the first pages are stored in memory, and further pages in
//! a temporary file.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use parking_lot::Mutex;

use super::footer::FULL_PAGE;
use crate::{Error, WriteAt};

/// The maximum number of sealed pages in memory. These pages take 4 MiB, and belong to 32 GiB of data.
const HELD: u64 = 16;

/// The sealed leaf pages of one file.
pub(crate) enum Shelf<'a> {
    /// Each page is immediately written to its position. The number is the position of the first page.
    Placed(&'a dyn WriteAt, u64),
    Held(Mutex<Held>),
}

/// Pages that are stored because their positions are not known yet.
#[derive(Default)]
pub(crate) struct Held {
    /// The pages with the lowest numbers. All these pages are full. `None` means that a page is still missing.
    first: Vec<Option<Vec<u8>>>,
    /// The full pages after that. The file has no name, and its contents are encrypted.
    rest: Option<File>,
    /// The number of pages.
    count: u64,
}

impl<'a> Shelf<'a> {
    pub(crate) fn held() -> Self {
        Shelf::Held(Mutex::default())
    }

    /// Adds a full page, or the last page.
    pub(crate) fn put(&self, number: u64, page: Vec<u8>) -> Result<(), Error> {
        match self {
            Self::Placed(output, begin) => output.write_all_at(&page, begin + number * FULL_PAGE).map_err(Error::Write),
            Self::Held(held) => held.lock().put(number, page),
        }
    }

    /// Writes all pages in order to `output`, and writes `tail` after the pages. If the pages are already written at
    /// their positions, writes `tail` after these pages, and does not use `output`. `length` is the total length of the
    /// pages.
    pub(crate) fn finish(self, length: u64, tail: &[u8], mut output: impl Write) -> Result<(), Error> {
        match self {
            Self::Placed(output, begin) => output.write_all_at(tail, begin + length).map_err(Error::Write),
            Self::Held(held) => {
                held.into_inner().write(&mut output)?;
                output.write_all(tail).map_err(Error::Write)
            }
        }
    }
}

impl Held {
    fn put(&mut self, number: u64, page: Vec<u8>) -> Result<(), Error> {
        self.count = self.count.max(number + 1);
        if number < HELD {
            let length = self.first.len().max(number as usize + 1);
            self.first.resize(length, None);
            self.first[number as usize] = Some(page);
            return Ok(());
        }
        let file = match self.rest.take() {
            Some(file) => file,
            None => tempfile::tempfile().map_err(Error::Write)?,
        };
        file.write_all_at(&page, (number - HELD) * FULL_PAGE).map_err(Error::Write)?;
        self.rest = Some(file);
        Ok(())
    }

    fn write(self, output: &mut impl Write) -> Result<(), Error> {
        let lost = || Error::System("a page of hashes is lost");
        for page in &self.first {
            output.write_all(page.as_ref().ok_or_else(lost)?).map_err(Error::Write)?;
        }
        if let Some(mut file) = self.rest {
            file.seek(SeekFrom::Start(0)).map_err(Error::Read)?;
            std::io::copy(&mut file, output).map_err(Error::Write)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages may be added in any order. Pages are stored in memory and in the temporary file, and are then written in
    /// order.
    #[test]
    fn pages_come_out_in_order() {
        let page = |number: u64, length: u64| vec![number as u8; length as usize];
        for count in [1, HELD - 1, HELD, HELD + 1, HELD + 5] {
            let length = |number| if number + 1 == count { 77 } else { FULL_PAGE };
            let wanted: Vec<u8> = (0..count).flat_map(|number| page(number, length(number))).collect();
            for step in [1, 3, count - 1] {
                let shelf = Shelf::held();
                // The order is every `step`th page from page 0, then every `step`th page from page 1, and so on.
                let order = (0..step.max(1)).flat_map(|from| (from..count).step_by(step.max(1) as usize));
                order.for_each(|number| shelf.put(number, page(number, length(number))).expect("put"));
                let Shelf::Held(held) = &shelf else { panic!("held") };
                let held = held.lock().first.len() as u64;
                assert!(held <= HELD, "{held} pages in memory");
                let mut output = Vec::new();
                shelf.finish(wanted.len() as u64, b"tail", &mut output).expect("written");
                assert!(output == [&wanted[..], b"tail"].concat(), "{count} pages, in steps of {step}");
            }
        }
    }

    #[test]
    fn a_lost_page_shows() {
        let shelf = Shelf::held();
        shelf.put(1, vec![1; 60]).expect("put");
        assert!(matches!(shelf.finish(120, b"", Vec::new()), Err(Error::System(_))));
    }
}
