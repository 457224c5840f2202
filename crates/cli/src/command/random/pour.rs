//! Writes random bytes to the output: one worker for each core writes raw bytes, or a single worker writes text.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::place::output::Output;
use deadpan_base64::{STANDARD, hex};
use deadpan_ct::Wiped;
use deadpan_disk::portable::FileExt;
use deadpan_seal::Error;
use deadpan_seal::random::Generator;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomForm {
    Bytes,
    Hex,
    Base64,
}

/// The number of bytes that are generated and written at once. A piece of this length fits into the level 2 cache of
/// most CPUs. The number is a multiple of three, so that base64 is padded only at the end.
const PIECE: usize = 384 << 10;
/// The minimum number of bytes for which another thread makes the work faster.
const WORTH_A_THREAD: u64 = 4 << 20;

/// Writes `size` random bytes, or an endless stream if `size` is `None`, and returns the number of bytes. Calls `add`
/// with the length of each piece.
pub fn pour(form: RandomForm, size: Option<u64>, output: &Output, add: &(dyn Fn(u64) + Sync)) -> Result<u64, Error> {
    let supply = Supply { size: size.unwrap_or(u64::MAX), next: AtomicU64::new(0), failed: AtomicBool::new(false) };
    if form != RandomForm::Bytes {
        let mut writer = output.writer();
        text(form, &supply, &mut writer, add)?;
        if size.is_some() {
            writer.write_all(b"\n").map_err(Error::Write)?;
        }
    } else if let Some(file) = output.positions() {
        let write = |bytes: &[u8], at| file.write_all_at(bytes, at);
        on_all_cores(&supply, &|| raw(&supply, write, add))?;
    } else {
        // The order of random bytes does not matter, so each worker writes its piece when the piece is ready.
        let write = |bytes: &[u8], _| output.writer().write_all(bytes);
        on_all_cores(&supply, &|| raw(&supply, write, add))?;
    }
    Ok(supply.size)
}

/// The supply of pieces that must still be generated. All workers take their pieces from this supply.
struct Supply {
    size: u64,
    next: AtomicU64,
    /// A worker sets this flag when it fails, so that the other workers stop.
    failed: AtomicBool,
}

impl Supply {
    /// Takes the next piece. Returns the position and the length of the piece.
    fn take(&self) -> Option<(u64, usize)> {
        let at = self.next.fetch_add(PIECE as u64, Ordering::Relaxed);
        let length = self.size.saturating_sub(at).min(PIECE as u64) as usize;
        (length > 0 && !self.failed.load(Ordering::Relaxed)).then_some((at, length))
    }
}

fn on_all_cores(supply: &Supply, job: &(dyn Fn() -> Result<(), Error> + Sync)) -> Result<(), Error> {
    let job = || job().inspect_err(|_| supply.failed.store(true, Ordering::Relaxed));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = cores.min(usize::try_from(supply.size / WORTH_A_THREAD).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        // If the system cannot start a thread, the other workers do the work of that thread.
        let helpers: Vec<_> =
            (1..wanted).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, job).ok()).collect();
        let own = job();
        helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or(Err(Error::System("a thread ended"))))
            .fold(own, Result::and)
    })
}

fn raw(supply: &Supply, write: impl Fn(&[u8], u64) -> std::io::Result<()>, add: &dyn Fn(u64)) -> Result<(), Error> {
    let mut generator = Generator::new()?;
    let mut buffer = Wiped::new(vec![0; PIECE.min(usize::try_from(supply.size).unwrap_or(PIECE))]);
    while let Some((at, length)) = supply.take() {
        let piece = &mut buffer[..length];
        generator.fill(piece)?;
        write(piece, at).map_err(Error::Write)?;
        add(length as u64);
    }
    Ok(())
}

fn text(form: RandomForm, supply: &Supply, mut output: impl Write, add: &dyn Fn(u64)) -> Result<(), Error> {
    let mut generator = Generator::new()?;
    let room = PIECE.min(usize::try_from(supply.size).unwrap_or(PIECE));
    let (mut buffer, mut symbols) = (Wiped::new(vec![0; room]), Wiped::new(vec![0; 2 * room + 4]));
    while let Some((_, length)) = supply.take() {
        let piece = &mut buffer[..length];
        generator.fill(piece)?;
        let text = match form {
            RandomForm::Base64 => STANDARD.encode_into(piece, &mut symbols),
            _ => hex::encode_into(hex::Case::Lower, piece, &mut symbols),
        };
        let text = text.map_err(|_| Error::Invalid("there is room for the symbols"))?;
        output.write_all(text.as_bytes()).map_err(Error::Write)?;
        add(length as u64);
    }
    Ok(())
}
