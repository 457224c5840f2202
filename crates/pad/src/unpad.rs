//! The way back: how much of a padded input is data.

use crate::{Error, Padding, imp};
use deadpan_ct::{Choice, declassify};

impl Padding {
    /// The data in `padded`.
    ///
    /// May leak: the length of `padded`, and then whether its padding is right and how long it is. Where an attacker can send inputs of
    /// their own and see which are refused, that is enough to decrypt (Vaudenay's padding oracle): check a MAC first, or take
    /// [`unpad_ct`](Padding::unpad_ct).
    ///
    /// # Errors
    /// [`Error::NotBlocks`] and [`Error::Padding`].
    #[inline]
    pub fn unpad<'a>(&self, padded: &'a [u8]) -> Result<&'a [u8], Error> {
        let Some(block) = self.last_block(padded) else { return Err(Error::NotBlocks) };
        padded.get(..self.verdict(padded, block)).ok_or(Error::Padding)
    }

    /// The data in `padded`, to be changed.
    ///
    /// May leak: as for [`unpad`](Padding::unpad).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn unpad_mut<'a>(&self, padded: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let Some(block) = self.last_block(padded) else { return Err(Error::NotBlocks) };
        let length = self.verdict(padded, block);
        padded.get_mut(..length).ok_or(Error::Padding)
    }

    /// The length of the data in `padded`, and whether its padding is right; zero if not. Both are still secret: combine the choice with
    /// that of a MAC check, and declassify them together.
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

    /// The length of the data, made public, or one that no input has if the padding is wrong.
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

    /// The last block of an input that consists of whole ones. All of this is public.
    #[inline(always)]
    fn last_block<'a>(&self, padded: &'a [u8]) -> Option<&'a [u8]> {
        let block = self.divisor.block();
        if self.divisor.full(padded.len()) != padded.len() {
            return None;
        }
        padded.get(padded.len().wrapping_sub(block)..)
    }
}
