//! Sealed files with one flipped byte, files that were cut at any length, and files with extra bytes at the end are
//! refused. No output remains.

use crate::sandbox::{Run, Sandbox};

/// Opens a damaged file by name and through pipes. Opening by name and opening through a pipe must be refused with the
/// same message.
fn refuse(sandbox: &Sandbox, what: &str, damaged: &[u8]) {
    sandbox.write("damaged.dpn", damaged);
    let by_name = sandbox.run(&["open", "damaged.dpn"]);
    let through_pipe = sandbox.run_with(&["open"], damaged);
    for run in [&by_name, &through_pipe] {
        let code = run.code();
        assert!(matches!(code, Some(1 | 3)), "{what}: {code:?} {}", run.stderr());
        assert!(run.stderr().contains("hint: "), "{what}: {}", run.stderr());
    }
    // Nobody can distinguish a damaged entry for a recipient from an entry for another key.
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
        // Tests that only authentic bytes before the damage are written.
        assert!(plain.starts_with(run.stdout()), "{order:?}");
        assert_eq!(sandbox.names(), ["damaged.dpn"]);
    }
}

fn flipped(whole: &[u8], places: &[usize]) -> Vec<u8> {
    let mut damaged = whole.to_vec();
    places.iter().for_each(|place| damaged[*place] ^= 1);
    damaged
}

/// Returns data in which no two segments are equal.
fn data(length: u32) -> Vec<u8> {
    (0..length.div_ceil(4)).flat_map(u32::to_le_bytes).take(length as usize).collect()
}

#[test]
fn behind_the_damage_of_a_file_is_the_rest_with_holes() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.run(&["keygen", "--sign", "--no-passphrase"]).expect(0, "");
    let plain = data(3_000_000);
    sandbox.write("f", &plain);
    for more in [&[][..], &["--format", "age"], &["--sign"]] {
        sandbox.shell("rm -f f.* g*").expect(0, "");
        sandbox.run(&[&["seal", "-o", "f.dpn", "f"], more].concat()).expect(0, "");
        let whole = sandbox.read("f.dpn");
        // Signatures lie at the end of a file. If the signatures are damaged, no data of the file are kept.
        let ends = if more == ["--sign"] { vec![] } else { vec![whole.len() - 9] };
        for places in [vec![700_000], [vec![700_000, 1_400_000, 2_500_000], ends].concat()] {
            sandbox.write("f.dpn", flipped(&whole, &places));
            sandbox.run(&["open", "-o", "g", "f.dpn"]).expect(1, "damaged or was changed");
            let run =
                sandbox.run(&["open", "--keep-going", "-o", "g", "f.dpn"]).expect(1, "what is whole is in g.incom");
            assert_eq!(run.stderr().matches(" are missing").count(), places.len(), "{more:?}: {}", run.stderr());
            let kept = sandbox.read("g.incomplete");
            assert_eq!(kept.len(), plain.len(), "{more:?}");
            let mut missing = 0;
            for (number, (kept, plain)) in kept.chunks(1000).zip(plain.chunks(1000)).enumerate() {
                let same = kept == plain;
                assert!(same || kept.contains(&0), "{more:?}: {number}");
                missing += usize::from(!same) * kept.len();
            }
            assert!(missing > 0 && missing < 5 * (1 << 18), "{more:?}: {missing}");
            sandbox.shell("rm g.incomplete").expect(0, "");
        }
        // The result lacks the data that were cut off.
        sandbox.write("f.dpn", &whole[..1_500_000]);
        let run = sandbox.run(&["open", "--keep-going", "-o", "g", "f.dpn"]);
        assert_eq!(run.code(), Some(1), "{more:?}: {}", run.stderr());
        if more == ["--sign"] {
            assert!(!sandbox.path("g.incomplete").exists());
        } else {
            assert!(sandbox.read("g.incomplete").starts_with(&plain[..1_200_000]), "{more:?}");
        }
        assert!(!sandbox.path("g").exists());
    }
    // If the signature at the end is damaged, no data are kept, since the data may not come from the signer.
    sandbox.shell("rm -f f.* g*; deadpan seal --sign f").expect(0, "");
    let whole = sandbox.read("f.dpn");
    sandbox.write("f.dpn", flipped(&whole, &[700_000, whole.len() - 30]));
    sandbox.run(&["open", "--keep-going", "-o", "g", "f.dpn"]).expect(1, "");
    sandbox.write("f.dpn", flipped(&whole, &[700_000]));
    sandbox.shell("deadpan keygen --sign --no-passphrase -o else.key").expect(0, "");
    let args = ["open", "--keep-going", "--require-signature=else.pub", "-o", "g", "f.dpn"];
    assert_ne!(sandbox.run(&args).code(), Some(0));
    assert!(!sandbox.shell("ls g*").0.status.success(), "something was kept");
    // A stream gets zeros in place of the missing data.
    let run = sandbox.run(&["open", "--keep-going", "-o", "-", "f.dpn"]).expect(1, "damaged");
    let saved = run.stdout();
    assert!(saved.len() == plain.len() && saved[..500_000] == plain[..500_000]);
    assert!(saved[1_100_000..] == plain[1_100_000..] && saved[700_000..710_000] == [0; 10_000]);
}

