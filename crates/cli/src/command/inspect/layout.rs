//! Determines the segments of a payload from FLOE's header and the length alone.

use std::io::{self, Read, Write};

use deadpan_seal::floe::{HEADER, OVERHEAD, Parameters, Segments};
use deadpan_seal::{Header, ReadAt, Trailer};

/// The bytes with which every segment begins, except the last segment. The last segment begins with its own length.
const NOT_LAST: [u8; 4] = [0xff; 4];

/// The layout of the data that follow the header of a sealed file.
pub struct Layout {
    /// The number of bytes in the payload.
    pub payload: u64,
    /// The segments of the payload, or the reason why the segments are inconsistent.
    pub segments: Result<Segments, &'static str>,
    /// The parts of the trailer, if the file is signed and ends with a footer.
    pub trailer: Option<Trailer>,
}

/// Reads the layout of a file with the header `header`. `whole` is the file and its length. With `whole`, the function
/// reads only three parts: the beginning of the payload, the beginning of the last segment, and the footer. Without
/// `whole`, the function reads `rest` to the end.
pub fn read(header: &Header, mut rest: impl Read, whole: Option<(&dyn ReadAt, u64)>) -> io::Result<Layout> {
    let mut start = Vec::new();
    rest.by_ref().take(HEADER as u64).read_to_end(&mut start)?;
    let broken = |payload, why| Ok(Layout { payload, segments: Err(why), trailer: None });
    if start.len() < HEADER {
        return broken(start.len() as u64, "the payload is cut short");
    }
    let Ok(parameters) = Parameters::read(start.as_slice()) else {
        return broken(start.len() as u64 + drain(rest)?, "the payload does not begin as it should");
    };
    let segment = parameters.segment_length() as u64;
    let (length, last, trailer) = match whole {
        Some((file, whole)) => {
            let trailer = footer(header, file, whole)?;
            let begin = header.length() + HEADER as u64;
            let length = whole.saturating_sub(begin).saturating_sub(trailer.map_or(0, |trailer| trailer.length));
            let mut last = [0; 4];
            // The function `segments` below refuses a last segment that has fewer than four bytes.
            let read = file.read_at(&mut last, begin + length.saturating_sub(1) / segment * segment)?;
            (length, if read == 4 { last } else { NOT_LAST }, trailer)
        }
        None => walk(header, rest, segment)?,
    };
    let segments = segments(parameters, length, last);
    let fits = |segments: &Segments| {
        header.is_signed() == trailer.is_some() && trailer.is_none_or(|trailer| trailer.segments == segments.count())
    };
    let segments = segments.and_then(|segments| {
        if fits(&segments) { Ok(segments) } else { Err("the trailer with the signatures is cut short or damaged") }
    });
    Ok(Layout { payload: HEADER as u64 + length, segments, trailer })
}

/// Reads the footer of a signed file.
fn footer(header: &Header, file: &dyn ReadAt, whole: u64) -> io::Result<Option<Trailer>> {
    let mut end = [0; Trailer::END];
    let Some(position) = whole.checked_sub(end.len() as u64).filter(|_| header.is_signed()) else { return Ok(None) };
    let read = file.read_at(&mut end, position)?;
    Ok(header.trailer(&end[..read]).ok())
}

/// Reads the layout of an age file. `whole` is the length of the file. Without `whole`, the function reads `payload` to
/// the end.
pub fn read_age(payload: impl Read, header: &Header, whole: Option<u64>) -> io::Result<Layout> {
    let length = whole.map_or_else(|| drain(payload), |whole| Ok(whole.saturating_sub(header.length())))?;
    let segments = header.segments(io::empty(), header.length() + length);
    let segments = segments.map_err(|_| "the payload is cut short");
    Ok(Layout { payload: length, segments, trailer: None })
}

