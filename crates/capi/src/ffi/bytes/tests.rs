//! What comes out of memory that another thread writes meanwhile.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::ffi::sealing::dp_opening_free;
use crate::handles;
use deadpan_bind::Code;
use deadpan_seal::{Format, Identity, Kem, PrivateKey, Sealing};

/// How long one length is tried in one format.
const TIME: Duration = Duration::from_millis(300);

fn sealed(key: &PrivateKey, format: Format, plain: &[u8]) -> Vec<u8> {
    let sealing = Sealing::to(vec![key.public().into()]).and_then(|sealing| sealing.format(format));
    sealing.and_then(|sealing| sealing.bytes(plain)).expect("sealed")
}

/// Before each segment was copied, some in a hundred results from an age file were forged, with `DP_OK`. So were
/// results from Deadpan's own format without AVX, which OPENSSL_ia32cap=~0x1000000000000000:~0xffffffffffffffff hides
/// from AWS-LC.
#[test]
fn dp_open_of_memory_that_changes_gives_nothing_that_nobody_sealed() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let ring = Ring::default();
    ring.add(Identity::from(&key));
    let opening = handles::put(ring).expect("a handle") as *mut dp_opening;
    for format in [Format::Deadpan, Format::Age] {
        // The last chunk of an age file has a back end of its own if it is not a number of whole kibibytes.
        for length in [60 << 10, (60 << 10) + 7] {
            let plain: Vec<u8> = (0..length).map(|place| ((place * 7) >> 3) as u8).collect();
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
                    // SAFETY: the pointers are valid for the lengths beside them.
                    let code = unsafe {
                        dp_open(opening, start, size, result.as_mut_ptr(), length, &raw mut written, null(), null_mut())
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
