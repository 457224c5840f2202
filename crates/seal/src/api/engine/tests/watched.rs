//! Tests of the callbacks that receive the progress and stop the work.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use deadpan_compress::Level;

/// The buffers of the whole process are counted together, so this test starts itself again in a process without other
/// tests.
#[test]
fn memory_does_not_grow_with_the_data() {
    const OWN: &str = "DEADPAN_OWN_PROCESS";
    if std::env::var_os(OWN).is_none() {
        let mut program = Command::new(std::env::current_exe().expect("this program"));
        program.args(["--exact", "api::engine::tests::watched::memory_does_not_grow_with_the_data"]).env(OWN, "1");
        let output = program.output().expect("it runs");
        let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success() && out.contains("1 passed"), "{out}{error}");
        return;
    }
    for length in [5 * FULL, 60 * FULL] {
        for threads in [1, 2, 4] {
            let (now, before) = crate::api::engine::buffers::read();
            assert_eq!(now, 0, "buffers are left from before");
            let sealed = tempfile::tempfile().expect("a temporary file");
            sealing(false).seal_file(&file_with(&sample(length)), &sealed, &work(threads)).expect("sealed");
            let (_, after) = crate::api::engine::buffers::read();
            assert!(after - before <= 2 * threads, "{} buffers for {threads} threads", after - before);
            let bytes = contents(sealed);
            let (opened, payload) = opened(&bytes).expect("the passphrase");
            let (_, before) = crate::api::engine::buffers::read();
            opened.open_stream(payload, std::io::sink(), &work(threads)).expect("opened");
            let (now, after) = crate::api::engine::buffers::read();
            assert!(after - before <= 2 * (threads + 1), "{} buffers for {threads} threads", after - before);
            assert_eq!(now, 0, "buffers are left behind");
        }
    }
    // Many cores do not use much memory.
    assert!(crate::primitive::threads::workers(&work(1000), 1 << 20, u64::MAX) <= 10);
    assert_eq!(crate::primitive::threads::workers(&work(1000), 32 << 20, u64::MAX), 1);
}

#[test]
fn progress_adds_up_and_a_stop_stops() {
    let data = sample(20 * FULL + 5);
    for (threads, sealing) in [1, 3].into_iter().flat_map(|threads| {
        [sealing(false), sealing(false).compress(Level::default()), sealing(true).compress(Level::default())]
            .map(|sealing| (threads, sealing))
    }) {
        let seen = AtomicU64::new(0);
        let count = |bytes| {
            seen.fetch_add(bytes, Ordering::Relaxed);
        };
        let watched = Work { threads, progress: Some(&count), stop: None };
        let output = tempfile::tempfile().expect("a temporary file");
        sealing.seal_file(&file_with(&data), &output, &watched).expect("sealed");
        assert_eq!(seen.swap(0, Ordering::Relaxed), data.len() as u64);
        sealing.seal_stream(&data[..], std::io::sink(), &watched).expect("sealed");
        assert_eq!(seen.swap(0, Ordering::Relaxed), data.len() as u64);
        let sealed = contents(output);
        let (opened, _) = opened(&sealed).expect("the passphrase");
        let output = tempfile::tempfile().expect("a temporary file");
        opened.open_file(&file_with(&sealed), &output, &watched).expect("opened");
        assert_eq!(seen.swap(0, Ordering::Relaxed), data.len() as u64);

        let stop = || seen.load(Ordering::Relaxed) > 3 * FULL as u64;
        let stopped = Work { stop: Some(&stop), ..watched };
        let output = tempfile::tempfile().expect("a temporary file");
        assert!(matches!(sealing.seal_file(&file_with(&data), &output, &stopped), Err(Error::Stopped)));
        assert!(seen.swap(0, Ordering::Relaxed) < data.len() as u64);
        assert!(matches!(sealing.seal_stream(&data[..], std::io::sink(), &stopped), Err(Error::Stopped)));
        assert!(seen.swap(0, Ordering::Relaxed) < data.len() as u64);
        seen.store(4 * FULL as u64, Ordering::Relaxed);
        let output = tempfile::tempfile().expect("a temporary file");
        assert!(matches!(opened.open_file(&file_with(&sealed), &output, &stopped), Err(Error::Stopped)));
    }
}
