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
