//! Targets for FLOE: opening valid and invalid segments, and the speed of whole messages.

use std::hint::black_box;
use std::sync::Arc;

use super::flaw;
use crate::command::lab::targets::size::SIZES;
use deadpan_lab::harness::SizedTarget;
use deadpan_lab::{Random, Target};
use deadpan_seal::floe::{Cipher, HEADER, Message, OVERHEAD, Parameters};

/// The number of bytes of data in a segment: the size of one page.
const DATA: usize = 4096;
const SEALED: usize = DATA + OVERHEAD;
const KEY: [u8; 32] = [7; 32];

/// Starts a message, whose parameters and key are used for all segments. Each input contains one segment, which is the
/// only segment of a message.
fn message() -> Arc<Message> {
    let parameters = Parameters::with_segment(SEALED as u32).expect("room for data");
    Arc::new(Message::start(parameters, &KEY, b"").expect("random bytes").0)
}

fn opener(name: &str, message: &Arc<Message>) -> Target {
    let mut cipher = Cipher::new(message.clone());
    let mut data = vec![0; DATA];
    Target::new(name, SEALED, move |input| cipher.open(0, true, input, &mut data).is_ok())
}

/// Returns a function that fills data with `fill` and seals the data.
fn sealed(
    message: &Arc<Message>,
    mut fill: impl FnMut(&mut Random, &mut [u8]) + 'static,
) -> impl FnMut(&mut Random, &mut [u8]) + 'static {
    let mut cipher = Cipher::new(message.clone());
    let mut data = vec![0; DATA];
    move |random, input| {
        fill(random, &mut data);
        cipher.seal(0, true, &data, input).expect("a segment");
    }
}

/// Returns a target that opens segments with different data.
pub(super) fn good() -> Target {
    let message = message();
    opener("seal.floe.open.good", &message)
        .class("zeros", sealed(&message, |_, data| data.fill(0)))
        .class("ones", sealed(&message, |_, data| data.fill(0xff)))
        .class("random", sealed(&message, |random, data| random.fill(data)))
}

/// Returns a target that opens segments with a wrong byte at a position where a check could end early.
pub(super) fn bad() -> Target {
    let message = message();
    let places = [
        ("first byte of the tag wrong", SEALED - 16),
        ("last byte of the tag wrong", SEALED - 1),
        ("first byte of the data wrong", OVERHEAD - 16),
        ("last byte of the data wrong", SEALED - 17),
    ];
    places.into_iter().fold(opener("seal.floe.open.bad", &message), |target, (name, place)| {
        let mut sealed = sealed(&message, |random, data| random.fill(data));
        target.class(name, move |random, input| {
            sealed(random, input);
            input[place] ^= flaw(random);
        })
    })
}

/// Returns the targets for whole messages in memory, with the same segment length as in files. The output buffer is
/// reused.
pub(super) fn speed() -> Vec<SizedTarget> {
    SIZES
        .into_iter()
        .skip(2)
        .flat_map(|(bytes, size)| [seal(bytes), open(bytes)].map(|target| sized(target, bytes, size)))
        .collect()
}

fn sized(target: Target, bytes: usize, size: &str) -> SizedTarget {
    SizedTarget { target, bytes: bytes as u64, size: size.to_owned() }
}

fn long_message() -> (Message, [u8; HEADER]) {
    Message::start(Parameters::default(), &KEY, b"").expect("random bytes")
}

fn seal(bytes: usize) -> Target {
    let (message, _) = long_message();
    let mut sealed = Vec::new();
    let run = move |input: &[u8]| {
        sealed.clear();
        message.seal_onto(input, &mut sealed).expect("sealed");
        black_box(&sealed).len()
    };
    Target::new("seal.floe.seal", bytes, run).class("random", |random, input| random.fill(input))
}

fn open(bytes: usize) -> Target {
    let (message, header) = long_message();
    let segments = message.segments_for(bytes as u64).expect("a length that exists");
    let mut data = Vec::new();
    let resumed = Message::resume(&KEY, b"", &header).expect("just made");
    let run = move |input: &[u8]| {
        data.clear();
        resumed.open_onto(input, &mut data).expect("unchanged");
        black_box(&data).len()
    };
    Target::new("seal.floe.open", segments.sealed() as usize, run).class("random", move |random, input| {
        let mut data = vec![0; bytes];
        random.fill(&mut data);
        let mut sealed = Vec::new();
        message.seal_onto(&data, &mut sealed).expect("sealed");
        input.copy_from_slice(&sealed);
    })
}
