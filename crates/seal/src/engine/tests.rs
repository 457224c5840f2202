//! Both ways through, against each other and against what must not work.

use crate::entropy::Entropy;
use crate::{Cost, Error, Header, Identity, Metadata, Passphrase, Recipient, Sealing, Work};
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FULL: usize = (256 << 10) - 32;
const CHEAP: Cost = Cost { memory: 8, passes: 1, lanes: 1 };

/// Buffers are counted over the whole program, so tests that make some wait for each other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sealing(padded: bool) -> Sealing {
    let recipient = Recipient::Passphrase(Passphrase::new(b"straight face"), CHEAP);
    let metadata = Metadata { name: Some(b"a file".to_vec()), ..Metadata::default() };
    let sealing = Sealing::to(vec![recipient]).expect("a passphrase is enough").metadata(metadata).expect("a name");
    sealing.hide_length(padded).with_entropy(Entropy::Fixed(7))
}

fn identity() -> Identity {
    Identity::Passphrase(Passphrase::new(b"straight face"))
}

fn sample(length: usize) -> Vec<u8> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ length as u64;
    let word = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 56) as u8
    };
    (0..length).map(word).collect()
}

fn file_with(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("written");
    file
}

fn contents(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().expect("a file");
    file.read_to_end(&mut bytes).expect("read");
    bytes
}

fn work(threads: usize) -> Work<'static> {
    Work { threads, ..Work::default() }
}

/// Gives and takes at most so many bytes at a time.
struct Slow<T>(T, usize);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

impl<W: Write> Write for Slow<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(self.1)])
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn lengths() -> Vec<usize> {
    let around = |n: usize| [n.saturating_sub(1), n, n + 1];
    let mut lengths: Vec<usize> = [0, 4096, FULL, 2 * FULL, 3 * FULL, 4 * FULL, 9 * FULL].into_iter().flat_map(around).collect();
    lengths.extend([2, 1 << 20, 5_000_000]);
    lengths.dedup();
    lengths
}

#[test]
fn all_ways_give_the_same_bytes_and_open_each_others() {
    let _alone = alone();
    for padded in [false, true] {
        for length in lengths() {
            let data = sample(length);
            let sealing = sealing(padded);
            let sealed = sealing.bytes(&data).expect("sealed");
            for threads in [1, 2, 5] {
                let output = tempfile::tempfile().expect("a temporary file");
                let done = sealing.file(&file_with(&data), &output, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{length}, {padded}");
                assert!(contents(output) == sealed, "{length} bytes from file to file on {threads}, padded: {padded}");
                let mut output = Vec::new();
                let done = sealing.stream(Slow(&data[..], 100_000), Slow(&mut output, 70_000), &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{length}, {padded}");
                assert!(output == sealed, "{length} bytes through pipes on {threads}, padded: {padded}");
                open_in_all_ways(&sealed, &data, threads);
            }
            // Its header is the short one, whatever comes.
            let mut writer = sealing.writer(Vec::new()).expect("a header");
            data.chunks(77_777).for_each(|piece| writer.write_all(piece).expect("written"));
            open_in_all_ways(&writer.finish().expect("finished"), &data, 2);
        }
    }
}

fn open_in_all_ways(sealed: &[u8], data: &[u8], threads: usize) {
    let mut payload = sealed;
    let opened = Header::read(&mut payload).expect("a header").open(&[identity()]).expect("the passphrase");
    assert_eq!(opened.metadata().name.as_deref(), Some(&b"a file"[..]));

    let output = tempfile::tempfile().expect("a temporary file");
    let done = opened.file(&file_with(sealed), &output, &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, sealed.len() as u64));
    assert!(contents(output) == data, "{} bytes from file to file", data.len());

    let mut output = Vec::new();
    let done = opened.stream(Slow(payload, 70_000), Slow(&mut output, 100_000), &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, sealed.len() as u64));
    assert!(output == data, "{} bytes through pipes", data.len());

    let mut output = b"before".to_vec();
    opened.bytes_onto(payload, &mut output).expect("opened");
    assert!(output.strip_prefix(b"before") == Some(data), "{} bytes in memory", data.len());

    let mut output = Vec::new();
    opened.reader(payload).expect("a payload").read_to_end(&mut output).expect("opened");
    assert!(output == data, "{} bytes from a reader", data.len());

    let mut reader = opened.seekable(Cursor::new(sealed)).expect("a payload");
    assert_eq!(reader.length(), data.len() as u64);
    for begin in [data.len(), data.len() / 2, 0] {
        let (mut output, wanted) = (Vec::new(), &data[begin..data.len().min(begin + 300_000)]);
        reader.seek(SeekFrom::Start(begin as u64)).expect("a place");
        (&mut reader).take(300_000).read_to_end(&mut output).expect("opened");
        assert!(output == wanted, "from {begin} of {}", data.len());
    }
}

