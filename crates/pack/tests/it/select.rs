//! Tests selections, through the index and by reading the whole archive.

use std::io::Cursor;

use crate::reference::{Item, pack};
use deadpan_pack::{Contents, Error, Fault, Kind, Listed, Pick, Scan, Selection};

fn items() -> Vec<Item> {
    vec![
        Item::folder(""),
        Item::file("*", 1),
        Item::file("[x]", 1),
        Item::file("a.jpg", 1),
        Item::file("b.jpg", 1),
        Item::folder("root"),
        Item::file("root/a.jpg", 1),
        Item::folder("sub"),
        Item::folder("sub/deep"),
        Item::file("sub/deep/a.jpg", 1),
        Item::link("sub/hard", Kind::HardLink, "a.jpg"),
        Item::link("sub/other", Kind::HardLink, "sub/deep/a.jpg"),
        Item::file("sub/\u{e4}.jpg", 1),
        Item::file("sub.txt", 1),
        Item::file("x", 1),
        Item::file(b"\xff\xfe", 1),
    ]
}

fn picks(paths: &[&[u8]], counts: &[usize]) -> Result<Vec<Pick>, Error> {
    let (pack, _) = pack(&items(), counts, false);
    let mut contents = Contents::read(Cursor::new(&pack))?.expect("a pack");
    let chosen = Selection::new(paths.iter().map(|path| path.to_vec())).within(&mut contents)?;
    chosen.entries(&mut contents).collect()
}

fn paths(wanted: &[&[u8]]) -> Vec<String> {
    let all = |counts: &[usize]| -> Vec<String> {
        let picks = picks(wanted, counts).unwrap();
        picks.iter().map(|pick| pick.entry.path.escape_ascii().to_string()).collect()
    };
    assert_eq!(all(&[1]), all(&[100]), "for all part sizes");
    all(&[3])
}

/// Returns the number of paths that a filter selects when the whole archive is read. The filter treats each path both
/// as a path and as a pattern.
fn filtered(wanted: &[&[u8]]) -> Result<usize, Error> {
    let (pack, _) = pack(&items(), &[5], true);
    let mut scan = Scan::stream(&pack[..]);
    let mut filter = Selection::new(wanted.iter().map(|path| path.to_vec())).filter();
    let mut taken = 0;
    while let Some(listed) = scan.next().transpose()? {
        if let Listed::Entry(entry) = listed {
            taken += usize::from(filter.takes(&entry.path, entry.kind == Kind::Folder, scan.root_name()));
        }
    }
    filter.finish().map(|_| taken)
}

#[test]
fn files_folders_and_patterns_are_selected() {
    for (wanted, found) in [
        (&[&b"/a.jpg"[..]][..], &["a.jpg"][..]),
        (&[b"./a.jpg"], &["a.jpg"]),
        (&[b"root/b.jpg"], &["b.jpg"]),
        (&[b"/root/b.jpg"], &["b.jpg"]),
        (&[b"root/sub/deep/"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"deep"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"deep/"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"hard"], &["sub/hard"]),
        (&[b"sub/deep", b"sub/deep/a.jpg", b"root/sub/deep"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"x", b"/a.jpg"], &["a.jpg", "x"]),
        (&[b"/?.jpg"], &["a.jpg", "b.jpg"]),
        (&[b"?.jpg"], &["a.jpg", "b.jpg", "root/a.jpg", "sub/deep/a.jpg"]),
        (&[b"sub/??.jpg"], &["sub/\\xc3\\xa4.jpg"]),
        (&[b"**/a.jpg"], &["a.jpg", "root/a.jpg", "sub/deep/a.jpg"]),
        (&[b"root/sub/d*"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"r??t/b.jpg"], &["b.jpg"]),
        (&[b"*/a.jpg"], &["a.jpg", "root/a.jpg"]),
        (&[b"ro*/sub/d*"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"sub/**/a.jpg", b"sub.*"], &["sub/deep/a.jpg", "sub.txt"]),
        (&[b"\xff\xfe"], &["\\xff\\xfe"]),
        (&[b"?\xfe"], &["\\xff\\xfe"]),
        (&[b"*.jpg", b"!a.jpg"], &["b.jpg", "sub/\\xc3\\xa4.jpg"]),
        (&[b"sub", b"!**/deep/*", b"!sub/??.jpg"], &["sub", "sub/deep", "sub/hard", "sub/other"]),
        (&[b"!?*", b"b.jpg"], &["", "b.jpg"]),
        (
            &[b"*.jpg", b"/x", b"*.png", b"!none"],
            &["a.jpg", "b.jpg", "root/a.jpg", "sub/deep/a.jpg", "sub/\\xc3\\xa4.jpg", "x"],
        ),
    ] {
        assert_eq!(paths(wanted), found);
        assert_eq!(filtered(wanted).unwrap(), found.len(), "{found:?}");
    }
}

