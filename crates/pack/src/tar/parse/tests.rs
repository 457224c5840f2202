use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// Parses an archive in pieces of `step` bytes. Returns the events as text, each content joined and hashed.
fn parse(archive: &[u8], step: usize) -> Result<Vec<String>, Error> {
    let mut parser = Parser::new();
    let mut found: Vec<String> = Vec::new();
    let mut content = Vec::new();
    for piece in archive.chunks(step) {
        let mut at = 0;
        while let Some(event) = parser.next(piece, &mut at)? {
            if let Event::Content { offset, range } = event {
                assert_eq!(offset, content.len() as u64);
                content.extend_from_slice(&piece[range]);
                continue;
            }
            if !content.is_empty() && !matches!(event, Event::Map(_)) {
                found.push(format!("content {}", blake3::hash(&content)));
                content.clear();
            }
            match event {
                Event::Tail(_) => {}
                Event::Map(map) => found.insert(found.len(), format!("{map:?}")),
                event => found.push(format!("{event:?}")),
            }
        }
        assert_eq!(at, piece.len());
    }
    if !content.is_empty() {
        found.push(format!("content {}", blake3::hash(&content)));
    }
    found.extend(parser.end()?.map(|odd| format!("Odd({odd:?})")));
    Ok(found)
}

fn header(path: &str, kind: u8, size: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..path.len()].copy_from_slice(path.as_bytes());
    block[100..108].copy_from_slice(b"0000644\0");
    (&mut block[124..136]).write_all(format!("{size:011o}\0").as_bytes()).unwrap();
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    summed(block)
}

fn summed(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    (&mut block[148..156]).write_all(format!("{sum:06o}\0 ").as_bytes()).unwrap();
    block
}

