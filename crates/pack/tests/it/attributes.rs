//! Access control lists and capabilities, which only root can restore.
#![allow(clippy::print_stderr)] // Tests that are skipped say so.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, setxattr};
use tempfile::tempdir;

use crate::archive::{ended, file, pax};
use crate::tree::{fresh, into};
use deadpan_pack::{Notes, Packer, Packing, Unpacking, What, Work, pack};

const LIST: &str = "system.posix_acl_access";
const DEFAULT_LIST: &str = "system.posix_acl_default";
const CAPABILITY: &str = "security.capability";

/// `user::rw-,user:1000:r--,group::---,mask::rw-,other::---` in the kernel's format.
fn list() -> Vec<u8> {
    let entries = [(1, 6, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
    let entries = entries.iter().flat_map(|(tag, rights, id): &(u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    2_u32.to_le_bytes().into_iter().chain(entries).collect()
}

/// `cap_net_bind_service=ep` in the kernel's format.
fn capability() -> Vec<u8> {
    [0x0200_0001, 1 << 10, 0, 0, 0_u32].iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn value(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = [0; 100];
    getxattr(path, name, &mut value).ok().map(|length| value[..length].to_vec())
}

/// Makes a folder with a file that has an access control list and a capability, if this system can make such a file.
fn sample() -> Option<tempfile::TempDir> {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "content").unwrap();
    let mut why = "only root restores access control lists and capabilities";
    if rustix::process::geteuid().is_root() {
        why = "this file system has no access control lists, or no capabilities";
        let set = |name: &str, value: &[u8]| setxattr(&path, name, value, XattrFlags::empty()).is_ok();
        if set(LIST, &list()) && set(CAPABILITY, &capability()) {
            return Some(folder);
        }
    }
    eprintln!("skipped: {why}");
    None
}

fn packed(folder: &Path, xattrs: bool) -> (Vec<u8>, Notes) {
    let mut bytes = Vec::new();
    let packer = Packer::new(folder, b"root", Packing { xattrs, ..Packing::default() }).unwrap();
    let packer = pack(packer, &mut bytes, &Work::default()).unwrap();
    (bytes, packer.notes())
}

/// A capability grants rights of root, as the setuid bit does, and an access control list grants rights to users by
/// their numbers.
#[test]
fn root_restores_no_rights_without_owners() {
    let Some(folder) = sample() else { return };
    let path = folder.path().join("file");
    setxattr(&path, "user.color", b"blue", XattrFlags::empty()).unwrap();
    let default = setxattr(folder.path(), DEFAULT_LIST, &list(), XattrFlags::empty()).is_ok();
    let (archive, _) = packed(folder.path(), true);
    for owner in [false, true] {
        let target = tempdir().unwrap();
        let outcome = into(target.path(), &archive, Unpacking { attributes: true, owner, ..fresh() }).unwrap();
        let path = target.path().join("file");
        assert_eq!(value(&path, CAPABILITY).is_some(), owner);
        assert_eq!(value(&path, LIST).is_some(), owner);
        assert_eq!(value(target.path(), DEFAULT_LIST).is_some(), owner && default);
        assert_eq!(value(&path, "user.color").as_deref(), Some(&b"blue"[..]));
        let noted = outcome.remarks.iter().any(|remark| remark.contains("by root and together with owners"));
        assert_eq!(noted, !owner, "{:?}", outcome.remarks);
    }
}

#[test]
fn root_restores_access_control_lists_and_capabilities() {
    let Some(folder) = sample() else { return };
    let (archive, notes) = packed(folder.path(), true);
    assert!(notes.list().is_empty(), "{:?}", notes.list());
    for (attributes, mask) in [(true, 0), (true, 0o022), (false, 0)] {
        let target = tempdir().unwrap();
        let outcome = into(target.path(), &archive, Unpacking { attributes, owner: true, mask, ..fresh() }).unwrap();
        let path = target.path().join("file");
        assert_eq!(value(&path, CAPABILITY), attributes.then(capability));
        let mut expected = list();
        // The umask changes the mask of the access control list, because the group bits of a mode are this mask.
        expected[4 + 3 * 8 + 2] &= !(mask >> 3) as u8;
        assert_eq!(value(&path, LIST), attributes.then_some(expected), "mask {mask:o}");
        let noted = outcome.remarks.iter().any(|remark| remark.starts_with("access control lists are not restored"));
        assert_eq!(noted, !attributes, "{:?}", outcome.remarks);
    }
}

#[test]
fn an_access_control_list_that_is_not_packed_is_noted() {
    let Some(folder) = sample() else { return };
    let (_, notes) = packed(folder.path(), false);
    assert!(matches!(notes.list(), [note] if note.path == b"file" && note.what == What::AccessList), "{notes:?}");
    assert!(!notes.incomplete());
    // A file without an access control list causes no note.
    rustix::fs::removexattr(folder.path().join("file"), LIST).unwrap();
    fs::set_permissions(folder.path().join("file"), Permissions::from_mode(0o664)).unwrap();
    assert!(packed(folder.path(), false).1.list().is_empty());
}

#[test]
fn an_access_control_list_in_text_form_is_noted() {
    let target = tempdir().unwrap();
    let archive = ended(&[pax(b'x', &[("SCHILY.acl.access", b"user::rw-,group::r--,other::---")]), file("a", b"x")]);
    let outcome = into(target.path(), &archive, fresh()).unwrap();
    assert!(outcome.remarks[0].starts_with("access control lists are not restored"), "{:?}", outcome.remarks);
    assert_eq!(target.path().join("a").metadata().unwrap().mode() & 0o7777, 0o644);
}
