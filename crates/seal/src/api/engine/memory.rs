//! Sealing and opening from memory to memory. Access to memory needs no system calls, so workers take the segments in
//! order. Each worker clears the memory for its own results, so that this memory stays in the cache nearest to the
//! worker's core.

use parking_lot::Mutex;

use crate::format::positions::read_full_at;
use crate::format::segment::{Payload, SegmentCipher, Segments};
use crate::primitive::imp::huge;
use crate::primitive::imp::spare::{Piece, Spare};
use crate::primitive::threads::{on_threads, workers};
use crate::{Error, ReadAt, Work};
use deadpan_ct::Wipe;

/// The greatest length of an input that one thread processes alone. The memory for the results of an input of at most
/// this length is cleared in one step.
const SHORT: usize = 1 << 20;
/// If there are fewer bytes than this number, a second thread costs more time than it saves.
const WORTH_A_THREAD: u64 = 2 << 20;

/// After an error, `sealed` is unchanged.
pub(crate) fn seal(payload: &impl Payload, data: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
    if data.len() <= SHORT {
        let begin = sealed.len();
        return payload.seal_onto(data, sealed).inspect_err(|_| sealed.truncate(begin));
    }
    let segments = payload.segments_for(data.len() as u64)?;
    let mut spare = Spare::new(sealed, segments.sealed() as usize);
    run(
        segments,
        spare.pieces(payload.shape().sealed),
        &Work::default(),
        || payload.cipher(),
        |cipher, segment, piece| {
            cipher.seal(segment, segments.is_last(segment), &data[segments.data_range(segment)], piece.clear())
        },
    )?;
    spare.keep();
    Ok(())
}

/// After an error, `data` is unchanged.
pub(crate) fn open<P: Payload>(payload: &P, sealed: &[u8], data: &mut Vec<u8>) -> Result<(), Error> {
    if sealed.len() <= SHORT {
        return payload.open_onto(sealed, data);
    }
    let segments = payload.segments_in(sealed.len() as u64)?;
    let mut spare = Spare::new(data, segments.data() as usize);
    let pieces = spare.pieces(payload.shape().data());
    let open = |cipher: &mut P::Cipher<'_>, segment, data: &mut [u8]| {
        cipher.open(segment, segments.is_last(segment), &sealed[segments.sealed_range(segment)], data)
    };
    let each = |cipher: &mut P::Cipher<'_>, segment, piece: Piece<'_>| open(cipher, segment, piece.clear());
    let mut result = run(segments, pieces, &Work::default(), || payload.cipher(), each);
    // An empty last segment has no place in the output, so it is opened here and not by a worker.
    let last = segments.count() - 1;
    if result.is_ok() && segments.data_in(last) == 0 {
        result = open(&mut payload.cipher(), last, &mut []);
    }
    match result {
        Ok(()) => spare.keep(),
        // After a failure, data that were already opened must not remain in memory, although these data are authentic.
        Err(_) => spare.pieces(payload.shape().data()).for_each(|piece| piece.clear().wipe()),
    }
    result
}

/// Seals all of `data` into `sealed`, whose length is the total length of the segments.
pub(crate) fn seal_into(payload: &impl Payload, data: &[u8], sealed: &mut [u8], work: &Work<'_>) -> Result<(), Error> {
    let segments = payload.segments_for(data.len() as u64)?;
    huge::advise(sealed);
    run(
        segments,
        sealed.chunks_mut(payload.shape().sealed),
        work,
        || payload.cipher(),
        |cipher, segment, piece| {
            cipher.seal(segment, segments.is_last(segment), &data[segments.data_range(segment)], piece)
        },
    )
}

/// Opens all segments into `data`, whose length is the total length of the segments' data. The segments begin at
/// `begin` in `input`. Each segment is copied once, and the copy is opened, so the input may change meanwhile. Bytes
/// that `input.bytes_at` returns are not copied. After an error, `data` contains none of the opened data.
pub(crate) fn open_into(
    payload: &impl Payload,
    segments: Segments,
    input: &impl ReadAt,
    begin: u64,
    data: &mut [u8],
    work: &Work<'_>,
) -> Result<(), Error> {
    huge::advise(data);
    let shape = payload.shape();
    let open = |(cipher, copy): &mut (_, Vec<u8>), segment, data: &mut [u8]| {
        let (at, length) = (begin + segments.sealed_at(segment), data.len() + shape.overhead);
        let sealed = match input.bytes_at(at, length) {
            Some(there) => there,
            None => {
                copy.resize(length, 0);
                if read_full_at(input, copy, at).map_err(Error::Read)? < length {
                    return Err(Error::Truncated);
                }
                copy
            }
        };
        SegmentCipher::open(cipher, segment, segments.is_last(segment), sealed, data)
    };
    // An empty last segment has no data, but `run` needs an item for each segment, even an empty item.
    let (full, empty): (_, &mut [u8]) = (data.chunks_mut(shape.data()), &mut []);
    let last = (segments.data_in(segments.count() - 1) == 0).then_some(empty);
    run(segments, full.chain(last), work, || (payload.cipher(), Vec::new()), open).inspect_err(|_| data.wipe())
}