/// Returns the segments of a payload of `length` bytes whose last segment begins with `last`.
fn segments(parameters: Parameters, length: u64, last: [u8; 4]) -> Result<Segments, &'static str> {
    let right =
        |segments: &Segments| u32::from_be_bytes(last) as usize == segments.data_in(segments.count() - 1) + OVERHEAD;
    parameters.segments_in(length).ok().filter(right).ok_or("the payload is cut short, or something stands after it")
}

/// Reads segments and the trailer to the end. Returns the length of the segments in bytes, the first four bytes of the
/// last segment, and the trailer.
fn walk(header: &Header, mut payload: impl Read, segment: u64) -> io::Result<(u64, [u8; 4], Option<Trailer>)> {
    let (mut length, mut last) = (0, NOT_LAST);
    loop {
        let mut mark = Vec::new();
        payload.by_ref().take(4).read_to_end(&mut mark)?;
        if mark.is_empty() {
            return Ok((length, last, None));
        }
        last = mark.as_slice().try_into().unwrap_or(NOT_LAST);
        let said = u64::from(u32::from_be_bytes(last));
        let is_last = header.is_signed() && last != NOT_LAST && (OVERHEAD as u64..=segment).contains(&said);
        let rest = if is_last { said } else { segment } - 4;
        length += mark.len() as u64 + drain(payload.by_ref().take(rest))?;
        if is_last {
            let mut end = End::default();
            let read = io::copy(&mut payload, &mut end)?;
            let trailer = header.trailer(&end.0).ok().filter(|trailer| trailer.length == read);
            return Ok((length, last, trailer));
        }
    }
}

/// A writer that stores only the end of the data that were written to it.
#[derive(Default)]
struct End(Vec<u8>);

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        let surplus = self.0.len().saturating_sub(Trailer::END);
        self.0.drain(..surplus);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn drain(mut input: impl Read) -> io::Result<u64> {
    io::copy(&mut input, &mut io::sink())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_seal::sign::{Scheme, SigningKey};
    use deadpan_seal::{Kem, PrivateKey, Recipient, Sealing};

    fn sealing() -> Sealing {
        let key = PrivateKey::generate(Kem::X25519).unwrap();
        Sealing::to(vec![Recipient::from(key.public())]).unwrap()
    }

    fn header() -> Header {
        Header::read(sealing().seal(b"").unwrap().as_slice()).unwrap()
    }

    /// Returns a payload of `length` bytes, with the first bytes that FLOE writes in each segment.
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
            let layout = read(&header(), payload(100, length).as_slice(), None).unwrap();
            let segments = layout.segments.unwrap();
            assert_eq!(layout.payload, HEADER as u64 + length);
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
            assert!(read(&header(), &whole[..cut], None).unwrap().segments.is_err(), "{cut}");
        }
        assert!(read(&header(), [&whole[..], &[0]].concat().as_slice(), None).unwrap().segments.is_err());
    }

    #[test]
    fn every_cut_of_a_signed_file_shows() {
        let signer = SigningKey::generate(Scheme::Ed25519).unwrap();
        let sealed = sealing().sign(signer.into()).unwrap().seal(&[7; 600_000]).unwrap();
        let mut rest = sealed.as_slice();
        let header = Header::read(&mut rest).unwrap();
        let whole = read(&header, rest, None).unwrap();
        assert_eq!(whole.segments.unwrap().data(), 600_000);
        let trailer = whole.trailer.unwrap();
        assert_eq!((trailer.leaves, trailer.signatures), (3 * 32 + 28, 4096 + 28));
        assert_eq!(whole.payload + trailer.length, rest.len() as u64);
        for cut in (0..rest.len()).rev().take(5000).chain([0, 1, 262_144, 524_288]) {
            assert!(read(&header, &rest[..cut], None).unwrap().segments.is_err(), "{cut}");
        }
        assert!(read(&header, [rest, &[0]].concat().as_slice(), None).unwrap().segments.is_err());
    }
}
