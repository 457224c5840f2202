//! Drops alpha channels.

use crate::Error;

/// Removes the last of `N` samples of each pixel, in place.
///
/// # Errors
/// If a pixel is not opaque.
pub fn drop_opaque<const N: usize>(samples: &mut Vec<u8>) -> Result<(), Error> {
    let (pixels, _) = samples.as_chunks::<N>();
    // The blocks allow the compiler to compare many pixels at a time.
    let opaque = |pixels: &[[u8; N]]| pixels.iter().fold(255, |least, pixel| least & pixel[N - 1]) == 255;
    if !pixels.chunks(1024).all(opaque) {
        return Err(Error::Transparent);
    }
    drop_last::<N>(samples);
    Ok(())
}

/// Removes the last of `N` samples of each pixel, in place, whatever its value.
pub fn drop_last<const N: usize>(samples: &mut Vec<u8>) {
    let pixels = samples.len() / N;
    for pixel in 0..pixels {
        for channel in 0..N - 1 {
            samples[pixel * (N - 1) + channel] = samples[pixel * N + channel];
        }
    }
    samples.truncate(pixels * (N - 1));
    samples.shrink_to_fit();
}
