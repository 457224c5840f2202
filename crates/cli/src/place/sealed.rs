//! A sealed input, with or without armor: its header and its payload.

use std::fs::File;
use std::io::{self, Cursor, Read};

use crate::place::armor::{self, Unarmored};
use crate::place::input::Input;
use crate::place::page::{self, Page};
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_pack::{BLOCK, is_archive};
use deadpan_seal::{Cursor as Positions, Error, Header, Stanza, age};

/// The first byte of a sealed file. No text in UTF-8 begins with this byte.
const SIGNATURE: u8 = 0x89;

/// The first bytes of a sealed file.
const DEADPAN: &[u8] = b"\x89DPN";
/// The first bytes of a file that age sealed.
const AGE: &[u8] = b"age-encryption.org/";

/// A sealed input that was read up to the end of its header.
pub struct Sealed<'a> {
    pub header: Header,
    pub stanzas: Vec<Stanza>,
    pub armored: bool,
    /// The page around the armor.
    pub page: Option<Page>,
    pub payload: Box<dyn Read + Send + 'a>,
}

impl<'a> Sealed<'a> {
    /// Reads the header of an input. If the input is an archive that is not sealed, fails with advice for this case.
    pub fn read(input: &'a Input) -> Result<Self, Failure> {
        let name = input.shown();
        let mut start = Vec::new();
        (&input.data).take(BLOCK).read_to_end(&mut start).map_err(|error| Failure::io("read", &name, &error))?;
        if is_archive(&start) {
            let hint = match input.source.path() {
                Some(path) => format!("it is not sealed; unpack it with: deadpan unpack {}", shown(path)),
                None => "it is not sealed; unpack it with: deadpan unpack -o FOLDER".into(),
            };
            return Err(Failure::new(Exit::Data, format!("{name}: not a sealed file: it is a tar archive"), hint));
        }
        Self::begun(start, &input.data).map_err(|error| Failure::seal(&name, error))
    }

    /// Reads the header of `file`, whose position must be its start.
    pub fn read_file(name: &str, file: &'a File) -> Result<Self, Failure> {
        Self::begun(Vec::new(), file).map_err(|error| Failure::seal(name, error))
    }

    /// Reads the header of a file whose first bytes were read already.
    pub fn begun(start: Vec<u8>, file: impl Read + Send + 'a) -> Result<Self, Error> {
        let Unwrapped { bytes: mut payload, armored, page } = Unwrapped::begun(start, file)?;
        let header = Header::read(&mut payload)?;
        Ok(Self { stanzas: header.stanzas(), header, armored, page, payload })
    }
}

/// The sealed bytes of a file.
pub struct Unwrapped<'a> {
    pub bytes: Box<dyn Read + Send + 'a>,
    /// Whether the file has armor.
    pub armored: bool,
    /// The page around the armor.
    pub page: Option<Page>,
}

impl<'a> Unwrapped<'a> {
    /// Makes a reader for a file whose first bytes were read already.
    pub fn begun(mut start: Vec<u8>, mut file: impl Read + Send + 'a) -> Result<Self, Error> {
        let mut read_to = |length: usize, start: &mut Vec<u8>| {
            let missing = length.saturating_sub(start.len());
            (&mut file).take(missing as u64).read_to_end(start).map_err(Error::Read)
        };
        read_to(1, &mut start)?;
        if start.first() != Some(&SIGNATURE) {
            read_to(armor::BEGINNING, &mut start)?;
        }
        let beginning = match start.first() {
            Some(&SIGNATURE) => None,
            _ if page::begins(&start) => Some(page::find(&mut start, &mut file).map_err(Error::Read)?),
            _ => armor::find(&start),
        };
        let is_age_armor = beginning.is_none() && start.trim_ascii_start().starts_with(age::armor::BEGIN.as_bytes());
        let behind_page = beginning.as_ref().filter(|beginning| beginning.is_behind_page());
        let page = behind_page.map(|beginning| Page::before_armor(&start[..beginning.offset()]));
        let bytes: Box<dyn Read + Send + 'a> = match &beginning {
            None if is_age_armor => Box::new(age::armor::ArmorReader::new(Cursor::new(start).chain(file))),
            Some(beginning) => {
                let armor = Unarmored::new(Cursor::new(start).chain(file), beginning);
                Box::new(armor.map_err(Error::Read)?)
            }
            None => Box::new(Cursor::new(armor::without_front(&start).to_vec()).chain(file)),
        };
        Ok(Self { bytes, armored: beginning.is_some() || is_age_armor, page })
    }
}

/// Whether a file looks like a sealed file, with or without armor. The position in the file does not change.
pub fn looks_sealed(file: &File) -> io::Result<bool> {
    let (mut file, mut start) = (Positions::new(file, file.metadata()?.len()), Vec::new());
    file.by_ref().take(armor::BEGINNING as u64).read_to_end(&mut start)?;
    if page::begins(&start) {
        return match page::find(&mut start, file) {
            Err(error) if error.raw_os_error().is_some() => Err(error),
            found => Ok(found.is_ok()),
        };
    }
    Ok(begins_sealed(&start))
}

/// Whether a file with these first bytes looks like a sealed file, with or without armor. Pages do not.
pub fn begins_sealed(start: &[u8]) -> bool {
    let is_age_armor = || start.trim_ascii_start().starts_with(age::armor::BEGIN.as_bytes());
    start.starts_with(DEADPAN) || start.starts_with(AGE) || armor::find(start).is_some() || is_age_armor()
}
