//! Selects a part of an archive by paths and patterns.

use std::io::{Read, Seek};

use crate::contents::Contents;
use crate::contents::IndexWalk;
use crate::entry::{Entry, Kind};
use crate::error::{Error, Refusal};
use crate::glob::Glob;
use crate::path::{is_under, order};
use crate::shown::shown;

/// Selected paths and patterns. A folder is selected with all of its contents. A path in a pack may begin with the
/// root's name, or may omit it.
///
/// In a pattern, `*` matches any characters except `/`, `?` matches one character, `[a-z]` matches one character of a
/// set, and `**` matches any number of folders.
#[derive(Clone, Debug)]
pub struct Selection(Vec<Vec<u8>>);

/// A selected path or pattern, relative to the root of the archive.
#[derive(Clone, Debug)]
enum Rule {
    Path(Vec<u8>),
    Glob(Glob),
}

impl Rule {
    fn takes(&self, path: &[u8]) -> bool {
        match self {
            Self::Path(folder) => is_under(path, folder),
            Self::Glob(glob) => glob.takes(path),
        }
    }

    fn from_way(way: Vec<u8>) -> Self {
        if Glob::is_one(&way) { Self::Glob(Glob::new(&way)) } else { Self::Path(way) }
    }

    /// Returns the path of the folder or file that contains all matches.
    fn base(&self) -> Vec<u8> {
        match self {
            Self::Path(path) => path.clone(),
            Self::Glob(glob) => glob.base(),
        }
    }
}

impl Selection {
    /// Makes a selection from patterns and from paths in the form that a listing shows.
    pub fn new(paths: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(paths.into_iter().map(|path| plain(&path).to_vec()).collect())
    }

    /// Whether the selection consists of a single path and no pattern. If the path belongs to a file, the caller wants
    /// the contents of the file.
    #[must_use]
    pub fn is_one_name(&self) -> bool {
        matches!(self.0.as_slice(), [wanted] if !Glob::is_one(wanted))
    }

    /// Looks up each path in the index. Exact names take precedence over patterns.
    ///
    /// # Errors
    /// [`Error::Refused`] if a path or pattern matches nothing; an error if the index is damaged or cannot be read.
    pub fn within<R: Read + Seek>(&self, contents: &mut Contents<R>) -> Result<Chosen, Error> {
        let root = contents.root_name().to_vec();
        let mut rules = Vec::new();
        'paths: for wanted in &self.0 {
            let ways = below(wanted, Some(&root));
            for way in &ways {
                if contents.find(way)?.is_some() {
                    rules.push(Rule::Path(way.clone()));
                    continue 'paths;
                }
            }
            let known = rules.len();
            let globs = ways.iter().filter(|way| Glob::is_one(way)).cloned();
            for rule in globs.chain(below_pattern(wanted, Some(&root))).map(Rule::from_way) {
                if any(contents, &rule)? {
                    rules.push(rule);
                }
            }
            if rules.len() == known {
                return Err(nothing(wanted));
            }
        }
        Ok(Chosen::new(rules))
    }

    /// Returns a filter for archives that are read in order. Each path is used both as an exact path and as a pattern.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter { rules: Vec::new(), wanted: self.0.clone(), seen: vec![false; self.0.len()] }
    }
}

/// Returns the path without leading `./` and without a `/` at its end.
fn plain(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    if &path[..end] == b"." { b"" } else { &path[..end] }
}

/// Returns the paths below the root that `wanted` can stand for: the path `wanted` itself, and, if it begins with the
/// name of the root, the rest after this name.
fn below(wanted: &[u8], root: Option<&[u8]>) -> Vec<Vec<u8>> {
    let rest = root.and_then(|root| wanted.strip_prefix(root)).filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
    let mut ways: Vec<_> = rest.map(|rest| rest.strip_prefix(b"/").unwrap_or_default().to_vec()).into_iter().collect();
    ways.push(wanted.to_vec());
    ways
}

/// If the first component of a pattern matches the root's name, returns the pattern without this component.
fn below_pattern(wanted: &[u8], root: Option<&[u8]>) -> Option<Vec<u8>> {
    let slash = wanted.iter().position(|byte| *byte == b'/')?;
    let (first, rest) = (&wanted[..slash], &wanted[slash + 1..]);
    // A pattern that begins with `**` already matches paths below the root.
    let matches = first != b"**" && Glob::is_one(first) && Glob::new(first).takes(root?);
    matches.then(|| rest.to_vec())
}

