//! Unpacks a part of an archive that is read from the beginning to the end.

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex};

use tempfile::tempdir;

use crate::archive::pack::{Entry, Pack, a_device, a_file, a_file_with_holes, a_folder, a_hard_link, a_link, root};
use crate::archive::{ended, file, folder, hard_link, header, pax, sum, symlink};
use crate::tree::{fresh, names, tree, unpacker};
use deadpan_pack::{Contents, Error, Excerpt, Filter, Outcome, Selection, Unpacker, Unpacking, Work, unpack};

fn selection(paths: &[&str]) -> Selection {
    Selection::new(paths.iter().map(|path| path.as_bytes().to_vec()))
}

fn filter(paths: &[&str]) -> Filter {
    selection(paths).filter()
}

fn going() -> Unpacking {
    Unpacking { keep_going: true, ..fresh() }
}

/// Unpacks in pieces of `step` bytes.
fn stepped(mut unpacker: Unpacker, archive: &[u8], step: usize) -> Result<Outcome, Error> {
    for piece in archive.chunks(step) {
        unpacker.put(piece)?.complete(piece);
    }
    unpacker.finish()
}

fn only(target: &Path, archive: &[u8], paths: &[&str], options: Unpacking) -> Result<Outcome, Error> {
    let mut unpacker = unpacker(target, options);
    unpacker.only(filter(paths));
    stepped(unpacker, archive, 1000)
}

fn message(result: Result<Outcome, Error>) -> String {
    result.unwrap_err().to_string()
}

