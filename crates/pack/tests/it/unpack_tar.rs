//! Unpacks archives made by GNU tar, and compares the result with the original folder.

#![allow(clippy::print_stderr)] // Tests that are skipped say so.

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rustix::fs::{AtFlags, Timespec, Timestamps};
use tempfile::tempdir;

use crate::tree::{fresh, in_steps, into, tree};

fn tar(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = match Command::new("tar").args(arguments).arg("-cC").arg(folder).arg(".").output() {
        Ok(output) => output,
        Err(_) => {
            eprintln!("skipped: tar is not installed");
            return None;
        }
    };
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

fn set_time(path: &Path, seconds: i64, nanoseconds: i64) {
    let time = Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// A folder with one entry of each kind that the oldest format can hold.
fn sample(folder: &Path) {
    fs::create_dir_all(folder.join("sub/below")).unwrap();
    fs::create_dir(folder.join("empty folder")).unwrap();
    for (name, length) in
        [("empty", 0), ("one", 1), ("block", 512), ("more", 513), ("sub/big", 3_000_000), ("sub/below/x", 100)]
    {
        let bytes: Vec<u8> = (0..length).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 20) as u8).collect();
        fs::write(folder.join(name), bytes).unwrap();
    }
    fs::set_permissions(folder.join("one"), Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(folder.join("more"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.join("sub/below/x"), Permissions::from_mode(0o751)).unwrap();
    symlink("../nowhere", folder.join("sub/link")).unwrap();
    fs::hard_link(folder.join("block"), folder.join("sub/hard")).unwrap();
    fs::hard_link(folder.join("sub/big"), folder.join("zz")).unwrap();
    for (number, name) in
        ["empty", "one", "block", "more", "sub/big", "sub/link", "sub/below/x", "sub/below", "sub", "empty folder", ""]
            .iter()
            .enumerate()
    {
        set_time(&folder.join(name), 1_500_000_000 + number as i64, 123_456_789);
    }
    fs::set_permissions(folder.join("sub/below"), Permissions::from_mode(0o555)).unwrap();
}

#[test]
fn archives_of_every_format_are_unpacked() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    sample(from.path());
    for format in ["pax", "gnu", "ustar", "v7", "oldgnu"] {
        let Some(archive) = tar(from.path(), &["--format", format]) else { return };
        let to = to.path().join(format);
        fs::create_dir(&to).unwrap();
        let outcome = into(&to, &archive, fresh()).unwrap();
        assert_eq!(outcome.failed, 0);
        let exact = format == "pax";
        assert_eq!(tree(&to, exact), tree(from.path(), exact), "{format}");
    }
}

#[test]
fn the_size_of_pieces_does_not_matter() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    sample(from.path());
    fs::write(from.path().join("sub/big"), [7; 5000]).unwrap();
    set_time(&from.path().join("sub/big"), 5, 6);
    set_time(&from.path().join("sub"), 7, 8);
    let Some(archive) = tar(from.path(), &["--format=pax"]) else { return };
    for step in [1, 511, 512, 513, 4096, 10_000, archive.len()] {
        for fresh in [true, false] {
            let to = to.path().join(format!("{step}{fresh}"));
            fs::create_dir(&to).unwrap();
            let options = deadpan_pack::Unpacking { fresh, replace: !fresh, ..crate::tree::fresh() };
            in_steps(&to, &archive, step, options).unwrap();
            assert_eq!(tree(&to, true), tree(from.path(), true), "in steps of {step}");
        }
    }
}

#[test]
fn long_and_odd_names() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    let deep = from.path().join("d".repeat(200)).join("e".repeat(200));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("f".repeat(250)), "far").unwrap();
    symlink("t".repeat(300), deep.join("link")).unwrap();
    fs::write(from.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe = \n name")), "odd").unwrap();
    fs::write(from.path().join("Stra\u{df}e \u{1f600}"), "street").unwrap();
    for format in ["pax", "gnu", "oldgnu"] {
        let Some(archive) = tar(from.path(), &["--format", format]) else { return };
        let to = to.path().join(format);
        fs::create_dir(&to).unwrap();
        into(&to, &archive, fresh()).unwrap();
        assert_eq!(tree(&to, format == "pax"), tree(from.path(), format == "pax"), "{format}");
    }
}

#[test]
fn holes_stay_holes() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    let make = |name: &str, length: u64, pieces: &[(u64, &[u8])]| {
        let file = File::create(from.path().join(name)).unwrap();
        file.set_len(length).unwrap();
        for (offset, bytes) in pieces {
            file.write_all_at(bytes, *offset).unwrap();
        }
    };
    make("hole", 10 << 20, &[]);
    make("start", 8 << 20, &[(0, b"begins")]);
    make("end", (8 << 20) + 3, &[(8 << 20, b"end")]);
    let many: Vec<(u64, &[u8])> = (0..60).map(|number| (number << 17, &b"piece"[..])).collect();
    make("many", 60 << 17, &many);
    for arguments in [
        &["--format=pax", "--sparse-version=1.0"][..],
        &["--format=pax", "--sparse-version=0.1"],
        &["--format=pax", "--sparse-version=0.0"],
        &["--format=gnu"],
        &["--format=oldgnu"],
    ] {
        let Some(archive) = tar(from.path(), &[arguments, &["--sparse"]].concat()) else { return };
        assert!(archive.len() < 1 << 20, "tar found the holes");
        for step in [512, 999, archive.len()] {
            let to = to.path().join(format!("{}{step}", arguments.concat()));
            fs::create_dir(&to).unwrap();
            in_steps(&to, &archive, step, fresh()).unwrap();
            let exact = arguments[0] == "--format=pax";
            assert_eq!(tree(&to, exact), tree(from.path(), exact), "{arguments:?} in steps of {step}");
            let blocks = |folder: &Path, name: &str| folder.join(name).metadata().unwrap().blocks();
            for name in ["hole", "start", "end", "many"] {
                assert!(blocks(&to, name) <= blocks(from.path(), name) + 8, "{name} {arguments:?}");
            }
        }
    }
}

#[test]
fn times_before_1970() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    fs::write(from.path().join("old"), "").unwrap();
    set_time(&from.path().join("old"), -2, 500_000_000);
    for format in ["pax", "gnu"] {
        let Some(archive) = tar(from.path(), &["--format", format]) else { return };
        let to = to.path().join(format);
        fs::create_dir(&to).unwrap();
        into(&to, &archive, fresh()).unwrap();
        let there = to.join("old").metadata().unwrap();
        assert_eq!((there.mtime(), there.mtime_nsec()), (-2, if format == "pax" { 500_000_000 } else { 0 }));
    }
}

#[test]
fn attributes_of_users() {
    let (from, to) = (tempdir().unwrap(), tempdir().unwrap());
    let path = from.path().join("file");
    fs::write(&path, "").unwrap();
    if rustix::fs::setxattr(&path, "user.color", b"blue", rustix::fs::XattrFlags::empty()).is_err() {
        eprintln!("skipped: this file system has no extended attributes");
        return;
    }
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let Some(archive) = tar(from.path(), &["--format=pax", "--xattrs"]) else { return };
    for (name, attributes) in [("with", true), ("without", false)] {
        let to = to.path().join(name);
        fs::create_dir(&to).unwrap();
        into(&to, &archive, deadpan_pack::Unpacking { attributes, ..fresh() }).unwrap();
        let mut value = [0; 10];
        let there = rustix::fs::getxattr(to.join("file"), "user.color", &mut value);
        assert_eq!(there.is_ok(), attributes);
        assert!(!attributes || value.starts_with(b"blue"));
    }
}
