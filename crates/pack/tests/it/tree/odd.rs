//! A tree with unusual files, names, modes and times.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Bytes that do not repeat with a short period.
pub fn sample(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32).map(|i| ((i ^ seed).wrapping_mul(2_654_435_761) >> 21) as u8).collect()
}

/// Makes the tree.
pub fn odd_tree(root: &Path) {
    let write = |name: &[u8], bytes: &[u8]| {
        let path = root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
        fs::write(path, bytes).expect("written");
    };
    for length in [0, 1, 511, 512, 513, 1023, 1024, 1025, 70_000, 1 << 20, (5 << 20) + 77] {
        write(format!("lengths/{length}").as_bytes(), &sample(length, 7));
    }
    write("ä/ö ü\n\"'\\.txt".as_bytes(), b"signs");
    write(b"bad\xff\xfename", b"not text");
    write(&[b"long/".as_slice(), &[0xfe; 200]].concat(), b"not text and long");
    write(&[&[b'p'; 90][..], b"/", &[b'q'; 60]].concat(), b"a prefix");
    write(&[&[b'l'; 250][..], b"/", &[b'm'; 250], b"/", &[b'n'; 250]].concat(), b"no prefix will do");
    fs::create_dir_all(root.join("empty/deep")).expect("folders");
    symlink("../../outside", root.join("link")).expect("a link");
    symlink("t".repeat(300), root.join("long link")).expect("a link");
    write(b"hard/first", b"one file");
    fs::hard_link(root.join("hard/first"), root.join("hard/second")).expect("a link");
    fs::hard_link(root.join("hard/first"), root.join("third")).expect("a link");
    let mut holes = File::create(root.join("holes")).expect("a file");
    holes.set_len(40 << 20).expect("longer");
    for (place, length) in [(3 << 20, 5000), (20 << 20, 2 << 20)] {
        holes.seek(SeekFrom::Start(place)).expect("a place");
        holes.write_all(&sample(length, 3)).expect("written");
    }
    File::create(root.join("hole")).expect("a file").set_len(1 << 20).expect("longer");
    for (name, mode) in [("lengths/1", 0o400), ("lengths/511", 0o755), ("empty", 0o700), ("third", 0o4711)] {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let times = [
        ("lengths/0", UNIX_EPOCH - Duration::from_millis(1500)),
        ("lengths/1", UNIX_EPOCH + Duration::new(1, 123_456_789)),
        ("lengths/511", UNIX_EPOCH + Duration::from_secs(1 << 33)),
        ("empty/deep", UNIX_EPOCH + Duration::new(1_000_000_000, 1)),
    ];
    for (name, time) in times {
        let file = File::open(root.join(name)).expect("it is there");
        file.set_times(FileTimes::new().set_modified(time)).expect("a time");
    }
}
