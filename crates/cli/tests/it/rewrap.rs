//! Changes of recipients that are interrupted, that run at the same time as other changes, or that find planted files.
//! One test prints the time of a change.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::time::Instant;

use rustix::fs::{FlockOperation, flock};

use crate::sandbox::{Sandbox, skip};
use deadpan_seal::{Header, Sidecar};

const RECORD: &str = ".data.dpn.deadpan-rewrap";

/// Makes a sandbox with `data.dpn`. Also returns the file's contents before and after a change that adds the recipient
/// `other`.
fn changed() -> (Sandbox, Vec<u8>, Vec<u8>) {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.run(&["keygen", "--no-passphrase", "-o", "other.key"]).expect(0, "");
    sandbox.write("data", vec![7; 1_200_000]);
    sandbox.run(&["seal", "data"]).expect(0, "");
    let old = sandbox.read("data.dpn");
    sandbox.run(&["rewrap", "-r", "other.pub", "data.dpn"]).expect(0, "");
    let new = sandbox.read("data.dpn");
    assert!(old != new && old.len() == new.len());
    (sandbox, old, new)
}

fn header_of(file: &[u8]) -> usize {
    usize::try_from(Header::read(file).unwrap().length()).unwrap()
}

/// Returns the record that remains if the change is killed.
fn record(sandbox: &Sandbox, old: &[u8], new: &[u8]) -> Sidecar {
    let about = fs::metadata(sandbox.path("data.dpn")).unwrap();
    let header = header_of(old);
    Sidecar::new(about.ino(), about.len(), &old[header..], old[..header].to_vec(), new[..header].to_vec()).unwrap()
}

/// Writes a record that other users cannot change.
fn leave(sandbox: &Sandbox, bytes: &[u8]) {
    let path = sandbox.path(RECORD);
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
}

/// Writes bytes to the start of `data.dpn`, and keeps the inode of the file.
fn put(sandbox: &Sandbox, bytes: &[u8]) {
    File::options().write(true).open(sandbox.path("data.dpn")).unwrap().write_all_at(bytes, 0).unwrap();
}

#[test]
fn the_next_command_puts_a_torn_header_back() {
    let (sandbox, old, new) = changed();
    let header = header_of(&old);
    let seal = ["seal", "-f", "-o", "twice", "data.dpn"];
    let commands: [&[&str]; 8] = [
        &["open", "-f", "-o", "out", "data.dpn"],
        &["open", "--verify", "data.dpn"],
        &["inspect", "data.dpn"],
        &["open", "--range", "0:10", "-o", "-", "data.dpn"],
        &seal,
        &["rewrap", "-r", "other.pub", "data.dpn"],
        &["rewrap", "--dry-run", "data.dpn"],
        &["rewrap", "--recursive", "-r", "other.pub", "."],
    ];
    // The new entry begins after the first entry, so the headers differ from that place on.
    let places = [14, 16, 1300, 1400, 2000, 2500, header - 33, header - 1];
    for (cut, args) in places.into_iter().chain(places).zip(commands.into_iter().cycle()) {
        for torn in [[&new[..cut], &old[cut..header]].concat(), [&old[..cut], &new[cut..header]].concat()] {
            if torn == old[..header] || torn == new[..header] {
                continue;
            }
            put(&sandbox, &torn);
            leave(&sandbox, &record(&sandbox, &old, &new).encode());
            sandbox.run(args).expect(0, "note: a change of the recipients of").expect(0, "data.dpn was interrupted");
            assert!(!sandbox.path(RECORD).exists(), "{args:?}");
            let now = sandbox.read("data.dpn");
            assert!(
                if args[0] == "rewrap" && args.contains(&"-r") { now == new } else { now == old },
                "{args:?}, {cut}"
            );
            sandbox.run(&["open", "--verify", "data.dpn"]).expect(0, "whole and unchanged");
        }
    }
    // Sealing `data.dpn` itself must read the restored header.
    sandbox.run(&seal).expect(0, "");
    sandbox.run(&["open", "-f", "-o", "out", "twice"]).expect(0, "");
    assert!(sandbox.read("out") == sandbox.read("data.dpn"));
}

/// If the user names a link to a file, the command uses the record beside the file itself.
#[test]
fn a_link_leads_to_the_record_beside_the_file() {
    let (sandbox, old, new) = changed();
    let header = header_of(&old);
    fs::create_dir(sandbox.path("links")).unwrap();
    symlink("../data.dpn", sandbox.path("links/link")).unwrap();
    put(&sandbox, &[&new[..1400], &old[1400..header]].concat());
    leave(&sandbox, &record(&sandbox, &old, &new).encode());
    sandbox.run(&["open", "-o", "out", "links/link"]).expect(0, "links/link was interrupted");
    assert!(sandbox.read("data.dpn") == old && !sandbox.path(RECORD).exists());
}