fn entries() -> Vec<Entry> {
    let mut block = header(b"root/b/", b'5', 0, b"");
    block[100..108].copy_from_slice(b"0000711\0");
    let closed = Entry { mode: 0o711, blocks: sum(block).to_vec(), ..a_folder("b") };
    let content: Vec<u8> = (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![
        root(),
        a_file("a", b"alpha"),
        closed,
        a_file("b/fine", &content),
        a_hard_link("b/hard", "a"),
        a_folder("b/in"),
        a_folder("b/in/deep"),
        a_file("b/in/deep/x", b""),
        a_link("b/link", "../a"),
        a_file("b.txt", &content[..1024]),
        a_folder("empty"),
        a_file_with_holes("holes", 1 << 20, b"the end"),
    ]
}

fn pack(entries: &[Entry]) -> Vec<u8> {
    entries.iter().fold(Pack::new(), |pack, entry| pack.add(entry)).end()
}

#[test]
fn a_part_is_the_same_as_through_the_index() {
    let plain = pack(&entries());
    let blocks = entries().iter().fold(Pack::new(), |pack, entry| pack.add(entry).block()).end();
    for paths in [
        &["a"][..],
        &["root/b/in/deep/x"],
        &["b/in"],
        &["b/link", "b.txt"],
        &["**/x", "hol*"],
        &["a", "b/hard"],
        &["empty", "b/fine", "b"],
        &["root"],
    ] {
        // A hard link whose target is not selected is tested separately.
        let paths = if paths.contains(&"b") { &[paths, &["a"]].concat() } else { paths };
        let open = || Contents::read(Cursor::new(&plain)).unwrap().unwrap();
        let (expected, mut contents) = (tempdir().unwrap(), open());
        let chosen = selection(paths).within(&mut contents).unwrap();
        let part = Excerpt::new(chosen.entries(&mut contents), open());
        unpack(part, &mut unpacker(expected.path(), fresh()), &Work::default()).unwrap();
        for archive in [&plain, &blocks] {
            for step in [1, 511, 512, 3000, archive.len()] {
                for options in [fresh(), Unpacking { replace: true, ..Unpacking::default() }] {
                    let target = tempdir().unwrap();
                    let mut unpacker = unpacker(target.path(), options);
                    unpacker.only(filter(paths));
                    stepped(unpacker, archive, step).unwrap();
                    assert_eq!(tree(target.path(), true), tree(expected.path(), true), "{paths:?} in steps of {step}");
                }
            }
        }
    }
}

#[test]
fn a_selection_that_matches_nothing_is_an_error() {
    let target = tempdir().unwrap();
    let mut unpacker = unpacker(target.path(), fresh());
    unpacker.only(filter(&["b.txt", "nowhere"]));
    let archive = pack(&entries());
    unpacker.put(&archive).unwrap().complete(&archive);
    let error = unpacker.finish().unwrap_err().to_string();
    assert_eq!(error, "nothing in the archive matches nowhere");
    let progress = unpacker.progress();
    assert_eq!(
        (progress.complete, progress.until.as_deref()),
        (2, Some(&b"b.txt"[..])),
        "the root counts, skipped entries do not"
    );
    assert_eq!(names(target.path()), ["b.txt"]);
}

#[test]
fn a_hard_link_whose_target_is_not_selected_is_refused() {
    for archive in [
        pack(&entries()),
        ended(&[file("a", b"alpha"), folder("b/"), hard_link("b/hard", "a"), file("b/fine", b"fine")]),
    ] {
        let target = tempdir().unwrap();
        let error = message(only(target.path(), &archive, &["b/hard", "b/fine"], fresh()));
        assert_eq!(error, "b/hard is a hard link to a, which is not selected");
        let target = tempdir().unwrap();
        let outcome = only(target.path(), &archive, &["b/hard", "b/fine"], going()).unwrap();
        assert_eq!(
            (outcome.failed, names(target.path())),
            (1, vec!["b".into(), "b/fine".into()]),
            "{:?}",
            outcome.failures
        );
    }
}

/// Every byte is compared with the index, except the contents of skipped files.
#[test]
fn a_changed_pack_is_refused() {
    let fine = [root(), a_file("a", b"alpha"), a_file("b", b"beta"), a_file("c", b"gamma")];
    let [_, alpha, beta, _] = &fine;
    let changed = |place: usize, other: &Entry| {
        let mut pack = Pack::new();
        fine.iter()
            .enumerate()
            .for_each(|(number, entry)| pack.add_as(if number == place { other } else { entry }, entry));
        pack.end()
    };
    for place in [1, 2, 3] {
        for other in [a_file("bb", b"beta"), a_device("b"), a_link("b", "x"), a_folder("b")] {
            let target = tempdir().unwrap();
            fs::write(target.path().join("a"), "mine").unwrap();
            let other = Entry { path: fine[place].path.clone(), ..other };
            let result = only(
                target.path(),
                &changed(place, &other),
                &["b"],
                Unpacking { replace: true, ..Unpacking::default() },
            );
            assert!(result.is_err(), "{place}: {result:?}");
            assert_eq!(fs::read(target.path().join("a")).unwrap(), b"mine", "skipped files are not removed");
        }
    }
    let target = tempdir().unwrap();
    only(target.path(), &changed(1, &Entry { blocks: file("root/a", b"ALPHA"), ..alpha.clone() }), &["b"], fresh())
        .unwrap();
    assert_eq!(names(target.path()), ["b"]);
    let target = tempdir().unwrap();
    let archive = changed(2, &Entry { blocks: file("root/b", b"BETA"), ..beta.clone() });
    let error = message(only(target.path(), &archive, &["b"], fresh()));
    assert!(error.starts_with("b is not what the index says: its contents were changed"), "{error}");
    assert_eq!(names(target.path()), [""; 0]);
    let archive = pack(&fine);
    for length in (0..archive.len()).step_by(97) {
        let target = tempdir().unwrap();
        assert!(matches!(only(target.path(), &archive[..length], &["a"], fresh()), Err(Error::Truncated)), "{length}");
    }
}

#[test]
fn parts_of_ordinary_archives() {
    let fifo = header(b"./docs/fifo", b'6', 0, b"").to_vec();
    let mut docs = header(b"./docs/", b'5', 0, b"");
    docs[100..108].copy_from_slice(b"0000750\0");
    let docs = sum(docs).to_vec();
    let archive = ended(&[
        folder("./"),
        docs,
        fifo,
        file("../evil", b"evil"),
        file("./docs/a.txt", b"old"),
        file("./docs/b.txt", b"b"),
        symlink("link", "docs"),
        file("later/x", b"x"),
        folder("later/"),
        file("./docs/a.txt", b"new"),
    ]);
    let target = tempdir().unwrap();
    only(target.path(), &archive, &["docs/a.txt", "./later/x"], fresh()).unwrap();
    assert_eq!(names(target.path()), ["docs", "docs/a.txt", "later", "later/x"]);
    assert_eq!(fs::read(target.path().join("docs/a.txt")).unwrap(), b"new", "the last entry counts");
    let about = target.path().join("docs").metadata().unwrap();
    assert_eq!((about.permissions().mode() & 0o7777, about.mtime()), (0o750, 1_000_000_000));
    for (path, why) in [
        ("docs/fifo", "is a FIFO"),
        ("../evil", "has .. as a component"),
        ("docs", "is a FIFO"),
        ("/x", "nothing in the archive matches /x"),
    ] {
        let target = tempdir().unwrap();
        let error = message(only(target.path(), &archive, &[path], fresh()));
        assert!(error.contains(why), "{path}: {error}");
    }
    let target = tempdir().unwrap();
    fs::write(target.path().join("docs"), "in the way").unwrap();
    let error = message(only(target.path(), &archive, &["docs/b.txt"], Unpacking::default()));
    assert!(error.starts_with("docs is in the way"), "{error}");
}

/// A thousand nested folders with a megabyte of attributes each would take a gigabyte of memory.
#[test]
fn attributes_of_skipped_folders_are_limited() {
    let value = vec![b'x'; 1_000_000];
    let nested = |depth: usize| [pax(b'x', &[("SCHILY.xattr.user.x", &value)]), folder(&"d/".repeat(depth))].concat();
    let mut members: Vec<_> = (1..20).map(nested).collect();
    members.push(file("x", b"x"));
    let archive = ended(&members);
    let target = tempdir().unwrap();
    only(target.path(), &archive, &["x"], fresh()).unwrap();
    let error = message(only(target.path(), &archive, &["x"], Unpacking { attributes: true, ..fresh() }));
    assert!(error.contains("have extended attributes of more than"), "{error}");
}

/// Each attribute adds one byte to the archive, but takes fifty bytes of memory.
#[test]
fn many_short_attributes_of_skipped_folders_are_limited() {
    let names: Vec<_> = (0..20_000).map(|number| format!("SCHILY.xattr.user.{number}")).collect();
    let records: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let attributes = pax(b'x', &records);
    let mut members: Vec<_> = (1..20).map(|depth| [attributes.clone(), folder(&"d/".repeat(depth))].concat()).collect();
    members.push(file("x", b"x"));
    let target = tempdir().unwrap();
    let error = message(only(target.path(), &ended(&members), &["x"], Unpacking { attributes: true, ..fresh() }));
    assert!(error.contains("have extended attributes of more than"), "{error}");
}

/// The output for the single file.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn single(archive: &[u8], paths: &[&str], step: usize) -> (Result<Outcome, Error>, Vec<u8>) {
    let stream = Stream::default();
    let outcome = stepped(Unpacker::single(filter(paths), stream.clone()), archive, step);
    let bytes = stream.0.lock().unwrap().clone();
    (outcome, bytes)
}

