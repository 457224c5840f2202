//! Unpacks archives into folders that are not empty, and archives whose entries come in an unusual order.

use std::fs::{self, Permissions};
use std::io::Cursor;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use tempfile::tempdir;

use crate::archive::pack::{Pack, a_file, root};
use crate::archive::{ended, file, folder, hard_link, header, sum, symlink};
use crate::tree::{fresh, in_steps, into, names, unpacker};
use deadpan_pack::{Contents, Error, Excerpt, Flaw, Selection, Unpacker, Unpacking, Work, unpack};

fn going() -> Unpacking {
    Unpacking { keep_going: true, ..Unpacking::default() }
}

fn forced() -> Unpacking {
    Unpacking { replace: true, ..Unpacking::default() }
}

#[test]
fn existing_files_are_kept_unless_forced() {
    let target = tempdir().unwrap();
    let path = |name: &str| target.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    fs::write(path("sub/a"), "old").unwrap();
    fs::write(path("sub/kept"), "kept").unwrap();
    let archive = ended(&[folder("sub/"), file("sub/a", b"new"), file("sub/b", b"new"), symlink("sub/kept", "x")]);
    let error = into(target.path(), &archive, Unpacking::default()).unwrap_err().to_string();
    assert_eq!(error, "sub/a exists already");
    let outcome = into(target.path(), &archive, going());
    let outcome = outcome.unwrap();
    // In the second run, the files that the first run made cause further failures.
    assert!(outcome.failed >= 2, "{:?}", outcome.failures);
    assert_eq!(fs::read(path("sub/a")).unwrap(), b"old");
    assert_eq!(fs::read(path("sub/kept")).unwrap(), b"kept");
    into(target.path(), &archive, forced()).unwrap();
    assert_eq!(fs::read(path("sub/a")).unwrap(), b"new");
    assert_eq!(fs::read_link(path("sub/kept")).unwrap(), *"x");
    assert_eq!(names(target.path()), ["sub", "sub/a", "sub/b", "sub/kept"]);
}

#[test]
fn a_name_that_is_made_meanwhile_is_replaced_if_forced() {
    let archive = ended(&[file("a", &[7; 4000])]);
    for (options, expected) in [(forced(), vec![7; 4000]), (Unpacking::default(), b"theirs".to_vec())] {
        let target = tempdir().unwrap();
        let mut unpacker = unpacker(target.path(), options);
        let (first, second) = archive.split_at(1000);
        unpacker.put(first).unwrap().complete(first);
        fs::write(target.path().join("a"), "theirs").unwrap();
        unpacker.put(second).unwrap().complete(second);
        assert_eq!(unpacker.finish().is_ok(), options.replace);
        assert_eq!(fs::read(target.path().join("a")).unwrap(), expected);
        assert_eq!(names(target.path()), ["a"]);
    }
}

/// The message of the first failure ends with the whole message of the second failure. An earlier version compared the
/// messages, and omitted the second failure.
#[test]
fn failures_with_similar_texts_are_all_reported() {
    let target = tempdir().unwrap();
    for name in ["a b", "b"] {
        fs::write(target.path().join(name), "old").unwrap();
    }
    let archive = ended(&[file("a b", b"new"), file("b", b"new")]);
    let mut unpacker = unpacker(target.path(), Unpacking::default());
    unpacker.put(&archive).unwrap().complete(&archive);
    assert_eq!(unpacker.finish().unwrap_err().to_string(), "a b exists already");
    let progress = unpacker.progress();
    let others: Vec<_> = progress.failures.iter().map(|failure| failure.error.to_string()).collect();
    assert_eq!((progress.failed, others), (2, vec!["b exists already".to_owned()]));
}

#[test]
fn existing_files_are_kept_when_the_new_one_is_large() {
    let target = tempdir().unwrap();
    fs::write(target.path().join("a"), "old").unwrap();
    let archive = ended(&[file("a", &[7; 100_000])]);
    assert!(in_steps(target.path(), &archive, 4096, Unpacking::default()).is_err());
    assert_eq!(fs::read(target.path().join("a")).unwrap(), b"old");
    in_steps(target.path(), &archive, 4096, forced()).unwrap();
    assert_eq!(fs::read(target.path().join("a")).unwrap(), [7; 100_000]);
    assert_eq!(names(target.path()), ["a"]);
}

