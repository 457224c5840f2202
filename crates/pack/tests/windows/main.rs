//! Unpacks hostile archives on Windows. The tests of `tests/it` run on Unix.
#![cfg(windows)]

#[path = "../it/archive/mod.rs"]
#[allow(unused_imports, reason = "the other tests use the rest")]
mod archive;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::tempdir;

use self::archive::{ended, file, folder, hard_link, pax, symlink};
use deadpan_pack::{Error, Folder, Outcome, Packer, Packing, Refusal, Unpacker, Unpacking, Work, unpack};

fn into(target: &Path, archive: &[u8], options: Unpacking) -> Result<Outcome, Error> {
    let mut unpacker = Unpacker::new(Folder::open(target).expect("opened"), options);
    unpack(archive, &mut unpacker, &Work { threads: 2, ..Work::default() })
}

/// All files and folders below a folder, by their paths.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).expect("read") {
            let entry = entry.expect("read");
            if entry.file_type().expect("known").is_dir() {
                left.push(entry.path());
            }
            found.push(entry.path().strip_prefix(folder).expect("below").to_owned());
        }
    }
    found.sort();
    found
}

fn options() -> [Unpacking; 3] {
    let going = Unpacking { keep_going: true, ..Unpacking::default() };
    [Unpacking { fresh: true, ..going }, going, Unpacking { replace: true, ..going }]
}

/// Names that would lead out of the target, to a device, to a stream of another file, or to a file that programs do not
/// find.
const HOSTILE: [&str; 50] = [
    "..\\out",
    "a\\..\\..\\out",
    "\\out",
    "\\\\localhost\\c$\\out",
    "\\\\?\\C:\\out",
    "\\\\.\\C:\\out",
    "\\??\\C:\\out",
    "C:\\out",
    "C:/out",
    "C:out",
    "c:",
    "Z:\\tmp\\out",
    "beside:stream",
    "beside::$DATA",
    "a:b",
    ":",
    "a/b:c",
    "NUL",
    "nul",
    "nul.txt",
    "CON",
    "con.tar.gz",
    "PRN",
    "AUX",
    "aux.h",
    "COM1",
    "COM9.x",
    "com\u{b9}",
    "LPT1",
    "lpt\u{b3}.txt",
    "CONIN$",
    "CONOUT$",
    "NUL .txt",
    "a.",
    "a..",
    "a ",
    "a. .",
    "b./x",
    "b /x",
    "NUL/x",
    "com1.d/x",
    "a*",
    "a?",
    "a<",
    "a>",
    "a|b",
    "a\"b",
    "a\u{1}",
    "a\nb",
    "a\\b",
];

#[test]
fn hostile_names_are_refused_and_nothing_is_written_outside_the_target() {
    for name in HOSTILE {
        let kinds: [(&str, Vec<u8>); 4] = [
            ("file", file("x", b"x")),
            ("folder", folder("x/")),
            ("link", symlink("x", "zzz")),
            ("hard link", hard_link("x", "fine")),
        ];
        for (kind, entry) in kinds {
            for options in options() {
                let around = tempdir().expect("a folder");
                fs::write(around.path().join("beside"), "beside").expect("written");
                let target = around.path().join("target");
                fs::create_dir(&target).expect("made");
                let renamed = [pax(b'x', &[("path", name.as_bytes())]), entry.clone()].concat();
                let archive = ended(&[file("fine", b"fine"), renamed, file("zzz", b"zzz")]);
                let outcome = into(&target, &archive, options).expect("goes on");
                assert_eq!(outcome.failed, 1, "{kind} {name:?}");
                let wanted = ["beside", "target", "target\\fine", "target\\zzz"].map(PathBuf::from);
                assert_eq!(tree(around.path()), wanted, "{kind} {name:?}");
                assert_eq!(fs::read(around.path().join("beside")).expect("read"), b"beside");
            }
        }
    }
    for out in ["C:\\out", "Z:\\tmp\\out"] {
        assert!(!Path::new(out).exists(), "{out}");
    }
}

