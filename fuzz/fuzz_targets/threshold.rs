//! Thresholds: a header is accepted if, and only if, its shares are one complete group in the right order. A changed
//! header never opens. A share opens a file if, and only if, it is one of the shares of this file.
//!
//! Input: `H` and changes to a header, or `S` and a share, or the entries of a header with their numbers.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::reference::sealed;
use deadpan_fuzz::{Input, change};
use deadpan_seal::{Error, Header, Identity, Kem, PrivateKey, Sealing, Share, Stanza};

fuzz_target!(|data: &[u8]| match data {
    [b'H', rest @ ..] => changed(Input(rest)),
    [b'S', rest @ ..] => share(rest),
    other => entries(Input(other)),
});

/// A file that any 2 of 3 keys open: the header, and its keys.
fn file() -> &'static (Vec<u8>, Vec<Identity>) {
    static FILE: OnceLock<(Vec<u8>, Vec<Identity>)> = OnceLock::new();
    FILE.get_or_init(|| {
        let keys = [1, 2, 3].map(|seed| PrivateKey::from_seed(Kem::X25519, &[seed; 32]).expect("a scalar"));
        let members = keys.iter().map(|key| key.public().clone()).collect();
        let mut sealed = Sealing::threshold(2, members).and_then(|it| it.seal(b"")).expect("sealed");
        let length = Header::read(&sealed[..]).expect("a header").length() as usize;
        sealed.truncate(length);
        (sealed, keys.iter().map(Identity::from).collect())
    })
}

fn changed(mut input: Input<'_>) {
    let (header, keys) = file();
    let mut bytes = header.clone();
    change(&mut input, &mut bytes, 16, 4);
    if bytes.starts_with(header) {
        return;
    }
    let Ok(header) = Header::read(&bytes[..]) else { return };
    assert!(header.clone().open(keys).is_err(), "a header that was changed");
    if let Ok(shares) = header.shares(keys) {
        assert!(shares.len() <= 3 && shares.iter().all(|share| Some(share.group()) == header.group()));
    }
}

fn share(bytes: &[u8]) {
    let (header, keys) = file();
    let header = Header::read(&header[..]).expect("a header");
    let own = header.shares(keys).expect("three shares");
    // The fuzzer cannot guess the group's number, so the test writes this number in place of zeros in the input.
    let mut bytes = bytes.to_vec();
    if bytes.len() == Share::LENGTH && bytes[19..51] == [0; 32] {
        bytes[19..51].copy_from_slice(&own[0].to_bytes()[19..51]);
    }
    let Ok(share) = Share::from_bytes(&bytes) else { return };
    assert_eq!(share.to_bytes()[..], bytes[..], "shares have one form");
    assert!(2 <= share.needed() && share.needed() <= share.of() && (1..=share.of()).contains(&share.index()));
    let is_own = own.iter().any(|own| own.to_bytes()[..] == bytes[..]);
    let with_it = header.clone().open(&[keys[0].clone(), Identity::Share(share)]);
    assert!(is_own || matches!(with_it, Err(Error::Share(_))), "a share that nobody made");
}

/// Tests entries with numbers that the fuzzer chooses. The header is accepted exactly if the simple rule in
/// [`is_group`] allows the numbers.
fn entries(mut input: Input<'_>) {
    let count = usize::from(input.byte() % 8);
    let mut recipients = Vec::new();
    let mut numbers = Vec::new();
    for _ in 0..count {
        let (kind, body) = sealed::recipient();
        match input.byte() {
            // An ordinary recipient.
            0xff => {
                recipients.push((kind, body.to_vec()));
                numbers.push(None);
            }
            first => {
                let three = [first, input.byte(), input.byte()];
                let check = input.byte() & 1;
                let mut body = [&three[..], &[0, 0x20], &[check; 32], &[7; 32], body].concat();
                let is_short = input.byte() == 0xff;
                body.truncate(body.len() - usize::from(is_short));
                recipients.push((0xff04, body));
                numbers.push(Some((three, check, is_short)));
            }
        }
    }
    let bytes = sealed::header(&recipients, &sealed::metadata_box(&[0; 256]), &[], 0, 0);
    let read = Header::read(&bytes[..]);
    let allowed = count > 0 && is_group(&numbers);
    assert_eq!(read.is_ok(), allowed, "{numbers:?}: {read:?}");
    let Ok(header) = read else { return };
    let has_shares = header.stanzas().iter().any(|stanza| matches!(stanza, Stanza::Share { .. }));
    assert_eq!(header.group().is_some(), has_shares);
    // No share of this header was sealed to a key.
    let opened = header.open(&[Identity::Key(sealed::identity().clone())]);
    assert_eq!(opened.is_ok(), numbers.contains(&None));
}

/// Returns whether the shares in a list are one complete group in order. `None` stands for a recipient that is not a
/// share.
fn is_group(numbers: &[Option<([u8; 3], u8, bool)>]) -> bool {
    let Some(begin) = numbers.iter().position(Option::is_some) else { return true };
    let end = numbers.iter().rposition(Option::is_some).unwrap_or(begin);
    let Some(([needed, of, _], check, _)) = numbers[begin] else { return false };
    if needed < 2 || needed > of || usize::from(of) != end - begin + 1 {
        return false;
    }
    numbers[begin..=end].iter().zip(1..=of).all(|(share, index)| *share == Some(([needed, of, index], check, false)))
}
