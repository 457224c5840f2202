//! Unpacks archives that are damaged or hostile.

#![allow(clippy::print_stderr)] // Tests that are skipped say so.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use tempfile::tempdir;

use crate::archive::{end, ended, file, folder, hard_link, header, pax, sum, symlink};
use crate::tree::{fresh, in_steps, into, names, unpacker};
use deadpan_pack::{Error, Flaw, Refusal, Unpacking};

fn going() -> Unpacking {
    Unpacking { keep_going: true, ..fresh() }
}

/// In an earlier version, a short archive led to so many folders that making and removing them took minutes.
#[test]
fn folders_that_only_paths_name_are_bounded() {
    let deep = |number: u32| {
        let path = format!("{number:02}/{}x", "a/".repeat(63));
        [pax(b'x', &[("path", path.as_bytes())]), file("x", b"deep")].concat()
    };
    let archive = ended(&(0..100).map(deep).chain([file("00/a/fine", b"")]).collect::<Vec<_>>());
    let target = tempdir().unwrap();
    let outcome = in_steps(target.path(), &archive, archive.len(), going()).unwrap();
    assert_eq!(outcome.failed, 36);
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 64, "of a refused entry, no folder is made");
    assert!(target.path().join("00/a/fine").exists(), "folders that are there do not count again");
    // A false length of a content does not raise the limit.
    let path = format!("lie/{}x", "a/".repeat(63));
    let lie = [pax(b'x', &[("path", path.as_bytes()), ("size", b"1000000000000")]), file("x", b"")].concat();
    let archive = [(0..64).map(deep).collect::<Vec<_>>().concat(), lie].concat();
    let target = tempdir().unwrap();
    let error = into(target.path(), &archive, fresh()).unwrap_err();
    assert!(matches!(error, Error::Archive(Flaw::ImpliedFolders { .. })), "{error}");
    assert!(error.to_string().starts_with("the folders of lie/a/a/") && error.to_string().len() < 400, "{error}");
}

/// Archives without entries for folders are common. Each of these empty files lies in three folders that contain no
/// other file.
#[test]
fn honest_archives_may_leave_out_their_folders() {
    let files: Vec<_> = (0..1500).map(|number| file(&format!("a{number}/b{number}/c/x"), b"")).collect();
    let target = tempdir().unwrap();
    let outcome = into(target.path(), &ended(&files), fresh()).unwrap();
    assert_eq!((outcome.failed, outcome.entries), (0, 1500));
    assert!(target.path().join("a1499/b1499/c/x").exists());
}

/// Each archive also contains a valid file, which is still created.
#[test]
fn nothing_is_written_outside_the_target() {
    let attacks: &[(&str, Vec<Vec<u8>>)] = &[
        ("parent", vec![file("../out", b"x")]),
        ("parent, later", vec![folder("a/"), file("a/../../out", b"x")]),
        ("absolute", vec![file("/tmp/deadpan-out", b"x")]),
        ("through a link", vec![symlink("a", ".."), file("a/out", b"x")]),
        ("through a link to a folder", vec![symlink("a", ".."), folder("a/"), file("a/out", b"x")]),
        ("folder through a link", vec![symlink("a", ".."), folder("a/out")]),
        ("through two links", vec![folder("b/"), symlink("b/a", "../.."), file("b/a/out", b"x")]),
        ("link through a link", vec![symlink("a", ".."), symlink("a/out", "x")]),
        ("hard link through a link", vec![symlink("a", ".."), hard_link("out", "a/beside")]),
        ("hard link outside", vec![hard_link("out", "../beside")]),
        ("hard link, absolute", vec![hard_link("out", "/etc/passwd")]),
        ("hard link to a folder", vec![folder("a/"), hard_link("out", "a")]),
        ("hard link to nothing", vec![hard_link("out", "none")]),
        ("hard link to a later entry", vec![hard_link("out", "z"), file("z", b"")]),
        ("file instead of the link", vec![symlink("fine/../a", ".."), file("a/../../out", b"x")]),
        ("device", vec![header(b"out", b'3', 0, b"").to_vec()]),
        ("device", vec![header(b"out", b'4', 0, b"").to_vec()]),
        ("FIFO", vec![header(b"out", b'6', 0, b"").to_vec()]),
        ("a long name", vec![pax(b'x', &[("path", b"../out")]), file("fine", b"x")]),
        ("zero byte", vec![pax(b'x', &[("path", b"out\0side")]), file("fine", b"x")]),
        ("a link of a long name", vec![pax(b'x', &[("linkpath", b"../beside")]), hard_link("out", "fine")]),
    ];
    for (what, parts) in attacks {
        for options in
            [going(), Unpacking { fresh: false, ..going() }, Unpacking { fresh: false, replace: true, ..going() }]
        {
            let around = tempdir().unwrap();
            fs::write(around.path().join("beside"), "beside").unwrap();
            let target = around.path().join("target");
            fs::create_dir(&target).unwrap();
            let archive = ended(&[parts.clone(), vec![file("zzz", b"fine")]].concat());
            for step in [512, archive.len()] {
                let outcome = in_steps(&target, &archive, step, options).unwrap();
                assert!(outcome.failed > 0, "{what}");
                assert_eq!(fs::read(target.join("zzz")).unwrap(), b"fine", "{what}");
                assert!(fs::symlink_metadata(target.join("out")).is_err(), "{what}");
                assert_eq!(fs::read(around.path().join("beside")).unwrap(), b"beside", "{what}");
                assert_eq!(fs::metadata(around.path().join("beside")).unwrap().nlink(), 1, "{what}");
                assert_eq!(fs::read_dir(around.path()).unwrap().count(), 2, "{what}: {:?}", names(around.path()));
                fs::remove_dir_all(&target).unwrap();
                fs::create_dir(&target).unwrap();
            }
            // Without `keep_going`, the first failure ends the unpacking.
            assert!(in_steps(&target, &archive, 512, Unpacking { keep_going: false, ..options }).is_err(), "{what}");
        }
    }
}

