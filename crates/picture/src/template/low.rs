//! The lowest bits of the first lines, in order, for the seed and the sealed labels.

/// Reads one byte from every eight samples.
pub(super) fn read(samples: &[u8], bytes: &mut [u8]) {
    for (byte, samples) in bytes.iter_mut().zip(samples.as_chunks::<8>().0) {
        *byte = samples.iter().rev().fold(0, |byte, sample| byte << 1 | sample & 1);
    }
}