/// If a run is killed before or after it writes the header, the next run only needs to remove the record.
#[test]
fn records_of_whole_headers_are_removed() {
    let (sandbox, old, new) = changed();
    for (now, other) in [(&old, &new), (&new, &old)] {
        for record in [record(&sandbox, &old, &new), record(&sandbox, now, other), record(&sandbox, other, now)] {
            put(&sandbox, &now[..header_of(now)]);
            let bytes = record.encode();
            // The record may also be incomplete. If the record is incomplete, the header was not written yet.
            for end in [bytes.len(), bytes.len() - 1, 100, 8, 3, 0] {
                leave(&sandbox, &bytes[..end]);
                let run = sandbox.run(&["open", "-f", "-o", "out", "data.dpn"]).expect(0, "");
                assert_eq!(run.stderr(), "", "{end}");
                assert!(!sandbox.path(RECORD).exists() && sandbox.read("data.dpn") == *now, "{end}");
            }
        }
    }
}

/// No record beside a healthy file changes that file. Only a valid record changes a file whose header is partly
/// written.
#[test]
fn planted_and_outdated_records_change_nothing() {
    let (sandbox, old, new) = changed();
    let header = header_of(&old);
    let about = fs::metadata(sandbox.path("data.dpn")).unwrap();
    let torn = [&new[..1400], &old[1400..header]].concat();
    let good = record(&sandbox, &old, &new).encode();
    let of = |inode, length, payload: &[u8], old: &[u8], new: &[u8]| {
        Sidecar::new(inode, length, payload, old.to_vec(), new.to_vec()).unwrap().encode()
    };
    let (inode, length, payload) = (about.ino(), about.len(), &old[header..]);
    let (before, after) = (&old[..header], &new[..header]);
    let garbage = vec![0x17; header];
    let mut other_payload = payload.to_vec();
    other_payload[20] ^= 1;
    let planted = [
        ("another inode", of(inode + 1, length, payload, before, after)),
        ("another length", of(inode, length + 1, payload, before, after)),
        ("another payload", of(inode, length, &other_payload, before, after)),
        ("garbage as the old header", of(inode, length, payload, &garbage, after)),
        ("garbage as the new header", of(inode, length, payload, before, &garbage)),
        ("garbage twice", of(inode, length, payload, &garbage, &vec![0; header])),
        ("a shorter header", of(inode, length, &old[100..], &old[..100], &new[..100])),
        ("another file", b"#!/bin/sh\n".to_vec()),
        ("a flipped bit", {
            let mut bytes = good.clone();
            bytes[200] ^= 1;
            bytes
        }),
        ("a long file", vec![0x89; Sidecar::LONGEST + 1]),
    ];
    for (what, bytes) in &planted {
        for now in [before, after, &torn] {
            put(&sandbox, now);
            leave(&sandbox, bytes);
            let run = sandbox.run(&["open", "-f", "-o", "out", "data.dpn"]);
            assert_eq!(run.code() == Some(0), now != &torn[..], "{what}: {}", run.stderr());
            assert!(sandbox.read("data.dpn")[..header] == *now, "{what}");
        }
    }
    // The record has the right contents, but other users may write to the record, or the record is a link to another
    // file.
    let path = sandbox.path(RECORD);
    let check = |what: &str| {
        for now in [before, after, &torn] {
            put(&sandbox, now);
            let run = sandbox.run(&["open", "-f", "-o", "out", "data.dpn"]);
            assert_eq!(run.code() == Some(0), now != &torn[..], "{what}: {}", run.stderr());
            assert!(sandbox.read("data.dpn")[..header] == *now, "{what}");
        }
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
    };
    leave(&sandbox, &good);
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    check("others may write it");
    leave(&sandbox, &good);
    fs::hard_link(&path, sandbox.path("second")).unwrap();
    check("it has two names");
    fs::rename(sandbox.path("second"), sandbox.path("elsewhere")).unwrap();
    symlink("elsewhere", &path).unwrap();
    check("it is a link");
    fs::create_dir(&path).unwrap();
    check("it is a folder");
    sandbox.shell(&format!("mkfifo {RECORD}")).expect(0, "");
    check("it is a pipe");
    if rustix::process::geteuid().is_root() {
        leave(&sandbox, &good);
        std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
        check("another user wrote it");
    } else {
        skip("records of other users", "this needs root");
    }
}

