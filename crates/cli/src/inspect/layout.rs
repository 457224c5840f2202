//! The segments of a payload, found from FLOE's header and the length alone.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use deadpan_seal::floe::{HEADER, OVERHEAD, Parameters, Segments};

/// The first bytes of each segment except the last. The last segment begins with its length.
const NOT_LAST: [u8; 4] = [0xff; 4];

/// Returns the length of the payload, and its segments or the reason why they are inconsistent. `whole` is the file,
/// the length of its header and its length: with it, only the beginning of the payload and of the last segment are
/// read. Without `whole`, `payload` is read to its end.
pub fn read(
    mut payload: impl Read,
    whole: Option<(&File, u64, u64)>,
) -> io::Result<(u64, Result<Segments, &'static str>)> {
    let mut start = Vec::new();
    payload.by_ref().take(HEADER as u64).read_to_end(&mut start)?;
    if start.len() < HEADER {
        return Ok((start.len() as u64, Err("the payload is cut short")));
    }
    let Ok(parameters) = Parameters::read(start.as_slice()) else {
        return Ok((start.len() as u64 + drain(payload)?, Err("the payload does not begin as it should")));
    };
    let segment = parameters.segment_length() as u64;
    let (length, last) = match whole {
        Some((file, header, whole)) => {
            let begin = header + HEADER as u64;
            let length = whole.saturating_sub(begin);
            let mut last = [0; 4];
            // `segments` below refuses a last segment that has fewer than four bytes.
            let read = file.read_at(&mut last, begin + length.saturating_sub(1) / segment * segment)?;
            (length, if read == 4 { last } else { NOT_LAST })
        }
        None => walk(payload, segment)?,
    };
    Ok((HEADER as u64 + length, segments(parameters, length, last)))
}

/// Returns the segments of a payload of `length` bytes whose last segment begins with `last`.
fn segments(parameters: Parameters, length: u64, last: [u8; 4]) -> Result<Segments, &'static str> {
    let right =
        |segments: &Segments| u32::from_be_bytes(last) as usize == segments.data_in(segments.count() - 1) + OVERHEAD;
    parameters.segments_in(length).ok().filter(right).ok_or("the payload is cut short, or something stands after it")
}

/// Reads segments to the end. Returns their length in bytes, and the first four bytes of the last one.
fn walk(mut payload: impl Read, segment: u64) -> io::Result<(u64, [u8; 4])> {
    let (mut length, mut last) = (0, NOT_LAST);
    loop {
        let mut mark = Vec::new();
        payload.by_ref().take(4).read_to_end(&mut mark)?;
        if mark.is_empty() {
            return Ok((length, last));
        }
        last = mark.as_slice().try_into().unwrap_or(NOT_LAST);
        length += mark.len() as u64 + drain(payload.by_ref().take(segment - 4))?;
    }
}

fn drain(mut input: impl Read) -> io::Result<u64> {
    io::copy(&mut input, &mut io::sink())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a payload of this length, with the marks that FLOE sets.
    fn payload(segment: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[2..6].copy_from_slice(&(segment as u32).to_be_bytes());
        bytes[9] = 32;
        let mut left = length;
        while left > 0 {
            let part = left.min(segment);
            let mark = if left > segment { NOT_LAST } else { (part as u32).to_be_bytes() };
            bytes.extend_from_slice(&mark[..part.min(4) as usize]);
            bytes.resize(bytes.len() + part.saturating_sub(4) as usize, 7);
            left -= part;
        }
        bytes
    }

    #[test]
    fn lengths_around_a_segment() {
        for (length, count) in [(32, 1), (33, 1), (99, 1), (100, 1), (132, 2), (200, 2), (232, 3)] {
            let (size, segments) = read(payload(100, length).as_slice(), None).unwrap();
            let segments = segments.unwrap();
            assert_eq!(size, HEADER as u64 + length);
            assert_eq!(
                (segments.segment_length(), segments.count(), segments.data()),
                (100, count, length - 32 * count)
            );
        }
    }

    #[test]
    fn every_cut_and_every_addition_shows() {
        let whole = payload(100, 250);
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut], None).unwrap().1.is_err(), "{cut}");
        }
        assert!(read([&whole[..], &[0]].concat().as_slice(), None).unwrap().1.is_err());
    }
}
