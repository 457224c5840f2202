//! Packing: GNU tar can read the archive, the number of threads does not change the archive, and notes report changes
//! during packing.

use std::fs::{self, File, FileTimes};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use crate::tree;
use crate::tree::odd::{odd_tree, sample};
use deadpan_pack::{Contents, Error, Folder, Kind, Notes, Packer, Packing, What, Work, pack};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn packed(root: &Path, options: Packing, threads: usize) -> Vec<u8> {
    let packer = Packer::new(root, b"root", options).expect("a folder");
    let mut bytes = Vec::new();
    let packer = pack(packer, &mut bytes, &Work { threads, ..Work::default() }).expect("packed");
    assert!(packer.notes().list().is_empty(), "{:?}", packer.notes());
    bytes
}

#[test]
#[allow(clippy::print_stderr)] // A test that is skipped says so.
fn gnu_tar_unpacks_the_same_tree() {
    if Command::new("tar").arg("--version").output().is_err() {
        eprintln!("skipped: tar is not installed");
        return;
    }
    let (tree, other) = (folder(), folder());
    odd_tree(tree.path());
    let archive = other.path().join("archive.tar");
    fs::write(&archive, packed(tree.path(), Packing::default(), 0)).expect("written");
    let status = Command::new("tar").arg("xpf").arg(&archive).arg("-C").arg(other.path()).status().expect("tar runs");
    assert!(status.success());
    assert_eq!(tree::tree(tree.path(), true), tree::tree(&other.path().join("root"), true));
    let links = |name: &str| fs::metadata(other.path().join("root").join(name)).expect("it is there").ino();
    assert_eq!((links("hard/first"), links("hard/first")), (links("hard/second"), links("third")));
    let blocks = fs::metadata(other.path().join("root/holes")).expect("it is there").blocks();
    assert!(blocks * 512 < 4 << 20, "holes stay holes");
}

#[test]
fn the_archive_is_the_same_for_all_buffer_sizes() {
    let tree = folder();
    odd_tree(tree.path());
    let whole = packed(tree.path(), Packing::default(), 1);
    for threads in [2, 5, 0] {
        assert!(packed(tree.path(), Packing::default(), threads) == whole, "{threads} threads");
    }
    for step in [777, 511, 512, 513, 300_001] {
        let mut packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
        let (mut bytes, mut buffer) = (Vec::new(), vec![0xaa; step]);
        while !packer.ended() {
            let (length, job) = packer.take(&mut buffer).expect("taken");
            assert!(length == step || packer.ended());
            job.complete(&mut buffer[..length]).expect("completed");
            bytes.extend_from_slice(&buffer[..length]);
        }
        assert!(bytes == whole, "{step} bytes at a time");
    }
}

#[test]
fn deterministic_packs_have_no_times() {
    let (one, other) = (folder(), folder());
    for tree in [&one, &other] {
        odd_tree(tree.path());
    }
    let late = UNIX_EPOCH + Duration::from_secs(1_000_000);
    File::open(one.path().join("lengths"))
        .expect("a folder")
        .set_times(FileTimes::new().set_modified(late))
        .expect("a time");
    let options = Packing { deterministic: true, ..Packing::default() };
    assert!(packed(one.path(), Packing::default(), 0) != packed(other.path(), Packing::default(), 0));
    assert!(packed(one.path(), options.clone(), 0) == packed(other.path(), options, 0));
}

/// If a file has holes on one file system and none on another, both packs must be equal.
#[test]
fn deterministic_packs_have_no_holes() {
    let (sparse, dense) = (folder(), folder());
    let length = 4 << 20;
    let file = File::create(sparse.path().join("file")).expect("a file");
    file.set_len(length).expect("longer");
    file.write_all_at(b"data", 2 << 20).expect("written");
    fs::write(dense.path().join("file"), fs::read(sparse.path().join("file")).expect("a file")).expect("written");
    File::create(sparse.path().join("hole")).expect("a file").set_len(length).expect("longer");
    fs::write(dense.path().join("hole"), vec![0; length as usize]).expect("written");
    let options = Packing { deterministic: true, ..Packing::default() };
    let bytes = packed(sparse.path(), options.clone(), 0);
    assert!(bytes == packed(dense.path(), options, 0));
    assert!(bytes.len() as u64 > 2 * length);
    let target = folder();
    tree::into(target.path(), &bytes, tree::fresh()).expect("unpacked");
    assert!(
        fs::read(target.path().join("file")).expect("a file") == fs::read(dense.path().join("file")).expect("a file")
    );
}