#[test]
fn everything() {
    for all in [&b"root"[..], b"root/", b".", b"root/**", b"./root"] {
        let expected = if all == b"root/**" { 15 } else { 16 };
        assert_eq!(paths(&[all]).len(), expected, "{}", all.escape_ascii());
    }
}

#[test]
fn exact_names_take_precedence_over_patterns() {
    assert_eq!(paths(&[b"*"]), ["*"]);
    assert_eq!(paths(&[b"[x]"]), ["[x]"]);
    assert_eq!(paths(&[b"[x-x]"]), ["x"]);
    assert_eq!(paths(&[b"a.jpg"]), ["a.jpg"]);
    assert_eq!(filtered(&[b"a.jpg"]).unwrap(), 3, "an archive that is read in order has no names to look up");
}

#[test]
fn paths_may_begin_with_the_root() {
    // root/root/a.jpg exists, too.
    assert_eq!(paths(&[b"root/a.jpg"]), ["a.jpg"]);
    assert_eq!(paths(&[b"root/root/a.jpg"]), ["root/a.jpg"]);
}

#[test]
fn a_selection_that_matches_nothing_is_an_error() {
    for missing in [&b"nothing"[..], b"sub/a.jpg", b"b.jpg/x", b"roo", b"/deep", b"a.jpg/"] {
        for error in [picks(&[b"a.jpg", missing], &[3]).unwrap_err(), filtered(&[b"a.jpg", missing]).unwrap_err()] {
            assert_eq!(error.fault(), Fault::Caller);
            let text = error.to_string();
            assert_eq!(text, format!("nothing in the archive matches {}", missing.escape_ascii()));
        }
    }
}

#[test]
fn patterns_that_match_nothing_are_told() {
    let (pack, _) = pack(&items(), &[3], false);
    let mut contents = Contents::read(Cursor::new(&pack)).unwrap().expect("a pack");
    let selection = Selection::new([b"*.png".to_vec(), b"a.jpg".to_vec(), b"!*.gif".to_vec()]);
    assert_eq!(selection.within(&mut contents).unwrap().idle(), [b"*.png".to_vec(), b"!*.gif".to_vec()]);
    for nothing in [&[&b"*.png"[..]][..], &[b"a.jpg", b"!*"], &[b"!**", b"!."]] {
        for error in [picks(nothing, &[3]).unwrap_err(), filtered(nothing).unwrap_err()] {
            assert_eq!(error.to_string(), format!("nothing in the archive matches {}", nothing[0].escape_ascii()));
        }
    }
}

#[test]
fn a_hard_link_without_its_target_is_unpacked_as_a_file() {
    let both = picks(&[b"sub"], &[3]).unwrap();
    let source = |path: &[u8]| {
        both.iter().find(|pick| pick.entry.path == path).unwrap().source.as_ref().map(|entry| entry.path.clone())
    };
    assert_eq!(source(b"sub/hard"), Some(b"a.jpg".to_vec()));
    assert_eq!(source(b"sub/other"), None, "the target is selected");
    let alone = picks(&[b"sub/other"], &[3]).unwrap();
    assert_eq!(alone[0].source.as_ref().unwrap().path, b"sub/deep/a.jpg");
}