fn any<R: Read + Seek>(contents: &mut Contents<R>, rule: &Rule) -> Result<bool, Error> {
    for entry in contents.under(&rule.base()) {
        if rule.takes(&entry?.path) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn nothing(wanted: &[u8]) -> Error {
    Refusal::NoMatch { wanted: shown(wanted) }.into()
}

/// A selection in one pack. The pack has all selected paths.
#[derive(Clone, Debug)]
pub struct Chosen {
    rules: Vec<Rule>,
    /// Files and folders that contain the selection, in order. None of these files and folders is inside another one.
    bases: Vec<Vec<u8>>,
}

impl Chosen {
    fn new(rules: Vec<Rule>) -> Self {
        let mut bases: Vec<_> = rules.iter().map(Rule::base).collect();
        bases.sort_by(|one, other| order(one, other));
        bases.dedup_by(|later, earlier| is_under(later, earlier));
        Self { rules, bases }
    }

    /// Selects everything.
    #[must_use]
    pub fn all() -> Self {
        Self::new(vec![Rule::Path(Vec::new())])
    }

    /// Whether this path is selected.
    #[must_use]
    pub fn takes(&self, path: &[u8]) -> bool {
        self.rules.iter().any(|rule| rule.takes(path))
    }

    /// Whether exactly one path is selected, without a pattern.
    #[must_use]
    pub fn is_one_name(&self) -> bool {
        matches!(self.rules.as_slice(), [Rule::Path(_)])
    }

    /// Returns the selected entries, in order. Reads only the parts of the index that contain selected entries.
    pub fn entries<'a, R: Read + Seek>(&'a self, contents: &'a mut Contents<R>) -> Picks<'a, R> {
        Picks { chosen: self, contents, bases: self.bases.iter(), walk: None, done: false }
    }
}

/// A selected entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The entry.
    pub entry: Entry,
    /// The target of a selected hard link, if the target itself is not selected. The target is then unpacked under the
    /// path of the hard link.
    pub source: Option<Entry>,
}

impl Pick {
    /// Returns the entry that contains the content to unpack.
    #[must_use]
    pub fn file(&self) -> &Entry {
        self.source.as_ref().unwrap_or(&self.entry)
    }
}

/// An iterator over selected entries, in order. The iterator ends after an error.
#[derive(Debug)]
pub struct Picks<'a, R> {
    chosen: &'a Chosen,
    contents: &'a mut Contents<R>,
    bases: std::slice::Iter<'a, Vec<u8>>,
    walk: Option<IndexWalk>,
    done: bool,
}

impl<R: Read + Seek> Picks<'_, R> {
    fn advance(&mut self) -> Result<Option<Pick>, Error> {
        loop {
            let Some(walk) = &mut self.walk else {
                let Some(base) = self.bases.next() else { return Ok(None) };
                self.walk = Some(IndexWalk::new(self.contents, base));
                continue;
            };
            match walk.next(self.contents)? {
                None => self.walk = None,
                Some(entry) if self.chosen.takes(&entry.path) => {
                    let source = self.source(&entry)?;
                    return Ok(Some(Pick { entry, source }));
                }
                Some(_) => {}
            }
        }
    }

    fn source(&mut self, entry: &Entry) -> Result<Option<Entry>, Error> {
        let Some(target) =
            entry.target.as_deref().filter(|target| entry.kind == Kind::HardLink && !self.chosen.takes(target))
        else {
            return Ok(None);
        };
        match self.contents.find(target)? {
            Some(file) if matches!(file.kind, Kind::File | Kind::Sparse | Kind::SymbolicLink) => Ok(Some(file)),
            _ => Err(crate::index::damaged("the target of a hard link is not an earlier file or link")),
        }
    }
}

impl<R: Read + Seek> Iterator for Picks<'_, R> {
    type Item = Result<Pick, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.advance().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// A selection that decides about entries one at a time.
#[derive(Clone, Debug)]
pub struct Filter {
    wanted: Vec<Vec<u8>>,
    /// For each selected path, the paths and patterns that it can stand for below the root. The list is empty before
    /// the first entry.
    rules: Vec<Vec<Rule>>,
    seen: Vec<bool>,
}

impl Filter {
    /// Whether an entry's path is selected. `root` is the name of a pack's root, and must be the same in each call.
    pub fn takes(&mut self, path: &[u8], root: Option<&[u8]>) -> bool {
        // The path of a refused entry is stored exactly as in the archive, so a leading `./` and a trailing `/` are
        // removed here.
        let path = plain(path);
        if self.rules.is_empty() {
            let both = |way: Vec<u8>| {
                [Glob::is_one(&way).then(|| Rule::Glob(Glob::new(&way))), Some(Rule::Path(way))].into_iter().flatten()
            };
            let all = |wanted: &Vec<u8>| {
                let ways = below(wanted, root).into_iter().flat_map(both);
                ways.chain(below_pattern(wanted, root).map(Rule::from_way)).collect()
            };
            self.rules = self.wanted.iter().map(all).collect();
        }
        let mut taken = false;
        for (rules, seen) in self.rules.iter().zip(&mut self.seen) {
            let takes = rules.iter().any(|rule| rule.takes(path));
            *seen |= takes;
            taken |= takes;
        }
        taken
    }

    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.rules.iter().flatten().any(|rule| rule.takes(path))
    }

    /// Checks that at least one entry matched each selected path or pattern.
    ///
    /// # Errors
    /// [`Error::Refused`] if a path or pattern matched no entry.
    pub fn finish(&self) -> Result<(), Error> {
        let unseen = self.wanted.iter().zip(&self.seen).find(|(_, seen)| !**seen);
        if let Some((wanted, _)) = unseen { Err(nothing(wanted)) } else { Ok(()) }
    }
}