#[test]
fn a_refused_name_is_told() {
    let target = tempdir().expect("a folder");
    for (name, why) in [
        (&b"NUL"[..], "NUL cannot be made on Windows: a name in it is the name of a device"),
        (b"a/b:c", "a/b:c cannot be made on Windows: a name in it contains ':'"),
        (b"a/b ./c", "a/b ./c cannot be made on Windows: a name in it ends with a dot or a space"),
        (b"\xff", "\\xff cannot be made on Windows: a name in it is not Unicode"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80 cannot be made on Windows: a name in it is not Unicode"),
    ] {
        let archive = ended(&[[pax(b'x', &[("path", name)]), file("x", b"x")].concat()]);
        let error =
            into(target.path(), &archive, Unpacking { fresh: true, ..Unpacking::default() }).expect_err("refused");
        assert!(matches!(error, Error::Refused(Refusal::Name { .. })), "{error}");
        assert_eq!(error.to_string(), why);
        assert_eq!(tree(target.path()), [""; 0].map(PathBuf::from));
    }
}

/// Attacks that other systems know too, and links out of the target.
#[test]
fn nothing_is_written_outside_the_target() {
    let attacks: &[(&str, Vec<Vec<u8>>)] = &[
        ("parent", vec![file("../out", b"x")]),
        ("parent, later", vec![folder("a/"), file("a/../../out", b"x")]),
        ("absolute", vec![file("/deadpan-out", b"x")]),
        ("through a link", vec![symlink("a", ".."), file("a/out", b"x")]),
        ("through a link with backslashes", vec![symlink("a", "..\\..\\"), file("a/out", b"x")]),
        ("through an absolute link", vec![symlink("a", "C:\\"), file("a/out", b"x")]),
        ("through a link to a share", vec![symlink("a", "\\\\localhost\\c$"), file("a/out", b"x")]),
        ("through a link to a device", vec![symlink("a", "\\\\?\\C:\\"), file("a/out", b"x")]),
        ("through a link to a folder", vec![symlink("a", ".."), folder("a/"), file("a/out", b"x")]),
        ("through a link of another case", vec![symlink("a", ".."), file("A/out", b"x")]),
        ("folder through a link", vec![symlink("a", ".."), folder("a/out")]),
        ("hard link through a link", vec![symlink("a", ".."), hard_link("out", "a/beside")]),
        ("hard link outside", vec![hard_link("out", "../beside")]),
        ("hard link outside with backslashes", vec![hard_link("out", "..\\beside")]),
        ("hard link, absolute", vec![hard_link("out", "C:\\windows\\win.ini")]),
        ("hard link to a stream", vec![hard_link("out", "zzz:stream")]),
        ("hard link to nothing", vec![hard_link("out", "none")]),
    ];
    for (what, parts) in attacks {
        for options in options() {
            let around = tempdir().expect("a folder");
            fs::write(around.path().join("beside"), "beside").expect("written");
            let target = around.path().join("target");
            fs::create_dir(&target).expect("made");
            let outcome = into(&target, &ended(&[parts.clone(), vec![file("zzz", b"fine")]].concat()), options);
            assert!(outcome.expect("goes on").failed > 0, "{what}");
            assert_eq!(fs::read(target.join("zzz")).expect("read"), b"fine", "{what}");
            assert_eq!(fs::read(around.path().join("beside")).expect("read"), b"beside", "{what}");
            assert_eq!(fs::read_dir(around.path()).expect("read").count(), 2, "{what}");
            assert!(fs::symlink_metadata(target.join("out")).is_err(), "{what}");
        }
    }
    for out in ["C:\\out", "C:\\deadpan-out", "Z:\\deadpan-out"] {
        assert!(!Path::new(out).exists(), "{out}");
    }
}

/// Names that differ only in case belong to one file here. An entry replaces another one only where entries may replace
/// files, and a remark says so.
#[test]
fn names_that_differ_in_case_do_not_replace_each_other() {
    for options in options() {
        let target = tempdir().expect("a folder");
        let archive = ended(&[file("Name", b"one"), file("name", b"two"), folder("Folder/"), file("folder", b"x")]);
        let outcome = into(target.path(), &archive, options).expect("goes on");
        assert_eq!(outcome.remarks.len(), 2, "{options:?}: {:?}", outcome.remarks);
        assert_eq!(outcome.failed, if options.replace { 1 } else { 2 }, "{options:?}");
        let (found, text) = (tree(target.path()), fs::read(target.path().join("Name")).expect("read"));
        assert_eq!(found.len(), 2, "{options:?}");
        assert_eq!(text, if options.replace { *b"two" } else { *b"one" }, "{options:?}");
        // The same path twice: the later entry counts, as in tar.
        let archive = ended(&[file("a", b"one"), file("a", b"two")]);
        let target = tempdir().expect("a folder");
        assert_eq!(into(target.path(), &archive, options).expect("unpacked").failed, 0, "{options:?}");
        assert_eq!(fs::read(target.path().join("a")).expect("read"), b"two", "{options:?}");
    }
}

/// A short name (`LONGNA~1`) in an archive is not the long name of another entry.
#[test]
fn short_names_do_not_lead_to_other_files() {
    for options in options() {
        let target = tempdir().expect("a folder");
        let long = "a long name of a file.text";
        fs::write(target.path().join("probe of a long name.text"), "x").expect("written");
        let has_short = target.path().join("PROBEO~1.TEX").exists();
        fs::remove_file(target.path().join("probe of a long name.text")).expect("removed");
        if !has_short {
            let _ = writeln!(std::io::stderr(), "skipped: this file system makes no short names, or others");
        }
        let archive = ended(&[file(long, b"long"), file("ALONGN~1.TEX", b"short")]);
        into(target.path(), &archive, options).expect("goes on");
        assert_eq!(fs::read(target.path().join(long)).expect("read"), b"long", "{options:?}");
    }
}

#[test]
fn a_folder_survives_packing_and_unpacking() {
    let place = tempdir().expect("a folder");
    let path = |name: &str| place.path().join(name);
    let deep = format!("source/{}", vec!["d".repeat(60); 8].join("/"));
    fs::create_dir_all(path(&deep)).expect("a path longer than 260 characters");
    fs::create_dir_all(path("source/empty")).expect("made");
    for (name, bytes) in [
        ("source/a", b"a".to_vec()),
        ("source/\u{e4} \u{1f600}", b"x".to_vec()),
        (&format!("{deep}/file"), vec![7; 300_000]),
        ("source/none", Vec::new()),
    ] {
        fs::write(path(name), bytes).expect("written");
    }
    fs::hard_link(path("source/a"), path("source/b")).expect("linked");
    let time = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_700);
    fs::File::options().write(true).open(path("source/a")).expect("opened").set_modified(time).expect("set");
    let mut mode = fs::metadata(path("source/none")).expect("known").permissions();
    mode.set_readonly(true);
    fs::set_permissions(path("source/none"), mode).expect("set");

    let mut pack = Vec::new();
    let packer = Packer::new(&path("source"), b"source", Packing::default()).expect("begun");
    deadpan_pack::pack(packer, &mut pack, &Work::default()).expect("packed");
    fs::create_dir(path("target")).expect("made");
    let outcome = into(&path("target"), &pack, Unpacking { fresh: true, ..Unpacking::default() }).expect("unpacked");
    assert_eq!(outcome.failed, 0);
    assert_eq!(tree(&path("target")), tree(&path("source")));
    for name in ["a", "b", "none", "\u{e4} \u{1f600}", &format!("{}/file", &deep["source/".len()..])] {
        let (old, new) = (path("source").join(name), path("target").join(name));
        assert_eq!(fs::read(&old).expect("read"), fs::read(&new).expect("read"), "{name}");
        let (old, new) = (fs::metadata(old).expect("known"), fs::metadata(new).expect("known"));
        assert_eq!(old.modified().expect("known"), new.modified().expect("known"), "{name}");
        assert_eq!(old.permissions().readonly(), new.permissions().readonly(), "{name}");
    }
}
