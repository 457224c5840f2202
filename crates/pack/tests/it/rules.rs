//! Tests what rules leave out of a pack, in ordinary and in hostile trees.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::tempdir;

use deadpan_pack::{Entry, Folder, Kind, Listing, Packer, Packing, Pattern, Patterns, Rules, Start};

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# a cache\n";

/// Makes files with these paths; a path that ends with a slash is a folder.
fn make(place: &Path, paths: &[&str]) {
    for path in paths {
        let whole = place.join(path);
        fs::create_dir_all(if path.ends_with('/') { &whole } else { whole.parent().unwrap() }).unwrap();
        if !path.ends_with('/') {
            fs::write(whole, path).unwrap();
        }
    }
}

fn exclude(patterns: &[&str]) -> Rules {
    let patterns = Patterns::new(patterns.iter().map(|text| Pattern::new(text.as_bytes())));
    Rules { exclude: patterns.into(), ..Rules::default() }
}

fn git() -> Rules {
    Rules { git: true, ..Rules::default() }
}

struct Looked {
    entries: Vec<Entry>,
    notes: Vec<String>,
    incomplete: bool,
}

impl Looked {
    fn paths(&self) -> Vec<String> {
        let paths = self.entries.iter().filter(|entry| !entry.path.is_empty());
        paths.map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect()
    }
}

fn finish(mut packer: Packer) -> Result<Looked, String> {
    let mut entries = Vec::new();
    while let Some(entry) = packer.preview().map_err(|error| error.to_string())? {
        entries.push(entry);
    }
    let notes = packer.notes();
    let (incomplete, notes) = (notes.incomplete(), notes.list().iter().map(ToString::to_string).collect());
    Ok(Looked { entries, notes, incomplete })
}

fn look_with(place: &Path, options: Packing) -> Result<Looked, String> {
    finish(Packer::new(place, b"root", options).map_err(|error| error.to_string())?)
}

fn look(place: &Path, rules: Rules) -> Looked {
    look_with(place, Packing { rules, ..Packing::default() }).unwrap()
}

#[test]
fn an_excluded_folder_is_not_entered() {
    let place = tempdir().unwrap();
    make(place.path(), &["a/node_modules/x", "a/b.o", "a/keep.o", "empty/x.o", "node_modules", "out/in/y"]);
    // Nobody can read this folder, and nobody needs to.
    fs::create_dir(place.path().join("closed")).unwrap();
    fs::set_permissions(place.path().join("closed"), PermissionsExt::from_mode(0o0)).unwrap();
    let rules = exclude(&["node_modules/", "*.o", "!keep.o", "closed", "/out/in", "!/out/in/y"]);
    assert_eq!(look(place.path(), rules).paths(), ["a", "a/keep.o", "empty", "node_modules", "out"]);
}

#[test]
fn another_name_of_an_excluded_file_becomes_the_file() {
    let place = tempdir().unwrap();
    make(place.path(), &["a.o", "c"]);
    for name in ["b", "d"] {
        fs::hard_link(place.path().join("a.o"), place.path().join(name)).unwrap();
    }
    let looked = look(place.path(), exclude(&["*.o"]));
    let kinds: Vec<_> = looked.entries[1..].iter().map(|entry| (entry.kind, entry.size)).collect();
    assert_eq!(looked.paths(), ["b", "c", "d"]);
    assert_eq!(kinds, [(Kind::File, 3), (Kind::File, 1), (Kind::HardLink, 0)]);
    assert_eq!(looked.entries[3].target.as_deref(), Some(&b"b"[..]));
}

