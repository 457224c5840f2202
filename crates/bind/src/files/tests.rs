use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;
use crate::{list_folder, open_folder, seal_folder};
use deadpan_seal::{Kem, PrivateKey, Recipient};

fn key() -> (PrivateKey, Sealing, Vec<Identity>) {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())]).expect("a recipient");
    let identities = vec![Identity::Key(key.clone())];
    (key, sealing, identities)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|it| it.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn files_come_back_with_time_and_mode() {
    let place = tempfile::tempdir().expect("a folder");
    let [plain, sealed, back] = ["plain", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    fs::write(&plain, b"straight face").expect("written");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o640)).expect("a mode");
    let work = Work::default();
    seal_file(&sealing, &plain, &sealed, false, &work).expect("sealed");
    let summary = open_file(&identities, &sealed, &back, false, &work).expect("opened");
    assert_eq!((summary.plain, fs::read(&back).expect("read")), (13, b"straight face".to_vec()));
    let about = |path: &Path| fs::metadata(path).map(|about| (about.mode(), about.modified().expect("a time")));
    assert_eq!(about(&back).expect("it is there"), about(&plain).expect("it is there"));
    assert_eq!(names(place.path()), ["back", "plain", "sealed"]);
}

#[test]
fn nothing_is_replaced_or_left_behind_unless_it_is_asked_for() {
    let place = tempfile::tempdir().expect("a folder");
    let [plain, sealed, other] = ["plain", "sealed", "other"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    let (_, _, strangers) = key();
    fs::write(&plain, vec![7; 1 << 20]).expect("written");
    fs::write(&other, b"mine").expect("written");
    let work = Work::default();
    seal_file(&sealing, &plain, &sealed, false, &work).expect("sealed");
    let code = |done: Result<Summary, Fault>| done.expect_err("an error").code;
    assert_eq!(code(seal_file(&sealing, &plain, &other, false, &work)), Code::Exists);
    assert_eq!(code(open_file(&identities, &sealed, &other, false, &work)), Code::Exists);
    assert_eq!(code(open_file(&strangers, &sealed, &other, true, &work)), Code::NoKey);
    assert_eq!(code(seal_file(&sealing, &plain, &plain, true, &work)), Code::Argument);
    assert_eq!(code(open_file(&identities, &plain, &other, true, &work)), Code::NotSealed);
    let mut bytes = fs::read(&sealed).expect("read");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&sealed, &bytes).expect("written");
    let fault = open_file(&identities, &sealed, &other, true, &work).expect_err("it was changed");
    assert_eq!(fault.code, Code::Tampered);
    assert!(fault.text.starts_with(&*sealed.to_string_lossy()), "{fault}");
    let stop = || true;
    let stopped = Work { stop: Some(&stop), ..Work::default() };
    assert_eq!(code(seal_file(&sealing, &plain, &other, true, &stopped)), Code::Stopped);
    assert_eq!(fs::read(&other).expect("read"), b"mine");
    assert_eq!(names(place.path()), ["other", "plain", "sealed"]);
    seal_file(&sealing, &plain, &other, true, &work).expect("replaced");
    assert_ne!(fs::read(&other).expect("read"), b"mine");
}

#[test]
fn folders_come_back() {
    let place = tempfile::tempdir().expect("a folder");
    let [folder, sealed, back] = ["folder", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    fs::create_dir_all(folder.join("in/deep")).expect("folders");
    fs::write(folder.join("in/deep/file"), b"straight face").expect("written");
    let work = Work::default();
    let (_, notes) = seal_folder(&sealing, &folder, &sealed, false, &work).expect("sealed");
    assert!(notes.is_empty(), "{notes:?}");
    let mut listed = Vec::new();
    list_folder(&identities, &sealed, |entry| {
        listed.push(String::from_utf8(entry.path.clone()).expect("UTF-8"));
        true
    })
    .expect("listed");
    assert!(listed.iter().any(|path| path.ends_with("in/deep/file")), "{listed:?}");
    open_folder(&identities, &sealed, &back, &work).expect("opened");
    assert_eq!(fs::read(back.join("in/deep/file")).expect("read"), b"straight face");
    assert_eq!(open_folder(&identities, &sealed, &back, &work).expect_err("it exists").code, Code::Exists);
    assert_eq!(
        open_file(&identities, &sealed, &back.join("x"), false, &work).expect_err("a folder").code,
        Code::Argument
    );
    assert_eq!(names(place.path()), ["back", "folder", "sealed"]);
}
