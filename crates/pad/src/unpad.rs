//! Removes padding: finds the length of the data in a padded input.

use crate::{Error, Padding, imp};
use deadpan_ct::{Choice, declassify};

impl Padding {
    /// Returns the data in `padded`.
    ///
    /// May leak: the length of `padded`, whether the padding is right, and the length of the data. An attacker who can
    /// send inputs and see which inputs are refused can decrypt data (Vaudenay's padding oracle). Check a MAC first, or
    /// use [`unpad_ct`](Padding::unpad_ct).
    ///
    /// # Errors
    /// [`Error::NotBlocks`] and [`Error::Padding`].
    #[inline]
    pub fn unpad<'a>(&self, padded: &'a [u8]) -> Result<&'a [u8], Error> {
        let Some(block) = self.last_block(padded) else { return Err(Error::NotBlocks) };
        padded.get(..self.verdict(padded, block)).ok_or(Error::Padding)
    }

    /// Returns the data in `padded`, as a mutable slice.
    ///
    /// May leak: the length of `padded`, whether the padding is right, and the length of the data, as
    /// [`unpad`](Padding::unpad) does.
    ///
    /// # Errors
    /// [`Error::NotBlocks`] and [`Error::Padding`].
    #[inline]
    pub fn unpad_mut<'a>(&self, padded: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let Some(block) = self.last_block(padded) else { return Err(Error::NotBlocks) };
        let length = self.verdict(padded, block);
        padded.get_mut(..length).ok_or(Error::Padding)
    }

    /// Returns the length of the data in `padded`, and whether the padding is right. If the padding is wrong, the
    /// length is zero. The length and the choice are still secret. Combine the choice with the choice of a MAC check,
    /// and declassify the combined choice.
    ///
    /// May leak: the length of `padded`.
    ///
    /// ```
    /// use deadpan_pad::{Padding, Scheme};
    ///
    /// let padding = Padding::new(Scheme::Pkcs7, 8)?;
    /// # let mac_is_right = deadpan_ct::Choice::TRUE;
    /// let (length, padding_is_right) = padding.unpad_ct(b"Hello\x03\x03\x03");
    /// if (mac_is_right & padding_is_right).declassify() {
    ///     assert_eq!(deadpan_ct::declassify(length), 5);
    /// }
    /// # Ok::<(), deadpan_pad::Error>(())
    /// ```
    #[inline]
    pub fn unpad_ct(&self, padded: &[u8]) -> (usize, Choice) {
        match self.last_block(padded) {
            Some(block) => self.look(padded, block),
            None => (0, Choice::FALSE),
        }
    }

    /// Returns the length of the data as a public number. If the padding is wrong, returns a number that is larger than
    /// the length of any input.
    #[inline(always)]
    fn verdict(&self, padded: &[u8], block: &[u8]) -> usize {
        let (length, valid) = self.look(padded, block);
        declassify(length | (!valid).mask().cast_unsigned())
    }

    #[inline(always)]
    fn look(&self, padded: &[u8], block: &[u8]) -> (usize, Choice) {
        let (count, valid) = imp::unpad(&self.row, block);
        (padded.len().wrapping_sub(count) & valid.mask().cast_unsigned(), valid)
    }

    /// Returns the last block of an input that consists of whole blocks. The lengths are public.
    #[inline(always)]
    fn last_block<'a>(&self, padded: &'a [u8]) -> Option<&'a [u8]> {
        let block = self.divisor.block();
        if self.divisor.full(padded.len()) != padded.len() {
            return None;
        }
        padded.get(padded.len().wrapping_sub(block)..)
    }
}
