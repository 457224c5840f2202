//! Recognizes pictures that this crate wrote, from their first bytes and the length of the file.

use std::fs::File;

use super::layout::{HEADER, Layout, MAGIC};
use super::png;
use crate::crc::crc64;
use crate::position::read_at;
use crate::{Error, Format, LABEL, Label, Opened};

/// A picture whose part lies at constant offsets in the picture's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The label of the picture.
    pub label: Label,
    /// Format and size of the picture.
    pub layout: Layout,
}

/// A number of bytes that is enough to contain the label, even in the narrowest picture.
const ENOUGH: usize = 256;

impl Carrier {
    /// Checks whether a file is a carrier in the form that this crate writes. Returns `None` if the file has another
    /// form. A file in another form may still contain a carrier that another program wrote again.
    ///
    /// # Errors
    /// [`Error::Cut`] and [`Error::Label`] if this crate wrote the picture, but the end of the file is missing or the
    /// label is damaged; [`Error::ImpossibleLabel`] if no set can have a picture with this label; [`Error::Read`] if
    /// the file cannot be read.
    pub fn recognize(file: &File) -> Result<Option<Self>, Error> {
        let mut first = [0; ENOUGH];
        let length = read_at(file, &mut first, 0).map_err(Error::Read)?;
        let Some(layout) = layout(&first[..length]) else { return Ok(None) };
        let Some(framed) = first.strip_prefix(&*layout.head()) else { return Ok(None) };
        let mut header = [0; HEADER];
        match layout.format() {
            Format::Png => {
                png::unframe(&layout, 0, framed, &mut header);
                let mut again = Vec::new();
                png::frame(&layout, 0, &header, &mut again, |_| {});
                if !framed.starts_with(&again) || has_filters(file, &layout)? {
                    return Ok(None);
                }
            }
            Format::WebP => header.copy_from_slice(&framed[..HEADER]),
        }
        if header[..8] != MAGIC || layout.bytes() < HEADER as u64 {
            return Ok(None);
        }
        let (length, expected) = (file.metadata().map_err(Error::Read)?.len(), layout.file_length());
        if length < expected {
            return Err(Error::Cut(layout.format().into()));
        }
        let label = label(&header)?;
        let fits = HEADER as u64 + u64::from(label.length) <= layout.bytes();
        if fits { Ok((length == expected).then_some(Self { label, layout })) } else { Err(Error::Label) }
    }

    /// Returns the opened picture for a [`Reader`](crate::Reader). `file` is the picture's file.
    #[must_use]
    pub fn open(&self, file: File) -> Opened {
        Opened::Carrier(file, self.layout)
    }
}

/// The number of rows that are checked for filters.
const ROWS: u32 = 8;

/// Returns whether the rows are filtered: this crate never filters rows. Apart from the filters, the file of another
/// program can look the same as a file of this crate.
fn has_filters(file: &File, layout: &Layout) -> Result<bool, Error> {
    let rows = layout.height();
    let step = (rows / ROWS).max(1);
    for row in (1..rows).step_by(step as usize).chain([rows - 1]) {
        let at = u64::from(row) * layout.row();
        let mut filter = [0];
        let length = read_at(file, &mut filter, layout.start(at) + png::before(layout, at) - 1).map_err(Error::Read)?;
        if length == 1 && filter != [0] {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the label after the magic.
///
/// # Errors
/// [`Error::Label`] if the label is damaged, [`Error::ImpossibleLabel`] if no set can have a picture with this label.
pub(super) fn label(header: &[u8; HEADER]) -> Result<Label, Error> {
    if header[64..] != crc64(&header[..64]).to_be_bytes() {
        return Err(Error::Label);
    }
    let label: &[u8; LABEL] = header[8..64].try_into().map_err(|_| Error::Label)?;
    Label::from_bytes(label).ok_or(Error::ImpossibleLabel)
}

/// Reads the format and the size at the places where this crate writes them.
fn layout(first: &[u8]) -> Option<Layout> {
    if first.starts_with(b"\x89PNG") {
        let number = |at: usize| first.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        return Layout::new(Format::Png, number(16)?, number(20)?).ok();
    }
    if first.starts_with(b"RIFF") {
        let bits = u32::from_le_bytes(first.get(21..25)?.try_into().ok()?);
        return Layout::new(Format::WebP, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1).ok();
    }
    None
}