/// `cp -al` also makes hard links to symbolic links. Unpacking creates a link, and never follows it.
#[test]
fn a_hard_link_to_a_symbolic_link_becomes_a_symbolic_link() {
    for options in [fresh(), Unpacking::default()] {
        let around = tempdir().unwrap();
        let (beside, target) = (around.path().join("beside"), around.path().join("target"));
        fs::write(&beside, "beside").unwrap();
        fs::create_dir(&target).unwrap();
        let archive =
            ended(&[symlink("a", "../beside"), hard_link("out", "a"), hard_link("b", "out"), file("out", b"x")]);
        in_steps(&target, &archive, 512, options).unwrap();
        assert_eq!(fs::read_link(target.join("b")).unwrap(), std::path::Path::new("../beside"));
        assert_eq!(fs::symlink_metadata(target.join("a")).unwrap().nlink(), 2);
        assert!(fs::symlink_metadata(target.join("out")).unwrap().is_file());
        assert_eq!((fs::read(&beside).unwrap(), beside.metadata().unwrap().nlink()), (b"beside".to_vec(), 1));
    }
}

#[test]
fn every_truncation_is_found() {
    let archive = ended(&[folder("a/"), file("a/one", &[1; 700]), symlink("a/two", "one"), hard_link("b", "a/one")]);
    let target = tempdir().unwrap();
    for (number, length) in (0..archive.len()).step_by(512).chain((1..archive.len()).step_by(97)).enumerate() {
        let target = target.path().join(number.to_string());
        fs::create_dir(&target).unwrap();
        match into(&target, &archive[..length], fresh()) {
            // Every tar reader accepts an archive without the two blocks of zeros at its end. So if an archive is cut
            // between two entries, unpacking only returns a remark.
            Ok(outcome) => {
                assert!([512, 2048, 2560, 3072, 3584].contains(&length), "{length}");
                assert_eq!(outcome.remarks, ["the archive has no end: it may have been cut short between two entries"]);
            }
            Err(error) => assert!(matches!(error, Error::Truncated), "{length}: {error}"),
        }
        // A file that exists is complete.
        if let Ok(bytes) = fs::read(target.join("a/one")) {
            assert_eq!(bytes, [1; 700], "{length}");
        }
    }
}

#[test]
fn an_incomplete_file_is_removed() {
    let archive = ended(&[file("whole", &[1; 5000]), file("cut", &[2; 50_000])]);
    for options in [fresh(), Unpacking::default()] {
        let target = tempdir().unwrap();
        let mut unpacker = unpacker(target.path(), options);
        for piece in archive[..20_000].chunks(1000) {
            unpacker.put(piece).unwrap().complete(piece);
        }
        assert!(matches!(unpacker.finish(), Err(Error::Truncated)));
        let progress = unpacker.progress();
        assert_eq!((progress.complete, progress.until.as_deref()), (1, Some(&b"whole"[..])));
        assert_eq!(names(target.path()), ["whole"]);
    }
}

