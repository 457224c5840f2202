//! Known leaks. If Valgrind does not report all of these known leaks, the results of the other cases are meaningless.

use core::hint::black_box;

use crate::secret::{bytes, hide, hide_one};
use crate::tally::Tally;
use deadpan_base64::{Alphabet, STANDARD};
use deadpan_ct::{CtEq, CtOrd};
use deadpan_pad::{Padding, Scheme};

pub(crate) fn run(tally: &mut Tally) {
    let secret = hide(&bytes(64, 70));
    let other = hide(&bytes(64, 71));
    tally.leak("an early exit", || {
        black_box(secret.iter().zip(&other).all(|(a, b)| a == b));
    });
    tally.leak("== of slices", || {
        black_box(secret == other);
    });
    tally.leak("an index into a table", || {
        let table: [u8; 256] = core::array::from_fn(|place| place as u8);
        black_box(black_box(&table)[usize::from(secret[0])]);
    });
    tally.leak("removing PKCS#7 with jumps", || {
        black_box(branchy_pkcs7(&hide(b"thirteen byte\x03\x03\x03")));
    });
    tally.leak("a jump on a comparison", || jump(hide_one(3_u64).ct_lt(&hide_one(4)).bit()));
    tally.leak("a jump on the comparison of slices", || jump(secret.ct_eq(&other).bit()));
    tally.leak("a jump on a symbol's kind", || jump(Alphabet::Standard.decode_symbol(secret[1]).is_padding().bit()));
    tally.leak("an index that is a symbol's value", || {
        let value = Alphabet::Standard.decode_symbol(hide_one(b'x')).value().unwrap_or(0);
        black_box(black_box(&[7; 64])[usize::from(value)]);
    });
    tally.leak("a jump on decoded bytes", || jump(STANDARD.decode(hide(b"c3RyYWlnaHQg")).map_or(0, |bytes| bytes[3])));
    tally.leak("a jump on encoded symbols", || jump(STANDARD.encode(&secret).as_bytes()[5]));
    if let Ok(padding) = Padding::new(Scheme::Pkcs7, 16) {
        let (length, valid) = padding.unpad_ct(&secret);
        tally.leak("a jump on the verdict about a padding", || jump(valid.bit()));
        tally.leak("an index that is the length of unpadded data", || {
            black_box(black_box(&[7; 64])[length & 63]);
        });
    }
}

/// The common check, which stops at the first wrong byte.
#[inline(never)]
fn branchy_pkcs7(block: &[u8]) -> Option<&[u8]> {
    let count = usize::from(*block.last()?);
    let (data, padding) = block.split_at_checked(block.len().checked_sub(count)?)?;
    padding.iter().all(|byte| usize::from(*byte) == count).then_some(data)
}

/// Jumps on a secret. The compiler cannot convert a call of `black_box` to arithmetic, so the machine code has a jump.
#[inline(never)]
fn jump(secret: u8) {
    if secret & 1 == 1 {
        black_box("odd");
    } else {
        black_box("even");
    }
}
