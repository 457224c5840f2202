//! Seals or opens an input stream, and writes the result to an output stream, in order.

mod input;
mod output;

pub(crate) use input::{Gathered, Input, Stream};

use parking_lot::Mutex;

use super::buffer::Buffer;
use super::units::Drain;
use crate::format::segment::{Payload, SegmentCipher, Shape};
use crate::primitive::threads::{MEMORY, on_threads, workers};
use crate::{Error, Work};
use input::Unit;
use output::{Fallen, Output};

/// The approximate number of bytes in a unit of sealed segments.
const UNIT: usize = 512 << 10;

fn per_unit(payload: &impl Payload) -> usize {
    (UNIT / payload.shape().sealed).max(1)
}

pub(crate) fn data_unit(payload: &impl Payload) -> usize {
    per_unit(payload) * payload.shape().data()
}

pub(crate) fn sealed_unit(payload: &impl Payload) -> usize {
    per_unit(payload) * payload.shape().sealed
}

pub(crate) struct Passed<I, S> {
    /// The number of bytes that were read.
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) input: I,
    pub(crate) output: S,
}

/// Seals all of `input`. A unit of the input is [`data_unit`] bytes long.
pub(crate) fn seal<I: Input, S: Drain>(
    payload: &impl Payload,
    input: I,
    output: S,
    work: &Work<'_>,
) -> Result<Passed<I, S>, Error> {
    let shape @ Shape { overhead, .. } = payload.shape();
    let full = shape.data();
    let per_unit = per_unit(payload) as u64;
    run(payload, input, output, work, |cipher, unit, data, sealed, done| {
        let pieces = data.len().div_ceil(full).max(1);
        for piece in 0..pieces {
            let plain = &data[piece * full..data.len().min((piece + 1) * full)];
            let begin = *done;
            let last = unit.last && piece + 1 == pieces;
            cipher.seal(
                unit.number * per_unit + piece as u64,
                last,
                plain,
                &mut sealed[begin..begin + plain.len() + overhead],
            )?;
            *done += plain.len() + overhead;
        }
        Ok(data.len())
    })
}

/// Opens all of `input`. A unit of the input is [`sealed_unit`] bytes long.
pub(crate) fn open<I: Input, S: Drain>(
    payload: &impl Payload,
    input: I,
    output: S,
    work: &Work<'_>,
) -> Result<Passed<I, S>, Error> {
    let Shape { sealed: full, overhead } = payload.shape();
    let per_unit = per_unit(payload) as u64;
    run(payload, input, output, work, |cipher, unit, sealed, data, done| {
        let pieces = sealed.len().div_ceil(full).max(1);
        for piece in 0..pieces {
            let segment = &sealed[piece * full..sealed.len().min((piece + 1) * full)];
            let length = segment.len().checked_sub(overhead).ok_or(Error::Truncated)?;
            let begin = *done;
            let last = unit.last && piece + 1 == pieces;
            let (number, data) = (unit.number * per_unit + piece as u64, &mut data[begin..begin + length]);
            let opened = cipher.open(number, last, segment, data);
            let is_authentic = match &opened {
                Ok(()) => true,
                Err(Error::Trailing | Error::Truncated) => cipher.open_misplaced(number, last, segment, data),
                Err(_) => false,
            };
            *done += if is_authentic { length } else { 0 };
            opened?;
        }
        Ok(*done)
    })
}

/// Takes units from the input, calls `each` for each unit on several threads, and writes the results in order. `each`
/// gets a unit and a buffer for the result. Even if `each` fails, it stores the length of the result through its last
/// argument. `each` returns the number of bytes of data in the unit.
fn run<P: Payload, I: Input, S: Drain>(
    payload: &P,
    input: I,
    output: S,
    work: &Work<'_>,
    each: impl Fn(&mut P::Cipher<'_>, &Unit, &[u8], &mut [u8], &mut usize) -> Result<usize, Error> + Sync,
) -> Result<Passed<I, S>, Error> {
    let size = sealed_unit(payload);
    // There is one thread more than there are cores, because one thread reads and one thread writes while the other
    // threads seal or open. If the input has ended, at most one unit is left.
    let units = if input.ended() { 1 } else { u64::MAX };
    let mut count = workers(work, 2 * size, units);
    if units > 1 && work.threads != 1 {
        count = (count + 1).min((MEMORY / (2 * size)).max(1));
    }
    // A short input needs only a short buffer.
    let room = if units == 1 { input.ready() + payload.shape().overhead * (1 + per_unit(payload)) } else { size };
    let (input, output) = (Mutex::new(input), Output::new(output));
    on_threads(count, &|| {
        let _fallen = Fallen(&output);
        let mut cipher = payload.cipher();
        let (mut from, mut to) = (Buffer::new(room + 1), Buffer::new(room));
        loop {
            let unit = {
                let mut input = input.lock();
                if output.failed() { None } else { input.next(&mut from, work) }
            };
            let Some(unit) = unit else { return };
            let number = unit.as_ref().map_or_else(|(number, _)| *number, |(unit, _)| unit.number);
            let mut done = 0;
            let result = unit.map_err(|(_, error)| error).and_then(|(unit, rest)| {
                I::complete(rest, &mut from[..unit.length])?;
                each(&mut cipher, &unit, &from[..unit.length], &mut to, &mut done)
            });
            // The segments before the failed segment are authentic, so they are written.
            output.put(number, &to[..done], result, work);
        }
    });
    let input = input.into_inner();
    output.finish().map(|(written, output)| Passed { read: input.read(), written, input, output })
}
