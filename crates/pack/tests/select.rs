//! What `--only` names, through the index and by reading through.

mod reference;

use deadpan_pack::{Contents, Error, Fault, Kind, Listed, Pick, Scan, Selection};
use reference::{Item, pack};
use std::io::Cursor;

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
    assert_eq!(all(&[1]), all(&[100]), "however it is cut into parts");
    all(&[3])
}

/// By reading through, where a name is a pattern too.
fn filtered(wanted: &[&[u8]]) -> Result<usize, Error> {
    let (pack, _) = pack(&items(), &[5], true);
    let mut scan = Scan::stream(&pack[..]);
    let mut filter = Selection::new(wanted.iter().map(|path| path.to_vec())).filter();
    let mut taken = 0;
    while let Some(listed) = scan.next().transpose()? {
        if let Listed::Entry(entry) = listed {
            taken += usize::from(filter.takes(&entry.path, scan.root_name()));
        }
    }
    filter.finish().map(|()| taken)
}

#[test]
fn files_folders_and_patterns() {
    for (wanted, found) in [
        (&[&b"a.jpg"[..]][..], &["a.jpg"][..]),
        (&[b"./a.jpg"], &["a.jpg"]),
        (&[b"root/b.jpg"], &["b.jpg"]),
        (&[b"root/sub/deep/"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"sub/deep", b"sub/deep/a.jpg", b"root/sub/deep"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"x", b"a.jpg"], &["a.jpg", "x"]),
        (&[b"?.jpg"], &["a.jpg", "b.jpg"]),
        (&[b"sub/?.jpg"], &["sub/\\xc3\\xa4.jpg"]),
        (&[b"**/a.jpg"], &["a.jpg", "root/a.jpg", "sub/deep/a.jpg"]),
        (&[b"root/sub/d*"], &["sub/deep", "sub/deep/a.jpg"]),
        (&[b"sub/**/a.jpg", b"sub.*"], &["sub/deep/a.jpg", "sub.txt"]),
        (&[b"\xff\xfe"], &["\\xff\\xfe"]),
        (&[b"?\xfe"], &["\\xff\\xfe"]),
    ] {
        assert_eq!(paths(wanted), found);
        assert_eq!(filtered(wanted).unwrap(), found.len(), "{found:?}");
    }
}

#[test]
fn everything() {
    for all in [&b"root"[..], b"root/", b".", b"root/**/", b"./root"] {
        let expected = if all == b"root/**/" { 15 } else { 16 };
        assert_eq!(paths(&[all]).len(), expected, "{}", all.escape_ascii());
    }
}

#[test]
fn a_name_that_looks_like_a_pattern_is_a_name_first() {
    assert_eq!(paths(&[b"*"]), ["*"]);
    assert_eq!(paths(&[b"[x]"]), ["[x]"]);
    assert_eq!(paths(&[b"[x-x]"]), ["x"]);
}

#[test]
fn with_the_roots_name_first() {
    // There is root/root/a.jpg too.
    assert_eq!(paths(&[b"root/a.jpg"]), ["a.jpg"]);
    assert_eq!(paths(&[b"root/root/a.jpg"]), ["root/a.jpg"]);
}

#[test]
fn what_matches_nothing_is_named() {
    for missing in [&b"nothing"[..], b"sub/a.jpg", b"*.png", b"b.jpg/x", b"roo", b"/a.jpg"] {
        for error in [picks(&[b"a.jpg", missing], &[3]).unwrap_err(), filtered(&[b"a.jpg", missing]).unwrap_err()] {
            assert_eq!(error.fault(), Fault::Caller);
            let text = error.to_string();
            assert!(text.contains(&missing.escape_ascii().to_string()) && text.contains("\nhint: "), "{text}");
        }
    }
}

#[test]
fn a_hard_link_brings_its_file_where_that_is_not_there() {
    let both = picks(&[b"sub"], &[3]).unwrap();
    let source = |path: &[u8]| both.iter().find(|pick| pick.entry.path == path).unwrap().source.as_ref().map(|entry| entry.path.clone());
    assert_eq!(source(b"sub/hard"), Some(b"a.jpg".to_vec()));
    assert_eq!(source(b"sub/other"), None, "its file is there");
    let alone = picks(&[b"sub/other"], &[3]).unwrap();
    assert_eq!(alone[0].source.as_ref().unwrap().path, b"sub/deep/a.jpg");
}