/// Calls `each` for every item of `pieces`, on several threads. Each thread has its own state, which `state` returns.
/// If several segments fail, the failure of the first segment is reported. Workers take the items in order, so all
/// items before a failed item are complete or in progress.
fn run<S, T: Send>(
    segments: Segments,
    pieces: impl Iterator<Item = T> + Send,
    work: &Work<'_>,
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, u64, T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let pieces = Mutex::new((0..).zip(pieces));
    let failure: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    on_threads(workers(work, 0, segments.data() / WORTH_A_THREAD), &|| {
        let mut state = state();
        loop {
            let taken = pieces.lock().next();
            let Some((segment, piece)) = taken else { return };
            let stopped = work.stop.is_some_and(|stop| stop());
            let result = if stopped { Err(Error::Stopped) } else { each(&mut state, segment, piece) };
            if let Err(error) = result {
                let mut failure = failure.lock();
                if failure.as_ref().is_none_or(|(earlier, _)| segment < *earlier) {
                    *failure = Some((segment, error));
                }
                return;
            }
            if failure.lock().is_some() {
                return;
            }
            if let Some(progress) = work.progress {
                progress(segments.data_in(segment) as u64);
            }
        }
    });
    failure.into_inner().map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::deadpan::floe::{Message, OVERHEAD, Parameters};

    fn message() -> Message {
        Message::start(Parameters::default(), &[7; 32], b"").expect("a message").0
    }

    fn sample(length: usize) -> Vec<u8> {
        (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    fn open_whole(message: &Message, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        let segments = message.segments_in(sealed.len() as u64)?;
        open_into(message, segments, &sealed, 0, data, &Work::default())
    }

    #[test]
    fn lengths_around_everything_come_back_behind_what_was_there() {
        let message = message();
        let full = message.data_length();
        for around in [SHORT, 4 * full, 5 * full, 16 * full, 33 * full] {
            for length in [around - 1, around, around + 1] {
                let data = sample(length);
                let mut sealed = b"before".to_vec();
                seal(&message, &data, &mut sealed).expect("sealed");
                let mut again = b"before too".to_vec();
                open(&message, &sealed[6..], &mut again).expect("opened");
                assert!(&sealed[..6] == b"before" && &again[..10] == b"before too" && again[10..] == data, "{length}");
                let mut slice = vec![0x55; sealed.len() - 6];
                seal_into(&message, &data, &mut slice, &Work::default()).expect("sealed");
                let mut into = vec![0x55; length];
                open_whole(&message, &slice, &mut into).expect("opened");
                assert!(into == data, "{length}");
                let mut alone = Vec::new();
                message.open_onto(&sealed[6..], &mut alone).expect("opened on one thread");
                assert!(alone == data, "{length}");
            }
        }
    }

    #[test]
    fn an_empty_last_segment_is_looked_at() {
        let message = message();
        let data = sample(8 * message.data_length());
        let mut sealed = vec![0; 8 * message.segment_length() + OVERHEAD];
        let mut cipher = message.cipher();
        for (i, output) in sealed.chunks_mut(message.segment_length()).enumerate() {
            let from = data.len().min(i * message.data_length());
            let to = data.len().min(from + message.data_length());
            cipher.seal(i as u64, i == 8, &data[from..to], output).expect("sealed");
        }
        let mut opened = Vec::new();
        open(&message, &sealed, &mut opened).expect("opened");
        assert!(opened == data);
        *sealed.last_mut().expect("it is long") ^= 1;
        let mut opened = vec![1, 2];
        assert!(matches!(open(&message, &sealed, &mut opened), Err(Error::Segment { segment: 8 })));
        assert_eq!(opened, [1, 2]);
        let mut into = vec![5; data.len()];
        let result = open_whole(&message, &sealed, &mut into);
        assert!(matches!(result, Err(Error::Segment { segment: 8 })) && into.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn the_first_damage_is_named_and_nothing_comes_out() {
        let message = message();
        let mut sealed = Vec::new();
        seal(&message, &sample(40 * message.data_length() + 5), &mut sealed).expect("sealed");
        for (damaged, first) in [(vec![0], 0), (vec![40], 40), (vec![17, 3, 39], 3), (vec![20, 21], 20)] {
            let mut changed = sealed.clone();
            damaged.iter().for_each(|segment| changed[segment * message.segment_length() + 20] ^= 1);
            let mut data = vec![9; 3];
            let result = open(&message, &changed, &mut data);
            assert!(matches!(result, Err(Error::Segment { segment }) if segment == first), "{damaged:?}: {result:?}");
            assert_eq!(data, [9; 3]);
        }
        for cut in [1, 37, message.segment_length()] {
            let mut data = Vec::new();
            let result = open(&message, &sealed[..sealed.len() - cut], &mut data);
            assert!(matches!(result, Err(Error::Truncated)) && data.is_empty(), "{cut}: {result:?}");
        }
    }
}