/// Packs a folder of three files of 300,000 bytes: `b` is removed before it is packed, and `a` gets the length `length`
/// while it is packed.
fn packed_during_changes(keep_going: bool, length: u64) -> Result<(Vec<u8>, Notes), Error> {
    let tree = folder();
    for name in ["a", "b", "c"] {
        fs::write(tree.path().join(name), sample(300_000, 1)).expect("written");
    }
    let mut packer = Packer::new(tree.path(), b"root", Packing { keep_going, ..Packing::default() })?;
    fs::remove_file(tree.path().join("b")).expect("removed");
    let (mut bytes, mut buffer) = (Vec::new(), vec![0xaa; 100_000]);
    let mut first = true;
    while !packer.ended() {
        let (taken, job) = packer.take(&mut buffer)?;
        if std::mem::take(&mut first) {
            File::options().write(true).open(tree.path().join("a")).expect("a file").set_len(length).expect("changed");
        }
        job.complete(&mut buffer[..taken])?;
        bytes.extend_from_slice(&buffer[..taken]);
    }
    Ok((bytes, packer.notes()))
}

#[test]
fn changes_during_packing_are_noted() {
    for keep_going in [false, true] {
        let (_, notes) = packed_during_changes(keep_going, 400_000).expect("packed");
        let list: Vec<_> = notes.list().iter().map(|note| (note.path.clone(), note.what.clone())).collect();
        assert_eq!(list, [(b"b".to_vec(), What::Gone), (b"a".to_vec(), What::Changed)]);
        assert!(!notes.incomplete());
    }
}

/// In an earlier version, a file that became shorter was packed with zeros and without an error.
#[test]
fn a_file_that_becomes_shorter_during_packing_is_an_error() {
    for length in [0, 50_000, 299_999] {
        let error = packed_during_changes(false, length).expect_err("a part is missing");
        assert!(matches!(&error, Error::Shrank { path } if path == "a"), "{error}");
        assert_eq!(error.fault(), deadpan_pack::Fault::System);
        let (bytes, notes) = packed_during_changes(true, length).expect("packed");
        let mut list: Vec<_> = notes.list().iter().map(|note| (note.path.clone(), note.what.clone())).collect();
        list.sort_by(|(one, _), (other, _)| one.cmp(other));
        // The shorter file gets only one note, although up to four pieces of this file are missing.
        assert_eq!(list, [(b"a".to_vec(), What::Shrank), (b"b".to_vec(), What::Gone)]);
        assert!(notes.incomplete());
        assert!(!bytes.windows(512).any(|window| window == [0xaa; 512]), "missing bytes are zeros");
        let target = folder();
        tree::into(target.path(), &bytes, tree::fresh()).expect("unpacked");
        let unpacked = fs::read(target.path().join("a")).expect("a file");
        let kept = length as usize;
        assert!(unpacked[..kept] == sample(300_000, 1)[..kept] && unpacked[kept..].iter().all(|byte| *byte == 0));
        assert_eq!(unpacked.len(), 300_000);
    }
}

/// The kind of an entry can change after its folder was read.
#[test]
fn an_entry_that_changes_its_kind_is_packed_as_the_new_kind() {
    let make = |path: &Path, kind: Kind| match kind {
        Kind::Folder => fs::create_dir(path).expect("a folder"),
        Kind::SymbolicLink => symlink("target", path).expect("a link"),
        _ => fs::write(path, "file").expect("written"),
    };
    let kinds = [Kind::Folder, Kind::SymbolicLink, Kind::File];
    let pairs =
        || kinds.into_iter().flat_map(|one| kinds.map(|other| (one, other))).filter(|(one, other)| one != other);
    let tree = folder();
    let path = |one: Kind, other: Kind| tree.path().join(format!("{one:?} to {other:?}"));
    pairs().for_each(|(one, other)| make(&path(one, other), one));
    let packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
    for (one, other) in pairs() {
        let path = path(one, other);
        if one == Kind::Folder { fs::remove_dir(&path) } else { fs::remove_file(&path) }.expect("removed");
        make(&path, other);
    }
    let mut bytes = Vec::new();
    let packer = pack(packer, &mut bytes, &Work::default()).expect("packed");
    assert!(packer.notes().list().is_empty(), "{:?}", packer.notes());
    let target = folder();
    tree::into(target.path(), &bytes, tree::fresh()).expect("unpacked");
    // The root is not compared: the packer read its time before the entries were changed.
    let inside =
        |root: &Path| tree::tree(root, true).into_iter().filter(|(path, _)| !path.is_empty()).collect::<Vec<_>>();
    assert_eq!(inside(tree.path()), inside(target.path()));
}

