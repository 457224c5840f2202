//! Takes a test case from the beginning of the fuzzer's bytes.

use deadpan_base64::Alphabet;
use deadpan_base64::stream::BLOCK;

/// The rest of the fuzzer's bytes. If the input is too short, it is extended by zeros. Plain text is used unchanged, so
/// seeds can be written by hand.
#[derive(Clone, Debug)]
pub struct Input<'a>(pub &'a [u8]);

/// [`Input::text`] replaces bytes of at least 0xf0 by these characters: padding, white space, symbols of either
/// alphabet, and similar characters.
const NOT_QUITE_SYMBOLS: &[u8; 16] = b"== \n\r\t\x0b\x0c+/-_@[{\xc1";

/// [`Input::pem`] replaces bytes of at least 0xe0 by these texts.
const PEM_WORDS: [&str; 32] = [
    "-----BEGIN ",
    "-----END ",
    "-----",
    "-----\n",
    "-----BEGIN KEY-----\n",
    "-----END KEY-----\n",
    "-----BEGIN -----\n",
    "-----END -----\n",
    "-----BEGIN A-B C-----\r\n",
    "-----END A-B C-----\r\n",
    "\n-----BEGIN ",
    "\n-----END ",
    "\n-----END KEY-----",
    "KEY",
    "PRIVATE KEY",
    "X.509-CRL",
    "QUJD",
    "QUJDREVG",
    "QUI=",
    "QQ==",
    "QR==",
    "=",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "-",
    "Proc-Type: 4,ENCRYPTED\n",
    "DEK-Info: ",
    "\nsome text\n",
    "+/+/",
];

impl<'a> Input<'a> {
    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Takes a number of up to 16 bits.
    pub fn word(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    /// Takes a position of up to 16 bits, usually a small one.
    pub fn place(&mut self) -> usize {
        if self.byte() & 1 == 0 { usize::from(self.byte()) } else { self.word() }
    }

    /// Takes a number of up to 64 bits. All widths are equally frequent.
    pub fn number(&mut self) -> u64 {
        let width = self.byte();
        u64::from_le_bytes(std::array::from_fn(|_| self.byte())) >> (width % 64)
    }

    /// Takes the rest unchanged.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Takes the rest as bytes to encode. The first byte determines whether a long run of other bytes is inserted
    /// before the bytes, so that the kernels for long inputs run.
    pub fn bytes(&mut self) -> Vec<u8> {
        let front = if self.byte() & 1 == 1 { self.word() % 3000 } else { 0 };
        // The inserted bytes repeat only after 256 bytes, which is more than a kernel processes at once.
        let mut bytes: Vec<u8> = (0..front).map(|place| (place * 37) as u8).collect();
        bytes.extend_from_slice(self.rest());
        bytes
    }

    /// Takes the rest as a text to decode. The first byte determines how many valid symbols are inserted before the
    /// text: none, any number, or as many as move the text to the end of a stream's block. The first byte also
    /// determines whether most of the other bytes are converted to symbols.
    pub fn text(&mut self, alphabet: Alphabet) -> Vec<u8> {
        let symbols = alphabet.symbols();
        let kind = self.byte();
        let front = match kind & 5 {
            1 => self.word() % 10_000,
            // The text begins up to seven symbols before the end of the first or second block.
            5 => BLOCK * (1 + usize::from(kind >> 6 & 1)) - usize::from(kind >> 3 & 7),
            _ => 0,
        };
        let mut text: Vec<u8> = symbols.iter().copied().cycle().take(front).collect();
        // The last two inserted symbols stand for zeros, so a text that begins with `=` has no trailing bits.
        let end = front.saturating_sub(2);
        text[end..].fill(symbols[0]);
        text.extend(self.rest().iter().map(|&byte| match byte {
            _ if kind & 2 == 0 => byte,
            0xf0.. => NOT_QUITE_SYMBOLS[usize::from(byte & 15)],
            _ => symbols[usize::from(byte & 63)],
        }));
        text
    }

    /// Takes the rest of the input as a text that contains words of PEM.
    pub fn pem(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        for byte in self.rest() {
            match byte {
                0xe0.. => text.extend_from_slice(PEM_WORDS[usize::from(byte & 31)].as_bytes()),
                _ => text.push(*byte),
            }
        }
        text
    }
}
