//! Sealing of data that are written piece by piece.

use std::ffi::c_void;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::border::{bytes, give, held, ready};
use super::kinds::{dp_sealing, dp_writer};
use super::streams::{WriteCallback, WriteFn};
use crate::recipe::Recipe;
use deadpan_bind::{Code, Fault};
use deadpan_seal::Sealer;

/// A writer. A finished or failed writer holds `None`.
struct Writer(Mutex<Option<Sealer<WriteCallback>>>);

impl Writer {
    fn lock(&self) -> Result<MutexGuard<'_, Option<Sealer<WriteCallback>>>, Fault> {
        match self.0.try_lock() {
            Ok(sealer) => Ok(sealer),
            Err(TryLockError::WouldBlock) => Err(Fault::new(Code::Busy, Code::Busy.message())),
            Err(TryLockError::Poisoned(poisoned)) => {
                // After a panic, the writer is dropped: if it wrote more data, the bytes of the failed call would be
                // missing in the middle.
                let mut sealer = poisoned.into_inner();
                drop(sealer.take());
                Ok(sealer)
            }
        }
    }
}

fn ended() -> Fault {
    Fault::argument("the writer was finished, or has failed")
}

exports! {
    /// Begins to seal, and writes the header.
    fn dp_writer_new(
        sealing: *const dp_sealing,
        write: WriteFn,
        user: *mut c_void,
        writer: *mut *mut dp_writer,
    ) {
        ready(writer)?;
        let sealing = held::<Recipe, _>(sealing)?.sealing()?;
        give(writer, Writer(Mutex::new(Some(sealing.write_to(WriteCallback::new(write, user)?)?))))
    }

    /// Seals the next bytes.
    fn dp_writer_write(writer: *const dp_writer, data: *const u8, length: usize) {
        let writer = held::<Writer, _>(writer)?;
        let data = bytes(data, length)?;
        let mut sealer = writer.lock()?;
        let written = sealer.as_mut().ok_or_else(ended)?.write_all(data);
        // After a failure, the writer is dropped: if it wrote more data, the bytes of the failed call would be missing
        // in the middle.
        written.inspect_err(|_| drop(sealer.take())).map_err(Fault::of_writer)
    }

    /// Seals the end. If this function is not called, the sealed data are cut short and do not open.
    fn dp_writer_finish(writer: *const dp_writer) {
        let writer = held::<Writer, _>(writer)?;
        let sealer = writer.lock()?.take().ok_or_else(ended)?;
        sealer.finish().map(drop).map_err(Fault::of_writer)
    }
}

frees! {
    /// Frees a writer. If the writer was not finished, the sealed data are cut short.
    dp_writer_free(dp_writer => Writer);
}