#[test]
fn special_files_and_the_output_are_left_out() {
    let tree = folder();
    fs::write(tree.path().join("file"), b"x").expect("written");
    File::create(tree.path().join("output")).expect("a file");
    let output = Folder::open(tree.path()).expect("a folder").look("output".as_ref()).expect("looked");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path().join("socket")).expect("a socket");
    let options = Packing { except: output.map(|about| about.id), ..Packing::default() };
    let packer = Packer::new(tree.path(), b"root", options).expect("a folder");
    let packer = pack(packer, std::io::sink(), &Work::default()).expect("packed");
    assert_eq!(packer.entries(), 2, "the root and the file");
    let notes = packer.notes();
    assert_eq!((notes.list().len(), &notes.list()[0].what, notes.incomplete()), (1, &What::Special, false));
}

#[test]
fn depth_has_a_limit() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let more = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, more).expect("more files");
    for (depth, allowed) in [(1024, true), (1025, false)] {
        let tree = folder();
        let mut at = File::open(tree.path()).expect("a folder");
        for _ in 0..depth {
            rustix::fs::mkdirat(&at, "d", rustix::fs::Mode::RWXU).expect("made");
            let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
            at = rustix::fs::openat(&at, "d", flags, rustix::fs::Mode::empty()).expect("opened").into();
        }
        let packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
        assert_eq!(pack(packer, std::io::sink(), &Work::default()).is_ok(), allowed, "{depth} deep");
    }
}

#[test]
fn a_failing_writer_ends_packing() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let tree = folder();
    odd_tree(tree.path());
    for room in [0, 1 << 20, 6 << 20] {
        for threads in [1, 2, 4] {
            let packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
            let failed = pack(packer, Full(room), &Work { threads, ..Work::default() });
            assert!(matches!(failed, Err(deadpan_pack::Error::Write(_))), "{failed:?}");
        }
    }
}

#[test]
fn invalid_root_names_are_refused() {
    let tree = folder();
    for name in [&b""[..], b".", b"..", b"a/b", b"a\0b", &[b'x'; 256]] {
        assert!(Packer::new(tree.path(), name, Packing::default()).is_err(), "{}", name.escape_ascii());
    }
    assert!(Packer::new(&tree.path().join("none"), b"x", Packing::default()).is_err());
}

/// Packing refuses deeper folders.
#[test]
fn folders_up_to_the_deepest_level_are_packed() {
    let (tree, target) = (folder(), folder());
    let down = |root: &Path, levels: usize| -> rustix::fd::OwnedFd {
        use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut here = open(root, flags, Mode::empty()).expect("a folder");
        for _ in 0..levels {
            // An earlier call may have made the folder, so a failure is ignored.
            let _ = mkdirat(&here, "d", Mode::RWXU);
            here = openat(&here, "d", flags, Mode::empty()).expect("a folder");
        }
        here
    };
    let last = down(tree.path(), 1023);
    let file =
        rustix::fs::openat(&last, "f", rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY, rustix::fs::Mode::RWXU);
    drop(file.expect("made"));
    let bytes = packed(tree.path(), Packing::default(), 1);
    let outcome = tree::into(target.path(), &bytes, tree::fresh()).expect("unpacked");
    assert_eq!((outcome.failed, outcome.entries), (0, 1025));
    let count = Contents::read(std::io::Cursor::new(&bytes))
        .expect("readable")
        .expect("a pack")
        .entries()
        .filter(Result::is_ok)
        .count();
    assert_eq!(count, 1025);
    rustix::fs::mkdirat(down(tree.path(), 1024), "e", rustix::fs::Mode::RWXU).expect("made");
    let packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
    let error = pack(packer, std::io::sink(), &Work::default()).expect_err("too deep").to_string();
    assert!(error.contains("too deep") && error.len() < 500, "{error}");
}

