//! Reads one byte after the end of a buffer: AddressSanitizer must end this program.
#![allow(unsafe_code)]

use std::hint::black_box;

fn main() {
    let buffer = black_box(vec![7_u8; 64]);
    let end = buffer.as_ptr().wrapping_add(buffer.len());
    // SAFETY: none. This is the intentional fault: the byte lies after the end of the buffer.
    let byte = unsafe { black_box(end).read() };
    black_box(byte);
}
