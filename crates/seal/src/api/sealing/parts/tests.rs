//! Tests of files that are made in parts.

use super::*;
use crate::format::deadpan::floe::OVERHEAD;
use crate::key::sign::{Scheme, SigningKey};
use crate::{Header, Kem, PrivateKey, open};

const SEGMENT: usize = 256 << 10;

fn sample(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn key() -> (PrivateKey, Sealing) {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let sealing = Sealing::to(key.public()).expect("a recipient");
    (key, sealing)
}

fn part(parts: &Parts, number: u64, data: &[u8]) -> Vec<u8> {
    let (range, mut sealed) = (parts.data(number), vec![0x55; parts.sealed_length(number)]);
    parts.seal(number, &data[range.start as usize..range.end as usize], &mut sealed).expect("sealed");
    sealed
}

fn joined(parts: Vec<Vec<u8>>, beginning: &Beginning) -> Vec<u8> {
    let mut sealed = parts.concat();
    assert!(sealed[..SEGMENT].iter().all(|byte| *byte == 0x55), "the place of the header stays as it is");
    sealed[..SEGMENT].copy_from_slice(beginning.header());
    sealed
}

#[test]
fn parts_made_in_any_order_by_others_are_one_file() {
    let (key, sealing) = key();
    let job = PrivateKey::generate(Kem::XWing).expect("a key");
    let full = SEGMENT - OVERHEAD;
    for each in [1, 2, 5, 100] {
        for length in [0, 1, full - 1, full, full + 1, 4 * full, 4 * full + 1, 9 * full - 1, 9 * full, 10 * full + 7] {
            for hides in [false, true] {
                let data = sample(length);
                let sealing = sealing.clone().hide_length(hides);
                let (parts, beginning) = sealing.divide(length as u64, each).expect("parts");
                let ticket = beginning.ticket(&[job.public().into()]).expect("a ticket");
                let mut rest = ticket.as_slice();
                let opened = Header::read(&mut rest).and_then(|it| it.open(&[(&job).into()])).expect("the job's key");
                let worker = opened.divide(rest, length as u64, each).expect("parts");
                assert_eq!((worker.count(), worker.length()), (parts.count(), parts.length()));
                // The original [`Parts`] make a third of all parts, and the [`Parts`] from the ticket make the other
                // parts. The last part is made first. Some parts are made twice.
                let mut made: Vec<_> = (0..parts.count())
                    .rev()
                    .map(|number| match number % 3 {
                        0 => part(&parts, number, &data),
                        1 => part(&worker, number, &data),
                        _ => {
                            part(&parts, number, &data);
                            part(&worker, number, &data)
                        }
                    })
                    .collect();
                made.reverse();
                let (last, others) = made.split_last().expect("a part");
                assert!(others.iter().all(|part| part.len() == each as usize * SEGMENT), "{each} {length}");
                assert!(last.len() <= each as usize * SEGMENT && !last.is_empty(), "{each} {length}");
                let sealed = joined(made, &beginning);
                assert_eq!(sealed.len() as u64, parts.length());
                assert!(open(&key, &sealed).expect("opened") == data, "{each} {length} {hides}");
            }
        }
    }
}

#[test]
fn a_ticket_is_for_its_recipients_and_its_file_alone() {
    let (key, sealing) = key();
    let (job, data) = (PrivateKey::generate(Kem::XWing).expect("a key"), sample(900_000));
    let (_, beginning) = sealing.divide(900_000, 2).expect("parts");
    let ticket = beginning.ticket(&[job.public().into()]).expect("a ticket");
    let header = Header::read(ticket.as_slice()).expect("a header");
    assert!(matches!(header.open(&[(&key).into()]), Err(Error::NoKeyFits(_))), "not for the file's recipients");
    let opened = Header::read(ticket.as_slice()).and_then(|it| it.open(&[(&job).into()])).expect("the job's key");
    let rest = &ticket[opened.header_length() as usize..];
    let mut changed = rest.to_vec();
    changed[20] ^= 1;
    assert!(matches!(opened.divide(changed.as_slice(), 900_000, 2), Err(Error::HeaderForged)));
    // A part that belongs to another file does not fit.
    let (parts, other) = sealing.divide(900_000, 2).expect("parts");
    let sealed = joined((0..parts.count()).map(|number| part(&parts, number, &data)).collect(), &other);
    let mixed = joined(
        (0..parts.count())
            .map(|number| match number {
                1 => part(&opened.divide(rest, 900_000, 2).expect("parts"), 1, &data),
                number => part(&parts, number, &data),
            })
            .collect(),
        &other,
    );
    assert!(open(&key, &sealed).is_ok());
    assert!(matches!(open(&key, &mixed), Err(Error::Segment { segment: 1 })));
}

#[test]
fn what_cannot_be_made_in_parts_is_refused() {
    let (_, sealing) = key();
    let signer = SigningKey::generate(Scheme::Ed25519).expect("a key");
    let refused = |sealing: &Sealing, each| matches!(sealing.divide(100, each), Err(Error::Invalid(_)));
    assert!(refused(&sealing, 0) && refused(&sealing, u64::MAX));
    assert!(refused(&sealing.clone().sign(signer.into()).expect("a signer"), 4));
    assert!(refused(&sealing.clone().format(Format::Age).expect("age"), 4));
    let (parts, _) = sealing.divide(1_000_000, 2).expect("parts");
    let length = parts.sealed_length(1);
    let range = parts.data(1);
    let data = vec![0; (range.end - range.start) as usize];
    for (number, data, room) in [(1, &data[1..], length), (1, &data[..], length - 1), (9, &data[..], length)] {
        assert!(matches!(parts.seal(number, data, &mut vec![0; room]), Err(Error::Invalid(_))), "{number} {room}");
    }
    assert!(parts.seal(1, &data, &mut vec![0; length]).is_ok());
}
