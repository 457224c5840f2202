//! Tests of output files, with temporary names and without.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::*;
use crate::set::land_with;

/// Makes an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("deadpan-disk-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn create(target: &Path, nameless: bool) -> Draft {
    let (folder, name) = Folder::holding(target).unwrap();
    Draft::create_as(&folder, &name, nameless, true).unwrap()
}

fn names(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn lands_with_and_without_a_name_and_replaces_only_when_told() {
    for nameless in [false, true] {
        let folder = folder(&format!("lands-{nameless}"));
        let target = folder.join("out");
        let write = |contents: &[u8], replace| {
            let partial = create(&target, nameless);
            partial.file().write_all(contents).unwrap();
            assert!(names(&folder).iter().all(|name| name == "out" || !nameless));
            partial.land(Attributes::usual(), Landing { replace: Replace::any_if(replace), sync: false })
        };
        write(b"one", false).unwrap();
        assert!(write(b"two", false).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"one");
        write(b"three", true).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"three");
        assert_eq!(names(&folder), ["out"]);
        drop(create(&target, nameless));
        assert_eq!(names(&folder), ["out"]);
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn what_dead_runs_left_is_swept_and_what_lives_is_not() {
    let folder = folder("sweep");
    let target = folder.join("out");
    fs::write(folder.join(".out.0123456789abcdef.deadpan-part"), "dead").unwrap();
    fs::write(folder.join(".other.0123456789abcdef.deadpan-part"), "not of this output").unwrap();
    let first = create(&target, false);
    assert_eq!(names(&folder).len(), 2);
    let second = create(&target, false);
    assert_eq!(names(&folder).len(), 3);
    drop((first, second));
    assert_eq!(names(&folder).len(), 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn long_names_have_room() {
    let folder = folder("long");
    let target = folder.join("x".repeat(255));
    create(&target, false).land(Attributes::private(), Landing::default()).unwrap();
    assert!(target.exists());
    fs::remove_dir_all(folder).unwrap();
}

/// Gives three files the names `1`, `2` and `third` as one set. Returns whether that succeeded.
fn land_three(folder: &Path, nameless: bool, swaps: bool, third: &str, replace: bool) -> bool {
    let first = create(&folder.join("set"), nameless);
    let second = first.another().unwrap();
    let third_file = second.another().unwrap();
    let files = [(first, "1"), (second, "2"), (third_file, third)].map(|(partial, name)| {
        partial.file().write_all(format!("new {name}").as_bytes()).unwrap();
        (partial, name.into())
    });
    let landing = Landing { replace: Replace::any_if(replace), sync: false };
    let none = |_: &Folder, _: &OsStr, _: &OsStr| Err(Errno::INVAL);
    if swaps {
        land_set(files.into(), Attributes::usual(), landing).is_ok()
    } else {
        land_with(files.into(), Attributes::usual(), landing, none).is_ok()
    }
}

fn contents(folder: &Path) -> Vec<(OsString, String)> {
    let mut names = names(folder);
    names.sort();
    names.into_iter().map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap())).collect()
}

/// The third file cannot get its name, because the first file already has this name.
#[test]
fn a_set_gets_all_names_or_none() {
    for (number, (nameless, swaps)) in
        [(false, false), (false, true), (true, false), (true, true)].into_iter().enumerate()
    {
        let folder = folder(&format!("set-{number}"));
        assert!(!land_three(&folder, nameless, swaps, "1", false));
        assert_eq!(names(&folder), [""; 0], "{nameless} {swaps}");
        fs::write(folder.join("1"), "old 1").unwrap();
        std::os::unix::fs::symlink("1", folder.join("2")).unwrap();
        let before = contents(&folder);
        for (third, replace) in [("3", false), ("1", true)] {
            assert!(!land_three(&folder, nameless, swaps, third, replace));
            assert_eq!(contents(&folder), before, "{nameless} {swaps}");
            assert!(fs::symlink_metadata(folder.join("2")).unwrap().is_symlink());
        }
        assert!(land_three(&folder, nameless, swaps, "3", true));
        assert!(!fs::symlink_metadata(folder.join("2")).unwrap().is_symlink());
        let after = ["1", "2", "3"].map(|name| (name.into(), format!("new {name}")));
        assert_eq!(contents(&folder), after, "{nameless} {swaps}");
        fs::remove_dir_all(folder).unwrap();
    }
}

/// If another program replaces the second file while the names are given, that program's file stays, and no file of the
/// set gets its name.
#[test]
fn a_set_does_not_replace_what_another_program_made_meanwhile() {
    let folder = folder("meanwhile");
    fs::write(folder.join("1"), "old 1").unwrap();
    fs::write(folder.join("2"), "old 2").unwrap();
    let first = create(&folder.join("set"), true);
    let second = first.another().unwrap();
    let files = vec![(first, "1".into()), (second, "2".into())];
    let landing = Landing { replace: Replace::Any, sync: false };
    let meddle = |at: &Folder, one: &OsStr, other: &OsStr| {
        if other == "1" {
            at.create(OsStr::new("theirs")).unwrap().write_all(b"theirs").unwrap();
            at.rename(OsStr::new("theirs"), OsStr::new("2")).unwrap();
        }
        at.exchange(one, other)
    };
    let failed = land_with(files, Attributes::usual(), landing, meddle).unwrap_err();
    assert!(matches!(failed, SetError { error: Error::Changed, ref name, .. } if name == "2"), "{failed:?}");
    assert_eq!(contents(&folder), [("1".into(), "old 1".to_owned()), ("2".into(), "theirs".to_owned())]);
    fs::remove_dir_all(folder).unwrap();
}

/// An access control list in the form that the system stores: the owner and the user 12345 may read and write, the
/// group and all others have no rights, and the mask allows `mask`.
fn access_list(mask: u16) -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, NOBODY), (0x02, 6, 12345), (0x04, 0, NOBODY), (0x10, mask, NOBODY), (0x20, 0, NOBODY)];
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

