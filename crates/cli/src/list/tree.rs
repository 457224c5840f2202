//! Entries drawn as a tree.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::row::{Row, name};

/// Collects entries for a drawing. All names are kept until the end, since a later entry decides whether a branch is
/// the last of its folder.
#[derive(Default)]
pub struct Tree {
    leaves: Vec<Leaf>,
    /// The path of each leaf, and after it the text that follows the name.
    bytes: Vec<u8>,
    /// Whether the entries came in order.
    sorted: bool,
}

/// A path and the text that follows the name, as positions in `Tree::bytes`.
#[derive(Clone, Copy)]
struct Leaf {
    begin: usize,
    path: u32,
    end: usize,
}

impl Tree {
    pub fn new() -> Self {
        Self { sorted: true, ..Self::default() }
    }

    pub fn add(&mut self, row: &Row<'_>) {
        let begin = self.bytes.len();
        let path = row.path.unwrap_or(b"(no name)");
        self.bytes.extend_from_slice(path);
        let mut behind = String::new();
        super::row::link(&mut behind, row.kind, row.target);
        if row.kind == deadpan_pack::Kind::Folder {
            behind.push('/');
        }
        self.bytes.extend_from_slice(behind.as_bytes());
        let leaf = Leaf { begin, path: path.len() as u32, end: self.bytes.len() };
        self.sorted &= self.leaves.last().is_none_or(|last| order(self.path(last), self.path(&leaf)) == Ordering::Less);
        self.leaves.push(leaf);
    }

    fn path(&self, leaf: &Leaf) -> &[u8] {
        &self.bytes[leaf.begin..leaf.begin + leaf.path as usize]
    }

    /// Draws the tree. Folders without an entry of their own are drawn, too. Of several entries with one path, the last
    /// is drawn.
    pub fn draw(mut self, output: &mut impl Write) -> io::Result<()> {
        if !self.sorted {
            let mut leaves = std::mem::take(&mut self.leaves);
            leaves.sort_by(|one, other| order(self.path(one), self.path(other)));
            // The sort is stable, so the last of equal paths is the one that came last.
            leaves.reverse();
            leaves.dedup_by(|one, other| self.path(one) == self.path(other));
            leaves.reverse();
            self.leaves = leaves;
        }
        let last = self.last();
        let mut last = last.iter();
        // For each level, whether its branch is the last of its folder.
        let mut ends = Vec::new();
        let mut line = String::new();
        self.branches(|branch| {
            let is_last = last.next().is_none_or(|last| *last);
            line.clear();
            ends.truncate(branch.depth);
            for end in ends.iter().skip(1) {
                line.push_str(if *end { "    " } else { "\u{2502}   " });
            }
            if branch.depth > 0 {
                line.push_str(if is_last { "\u{2514}\u{2500}\u{2500} " } else { "\u{251c}\u{2500}\u{2500} " });
            }
            ends.push(is_last);
            name(&mut line, branch.name);
            line.push_str(str::from_utf8(branch.behind).unwrap_or_default());
            line.push('\n');
            output.write_all(line.as_bytes())
        })
    }

    /// Returns for each branch whether it is the last of its folder.
    fn last(&self) -> Vec<bool> {
        let mut last: Vec<bool> = Vec::with_capacity(self.leaves.len());
        // The index of the latest branch on each level.
        let mut latest: Vec<usize> = Vec::new();
        let _ = self.branches(|branch| {
            if let Some(before) = latest.get(branch.depth) {
                last[*before] = false;
            }
            latest.truncate(branch.depth);
            latest.push(last.len());
            last.push(true);
            Ok(())
        });
        last
    }

    /// Visits a branch for each path component that the previous path does not have.
    fn branches(&self, mut visit: impl FnMut(&Branch<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut before: &[u8] = b"";
        for leaf in &self.leaves {
            let path = self.path(leaf);
            let mut begin = shared(before, path);
            let mut depth = path[..begin].iter().filter(|byte| **byte == b'/').count();
            while let Some(length) = path[begin..].iter().position(|byte| *byte == b'/') {
                visit(&Branch { depth, name: &path[begin..begin + length], behind: b"/" })?;
                (begin, depth) = (begin + length + 1, depth + 1);
            }
            visit(&Branch {
                depth,
                name: &path[begin..],
                behind: &self.bytes[leaf.begin + leaf.path as usize..leaf.end],
            })?;
            before = path;
        }
        Ok(())
    }
}

/// One line of the drawing.
struct Branch<'a> {
    depth: usize,
    name: &'a [u8],
    behind: &'a [u8],
}

/// Returns the length of the folders at the beginning of `path` that were drawn for the path `before`.
fn shared(before: &[u8], path: &[u8]) -> usize {
    let same = before.iter().zip(path).take_while(|(one, other)| one == other).count();
    if same == before.len() && path.get(same) == Some(&b'/') && same > 0 {
        return same + 1;
    }
    path[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)
}

/// Compares two paths, component by component.
fn order(one: &[u8], other: &[u8]) -> Ordering {
    one.split(|byte| *byte == b'/').cmp(other.split(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_pack::Kind;

    fn drawn(entries: &[(&str, Kind, Option<&str>)]) -> String {
        let mut tree = Tree::new();
        for (path, kind, target) in entries {
            let target = target.map(str::as_bytes);
            tree.add(&Row {
                path: Some(path.as_bytes()),
                kind: *kind,
                size: 0,
                mode: None,
                modified: None,
                target,
                entry: None,
            });
        }
        let mut output = Vec::new();
        tree.draw(&mut output).unwrap();
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
