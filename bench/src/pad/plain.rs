//! Paddings that leak through their time on purpose: they contain branches on the data and loops that end early.

use std::cell::RefCell;

use super::Padder;
use deadpan_lab::Random;
use deadpan_pad::Scheme;

/// A scheme and a block size.
pub struct Plain {
    scheme: Scheme,
    block: usize,
    /// The state of a fast, predictable generator, for benchmarks only.
    random: RefCell<Random>,
}

impl Plain {
    /// Makes a padding of any scheme.
    pub fn new(scheme: Scheme, block: usize) -> Self {
        Self { scheme, block, random: RefCell::new(Random::new(8)) }
    }

    /// `last` is the last data byte.
    fn fill(&self, padding: &mut [u8], last: Option<u8>) {
        let count = padding.len() as u8;
        match self.scheme {
            Scheme::Pkcs7 => padding.fill(count),
            Scheme::AnsiX923 => padding.fill(0),
            Scheme::Iso10126 => {
                let mut random = self.random.borrow_mut();
                padding
                    .chunks_mut(8)
                    .for_each(|bytes| bytes.copy_from_slice(&random.bits().to_le_bytes()[..bytes.len()]));
            }
            Scheme::Rfc4303 => padding.iter_mut().zip(1..).for_each(|(byte, number)| *byte = number),
            Scheme::Iso7816 => {
                padding.fill(0);
                padding[0] = 0x80;
            }
            Scheme::ArbitraryTail => loop {
                let byte = self.random.borrow_mut().bits() as u8;
                if Some(byte) != last {
                    break padding.fill(byte);
                }
            },
            Scheme::NotLast => padding.fill(last.map_or(0xaa, |last| !last)),
            _ => padding.fill(0),
        }
        if matches!(self.scheme, Scheme::AnsiX923 | Scheme::Iso10126) {
            padding[count as usize - 1] = count;
        }
    }
}

impl Padder for Plain {
    fn pad_into(&self, data: &[u8], output: &mut [u8]) -> usize {
        let length = data.len() / self.block * self.block + self.block;
        output[..data.len()].copy_from_slice(data);
        self.fill(&mut output[data.len()..length], data.last().copied());
        length
    }

    fn pad_last_block(&self, data: &[u8], output: &mut [u8]) -> usize {
        let whole = data.len() / self.block * self.block;
        self.pad_into(&data[whole..], output);
        whole
    }

    fn unpad(&self, data: &[u8]) -> Option<usize> {
        let last = *data.last()?;
        let count = usize::from(last);
        let counted = || (1..=self.block).contains(&count).then(|| data.split_at(data.len() - count));
        let run = |byte: u8| data.iter().rev().take_while(|&&other| other == byte).count();
        match self.scheme {
            Scheme::Pkcs7 => {
                counted().filter(|(_, padding)| padding.iter().all(|&byte| byte == last)).map(|(data, _)| data.len())
            }
            Scheme::AnsiX923 => counted()
                .filter(|(_, padding)| padding[..count - 1].iter().all(|&byte| byte == 0))
                .map(|(data, _)| data.len()),
            Scheme::Iso10126 => counted().map(|(data, _)| data.len()),
            Scheme::Rfc4303 => {
                counted().filter(|(_, padding)| padding.iter().copied().eq(1..=last)).map(|(data, _)| data.len())
            }
            Scheme::Iso7816 => {
                let mark = data.len().checked_sub(run(0) + 1)?;
                (data[mark] == 0x80 && data.len() - mark <= self.block).then_some(mark)
            }
            Scheme::Zero => Some(data.len() - run(0).min(self.block)),
            _ => Some(data.len() - run(last).min(self.block)),
        }
    }
}
