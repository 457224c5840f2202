//! Draws the entries of a listing as a tree.
//!
//! The line of a branch shows whether the branch is the last branch of its folder. Only later entries decide whether a
//! branch is the last branch. Therefore two passes go over the entries: the first pass finds the last branches, and the
//! second pass draws the tree. A few bytes of an index can describe many long paths, so an index is read twice, and no
//! path is kept in memory. The entries of an archive without an index are collected in memory, because an archive
//! without an index stores whole paths, possibly in any order.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::row::{EntryRow, name};

/// The state of drawing a tree in one pass or in two passes over the entries.
pub enum EntryTree {
    /// The state for drawing in one pass: the entries are collected, and are drawn at the end.
    Collected(Leaves),
    /// The first of two passes over sorted entries.
    Measured(Shape),
    /// The state of the second pass over sorted entries.
    Drawn(Drawing),
}

impl EntryTree {
    pub fn new() -> Self {
        Self::Collected(Leaves { sorted: true, ..Leaves::default() })
    }

    /// Adds an entry. In the second pass, appends the lines of the entry to `text`.
    pub fn add(&mut self, row: &EntryRow<'_>, text: &mut String) {
        let path = row.path.unwrap_or(b"(no name)");
        if let Self::Measured(shape) = self {
            return shape.add(path);
        }
        let mut behind = String::new();
        super::row::link(&mut behind, row.kind, row.target);
        if row.kind == deadpan_pack::Kind::Folder {
            behind.push('/');
        }
        match self {
            Self::Drawn(drawing) => drawing.add(path, &behind, text),
            Self::Collected(leaves) => leaves.add(path, &behind),
            Self::Measured(_) => {}
        }
    }
}

/// Entries in any order.
#[derive(Default)]
pub struct Leaves {
    leaves: Vec<Leaf>,
    /// For each leaf, its path, followed by the text that the tree shows after the leaf's name.
    bytes: Vec<u8>,
    /// Whether the entries were added in the order of their paths.
    sorted: bool,
}

/// The positions in `Leaves::bytes` of two texts: the path of a leaf, and the text that follows its name.
#[derive(Clone, Copy)]
struct Leaf {
    begin: usize,
    path: u32,
    end: usize,
}

impl Leaves {
    fn add(&mut self, path: &[u8], behind: &str) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(path);
        self.bytes.extend_from_slice(behind.as_bytes());
        let leaf = Leaf { begin, path: path.len() as u32, end: self.bytes.len() };
        self.sorted &= self.leaves.last().is_none_or(|last| order(self.path(last), self.path(&leaf)) == Ordering::Less);
        self.leaves.push(leaf);
    }

    fn path(&self, leaf: &Leaf) -> &[u8] {
        &self.bytes[leaf.begin..leaf.begin + leaf.path as usize]
    }

    /// Sorts the entries, and returns the shape of their tree. The shape includes folders without their own entry. If
    /// several entries have the same path, the tree contains only the last of these entries.
    pub fn shape(&mut self) -> Shape {
        if !self.sorted {
            let mut leaves = std::mem::take(&mut self.leaves);
            leaves.sort_by(|one, other| order(self.path(one), self.path(other)));
            // The sort is stable, so equal paths stay in the order in which they were added.
            leaves.reverse();
            leaves.dedup_by(|one, other| self.path(one) == self.path(other));
            leaves.reverse();
            self.leaves = leaves;
        }
        let mut shape = Shape::default();
        self.leaves.iter().for_each(|leaf| shape.add(self.path(leaf)));
        shape
    }

    /// Draws the tree. `shape` is the shape of this tree.
    pub fn draw(&self, shape: Shape, output: &mut impl Write) -> io::Result<()> {
        let (mut drawing, mut lines) = (Drawing::new(shape), String::new());
        for leaf in &self.leaves {
            let behind = &self.bytes[leaf.begin + leaf.path as usize..leaf.end];
            lines.clear();
            drawing.add(self.path(leaf), str::from_utf8(behind).unwrap_or_default(), &mut lines);
            output.write_all(lines.as_bytes())?;
        }
        Ok(())
    }
}

/// The shape of a tree: which branches are the last branches of their folders.
#[derive(Default)]
pub struct Shape {
    entries: u64,
    /// One bit for each branch. The bit of a branch shows whether another branch follows in the same folder.
    later: Vec<u64>,
    branches: usize,
    /// The index of the latest branch on each level.
    latest: Vec<usize>,
    before: Vec<u8>,
}

impl Shape {
    fn add(&mut self, path: &[u8]) {
        self.entries += 1;
        branches(&self.before, path, |depth, _, _| {
            if let Some(before) = self.latest.get(depth) {
                self.later[before / 64] |= 1 << (before % 64);
            }
            self.latest.truncate(depth);
            self.latest.push(self.branches);
            self.branches += 1;
            self.later.resize(self.branches.div_ceil(64), 0);
        });
        keep(&mut self.before, path);
    }

    fn is_last(&self, branch: usize) -> bool {
        self.later.get(branch / 64).is_none_or(|bits| bits >> (branch % 64) & 1 == 0)
    }

    /// Returns the number of folders without their own entry.
    pub fn implied(&self) -> u64 {
        (self.branches as u64).saturating_sub(self.entries)
    }
}

