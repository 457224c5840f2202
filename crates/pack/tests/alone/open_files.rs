//! Tests that the number of open files is limited during unpacking.

use std::fs;

use tempfile::tempdir;

use crate::alone;
use crate::archive::{ended, file, folder, pax};
use crate::tree::{fresh, into, names, unpacker};

#[test]
fn a_thousand_nested_folders_are_unpacked() {
    let _alone = alone();
    let target = tempdir().unwrap();
    let mut parts = Vec::new();
    let mut path = String::new();
    for depth in 0..1023 {
        path.push_str(if depth == 0 { "d" } else { "/d" });
        parts.push([pax(b'x', &[("path", format!("{path}/").as_bytes())]), folder("d/")].concat());
        if depth % 100 == 99 || depth == 1022 {
            parts.push([pax(b'x', &[("path", format!("{path}/f").as_bytes())]), file("f", b"deep")].concat());
        }
    }
    let archive = ended(&parts);
    let before = open_files();
    into(target.path(), &archive, fresh()).unwrap();
    assert!(open_files() <= before + 10, "all folders were closed");
    let deepest = ended(&[pax(b'x', &[("path", format!("{path}/d/f").as_bytes())]), file("f", b"deep")]);
    assert!(into(target.path(), &deepest, fresh()).unwrap_err().to_string().contains("deeper than 1024"));
    let mut folder = rustix::fs::open(target.path(), rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
    for _ in 0..1023 {
        folder = rustix::fs::openat(&folder, "d", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
        assert_eq!(rustix::fs::fstat(&folder).unwrap().st_mtime, 1_000_000_000);
    }
    assert!(rustix::fs::statat(&folder, "f", rustix::fs::AtFlags::empty()).is_ok());
    remove_deep(target.path());
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Removes a deep folder level by level, because its path is too long for the system.
fn remove_deep(folder: &std::path::Path) {
    fs::remove_dir_all(folder.join("d")).unwrap();
}

#[test]
fn many_folders_in_one_piece_do_not_exhaust_open_files() {
    let _alone = alone();
    let target = tempdir().unwrap();
    let parts: Vec<_> = (0..3000)
        .map(|n| [folder(&format!("{n}/")), folder(&format!("{n}/x/")), file(&format!("{n}/x/f"), b"x")].concat())
        .collect();
    let archive = ended(&parts);
    let mut unpacker = unpacker(target.path(), fresh());
    let mut most = 0;
    // The `Rest` is completed only after the headers of the whole archive are read.
    let rest = unpacker.put(&archive).unwrap();
    most = most.max(open_files());
    rest.complete(&archive);
    unpacker.finish().unwrap();
    assert!(most < 500, "{most} files were open");
    assert_eq!(names(target.path()).len(), 9000);
}