/// Files in /sys take no room on a disk, and the kernel cannot report where the data of these files are.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr)] // A test that is skipped says so.
fn a_file_that_cannot_report_its_holes_has_none() {
    let path = Path::new("/sys/kernel/mm/transparent_hugepage");
    let name = "enabled";
    let Ok(expected) = fs::read(path.join(name)) else {
        eprintln!("skipped: this system has no such file");
        return;
    };
    let packer = Packer::new(path, b"root", Packing { keep_going: true, ..Packing::default() }).expect("a folder");
    let mut bytes = Vec::new();
    pack(packer, &mut bytes, &Work::default()).expect("packed");
    let target = folder();
    tree::into(target.path(), &bytes, tree::fresh()).expect("unpacked");
    let found = fs::read(target.path().join(name)).expect("a file");
    assert!(found.starts_with(&expected), "{found:?}");
}

#[test]
fn clashing_names_are_noted() {
    let tree = folder();
    fs::create_dir(tree.path().join("sub")).expect("a folder");
    for name in ["README", "readme", "other", "sub/\u{e9}", "sub/e\u{301}", "sub/README"] {
        fs::write(tree.path().join(name), name).expect("written");
    }
    if fs::read(tree.path().join("README")).expect("a file") != b"README" {
        return; // Here they are one.
    }
    let packer = Packer::new(tree.path(), b"root", Packing::default()).expect("a folder");
    let packer = pack(packer, std::io::sink(), &Work::default()).expect("packed");
    let notes = packer.notes();
    let alike: Vec<_> = notes.list().iter().map(|note| (note.path.as_slice(), &note.what)).collect();
    assert_eq!(alike, [(&b"readme"[..], &What::Alike), ("sub/\u{e9}".as_bytes(), &What::Alike)]);
    assert!(!notes.incomplete());
}

/// Packing includes extended attributes of files and folders, also with `=` and `%` in their names. Attributes that are
/// too large for a header are omitted, and a note reports this.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr)] // A test that is skipped says so.
fn extended_attributes_of_files_and_folders() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let tree = folder();
    fs::create_dir(tree.path().join("sub")).expect("a folder");
    fs::write(tree.path().join("sub/file"), "file").expect("written");
    let set = |path: &str, name: &str, value: &[u8]| setxattr(tree.path().join(path), name, value, XattrFlags::empty());
    if set("", "user.root", b"1").is_err() {
        eprintln!("skipped: this file system has no extended attributes");
        return;
    }
    set("sub", "user.a=b%3D", b"x=y\n\0").expect("set");
    set("sub/file", "user.empty", b"").expect("set");
    let bytes = packed(tree.path(), Packing { xattrs: true, ..Packing::default() }, 0);
    let target = folder();
    let options = deadpan_pack::Unpacking { attributes: true, ..tree::fresh() };
    tree::into(target.path(), &bytes, options).expect("unpacked");
    for (path, name, value) in
        [("", "user.root", &b"1"[..]), ("sub", "user.a=b%3D", b"x=y\n\0"), ("sub/file", "user.empty", b"")]
    {
        let mut found = vec![0; 100];
        let length = getxattr(target.path().join(path), name, found.as_mut_slice()).expect("it is there");
        assert_eq!(&found[..length], value, "{path}");
    }
    for number in 0..20 {
        if set("sub/file", &format!("user.{number}"), &[b'x'; 60_000]).is_err() {
            eprintln!("skipped: this file system has no attributes of that size");
            return;
        }
    }
    let packer = Packer::new(tree.path(), b"root", Packing { xattrs: true, ..Packing::default() }).expect("a folder");
    let packer = pack(packer, std::io::sink(), &Work::default()).expect("packed");
    assert!(packer.notes().incomplete());
    assert!(matches!(packer.notes().list(), [note] if note.path == b"sub/file" && matches!(note.what, What::Bare(_))));
}