/// In an earlier version, the unpacker waited for itself forever if the path of a large file was taken during
/// unpacking.
#[test]
fn a_large_file_whose_path_is_taken_during_unpacking() {
    let target = tempdir().unwrap();
    let name = target.path().join("a");
    let archive = ended(&[file("a", &[7; 100_000]), file("b", b"more")]);
    let mut unpacker = unpacker(target.path(), going());
    let (one, other) = archive.split_at(50_000);
    unpacker.put(one).unwrap().complete(one);
    fs::write(&name, "theirs").unwrap();
    unpacker.put(other).unwrap().complete(other);
    let outcome = unpacker.finish().unwrap();
    assert!(
        matches!(&outcome.failures[..], [failure] if failure.error.to_string().contains("a exists already")),
        "{:?}",
        outcome.failures
    );
    assert_eq!(fs::read(&name).unwrap(), b"theirs");
    assert_eq!(names(target.path()), ["a", "b"]);
}

/// Ends a process while four of its threads unpack into a temporary folder, in the same way as a signal handler does.
/// Files that the threads make at this time are removed too. Each repetition needs a separate process.
#[test]
fn drafts_are_removed_while_threads_create_more() {
    const PLACE: &str = "DEADPAN_TEST_DRAFTS";
    let members: Vec<_> = (0..2000).map(|number| file(&format!("{}/{number}", number % 7), &[7; 3000])).collect();
    let Some(place) = std::env::var_os(PLACE) else {
        for delay in ["0", "3", "9", "30"] {
            let place = tempdir().unwrap();
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            again.args(["drafts_are_removed_while_threads_create_more", "--nocapture"]).env(PLACE, place.path());
            let ended = again.env("DELAY", delay).output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
            assert_eq!(names(place.path()), [""; 0], "after {delay} ms");
        }
        return;
    };
    let archive = ended(&members);
    let delay = std::env::var("DELAY").unwrap().parse().unwrap();
    let draft = deadpan_disk::DraftFolder::create(&std::path::Path::new(&place).join("target")).unwrap();
    let mut unpacker = Unpacker::new(draft.folder().clone(), fresh());
    let work = Work { threads: 4, ..Work::default() };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| unpack(&archive[..], &mut unpacker, &work));
        std::thread::sleep(std::time::Duration::from_millis(delay));
        deadpan_disk::cleanup::close();
        assert_eq!(names(std::path::Path::new(&place)), [""; 0], "nothing is left when the process would exit");
        // The unpacking may have been complete before the process was ended.
        let _ = running.join().unwrap();
    });
}

#[test]
fn existing_links_are_not_followed() {
    let around = tempdir().unwrap();
    let target = around.path().join("target");
    fs::create_dir(&target).unwrap();
    fs::create_dir(around.path().join("elsewhere")).unwrap();
    fs::write(around.path().join("precious"), "precious").unwrap();
    std::os::unix::fs::symlink("../elsewhere", target.join("sub")).unwrap();
    std::os::unix::fs::symlink("../precious", target.join("a")).unwrap();
    let archive = ended(&[folder("sub/"), file("sub/x", b"x"), file("a", b"new")]);
    let outcome = into(&target, &archive, Unpacking { replace: true, ..going() }).unwrap();
    assert_eq!(outcome.failed, 2, "{:?}", outcome.failures);
    assert_eq!(fs::read_dir(around.path().join("elsewhere")).unwrap().count(), 0);
    assert_eq!(fs::read(around.path().join("precious")).unwrap(), b"precious");
    assert_eq!(fs::read(target.join("a")).unwrap(), b"new");
    assert!(target.join("a").symlink_metadata().unwrap().is_file());
}

#[test]
fn folders_are_not_replaced() {
    let target = tempdir().unwrap();
    fs::create_dir(target.path().join("a")).unwrap();
    fs::write(target.path().join("b"), "file").unwrap();
    let archive = ended(&[file("a", b"x"), folder("b/"), symlink("a", "x")]);
    let outcome = into(target.path(), &archive, Unpacking { replace: true, ..going() }).unwrap();
    assert_eq!(outcome.failed, 3, "{:?}", outcome.failures);
    assert!(target.path().join("a").is_dir() && target.path().join("b").is_file());
}

#[test]
fn existing_files_are_not_targets_of_hard_links() {
    let target = tempdir().unwrap();
    fs::write(target.path().join("theirs"), "theirs").unwrap();
    for archive in [ended(&[hard_link("link", "theirs")]), ended(&[file("theirs", b"x"), hard_link("link", "theirs")])]
    {
        let outcome = into(target.path(), &archive, going()).unwrap();
        assert!(outcome.failed > 0);
        assert_eq!(names(target.path()), ["theirs"]);
    }
    // An archive with two entries of the same path must not replace a file that existed before.
    let archive = ended(&[file("theirs", b"x"), file("theirs", b"y")]);
    assert_eq!(into(target.path(), &archive, going()).unwrap().failed, 2);
    assert_eq!(fs::read(target.path().join("theirs")).unwrap(), b"theirs");
}