/// A record of earlier contents of the file does not prevent a new change. A record of another file may still be
/// needed.
#[test]
fn an_outdated_record_gives_way_and_a_strange_file_does_not() {
    let (sandbox, old, new) = changed();
    let inode = fs::metadata(sandbox.path("data.dpn")).unwrap().ino();
    let header = header_of(&old);
    let record = |inode| Sidecar::new(inode, 5, b"x", old[..header].to_vec(), new[..header].to_vec()).unwrap().encode();
    put(&sandbox, &old[..header]);
    leave(&sandbox, &record(inode + 1));
    sandbox.run(&["rewrap", "-r", "other.pub", "data.dpn"]).expect(4, "does not belong to this file");
    assert!(sandbox.read("data.dpn") == old && sandbox.read(RECORD) == record(inode + 1));
    leave(&sandbox, &record(inode));
    sandbox.run(&["rewrap", "-r", "other.pub", "data.dpn"]).expect(0, "");
    assert!(sandbox.read("data.dpn") == new && !sandbox.path(RECORD).exists());
    put(&sandbox, &old[..header]);
    leave(&sandbox, b"something else");
    sandbox.run(&["rewrap", "-r", "other.pub", "data.dpn"]).expect(4, "is in the way");
    assert!(sandbox.read("data.dpn") == old && sandbox.read(RECORD) == b"something else");
}

#[test]
fn two_changes_at_once_exclude_each_other() {
    let (sandbox, _, new) = changed();
    let held = File::open(sandbox.path("data.dpn")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let args = ["rewrap", "--remove", "other.pub", "data.dpn"];
    sandbox.run(&args).expect(4, "another run changes data.dpn at this moment");
    assert!(sandbox.read("data.dpn") == new);
    // Closing the file is not enough: another test may start a program, which has the file, too, until it is executed.
    flock(&held, FlockOperation::Unlock).unwrap();
    sandbox.run(&args).expect(0, "");

    // If many commands run at the same time, each command makes its change or reports why it does not. The file can be
    // opened afterwards.
    let names: Vec<_> = (0..6).map(|number| format!("k{number}")).collect();
    for name in &names {
        sandbox.run(&["keygen", "--no-passphrase", "-o", &format!("{name}.key")]).expect(0, "");
    }
    let line =
        "for k in k0 k1 k2 k3 k4 k5; do deadpan rewrap -r $k.pub data.dpn 2> $k.err; echo $? > $k.code & done; wait";
    sandbox.shell(line).expect(0, "");
    for name in &names {
        let run = sandbox.run(&["open", "-f", "-i", &format!("{name}.key"), "-o", "out", "data.dpn"]);
        match &sandbox.read(&format!("{name}.code"))[..] {
            b"0\n" => drop(run.expect(0, "")),
            code => {
                assert_eq!(code, b"4\n");
                assert!(String::from_utf8(sandbox.read(&format!("{name}.err"))).unwrap().contains("at this moment"));
            }
        }
    }
    sandbox.run(&["open", "--verify", "data.dpn"]).expect(0, "whole and unchanged");
}

/// A file that the user may not write to is not replaced by a new file.
#[test]
fn a_read_only_file_is_refused() {
    if rustix::process::geteuid().is_root() {
        return skip("read-only files", "root may write them");
    }
    let (sandbox, _, new) = changed();
    fs::set_permissions(sandbox.path("data.dpn"), Permissions::from_mode(0o444)).unwrap();
    sandbox.run(&["rewrap", "--remove", "other.pub", "data.dpn"]).expect(4, "permission denied");
    assert!(sandbox.read("data.dpn") == new);
}

/// Prints the time that a change of recipients takes for a file of one tebibyte. The time includes writing the record
/// and both headers to the disk.
#[test]
fn a_tebibyte_takes_milliseconds() {
    let (sandbox, old, _) = changed();
    let path = sandbox.path("data.dpn");
    let file = File::options().write(true).open(&path).unwrap();
    if file.set_len(1 << 40).is_err() {
        return skip("a file of a tebibyte", "the file system has no such files");
    }
    put(&sandbox, &old[..header_of(&old)]);
    let blocks = fs::metadata(&path).unwrap().blocks();
    let mut best = f64::MAX;
    for args in [["rewrap", "-r", "other.pub", "data.dpn"], ["rewrap", "--remove", "other.pub", "data.dpn"]].repeat(5) {
        let start = Instant::now();
        sandbox.run(&args).expect(0, "");
        best = best.min(start.elapsed().as_secs_f64());
    }
    let what = "rewrap of a sparse file of 1 TiB, with the start of the program";
    let _ = writeln!(std::io::stderr(), "{what}: {:.1} ms, the best of 10", best * 1e3);
    assert_eq!(fs::metadata(&path).unwrap().blocks(), blocks);
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 40);
    assert!(best < 10.0, "{best} s");
}
