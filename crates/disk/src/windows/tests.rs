//! Tests on Windows, through the public interface. `src/tests.rs` has those of Unix.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::process::Command;

use super::imp::security;
use crate::handle::Locked;
use crate::{
    Attributes, Draft, DraftFolder, Error, FileKind, Folder, Handle, Input, Landing, Node, OpenMode, Replace, Walk,
    WalkStep, Way, clear, is_open_to_others, land_set, sweep,
};

/// A temporary folder, and the same folder opened.
fn place() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().expect("a folder");
    let folder = Folder::open(place.path()).expect("opened");
    (place, folder)
}

fn names(place: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("read").file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = fs::read_dir(place).expect("read").map(name).collect();
    names.sort();
    names
}

fn os(name: &str) -> &OsStr {
    OsStr::new(name)
}

#[test]
fn drafts_get_their_names_when_they_are_complete() {
    let (place, folder) = place();
    let draft = Draft::create_in(&folder, os("a.txt")).expect("made");
    draft.file().write_all(b"one").expect("written");
    assert_eq!(names(place.path()).len(), 1);
    assert!(!place.path().join("a.txt").exists());
    draft.land(Attributes::usual(), Landing { replace: Replace::Nothing, sync: true }).expect("landed");
    assert_eq!(
        (names(place.path()), fs::read(place.path().join("a.txt")).expect("read")),
        (vec!["a.txt".into()], b"one".to_vec())
    );

    let write = |text: &[u8], replace| {
        let draft = Draft::create_in(&folder, os("a.txt")).expect("made");
        draft.file().write_all(text).expect("written");
        draft.land(Attributes::usual(), Landing { replace, sync: false })
    };
    assert!(matches!(write(b"two", Replace::Nothing), Err(Error::Exists)));
    write(b"three", Replace::Any).expect("replaced");
    let id = folder.look(os("a.txt")).expect("looked").expect("there").id;
    write(b"four", Replace::Only(id)).expect("replaced");
    assert!(matches!(write(b"five", Replace::Only(id)), Err(Error::Changed)));
    assert_eq!(
        (names(place.path()), fs::read(place.path().join("a.txt")).expect("read")),
        (vec!["a.txt".into()], b"four".to_vec())
    );
    drop(Draft::create_in(&folder, os("b.txt")).expect("made"));
    assert_eq!(names(place.path()), ["a.txt"]);
}

#[test]
fn drafts_of_long_names() {
    let (place, folder) = place();
    for name in ["x".repeat(255), format!("a{}", "\u{e4}".repeat(127)), "\u{1f600}".repeat(63)] {
        let draft = Draft::create_in(&folder, os(&name)).expect("made");
        assert!(names(place.path()).iter().all(|draft| crate::names::is_of(os(draft), os(&name))));
        draft.land(Attributes::usual(), Landing { replace: Replace::Nothing, sync: false }).expect("landed");
        assert_eq!(names(place.path()), std::slice::from_ref(&name));
        folder.remove(os(&name)).expect("removed");
    }
}

#[test]
fn a_file_that_another_program_reads_is_replaced() {
    let (place, folder) = place();
    fs::write(place.path().join("a"), "old").expect("written");
    let mut reader = fs::File::open(place.path().join("a")).expect("opened");
    let draft = Draft::create_in(&folder, os("a")).expect("made");
    draft.file().write_all(b"new").expect("written");
    draft.land(Attributes::usual(), Landing { replace: Replace::Any, sync: false }).expect("replaced");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("read");
    assert_eq!((&*text, fs::read(place.path().join("a")).expect("read")), ("old", b"new".to_vec()));
}

