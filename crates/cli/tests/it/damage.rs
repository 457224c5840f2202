//! Sealed files with one flipped byte, of every shorter length, and with extra bytes at the end are refused. No output
//! is left behind.

use crate::sandbox::{Run, Sandbox};

/// Opens a damaged file by name and through pipes. Both runs must be refused with the same message.
fn refuse(sandbox: &Sandbox, what: &str, damaged: &[u8]) {
    sandbox.write("damaged.dpn", damaged);
    let by_name = sandbox.run(&["open", "damaged.dpn"]);
    let through_pipe = sandbox.run_with(&["open"], damaged);
    for run in [&by_name, &through_pipe] {
        let code = run.code();
        assert!(matches!(code, Some(1 | 3)), "{what}: {code:?} {}", run.stderr());
        assert!(run.stderr().contains("hint: "), "{what}: {}", run.stderr());
    }
    // A damaged recipient is indistinguishable from a recipient with another key.
    assert_eq!(by_name.code(), through_pipe.code(), "{what}");
    assert_eq!(through_pipe.stdout(), b"", "{what}");
    assert_eq!(words(&by_name), words(&through_pipe), "{what}");
    assert_eq!(sandbox.names(), ["damaged.dpn"], "{what}");
}

/// Returns the messages without the name of the file.
fn words(run: &Run) -> String {
    run.stderr().replace("damaged.dpn", "standard input")
}

fn sealed(sandbox: &Sandbox) -> Vec<u8> {
    let run = sandbox.run_with(&["seal"], b"straight face");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    run.0.stdout
}

/// Runs all cases on as many threads as there are cores, each with its own sandbox.
fn for_all(mode: &str, cases: impl Fn(&[u8]) -> Vec<(String, Vec<u8>)> + Sync) {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let source = Sandbox::with_key(mode);
    let whole = sealed(&source);
    let all = cases(&whole);
    assert!(!all.is_empty());
    std::thread::scope(|scope| {
        for first in 0..threads {
            let all = &all;
            let source = &source;
            scope.spawn(move || {
                let sandbox = Sandbox::new();
                sandbox.shell(&format!("cp -r {}/home .", source.path("").display()));
                for (what, damaged) in all.iter().skip(first).step_by(threads) {
                    refuse(&sandbox, what, damaged);
                }
            });
        }
    });
    assert_eq!(source.run_with(&["open"], &whole).stdout(), b"straight face");
}

#[test]
fn every_byte_flipped() {
    for_all("ecc", |whole| {
        let flip = |index: usize| {
            let mut damaged = whole.to_vec();
            damaged[index] ^= 1 << (index % 8);
            (format!("byte {index} of {}", whole.len()), damaged)
        };
        (0..whole.len()).map(flip).collect()
    });
}

#[test]
fn every_length() {
    for_all("ecc", |whole| {
        (0..whole.len()).map(|length| (format!("cut at {length}"), whole[..length].to_vec())).collect()
    });
}

#[test]
fn extra_bytes_and_parts_of_other_files() {
    for_all("hybrid", |whole| {
        let length = u32::from_be_bytes(whole[10..14].try_into().unwrap()) as usize;
        let (header, payload) = whole.split_at(length);
        vec![
            ("a byte behind".into(), [whole, &[0]].concat()),
            ("twice".into(), [whole, whole].concat()),
            ("the payload twice".into(), [header, payload, payload].concat()),
            ("the header alone".into(), header.to_vec()),
            ("the payload alone".into(), payload.to_vec()),
        ]
    });
}

#[test]
fn the_header_of_another_file() {
    let sandbox = Sandbox::with_key("hybrid");
    let (one, two) = (sealed(&sandbox), sealed(&sandbox));
    let header = |file: &[u8]| u32::from_be_bytes(file[10..14].try_into().unwrap()) as usize;
    refuse(&sandbox, "header of one, payload of the other", &[&one[..header(&one)], &two[header(&two)..]].concat());
}

#[test]
fn a_larger_file_with_segments_swapped_repeated_dropped() {
    let sandbox = Sandbox::with_key("ecc");
    const SEGMENT: usize = 1 << 18;
    let plain: Vec<u8> = (0..3 * SEGMENT as u32).map(|index| (index >> 8) as u8).collect();
    let whole = sandbox.run_with(&["seal"], &plain).0.stdout;
    let begin = u32::from_be_bytes(whole[10..14].try_into().unwrap()) as usize + 74;
    let (start, segments) = whole.split_at(begin);
    let parts: Vec<_> = segments.chunks(SEGMENT).collect();
    assert_eq!(parts.len(), 4);
    for order in [&[1, 0, 2, 3][..], &[0, 0, 1, 2, 3], &[0, 2, 3], &[0, 1, 2], &[3], &[0, 1, 2, 3, 3]] {
        let damaged = [start].into_iter().chain(order.iter().map(|index| parts[*index])).collect::<Vec<_>>().concat();
        sandbox.write("damaged.dpn", &damaged);
        sandbox.run(&["open", "damaged.dpn"]).expect(1, "damaged.dpn");
        let run = sandbox.run_with(&["open"], &damaged).expect(1, "standard input");
        // Only authentic bytes from before the damage are written.
        assert!(plain.starts_with(run.stdout()), "{order:?}");
        assert_eq!(sandbox.names(), ["damaged.dpn"]);
    }
}
