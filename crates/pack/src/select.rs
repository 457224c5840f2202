//! A part of an archive: what `--only PATH…` names.

use crate::contents::Walk;
use crate::glob::Glob;
use crate::path::{is_under, order};
use crate::{Contents, Entry, Error, Kind, shown};
use std::io::{Read, Seek};

/// Paths of files, of folders with all that is in them, and patterns; of packs with or without the root's name.
///
/// In a pattern, `*` stands for anything but `/`, `?` for one character, `[a-z]` for one of some, and `**` for any number of folders.
#[derive(Clone, Debug)]
pub struct Selection(Vec<Vec<u8>>);

/// What a path stands for, below the root.
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

    /// Where all of it lies.
    fn base(&self) -> Vec<u8> {
        match self {
            Self::Path(path) => path.clone(),
            Self::Glob(glob) => glob.base(),
        }
    }
}

impl Selection {
    /// Takes paths as a listing shows them, or patterns.
    pub fn new(paths: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(paths.into_iter().map(|path| plain(&path).to_vec()).collect())
    }

    /// Looks for each path in the index. What exists under that very name is meant, even if it looks like a pattern.
    ///
    /// # Errors
    /// [`Error::Refused`] if one matches nothing; or if the index is damaged or cannot be read.
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
            for way in ways.iter().filter(|way| Glob::is_one(way)) {
                let rule = Rule::Glob(Glob::new(way));
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

    /// For archives that are read through: entries are compared one by one as they come. A path is taken for a name and for a pattern.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter { rules: Vec::new(), wanted: self.0.clone(), seen: vec![false; self.0.len()] }
    }
}

/// The path without `./` in front and `/` behind.
fn plain(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    if &path[..end] == b"." { b"" } else { &path[..end] }
}

/// What a path may be below the root: without the root's name, if it begins with that, and as it is.
fn below(wanted: &[u8], root: Option<&[u8]>) -> Vec<Vec<u8>> {
    let rest = root.and_then(|root| wanted.strip_prefix(root)).filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
    let mut ways: Vec<_> = rest.map(|rest| rest.strip_prefix(b"/").unwrap_or_default().to_vec()).into_iter().collect();
    ways.push(wanted.to_vec());
    ways
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
    Error::Refused { what: format!("nothing in the archive matches {}", shown(wanted)), hint: "see what there is with: deadpan list" }
}

/// A selection in a certain pack, each of whose paths is there.
#[derive(Clone, Debug)]
pub struct Chosen {
    rules: Vec<Rule>,
    /// Files and folders that hold all of it, in order, none inside of another.
    bases: Vec<Vec<u8>>,
}

impl Chosen {
    fn new(rules: Vec<Rule>) -> Self {
        let mut bases: Vec<_> = rules.iter().map(Rule::base).collect();
        bases.sort_by(|one, other| order(one, other));
        bases.dedup_by(|later, earlier| is_under(later, earlier));
        Self { rules, bases }
    }

    /// Whether this path is among it.
    #[must_use]
    pub fn takes(&self, path: &[u8]) -> bool {
        self.rules.iter().any(|rule| rule.takes(path))
    }

    /// Its entries, in order. Only those parts of the index are read that hold some of them.
    pub fn entries<'a, R: Read + Seek>(&'a self, contents: &'a mut Contents<R>) -> Picks<'a, R> {
        Picks { chosen: self, contents, bases: self.bases.iter(), walk: None, done: false }
    }
}

/// A selected entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The entry.
    pub entry: Entry,
    /// For a hard link to a file that is not selected itself, that file: its content is to be written under the link's path.
    pub source: Option<Entry>,
}

impl Pick {
    /// Whose content it is that goes out.
    #[must_use]
    pub fn file(&self) -> &Entry {
        self.source.as_ref().unwrap_or(&self.entry)
    }
}

/// Selected entries, in order. Ends after an error.
#[derive(Debug)]
pub struct Picks<'a, R> {
    chosen: &'a Chosen,
    contents: &'a mut Contents<R>,
    bases: std::slice::Iter<'a, Vec<u8>>,
    walk: Option<Walk>,
    done: bool,
}

impl<R: Read + Seek> Picks<'_, R> {
    fn advance(&mut self) -> Result<Option<Pick>, Error> {
        loop {
            let Some(walk) = &mut self.walk else {
                let Some(base) = self.bases.next() else { return Ok(None) };
                self.walk = Some(Walk::new(self.contents, base));
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
        let Some(target) = entry.target.as_deref().filter(|target| entry.kind == Kind::HardLink && !self.chosen.takes(target)) else {
            return Ok(None);
        };
        match self.contents.find(target)? {
            Some(file) if matches!(file.kind, Kind::File | Kind::Sparse) => Ok(Some(file)),
            _ => Err(crate::index::damaged("a hard link to what is no earlier file")),
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

/// A selection that is compared with what comes.
#[derive(Clone, Debug)]
pub struct Filter {
    wanted: Vec<Vec<u8>>,
    /// For each of them what it may mean; empty before the first entry.
    rules: Vec<Vec<Rule>>,
    seen: Vec<bool>,
}

impl Filter {
    /// Whether an entry's path is among it. `root` is the name of a pack's root, the same each time.
    pub fn takes(&mut self, path: &[u8], root: Option<&[u8]>) -> bool {
        // What nobody should unpack comes as it stands in the archive.
        let path = plain(path);
        if self.rules.is_empty() {
            let both =
                |way: Vec<u8>| [Glob::is_one(&way).then(|| Rule::Glob(Glob::new(&way))), Some(Rule::Path(way))].into_iter().flatten();
            self.rules = self.wanted.iter().map(|wanted| below(wanted, root).into_iter().flat_map(both).collect()).collect();
        }
        let mut taken = false;
        for (rules, seen) in self.rules.iter().zip(&mut self.seen) {
            let takes = rules.iter().any(|rule| rule.takes(path));
            *seen |= takes;
            taken |= takes;
        }
        taken
    }

    /// Whether an entry with this path was taken, or would be.
    pub(crate) fn has(&self, path: &[u8]) -> bool {
        self.rules.iter().flatten().any(|rule| rule.takes(path))
    }

    /// That each of the paths was there.
    ///
    /// # Errors
    /// [`Error::Refused`] if one was not.
    pub fn finish(&self) -> Result<(), Error> {
        self.wanted.iter().zip(&self.seen).find(|(_, seen)| !**seen).map_or(Ok(()), |(wanted, _)| Err(nothing(wanted)))
    }
}
