//! Tests that all ways of sealing make the same trailer, and that all ways of opening accept this trailer.

use super::*;
use crate::api::engine::units::{Source, Taken};
use deadpan_compress::Level;

const FULL: usize = (256 << 10) - 32;

fn lengths(full: usize, around: &[usize]) -> Vec<usize> {
    let mut lengths: Vec<usize> =
        around.iter().map(|n| n * full).flat_map(|n| [n.saturating_sub(1), n, n + 1]).collect();
    lengths.dedup();
    lengths
}

/// A source that provides data in order, as a folder does. It leaves no work to `complete`.
struct Whole<'a>(&'a [u8]);

impl Source for Whole<'_> {
    type Rest = ();

    fn take(&mut self, buffer: &mut [u8]) -> std::io::Result<Taken<()>> {
        let length = self.0.read(buffer)?;
        Ok(Taken { length, last: self.0.is_empty(), rest: () })
    }

    fn complete((): (), _bytes: &mut [u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn all_ways_make_the_same_trailer() {
    for (padded, compressed) in [(false, false), (true, false), (false, true), (true, true)] {
        for length in lengths(FULL, &[0, 1, 2, 4, 9]) {
            let (mut sealing, key) = sealing(padded);
            if compressed {
                sealing = sealing.compress(Level::default());
            }
            let data = sample(length);
            let what = format!("{length} bytes, padded: {padded}, compressed: {compressed}");
            let sealed = sealing.seal(&data).expect("sealed");
            for threads in [1, 3] {
                let work = Work { threads, ..Work::default() };
                let output = tempfile::tempfile().expect("a temporary file");
                let done = sealing.seal_file(&file_with(&data), &output, &work).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{what}");
                assert!(contents(output) == sealed, "{what}: from file to file on {threads}");
                let mut output = Vec::new();
                let done = sealing.seal_stream(&data[..], &mut output, &work).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{what}");
                assert!(output == sealed, "{what}: as a stream on {threads}");
                let output = tempfile::tempfile().expect("a temporary file");
                sealing.gather_at(Whole(&data), &output, &work).expect("sealed");
                assert!(contents(output) == sealed, "{what}: gathered to a file on {threads}");
                let mut output = Vec::new();
                let (done, _) = sealing.gather(Whole(&data), &mut output, &work).expect("sealed");
                assert_eq!(done.sealed, sealed.len() as u64, "{what}");
                assert!(output == sealed, "{what}: gathered to a stream on {threads}");
            }
            let mut into = vec![0; sealed.len() + 7];
            let room = sealing.seal_into(&data, &mut into, &Work::default()).expect("sealed");
            assert!(into[..room] == sealed, "{what}: into a buffer");
            assert_opens(&sealed, &data, std::slice::from_ref(&key), &what);
            // The writer from `write_to` always makes a header without room for more recipients.
            let mut writer = sealing.write_to(Vec::new()).expect("a header");
            data.chunks(77_777).for_each(|piece| writer.write_all(piece).expect("written"));
            assert_opens(&writer.finish().expect("finished"), &data, &[key], &what);
        }
    }
}

/// The length of a signed file is known before the file is sealed.
#[test]
fn the_length_is_known_before() {
    for signers in [1, 2, 16] {
        for length in [0, 1, 600_000, 5_000_000] {
            let sealing = Sealing::to(vec![recipient()]).expect("a recipient");
            let sealing = (0..signers).try_fold(sealing, |sealing, _| sealing.sign(signer().0)).expect("signers");
            for sealing in [sealing.clone(), sealing.clone().for_anyone(), sealing.hide_length(true)] {
                let sealed = sealing.seal(&sample(length)).expect("sealed").len() as u64;
                assert_eq!(sealing.sealed_length(length as u64).expect("short"), sealed, "{length}, {signers} signers");
            }
        }
    }
}

#[test]
fn files_without_signers_have_no_trailer() {
    let sealed = Sealing::to(vec![recipient()]).and_then(|it| it.for_anyone().seal(b"data")).expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header");
    assert!(!header.is_signed() && header.trailer(&sealed).is_err());
    assert_eq!(assert_opens(&sealed, b"data", &[], "not signed"), None);
    let (opened, _) = opened(&sealed).expect("the passphrase");
    assert_eq!(opened.check_signatures(Cursor::new(&sealed)).expect("a file"), None);
}

#[test]
fn several_sign_each_once_and_no_thousand() {
    let (signers, keys): (Vec<_>, Vec<_>) = (0..16).map(|_| signer()).unzip();
    let mut sealing = Sealing::to(vec![recipient()]).expect("a recipient");
    for (i, signer) in signers.into_iter().enumerate() {
        sealing = sealing.sign(signer).expect("one more");
        assert_opens(&sealing.seal(b"data").expect("sealed"), b"data", &keys[..=i], "several signers");
    }
    assert!(matches!(sealing.sign(signer().0), Err(Error::TooMany(_))));
}

#[test]
fn pages_and_segments_of_any_number_open() {
    const SMALL: usize = 4096 - 32;
    let (signer, key) = signer();
    for length in lengths(SMALL, &[0, 1, 2, 5]).into_iter().chain(lengths(SMALL, &[8192])).chain([16_384 * SMALL + 1]) {
        let data = sample(length);
        let sealed = ForeignTrailer::new().seal(&data, &[&signer]);
        assert_opens(&sealed, &data, std::slice::from_ref(&key), &format!("{length} bytes"));
    }
    for count in [1, 2, 8191, 8192] {
        let data = sample(count * SMALL);
        let sealed = ForeignTrailer { empty_last: true, ..ForeignTrailer::new() }.seal(&data, &[&signer]);
        assert_opens(&sealed, &data, std::slice::from_ref(&key), &format!("{count} segments and an empty one"));
    }
}

/// To open a range, the reader reads the footer, the box, the last segment, and each page of leaves that belongs to the
/// range.
#[test]
fn a_range_reads_little() {
    struct Counting<R>(R, u64);
    impl<R: Read> Read for Counting<R> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read as u64;
            Ok(read)
        }
    }
    impl<R: Seek> Seek for Counting<R> {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }
    let (signer, _) = signer();
    let data = sample(2 * 8192 * 4064 + 10);
    let sealed = ForeignTrailer::new().seal(&data, &[&signer]);
    let (opened, _) = opened(&sealed).expect("the passphrase");
    let mut input = Counting(Cursor::new(&sealed), 0);
    let mut reader = opened.seek_in(&mut input).expect("a payload");
    for begin in [0, 8191 * 4064 - 1, 8192 * 4064 - 1] {
        let mut piece = [0; 3];
        reader.seek(std::io::SeekFrom::Start(begin)).expect("a place");
        reader.read_exact(&mut piece).expect("signed");
        assert_eq!(piece, data[begin as usize..][..3]);
    }
    drop(reader);
    let pages = 2 * (8192 * 32 + 28) + 60;
    assert!(input.1 < pages + 4124 + 8 * 4096, "{} bytes were read", input.1);
}
