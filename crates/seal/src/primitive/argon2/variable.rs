//! Hashes of any length from BLAKE2b: the functions H^n and H' of the RFC (section 3.3).

use blake2::Blake2bVarCore;
use blake2::digest::block_api::{UpdateCore, VariableOutputCore};
use blake2::digest::block_buffer::LazyBuffer;

use deadpan_ct::{Wipe, Wiped};

/// The longest output of BLAKE2b.
const LONGEST: usize = 64;

/// Fills `output` with the BLAKE2b hash of the joined inputs (H^n in the RFC). `output` must have 1 to 64 bytes.
pub(super) fn short(inputs: &[&[u8]], output: &mut [u8]) {
    let mut hash = Blake2bVarCore::new(output.len()).expect("1 to 64 bytes");
    let mut buffer = LazyBuffer::default();
    for input in inputs {
        buffer.digest_blocks(input, |blocks| hash.update_blocks(blocks));
    }
    let mut whole = Default::default();
    hash.finalize_variable_core(&mut buffer, &mut whole);
    output.copy_from_slice(&whole[..output.len()]);
    whole.as_mut_slice().wipe();
}

/// Fills `output` with the hash H' of the RFC over the joined inputs. `output` must have at least 1 byte.
pub(super) fn long(inputs: &[&[u8]], output: &mut [u8]) {
    let length = u32::try_from(output.len()).expect("checked by the caller").to_le_bytes();
    let inputs: Vec<_> = std::iter::once(&length[..]).chain(inputs.iter().copied()).collect();
    if output.len() <= LONGEST {
        return short(&inputs, output);
    }
    // Each hash gives 32 bytes of output and is the input of the next hash. The last hash is written to the output as a
    // whole.
    let mut hash = Wiped::new([0; LONGEST]);
    short(&inputs, &mut *hash);
    let mut rest = output;
    while rest.len() > LONGEST {
        let (half, behind) = rest.split_at_mut(LONGEST / 2);
        half.copy_from_slice(&hash[..LONGEST / 2]);
        if behind.len() <= LONGEST {
            return short(&[&*hash], behind);
        }
        let before = Wiped::new(*hash);
        short(&[&*before], &mut *hash);
        rest = behind;
    }
}