/// In an earlier version, the new file inherited an access control list from its folder: other users thus got rights
/// that they did not have for the old file.
#[test]
fn a_new_file_keeps_the_access_control_list_of_the_old_one() {
    let place = folder("list");
    let at = Folder::open(&place).unwrap();
    let old = at.create(OsStr::new("old")).unwrap();
    if at.set_attribute(b"system.posix_acl_default", &access_list(6)).is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: the file system has no access control lists");
        return;
    }
    // The old file was made before the folder had a list.
    old.set_mode(0o660).unwrap();
    let new = at.create(OsStr::new("new")).unwrap();
    assert!(new.has_access_list() && !old.has_access_list());
    assert_eq!(keep(&new, &old, false).unwrap(), []);
    assert!(!new.has_access_list());
    assert_eq!(About::of_file(&new).unwrap().mode, 0o660);
    // If the old file itself has a list, the new file gets this list with the same mask.
    old.set_attribute(ACCESS_LIST.as_bytes(), &access_list(4)).unwrap();
    old.set_attribute(b"user.note", b"kept").unwrap();
    assert_eq!(keep(&new, &old, false).unwrap(), []);
    assert_eq!(new.attributes().unwrap(), old.attributes().unwrap());
    assert_eq!(About::of_file(&new).unwrap().mode, About::of_file(&old).unwrap().mode);
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn only_the_file_that_was_read_is_replaced() {
    for nameless in [false, true] {
        let place = folder(&format!("only-{nameless}"));
        let at = Folder::open(&place).unwrap();
        let write = |name: &str, text: &str| {
            at.create(OsStr::new(name)).unwrap().write_all(text.as_bytes()).unwrap();
            at.look(OsStr::new(name)).unwrap().unwrap().id
        };
        let read = write("a", "old");
        let replace = |id| {
            let draft = create(&place.join("a"), nameless);
            draft.file().write_all(b"new").unwrap();
            draft.land(Attributes::private(), Landing { replace: Replace::Only(id), sync: false })
        };
        let other = write("b", "theirs");
        assert!(matches!(replace(other), Err(Error::Changed)));
        assert_eq!(contents(&place), [("a".into(), "old".to_owned()), ("b".into(), "theirs".to_owned())]);
        replace(read).unwrap();
        assert_eq!(contents(&place), [("a".into(), "new".to_owned()), ("b".into(), "theirs".to_owned())]);
        at.remove(OsStr::new("a")).unwrap();
        assert!(matches!(replace(read), Err(Error::Changed)), "it is gone");
        assert_eq!(names(&place), ["b"]);
        fs::remove_dir_all(place).unwrap();
    }
}