#[test]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let place = tempdir().unwrap();
    for name in [&b"\xff\xfe"[..], b"\xffx"] {
        fs::write(place.path().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    let patterns = Patterns::new([Pattern::new(b"\xff[\xf0-\xff]")]);
    let rules = Rules { exclude: patterns.into(), ..Rules::default() };
    assert_eq!(look(place.path(), rules).entries[1].path, b"\xffx");
}

#[test]
fn what_git_ignores() {
    let place = tempdir().unwrap();
    let top = place.path();
    make(top, &[".git/info/exclude", ".git/config", "a.log", "x/a.log", "x/b.tmp", "x/y/out/z", "x/y/keep.log"]);
    make(top, &["inner/.git/info/exclude", "inner/a.log", "inner/b.log", "x/secret", "x/y/.git"]);
    fs::write(top.join(".gitignore"), "*.log\nx/y/out/\n").unwrap();
    fs::write(top.join(".git/info/exclude"), "*.tmp\n!a.log\nsecret\n").unwrap();
    fs::write(top.join("x/y/.gitignore"), "!keep.log\n").unwrap();
    fs::write(top.join("x/.gitignore"), "!secret\n").unwrap();
    fs::write(top.join("inner/.git/info/exclude"), "b.log\n").unwrap();
    // The file x/y/.git marks a work tree of another repository, so the patterns outside do not apply there.
    let expected = [
        ".gitignore",
        "inner",
        "inner/a.log",
        "x",
        "x/.gitignore",
        "x/secret",
        "x/y",
        "x/y/.gitignore",
        "x/y/keep.log",
        "x/y/out",
        "x/y/out/z",
    ];
    assert_eq!(look(top, git()).paths(), expected);
    // A folder of the repository also has the patterns above it.
    assert_eq!(
        look(&top.join("x"), git()).paths(),
        [".gitignore", "secret", "y", "y/.gitignore", "y/keep.log", "y/out", "y/out/z"]
    );
    fs::remove_file(top.join("x/y/.git")).unwrap();
    assert_eq!(look(&top.join("x/y"), git()).paths(), [".gitignore", "keep.log"]);
    // Without a repository, the folders above do not count.
    fs::remove_dir_all(top.join(".git")).unwrap();
    assert_eq!(look(&top.join("x/y"), git()).paths(), [".gitignore", "keep.log", "out", "out/z"]);
}

/// Each of these files is named, and none of them keeps the packing from ending.
#[test]
fn lists_of_patterns_that_are_no_files() {
    let place = tempdir().unwrap();
    make(place.path(), &["fifo/x", "folder/.gitignore/", "folder/x", "outside/x"]);
    symlink("/etc/passwd", place.path().join("outside/.gitignore")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path().join("fifo/.gitignore"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let looked = look(place.path(), git());
    for name in ["fifo", "folder", "outside"] {
        let note = format!("did not use the patterns in {name}/.gitignore: it is not a regular file");
        assert!(looked.notes.contains(&note), "{name}: {:?}", looked.notes);
        assert!(looked.paths().contains(&format!("{name}/x")));
    }
    assert!(!looked.incomplete);
}

#[test]
fn lists_of_patterns_that_cannot_be_read_end_the_packing() {
    let place = tempdir().unwrap();
    make(place.path(), &["a/x"]);
    let list = place.path().join("a/.gitignore");
    let packing = |keep_going| Packing { rules: git(), keep_going, ..Packing::default() };
    File::create(&list).unwrap().write_all(&b"x\n".repeat(600_000)).unwrap();
    let error = look_with(place.path(), packing(false)).err().unwrap();
    assert_eq!(error, "cannot read the patterns in a/.gitignore: it is longer than 1 MiB");
    let looked = look_with(place.path(), packing(true)).unwrap();
    assert_eq!(looked.notes, ["did not use the patterns in a/.gitignore: it is longer than 1 MiB"]);
    assert!(looked.incomplete && looked.paths().contains(&"a/x".to_owned()));
    // The longest list is used.
    File::create(&list).unwrap().write_all(&[&b"x\n"[..], &b"y\n".repeat((1 << 19) - 1)].concat()).unwrap();
    assert_eq!(look(place.path(), git()).paths(), ["a", "a/.gitignore"]);
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(&list, PermissionsExt::from_mode(0o0)).unwrap();
        let error = look_with(place.path(), packing(false)).err().unwrap();
        assert_eq!(error, "cannot read the patterns in a/.gitignore: its permissions do not allow it");
    }
}

#[test]
fn caches_keep_only_their_tag() {
    let place = tempdir().unwrap();
    make(place.path(), &["cache/a", "cache/in/b", "fake/a", "short/CACHEDIR.TAG", "link/a"]);
    fs::write(place.path().join("cache/CACHEDIR.TAG"), TAG).unwrap();
    fs::write(place.path().join("fake/CACHEDIR.TAG"), &TAG[1..]).unwrap();
    symlink("../cache/CACHEDIR.TAG", place.path().join("link/CACHEDIR.TAG")).unwrap();
    let rules = Rules { caches: true, ..Rules::default() };
    let expected = [
        "cache",
        "cache/CACHEDIR.TAG",
        "fake",
        "fake/CACHEDIR.TAG",
        "fake/a",
        "link",
        "link/CACHEDIR.TAG",
        "link/a",
        "short",
        "short/CACHEDIR.TAG",
    ];
    assert_eq!(look(place.path(), rules.clone()).paths(), expected);
    assert_eq!(look(&place.path().join("cache"), rules).paths(), ["CACHEDIR.TAG"]);
}

#[test]
fn long_files_are_left_out() {
    let place = tempdir().unwrap();
    for length in [0, 9, 10, 11] {
        File::create(place.path().join(format!("f{length}"))).unwrap().set_len(length).unwrap();
    }
    fs::create_dir(place.path().join("folder")).unwrap();
    let rules = Rules { larger: Some(10), ..Rules::default() };
    let mut packer = Packer::new(place.path(), b"root", Packing { rules, ..Packing::default() }).unwrap();
    let mut count = 0;
    while packer.preview().unwrap().is_some() {
        count += 1;
    }
    assert_eq!((count, packer.larger(), packer.size()), (5, 1, 19));
}

#[test]
fn other_file_systems_and_folders_of_the_system() {
    let device = |path: &str| fs::metadata(path).map(|about| std::os::unix::fs::MetadataExt::dev(&about)).ok();
    if device("/dev/shm").is_none() || device("/dev/shm") == device("/dev") {
        let _ = writeln!(std::io::stderr(), "skipped: /dev/shm is no file system of its own");
        return;
    }
    let inside = tempfile::tempdir_in("/dev/shm").unwrap();
    let name = inside.path().file_name().unwrap().to_string_lossy().into_owned();
    let starts = || {
        let mut parts = Listing::Parts(BTreeMap::new());
        parts.add(["shm".as_ref(), inside.path().file_name().unwrap()]);
        let root = Folder::open(Path::new("/")).unwrap();
        BTreeMap::from([(OsString::from("dev"), Start::Listed(root, "dev".into(), parts))])
    };
    // A listed folder of the system is left out, because lists come from programs.
    let looked = finish(Packer::gather(starts(), b"root", Packing::default()).unwrap()).unwrap();
    assert_eq!(looked.paths(), [""; 0]);
    assert_eq!(looked.notes, ["left out dev: the system makes its contents; name it as an input to take it"]);
    // A folder of the system that is named goes in, but not the file systems in it.
    let rules = Rules { one_file_system: true, ..Rules::default() };
    let looked = look(Path::new("/dev"), rules);
    let paths = looked.paths();
    assert!(paths.contains(&"shm".to_owned()) && !paths.contains(&format!("shm/{name}")), "{paths:?}");
    assert!(looked.notes.contains(&"left out what is in shm: it is on another file system".to_owned()));
}

#[test]
fn several_inputs_lie_side_by_side() {
    let place = tempdir().unwrap();
    make(place.path(), &["one/a/x", "one/b", "two/c", "file", "list/deep/er/x", "list/deep/y", "list/z"]);
    fs::hard_link(place.path().join("file"), place.path().join("two/same")).unwrap();
    let about = |path: &str| deadpan_disk::About::of_path(&place.path().join(path)).unwrap();
    let open = |path: &str| Start::Open(File::open(place.path().join(path)).unwrap(), about(path), path.into());
    let base = Folder::open(place.path()).unwrap();
    let starts = || {
        let mut listing = Listing::Parts(BTreeMap::new());
        for path in [&["deep", "er"][..], &["z"], &["deep", "er", "x"]] {
            listing.add(path.iter().map(AsRef::as_ref));
        }
        BTreeMap::from([
            ("two".into(), open("two")),
            ("one".into(), open("one")),
            ("file".into(), open("file")),
            ("list".into(), Start::Listed(base.clone(), "list".into(), listing)),
        ])
    };
    let packing = |rules| Packing { rules, deterministic: true, ..Packing::default() };
    let look = |rules| finish(Packer::gather(starts(), b"root", packing(rules)).unwrap()).unwrap();
    let all = [
        "file",
        "list",
        "list/deep",
        "list/deep/er",
        "list/deep/er/x",
        "list/z",
        "one",
        "one/a",
        "one/a/x",
        "one/b",
        "two",
        "two/c",
        "two/same",
    ];
    let looked = look(Rules::default());
    assert_eq!(looked.paths(), all);
    assert_eq!(looked.entries[13].target.as_deref(), Some(&b"file"[..]), "a hard link across inputs");
    assert_eq!(
        look(exclude(&["/one/a", "er/", "file"])).paths(),
        ["list", "list/deep", "list/z", "one", "one/b", "two", "two/c", "two/same"]
    );
    // The same bytes, whatever the number of threads.
    let packed = |threads| {
        let mut archive = Vec::new();
        let packer = Packer::gather(starts(), b"root", packing(Rules::default())).unwrap();
        let work = deadpan_pack::Work { threads, ..Default::default() };
        deadpan_pack::pack(packer, &mut archive, &work).unwrap();
        archive
    };
    assert_eq!(packed(1), packed(2));
    let mut contents = deadpan_pack::Contents::read(std::io::Cursor::new(packed(2))).unwrap().unwrap();
    assert_eq!(contents.under(b"").count(), all.len() + 1);
}

#[test]
fn listed_paths_that_are_missing_or_lead_through_links() {
    let place = tempdir().unwrap();
    make(place.path(), &["real/x", "file"]);
    symlink("real", place.path().join("link")).unwrap();
    let pack = |path: &[&str], keep_going| {
        let mut listing = Listing::Parts(BTreeMap::new());
        listing.add(path[1..].iter().map(AsRef::as_ref));
        let start = Start::Listed(Folder::open(place.path()).unwrap(), path[0].into(), listing);
        let starts = BTreeMap::from([(OsString::from(path[0]), start)]);
        let packing = Packing { keep_going, ..Packing::default() };
        Packer::gather(starts, b"root", packing).map_err(|error| error.to_string()).and_then(finish)
    };
    assert_eq!(pack(&["link"], false).unwrap().entries[1].kind, Kind::SymbolicLink);
    for (path, why) in [
        (&["gone"][..], "cannot read gone: there is no such file or folder"),
        (&["real", "gone"], "cannot read real/gone: there is no such file or folder"),
        (&["link", "x"], "cannot read link: a part of the path is not a folder"),
        (&["file", "x"], "cannot read file: a part of the path is not a folder"),
    ] {
        assert_eq!(pack(path, false).err().as_deref(), Some(why), "{path:?}");
    }
    let looked = pack(&["real", "gone"], true).unwrap();
    assert!(looked.incomplete && looked.paths() == ["real"]);
}
