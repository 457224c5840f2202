//! Tests that every reader refuses segments that were changed, moved, cut off or added.

use super::*;

fn refused(sealed: &[u8], what: &str) {
    assert!(open(&KEY, AAD, sealed).is_err(), "{what}, at once");
    let Some((header, segments)) = sealed.split_at_checked(HEADER) else { return };
    let Ok(message) = Message::resume(&KEY, AAD, header).map(Arc::new) else { return };
    assert!(Reader::new(message.clone(), segments).read_to_end(&mut Vec::new()).is_err(), "{what}, in order");
    let anywhere = SeekReader::new(message, std::io::Cursor::new(sealed), HEADER as u64);
    assert!(
        anywhere.is_err() || anywhere.is_ok_and(|mut reader| reader.read_to_end(&mut Vec::new()).is_err()),
        "{what}, anywhere"
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    let (sealed, _) = small();
    for place in 0..sealed.len() {
        for bit in 0..8 {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << bit;
            refused(&changed, &format!("bit {bit} of byte {place}"));
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_refused() {
    let (sealed, _) = small();
    (0..sealed.len()).for_each(|length| refused(&sealed[..length], &format!("cut to {length}")));
    for more in [1, 31, 32, 33, 39, 40, 41, 80] {
        refused(&[&sealed[..], &vec![0xff; more]].concat(), &format!("{more} bytes more"));
        refused(
            &[&sealed[..], &sealed[HEADER..][..more.min(sealed.len() - HEADER)]].concat(),
            &format!("{more} of its bytes again"),
        );
    }
}

#[test]
fn segments_stay_where_they_are() {
    let (sealed, _) = small();
    let segment = |i: usize| &sealed[HEADER + 40 * i..][..40];
    let tail = &sealed[HEADER + 120..];
    let header = &sealed[..HEADER];
    refused(&[header, segment(1), segment(0), segment(2), tail].concat(), "swapped");
    refused(&[header, segment(0), segment(0), segment(1), segment(2), tail].concat(), "repeated");
    refused(&[header, segment(0), segment(2), tail].concat(), "left out");
    refused(&[header, segment(0), segment(1), segment(2)].concat(), "the last left out");
    refused(&[header, tail].concat(), "only the last");
    let (other, _) = small();
    refused(
        &[header, &other[HEADER..HEADER + 40], segment(1), segment(2), tail].concat(),
        "a segment of another message",
    );
    refused(&[&other[..HEADER], &sealed[HEADER..]].concat(), "the header of another message");
}

#[test]
fn errors_say_what_happened() {
    let (sealed, _) = small();
    let error = |sealed: &[u8]| open(&KEY, AAD, sealed).expect_err("refused");
    assert!(matches!(error(&sealed[..HEADER + 100]), Error::Truncated));
    assert!(matches!(error(&sealed[..HEADER + 80]), Error::Truncated));
    let mut changed = sealed.clone();
    changed[HEADER + 40 + 20] ^= 1;
    assert!(matches!(error(&changed), Error::Segment { segment: 1 }));
}
