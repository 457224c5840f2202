//! `Padding`: a scheme and a block size. This module adds padding, and the module `unpad` removes padding.

use core::fmt;

use crate::divisor::Divisor;
use crate::imp::{self, Row, Value};
use crate::{Error, Random, Scheme, random};
use deadpan_ct::{CtZero, Wipe, declassify};

/// A padding scheme for blocks of one size.
///
/// Padding adds at least one byte and at most one block. If the data are empty or consist of whole blocks, padding adds
/// a whole block.
///
/// Padding may leak the number of full blocks in the data, the scheme, the block size, and the error
/// [`Error::ZeroTail`]. Padding leaks neither the number of bytes in the last block nor the value of any byte.
#[derive(Clone, Copy)]
pub struct Padding {
    scheme: Scheme,
    pub(crate) divisor: Divisor,
    pub(crate) row: Row,
}

impl Padding {
    /// Makes a [`Padding`] with this scheme, for blocks of `block` bytes.
    ///
    /// # Errors
    /// [`Error::BlockSize`] if `block` is zero.
    pub const fn new(scheme: Scheme, block: u8) -> Result<Self, Error> {
        if block == 0 {
            return Err(Error::BlockSize);
        }
        Ok(Self { scheme, divisor: Divisor::new(block), row: Row::for_scheme(scheme, block) })
    }

    /// Returns the scheme.
    #[inline]
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the number of bytes in a block.
    #[inline]
    #[must_use]
    pub const fn block(&self) -> u8 {
        self.row.size
    }

    /// Returns the padded length of `length` bytes of data, or `None` if the padded data would be too long for a slice.
    ///
    /// May leak: whether the result is `None`.
    #[inline]
    #[must_use]
    pub const fn padded_len(&self, length: usize) -> Option<usize> {
        if length > isize::MAX as usize - self.divisor.block() {
            return None;
        }
        Some(self.divisor.full(length) + self.divisor.block())
    }