/// The input's path is a link into another folder. After this folder is renamed, the input still finds the file there.
#[test]
fn an_input_knows_where_it_was_named_and_where_it_lies() {
    let place = folder("input");
    fs::create_dir_all(place.join("far/inner")).unwrap();
    fs::write(place.join("far/inner/file"), "text").unwrap();
    std::os::unix::fs::symlink("far/inner/second", place.join("first")).unwrap();
    std::os::unix::fs::symlink("file", place.join("far/inner/second")).unwrap();
    let input = Input::open(&place.join("first"), OpenMode::default()).unwrap();
    let (named, real) = (input.found.named.unwrap(), input.found.real.unwrap());
    assert_eq!((named.path(), real.name.to_str()), (place.join("first"), Some("file")));
    fs::rename(place.join("far"), place.join("moved")).unwrap();
    assert!(real.folder.has(&real.name, &input.file));
    // A path in /dev/fd leads to an open file, which may have no path of its own. The path of a folder may end with
    // `..`.
    let descriptor = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&input.file));
    assert!(Input::open(Path::new(&descriptor), OpenMode::default()).unwrap().about.is_file());
    let dots = Input::open(&place.join("moved/.."), OpenMode::default()).unwrap();
    assert!(dots.about.is_folder() && dots.found.named.is_none());
    std::os::unix::fs::symlink("loop", place.join("loop")).unwrap();
    assert!(Input::open(&place.join("loop"), OpenMode::default()).is_err());
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn names_are_single_and_links_are_not_followed() {
    let place = folder("names");
    fs::create_dir_all(place.join("real/inner")).unwrap();
    std::os::unix::fs::symlink("real", place.join("link")).unwrap();
    let at = Folder::open(&place).unwrap();
    for name in ["", ".", "..", "a/b", "/etc/passwd", "real/"] {
        let name = OsStr::new(name);
        assert!(at.look(name).is_err() && at.enter(name).is_err() && at.file(name).is_err(), "{name:?}");
        assert!(at.create(name).is_err() && at.make(name, 0o700).is_err() && at.remove(name).is_err(), "{name:?}");
    }
    let kind = |result: std::io::Result<Folder>| result.unwrap_err().kind();
    assert_eq!(kind(at.enter(OsStr::new("link"))), std::io::ErrorKind::NotADirectory);
    assert_eq!(kind(at.descend(Path::new("link/inner"))), std::io::ErrorKind::NotADirectory);
    let made = Way::from(at.clone()).descend_or_make(Path::new("link/new"), 0o777, None);
    assert_eq!(made.unwrap_err().kind(), std::io::ErrorKind::NotADirectory);
    assert_eq!(kind(at.descend(Path::new("real/../.."))), std::io::ErrorKind::InvalidInput);
    assert_eq!(at.descend(Path::new("./real/inner")).unwrap().path(), place.join("real/inner"));
    assert_eq!(names(&place.join("real")), ["inner"]);
    fs::remove_dir_all(place).unwrap();
}

