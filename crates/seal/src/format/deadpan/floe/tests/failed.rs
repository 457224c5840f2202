//! Tests that readers and writers do not continue after a failure. A reader with random access can still read the
//! undamaged segments.

use super::*;

/// Returns a message of four full segments and a short segment. The segment with the number `segment` is damaged.
fn damaged(segment: usize) -> (Arc<Message>, Vec<u8>, Vec<u8>) {
    let data: Vec<u8> = (0..140).collect();
    let (message, mut sealed) = (message(), Vec::new());
    message.seal_onto(&data, &mut sealed).expect("sealed");
    sealed[64 * segment + 20] ^= 1;
    (Arc::new(message), sealed, data)
}

#[test]
fn a_reader_that_failed_stays_failed() {
    let (message, sealed, data) = damaged(1);
    let mut reader = Reader::new(message.clone(), &sealed[..]);
    let mut before = [0; 32];
    reader.read_exact(&mut before).expect("the first segment is right");
    assert!(before == data[..32]);
    // The segments after the damaged segment are undamaged. The reader must not return segments after a damaged
    // segment, because data before them would be missing.
    for _ in 0..6 {
        let mut buffer = [0x55; 64];
        assert!(reader.read(&mut buffer).is_err());
        assert!(buffer == [0x55; 64], "data came out with an error");
    }
    let mut reader = Reader::new(message, &sealed[..]);
    assert_eq!(reader.segment().expect("the first segment is right"), &data[..32]);
    assert!(matches!(reader.segment(), Err(Error::Segment { segment: 1 })));
    assert!((0..6).all(|_| reader.segment().is_err()));
}

/// A writer that fails once, in the middle of the output, and then works again.
struct Hiccup<T> {
    inner: T,
    left: usize,
    failed: bool,
}

impl<T> Hiccup<T> {
    fn after(left: usize, inner: T) -> Self {
        Self { inner, left, failed: false }
    }

    /// Returns how many of `length` bytes the writer accepts.
    fn allow(&mut self, length: usize) -> std::io::Result<usize> {
        if self.left == 0 && !self.failed {
            self.failed = true;
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let allowed = if self.failed { length } else { length.min(self.left) };
        self.left = self.left.saturating_sub(allowed);
        Ok(allowed)
    }
}

impl<R: Read> Read for Hiccup<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let allowed = self.allow(buffer.len())?;
        self.inner.read(&mut buffer[..allowed])
    }
}

impl<W: Write> Write for Hiccup<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let allowed = self.allow(bytes.len())?;
        self.inner.write(&bytes[..allowed])
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[test]
fn an_input_that_failed_once_is_not_read_on() {
    let (message, mut sealed, data) = damaged(1);
    sealed[64 + 20] ^= 1;
    for place in [0, 1, 63, 64, 65, 66, 100] {
        let mut reader = Reader::new(message.clone(), Hiccup::after(place, &sealed[..]));
        let mut opened = Vec::new();
        assert!(reader.read_to_end(&mut opened).is_err(), "at {place}");
        assert!(data.starts_with(&opened) && opened.len() < data.len(), "at {place}");
        assert!((0..6).all(|_| reader.read(&mut [0; 64]).is_err()), "at {place}");
    }
}

#[test]
fn a_writer_that_failed_stays_failed() {
    for place in [0, 1, 63] {
        let mut output = Vec::new();
        let mut writer = Writer::new(Arc::new(message()), Hiccup::after(place, &mut output));
        assert!(writer.write_all(&[0; 33]).is_err());
        assert!(writer.write(&[0]).is_err());
        assert!(writer.flush().is_err());
        assert!(writer.finish().is_err());
        assert_eq!(output.len(), place, "something was written behind the hole");
    }
}

#[test]
fn a_reader_anywhere_goes_on_beside_a_damaged_segment() {
    let (message, mut sealed, data) = damaged(1);
    sealed[64 * 3 + 63] ^= 1;
    let mut reader = SeekReader::new(message, std::io::Cursor::new(&sealed), 0).expect("the last segment is right");
    for segment in [0, 1, 1, 0, 1, 2, 3, 2, 4, 3, 3, 0, 3, 4] {
        let mut buffer = [0x55; 12];
        reader.seek(SeekFrom::Start(32 * segment)).expect("a place");
        let result = reader.read_exact(&mut buffer);
        if segment == 1 || segment == 3 {
            assert!(result.is_err(), "segment {segment} is damaged");
            assert!(buffer == [0x55; 12], "data came out with an error");
        } else {
            result.unwrap_or_else(|error| panic!("segment {segment} is right: {error}"));
            assert!(buffer == data[32 * segment as usize..][..12], "segment {segment}");
        }
    }
}

#[test]
fn nothing_of_a_refused_segment_is_left() {
    let (message, sealed, data) = damaged(1);
    let mut cipher = message.cipher();
    // Each change flips one bit of the ciphertext, of the tag, or of the IV.
    for place in [20, 47, 63, 5] {
        let mut segment = sealed[..64].to_vec();
        segment[place] ^= 1;
        let mut output = [0x55; 32];
        assert!(matches!(cipher.open(0, false, &segment, &mut output), Err(Error::Segment { segment: 0 })));
        assert_eq!(output, [0; 32], "something is left");
    }
    let mut output = [0x55; 32];
    cipher.open(0, false, &sealed[..64], &mut output).expect("this one is right");
    assert!(output == data[..32]);
}
