//! Tests of sources and sinks whose slow work runs on all threads.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::{Sink, Source, Taken};

/// A source that writes data into the buffer only in `complete`.
#[derive(Clone)]
pub(super) struct Lazy {
    data: Arc<Vec<u8>>,
    given: usize,
    takes_fail_at: usize,
    rests_fail_at: usize,
}

impl Lazy {
    pub(super) fn new(data: &[u8]) -> Self {
        Self { data: Arc::new(data.to_vec()), given: 0, takes_fail_at: usize::MAX, rests_fail_at: usize::MAX }
    }
}

impl Source for Lazy {
    type Rest = (Arc<Vec<u8>>, Range<usize>, bool);

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Self::Rest>> {
        if self.given >= self.takes_fail_at {
            return Err(io::Error::other("take"));
        }
        buffer.fill(0xaa);
        let range = self.given..self.data.len().min(self.given + buffer.len());
        self.given = range.end;
        let fails = range.contains(&self.rests_fail_at);
        Ok(Taken {
            length: range.len(),
            last: self.given == self.data.len(),
            rest: (Arc::clone(&self.data), range, fails),
        })
    }

    fn complete((data, range, fails): Self::Rest, bytes: &mut [u8]) -> io::Result<()> {
        if fails {
            return Err(io::Error::other("rest"));
        }
        // Some units take longer than the units that follow.
        std::thread::sleep(Duration::from_micros(range.start as u64 % 7 * 300));
        bytes.copy_from_slice(&data[range]);
        Ok(())
    }
}

/// A sink. Any thread can write to this sink. The sink stores each part of the data at the position of the part.
#[derive(Clone, Default)]
struct Places {
    data: Arc<Mutex<Vec<u8>>>,
    seen: usize,
    puts_fail_at: Option<usize>,
    rests_fail_at: Option<usize>,
}

impl Sink for Places {
    type Rest = (Arc<Mutex<Vec<u8>>>, Range<usize>, bool);

    fn put(&mut self, bytes: &[u8]) -> io::Result<Self::Rest> {
        let range = self.seen..self.seen + bytes.len();
        self.seen = range.end;
        if self.puts_fail_at.is_some_and(|at| range.contains(&at)) {
            return Err(io::Error::other("put"));
        }
        let fails = self.rests_fail_at.is_some_and(|at| range.contains(&at));
        Ok((Arc::clone(&self.data), range, fails))
    }

    fn complete((data, range, fails): Self::Rest, bytes: &[u8]) -> io::Result<()> {
        if fails {
            return Err(io::Error::other("rest"));
        }
        std::thread::sleep(Duration::from_micros(range.start as u64 % 7 * 300));
        let mut data = data.lock().expect("nobody panics");
        let length = data.len().max(range.end);
        data.resize(length, 0);
        data[range].copy_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn they_give_what_streams_give() {
    for padded in [false, true] {
        for length in [0, 1, FULL - 1, 2 * FULL - 1, 2 * FULL, 2 * FULL + 1, 4 * FULL, 9 * FULL + 5] {
            let data = sample(length);
            let sealing = sealing(padded);
            let sealed = sealing.seal(&data).expect("sealed");
            for threads in [1, 2, 5] {
                let mut output = Vec::new();
                let (done, source) = sealing.gather(Lazy::new(&data), &mut output, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed, source.given), (length as u64, sealed.len() as u64, length));
                assert!(output == sealed, "{length} bytes on {threads}, padded: {padded}");

                let output = tempfile::tempfile().expect("a temporary file");
                let (done, _) = sealing.gather_at(Lazy::new(&data), &output, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64));
                assert!(contents(output) == sealed, "{length} bytes at positions on {threads}, padded: {padded}");

                let (opened, payload) = opened(&sealed).expect("the passphrase");
                let (done, sink) =
                    opened.scatter(Slow(payload, 99_999), Places::default(), &work(threads)).expect("opened");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64));
                assert!(
                    *sink.data.lock().expect("nobody panicked") == data,
                    "{length} bytes on {threads}, padded: {padded}"
                );
            }
        }
    }
}

#[test]
fn whatever_fails_ends_it_with_its_own_error() {
    let data = sample(9 * FULL);
    let sealed = sealing(false).seal(&data).expect("sealed");
    for threads in [1, 2, 5] {
        for at in [0, 3 * FULL, 8 * FULL] {
            let sources = [
                ("take", Lazy { takes_fail_at: at, ..Lazy::new(&data) }),
                ("rest", Lazy { rests_fail_at: at, ..Lazy::new(&data) }),
            ];
            for (what, source) in sources {
                let failed =
                    that_ends(move || sealing(false).gather(source, io::sink(), &work(threads)).map(|(done, _)| done));
                match failed.expect("no panic") {
                    Err(Error::Read(error)) => assert_eq!(error.to_string(), what),
                    other => panic!("{what} at {at} on {threads}: {other:?}"),
                }
            }
            let source = Lazy { rests_fail_at: at, ..Lazy::new(&data) };
            let failed = that_ends(move || {
                let output = tempfile::tempfile().expect("a temporary file");
                sealing(false).gather_at(source, &output, &work(threads)).map(|(done, _)| done)
            });
            assert!(matches!(failed.expect("no panic"), Err(Error::Read(_))), "at positions, at {at} on {threads}");
            let sinks = [
                ("put", Places { puts_fail_at: Some(at), ..Places::default() }),
                ("rest", Places { rests_fail_at: Some(at), ..Places::default() }),
            ];
            for (what, sink) in sinks {
                let sealed = sealed.clone();
                let failed = that_ends(move || {
                    let (opened, payload) = opened(&sealed).expect("the passphrase");
                    opened.scatter(payload, sink, &work(threads)).map(|(done, _)| done)
                });
                match failed.expect("no panic") {
                    Err(Error::Write(error)) => assert_eq!(error.to_string(), what),
                    other => panic!("{what} at {at} on {threads}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_sink_gets_nothing_from_behind_a_changed_byte() {
    let data = sample(9 * FULL);
    let mut sealed = sealing(false).seal(&data).expect("sealed");
    let changed = sealed.len() - 4 * (FULL + 32);
    sealed[changed] ^= 1;
    for threads in [1, 4] {
        let (opened, payload) = opened(&sealed).expect("the passphrase");
        let sink = Places::default();
        let got = Arc::clone(&sink.data);
        assert!(matches!(opened.scatter(payload, sink, &work(threads)), Err(Error::Segment { .. })));
        let got = got.lock().expect("nobody panicked");
        assert!(got.len() <= 5 * FULL && data.starts_with(&got), "{} bytes", got.len());
    }
}

#[test]
fn a_source_that_gives_too_little_is_refused() {
    struct Short;
    impl Source for Short {
        type Rest = ();
        fn take(&mut self, _buffer: &mut [u8]) -> io::Result<Taken<()>> {
            Ok(Taken { length: 5, last: false, rest: () })
        }
        fn complete((): (), _bytes: &mut [u8]) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(sealing(false).gather(Short, io::sink(), &work(2)).map(|(done, _)| done), Err(Error::Invalid(_))));
}