#[test]
fn entries_before_the_damage_are_kept() {
    let mut archive = ended(&[file("one", b"1"), file("two", b"2")]);
    archive[1024 + 3] ^= 1;
    let target = tempdir().unwrap();
    let mut unpacker = unpacker(target.path(), going());
    unpacker.put(&archive).unwrap().complete(&archive);
    let error = unpacker.finish().unwrap_err();
    assert!(error.to_string().contains("byte 1024"), "{error}");
    assert_eq!(unpacker.progress().until.as_deref(), Some(&b"one"[..]));
    assert_eq!(names(target.path()), ["one"]);
}

#[test]
fn invalid_maps_of_holes_are_refused() {
    let sparse = |map: &str, stored: usize, real_size: &str| {
        let mut content = map.as_bytes().to_vec();
        content.resize(512, 0);
        content.resize(stored, b'x');
        let records: &[(&str, &[u8])] = &[
            ("GNU.sparse.major", b"1"),
            ("GNU.sparse.minor", b"0"),
            ("GNU.sparse.name", b"holes"),
            ("GNU.sparse.realsize", real_size.as_bytes()),
        ];
        ended(&[pax(b'x', records), file("GNUSparseFile.0/holes", &content)])
    };
    for (map, stored, real_size) in [
        ("2\n0\n10\n5\n10\n", 532, "100"),
        ("2\n50\n10\n0\n10\n", 532, "100"),
        ("1\n95\n10\n", 522, "100"),
        ("1\n0\n10\n", 600, "100"),
        ("9999999999\n0\n10\n", 522, "100"),
        ("1\n18446744073709551615\n10\n", 522, "100"),
        ("x\n", 512, "100"),
        ("1\n0\n10\n", 522, "99999999999999999999999"),
        ("1\n0\n10\n", 522, "9223372036854775808"),
    ] {
        let target = tempdir().unwrap();
        let result = in_steps(target.path(), &sparse(map, stored, real_size), 100, going());
        assert!(matches!(result, Err(Error::Archive(_))), "{map:?} {real_size}: {result:?}");
        assert!(names(target.path()).is_empty(), "{map:?}");
    }
    let target = tempdir().unwrap();
    in_steps(target.path(), &sparse("1\n90\n10\n", 522, "100"), 100, going()).unwrap();
    assert_eq!(fs::read(target.path().join("holes")).unwrap(), [&[0; 90][..], b"xxxxxxxxxx"].concat());
}

