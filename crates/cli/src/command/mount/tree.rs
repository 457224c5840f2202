//! The files and folders of a mounted file, in memory: about a hundred bytes for each.

use std::ops::Range;

use deadpan_pack::{Entry, Kind, Time, is_under};

/// The longest name that systems show, in bytes.
const LONGEST: usize = 255;

/// A file, folder or link.
pub struct Node {
    pub kind: Kind,
    /// The permission bits, 0 to 0o7777.
    pub mode: u32,
    pub modified: Time,
    pub size: u64,
    /// The offset in the archive at which the headers begin.
    pub begin: u64,
    /// The offset in the archive at which the content begins.
    pub content: u64,
    /// The length of the content in the archive.
    pub stored: u64,
    /// The number of names of the file.
    pub links: u32,
    parent: usize,
    /// The range of the name in [`MountTree::names`].
    name: Range<usize>,
    /// The number of this node. For a hard link, the number of the node whose file the hard link names.
    file: usize,
}

/// The tree of all nodes. Node 0 is the root. The nodes have the order of a pack: a folder comes before its contents,
/// and the names in a folder are sorted.
pub struct MountTree {
    nodes: Vec<Node>,
    names: Vec<u8>,
    /// The nodes in each folder: those in folder `f` are `children[first[f]..first[f + 1]]`.
    children: Vec<usize>,
    first: Vec<usize>,
    /// The sum of all sizes.
    pub bytes: u64,
}

/// Makes a tree from entries in the order of a pack.
#[derive(Default)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    names: Vec<u8>,
    /// The paths and nodes of the last entry's folders. The next entry may belong to one of these folders.
    above: Vec<(Vec<u8>, usize)>,
    /// The nodes of the hard links, and the paths that the hard links name.
    links: Vec<(usize, Vec<u8>)>,
}

impl TreeBuilder {
    /// Adds an entry. Returns false if the entry cannot be shown, because its name is too long or its folder is
    /// missing.
    pub fn add(&mut self, entry: Entry) -> bool {
        let split = entry.path.iter().rposition(|byte| *byte == b'/');
        let parent = &entry.path[..split.unwrap_or(0)];
        let number = self.nodes.len();
        let name = &entry.path[split.map_or(0, |slash| slash + 1)..];
        while self.above.last().is_some_and(|(folder, _)| !is_under(parent, folder)) {
            self.above.pop();
        }
        let above = match self.above.last() {
            Some((folder, above)) if folder == parent && (1..=LONGEST).contains(&name.len()) => *above,
            None if entry.path.is_empty() && number == 0 && entry.kind == Kind::Folder => 0,
            _ => return false,
        };
        let begin = self.names.len();
        self.names.extend_from_slice(name);
        self.nodes.push(Node {
            kind: entry.kind,
            mode: entry.mode,
            modified: entry.modified,
            size: entry.size,
            begin: entry.begin,
            content: entry.content,
            stored: entry.stored,
            links: 1,
            parent: above,
            name: begin..self.names.len(),
            file: number,
        });
        match (entry.kind, entry.target) {
            (Kind::Folder, _) => self.above.push((entry.path, number)),
            (Kind::HardLink, target) => self.links.push((number, target.unwrap_or_default())),
            (Kind::SymbolicLink, target) => self.nodes[number].size = target.map_or(0, |target| target.len() as u64),
            _ => {}
        }
        true
    }

    /// Returns the tree. A hard link whose file is missing keeps its own number, and cannot be read.
    pub fn finish(self) -> MountTree {
        let Self { nodes, names, links, .. } = self;
        let mut first = vec![0; nodes.len() + 1];
        for node in nodes.iter().skip(1) {
            first[node.parent + 1] += 1;
        }
        for folder in 1..first.len() {
            first[folder] += first[folder - 1];
        }
        let (mut children, mut next) = (vec![0; nodes.len().saturating_sub(1)], first.clone());
        for (number, node) in nodes.iter().enumerate().skip(1) {
            children[next[node.parent]] = number;
            next[node.parent] += 1;
        }
        let bytes = nodes.iter().map(|node| node.size).fold(0, u64::saturating_add);
        let mut tree = MountTree { nodes, names, children, first, bytes };
        for (link, target) in links {
            // In an archive of another program, a hard link may name an earlier hard link. The file of that link is
            // already known.
            let file = tree.find(&target).map(|found| tree.file(found));
            if let Some(file) = file.filter(|file| is_file(tree.nodes[*file].kind)) {
                tree.nodes[link].file = file;
                tree.nodes[file].links += 1;
            }
        }
        tree
    }
}

fn is_file(kind: Kind) -> bool {
    matches!(kind, Kind::File | Kind::Sparse | Kind::SymbolicLink)
}

