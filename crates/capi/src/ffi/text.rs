//! Base64, paddings and comparison, in a time that depends on the lengths only.

use super::border::{apart, buffer, bytes, set, small};
use deadpan_base64::{Base64, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use deadpan_bind::{Code, Fault};
use deadpan_ct::CtEq;
use deadpan_pad::{Padding, Scheme};

fn codec(alphabet: i32) -> Result<Base64, Fault> {
    match alphabet {
        0 => Ok(STANDARD),
        1 => Ok(STANDARD_NO_PAD),
        2 => Ok(URL_SAFE),
        3 => Ok(URL_SAFE_NO_PAD),
        _ => Err(Fault::argument(format!("{alphabet} is no alphabet"))),
    }
}

fn padding(scheme: i32, block: usize) -> Result<Padding, Fault> {
    let scheme = match scheme {
        0 => Scheme::Pkcs7,
        1 => Scheme::Iso7816,
        2 => Scheme::AnsiX923,
        3 => Scheme::Rfc4303,
        4 => Scheme::Iso10126,
        5 => Scheme::NotLast,
        6 => Scheme::ArbitraryTail,
        7 => Scheme::Zero,
        _ => return Err(Fault::argument(format!("{scheme} is no padding"))),
    };
    let block = u8::try_from(block).map_err(|_| Fault::argument("a block has 1 to 255 bytes"))?;
    Padding::new(scheme, block).map_err(|error| Fault::argument(error.to_string()))
}

exports! {
    /// Encodes bytes as base64.
    fn dp_base64_encode(
        alphabet: i32,
        data: *const u8,
        length: usize,
        text: *mut u8,
        room: usize,
        written: *mut usize,
    ) {
        let codec = codec(alphabet)?;
        let needed = codec.encoded_len(length).ok_or_else(|| Fault::argument("a length is longer than memory"))?;
        set(written, needed)?;
        apart(data, length, text, room)?;
        let (data, text) = (bytes(data, length)?, buffer(text, room)?);
        codec.encode_into(data, text).map(drop).map_err(|_| small(needed))
    }

    /// Decodes base64, strictly.
    fn dp_base64_decode(
        alphabet: i32,
        text: *const u8,
        length: usize,
        data: *mut u8,
        room: usize,
        written: *mut usize,
    ) {
        let codec = codec(alphabet)?;
        set(written, 0)?;
        apart(text, length, data, room)?;
        let (text, data) = (bytes(text, length)?, buffer(data, room)?);
        let needed = codec.decoded_len_max(length);
        match codec.decode_into(text, data) {
            Ok(decoded) => set(written, decoded.len()),
            Err(_) if room < needed => {
                set(written, needed)?;
                Err(small(needed))
            }
            Err(error) => Err(Fault::new(Code::Encoding, error.to_string())),
        }
    }

    /// Pads data to whole blocks.
    fn dp_pad(
        scheme: i32,
        block: usize,
        data: *const u8,
        length: usize,
        output: *mut u8,
        room: usize,
        written: *mut usize,
    ) {
        let padding = padding(scheme, block)?;
        let needed = padding.padded_len(length).ok_or_else(|| Fault::argument("a length is longer than memory"))?;
        set(written, needed)?;
        apart(data, length, output, room)?;
        let (data, output) = (bytes(data, length)?, buffer(output, room)?);
        if room < needed {
            return Err(small(needed));
        }
        padding.pad_into(data, output).map(drop).map_err(|error| Fault::new(Code::Encoding, error.to_string()))
    }

    fn dp_unpad(scheme: i32, block: usize, data: *const u8, length: usize, plain: *mut usize) {
        set(plain, 0)?;
        let unpadded = padding(scheme, block)?.unpad(bytes(data, length)?).map(<[u8]>::len);
        set(plain, unpadded.map_err(|error| Fault::new(Code::Encoding, error.to_string()))?)
    }

    /// Compares bytes in constant time: `equal` is 1 or 0.
    fn dp_ct_equal(one: *const u8, other: *const u8, length: usize, equal: *mut i32) {
        let (one, other) = (bytes(one, length)?, bytes(other, length)?);
        set(equal, one.ct_eq(other).declassify().into())
    }
}
