//! A reference implementation of the schemes that is easy to check. The reference works byte by byte and uses jumps.

// The unit tests of the crate share this file. In the unit tests, the match over all schemes needs no last pattern for
// other schemes, so that pattern is unreachable there.
#![allow(unreachable_patterns)]

use deadpan_pad::Scheme;

/// Returns whether `padded` is `data` with valid padding.
pub fn is_padded(scheme: Scheme, block: usize, data: &[u8], padded: &[u8]) -> bool {
    let count = block - data.len() % block;
    if padded.len() != data.len() + count || !padded.starts_with(data) {
        return false;
    }
    let in_block = &data[data.len() / block * block..];
    let last = in_block.last().copied();
    let tail = &padded[data.len()..];
    tail.iter().enumerate().all(|(place, &byte)| match scheme {
        Scheme::Zero => byte == 0,
        Scheme::Pkcs7 => byte == count as u8,
        Scheme::AnsiX923 if place + 1 == count => byte == count as u8,
        Scheme::AnsiX923 => byte == 0,
        Scheme::Iso10126 => place + 1 < count || byte == count as u8,
        Scheme::Rfc4303 => byte == place as u8 + 1,
        Scheme::Iso7816 => byte == if place == 0 { 0x80 } else { 0 },
        Scheme::ArbitraryTail => byte == tail[0] && Some(byte) != last,
        Scheme::NotLast => byte == last.map_or(0xaa, |last| !last),
        _ => unreachable!("a scheme without rules"),
    })
}

/// Returns the length of the data in `padded`, or `None` if the padding is wrong.
pub fn unpad(scheme: Scheme, block: usize, padded: &[u8]) -> Option<usize> {
    if padded.is_empty() || !padded.len().is_multiple_of(block) {
        return None;
    }
    let text = &padded[padded.len() - block..];
    let last = text[block - 1];
    let run = |value: u8| text.iter().rev().take_while(|&&byte| byte == value).count();
    let told = usize::from(last);
    let in_range = (1..=block).contains(&told);
    let count = match scheme {
        Scheme::Zero => (last == 0).then(|| run(0)),
        Scheme::Pkcs7 => (in_range && run(last) >= told).then_some(told),
        Scheme::AnsiX923 => (in_range && text[block - told..block - 1].iter().all(|&byte| byte == 0)).then_some(told),
        Scheme::Iso10126 => in_range.then_some(told),
        Scheme::Rfc4303 => (in_range && (1..=last).eq(text[block - told..].iter().copied())).then_some(told),
        Scheme::Iso7816 => {
            let zeros = run(0);
            (zeros < block && text[block - 1 - zeros] == 0x80).then_some(zeros + 1)
        }
        Scheme::ArbitraryTail | Scheme::NotLast => Some(run(last)),
        _ => unreachable!("a scheme without rules"),
    };
    count.map(|count| padded.len() - count)
}