fn with(path: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = header(path, kind, content.len()).to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

/// The contents of a pax header.
fn records(records: &[&str]) -> Vec<u8> {
    let lengths = |text: &&str| (1..).find(|length: &usize| length.to_string().len() + text.len() + 2 == *length);
    records.iter().flat_map(|text| format!("{} {text}\n", lengths(text).unwrap_or_default()).into_bytes()).collect()
}

const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

#[test]
fn the_size_of_pieces_does_not_matter() {
    let comment =
        [with("pax_global_header", b'g', &records(&["comment=deadpan pack 1"])), with("r/", b'5', b"")].concat();
    let sparse =
        records(&["GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=r/s", "GNU.sparse.realsize=999"]);
    let map = [&b"2\n0\n3\n900\n5\n"[..], &[0; 500], b"abcdefgh"].concat();
    let archive = [
        comment,
        with("PaxHeaders/f", b'x', &records(&["mtime=1.123456789"])),
        with("r/f", b'0', &[7; 700]),
        with("PaxHeaders/s", b'x', &sparse),
        with("GNUSparseFile.0/s", b'0', &map),
        with("g", b'g', &records(&["comment=a block"])),
        END.to_vec(),
    ]
    .concat();
    let whole = parse(&archive, archive.len());
    let Ok(whole) = whole else { panic!("{whole:?}") };
    for step in [1, 2, 511, 512, 513, 1024, 5000] {
        assert_eq!(parse(&archive, step).unwrap(), whole, "in steps of {step}");
    }
    for length in 0..archive.len() {
        assert!(parse(&archive[..length], 512).is_err(), "cut after {length} bytes");
    }
}

#[test]
fn offsets_of_contents() {
    let long = "n".repeat(300);
    let archive =
        [with("a", b'0', b"1"), with("././@LongLink", b'L', long.as_bytes()), with("n", b'0', &[1; 513]), END.to_vec()]
            .concat();
    let mut parser = Parser::new();
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(event) = parser.next(&archive, &mut at).unwrap() {
        if let Event::Member(member) = event {
            let entry = member.entry;
            places.push((entry.path.len(), entry.begin, entry.content, entry.end()));
        }
    }
    assert_eq!(places, [(1, 0, 512, 1024), (300, 1024, 2560, 3584)]);
}

#[test]
fn contents_can_be_skipped() {
    let archive = [with("a", b'0', &[1; 600]), with("b", b'0', b""), with("c", b'0', b"x"), END.to_vec()].concat();
    let mut parser = Parser::new();
    let mut names = Vec::new();
    let mut ended = false;
    while !ended {
        let begin = parser.offset as usize;
        let mut at = 0;
        match parser.next(&archive[begin..begin + BLOCK], &mut at).unwrap() {
            Some(Event::Member(member)) => names.push(member.entry.path),
            Some(Event::End(offset)) => {
                assert_eq!(offset, archive.len() as u64);
                ended = true;
            }
            Some(event) => panic!("{event:?}"),
            None => {}
        }
        parser.skip();
    }
    assert_eq!(names, [b"a", b"b", b"c"]);
}

#[test]
fn invalid_archives_are_refused() {
    let end = |bytes: Vec<u8>| [bytes, END.to_vec()].concat();
    let mut wrong = with("a", b'0', b"1");
    wrong[0] ^= 1;
    for (archive, why) in [
        (end(wrong), "a checksum"),
        (end(b"hello, world".repeat(100)[..1024].to_vec()), "no archive"),
        (end(header("p", b'x', (1 << 20) + 1).to_vec()), "a huge pax header"),
        (end(header("p", b'L', 65_537).to_vec()), "a huge name"),
        (
            end([
                with("g", b'g', &records(&["comment=deadpan pack 1"])),
                with("p", b'x', &records(&["path=r"])),
                with("p", b'x', &records(&["path=r"])),
                with("r", b'5', b""),
            ]
            .concat()),
            "a pack with two pax headers for one entry",
        ),
        (end(with("p", b'x', &records(&["path=a"]))), "a pax header and no entry"),
        (end(with("g", b'g', &records(&["comment=deadpan pack 2"]))), "a pack from the future"),
        (
            end([with("g", b'g', &records(&["comment=deadpan pack 1"])), with("a", b'0', b"")].concat()),
            "a pack without a root",
        ),
        (
            [
                with("g", b'g', &records(&["comment=deadpan pack 1"])),
                with("r/", b'5', b""),
                vec![0; 512],
                with("a", b'0', b""),
                END.to_vec(),
            ]
            .concat(),
            "something after a block of zeros in a pack",
        ),
    ] {
        let result = parse(&archive, 512);
        assert!(matches!(result, Err(Error::Archive(_))), "{why}: {result:?}");
    }
    let two =
        [with("g", b'g', &records(&["comment=deadpan pack 1"])), with("r/", b'5', b""), with("q/", b'5', b"")].concat();
    assert!(parse(&end(two), 512).unwrap_err().to_string().contains("in the root folder"));
}

/// GNU tar and bsdtar both read these archives.
#[test]
fn irregular_archives_are_accepted_and_noted() {
    let a = with("a", b'0', b"aa");
    let mut overflown = header("a", b'0', 0);
    overflown[136..148].copy_from_slice(b"\x007346545000 ");
    for (archive, entries, odd) in [
        (a.clone(), 1, "NoEnd"),
        ([&a[..], &[0; 512]].concat(), 1, "NoEnd"),
        ([0; 10_240].to_vec(), 0, "Empty"),
        ([&a[..], &[0; 512], &b"junk".repeat(128)].concat(), 1, "LoneZeroBlock"),
        ([&a[..], &[0; 512], &a, &END].concat(), 1, "LoneZeroBlock"),
        ([with("L", b'L', b"first\0"), with("L", b'L', b"last\0"), a.clone(), END.to_vec()].concat(), 1, "Repeated"),
        (
            [
                with("x", b'x', &records(&["path=first", "mtime=5"])),
                with("x", b'x', &records(&["path=last"])),
                a.clone(),
                END.to_vec(),
            ]
            .concat(),
            1,
            "Repeated",
        ),
        ([summed(overflown).to_vec(), END.to_vec()].concat(), 1, "Overflow"),
        ([with("a", b'A', b"1000007\0user::rwx"), a.clone(), END.to_vec()].concat(), 1, "SolarisAcl"),
    ] {
        for step in [1, 512, 5000] {
            let found = parse(&archive, step).unwrap();
            assert_eq!(found.iter().filter(|it| it.starts_with("Member")).count(), entries, "{odd}: {found:?}");
            assert_eq!(found.iter().filter(|it| **it == format!("Odd({odd})")).count(), 1, "{odd}: {found:?}");
            if odd == "Repeated" {
                assert!(found.iter().any(|it| it.contains(&format!("{:?}", b"last"))), "{found:?}");
                assert!(!found.iter().any(|it| it.contains("seconds: 5,")), "only the last header counts: {found:?}");
            }
        }
    }
    for cut in [513, 600, 1023, 1025, 1300] {
        assert!(parse(&[&a[..], &a].concat()[..cut], 512).is_err(), "cut after {cut} bytes");
    }
    assert!(parse(b"", 1).is_err());
}

#[test]
fn the_content_of_an_incremental_folder_is_skipped() {
    let mut folder = header("d/", b'D', 7);
    folder[100..108].copy_from_slice(b"0000750\0");
    let archive = [&summed(folder)[..], b"Nfoo\0\0\0", &[0; 505], &with("d/foo", b'0', b"x"), &END].concat();
    let found = parse(&archive, 512).unwrap();
    assert!(found[0].contains("kind: Folder, mode: 488"), "{found:?}");
    assert!(found[1].starts_with("Member") && found[2].starts_with("content"), "{found:?}");
}

#[test]
fn unsafe_entries_are_refused() {
    for (path, kind) in [
        ("../a", b'0'),
        ("/a", b'0'),
        ("a/../../b", b'5'),
        ("dev", b'3'),
        ("dev", b'4'),
        ("fifo", b'6'),
        ("odd", b'Z'),
        ("a//../b", b'0'),
    ] {
        let content: &[u8] = if kind == b'0' || kind == b'Z' { b"content" } else { b"" };
        let archive = [with(path, kind, content), with("fine", b'0', b"x"), END.to_vec()].concat();
        let found = parse(&archive, 512).unwrap();
        assert!(found[0].starts_with("Refused"), "{path}: {found:?}");
        assert!(found[1].contains("Member"), "{path}: {found:?}");
    }
}

#[test]
fn gnu_tar_in_all_its_formats() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "hello").unwrap();
    for format in ["pax", "gnu", "ustar", "v7", "oldgnu"] {
        let tar = Command::new("tar")
            .arg(format!("--format={format}"))
            .args(["-cC"])
            .arg(folder.path())
            .arg(".")
            .stderr(Stdio::null())
            .output();
        let Ok(tar) = tar else {
            // `eprintln!` is not used, because the test harness would hide its output.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: tar is not installed\n");
            return;
        };
        let found = parse(&tar.stdout, 1000).unwrap();
        assert_eq!(found.len(), 4, "{format}: {found:?}");
        assert!(found[2].contains(&blake3::hash(b"hello").to_string()), "{format}");
    }
}
