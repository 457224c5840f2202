//! simdutf, whose functions take raw pointers, behind the signature of everybody else.

use simdutf::{Base64Options, LastChunkHandlingOptions};

/// Encodes to the front of `output` and says how much that is.
pub fn encode(input: &[u8], output: &mut [u8]) -> usize {
    assert!(simdutf::base64_length_from_binary(input.len(), Base64Options::Default) <= output.len(), "the output is too short");
    // SAFETY: both pointers come from slices, which do not overlap, and the output is as long as simdutf asks for.
    unsafe { simdutf::binary_to_base64(input.as_ptr(), input.len(), output.as_mut_ptr(), Base64Options::Default) }
}

/// Decodes strictly to the front of `output` and says how much that is.
pub fn decode(input: &[u8], output: &mut [u8]) -> usize {
    // SAFETY: pointer and length are the slice's.
    let needed = unsafe { simdutf::maximal_binary_length_from_base64(input.as_ptr(), input.len()) };
    assert!(needed <= output.len(), "the output is too short");
    // SAFETY: both pointers come from slices, which do not overlap, and the output is as long as simdutf asks for.
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
