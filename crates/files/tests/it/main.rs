//! Tests of sealing and opening files and folders from path to path.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use deadpan_files::{
    Error, Options, inspect, list_folder, open_file, open_folder, open_folder_part, open_seekable, read_private_key,
    read_public_keys, seal_file, seal_folder,
};
use deadpan_seal::{Identity, Kem, Passphrase, PrivateKey, Sealing, Summary, Work, key};

const REPLACING: Options<'static> =
    Options { replace: true, sync: false, work: Work { threads: 0, progress: None, stop: None } };

fn key() -> (PrivateKey, Sealing, Vec<Identity>) {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let sealing = Sealing::to(key.public()).expect("a recipient");
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
    let options = Options::default();
    seal_file(&sealing, &plain, &sealed, options).expect("sealed");
    let summary = open_file(&identities, &sealed, &back, options).expect("opened");
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
    let options = Options::default();
    seal_file(&sealing, &plain, &sealed, options).expect("sealed");
    let failed = |done: Result<Summary, Error>| done.expect_err("an error");
    let engine = |done: Result<Summary, Error>| match failed(done) {
        Error::Sealed { error, .. } => error,
        error => panic!("{error}"),
    };
    assert!(matches!(failed(seal_file(&sealing, &plain, &other, options)), Error::Exists { .. }));
    assert!(matches!(failed(open_file(&identities, &sealed, &other, options)), Error::Exists { .. }));
    let error = engine(open_file(&strangers, &sealed, &other, REPLACING));
    assert!(matches!(error, deadpan_seal::Error::NoKeyFits(_)), "{error}");
    assert!(matches!(failed(seal_file(&sealing, &plain, &plain, REPLACING)), Error::SameFile(_)));
    let error = engine(open_file(&identities, &plain, &other, REPLACING));
    assert!(matches!(error, deadpan_seal::Error::NotSealed(_)), "{error}");
    let mut bytes = fs::read(&sealed).expect("read");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&sealed, &bytes).expect("written");
    let error = open_file(&identities, &sealed, &other, REPLACING).expect_err("it was changed");
    assert!(error.to_string().starts_with(&*sealed.to_string_lossy()), "{error}");
    assert!(matches!(error, Error::Sealed { error: deadpan_seal::Error::Segment { .. }, .. }), "{error}");
    let stop = || true;
    let stopped = Options { work: Work { stop: Some(&stop), ..Work::default() }, ..REPLACING };
    assert!(matches!(failed(seal_file(&sealing, &plain, &other, stopped)), Error::Stopped));
    assert_eq!(fs::read(&other).expect("read"), b"mine");
    assert_eq!(names(place.path()), ["other", "plain", "sealed"]);
    seal_file(&sealing, &plain, &other, REPLACING).expect("replaced");
    assert_ne!(fs::read(&other).expect("read"), b"mine");
}

