//! Hides the length of data. Sealing extends the data to their Padmé length with ISO/IEC 7816-4 padding (the byte 0x80
//! and zeros). Opening removes the padding.

use std::io::{self, Read, Write};

use crate::Error;
use deadpan_ct::Wiped;
use deadpan_pad::padme;

/// The first byte of the padding.
pub(crate) const MARK: u8 = 0x80;

pub(crate) fn padded_length(data: u64) -> Result<u64, Error> {
    data.checked_add(1).and_then(padme).ok_or(Error::TooLong)
}

/// A reader that returns the data and then the padding.
pub(crate) struct Padded<R> {
    input: R,
    length: u64,
    /// The number of bytes of padding that are left. Before the end of the data, this field is `None`.
    left: Option<u64>,
}

impl<R> Padded<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, length: 0, left: None }
    }
}

impl<R: Read> Read for Padded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let left = match self.left {
            Some(left) => left,
            None => {
                let read = self.input.read(buffer)?;
                self.length += read as u64;
                if read > 0 {
                    return Ok(read);
                }
                let left = padded_length(self.length).map_err(Error::into_io)? - self.length;
                buffer[0] = MARK;
                self.left = Some(left - 1);
                return Ok(1);
            }
        };
        let zeros = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        buffer[..zeros].fill(0);
        self.left = Some(left - zeros as u64);
        Ok(zeros)
    }
}

impl Padded<io::Empty> {
    /// Returns a reader of the padding that follows `data` bytes of data.
    pub(crate) fn after(data: u64) -> Self {
        Self { input: io::empty(), length: data, left: None }
    }

    /// Returns whether all of the padding was read.
    pub(crate) fn is_over(&self) -> bool {
        self.left == Some(0)
    }
}

/// Writes the padding that follows `data` bytes of data.
pub(crate) fn write_padding(data: u64, output: &mut impl Write) -> io::Result<()> {
    io::copy(&mut Padded::after(data), output).map(drop)
}

pub(crate) fn padded(data: &[u8]) -> Result<Wiped<Vec<u8>>, Error> {
    let length = padded_length(data.len() as u64)?;
    let mut padded = Wiped::new(Vec::new());
    let room = usize::try_from(length).unwrap_or(usize::MAX);
    padded.try_reserve_exact(room).map_err(|_| Error::System("there is not enough memory to pad the data"))?;
    padded.extend_from_slice(data);
    write_padding(data.len() as u64, &mut *padded).map_err(Error::Write)?;
    Ok(padded)
}

/// Finds the end of padded data. The parts of the data may come in any order. The padding begins at the last byte that
/// is not zero.
#[derive(Debug, Default)]
pub(crate) struct End(Option<(u64, u8)>);

impl End {
    pub(crate) fn see(&mut self, position: u64, data: &[u8]) {
        let last = data.iter().rposition(|byte| *byte != 0);
        let here = last.map(|at| (position + at as u64, data[at]));
        self.0 = self.0.max(here);
    }

    /// Returns whether all bytes so far were zero.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the length of the data. `padded` is the length with the padding.
    pub(crate) fn length(self, padded: u64) -> Result<u64, Error> {
        match self.0 {
            Some((length, MARK)) if padded_length(length)? == padded => Ok(length),
            _ => Err(Error::Padding),
        }
    }
}

/// Removes the padding from data that arrive in order. Holds back a mark (the byte 0x80) and the zeros after the mark
/// until another byte follows.
#[derive(Debug, Default)]
pub(crate) struct Stripper {
    seen: u64,
    /// The number of zeros after a mark. The field is `None` if the last byte that is not zero is not the byte 0x80.
    held: Option<u64>,
}

/// The bytes to return: the bytes that were held back come first, and the beginning of the new bytes follows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PassedOn {
    /// If this field is set, the returned bytes begin with a mark and this number of zeros.
    pub(crate) before: Option<u64>,
    /// The number of new bytes to return, counted from the beginning of the new bytes.
    pub(crate) length: usize,
}

