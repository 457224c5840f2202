//! For every byte value, tests the functions of `deadpan-base64` that convert one symbol.

use crate::secret::{hide_one, show_one};
use crate::tally::Tally;
use deadpan_base64::Alphabet;

pub(crate) fn run(tally: &mut Tally) {
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        let symbols = alphabet.symbols();
        for byte in 0..=u8::MAX {
            let secret = hide_one(byte);
            let name = format!("{alphabet:?} {byte:#x}");
            tally.case(format_args!("encode_symbol {name}"), || {
                show_one(alphabet.encode_symbol(secret)) == symbols[usize::from(byte) % symbols.len()]
            });
            let value = symbols.iter().position(|symbol| *symbol == byte).map(|value| value as u8);
            let space = matches!(byte, b' ' | 9..=13);
            let padding = byte == b'=';
            let symbol = alphabet.decode_symbol(secret);
            tally.case(format_args!("value of {name}"), || symbol.value().declassify().map(show_one) == value);
            tally.case(format_args!("is_white_space of {name}"), || symbol.is_white_space().declassify() == space);
            tally.case(format_args!("is_padding of {name}"), || symbol.is_padding().declassify() == padding);
            tally.case(format_args!("is_invalid of {name}"), || {
                symbol.is_invalid().declassify() == (value.is_none() && !space && !padding)
            });
            tally.case(format_args!("symbol of {name}, printed"), || format!("{symbol:?}") == "Symbol(..)");
        }
    }
}
