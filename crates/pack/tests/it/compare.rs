//! Tests the comparison of a pack with a folder.

use std::fs::{self, File};
use std::io::Cursor;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use deadpan_pack::{Comparison, Contents, Differs, Error, Folder, Packer, Packing, Rules, Work, pack};

/// Makes a folder with all kinds of entries.
fn tree() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir_all(root.join("a/deep")).unwrap();
    fs::create_dir(root.join("b")).unwrap();
    for (name, text) in [("a.txt", "one"), ("a/deep/x", "two"), ("a/y", ""), ("b/z", "three"), ("c", "four")] {
        fs::write(root.join(name), text).unwrap();
    }
    symlink("c", root.join("link")).unwrap();
    fs::hard_link(root.join("c"), root.join("other")).unwrap();
    let sparse = File::create(root.join("sparse")).unwrap();
    sparse.set_len(3 << 20).unwrap();
    sparse.write_all_at(b"data", 1 << 20).unwrap();
    sparse.write_all_at(b"more", 2 << 20).unwrap();
    place
}

fn packed(root: &Path, options: Packing) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(Packer::new(root, b"root", options).unwrap(), &mut bytes, &Work::default()).unwrap();
    bytes
}

fn differences(pack: &[u8], root: &Path, by_contents: bool) -> Result<Vec<(String, Differs)>, Error> {
    let mut contents = Contents::read(Cursor::new(pack))?.expect("a pack");
    let mut comparison =
        Comparison::new(&mut contents, Cursor::new(pack), Folder::open(root).unwrap(), Rules::default())?;
    if by_contents {
        comparison = comparison.by_contents(&|_| {});
    }
    comparison.map(|it| it.map(|it| (String::from_utf8(it.path).unwrap(), it.differs))).collect()
}

/// Compares in both ways. The result must be the same.
fn changed(pack: &[u8], root: &Path) -> Vec<(String, Differs)> {
    let quick = differences(pack, root, false).unwrap();
    assert_eq!(quick, differences(pack, root, true).unwrap());
    quick
}

#[test]
fn what_was_packed_is_the_same() {
    let place = tree();
    let root = place.path().join("root");
    for deterministic in [false, true] {
        let bytes = packed(&root, Packing { deterministic, ..Packing::default() });
        assert_eq!(changed(&bytes, &root), []);
    }
}

#[test]
fn every_change_is_found_once() {
    let place = tree();
    let root = place.path().join("root");
    let bytes = packed(&root, Packing::default());
    let change = |act: &dyn Fn(&Path), expected: &[(&str, Differs)]| {
        let copy = tempfile::tempdir().unwrap();
        let to = copy.path().join("root");
        let copied = std::process::Command::new("cp").arg("-a").args([&root, &to]).status().unwrap();
        assert!(copied.success() && changed(&bytes, &to).is_empty());
        act(&to);
        let expected: Vec<_> = expected.iter().map(|(path, differs)| ((*path).to_owned(), *differs)).collect();
        assert_eq!(changed(&bytes, &to), expected);
    };
    change(&|root| fs::write(root.join("a.txt"), "longer").unwrap(), &[("a.txt", Differs::Contents)]);
    change(
        &|root| fs::write(root.join("c"), "fours").unwrap(),
        &[("c", Differs::Contents), ("other", Differs::Contents)],
    );
    change(&|root| fs::remove_file(root.join("b/z")).unwrap(), &[("b/z", Differs::Removed)]);
    change(&|root| fs::remove_dir_all(root.join("a")).unwrap(), &[("a", Differs::Removed)]);
    change(
        &|root| {
            fs::create_dir_all(root.join("a0/inner")).unwrap();
            fs::write(root.join("a0/inner/file"), "x").unwrap();
            fs::write(root.join("zz"), "x").unwrap();
        },
        &[("a0", Differs::Added), ("zz", Differs::Added)],
    );
    change(
        &|root| {
            fs::remove_dir_all(root.join("a")).unwrap();
            fs::write(root.join("a"), "").unwrap();
            fs::remove_file(root.join("c")).unwrap();
            fs::create_dir_all(root.join("c/in")).unwrap();
        },
        &[("a", Differs::Kind), ("c", Differs::Kind)],
    );
    change(
        &|root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink("a.txt", root.join("link")).unwrap();
        },
        &[("link", Differs::Contents)],
    );
    let mode =
        |root: &Path, name: &str| fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o700)).unwrap();
    change(&|root| mode(root, "a.txt"), &[("a.txt", Differs::Attributes)]);
    change(&|root| mode(root, "b"), &[("b", Differs::Attributes)]);
    change(&|root| mode(root, ""), &[("", Differs::Attributes)]);
}

#[test]
fn a_time_is_a_change_unless_contents_are_compared() {
    let place = tree();
    let root = place.path().join("root");
    let bytes = packed(&root, Packing::default());
    for name in ["a.txt", "sparse"] {
        File::open(root.join(name)).unwrap().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(9)).unwrap();
    }
    let both = |differs| ["a.txt", "sparse"].map(|name| (name.to_owned(), differs)).to_vec();
    assert_eq!(differences(&bytes, &root, false).unwrap(), both(Differs::Contents));
    assert_eq!(differences(&bytes, &root, true).unwrap(), both(Differs::Attributes));
}

#[test]
fn contents_are_compared_where_size_and_time_are_the_same() {
    let place = tree();
    let root = place.path().join("root");
    let bytes = packed(&root, Packing::default());
    let write = |name: &str, at: u64, data: &[u8]| {
        let file = File::options().write(true).open(root.join(name)).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        file.write_all_at(data, at).unwrap();
        file.set_modified(time).unwrap();
    };
    // Data in a hole, zeros instead of a hole, and other data.
    write("sparse", 5, &[0; 100]);
    assert_eq!(differences(&bytes, &root, true).unwrap(), []);
    write("sparse", (3 << 20) - 1, b"!");
    write("b/z", 2, b"R");
    assert_eq!(differences(&bytes, &root, false).unwrap(), []);
    let both = ["b/z", "sparse"].map(|name| (name.to_owned(), Differs::Contents));
    assert_eq!(differences(&bytes, &root, true).unwrap(), both);
    // A deterministic pack has no times, so it is always compared by contents.
    let other = packed(&root, Packing { deterministic: true, ..Packing::default() });
    write("b/z", 2, b"r");
    assert_eq!(differences(&other, &root, false).unwrap(), [("b/z".to_owned(), Differs::Contents)]);
}