/// Draws sorted entries, one at a time.
pub struct Drawing {
    shape: Shape,
    /// The index of the next branch.
    next: usize,
    /// For each level, whether the current branch on this level is the last branch of its folder.
    ends: Vec<bool>,
    before: Vec<u8>,
}

impl Drawing {
    pub fn new(shape: Shape) -> Self {
        Self { shape, next: 0, ends: Vec::new(), before: Vec::new() }
    }

    fn add(&mut self, path: &[u8], behind: &str, text: &mut String) {
        branches(&self.before, path, |depth, branch, inside| {
            let is_last = self.shape.is_last(self.next);
            self.next += 1;
            self.ends.truncate(depth);
            for end in self.ends.iter().skip(1) {
                text.push_str(if *end { "    " } else { "\u{2502}   " });
            }
            if depth > 0 {
                text.push_str(if is_last { "\u{2514}\u{2500}\u{2500} " } else { "\u{251c}\u{2500}\u{2500} " });
            }
            self.ends.push(is_last);
            name(text, branch);
            text.push_str(if inside { "/" } else { behind });
            text.push('\n');
        });
        keep(&mut self.before, path);
    }
}

fn keep(before: &mut Vec<u8>, path: &[u8]) {
    before.clear();
    before.extend_from_slice(path);
}

/// Calls `visit` for each component of `path` below the folders that `path` shares with the path `before`. The
/// arguments are the component's depth, its name, and whether the component is a folder above the last component of the
/// path.
fn branches(before: &[u8], path: &[u8], mut visit: impl FnMut(usize, &[u8], bool)) {
    let mut begin = shared(before, path);
    let mut depth = path[..begin].iter().filter(|byte| **byte == b'/').count();
    while let Some(length) = path[begin..].iter().position(|byte| *byte == b'/') {
        visit(depth, &path[begin..begin + length], true);
        (begin, depth) = (begin + length + 1, depth + 1);
    }
    visit(depth, &path[begin..], false);
}

/// Returns the length of the part of `path` whose folders were already drawn with the path `before`.
fn shared(before: &[u8], path: &[u8]) -> usize {
    let same = before.iter().zip(path).take_while(|(one, other)| one == other).count();
    if same == before.len() && path.get(same) == Some(&b'/') && same > 0 {
        return same + 1;
    }
    path[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)
}

fn order(one: &[u8], other: &[u8]) -> Ordering {
    one.split(|byte| *byte == b'/').cmp(other.split(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_pack::Kind;

    fn row<'a>(path: &'a str, kind: Kind, target: Option<&'a [u8]>) -> EntryRow<'a> {
        EntryRow { path: Some(path.as_bytes()), kind, size: 0, mode: None, modified: None, target, entry: None }
    }

    fn drawn_in_order(entries: &[(&str, Kind, Option<&str>)]) -> String {
        let (mut tree, mut text) = (EntryTree::Measured(Shape::default()), String::new());
        let visit = |tree: &mut EntryTree, text: &mut String| {
            entries
                .iter()
                .for_each(|(path, kind, target)| tree.add(&row(path, *kind, target.map(str::as_bytes)), text));
        };
        visit(&mut tree, &mut text);
        let EntryTree::Measured(shape) = tree else { panic!("not measured") };
        assert_eq!(text, "");
        visit(&mut EntryTree::Drawn(Drawing::new(shape)), &mut text);
        text
    }

    fn drawn(entries: &[(&str, Kind, Option<&str>)]) -> String {
        let mut tree = EntryTree::new();
        for (path, kind, target) in entries {
            let target = target.map(str::as_bytes);
            tree.add(&row(path, *kind, target), &mut String::new());
        }
        let (EntryTree::Collected(mut leaves), mut output) = (tree, Vec::new()) else { panic!("not collected") };
        let shape = leaves.shape();
        leaves.draw(shape, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn a_tree() {
        let (folder, file) = (Kind::Folder, Kind::File);
        let expected = "\
root/
├── a/
│   ├── b/
│   │   └── c
│   └── d -> ../x
├── a.txt
└── z/
    └── y\\n
";
        let mut entries = vec![
            ("root", folder, None),
            ("root/a", folder, None),
            ("root/a/b", folder, None),
            ("root/a/b/c", file, None),
            ("root/a/d", Kind::SymbolicLink, Some("../x")),
            ("root/a.txt", file, None),
            ("root/z", folder, None),
            ("root/z/y\n", file, None),
        ];
        assert_eq!(drawn(&entries), expected);
        assert_eq!(drawn_in_order(&entries), expected);
        entries.reverse();
        assert_eq!(drawn(&entries), expected, "in another order");
        entries.retain(|entry| entry.1 != folder);
        assert_eq!(drawn(&entries), expected, "with folders that have no entries");
        entries.push(("root/a/d", Kind::SymbolicLink, Some("../x")));
        entries.insert(0, ("root/a/d", file, None));
        assert_eq!(drawn(&entries), expected, "the last one counts");
    }

    #[test]
    fn several_roots() {
        assert_eq!(drawn(&[("a", Kind::File, None), ("b/c", Kind::File, None)]), "a\nb/\n└── c\n");
        assert_eq!(drawn(&[]), "");
    }
}