#[test]
fn sets_of_files_replace_others_together() {
    let (place, folder) = place();
    fs::write(place.path().join("one"), "old").expect("written");
    let draft = |name: &str| {
        let draft = Draft::create_in(&folder, os(name)).expect("made");
        draft.file().write_all(name.as_bytes()).expect("written");
        (draft, OsString::from(name))
    };
    let landing = |replace| Landing { replace, sync: true };
    let error =
        land_set(vec![draft("two"), draft("one")], Attributes::usual(), landing(Replace::Nothing)).expect_err("taken");
    assert!(matches!(error.error, Error::Exists));
    assert_eq!(names(place.path()), ["one"]);
    land_set(vec![draft("two"), draft("one")], Attributes::usual(), landing(Replace::Any)).expect("landed");
    assert_eq!(
        (names(place.path()), fs::read(place.path().join("one")).expect("read")),
        (vec!["one".into(), "two".into()], b"one".to_vec())
    );
}

#[test]
fn draft_folders_get_their_names_when_they_are_complete() {
    let (place, folder) = place();
    let draft = DraftFolder::create_in(&folder, os("out")).expect("made");
    draft.folder().make(os("inner"), 0o700).expect("made");
    draft
        .folder()
        .enter(os("inner"))
        .expect("entered")
        .create(os("file"))
        .expect("made")
        .write_all(b"x")
        .expect("written");
    // A run with the same output keeps the folder of the living run.
    sweep(&folder, os("out"));
    let other = DraftFolder::create_in(&folder, os("out")).expect("made");
    assert_eq!(names(place.path()).len(), 2);
    drop(other);
    draft.land(true).expect("landed");
    assert_eq!(
        (names(place.path()), fs::read(place.path().join("out/inner/file")).expect("read")),
        (vec!["out".into()], b"x".to_vec())
    );
    let draft = DraftFolder::create_in(&folder, os("out")).expect("made");
    assert!(matches!(draft.land(false), Err(Error::Exists)));
    assert_eq!(names(place.path()), ["out"]);
}

#[test]
fn what_killed_runs_left_is_removed() {
    let (place, folder) = place();
    fs::write(place.path().join(".out.0123456789abcdef.deadpan-part"), "left").expect("written");
    let left = ".out.1123456789abcdef.deadpan-part";
    folder.make_private(os(left)).expect("made");
    fs::create_dir_all(place.path().join(left).join(left).join("a")).expect("made");
    let living = Draft::create_in(&folder, os("out")).expect("made");
    assert_eq!(names(place.path()).len(), 1, "{:?}", names(place.path()));
    sweep(&folder, os("out"));
    assert_eq!(names(place.path()).len(), 1);
    drop(living);
    assert_eq!(names(place.path()), [""; 0]);
}

#[test]
fn what_may_belong_to_others_is_not_removed() {
    let (place, folder) = place();
    // Others have access to this folder, so it is no draft of this user.
    let open = ".out.1123456789abcdef.deadpan-part";
    fs::create_dir_all(place.path().join(open).join(open)).expect("made");
    // The earlier file, while it is being replaced.
    let aside = crate::names::aside(os("out"));
    assert!(!crate::names::is_of_any(&aside));
    fs::write(place.path().join(&aside), "earlier").expect("written");
    sweep(&folder, os("out"));
    let mut kept = vec![open.to_owned(), aside.to_string_lossy().into_owned()];
    kept.sort();
    assert_eq!(names(place.path()), kept);

    let foreign = place.path().join(".other.0123456789abcdef.deadpan-part");
    fs::write(&foreign, "x").expect("written");
    if !given_away(&foreign) {
        let _ = writeln!(std::io::stderr(), "skipped: no file of another user here");
        return;
    }
    sweep(&folder, os("other"));
    assert!(foreign.exists());
}

