//! Sealing and opening of bytes in memory, and random bytes.

use super::border::{apart, buffer, bytes, held, maybe, set, shared, small};
use super::kinds::{dp_opening, dp_sealing, dp_work};
use crate::recipe::{Recipe, Ring};
use crate::watch::{Watch, under};
use deadpan_bind::Fault;
use deadpan_seal::{Cursor, Error, Header, random};

/// Writes the length of a result. Asks for the length that is needed only after the room was too small: to ask before
/// would cost as much as to make a small header.
// SAFETY: `written` is NULL or valid for writing.
unsafe fn told(
    result: Result<usize, Error>,
    room: usize,
    written: *mut usize,
    needed: impl FnOnce() -> Result<u64, Error>,
) -> Result<(), Fault> {
    match result {
        Ok(length) => set(written, length),
        Err(error @ Error::Invalid(_)) => {
            let needed = usize::try_from(needed()?).unwrap_or(usize::MAX);
            if room >= needed {
                return Err(error.into());
            }
            set(written, needed)?;
            Err(small(needed))
        }
        Err(error) => Err(error.into()),
    }
}

exports! {
    /// Seals bytes into a buffer.
    fn dp_seal(
        sealing: *const dp_sealing,
        plain: *const u8,
        length: usize,
        sealed: *mut u8,
        room: usize,
        written: *mut usize,
        work: *const dp_work,
    ) {
        set(written, 0)?;
        let (sealing, watch) = (held::<Recipe, _>(sealing)?.sealing()?, maybe::<Watch, _>(work)?);
        apart(plain, length, sealed, room)?;
        let (plain, sealed) = (bytes(plain, length)?, buffer(sealed, room)?);
        let result = under(watch.as_deref(), |work| sealing.bytes_into(plain, sealed, work));
        told(result, room, written, || sealing.sealed_length(length as u64))
    }

    /// Opens bytes into a buffer.
    fn dp_open(
        opening: *const dp_opening,
        sealed: *const u8,
        length: usize,
        plain: *mut u8,
        room: usize,
        written: *mut usize,
        work: *const dp_work,
    ) {
        set(written, 0)?;
        let (identities, watch) = (held::<Ring, _>(opening)?.identities(), maybe::<Watch, _>(work)?);
        apart(sealed, length, plain, room)?;
        // Another thread may write to the input meanwhile, in languages where that is no error.
        let (sealed, length, plain) = (shared(sealed, length)?, length as u64, buffer(plain, room)?);
        let opened = Header::read(Cursor::new(sealed, length))?.open(&identities)?;
        let result = under(watch.as_deref(), |work| opened.positions_into_bytes(&sealed, length, plain, work));
        told(result.map(|summary| summary.plain as usize), room, written, || opened.room_at(&sealed, length))
    }

    /// Fills a buffer with random bytes of the system.
    fn dp_random(output: *mut u8, length: usize) {
        random::fill(buffer(output, length)?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
