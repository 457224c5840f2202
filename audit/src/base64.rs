//! Audited functions of `deadpan-base64`: every back end for any length and both alphabets, and the functions for one
//! symbol.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use deadpan_base64::{Alphabet, hex::Case, imp};
use deadpan_ct::CtZero;

macro_rules! backends {
    ($($module:ident: $encode:ident $encode_url:ident $decode:ident $decode_url:ident;)*) => { $(
        /// # Safety
        /// The caller must fulfill the safety conditions of the called function in `imp`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $encode(source: *const u8, length: usize, target: *mut u8, total: usize) {
            // SAFETY: the caller fulfills the `# Safety` section.
            unsafe { imp::$module::encode(Alphabet::Standard, source, length, target, total) }
        }
        /// # Safety
        /// The caller must fulfill the safety conditions of the called function in `imp`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $encode_url(source: *const u8, length: usize, target: *mut u8, total: usize) {
            // SAFETY: the caller fulfills the `# Safety` section.
            unsafe { imp::$module::encode(Alphabet::UrlSafe, source, length, target, total) }
        }
        /// # Safety
        /// The caller must fulfill the safety conditions of the called function in `imp`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decode(source: *const u8, length: usize, target: *mut u8) -> isize {
            // SAFETY: the caller fulfills the `# Safety` section.
            unsafe { imp::$module::decode(Alphabet::Standard, source, length, target).canonical().mask() }
        }
        /// # Safety
        /// The caller must fulfill the safety conditions of the called function in `imp`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decode_url(source: *const u8, length: usize, target: *mut u8) -> isize {
            // SAFETY: the caller fulfills the `# Safety` section.
            unsafe { imp::$module::decode(Alphabet::UrlSafe, source, length, target).canonical().mask() }
        }
    )* };
}

backends! {
    portable: ok_encode_portable__pppp ok_encode_url_portable__pppp ok_decode_portable__ppp ok_decode_url_portable__ppp;
}

#[cfg(target_arch = "aarch64")]
backends! {
    neon: ok_encode_neon__pppp ok_encode_url_neon__pppp ok_decode_neon__ppp ok_decode_url_neon__ppp;
}

#[cfg(target_arch = "x86_64")]
backends! {
    ssse3: ok_encode_ssse3__pppp ok_encode_url_ssse3__pppp ok_decode_ssse3__ppp ok_decode_url_ssse3__ppp;
    avx2: ok_encode_avx2__pppp ok_encode_url_avx2__pppp ok_decode_avx2__ppp ok_decode_url_avx2__ppp;
    avx512: ok_encode_avx512__pppp ok_encode_url_avx512__pppp ok_decode_avx512__ppp ok_decode_url_avx512__ppp;
}

macro_rules! hex {
    ($($module:ident: $encode:ident $decode:ident;)*) => { $(
        /// # Safety
        /// The pointers are valid, one for `length` bytes and one for twice as many digits. The CPU has the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $encode(source: *const u8, length: usize, target: *mut u8) {
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe {
                let (source, target) = (from_raw_parts(source, length), from_raw_parts_mut(target, 2 * length));
                imp::hex::$module::encode(Case::Lower, source, target)
            }
        }
        /// # Safety
        /// The pointers are valid, one for `length` bytes and one for twice as many digits. The CPU has the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decode(source: *const u8, length: usize, target: *mut u8) -> isize {
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe {
                let (source, target) = (from_raw_parts(source, 2 * length), from_raw_parts_mut(target, length));
                imp::hex::$module::decode(source, target).ct_is_zero().mask()
            }
        }
    )* };
}

hex! {
    portable: ok_hex_encode_portable__ppp ok_hex_decode_portable__ppp;
}

#[cfg(target_arch = "aarch64")]
hex! {
    neon: ok_hex_encode_neon__ppp ok_hex_decode_neon__ppp;
}

#[cfg(target_arch = "x86_64")]
hex! {
    avx2: ok_hex_encode_avx2__ppp ok_hex_decode_avx2__ppp;
}

#[unsafe(no_mangle)]
pub extern "C" fn ok_encode_symbol__s(value: u8) -> u8 {
    Alphabet::Standard.encode_symbol(value)
}

#[unsafe(no_mangle)]
pub extern "C" fn ok_decode_symbol__s(byte: u8) -> u64 {
    let symbol = Alphabet::UrlSafe.decode_symbol(byte);
    let kinds = [symbol.value().is_some(), symbol.is_white_space(), symbol.is_padding(), symbol.is_invalid()];
    kinds.into_iter().fold(u64::from(symbol.value().unwrap_or(0)), |bits, kind| bits << 1 | u64::from(kind.bit()))
}

/// The code deliberately declassifies the positions of white space. No other secret may leak.
///
/// # Safety
/// The pointers are valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_squeeze_portable__ppp(source: *const u8, length: usize, target: *mut u8) -> usize {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { imp::space::portable(source, length, target) }
}

/// # Safety
/// The pointers are valid for `length` bytes.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_squeeze_neon__ppp(source: *const u8, length: usize, target: *mut u8) -> usize {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { imp::space::neon::squeeze(source, length, target) }
}

/// # Safety
/// The pointers are valid for `length` bytes, and the CPU has AVX-512.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_squeeze_avx512__ppp(source: *const u8, length: usize, target: *mut u8) -> usize {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { imp::space::avx512(source, length, target) }
}

/// # Safety
/// The pointer is valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_line_end__pp(text: *const u8, length: usize) -> usize {
    // SAFETY: the caller fulfills the `# Safety` section.
    imp::space::line_end(unsafe { from_raw_parts(text, length) })
}
