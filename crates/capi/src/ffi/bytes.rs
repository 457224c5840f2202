//! Sealing and opening of bytes in memory, and random bytes.

use super::border::{apart, buffer, bytes, held, maybe, set, shared, small};
use super::kinds::{dp_opening, dp_sealing, dp_work};
use crate::recipe::{Recipe, Ring};
use crate::watch::{Watch, under};
use deadpan_bind::Fault;
use deadpan_seal::{Cursor, Error, Header, random};

/// Writes the length of a result. Computes the needed length only if the buffer was too small, because the computation
/// costs as much as making a small header.
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
        let result = under(watch.as_deref(), |work| sealing.seal_into(plain, sealed, work));
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
        // Another thread may write to the input at the same time, since some languages allow such writes.
        let (sealed, length, plain) = (shared(sealed, length)?, length as u64, buffer(plain, room)?);
        let opened = Header::read(Cursor::new(sealed, length))?.open(&identities)?;
        let result = under(watch.as_deref(), |work| opened.open_into(&sealed, length, plain, work));
        told(result.map(|summary| summary.plain as usize), room, written, || opened.room_at(&sealed, length))
    }

    fn dp_random(output: *mut u8, length: usize) {
        random::fill(buffer(output, length)?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::ffi::sealing::dp_opening_free;
    use crate::handles;
    use deadpan_bind::Code;
    use deadpan_seal::{Format, Identity, Kem, PrivateKey, Sealing};

    /// The test repeats each combination of a length and a format for this time.
    const TIME: Duration = Duration::from_millis(300);

    fn sealed(key: &PrivateKey, format: Format, plain: &[u8]) -> Vec<u8> {
        let sealing = Sealing::to(key.public()).and_then(|sealing| sealing.format(format));
        sealing.and_then(|sealing| sealing.seal(plain)).expect("sealed")
    }

    /// Versions that did not copy each segment had a fault: for an age file, a few percent of the results were forged
    /// although the code was `DP_OK`. Results from Deadpan's own format were also forged on CPUs without AVX. This
    /// setting hides AVX from AWS-LC: `OPENSSL_ia32cap=~0x1000000000000000:~0xffffffffffffffff`.
    #[test]
    fn memory_that_changes_meanwhile_gives_nothing_that_nobody_sealed() {
        let key = PrivateKey::generate(Kem::X25519).expect("a key");
        let ring = Ring::default();
        ring.add(Identity::from(&key));
        let opening = handles::put(ring).expect("a handle") as *mut dp_opening;
        for format in [Format::Deadpan, Format::Age] {
            // If the length of the last chunk of an age file is not a whole number of kibibytes, a different
            // implementation decrypts this chunk.
            for length in [60 << 10, (60 << 10) + 7] {
                let plain: Vec<u8> = (0..length).map(|place| (place * 7 / 8) as u8).collect();
                let mut sealed = sealed(&key, format, &plain);
                let (start, size) = (sealed.as_mut_ptr(), sealed.len());
                // SAFETY: the byte lies in `sealed`, which outlives the threads; an atomic byte needs no alignment.
                let byte = unsafe { AtomicU8::from_ptr(start.add(size - 30_000)) };
                let (ended, mut opened, mut other) = (AtomicBool::new(false), 0, 0);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        while !ended.load(Ordering::Relaxed) {
                            byte.fetch_xor(1, Ordering::Relaxed);
                            std::hint::spin_loop();
                        }
                    });
                    let (begin, mut result) = (Instant::now(), vec![0; length]);
                    while begin.elapsed() < TIME {
                        let mut written = 0;
                        // SAFETY: the pointers are valid for the lengths that are passed with them.
                        let code = unsafe {
                            dp_open(
                                opening,
                                start,
                                size,
                                result.as_mut_ptr(),
                                length,
                                &raw mut written,
                                null(),
                                null_mut(),
                            )
                        };
                        if code == Code::Ok as i32 {
                            opened += 1;
                            other += u32::from(result != plain);
                        }
                    }
                    ended.store(true, Ordering::Relaxed);
                });
                assert_eq!(other, 0, "of {opened} results in {format:?}, from {length} bytes");
            }
        }
        dp_opening_free(opening);
    }
}