/// A path that `Way` resolves leads to the same file as a lookup by the system, or both fail with the same error.
#[test]
fn a_way_leads_where_the_system_goes() {
    let place = folder("way");
    fs::create_dir_all(place.join("a/b/c")).unwrap();
    fs::write(place.join("a/file"), "").unwrap();
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, place.join(name)).unwrap();
    link("a/b", "b");
    link("../b/../b/./c", "a/c");
    link(place.join("a").to_str().unwrap(), "all");
    link("loop", "loop");
    link("missing", "dangling");
    link("a/file", "text");
    link("a", "chain0");
    for number in 1..=41 {
        link(&format!("chain{}", number - 1), &format!("chain{number}"));
    }
    let opened = fs::File::open(&place).unwrap();
    let here = format!("/proc/self/fd/{}/a", std::os::fd::AsRawFd::as_raw_fd(&opened));
    let names =
        ["a", "b", "c", "all", "loop", "dangling", "text", "file", "none", "..", ".", "chain38", "chain39", "chain40"];
    let mut paths =
        vec![String::new(), "/".into(), "//".into(), ".".into(), "..".into(), here, "/proc/self/cwd".into()];
    paths.push("/proc/self/root/tmp".into());
    paths.push(format!("{}/{}", place.display(), "x".repeat(300)));
    let top = place.to_str().unwrap();
    for one in names {
        for two in names {
            paths.extend([format!("{top}/{one}"), format!("{top}//{one}/{two}"), format!("{top}/{one}/{two}/.././a/")]);
        }
    }
    for path in paths {
        let path = Path::new(&path);
        let id = |about: std::io::Result<About>| about.map(|about| about.id).map_err(|error| error.raw_os_error());
        let there = id(fs::File::open(path)
            .and_then(|file| About::of_file(&file))
            .and_then(|about| if about.is_folder() { Ok(about) } else { Err(Errno::NOTDIR.into()) }));
        let way = id(Way::to(path).and_then(|way| way.folder().about()));
        assert_eq!(way.is_ok(), there.is_ok(), "{path:?}: {way:?}, {there:?}");
        assert_eq!(way.ok(), there.ok(), "{path:?}");
    }
    fs::remove_dir_all(place).unwrap();
}

/// A user who may change names in the same folder can give any folder there the name of a draft.
#[test]
fn a_folder_that_only_looks_like_a_draft_stays() {
    let place = folder("likeness");
    let name = ".out.0123456789abcdef.deadpan-part";
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let age = |path: &Path| fs::File::open(path).unwrap().set_modified(old).unwrap();
    for inner in ["thesis", "out", "0123456789abcdef"] {
        fs::create_dir_all(place.join(name).join(inner)).unwrap();
        age(&place.join(name));
        drop(DraftFolder::create(&place.join("out")).unwrap());
        drop(create(&place.join("out"), false));
        assert!(place.join(name).join(inner).exists(), "{inner}");
        fs::remove_dir_all(place.join(name)).unwrap();
    }
    // Other users of a shared project folder can change names in it, so it is not a draft, even if its name has the
    // form of a draft's name. A real draft is removed.
    for (mode, left) in [(0o770, 1), (0o755, 1), (0o700, 0)] {
        fs::create_dir_all(place.join(name).join(name).join("a/b")).unwrap();
        fs::set_permissions(place.join(name), fs::Permissions::from_mode(mode)).unwrap();
        age(&place.join(name));
        drop(DraftFolder::create(&place.join("out")).unwrap());
        assert_eq!(names(&place).len(), left, "{mode:o}");
    }
    // A draft folder gets its final name even if its owner may not write to it.
    let draft = DraftFolder::create(&place.join("out")).unwrap();
    draft.folder().set_mode(0o555).unwrap();
    draft.land(false).unwrap();
    assert_eq!(
        (names(&place), Folder::open(&place.join("out")).unwrap().about().unwrap().mode),
        (vec!["out".into()], 0o555)
    );
    fs::remove_dir_all(place).unwrap();
}