/// Gives a file to another user. Under Wine, a program of Unix can do that.
fn given_away(path: &Path) -> bool {
    let Some(prefix) = std::env::var_os("WINEPREFIX") else { return false };
    let text = path.to_string_lossy().replace('\\', "/");
    let unix = format!("{}/dosdevices/{}{}", prefix.display(), text[..1].to_lowercase(), &text[1..]);
    let _ = Command::new("start.exe").args(["/wait", "/unix", "/bin/chown", "12345", &*unix]).status();
    for _ in 0..100 {
        let file = fs::File::open(path).expect("opened");
        if security::owner(file.as_handle()).expect("known") == security::Owner::Other {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}

#[test]
fn nobody_else_has_access_to_what_is_not_complete() {
    let (place, folder) = place();
    let path = |name: &str| place.path().join(name);
    let is_open = |path: &Path| is_open_to_others(path).expect("asked");
    fs::write(path("usual"), "x").expect("written");
    fs::create_dir(path("usual folder")).expect("made");
    let draft = Draft::create_in(&folder, os("a")).expect("made");
    assert!(!is_open(&folder.path_of(&draft.named.as_ref().expect("named").name)));
    draft.land(Attributes::usual(), Landing::default()).expect("landed");
    assert_eq!(is_open(&path("a")), is_open(&path("usual")));

    let draft = DraftFolder::create_in(&folder, os("b")).expect("made");
    let around = names(place.path()).into_iter().find(|name| name.starts_with(".b.")).expect("a draft");
    assert!(!is_open(&path(&around)));
    draft.folder().create(os("file")).expect("made");
    draft.land(false).expect("landed");
    assert_eq!(is_open(&path("b")), is_open(&path("usual folder")));
    assert_eq!(is_open(&path("b/file")), is_open(&path("usual")));
    if !is_open(&path("usual")) {
        let _ = writeln!(std::io::stderr(), "skipped: others have no access to the usual files here");
    }

    let (private, _) = folder.file(os("a")).expect("opened");
    private.set_private().expect("set");
    folder.file(os("usual")).expect("opened").0.take_access_list(&private).expect("taken");
    assert!(!is_open(&path("usual")));
    assert_eq!(names(place.path()), ["a", "b", "usual", "usual folder"]);
}

#[test]
fn a_file_that_cannot_be_replaced_keeps_its_name() {
    let (place, folder) = place();
    fs::write(place.path().join("a"), "earlier").expect("written");
    assert!(folder.replaced(os("missing"), os("a")).is_err());
    assert_eq!(names(place.path()), ["a"]);
    fs::write(place.path().join("b"), "new").expect("written");
    folder.replaced(os("b"), os("a")).expect("replaced");
    assert_eq!(
        (names(place.path()), fs::read(place.path().join("a")).expect("read")),
        (vec!["a".into()], b"new".to_vec())
    );
}

#[test]
fn targets_of_links_are_searched_for_without_following_links() {
    let (place, folder) = place();
    fs::create_dir_all(place.path().join("a/b")).expect("made");
    fs::write(place.path().join("a/file"), "x").expect("written");
    let inner = folder.enter(os("a")).expect("entered");
    for target in ["b", "./b", "../a/b", "..", r"..\a", "."] {
        assert!(inner.has_folder(Path::new(target)), "{target}");
    }
    for target in ["file", "none", "../none/b", "file/b", "b:x", "../file"] {
        assert!(!inner.has_folder(Path::new(target)), "{target}");
    }
    for target in
        [r"\\127.0.0.1\x", "//127.0.0.1/x", r"\\.\pipe\x", r"\??\C:\", r"\\127.0.0.1\x\", "//127.0.0.1/x/", "C:x"]
    {
        let error = folder.symbolic_link(os(target), os("link")).expect_err(target);
        assert!(error.to_string().contains("shares"), "{target}: {error}");
    }
    assert_eq!(names(place.path()), ["a"]);
}

#[test]
fn locks_exclude_other_handles_and_leave_the_contents_readable() {
    let (place, folder) = place();
    fs::write(place.path().join("a"), "text").expect("written");
    let (first, _) = folder.file(os("a")).expect("opened");
    let (second, _) = folder.file(os("a")).expect("opened");
    assert_eq!(first.lock_now().expect("locked"), Locked::Yes);
    assert_eq!(second.lock_now().expect("asked"), Locked::ByOthers);
    assert_eq!(fs::read(place.path().join("a")).expect("read"), b"text");
    first.unlock_file();
    assert_eq!(second.lock_now().expect("locked"), Locked::Yes);

    fs::create_dir(place.path().join("folder")).expect("made");
    let (one, other) = (folder.enter(os("folder")).expect("entered"), folder.enter(os("folder")).expect("entered"));
    assert_eq!(one.lock_now().expect("locked"), Locked::Yes);
    assert_eq!(other.lock_now().expect("asked"), Locked::ByOthers);
    one.create(os("file")).expect("made in a locked folder");
    one.unlock_file();
    assert_eq!(other.lock_now().expect("locked"), Locked::Yes);
}

#[test]
fn names_are_single_and_possible() {
    let (place, folder) = place();
    fs::create_dir(place.path().join("real")).expect("made");
    fs::write(place.path().join("file"), "x").expect("written");
    for name in ["", ".", "..", "a/b", "a\\b", "..\\x", "real\\x", "C:", "C:\\x", "file:stream", "file::$DATA", "a\0b"]
    {
        let name = os(name);
        assert!(folder.look(name).is_err() && folder.enter(name).is_err() && folder.file(name).is_err(), "{name:?}");
        assert!(folder.remove(name).is_err() && folder.rename(os("file"), name).is_err(), "{name:?}");
        assert!(folder.create(name).is_err() && folder.make(name, 0o777).is_err(), "{name:?}");
    }
    for name in
        ["NUL", "con.txt", "COM1", "LPT\u{b2}", "a.", "a ", "a*", "a?", "<", "a|b", "\"", "\u{1}", &"x".repeat(256)]
    {
        let name = os(name);
        assert!(folder.create(name).is_err() && folder.make(name, 0o777).is_err(), "{name:?}");
        assert!(folder.rename(os("file"), name).is_err(), "{name:?}");
        assert!(folder.hard_link(&folder, os("file"), name).is_err(), "{name:?}");
        assert!(folder.symbolic_link(os("file"), name).is_err(), "{name:?}");
    }
    assert_eq!(names(place.path()), ["file", "real"]);
    let no_unicode = crate::portable::OsStrExt::from_bytes(b"\xff");
    assert!(folder.create(no_unicode).is_err() && folder.look(no_unicode).is_err());
}

#[test]
fn names_that_differ_only_in_case_are_one() {
    let (place, folder) = place();
    folder.create(os("Name")).expect("made");
    assert_eq!(folder.create(os("NAME")).expect_err("taken").kind(), ErrorKind::AlreadyExists);
    assert_eq!(folder.make(os("name"), 0o777).expect_err("taken").kind(), ErrorKind::AlreadyExists);
    assert_eq!(names(place.path()), ["Name"]);
    assert!(
        folder.has_in_this_case(os("Name")).expect("asked") && !folder.has_in_this_case(os("name")).expect("asked")
    );
}

#[test]
fn a_short_name_is_no_name() {
    let (place, folder) = place();
    let long = "a long name.text";
    fs::write(place.path().join(long), "x").expect("written");
    let mut found = 0;
    for short in ["ALONGN~1.TEX", "ALON~1.TEX", "a long~1.tex"].map(OsStr::new) {
        // Wine makes short names by a rule of its own, and volumes may have none.
        found += usize::from(place.path().join(short).exists());
        assert_eq!(folder.look(short).expect("looked"), None, "{short:?}");
        assert!(folder.file(short).is_err() && folder.remove(short).is_err(), "{short:?}");
    }
    if found == 0 {
        let _ = writeln!(std::io::stderr(), "skipped: the file has no short name here");
    }
    folder.create(os("real~1.txt")).expect("made");
    assert!(folder.look(os("real~1.txt")).expect("looked").is_some());
    assert_eq!(names(place.path()), [long, "real~1.txt"]);
}

#[test]
fn long_paths() {
    let (_place, top) = place();
    let name = "d".repeat(100);
    let mut folder = top.clone();
    for _ in 0..20 {
        folder.make(os(&name), 0o777).expect("made");
        folder = folder.enter(os(&name)).expect("entered");
    }
    folder.create(os("file")).expect("made");
    assert!(folder.path().as_os_str().len() > 2000);
    let way = Way::to(&folder.path()).expect("found");
    assert_eq!(way.folder().about().expect("known").id, folder.about().expect("known").id);
    let mut count = 0;
    let mut walk = Walk::new(top.clone()).expect("begun");
    while walk.advance() {
        count += 1;
        assert!(matches!(walk.open().expect("opened"), WalkStep::Node(..)));
    }
    assert_eq!(count, 21);
    drop((folder, way, walk));
    assert!(clear(&top, os(&name)));
    assert_eq!(top.entries().expect("read").count(), 0);
}

#[test]
fn walks_are_in_order_and_know_kinds() {
    let (place, folder) = place();
    for path in ["b/x", "b/y", "a", "c"] {
        fs::create_dir_all(place.path().join(path).parent().expect("a folder")).expect("made");
        fs::write(place.path().join(path), path).expect("written");
    }
    let mut walk = Walk::new(folder.clone()).expect("begun");
    let mut found = Vec::new();
    while walk.advance() {
        let kind = match walk.open().expect("opened") {
            WalkStep::Node(Node::Folder(Ok(())), about) if about.kind == FileKind::Folder => 'd',
            WalkStep::Node(Node::File(mut file), about) => {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("read");
                assert_eq!(about.length, text.len() as u64);
                'f'
            }
            _ => '?',
        };
        found.push(format!("{kind} {}", walk.path().display()));
    }
    assert_eq!(found, ["f a", "d b", "f b/x", "f b/y", "f c"]);
    // Many names need several reads of the folder.
    for index in 0..2000 {
        fs::write(place.path().join("b").join(format!("a rather long name for a file {index:04}")), "")
            .expect("written");
    }
    let entries = folder.enter(os("b")).expect("entered").entries().expect("read");
    assert_eq!(entries.map(|entry| entry.expect("read").0).collect::<std::collections::BTreeSet<_>>().len(), 2002);
}

#[test]
fn a_name_that_is_not_unicode_is_listed_and_not_opened() {
    let (place, folder) = place();
    let name = OsString::from_wide(&[0x61, 0xd800, 0x62]);
    if fs::write(place.path().join(&name), "x").is_err() || names(place.path()).is_empty() {
        let _ = writeln!(std::io::stderr(), "skipped: this system refuses lone surrogates in names");
        return;
    }
    let mut walk = Walk::new(folder).expect("begun");
    assert!(walk.advance());
    assert!(!matches!(walk.open().expect("tried"), WalkStep::Gone | WalkStep::Node(Node::File(_), _)));
}

#[test]
fn times_and_the_right_to_write_are_kept() {
    let (place, folder) = place();
    let file = folder.create(os("a")).expect("made");
    for time in [(1_000_000_000, 123_456_700), (0, 0), (-1, 999_999_900)] {
        file.set_modified_at(time).expect("set");
        assert_eq!(folder.look(os("a")).expect("looked").expect("there").modified, time);
    }
    file.set_mode(0o444).expect("set");
    assert_eq!(folder.look(os("a")).expect("looked").expect("there").mode, 0o444);
    drop(file);
    assert!(fs::metadata(place.path().join("a")).expect("there").permissions().readonly());
    let draft = Draft::create_in(&folder, os("a")).expect("made");
    draft.land(Attributes::usual(), Landing { replace: Replace::Any, sync: false }).expect("replaces a read-only file");
    folder.file(os("a")).expect("opened").0.set_mode(0o444).expect("set");
    folder.remove(os("a")).expect("removes a read-only file");
    folder.make(os("d"), 0o777).expect("made");
    folder.enter(os("d")).expect("entered").set_modified_at((1_000_000_000, 0)).expect("set");
    assert_eq!(folder.look(os("d")).expect("looked").expect("there").modified, (1_000_000_000, 0));
}

#[test]
fn an_input_knows_its_folder() {
    let (place, _) = place();
    fs::create_dir_all(place.path().join("a/b")).expect("made");
    fs::write(place.path().join("a/b/file"), "x").expect("written");
    let input = Input::open(&place.path().join("a\\.\\b\\..\\b/file"), OpenMode::default()).expect("opened");
    assert_eq!(input.about.length, 1);
    assert!(input.found.real.is_some_and(|real| real.name == "file" && real.folder.has(os("file"), &input.file)));
    let folder = Input::open(&place.path().join("a"), OpenMode::default()).expect("opened");
    assert!(folder.about.is_folder());
    assert_eq!(
        Input::open(&place.path().join("a/none"), OpenMode::default()).expect_err("missing").kind(),
        ErrorKind::NotFound
    );
    assert_eq!(Way::to(&place.path().join("a/b/file")).expect_err("a file").kind(), ErrorKind::NotADirectory);
}

#[test]
fn private_files_and_folders_have_a_list_of_their_own() {
    let (place, folder) = place();
    let path = |name: &str| place.path().join(name);
    let draft = Draft::create_in(&folder, os("key")).expect("made");
    draft.land(Attributes::private(), Landing { replace: Replace::Nothing, sync: false }).expect("landed");
    Way::from(folder.clone()).descend_or_make(Path::new("keys"), 0o700, None).expect("made");
    for name in ["key", "keys"] {
        assert!(!is_open_to_others(&path(name)).expect("asked"), "{name}");
    }
    assert_eq!(fs::read(path("key")).expect("this user may read it"), b"");
    // Everybody may read the folders of the system.
    assert!(is_open_to_others(Path::new("C:\\windows")).expect("asked"));
}

/// Where the system keeps the name of an open file until it is closed, removing the file's folder never ended.
#[test]
fn removing_a_folder_ends_although_a_file_in_it_is_open() {
    let (place, folder) = place();
    fs::create_dir_all(place.path().join("a/b")).expect("made");
    fs::create_dir(place.path().join("a/empty")).expect("made");
    let file = fs::File::create(place.path().join("a/b/file")).expect("made");
    let is_gone = clear(&folder, os("a"));
    drop(file);
    assert!(is_gone || clear(&folder, os("a")));
    assert!(names(place.path()).is_empty());
}

#[test]
fn hard_links() {
    let (place, folder) = place();
    fs::write(place.path().join("a"), "x").expect("written");
    folder.hard_link(&folder, os("a"), os("b")).expect("linked");
    let (a, b) =
        (folder.look(os("a")).expect("looked").expect("there"), folder.look(os("b")).expect("looked").expect("there"));
    assert_eq!((a.id, a.links), (b.id, 2));
    assert_eq!(folder.hard_link(&folder, os("a"), os("b")).expect_err("taken").kind(), ErrorKind::AlreadyExists);
}

#[test]
fn symbolic_links_are_not_followed() {
    let (place, folder) = place();
    fs::create_dir(place.path().join("real")).expect("made");
    fs::write(place.path().join("real/secret"), "x").expect("written");
    if let Err(error) = folder.symbolic_link(os("real"), os("link")) {
        assert_eq!(names(place.path()), ["real"], "nothing stays of a link that failed");
        let _ = writeln!(std::io::stderr(), "skipped: no symbolic links here: {error}");
        return;
    }
    assert_eq!(folder.read_link(os("link")).expect("read"), "real");
    assert!(folder.look(os("link")).expect("looked").expect("there").is_link());
    assert_eq!(folder.enter(os("link")).expect_err("a link").kind(), ErrorKind::NotADirectory);
    assert_eq!(folder.file(os("link")).expect_err("a link").kind(), ErrorKind::NotADirectory);
    assert!(Way::to(&place.path().join("link")).expect("followed").folder().file(os("secret")).is_ok());
    folder.remove(os("link")).expect("removed");
    assert_eq!(names(place.path()), ["real"]);
}