impl MountTree {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node with this number.
    pub fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    /// Returns the number of the file that a node names. The number is the same for all hard links
    /// to a file.
    pub fn file(&self, number: usize) -> usize {
        self.nodes.get(number).map_or(0, |node| node.file)
    }

    /// Returns the folder that contains a node. For the root, returns the root.
    pub fn parent(&self, number: usize) -> usize {
        self.nodes.get(number).map_or(0, |node| node.parent)
    }

    /// Returns the name of a node.
    pub fn name(&self, number: usize) -> &[u8] {
        self.nodes.get(number).map_or(b"", |node| &self.names[node.name.clone()])
    }

    /// Returns the node with this name in a folder.
    pub fn child(&self, folder: usize, name: &[u8]) -> Option<usize> {
        let all = self.children(folder);
        all.binary_search_by(|child| self.name(*child).cmp(name)).ok().map(|place| all[place])
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        path.split(|byte| *byte == b'/').try_fold(0, |folder, name| self.child(folder, name))
    }

    /// Returns the nodes in a folder, sorted by name.
    pub fn children(&self, folder: usize) -> &[usize] {
        let range = self.first.get(folder).zip(self.first.get(folder + 1));
        range.and_then(|(begin, end)| self.children.get(*begin..*end)).unwrap_or_default()
    }

    /// Returns the path of a node, relative to the root.
    pub fn path(&self, number: usize) -> Vec<u8> {
        let (mut parts, mut at) = (Vec::new(), number);
        while at != 0 {
            parts.push(self.name(at));
            at = self.parent(at);
        }
        parts.reverse();
        parts.join(&b'/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, kind: Kind, target: Option<&str>) -> Entry {
        Entry {
            path: path.into(),
            kind,
            mode: 0o4755,
            modified: Time::default(),
            size: if kind == Kind::File { 7 } else { 0 },
            begin: 0,
            content: 0,
            stored: 0,
            hash: None,
            target: target.map(|target| target.as_bytes().to_vec()),
        }
    }

    #[test]
    fn nodes_are_found_by_their_names_and_know_their_paths() {
        let mut builder = TreeBuilder::default();
        for (path, kind, target) in [
            ("", Kind::Folder, None),
            ("a", Kind::Folder, None),
            ("a/b", Kind::Folder, None),
            ("a/b/c", Kind::File, None),
            ("a/x", Kind::HardLink, Some("a/b/c")),
            ("a!", Kind::File, None),
            ("again", Kind::HardLink, Some("a/x")),
            ("e", Kind::Folder, None),
            ("s", Kind::SymbolicLink, Some("a/b")),
            ("z", Kind::HardLink, Some("a/b")),
        ] {
            assert!(builder.add(entry(path, kind, target)), "{path}");
        }
        let tree = builder.finish();
        let names = |folder| tree.children(folder).iter().map(|child| tree.name(*child)).collect::<Vec<_>>();
        assert_eq!(names(0), [&b"a"[..], b"a!", b"again", b"e", b"s", b"z"]);
        let a = tree.child(0, b"a").unwrap();
        assert_eq!(names(a), [&b"b"[..], b"x"]);
        let (b, link) = (tree.child(a, b"b").unwrap(), tree.child(a, b"x").unwrap());
        let c = tree.child(b, b"c").unwrap();
        assert_eq!((tree.file(link), tree.node(c).unwrap().links), (c, 3));
        assert_eq!(tree.file(tree.child(0, b"again").unwrap()), c, "a hard link to a hard link");
        assert_eq!((tree.path(c), tree.parent(b), tree.parent(a)), (b"a/b/c".to_vec(), a, 0));
        assert_eq!(tree.node(tree.child(0, b"s").unwrap()).unwrap().size, 3);
        let wrong = tree.child(0, b"z").unwrap();
        assert_eq!(tree.file(wrong), wrong, "a hard link to a folder");
        assert!(tree.child(0, b"b").is_none() && tree.child(c, b"c").is_none() && tree.children(99).is_empty());
        assert_eq!((tree.len(), tree.bytes), (10, 17));
    }

    #[test]
    fn entries_without_a_folder_are_refused() {
        let mut builder = TreeBuilder::default();
        assert!(!builder.add(entry("a", Kind::File, None)), "before the root");
        assert!(builder.add(entry("", Kind::Folder, None)) && !builder.add(entry("", Kind::Folder, None)));
        let mut builder = TreeBuilder::default();
        assert!(builder.add(entry("", Kind::Folder, None)) && builder.add(entry("a", Kind::File, None)));
        assert!(!builder.add(entry("a/b", Kind::File, None)), "in a file");
        let long = "n".repeat(256);
        assert!(!builder.add(entry(&long, Kind::Folder, None)));
        assert!(!builder.add(entry(&format!("{long}/b"), Kind::File, None)), "below a name that is too long");
        assert!(builder.add(entry("o", Kind::Folder, None)) && builder.add(entry("o/b", Kind::File, None)));
    }
}
