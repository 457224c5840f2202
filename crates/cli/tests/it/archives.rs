//! Archives of other programs that break the standard in ways that GNU tar and bsdtar accept. Deadpan unpacks these
//! archives and writes a note.

use crate::archive::{end, ended, file, header, pax, sum};
use crate::sandbox::Sandbox;

/// Makes a header whose content fills one block.
fn with(path: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = [&header(path.as_bytes(), kind, content.len() as u64, b"")[..], content].concat();
    bytes.resize(1024, 0);
    bytes
}

/// Unpacks an archive from a file and from a pipe. In both cases, expects the file `a` (or no file if `empty` is set)
/// and the note on standard error.
fn accepted(archive: &[u8], empty: bool, note: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("odd.tar", archive);
    for line in ["deadpan unpack odd.tar", "rm -r odd; cat odd.tar | deadpan unpack -o odd"] {
        sandbox.shell(line).expect(0, note);
        let names = sandbox.shell("ls odd").expect(0, "");
        assert_eq!(names.stdout(), if empty { &b""[..] } else { b"a\n" }, "{note}");
        assert!(empty || sandbox.read("odd/a") == b"text", "{note}");
    }
}

#[test]
fn a_single_block_of_zeros_is_an_empty_archive() {
    accepted(&[0; 512], true, "note: the archive is empty");
}

#[test]
fn of_repeated_headers_the_last_one_counts() {
    let note = "note: an entry of the archive has the same extended header twice; the last one counts";
    accepted(&ended(&[with("L", b'L', b"first\0"), with("L", b'L', b"a\0"), file("b", b"text")]), false, note);
    let records = |path: &[u8]| pax(b'x', &[("path", path)]);
    accepted(&ended(&[records(b"first"), records(b"a"), file("b", b"text")]), false, note);
}

/// AIX writes sizes of 8 GiB and more with all twelve digits, so that the zero byte after the digits lies in the field
/// for the time.
#[test]
fn a_number_that_runs_into_the_next_field_is_read() {
    let mut block = header(b"a", b'0', 0, b"");
    block[124..136].copy_from_slice(b"000000000004");
    block[136..148].copy_from_slice(b"\x007346545000 ");
    let mut content = b"text".to_vec();
    content.resize(512, 0);
    let archive = [sum(block).to_vec(), content, end()].concat();
    accepted(&archive, false, "note: a number in the archive is too long for its field, and runs into the next one");
    let sandbox = Sandbox::new();
    sandbox.write("odd.tar", archive);
    let run = sandbox.shell("deadpan unpack odd.tar && stat -c %Y odd/a");
    assert_eq!(String::from_utf8_lossy(run.stdout()).trim(), 0o7_346_545_000.to_string(), "{}", run.stderr());
}

#[test]
fn access_control_lists_of_solaris_and_of_star_are_noted() {
    let list = with("a", b'A', b"1000007\0user::rwx");
    accepted(
        &ended(&[list, file("a", b"text")]),
        false,
        "note: access control lists in Solaris' form are not restored",
    );
    let list = pax(b'x', &[("SCHILY.acl.access", b"user::rw-,user:daemon:rw-,group::r--,mask::rw-,other::r--")]);
    let note = "note: access control lists are not restored: the group permissions of files that had one are its mask";
    accepted(&ended(&[list, file("a", b"text")]), false, note);
}