#[test]
fn behind_the_damage_of_a_folder_are_its_other_entries() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.run(&["keygen", "--sign", "--no-passphrase"]).expect(0, "");
    sandbox
        .shell("mkdir -p d/a/deep d/b && ln -s ../a d/b/link && for i in 1 2 3 4; do echo $i > d/a/s$i; done")
        .expect(0, "");
    for name in ["a/big1", "a/deep/big2", "b/big3"] {
        sandbox.write(&format!("d/{name}"), data(1_000_000));
    }
    sandbox.shell("ln d/a/deep/big2 d/b/hard && chmod 750 d/a && touch -d '2020-01-01' d/a d/b").expect(0, "");
    for more in [&[][..], &["--format", "age"], &["--sign"]] {
        sandbox.run(&[&["seal", "-f", "-o", "d.dpn", "d"], more].concat()).expect(0, "");
        let whole = sandbox.read("d.dpn");
        // The damage is one byte in each tenth of the file, and one byte in the first segment, which has the headers of
        // folders. An age file does not record that it holds a folder, so its beginning stays undamaged.
        let first = if more == ["--format", "age"] { 70_000 } else { 40_000 };
        for place in (1..10).map(|tenth| whole.len() / 10 * tenth).chain([first]) {
            sandbox.shell("rm -rf out* ").expect(0, "");
            sandbox.write("d.dpn", flipped(&whole, &[place]));
            let run = sandbox.run(&["open", "--keep-going", "--owner", "-o", "out", "d.dpn"]);
            let why = format!("{more:?}, {place}: {}", run.stderr());
            assert!(matches!(run.code(), Some(1 | 3)), "{why}");
            let out = sandbox.shell("cd d && find . | sort; ls -d ../out");
            assert!(!String::from_utf8_lossy(out.stdout()).contains("../out"), "{why}");
            // The unpacked entries have the right contents, and messages name the missing entries.
            sandbox.shell("diff -r d out.incomplete | grep -v '^Only in d' > differs; test ! -s differs").expect(0, "");
            let line = "cd d && find . ! -type d | while read x; do test -e ../out.incomplete/$x || echo ${x#./}; done";
            let missing = String::from_utf8(sandbox.shell(line).0.stdout).unwrap();
            assert!(
                missing.lines().all(|name| run.stderr().contains(&format!("left out: {name}\n"))),
                "{why}{missing}"
            );
            assert_eq!(missing.lines().count(), run.stderr().matches("left out: ").count(), "{why}{missing}");
            assert!(missing.lines().count() < 9, "{why}{missing}");
        }
        let place = whole.len() / 2;
        sandbox.write("d.dpn", flipped(&whole, &[place]));
        // An existing folder is not changed. Messages also name entries that fail for another reason.
        sandbox.shell("rm -rf out* && mkdir out && echo old > out/x").expect(0, "");
        let run = sandbox.run(&["open", "--keep-going", "-f", "-o", "out", "d.dpn"]).expect(1, "left out: a/deep/big2");
        assert!(run.stderr().contains("complete in out.incomplete\n"), "{}", run.stderr());
        sandbox.shell("test -e out.incomplete/b/big3 && test \"$(ls out)\" = x").expect(0, "");
        let args = ["open", "--keep-going", "--max-size", "1100000", "-o", "small", "d.dpn"];
        let run = sandbox.run(&args).expect(2, "left out: a/deep/big2");
        assert!(run.stderr().contains("b/big3"), "{}", run.stderr());
        let only = ["open", "--keep-going", "--only", "b", "-o", "part", "d.dpn"];
        sandbox.run(&only).expect(1, "left out: b/hard");
        sandbox.shell("cmp d/b/big3 part.incomplete/b/big3 && rm -r part.incomplete").expect(0, "");
        // If the index is damaged, all entries before the damage are kept, unless the file is signed. A pipe is saved
        // like a file.
        sandbox.write("e.dpn", flipped(&whole, &[place, whole.len() - if more == ["--sign"] { 6000 } else { 200 }]));
        for (line, reason, is_kept) in [
            ("cat d.dpn | deadpan open --keep-going -o out2", "left out: a/deep/big2", true),
            (
                "deadpan open --keep-going -o out2 e.dpn",
                "its index at the end is damaged or missing",
                more.is_empty() || more[0] == "--format",
            ),
        ] {
            let run = sandbox.shell(line);
            assert_eq!(run.code(), Some(1), "{more:?}: {line}: {}", run.stderr());
            let kept = sandbox.path("out2.incomplete").exists();
            assert_eq!(kept, is_kept, "{more:?}: {line}");
            assert!(!more.is_empty() || run.stderr().contains(reason), "{more:?}: {line}: {}", run.stderr());
            sandbox.shell("rm -rf out2*").expect(0, "");
        }
    }
}
