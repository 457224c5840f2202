use std::error::Error;

use deadpan_base64::STANDARD;
use deadpan_ct::{CtEq, declassify};
use deadpan_pad::{Padding, Scheme};

/// Checks the tag and the padding of a decrypted CBC message, and returns the message if both are right.
fn open<'a>(plain: &'a [u8], expected: &[u8; 32], received: &[u8; 32]) -> Result<&'a [u8], Box<dyn Error>> {
    let padding = Padding::new(Scheme::Pkcs7, 16)?;
    // The results for the tag and the padding are combined first, so there is no padding oracle.
    let (length, padding_is_right) = padding.unpad_ct(plain);
    let accepted = (padding_is_right & expected.ct_eq(received)).declassify();
    if accepted { Ok(&plain[..declassify(length)]) } else { Err("rejected".into()) }
}

/// Decodes a key from text, in a time that depends only on the text's length.
fn key(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(STANDARD.decode(text)?)
}