    /// Copies `data` to the front of `output`, pads the copy, and returns the padded data. Does not write to the bytes
    /// after the padded data.
    ///
    /// May leak: the number of full blocks in `data`, and which error occurs.
    ///
    /// # Errors
    /// [`Error::TooSmall`], [`Error::ZeroTail`], [`Error::Random`], and [`Error::NoGenerator`] without the feature
    /// `std`. If the generator fails, the function may have written to the output before. If the data end in zero, the
    /// function wipes the output.
    #[inline]
    pub fn pad_into<'a>(&self, data: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        self.copy_and_pad(data, output, random::fill)
    }

    /// Works like [`pad_into`](Padding::pad_into), with random bytes from `generator`.
    ///
    /// # Errors
    /// The same errors as the method without a generator, except [`Error::NoGenerator`].
    #[inline]
    pub fn pad_into_with<'a>(
        &self,
        data: &[u8],
        output: &'a mut [u8],
        random: &mut impl Random,
    ) -> Result<&'a mut [u8], Error> {
        self.copy_and_pad(data, output, |bytes| Ok(random.fill(bytes)?))
    }

    /// Pads the last block of `data` without copying its full blocks. Writes the padded block to the front of `last`.
    /// Returns the full blocks of `data`, unchanged, and the padded block.
    ///
    /// May leak: the number of full blocks in `data`, and which error occurs.
    ///
    /// # Errors
    /// The same errors as [`pad_into`](Padding::pad_into).
    #[inline]
    pub fn pad_last_block<'d, 'l>(
        &self,
        data: &'d [u8],
        last: &'l mut [u8],
    ) -> Result<(&'d [u8], &'l mut [u8]), Error> {
        self.pad_behind(data, last, random::fill)
    }

    /// Works like [`pad_last_block`](Padding::pad_last_block), with random bytes from `generator`.
    ///
    /// # Errors
    /// The same errors as the method without a generator, except [`Error::NoGenerator`].
    #[inline]
    pub fn pad_last_block_with<'d, 'l>(
        &self,
        data: &'d [u8],
        last: &'l mut [u8],
        random: &mut impl Random,
    ) -> Result<(&'d [u8], &'l mut [u8]), Error> {
        self.pad_behind(data, last, |bytes| Ok(random.fill(bytes)?))
    }

    /// Pads the first `length` bytes of `buffer` in place, and returns the padded data. Does not write to the bytes
    /// after the padded data.
    ///
    /// May leak: the number of full blocks in the data, and which error occurs.
    ///
    /// # Errors
    /// The same errors as [`pad_into`](Padding::pad_into). After an error, the buffer is unchanged.
    #[inline]
    pub fn pad_in_place<'a>(&self, buffer: &'a mut [u8], length: usize) -> Result<&'a mut [u8], Error> {
        self.pad_at_place(buffer, length, random::fill)
    }

    /// Works like [`pad_in_place`](Padding::pad_in_place), with random bytes from `generator`.
    ///
    /// # Errors
    /// The same errors as the method without a generator, except [`Error::NoGenerator`].
    #[inline]
    pub fn pad_in_place_with<'a>(
        &self,
        buffer: &'a mut [u8],
        length: usize,
        random: &mut impl Random,
    ) -> Result<&'a mut [u8], Error> {
        self.pad_at_place(buffer, length, |bytes| Ok(random.fill(bytes)?))
    }

    #[inline]
    fn copy_and_pad<'a>(
        &self,
        data: &[u8],
        output: &'a mut [u8],
        fill: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<&'a mut [u8], Error> {
        let (full, rest) = imp::split(data, self.divisor);
        let output = self.room(output, full.len())?;
        let (front, block) = output.split_at_mut(full.len());
        let value = self.draw(fill, block)?;
        if !full.is_empty() {
            front.copy_from_slice(full);
        }
        imp::pad(&self.row, value, rest, block);
        self.refuse_zero_tail(full, block, rest.len()).inspect_err(|_| output.wipe())?;
        Ok(output)
    }

    #[inline]
    fn pad_behind<'d, 'l>(
        &self,
        data: &'d [u8],
        last: &'l mut [u8],
        fill: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(&'d [u8], &'l mut [u8]), Error> {
        let (full, rest) = imp::split(data, self.divisor);
        let block = self.room(last, 0)?;
        let value = self.draw(fill, block)?;
        imp::pad(&self.row, value, rest, block);
        self.refuse_zero_tail(full, block, rest.len()).inspect_err(|_| block.wipe())?;
        Ok((full, block))
    }

    #[inline]
    fn pad_at_place<'a>(
        &self,
        buffer: &'a mut [u8],
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<&'a mut [u8], Error> {
        // The highest bit of the length of a slice is never set. If this bit is not set, the rounding is exact.
        if declassify(length >> (usize::BITS - 1)) != 0 {
            return Err(Error::TooSmall { needed: usize::MAX });
        }
        let full = declassify(self.divisor.full(length & (usize::MAX >> 1)));
        let kept = length - full;
        let output = self.room(buffer, full)?;
        let (front, block) = output.split_at_mut(full);
        self.refuse_zero_tail(front, block, kept)?;
        if self.row.noisy == 0 {
            let value = self.draw(fill, block)?;
            imp::pad_in_place(&self.row, value, block, kept, &imp::NO_NOISE);
        } else {
            let mut noise = [0; u8::MAX as usize];
            let value = self.draw(fill, &mut noise[..block.len()])?;
            imp::pad_in_place(&self.row, value, block, kept, &noise);
        }
        Ok(output)
    }

    /// Returns the part of `output` that will hold the padded data.
    #[inline]
    fn room<'a>(&self, output: &'a mut [u8], full: usize) -> Result<&'a mut [u8], Error> {
        let needed = full + self.divisor.block();
        output.get_mut(..needed).ok_or(Error::TooSmall { needed })
    }

    /// Fails if the data end in a zero byte and the padding consists of zeros. The first `kept` bytes of `block` are
    /// the data after the full blocks `full`. Data that end at the end of a block are refused as well, because other
    /// implementations also remove zeros from the block before the padding.
    ///
    /// The last data byte is in `block`. If `kept` is zero, the last data byte is the last byte of `full`. The function
    /// reads the last byte at each of the two places, because it is secret where the data end.
    #[inline]
    fn refuse_zero_tail(&self, full: &[u8], block: &[u8], kept: usize) -> Result<(), Error> {
        if !matches!(self.scheme, Scheme::Zero) {
            return Ok(());
        }
        let last = kept.ct_is_zero().select(full.last().map_or(1, |byte| *byte), imp::last_kept(block, kept));
        if last.ct_is_zero().declassify() { Err(Error::ZeroTail) } else { Ok(()) }
    }

    /// Returns the start value of the padding bytes, which some schemes choose at random. For noisy schemes, fills
    /// `block` with random bytes.
    #[inline]
    fn draw(&self, fill: impl FnOnce(&mut [u8]) -> Result<(), Error>, block: &mut [u8]) -> Result<Value, Error> {
        match self.scheme {
            Scheme::Iso10126 => fill(block)?,
            Scheme::ArbitraryTail => {
                let mut seed = [0; 8];
                fill(&mut seed)?;
                let seed = u64::from_le_bytes(seed);
                // The random number is from 1 to 255, and all values have the same probability to within 2^-56. The XOR
                // of this random number and the last data byte can be any byte except the last data byte.
                return Ok(Value { data: 1 + ((u128::from(seed) * 255) >> 64) as u8, empty: seed as u8 });
            }
            _ => {}
        }
        Ok(self.row.value)
    }
}

impl fmt::Debug for Padding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Padding({}, {})", self.scheme, self.row.size)
    }
}