#[test]
fn folders_come_back() {
    let place = tempfile::tempdir().expect("a folder");
    let [folder, sealed, back] = ["folder", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    fs::create_dir_all(folder.join("in/deep")).expect("folders");
    fs::write(folder.join("in/deep/file"), b"straight face").expect("written");
    let options = Options::default();
    let (_, notes) = seal_folder(&sealing, &folder, &sealed, options).expect("sealed");
    assert!(notes.list().is_empty(), "{notes:?}");
    let mut contents = list_folder(&identities, &sealed).expect("listed");
    let listed: Vec<_> = contents.entries().map(|entry| entry.expect("an entry").path).collect();
    assert!(listed.iter().any(|path| path == b"in/deep/file"), "{listed:?}");
    open_folder(&identities, &sealed, &back, options).expect("opened");
    assert_eq!(fs::read(back.join("in/deep/file")).expect("read"), b"straight face");
    for options in [options, REPLACING] {
        assert!(matches!(open_folder(&identities, &sealed, &back, options), Err(Error::Exists { .. })));
    }
    assert!(matches!(open_file(&identities, &sealed, back.join("x"), options), Err(Error::HoldsFolder(_))));
    assert_eq!(names(place.path()), ["back", "folder", "sealed"]);
}

#[test]
fn a_part_of_a_folder_is_what_was_selected() {
    let place = tempfile::tempdir().expect("a folder");
    let [folder, sealed, back] = ["folder", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    fs::create_dir_all(folder.join("in")).expect("folders");
    fs::write(folder.join("in/cat.jpg"), b"meow").expect("written");
    fs::write(folder.join("dog.jpg"), b"woof").expect("written");
    let options = Options { sync: true, ..Options::default() };
    seal_folder(&sealing, &folder, &sealed, options).expect("sealed");
    let part = |only: &[&str]| open_folder_part(&identities, &sealed, &back, only, options);
    assert!(matches!(part(&[]), Err(Error::NothingSelected)));
    assert!(matches!(part(&["bird.jpg"]), Err(Error::Folder { .. })));
    assert_eq!(names(place.path()), ["folder", "sealed"]);
    part(&["in/*.jpg"]).expect("opened");
    assert_eq!(fs::read(back.join("in/cat.jpg")).expect("read"), b"meow");
    assert!(!back.join("dog.jpg").exists());
}

#[test]
fn kinds_of_inputs_that_do_not_fit_are_named() {
    let place = tempfile::tempdir().expect("a folder");
    let [plain, sealed, back] = ["plain", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    fs::write(&plain, b"straight face").expect("written");
    let options = Options::default();
    seal_file(&sealing, &plain, &sealed, options).expect("sealed");
    assert!(matches!(open_folder(&identities, &sealed, &back, options), Err(Error::HoldsNoFolder(_))));
    assert!(matches!(list_folder(&identities, &sealed), Err(Error::HoldsNoFolder(_))));
    assert!(matches!(seal_file(&sealing, place.path(), &back, options), Err(Error::IsFolder(_))));
    assert!(matches!(seal_folder(&sealing, &plain, &back, options), Err(Error::NotAFolder(_))));
    assert!(matches!(seal_file(&sealing, &plain, place.path().join(".."), options), Err(Error::NoName(_))));
    let missing = open_file(&identities, &back, &plain, REPLACING);
    assert!(matches!(missing, Err(Error::Read { path, error }) if path == back && error.raw_os_error() == Some(2)));
    let nowhere = seal_file(&sealing, &plain, place.path().join("no/where"), options);
    assert!(matches!(nowhere, Err(Error::Write { .. })));
    assert!(matches!(seal_file(&sealing, "a\0b", &back, options), Err(Error::ZeroByte(_))));
    assert!(matches!(inspect("/dev/null", None), Err(Error::Sealed { .. })));
    assert_eq!(names(place.path()), ["plain", "sealed"]);
}

#[test]
fn pipes_are_inputs_in_order_only() {
    let place = tempfile::tempdir().expect("a folder");
    let [pipe, sealed, back] = ["pipe", "sealed", "back"].map(|name| place.path().join(name));
    let (_, sealing, identities) = key();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    assert!(matches!(open_seekable(&pipe), Err(Error::IsPipe(_))));
    let options = Options::default();
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| fs::write(&pipe, b"straight face"));
        // Opening a pipe does not wait until another program opens it for writing, but reading from it waits.
        let sealed = seal_file(&sealing, &pipe, &sealed, options);
        (writer.join().expect("a thread"), sealed)
    });
    written.0.expect("written");
    written.1.expect("sealed");
    open_file(&identities, &sealed, &back, options).expect("opened");
    assert_eq!(fs::read(&back).expect("read"), b"straight face");

    // The writer never closes the pipe, so only a stop ends the work.
    let _writer = fs::File::options().read(true).write(true).open(&pipe).expect("opened");
    let stop = || true;
    let stopped = Options { work: Work { stop: Some(&stop), ..Work::default() }, ..REPLACING };
    assert!(matches!(seal_file(&sealing, &pipe, &sealed, stopped), Err(Error::Stopped)));
    assert_eq!(names(place.path()), ["back", "pipe", "sealed"]);
}

#[test]
fn keys_come_from_files_and_errors_name_the_file() {
    let place = tempfile::tempdir().expect("a folder");
    let [public, private, locked, long] = ["key.pub", "key", "locked", "long"].map(|name| place.path().join(name));
    let keys = [Kem::XWing, Kem::X25519].map(|kem| PrivateKey::generate(kem).expect("a key"));
    fs::write(&public, keys.iter().map(|key| key::public_pem(key.public())).collect::<String>()).expect("written");
    fs::write(&private, &*key::private_pem(&keys[0])).expect("written");
    assert_eq!(read_public_keys(&public).expect("two keys"), keys.each_ref().map(|key| key.public().clone()));
    assert!(read_private_key(&private, None).expect("a key").same(&keys[0]));
    let error = read_public_keys(&private).expect_err("the other kind");
    assert!(error.to_string().starts_with(&*private.to_string_lossy()), "{error}");
    assert!(matches!(error, Error::KeyFile { error, .. } if matches!(*error, Error::KeyIsPrivate)));
    fs::write(&long, vec![b'A'; (1 << 20) + 1]).expect("written");
    assert!(matches!(read_public_keys(&long), Err(Error::LongKeyFile(_))));

    let passphrase = Passphrase::new(b"correct horse");
    let text = key::protected_pem(&keys[0], &passphrase).expect("a protected key");
    fs::write(&locked, &*text).expect("written");
    let inner = |done: Result<PrivateKey, Error>| match done.err() {
        Some(Error::KeyFile { error, .. }) => *error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(inner(read_private_key(&locked, None)), Error::Locked));
    let wrong = Passphrase::new(b"wrong");
    assert!(matches!(inner(read_private_key(&locked, Some(&wrong))), Error::Key(key::KeyError::WrongPassphrase)));
    assert!(read_private_key(&locked, Some(&passphrase)).expect("the key").same(&keys[0]));
}