#[test]
fn folders_may_come_in_any_order() {
    let target = tempdir().unwrap();
    let mut closed = header(b"b/", b'5', 0, b"");
    closed[100..108].copy_from_slice(b"0000555\0");
    let mut shut = header(b"c/", b'5', 0, b"");
    shut[100..108].copy_from_slice(b"0000000\0");
    let archive = ended(&[
        folder("a/"),
        sum(closed).to_vec(),
        sum(shut).to_vec(),
        file("a/1", b"1"),
        file("b/1", b"1"),
        file("c/1", b"1"),
        file("a/2", &[2; 3000]),
        file("b/2", b"2"),
        file("late/x/y", b""),
        hard_link("b/3", "c/1"),
        folder("late/x/"),
        folder("late/"),
    ]);
    for (name, options) in [("fresh", fresh()), ("merged", Unpacking::default())] {
        for step in [512, 1536, archive.len()] {
            let target = target.path().join(format!("{name}{step}"));
            fs::create_dir(&target).unwrap();
            in_steps(&target, &archive, step, options).unwrap();
            for (folder, mode) in [("a", 0o755), ("b", 0o555), ("c", 0), ("late", 0o755), ("late/x", 0o755)] {
                let metadata = target.join(folder).metadata().unwrap();
                assert_eq!(
                    (metadata.mtime(), metadata.mode() & 0o777),
                    (1_000_000_000, mode),
                    "{folder} {name} {step}"
                );
            }
            fs::set_permissions(target.join("c"), Permissions::from_mode(0o755)).unwrap();
            fs::set_permissions(target.join("b"), Permissions::from_mode(0o755)).unwrap();
            assert_eq!(names(&target).len(), 12);
        }
    }
}

#[test]
fn an_implied_folder_keeps_its_time() {
    let target = tempdir().unwrap();
    fs::create_dir(target.path().join("theirs")).unwrap();
    fs::set_permissions(target.path().join("theirs"), Permissions::from_mode(0o750)).unwrap();
    into(target.path(), &ended(&[file("theirs/x", b"x")]), Unpacking::default()).unwrap();
    assert_eq!(target.path().join("theirs").metadata().unwrap().mode() & 0o777, 0o750);
}

