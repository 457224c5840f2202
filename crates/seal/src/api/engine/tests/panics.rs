//! Tests with code of the caller that panics while the streamed engine works. If one worker panics, the other workers
//! must not wait forever.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// The part of the caller's code that panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whose {
    Reader,
    Writer,
    Progress,
    Stop,
    Nobody,
}

/// Counts calls, and panics at one of them without printing a message. Before the panic, sleeps so long that the other
/// workers begin to wait for this worker.
struct Fuse {
    calls: AtomicUsize,
    at: usize,
}

impl Fuse {
    fn burn(&self) {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            std::thread::sleep(Duration::from_millis(30));
            resume_unwind(Box::new("the caller's"));
        }
    }
}

struct Burning<'a, T>(T, Option<&'a Fuse>);

impl<R: Read> Read for Burning<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1.into_iter().for_each(Fuse::burn);
        self.0.read(buffer)
    }
}

impl<W: Write> Write for Burning<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.into_iter().for_each(Fuse::burn);
        self.0.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Seals or opens data, while one part of the caller's code panics in its call number `at`. If the panic reached the
/// caller, returns the panic. Also returns whether this part of the caller's code was called often enough to panic.
fn run(open: bool, threads: usize, whose: Whose, at: usize, input: &[u8]) -> (std::thread::Result<bool>, bool) {
    let fuse = std::sync::Arc::new(Fuse { calls: AtomicUsize::new(0), at });
    let (input, inside) = (input.to_vec(), fuse.clone());
    let result = that_ends(move || {
        let fuse = |asked| (asked == whose).then_some(&*inside);
        let progress = |_| inside.burn();
        let stop = || {
            inside.burn();
            false
        };
        let work = Work {
            threads,
            progress: (whose == Whose::Progress).then_some(&progress as _),
            stop: (whose == Whose::Stop).then_some(&stop as _),
        };
        let output = Burning(std::io::sink(), fuse(Whose::Writer));
        if open {
            let (opened, payload) = opened(&input).expect("the passphrase");
            opened.open_stream(Burning(payload, fuse(Whose::Reader)), output, &work).is_ok()
        } else {
            sealing(false).seal_stream(Burning(&input[..], fuse(Whose::Reader)), output, &work).is_ok()
        }
    });
    (result, fuse.calls.load(Ordering::Relaxed) > at)
}

#[test]
fn a_panic_of_the_caller_s_comes_out() {
    // The data are eight whole units and a part of a unit.
    let data = sample(16 * FULL + 1000);
    let sealed = sealing(false).seal(&data).expect("sealed");
    for (open, input) in [(false, &data), (true, &sealed)] {
        for threads in [1, 3] {
            for whose in [Whose::Reader, Whose::Writer, Whose::Progress, Whose::Stop] {
                for at in [0, 1, 4, 7] {
                    let (result, burnt) = run(open, threads, whose, at, input);
                    assert!(burnt, "{whose:?} was not called {at} times");
                    assert!(result.is_err(), "the panic of {whose:?} at {at} on {threads} threads did not come out");
                }
            }
            let (result, _) = run(open, threads, Whose::Nobody, 0, input);
            assert!(result.expect("no panic"), "without a panic it works");
        }
    }
}
