//! Wraps simdutf, whose functions take raw pointers, in functions with the same signatures as those of the other
//! libraries.

use simdutf::{Base64Options, LastChunkHandlingOptions};

/// Encodes to the start of `output` and returns the number of symbols.
pub fn encode(input: &[u8], output: &mut [u8]) -> usize {
    assert!(
        simdutf::base64_length_from_binary(input.len(), Base64Options::Default) <= output.len(),
        "the output is too short"
    );
    // SAFETY: both pointers come from slices, which do not overlap, and the output is as long as simdutf requires.
    unsafe { simdutf::binary_to_base64(input.as_ptr(), input.len(), output.as_mut_ptr(), Base64Options::Default) }
}

/// Decodes strictly to the start of `output` and returns the number of bytes.
pub fn decode(input: &[u8], output: &mut [u8]) -> usize {
    // SAFETY: the pointer and the length come from the slice.
    let needed = unsafe { simdutf::maximal_binary_length_from_base64(input.as_ptr(), input.len()) };
    assert!(needed <= output.len(), "the output is too short");
    // SAFETY: both pointers come from slices, which do not overlap, and the output is as long as simdutf requires.
    let result = unsafe {
        simdutf::base64_to_binary(
            input.as_ptr(),
            input.len(),
            output.as_mut_ptr(),
            Base64Options::Default,
            LastChunkHandlingOptions::Strict,
        )
    };
    if result.error == simdutf::ErrorCode::Success { result.count } else { 0 }
}