/// What each way says of the payload of `sealed`, in words; all must say the same.
fn refusal(sealed: &[u8]) -> Option<String> {
    let mut payload = sealed;
    let opened = Header::read(&mut payload).and_then(|header| header.open(&[identity()]));
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => return Some(error.to_string()),
    };
    let words = |result: Result<(), Error>| result.err().map(|error| error.to_string());
    let all = [
        words(opened.file(&file_with(sealed), &tempfile::tempfile().expect("a temporary file"), &work(1)).map(drop)),
        words(opened.file(&file_with(sealed), &tempfile::tempfile().expect("a temporary file"), &work(3)).map(drop)),
        words(opened.stream(payload, std::io::sink(), &work(1)).map(drop)),
        words(opened.stream(payload, std::io::sink(), &work(3)).map(drop)),
        words(opened.bytes_onto(payload, &mut Vec::new())),
    ];
    for other in &all[1..] {
        assert_eq!(&all[0], other, "the engines disagree");
    }
    all[0].clone()
}

#[test]
fn every_byte_of_a_small_file_counts() {
    let _alone = alone();
    for padded in [false, true] {
        let sealed = sealing(padded).bytes(&sample(100)).expect("sealed");
        assert_eq!(refusal(&sealed), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << (place % 8);
            assert!(refusal(&changed).is_some(), "byte {place} may be changed");
        }
        for length in 0..sealed.len() {
            assert!(refusal(&sealed[..length]).is_some(), "may be cut to {length}");
        }
        for more in [1, 16, 32, 33, 1000] {
            assert!(refusal(&[&sealed[..], &vec![0; more]].concat()).is_some(), "{more} bytes may be added");
        }
    }
}

#[test]
fn segments_cannot_be_moved() {
    let _alone = alone();
    let data = sample(6 * FULL + 100);
    let sealed = sealing(false).bytes(&data).expect("sealed");
    let other = sealing(false).with_entropy(Entropy::Fixed(8)).bytes(&data).expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header").length() as usize;
    let begin = header + crate::floe::HEADER;
    let split = |sealed: &[u8]| -> Vec<Vec<u8>> { sealed[begin..].chunks(256 << 10).map(<[u8]>::to_vec).collect() };
    let (segments, theirs) = (split(&sealed), split(&other));
    let with = |segments: &[Vec<u8>]| [&sealed[..begin], &segments.concat()].concat();
    assert_eq!(refusal(&with(&segments)), None);
    let change = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut changed = segments.clone();
        change(&mut changed);
        refusal(&with(&changed)).expect("refused")
    };
    assert!(change(&|all| all.swap(2, 3)).contains("segment 2 is damaged"));
    assert!(change(&|all| all.swap(0, 5)).contains("segment 0 is damaged"));
    assert!(change(&|all| all[4] = all[3].clone()).contains("segment 4 is damaged"));
    assert!(change(&|all| drop(all.remove(1))).contains("segment 1 is damaged"));
    assert!(change(&|all| drop(all.pop())).contains("too early"));
    assert!(change(&|all| all.push(vec![0; 50])).contains("after the end"));
    assert!(change(&|all| all.insert(2, all[6].clone())).contains("after the end"));
    assert!(change(&|all| all[5] = theirs[5].clone()).contains("segment 5 is damaged"));
    // The header, or the payload, of another file sealed with the same passphrase.
    assert!(refusal(&[&other[..header], &sealed[header..]].concat()).expect("refused").contains("header was changed"));
    assert!(refusal(&[&other[..begin], &sealed[begin..]].concat()).expect("refused").contains("segment 0 is damaged"));
}

#[test]
fn of_several_faults_the_first_is_named() {
    let _alone = alone();
    let mut sealed = sealing(false).bytes(&sample(40 * FULL)).expect("sealed");
    let begin = sealed.len() - 40 * (256 << 10);
    for segment in [38, 25, 11, 30] {
        sealed[begin + segment * (256 << 10) + 1000] ^= 1;
    }
    for _ in 0..20 {
        assert!(refusal(&sealed).expect("refused").contains("segment 11 is damaged"));
    }
}