impl Stripper {
    pub(crate) fn pass(&mut self, piece: &[u8]) -> PassedOn {
        self.seen += piece.len() as u64;
        match piece.iter().rposition(|byte| *byte != 0) {
            None => match &mut self.held {
                Some(zeros) => {
                    *zeros += piece.len() as u64;
                    PassedOn { before: None, length: 0 }
                }
                None => PassedOn { before: None, length: piece.len() },
            },
            Some(last) if piece[last] == MARK => {
                let before = self.held.replace((piece.len() - last - 1) as u64);
                PassedOn { before, length: last }
            }
            Some(_) => PassedOn { before: self.held.take(), length: piece.len() },
        }
    }

    /// Returns the length of the data. Must be called at the end of the padded data.
    pub(crate) fn finish(&self) -> Result<u64, Error> {
        let length = self.held.and_then(|zeros| self.seen.checked_sub(zeros + 1)).ok_or(Error::Padding)?;
        if padded_length(length)? == self.seen { Ok(length) } else { Err(Error::Padding) }
    }
}

/// Writes a mark and zeros that were held back, but belong to the data.
pub(crate) fn write_held(zeros: u64, output: &mut impl Write) -> io::Result<()> {
    output.write_all(&[MARK])?;
    io::copy(&mut io::repeat(0).take(zeros), output).map(drop)
}

/// A writer that removes the padding from the bytes written to it.
pub(crate) struct Stripped<W> {
    pub(crate) output: W,
    pub(crate) stripper: Stripper,
}

impl<W: Write> Write for Stripped<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let passed = self.stripper.pass(piece);
        if let Some(zeros) = passed.before {
            write_held(zeros, &mut self.output)?;
        }
        self.output.write_all(&piece[..passed.length])?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(data: &[u8]) -> Vec<u8> {
        let mut padded = Vec::new();
        Padded::new(data).read_to_end(&mut padded).expect("memory can be read");
        padded
    }

    /// Returns data that look like padding, in many lengths.
    fn samples() -> impl Iterator<Item = Vec<u8>> {
        (0..200_usize).chain([511, 512, 513, 4096]).flat_map(|length| {
            let kinds: [fn(usize) -> u8; 5] =
                [|_| 0, |_| MARK, |i| i as u8, |i| if i % 5 == 0 { MARK } else { 0 }, |_| 1];
            kinds.map(|kind| (0..length).map(kind).collect())
        })
    }

    #[test]
    fn padding_comes_off_again_whatever_the_pieces() {
        for data in samples() {
            let whole = padded(&data);
            assert_eq!(Some(whole.len() as u64), padme(data.len() as u64 + 1));
            for step in [1, 3, 64, whole.len()] {
                let mut stripped = Stripped { output: Vec::new(), stripper: Stripper::default() };
                whole.chunks(step).for_each(|piece| stripped.write_all(piece).expect("memory can be written"));
                assert_eq!(stripped.stripper.finish().expect("padded"), data.len() as u64);
                assert!(stripped.output == data, "{} bytes, {step} at a time", data.len());
                let mut end = End::default();
                let pieces: Vec<(usize, &[u8])> = whole.chunks(step).enumerate().collect();
                pieces.iter().rev().for_each(|(i, piece)| end.see((i * step) as u64, piece));
                assert_eq!(end.length(whole.len() as u64).expect("padded"), data.len() as u64);
            }
        }
    }

    #[test]
    fn other_paddings_are_refused() {
        for bad in [&b""[..], b"\0", b"\0\0\0", b"abc", b"abc\x80\0\0\0\0\0\0\0", b"abcdefgh\x80"] {
            let mut stripper = Stripper::default();
            stripper.pass(bad);
            let mut end = End::default();
            end.see(0, bad);
            // The padding is right only if the input ends with the mark (the byte 0x80) and its length is a Padmé
            // length.
            let right = bad.ends_with(&[MARK]) && padme(bad.len() as u64) == Some(bad.len() as u64);
            assert_eq!(stripper.finish().is_ok(), right, "{}", bad.escape_ascii());
            assert_eq!(end.length(bad.len() as u64).is_ok(), right, "{}", bad.escape_ascii());
        }
    }
}
