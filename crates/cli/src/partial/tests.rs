//! Tests of output files, with temporary names and without.

use std::fs;
use std::io::Write;

use super::*;

/// Makes an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("deadpan-partial-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
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
            let partial = Partial::create_in(&target, nameless).unwrap();
            partial.file().write_all(contents).unwrap();
            assert!(names(&folder).iter().all(|name| name == "out" || !nameless));
            partial.land(Attributes::usual(), Landing { replace, sync: false })
        };
        write(b"one", false).unwrap();
        assert!(write(b"two", false).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"one");
        write(b"three", true).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"three");
        assert_eq!(names(&folder), ["out"]);
        drop(Partial::create_in(&target, nameless).unwrap());
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
    let first = Partial::create_in(&target, false).unwrap();
    assert_eq!(names(&folder).len(), 2);
    let second = Partial::create_in(&target, false).unwrap();
    assert_eq!(names(&folder).len(), 3);
    drop((first, second));
    assert_eq!(names(&folder).len(), 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn long_names_have_room() {
    let folder = folder("long");
    let target = folder.join("x".repeat(255));
    Partial::create_in(&target, false).unwrap().land(Attributes::private(), Landing::default()).unwrap();
    assert!(target.exists());
    fs::remove_dir_all(folder).unwrap();
}

/// Lands three files as `1`, `2` and `third`. Returns whether that succeeded.
fn land_three(folder: &Path, nameless: bool, swaps: bool, third: &str, replace: bool) -> bool {
    let first = Partial::create_in(&folder.join("set"), nameless).unwrap();
    let second = first.another().unwrap();
    let third_file = second.another().unwrap();
    let files = [(first, "1"), (second, "2"), (third_file, third)].map(|(mut partial, name)| {
        partial.file.write_all(format!("new {name}").as_bytes()).unwrap();
        (partial, folder.join(name))
    });
    let landing = Landing { replace, sync: false };
    let none = |_: &File, _: &OsStr, _: &OsStr| Err(Errno::INVAL);
    match swaps {
        true => set::land(files.into(), Attributes::usual(), landing).is_ok(),
        false => set::land_with(files.into(), Attributes::usual(), landing, none).is_ok(),
    }
}

fn contents(folder: &Path) -> Vec<(OsString, String)> {
    let mut names = names(folder);
    names.sort();
    names.into_iter().map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap())).collect()
}

/// The third file cannot get its name, which the first file has got before.
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

/// Another program replaces the second file while the names are given: its file stays, and the set gets no name.
#[test]
fn a_set_does_not_replace_what_another_program_made_meanwhile() {
    let folder = folder("meanwhile");
    fs::write(folder.join("1"), "old 1").unwrap();
    fs::write(folder.join("2"), "old 2").unwrap();
    let first = Partial::create_in(&folder.join("set"), true).unwrap();
    let second = first.another().unwrap();
    let files = vec![(first, folder.join("1")), (second, folder.join("2"))];
    let landing = Landing { replace: true, sync: false };
    let meddle = |at: &File, one: &OsStr, other: &OsStr| {
        if other == "1" {
            let process = format!("/proc/self/fd/{}", at.as_raw_fd());
            fs::write(Path::new(&process).join("theirs"), "theirs").unwrap();
            renameat(at, "theirs", at, "2").unwrap();
        }
        rustix::fs::renameat_with(at, one, at, other, rustix::fs::RenameFlags::EXCHANGE)
    };
    let failure = set::land_with(files, Attributes::usual(), landing, meddle).unwrap_err();
    assert_eq!(failure.message, format!("another program made {} meanwhile", shown(folder.join("2"))));
    assert_eq!(contents(&folder), [("1".into(), "old 1".to_owned()), ("2".into(), "theirs".to_owned())]);
    fs::remove_dir_all(folder).unwrap();
}
