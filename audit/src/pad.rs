//! Audited functions of `deadpan-pad`. The functions use every back end, a constant scheme, and blocks of 16 bytes or
//! of any size.
//!
//! The number of data bytes in a block is secret. Exception: if `pad` gets the data of the last block as a slice and
//! reads this slice byte by byte, the length of the slice is public.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use deadpan_pad::imp::{self, NO_NOISE, Noise, Row, Value};
use deadpan_pad::{Padding, Scheme};

/// The block size for which the crate has special code.
const COMMON: u8 = 16;

/// Defines functions for each scheme of a back end. The functions pad in place or copy from a slice, for blocks of 16
/// bytes (`_16`) and for blocks of any size (`_n`). `$letter` states whether the length of the slice is secret or
/// public.
macro_rules! pad {
    ($backend:ident, length $letter:literal: $($scheme:ident)*) => { $(
        const _: () = {
            const ROW: Row = Row::for_scheme(Scheme::$scheme, COMMON);

            /// # Safety
            /// `data` is valid for `length` bytes, and `length` is less than 16. `block` is valid for 16 bytes. The CPU
            /// has the back end.
            #[unsafe(export_name = concat!(
                "ok_pad_16_", stringify!($scheme), "_", stringify!($backend), "__p", $letter, "pss"
            ))]
            unsafe extern "C" fn common(
                data: *const u8,
                length: usize,
                block: *mut [u8; COMMON as usize],
                drawn: u8,
                empty: u8,
            ) {
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                unsafe {
                    imp::$backend::pad(&ROW, value(&ROW, drawn, empty), from_raw_parts(data, length), &mut *block)
                }
            }

            /// # Safety
            /// `data` is valid for `length` bytes, and `block` is valid for `size` bytes. `size` is at least one and
            /// more than `length`. The CPU has the back end.
            #[unsafe(export_name = concat!(
                "ok_pad_n_", stringify!($scheme), "_", stringify!($backend), "__p", $letter, "ppss"
            ))]
            unsafe extern "C" fn any(data: *const u8, length: usize, block: *mut u8, size: u8, drawn: u8, empty: u8) {
                let row = Row::for_scheme(Scheme::$scheme, size);
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                unsafe {
                    let block = from_raw_parts_mut(block, usize::from(size));
                    imp::$backend::pad(&row, value(&row, drawn, empty), from_raw_parts(data, length), block);
                }
            }

            /// # Safety
            /// The pointers are valid, `kept` is less than 16, and the CPU supports the back end.
            #[unsafe(export_name = concat!(
                "ok_pad_in_place_16_", stringify!($scheme), "_", stringify!($backend), "__pspss"
            ))]
            unsafe extern "C" fn common_in_place(
                block: *mut [u8; COMMON as usize],
                kept: usize,
                noise: *const Noise,
                drawn: u8,
                empty: u8,
            ) {
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                unsafe {
                    let (block, noise) = (&mut *block, noise_for(&ROW, noise));
                    imp::$backend::pad_in_place(&ROW, value(&ROW, drawn, empty), block, kept, noise)
                }
            }

            /// # Safety
            /// The pointers are valid, and `block` is valid for `size` bytes. `size` is at least one and more than
            /// `kept`. The CPU has the back end.
            #[unsafe(export_name = concat!(
                "ok_pad_in_place_n_", stringify!($scheme), "_", stringify!($backend), "__ppspss"
            ))]
            unsafe extern "C" fn any_in_place(
                block: *mut u8,
                size: u8,
                kept: usize,
                noise: *const Noise,
                drawn: u8,
                empty: u8,
            ) {
                let row = Row::for_scheme(Scheme::$scheme, size);
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                unsafe {
                    let block = from_raw_parts_mut(block, usize::from(size));
                    imp::$backend::pad_in_place(&row, value(&row, drawn, empty), block, kept, noise_for(&row, noise));
                }
            }
        };
    )* };
}

/// Returns the start value that `Padding` passes to the back end: the start value in the scheme's table row, or a
/// random value.
#[inline(always)]
fn value(row: &Row, drawn: u8, empty: u8) -> Value {
    // Only `ArbitraryTail` has a random start value. The padding check of `ArbitraryTail` derives the padding bytes
    // from the last byte, so the scheme's table row contains no start value.
    let draws = row.follows != 0 && row.value.data == 0;
    if draws { Value { data: drawn, empty } } else { row.value }
}

/// # Safety
/// The pointer is valid.
#[inline(always)]
unsafe fn noise_for<'a>(row: &Row, noise: *const Noise) -> &'a Noise {
    // SAFETY: the caller fulfills the `# Safety` section.
    if row.noisy == 0 { &NO_NOISE } else { unsafe { &*noise } }
}

// Each listed scheme fills a block with these bytes, in this order: zeros; a count; zeros and a count; random bytes and
// a count; a sequence; a mark; a random byte; a complement.
pad!(portable, length "p": Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "aarch64")]
pad!(neon, length "p": Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "x86_64")]
pad!(sse2, length "p": Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "x86_64")]
pad!(avx512, length "s": Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);

/// Defines functions for each scheme of a back end. The functions check a block of 16 bytes (`_16`) and a block of any
/// size (`_n`).
macro_rules! unpad {
    ($backend:ident: $($scheme:ident)*) => { $(
        const _: () = {
            /// # Safety
            /// The pointer is valid, and the CPU supports the back end.
            #[unsafe(export_name = concat!("ok_unpad_16_", stringify!($scheme), "_", stringify!($backend), "__p"))]
            unsafe extern "C" fn common(block: *const [u8; COMMON as usize]) -> usize {
                const ROW: Row = Row::for_scheme(Scheme::$scheme, COMMON);
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                let (count, valid) = unsafe { imp::$backend::unpad(&ROW, &*block) };
                count & valid.mask().cast_unsigned()
            }

            /// # Safety
            /// The pointer is valid for `size` bytes, and `size` is at least one. The CPU has the back end.
            #[unsafe(export_name = concat!("ok_unpad_n_", stringify!($scheme), "_", stringify!($backend), "__pp"))]
            unsafe extern "C" fn any(block: *const u8, size: u8) -> usize {
                let row = Row::for_scheme(Scheme::$scheme, size);
                // SAFETY: the caller fulfills the `# Safety` section.
                #[allow(unused_unsafe)]
                let (count, valid) = unsafe { imp::$backend::unpad(&row, from_raw_parts(block, usize::from(size))) };
                count & valid.mask().cast_unsigned()
            }
        };
    )* };
}

unpad!(portable: Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "aarch64")]
unpad!(neon: Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "x86_64")]
unpad!(sse2: Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);
#[cfg(target_arch = "x86_64")]
unpad!(avx512: Zero Pkcs7 AnsiX923 Iso10126 Rfc4303 Iso7816 ArbitraryTail NotLast);

/// Calls the public function, which chooses the back end.
///
/// # Safety
/// The pointer is valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_unpad_ct_pkcs7__pp(padded: *const u8, length: usize) -> usize {
    const PADDING: Padding = match Padding::new(Scheme::Pkcs7, COMMON) {
        Ok(padding) => padding,
        Err(_) => panic!("a block has at least one byte"),
    };
    // SAFETY: the caller fulfills the `# Safety` section.
    let (length, valid) = PADDING.unpad_ct(unsafe { from_raw_parts(padded, length) });
    length ^ valid.mask().cast_unsigned()
}
