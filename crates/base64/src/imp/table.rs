//! The alphabets as tables that fit into registers.

use crate::Alphabet;

/// The table entry of a character that is not a symbol. The entry is the top bit, which is not set in the value of any
/// symbol.
pub(super) const NO_SYMBOL: u8 = 0x80;

/// 64 bytes, aligned so that one access loads them.
#[repr(align(64))]
pub(super) struct Table(pub(super) [u8; 64]);

/// Returns the symbol of each value.
#[inline(always)]
pub(super) fn symbols(alphabet: Alphabet) -> &'static Table {
    static STANDARD: Table = Table(Alphabet::Standard.symbols());
    static URL_SAFE: Table = Table(Alphabet::UrlSafe.symbols());
    match alphabet {
        Alphabet::Standard => &STANDARD,
        Alphabet::UrlSafe => &URL_SAFE,
    }
}

/// Returns the value of each ASCII character: first of the characters below 64, and then of the others.
#[inline(always)]
pub(super) fn values(alphabet: Alphabet) -> &'static [Table; 2] {
    static STANDARD: [Table; 2] = invert(Alphabet::Standard);
    static URL_SAFE: [Table; 2] = invert(Alphabet::UrlSafe);
    match alphabet {
        Alphabet::Standard => &STANDARD,
        Alphabet::UrlSafe => &URL_SAFE,
    }
}

const fn invert(alphabet: Alphabet) -> [Table; 2] {
    let symbols = alphabet.symbols();
    let mut tables = [[NO_SYMBOL; 64]; 2];
    let mut value = 0;
    while value < 64 {
        let symbol = symbols[value] as usize;
        tables[symbol / 64][symbol % 64] = value as u8;
        value += 1;
    }
    [Table(tables[0]), Table(tables[1])]
}
