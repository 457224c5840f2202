//! The scans of a JPEG picture.

use std::io::{BufRead, Read, Seek};

use super::FORMAT;
use crate::Error;
use crate::read::{array, damaged, failed};

/// Limits for reading a file's scans.
pub struct Most {
    /// The maximum number of scans.
    pub scans: usize,
    /// The maximum number of bytes of all scans.
    pub bytes: u64,
}

/// Copies everything up to the end marker to `file`, except metadata. Returns `false` if the scans have more than
/// `most.bytes` bytes. Does not read beyond the end marker, where cameras put further pictures and films.
pub fn read(mut input: impl BufRead + Seek, file: &mut Vec<u8>, most: &Most) -> Result<bool, Error> {
    let before = file.len();
    let mut scans = 1;
    loop {
        if scans > most.scans {
            return Err(damaged(FORMAT, format!("it has more than {} scans", most.scans)));
        }
        let left = most.bytes.saturating_sub((file.len() - before) as u64);
        let read = input.by_ref().take(left).read_until(0xff, file).map_err(Error::Read)?;
        if read == 0 || file.last() != Some(&0xff) {
            return if read as u64 == left { Ok(false) } else { Err(Error::Cut(FORMAT)) };
        }
        // Any number of bytes 0xff may precede a marker. In scans, a zero follows each 0xff that does not begin a
        // marker.
        let mut marker = 0xff;
        while marker == 0xff {
            [marker] = array(&mut input, FORMAT)?;
        }
        match marker {
            0x00 | 0x01 | 0xd0..=0xd7 => file.push(marker),
            0xd8 => return Err(damaged(FORMAT, "it begins again after its first scan")),
            0xd9 => {
                file.push(marker);
                return Ok(true);
            }
            _ => {
                let length: [u8; 2] = array(&mut input, FORMAT)?;
                let Some(rest) = u16::from_be_bytes(length).checked_sub(2) else {
                    return Err(damaged(FORMAT, "one of its segments has no length"));
                };
                if matches!(marker, 0xe0..=0xef | 0xfe) {
                    file.pop();
                    input.seek_relative(rest.into()).map_err(Error::Read)?;
                    continue;
                }
                scans += usize::from(marker == 0xda);
                file.push(marker);
                file.extend(length);
                let end = file.len() + usize::from(rest);
                file.resize(end, 0);
                input.read_exact(&mut file[end - usize::from(rest)..]).map_err(|error| failed(error, FORMAT))?;
            }
        }
    }
}