#[test]
fn pieces_may_be_completed_in_any_order() {
    let content: Vec<u8> = (0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let archive = ended(&[folder("f/"), file("f/a", &content), file("f/b", b"b"), file("f/c", &content[..70_000])]);
    for options in [fresh(), Unpacking::default()] {
        let target = tempdir().unwrap();
        let mut unpacker = unpacker(target.path(), options);
        let rests: Vec<_> = archive.chunks(10_000).map(|piece| (unpacker.put(piece).unwrap(), piece)).collect();
        for (rest, piece) in rests.into_iter().rev() {
            rest.complete(piece);
        }
        unpacker.finish().unwrap();
        assert_eq!(fs::read(target.path().join("f/a")).unwrap(), content);
        assert_eq!(fs::read(target.path().join("f/c")).unwrap(), content[..70_000]);
        assert_eq!(target.path().join("f").metadata().unwrap().mtime(), 1_000_000_000);
        assert_eq!(names(target.path()), ["f", "f/a", "f/b", "f/c"]);
    }
}

#[test]
fn incomplete_pieces_leave_no_files() {
    let archive = ended(&[file("a", &[1; 20_000]), file("b", b"b")]);
    let target = tempdir().unwrap();
    let mut unpacker = unpacker(target.path(), Unpacking::default());
    for (number, piece) in archive.chunks(5000).enumerate() {
        let rest = unpacker.put(piece).unwrap();
        if number != 2 {
            rest.complete(piece);
        }
    }
    assert!(unpacker.finish().is_err());
    assert_eq!(names(target.path()), ["b"]);
}

/// An entry contradicts the index, and in addition its path already exists, which is a second failure.
#[test]
fn existing_files_are_kept_when_the_index_is_wrong() {
    let (other, mine) = (a_file("a", b"what the index says"), a_file("a", b"what is there"));
    let mut pack = Pack::new().add(&root());
    pack.add_as(&mine, &other);
    let archive = pack.end();
    for options in [Unpacking::default(), going()] {
        let target = tempdir().unwrap();
        fs::write(target.path().join("a"), "precious").unwrap();
        match into(target.path(), &archive, options) {
            Ok(outcome) => assert!(outcome.failed > 0, "{outcome:?}"),
            Err(error) => assert!(error.to_string().contains('a'), "{error}"),
        }
        assert_eq!(fs::read(target.path().join("a")).unwrap(), b"precious");
        let empty = tempdir().unwrap();
        let _ = into(empty.path(), &archive, options);
        assert_eq!(names(empty.path()), <[&str; 0]>::default(), "the file that was unpacked is removed");
    }
}

/// The index has the path of one file, but the headers at that offset have the path of another file, which the user did
/// not select.
#[test]
fn only_selected_entries_are_unpacked() {
    let (wanted, other) = (a_file("picture", b"content"), a_file(".bashrc", b"content"));
    let mut pack = Pack::new().add(&root());
    pack.add_as(&other, &wanted);
    let archive = pack.end();
    let open = || Contents::read(Cursor::new(&archive)).unwrap().unwrap();
    let target = tempdir().unwrap();
    fs::write(target.path().join(".bashrc"), "precious").unwrap();
    let mut contents = open();
    let chosen = Selection::new([b"picture".to_vec()]).within(&mut contents).unwrap();
    let mut unpacker = unpacker(target.path(), Unpacking { replace: true, ..going() });
    let error =
        unpack(Excerpt::new(chosen.entries(&mut contents), open()), &mut unpacker, &Work::default()).unwrap_err();
    assert!(matches!(&error, Error::Archive(Flaw::Changed { path, .. }) if path == "picture"), "{error}");
    assert_eq!(fs::read(target.path().join(".bashrc")).unwrap(), b"precious");
    assert_eq!(names(target.path()), [".bashrc"]);
}

/// In an earlier version, unpacking a part of a folder gave everybody access to an existing private folder of the same
/// name.
#[test]
fn existing_folders_keep_mode_and_time_unless_forced() {
    let private = |path: &std::path::Path| {
        fs::create_dir_all(path.join("sub")).unwrap();
        fs::set_permissions(path.join("sub"), Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o2700)).unwrap();
    };
    let mode = |path: &std::path::Path| path.metadata().unwrap().mode() & 0o7777;
    let mut open = header(b"./", b'5', 0, b"");
    open[100..108].copy_from_slice(b"0000777\0");
    let mut sub = header(b"sub/", b'5', 0, b"");
    sub[100..108].copy_from_slice(b"0000777\0");
    let entries =
        [sum(open).to_vec(), sum(sub).to_vec(), folder("sub/new/"), file("sub/a", b"new"), folder("sub/new/")];
    let good = ended(&entries);
    let bad = [entries.concat(), file("../b", b"x"), vec![0; 1024]].concat();
    for (archive, fails) in [(good, false), (bad, true)] {
        for (options, forced) in [(Unpacking::default(), false), (forced(), true)] {
            let around = tempdir().unwrap();
            let target = around.path().join("target");
            private(&target);
            assert_eq!(into(&target, &archive, options).is_err(), fails);
            let dressed = forced && !fails;
            assert_eq!(mode(&target), if dressed { 0o2777 } else { 0o2700 }, "forced {forced}, fails {fails}");
            assert_eq!(
                mode(&target.join("sub")),
                if dressed { 0o777 } else { 0o700 },
                "forced {forced}, fails {fails}"
            );
            assert_eq!(target.metadata().unwrap().mtime() == 1_000_000_000, dressed);
            // The archive contains the folder `new` twice, but this run made the folder, so the folder gets its mode in
            // each case.
            assert_eq!(mode(&target.join("sub/new")), 0o755);
            assert_eq!(target.join("sub/new").metadata().unwrap().mtime(), 1_000_000_000);
        }
    }
}

#[test]
fn a_new_folder_keeps_the_setgid_bit_of_the_folder_above() {
    let target = tempdir().unwrap();
    fs::set_permissions(target.path(), Permissions::from_mode(0o2755)).unwrap();
    into(target.path(), &ended(&[folder("new/"), folder("new/deep/")]), Unpacking::default()).unwrap();
    for path in ["new", "new/deep"] {
        assert_eq!(target.path().join(path).metadata().unwrap().mode() & 0o7777, 0o2755, "{path}");
    }
}

#[test]
fn the_umask_applies_to_files_and_folders() {
    let mut wide = header(b"f/", b'5', 0, b"");
    wide[100..108].copy_from_slice(b"0007777\0");
    let mut open = header(b"f/a", b'0', 0, b"");
    open[100..108].copy_from_slice(b"0006777\0");
    let archive = ended(&[sum(wide).to_vec(), sum(open).to_vec()]);
    for (mask, expected) in [(0o022, 0o755), (0o077, 0o700), (0, 0o777)] {
        let target = tempdir().unwrap();
        into(target.path(), &archive, Unpacking { mask, ..fresh() }).unwrap();
        for path in ["f", "f/a"] {
            assert_eq!(target.path().join(path).metadata().unwrap().mode() & 0o7777, expected, "{path} {mask:o}");
        }
    }
}