#[test]
fn impossible_sizes_are_refused() {
    let target = tempdir().unwrap();
    let mut huge = header(b"huge", b'0', 0, b"");
    huge[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let mut negative = header(b"negative", b'0', 0, b"");
    negative[124..136].fill(0xff);
    for block in [huge, negative] {
        let archive = ended(&[sum(block).to_vec()]);
        assert!(matches!(into(target.path(), &archive, going()), Err(Error::Archive(_))));
    }
    let archive = ended(&[pax(b'x', &[("size", b"18446744073709551615")]), file("a", b"")]);
    assert!(matches!(into(target.path(), &archive, going()), Err(Error::Archive(_))));
    assert!(names(target.path()).is_empty());
}

#[test]
fn setuid_and_setgid_bits_are_dropped() {
    let mut block = header(b"tool", b'0', 0, b"");
    block[100..108].copy_from_slice(b"0007755\0");
    let target = tempdir().unwrap();
    into(target.path(), &ended(&[sum(block).to_vec()]), fresh()).unwrap();
    assert_eq!(target.path().join("tool").metadata().unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn the_last_entry_of_a_path_counts() {
    let target = tempdir().unwrap();
    let archive = ended(&[
        file("a", b"first"),
        file("b", &[1; 3000]),
        symlink("c", "nowhere"),
        file("a", b"second"),
        symlink("b", "a"),
        file("c", b"file"),
        hard_link("d", "a"),
        file("a", b"third"),
        file("f/x", b"x"),
        folder("f"),
    ]);
    for (name, options) in [("fresh", fresh()), ("merged", Unpacking::default())] {
        for step in [512, archive.len()] {
            let target = target.path().join(format!("{name}{step}"));
            fs::create_dir(&target).unwrap();
            in_steps(&target, &archive, step, options).unwrap();
            let read = |name: &str| fs::read(target.join(name)).unwrap();
            assert_eq!((read("a"), read("c"), read("d")), (b"third".to_vec(), b"file".to_vec(), b"second".to_vec()));
            assert_eq!(fs::read_link(target.join("b")).unwrap(), *"a");
            assert_eq!(names(&target), ["a", "b", "c", "d", "f", "f/x"]);
            assert_eq!(target.join("f").metadata().unwrap().mtime(), 1_000_000_000);
        }
    }
}

#[test]
fn clashing_names_are_noted() {
    let target = tempdir().unwrap();
    let archive = ended(&[
        folder("Readme/"),
        file("README", b"1"),
        file("caf\u{e9}", b"2"),
        file("cafe\u{301}", b"3"),
        file("x", b""),
    ]);
    let outcome = into(target.path(), &archive, going()).unwrap();
    if names(target.path()).len() < 5 {
        eprintln!("skipped: this file system cannot hold both names");
        return;
    }
    assert_eq!(outcome.remarks.len(), 2, "{:?}", outcome.remarks);
    assert!(outcome.remarks[0].contains("README") && outcome.remarks[0].contains("Readme"), "{:?}", outcome.remarks);
}

/// On macOS, names that differ only in case usually belong to one file.
#[test]
fn clashing_names_replace_and_follow_nothing() {
    for (name, options) in [("fresh", going()), ("merged", Unpacking { fresh: false, ..going() })] {
        let around = tempdir().unwrap();
        let (target, outside) = (around.path().join(name), around.path().join("outside"));
        fs::create_dir(&target).unwrap();
        fs::create_dir(&outside).unwrap();
        let archive = ended(&[
            file("Name", b"first"),
            file("name", b"second"),
            file("name", b"third"),
            symlink("Out", "../outside"),
            file("out/x", b"x"),
            folder("OUT"),
            file("OUT/y", b"y"),
        ]);
        let outcome = into(&target, &archive, options).unwrap();
        assert_eq!(fs::read(target.join("Name")).unwrap(), b"first");
        assert!(names(&outside).is_empty());
        match names(&target).len() {
            6.. => assert_eq!((fs::read(target.join("name")).unwrap(), outcome.failed), (b"third".to_vec(), 0)),
            _ => assert_eq!(outcome.failed, 5),
        }
    }
}

#[test]
fn an_empty_input_is_not_an_archive() {
    let target = tempdir().unwrap();
    assert!(matches!(into(target.path(), b"", fresh()), Err(Error::Truncated)));
    assert!(matches!(into(target.path(), &[b'x'; 2000], fresh()), Err(Error::Archive(_))));
    assert!(into(target.path(), &end(), fresh()).is_ok());
    assert!(into(target.path(), &vec![0; 10_240], fresh()).is_ok());
}

/// ext4 reports a full disk if an attribute does not fit into a block. An attribute that does not fit must not prevent
/// the unpacking of its file.
#[test]
fn attributes_that_do_not_fit_are_noted() {
    let to = tempdir().unwrap();
    let limits = [60_000, 100_000].map(|length| vec![b'x'; length]);
    let probe = to.path().join("probe");
    fs::write(&probe, "").unwrap();
    let fits = |value: &[u8]| rustix::fs::setxattr(&probe, "user.long", value, rustix::fs::XattrFlags::empty()).is_ok();
    if !fits(b"short") {
        eprintln!("skipped: this file system has no extended attributes");
        return;
    }
    let attributes =
        |value: &[u8]| pax(b'x', &[("SCHILY.xattr.user.long", value), ("SCHILY.xattr.user.short", b"here")]);
    for (value, name) in limits.iter().zip(["one", "other"]) {
        let archive = ended(&[
            attributes(value),
            folder("sub/"),
            attributes(value),
            file("sub/file", b"content"),
            file("last", b"more"),
        ]);
        let target = to.path().join(name);
        fs::create_dir(&target).unwrap();
        let outcome = into(&target, &archive, Unpacking { attributes: true, ..fresh() }).unwrap();
        assert_eq!((outcome.entries, outcome.failed), (3, 0));
        assert_eq!(fs::read(target.join("sub/file")).unwrap(), b"content");
        for path in ["sub", "sub/file"] {
            let mut short = [0; 4];
            rustix::fs::getxattr(target.join(path), "user.short", &mut short).unwrap();
            assert_eq!(&short, b"here");
            let remark = format!(
                "the extended attribute user.long of {path} is not restored: this file system has no room for it"
            );
            assert_eq!(outcome.remarks.contains(&remark), !fits(value), "{:?}", outcome.remarks);
        }
    }
}

/// Without this refusal, the numbers would be cut to 32 bits, and could then be the numbers of other users, such as
/// root.
#[test]
fn owners_with_too_large_numbers_are_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root restores owners");
        return;
    }
    let owned = |id: u64, entry| [pax(b'x', &[("uid", id.to_string().as_bytes())]), entry].concat();
    for id in [u64::from(u32::MAX), 1 << 32] {
        let target = tempdir().unwrap();
        let archive =
            ended(&[owned(id, file("file", b"content")), owned(id, symlink("link", "file")), file("last", b"more")]);
        let outcome = into(target.path(), &archive, Unpacking { owner: true, keep_going: true, ..fresh() }).unwrap();
        assert_eq!((outcome.entries, outcome.failed), (3, 2), "{:?}", outcome.failures);
        assert!(
            outcome.failures[0].error.to_string().starts_with("file belongs to an owner or a group that no system has")
        );
        assert_eq!(names(target.path()), ["last"]);
    }
}

/// A file of `size` bytes that consists of one hole.
fn hole(name: &str, size: u64) -> Vec<u8> {
    let (size, map) = (size.to_string(), format!("1\n{size}\n0\n"));
    let records: &[(&str, &[u8])] = &[
        ("GNU.sparse.major", b"1"),
        ("GNU.sparse.minor", b"0"),
        ("GNU.sparse.name", name.as_bytes()),
        ("GNU.sparse.realsize", size.as_bytes()),
    ];
    let mut content = map.into_bytes();
    content.resize(512, 0);
    [pax(b'x', records), file("GNUSparseFile.0/x", &content)].concat()
}

/// In an earlier version, an archive of five kilobytes created a file of an exbibyte.
#[test]
fn a_small_archive_does_not_become_an_exbibyte() {
    let refused = |archive: &[u8], limit: Option<u64>| {
        let target = tempdir().unwrap();
        let mut unpacker = unpacker(target.path(), going());
        limit.iter().for_each(|limit| unpacker.max_size(*limit));
        unpacker.put(archive).unwrap().complete(archive);
        let outcome = unpacker.finish().unwrap();
        let too_large =
            |failure: &deadpan_pack::Failure| matches!(failure.error, Error::Refused(Refusal::TooLarge { .. }));
        assert!(outcome.failures.iter().all(too_large), "{:?}", outcome.failures);
        assert_eq!(fs::read_dir(target.path()).unwrap().count() as u64, outcome.entries - outcome.failed);
        outcome.failed
    };
    let after = || file("after", b"more");
    assert_eq!(refused(&ended(&[hole("a", 1 << 60), after()]), None), 1);
    assert_eq!(refused(&ended(&[hole("a", 65 << 30), after()]), None), 1);
    assert_eq!(refused(&ended(&[hole("a", 40 << 30), hole("b", 40 << 30), after()]), None), 1, "together");
    assert_eq!(refused(&ended(&[hole("a", 1 << 30), after()]), None), 0);
    assert_eq!(refused(&ended(&[hole("a", 1 << 30), after()]), Some(1 << 20)), 1);
    assert_eq!(refused(&ended(&[hole("a", 1000), after()]), Some(1 << 20)), 0);
    assert_eq!(refused(&ended(&[file("a", &[7; 900]), after()]), Some(900)), 1, "files without holes count");
    assert_eq!(refused(&ended(&[hole("a", 100 << 30), after()]), Some(200 << 30)), 0, "the caller can raise the limit");
    let output = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let filter = deadpan_pack::Selection::new([b"a".to_vec()]).filter();
    let mut unpacker = deadpan_pack::Unpacker::single(filter, Shared(std::sync::Arc::clone(&output)));
    let archive = ended(&[hole("a", 1 << 60)]);
    unpacker.put(&archive).unwrap().complete(&archive);
    assert!(matches!(unpacker.finish(), Err(Error::Refused(Refusal::TooLarge { .. }))));
    assert!(output.lock().unwrap().is_empty());
}

/// A stream whose bytes the test can read afterwards.
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
