//! `Padding`: a scheme and a block size, chosen once. Here it pads; `unpad` has the way back.

use crate::divisor::Divisor;
use crate::imp::{self, Row, Value};
use crate::{Error, Random, Scheme, random};
use core::fmt;
use deadpan_ct::{CtZero, Wipe, declassify};

/// A scheme for blocks of one size.
///
/// Padding adds at least one byte and at most a block: data of whole blocks, and no data at all, get a block more.
///
/// What may leak from padding: how many full blocks the data has, the scheme and the block size. How many bytes are in the last block, and
/// all their values, do not; except that an error of [`Error::ZeroTail`] shows.
#[derive(Clone, Copy)]
pub struct Padding {
    scheme: Scheme,
    pub(crate) divisor: Divisor,
    pub(crate) row: Row,
}

impl Padding {
    /// `scheme` for blocks of `block` bytes.
    ///
    /// # Errors
    /// [`Error::BlockSize`] for a block of zero bytes.
    pub const fn new(scheme: Scheme, block: u8) -> Result<Self, Error> {
        if block == 0 {
            return Err(Error::BlockSize);
        }
        Ok(Self { scheme, divisor: Divisor::new(block), row: Row::of(scheme, block) })
    }

    /// The scheme.
    #[inline]
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Bytes in a block.
    #[inline]
    #[must_use]
    pub const fn block(&self) -> u8 {
        self.row.size
    }

    /// How long data of `length` bytes is with its padding, or `None` if no slice is that long.
    ///
    /// May leak: whether it is `None`.
    #[inline]
    #[must_use]
    pub const fn padded_len(&self, length: usize) -> Option<usize> {
        if length > isize::MAX as usize - self.divisor.block() {
            return None;
        }
        Some(self.divisor.full(length) + self.divisor.block())
    }

    /// Copies `data` to the front of `output` and pads it there; returns the padded data. Nothing behind it is written.
    ///
    /// May leak: the number of full blocks in `data`, and the error.
    ///
    /// # Errors
    /// [`Error::TooSmall`], [`Error::ZeroTail`], [`Error::Random`], and [`Error::NoGenerator`] without the feature `std`. The output may
    /// have been written to if the generator failed, and is zero where it would have been written to if the data end in zero.
    #[inline]
    pub fn pad_into<'a>(&self, data: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        self.copy_and_pad(data, output, random::fill)
    }

    /// [`pad_into`](Padding::pad_into) with random bytes from a generator of yours.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn pad_into_with<'a>(&self, data: &[u8], output: &'a mut [u8], random: &mut impl Random) -> Result<&'a mut [u8], Error> {
        self.copy_and_pad(data, output, |bytes| Ok(random.fill(bytes)?))
    }

    /// Pads only what is behind the full blocks of `data`, which need not be copied: writes one block to the front of `last`. Returns the
    /// full blocks, as they are in `data`, and that block.
    ///
    /// May leak: the number of full blocks in `data`, and the error.
    ///
    /// # Errors
    /// As for [`pad_into`](Padding::pad_into).
    #[inline]
    pub fn pad_last_block<'d, 'l>(&self, data: &'d [u8], last: &'l mut [u8]) -> Result<(&'d [u8], &'l mut [u8]), Error> {
        self.pad_behind(data, last, random::fill)
    }

    /// [`pad_last_block`](Padding::pad_last_block) with random bytes from a generator of yours.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn pad_last_block_with<'d, 'l>(
        &self,
        data: &'d [u8],
        last: &'l mut [u8],
        random: &mut impl Random,
    ) -> Result<(&'d [u8], &'l mut [u8]), Error> {
        self.pad_behind(data, last, |bytes| Ok(random.fill(bytes)?))
    }

    /// Pads the first `length` bytes of `buffer` where they are; returns the padded data. Nothing behind it is written.
    ///
    /// May leak: the number of full blocks in the data, and the error.
    ///
    /// # Errors
    /// As for [`pad_into`](Padding::pad_into), but the buffer is as it was after any error.
    #[inline]
    pub fn pad_in_place<'a>(&self, buffer: &'a mut [u8], length: usize) -> Result<&'a mut [u8], Error> {
        self.pad_at_place(buffer, length, random::fill)
    }

    /// [`pad_in_place`](Padding::pad_in_place) with random bytes from a generator of yours.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn pad_in_place_with<'a>(&self, buffer: &'a mut [u8], length: usize, random: &mut impl Random) -> Result<&'a mut [u8], Error> {
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
        // No slice has the highest bit in its length; without it the rounding is exact.
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

    /// The part of `output` that is written.
    #[inline]
    fn room<'a>(&self, output: &'a mut [u8], full: usize) -> Result<&'a mut [u8], Error> {
        let needed = full + self.divisor.block();
        output.get_mut(..needed).ok_or(Error::TooSmall { needed })
    }

    /// An error if the data's last byte is zero and so would be the padding; `block` begins with the `kept` bytes behind `full`. It does not
    /// help that the data may end on a block border: other implementations strip zeros across it.
    ///
    /// Both bytes that may be the last are read, whichever it is: where the data end is a secret.
    #[inline]
    fn refuse_zero_tail(&self, full: &[u8], block: &[u8], kept: usize) -> Result<(), Error> {
        if !matches!(self.scheme, Scheme::Zero) {
            return Ok(());
        }
        let last = kept.ct_is_zero().select(full.last().map_or(1, |byte| *byte), imp::last_kept(block, kept));
        if last.ct_is_zero().declassify() { Err(Error::ZeroTail) } else { Ok(()) }
    }

    /// What the padding begins with, random if the scheme wants it so; and noise into `block` if it wants that.
    #[inline]
    fn draw(&self, fill: impl FnOnce(&mut [u8]) -> Result<(), Error>, block: &mut [u8]) -> Result<Value, Error> {
        match self.scheme {
            Scheme::Iso10126 => fill(block)?,
            Scheme::ArbitraryTail => {
                let mut seed = [0; 8];
                fill(&mut seed)?;
                let seed = u64::from_le_bytes(seed);
                // From 1 to 255, all alike to within 2^-56: mixed with the last data byte it is any byte but that one.
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