#[test]
fn one_file_goes_to_a_stream() {
    let archive = pack(&entries());
    for step in [1, 511, 512, 3000, archive.len()] {
        for (path, length) in [("a", 5), ("root/b/fine", 5000), ("**/x", 0), ("b.txt", 1024)] {
            let (outcome, bytes) = single(&archive, &[path], step);
            assert_eq!((outcome.unwrap().bytes, bytes.len()), (length, length as usize), "{path} in steps of {step}");
        }
    }
    assert_eq!(single(&archive, &["a"], 4096).1, b"alpha");
    let holes = [&[0; (1 << 20) - 7][..], b"the end"].concat();
    for step in [1, 511, 512, 3000, archive.len()] {
        let (outcome, bytes) = single(&archive, &["holes"], step);
        assert!(outcome.is_ok() && bytes == holes, "in steps of {step}: {outcome:?}");
    }
    for (paths, why) in [
        (&["a", "b.txt"][..], "a and b.txt are both selected"),
        (&["b"], "b is not a file, and only a file can be extracted from a pipe"),
        (&["."], "the whole folder is not a file"),
        (&["b/link"], "b/link is not a file"),
        (&["b/hard"], "b/hard is a hard link to a, which is not selected"),
        (&["nowhere"], "nothing in the archive matches nowhere"),
    ] {
        let error = message(single(&archive, paths, 4096).0);
        assert!(error.starts_with(why), "{error}");
    }
    let fine = a_file("a", b"alpha");
    let mut changed = Pack::new().add(&root());
    changed.add_as(&Entry { blocks: file("root/a", b"ALPHA"), ..fine.clone() }, &fine);
    let changed = changed.end();
    assert!(message(single(&changed, &["a"], 4096).0).contains("its contents were changed"));
    assert!(matches!(single(&archive[..archive.len() - 1], &["a"], 4096).0, Err(Error::Truncated)));
}