#[test]
fn what_went_out_before_a_fault_is_authentic() {
    let _alone = alone();
    let data = sample(10 * FULL);
    let mut sealed = sealing(false).bytes(&data).expect("sealed");
    let begin = sealed.len() - 10 * (256 << 10);
    sealed[begin + 7 * (256 << 10) + 99] ^= 1;
    let mut payload = &sealed[..];
    let opened = Header::read(&mut payload).expect("a header").open(&[identity()]).expect("the passphrase");
    let mut output = Vec::new();
    assert!(matches!(opened.stream(payload, &mut output, &work(3)), Err(Error::Segment { segment: 7 })));
    assert!(output == data[..7 * FULL]);
    let mut output = Vec::new();
    assert!(opened.reader(payload).expect("a payload").read_to_end(&mut output).is_err());
    assert!(output == data[..7 * FULL]);
}

#[test]
fn memory_does_not_grow_with_the_data() {
    let _alone = alone();
    for length in [5 * FULL, 60 * FULL] {
        for threads in [1, 2, 4] {
            let (now, before) = super::buffers::read();
            assert_eq!(now, 0, "buffers are left from before");
            let sealed = tempfile::tempfile().expect("a temporary file");
            sealing(false).file(&file_with(&sample(length)), &sealed, &work(threads)).expect("sealed");
            let (_, after) = super::buffers::read();
            assert!(after - before <= 2 * threads, "{} buffers for {threads} threads", after - before);
            let bytes = contents(sealed);
            let mut payload = &bytes[..];
            let opened = Header::read(&mut payload).expect("a header").open(&[identity()]).expect("the passphrase");
            let (_, before) = super::buffers::read();
            opened.stream(payload, std::io::sink(), &work(threads)).expect("opened");
            let (now, after) = super::buffers::read();
            assert!(after - before <= 2 * (threads + 1), "{} buffers for {threads} threads", after - before);
            assert_eq!(now, 0, "buffers are left behind");
        }
    }
    // Many cores do not mean much memory.
    assert!(super::workers(&work(1000), 1 << 20, u64::MAX) <= 10);
    assert_eq!(super::workers(&work(1000), 32 << 20, u64::MAX), 1);
}

#[test]
fn progress_adds_up_and_a_stop_stops() {
    let _alone = alone();
    let data = sample(20 * FULL + 5);
    for threads in [1, 3] {
        let seen = AtomicU64::new(0);
        let count = |bytes| {
            seen.fetch_add(bytes, Ordering::Relaxed);
        };
        let watched = Work { threads, progress: Some(&count), stop: None };
        let output = tempfile::tempfile().expect("a temporary file");
        sealing(false).file(&file_with(&data), &output, &watched).expect("sealed");
        assert_eq!(seen.swap(0, Ordering::Relaxed), data.len() as u64);
        sealing(false).stream(&data[..], std::io::sink(), &watched).expect("sealed");
        assert_eq!(seen.swap(0, Ordering::Relaxed), data.len() as u64);

        let stop = || seen.load(Ordering::Relaxed) > 3 * FULL as u64;
        let stopped = Work { stop: Some(&stop), ..watched };
        let output = tempfile::tempfile().expect("a temporary file");
        assert!(matches!(sealing(false).file(&file_with(&data), &output, &stopped), Err(Error::Stopped)));
        assert!(seen.swap(0, Ordering::Relaxed) < data.len() as u64);
        assert!(matches!(sealing(false).stream(&data[..], std::io::sink(), &stopped), Err(Error::Stopped)));
        assert!(seen.swap(0, Ordering::Relaxed) < data.len() as u64);
    }
}

/// Fails after so many bytes.
struct Fails(usize);

impl Read for Fails {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("no more"));
        }
        let length = buffer.len().min(self.0);
        self.0 -= length;
        Ok(length)
    }
}

impl Write for Fails {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let length = bytes.len().min(self.0);
        self.0 -= length;
        Ok(length)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn failures_of_the_system_are_told_apart() {
    let _alone = alone();
    let data = sample(5 * FULL);
    for threads in [1, 3] {
        for limit in [0, 100, FULL, 3 * FULL] {
            let read = sealing(false).stream(Fails(limit), std::io::sink(), &work(threads));
            assert!(matches!(read, Err(Error::Read(_))), "{read:?} at {limit}");
            let written = sealing(false).stream(&data[..], Fails(limit), &work(threads));
            assert!(matches!(written, Err(Error::Write(_))), "{written:?} at {limit}");
        }
    }
}

#[test]
fn a_file_that_shrinks_is_noticed() {
    let _alone = alone();
    let data = sample(8 * FULL);
    let input = file_with(&data);
    let cut = |_| input.set_len(3 * FULL as u64).expect("cut");
    let work = Work { threads: 1, progress: Some(&cut), stop: None };
    let output = tempfile::tempfile().expect("a temporary file");
    assert!(matches!(sealing(false).file(&input, &output, &work), Err(Error::Read(_))));
}