/// Another user who may change names can replace a draft that is in use.
#[test]
fn what_has_the_name_of_a_living_draft_stays() {
    let place = folder("exchanged-draft");
    fs::create_dir_all(place.join("mine/sub")).unwrap();
    fs::write(place.join("mine/sub/thesis"), "years").unwrap();
    let draft = DraftFolder::create(&place.join("out")).unwrap();
    draft.folder().create(OsStr::new("half")).unwrap();
    let name = names(&place).into_iter().find(|name| name != "mine").unwrap();
    fs::rename(place.join(&name), place.join("moved")).unwrap();
    fs::rename(place.join("mine"), place.join(&name)).unwrap();
    drop(draft);
    assert_eq!(fs::read(place.join(&name).join("sub/thesis")).unwrap(), b"years");
    // The contents of the draft are gone.
    assert_eq!(names(&place.join("moved")), [""; 0]);
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_folder_in_the_place_of_a_new_one_is_refused() {
    let place = folder("exchanged-folder");
    fs::create_dir(place.join("old")).unwrap();
    fs::write(place.join("old/secret"), "s").unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let age = |path: &Path| fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
    age(&place.join("old"));
    let (at, stop) = (Folder::open(&place).unwrap(), AtomicBool::new(false));
    let exchange = || {
        let at = fs::File::open(&place).unwrap();
        while !stop.load(Ordering::Relaxed) {
            let _ = rustix::fs::renameat_with(&at, "new", &at, "old", rustix::fs::RenameFlags::EXCHANGE);
        }
    };
    let (mut refused, mut taken, begin) = (0, false, std::time::Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(exchange);
        // On a busy machine, the other thread may replace the folder in time only after many attempts.
        while refused < 5 && !taken && begin.elapsed().as_secs() < 20 {
            match at.make_and_enter(OsStr::new("new"), 0o700) {
                Ok(made) => taken = made.look(OsStr::new("secret")).unwrap().is_some(),
                Err(error) => refused += u32::from(error.get_ref().is_some_and(|inner| inner.is::<Exchanged>())),
            }
            // Of the folders `new` and `old`, the empty one is removed. Errors are ignored here, because after a panic
            // the test would wait forever for the other thread.
            let _ = (fs::remove_dir(place.join("new")), fs::remove_dir(place.join("old")));
            let _ = fs::rename(place.join("new"), place.join("old"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!taken, "another folder was taken for a new one");
    assert_eq!(fs::read(place.join("old/secret")).unwrap(), b"s");
    fs::remove_dir_all(place).unwrap();
}

/// The steps of a walk: the paths, with a letter for the kind.
fn steps(mut walk: Walk) -> Vec<String> {
    let mut steps = Vec::new();
    while walk.advance() {
        let path = walk.path().to_string_lossy().into_owned();
        let kind = match walk.open().unwrap() {
            WalkStep::Node(Node::Folder(Ok(())), _) => "d",
            WalkStep::Node(Node::File(_), _) => "f",
            WalkStep::Node(Node::Link(_), _) => "l",
            WalkStep::Gone => "gone",
            _ => "?",
        };
        steps.push(format!("{kind} {path}"));
    }
    steps
}

#[test]
fn a_walk_goes_through_several_places() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    for name in ["one/a/x", "two/b/y", "two/b/z", "two/c"] {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), name).unwrap();
    }
    std::os::unix::fs::symlink("two", path("link")).unwrap();
    let base = Folder::open(place.path()).unwrap();
    let listed = |name: &str, paths: &[&[&str]]| {
        let mut listing = Listing::Parts(std::collections::BTreeMap::new());
        paths.iter().for_each(|path| listing.add(path.iter().map(AsRef::as_ref)));
        Start::Listed(base.clone(), name.into(), listing)
    };
    let open = |name: &str| {
        let file = File::open(path(name)).unwrap();
        let about = About::of_file(&file).unwrap();
        Start::Open(file, about, path(name))
    };
    let walk = |starts: Vec<(&str, Start)>| {
        let starts = starts.into_iter().map(|(name, start)| (name.into(), start)).collect();
        steps(Walk::gather(starts).unwrap())
    };
    assert_eq!(
        walk(vec![("z", open("one")), ("a", open("two/c")), ("m", listed("two", &[&["b", "y"], &["gone"]]))]),
        ["f a", "d m", "d m/b", "f m/b/y", "? m/gone", "d z", "d z/a", "f z/a/x"]
    );
    // A part of what is listed as a whole adds nothing, in any order.
    for paths in [&[&["b"][..], &["b", "y"]][..], &[&["b", "y"], &["b"]]] {
        assert_eq!(walk(vec![("two", listed("two", paths))]), ["d two", "d two/b", "f two/b/y", "f two/b/z"]);
    }
    // No link is followed, and the folder of a start can be gone.
    assert_eq!(walk(vec![("link", listed("link", &[&[]]))]), ["l link"]);
    assert_eq!(walk(vec![("link", listed("link", &[&["c"]]))]), ["? link"]);
    assert_eq!(walk(vec![("gone", listed("gone", &[&[]]))]), ["? gone"]);
}
