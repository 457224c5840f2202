//! RustCrypto's `block-padding`. In `block-padding`, the block size is a type parameter, so the compiler knows it. The
//! other variants get the block size at run time.

use std::marker::PhantomData;

use block_padding::array::{Array, typenum::U16};
use block_padding::{PaddedData, Padding};

use super::{BLOCK, Padder};

/// A scheme of `block-padding`.
pub struct Peer<P>(pub PhantomData<P>);

impl<P: Padding> Padder for Peer<P> {
    fn pad_into(&self, data: &[u8], output: &mut [u8]) -> usize {
        let whole = data.len() / BLOCK * BLOCK;
        output[..data.len()].copy_from_slice(data);
        P::raw_pad(&mut output[whole..whole + BLOCK], data.len() - whole);
        whole + BLOCK
    }

    fn pad_last_block(&self, data: &[u8], output: &mut [u8]) -> usize {
        match P::pad_detached::<U16>(data) {
            PaddedData::Pad { blocks, tail_block } => {
                output[..BLOCK].copy_from_slice(&tail_block);
                blocks.len() * BLOCK
            }
            PaddedData::NoPad { blocks } => blocks.len() * BLOCK,
            PaddedData::Error => 0,
        }
    }

    fn unpad(&self, data: &[u8]) -> Option<usize> {
        P::unpad_blocks(Array::<u8, U16>::slice_as_chunks(data).0).ok().map(<[u8]>::len)
    }
}
