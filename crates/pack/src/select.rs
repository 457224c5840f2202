//! Selects a part of an archive by paths and patterns.

use std::io::{Read, Seek};

use crate::contents::Contents;
use crate::contents::IndexWalk;
use crate::entry::{Entry, Kind};
use crate::error::{Error, Refusal};
use crate::path::{is_under, order, parent};
use deadpan_sieve::Pattern;

/// Selected paths and patterns. A folder is selected with all of its contents. A path in a pack may begin with the
/// root's name, or may omit it.
///
/// The patterns are those of `.gitignore`, see [`Pattern`]. A pattern that begins with `!` takes back what earlier ones
/// select, also in folders. If the first pattern begins with `!`, everything else is selected.
#[derive(Clone, Debug)]
pub struct Selection(Vec<Vec<u8>>);

/// A selected path or pattern, relative to the root of the archive.
#[derive(Clone, Debug)]
enum Way {
    /// A path; if `only_folder` is set, only of a folder.
    Path {
        path: Vec<u8>,
        only_folder: bool,
    },
    Pattern(Pattern),
}

impl Way {
    /// Whether this very path is selected.
    fn is_at(&self, path: &[u8], is_folder: bool) -> bool {
        match self {
            Self::Path { path: wanted, only_folder } => wanted == path && (is_folder || !only_folder),
            Self::Pattern(pattern) => pattern.matches(path, is_folder),
        }
    }

    /// Whether the path or a folder that contains it is selected.
    fn takes(&self, path: &[u8], is_folder: bool) -> bool {
        levels(path, is_folder).any(|(path, is_folder)| self.is_at(path, is_folder))
    }

    /// Returns the path of the folder or file that contains all matches.
    fn base(&self) -> &[u8] {
        match self {
            Self::Path { path, .. } => path,
            Self::Pattern(pattern) if pattern.is_wild() => parent(pattern.beginning()),
            Self::Pattern(pattern) => pattern.beginning(),
        }
    }
}

/// Returns a path and the folders that contain it, up to the root, each with whether it is a folder.
fn levels(path: &[u8], is_folder: bool) -> impl Iterator<Item = (&[u8], bool)> {
    std::iter::successors(Some((path, is_folder)), |(path, _)| (!path.is_empty()).then(|| (parent(path), true)))
}

/// What a selected path or pattern can stand for.
#[derive(Clone, Debug)]
struct Rule {
    ways: Vec<Way>,
    /// Whether the pattern begins with `!`.
    takes_back: bool,
}

impl Rule {
    fn all() -> Self {
        Self { ways: vec![Way::Path { path: Vec::new(), only_folder: false }], takes_back: false }
    }

    fn takes(&self, path: &[u8], is_folder: bool) -> bool {
        self.ways.iter().any(|way| way.takes(path, is_folder))
    }
}

/// Whether the rules select a path. Of the rules for the path itself, the last one decides; if there is none, the rules
/// for the folder that contains the path decide, and so on.
fn selects(rules: &[Rule], path: &[u8], is_folder: bool) -> bool {
    let decides = |(path, is_folder): (&[u8], bool)| {
        rules.iter().rev().find(|rule| rule.ways.iter().any(|way| way.is_at(path, is_folder)))
    };
    levels(path, is_folder).find_map(decides).is_some_and(|rule| !rule.takes_back)
}

impl Selection {
    /// Makes a selection from patterns and from paths in the form that a listing shows.
    pub fn new(wanted: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(wanted.into_iter().collect())
    }

    /// Whether the selection consists of a single path and no pattern. If the path belongs to a file, the caller wants
    /// the contents of the file.
    #[must_use]
    pub fn is_one_name(&self) -> bool {
        matches!(self.0.as_slice(), [wanted] if is_name(wanted))
    }

    /// Looks up each path in the index. Exact names take precedence over patterns.
    ///
    /// # Errors
    /// [`Error::Refused`] if a path without wildcards matches nothing, or if nothing is selected at all. Also fails if
    /// the index is damaged or cannot be read.
    pub fn within<R: Read + Seek>(&self, contents: &mut Contents<R>) -> Result<Chosen, Error> {
        let root = contents.root_name().to_vec();
        let (mut rules, mut idle) = (self.begin(), Vec::new());
        for wanted in &self.0 {
            let Wanted { takes_back, ways } = Wanted::read(wanted, Some(&root));
            let mut known = Vec::new();
            for way in ways {
                match &way {
                    Way::Path { path, .. } => {
                        let found = contents.find(path)?;
                        if found.is_some_and(|entry| way.is_at(path, entry.kind == Kind::Folder)) {
                            known.push(way);
                            // An exact name goes before patterns, but `!` takes back all that it can mean.
                            if !takes_back {
                                break;
                            }
                        }
                    }
                    Way::Pattern(_) if any(contents, &way)? => known.push(way),
                    _ => {}
                }
            }
            match known.as_slice() {
                [] if is_name(wanted) => return Err(nothing(wanted)),
                [] => idle.push(wanted.clone()),
                _ => rules.push(Rule { ways: known, takes_back }),
            }
        }
        let chosen = Chosen::new(rules, idle);
        match self.0.first() {
            Some(wanted) if chosen.entries(contents).next().transpose()?.is_none() => Err(nothing(wanted)),
            _ => Ok(chosen),
        }
    }

    /// Returns a filter for archives that are read in order. Each path is used both as an exact path and as a pattern.
    #[must_use]
    pub fn filter(&self) -> Filter {
        let seen = vec![false; self.0.len()];
        Filter { rules: Vec::new(), wanted: self.0.clone(), first: self.begin(), seen, taken: false }
    }

    /// Returns what is selected before the first pattern.
    fn begin(&self) -> Vec<Rule> {
        let takes_back = self.0.first().is_some_and(|wanted| wanted.starts_with(b"!"));
        takes_back.then(Rule::all).into_iter().collect()
    }
}

/// Whether a selected text is a path without wildcards.
fn is_name(wanted: &[u8]) -> bool {
    !wanted.starts_with(b"!") && !Pattern::new(wanted).is_wild()
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

/// The meanings of a selected text, before it is known which of them occur in the archive.
struct Wanted {
    takes_back: bool,
    /// The paths come first.
    ways: Vec<Way>,
}

impl Wanted {
    fn read(text: &[u8], root: Option<&[u8]>) -> Self {
        let (takes_back, text) = match text.strip_prefix(b"!") {
            Some(text) => (true, text),
            None => (false, text),
        };
        // The part after the name of the root, if the text begins with it, is a path from the root.
        let top = plain(text.strip_prefix(b"/").unwrap_or(text));
        let only_folder = text.ends_with(b"/");
        let slash = if only_folder { &b"/"[..] } else { b"" };
        let rest = root.and_then(|root| below(top, root));
        let path = |path: &[u8]| Way::Path { path: path.to_vec(), only_folder };
        let mut ways: Vec<_> = rest.into_iter().chain([top]).map(path).collect();
        let inside = rest.or_else(|| root.and_then(|root| below_pattern(top, root))).filter(|rest| !rest.is_empty());
        ways.extend(inside.map(|rest| Way::Pattern(Pattern::new(&[b"/", rest, slash].concat()))));
        ways.push(Way::Pattern(Pattern::new(text)));
        Self { takes_back, ways }
    }
}

/// If a path begins with the name of the root, returns the rest after this name.
fn below<'a>(path: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
}

/// If the first component of a pattern matches the root's name, returns the pattern without this component.
fn below_pattern<'a>(wanted: &'a [u8], root: &[u8]) -> Option<&'a [u8]> {
    let slash = wanted.iter().position(|byte| *byte == b'/')?;
    let (first, rest) = (&wanted[..slash], &wanted[slash + 1..]);
    // A pattern that begins with `**` already matches paths below the root.
    (first != b"**" && Pattern::new(first).matches(root, true)).then_some(rest)
}

fn any<R: Read + Seek>(contents: &mut Contents<R>, way: &Way) -> Result<bool, Error> {
    for entry in contents.under(way.base()) {
        let entry = entry?;
        if way.takes(&entry.path, entry.kind == Kind::Folder) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn nothing(wanted: &[u8]) -> Error {
    Refusal::no_match(wanted).into()
}

/// A selection in one pack. The pack has all selected paths.
#[derive(Clone, Debug)]
pub struct Chosen {
    rules: Vec<Rule>,
    /// Files and folders that contain the selection, in order. None of these files and folders is inside another one.
    bases: Vec<Vec<u8>>,
    idle: Vec<Vec<u8>>,
}

impl Chosen {
    fn new(rules: Vec<Rule>, idle: Vec<Vec<u8>>) -> Self {
        let ways = rules.iter().filter(|rule| !rule.takes_back).flat_map(|rule| &rule.ways);
        let mut bases: Vec<_> = ways.map(|way| way.base().to_vec()).collect();
        bases.sort_by(|one, other| order(one, other));
        bases.dedup_by(|later, earlier| is_under(later, earlier));
        Self { rules, bases, idle }
    }

    /// Selects everything.
    #[must_use]
    pub fn all() -> Self {
        Self::new(vec![Rule::all()], Vec::new())
    }

    /// Whether this path is selected.
    #[must_use]
    pub fn takes(&self, path: &[u8], is_folder: bool) -> bool {
        selects(&self.rules, path, is_folder)
    }

    /// Whether exactly one path is selected, without a pattern.
    #[must_use]
    pub fn is_one_name(&self) -> bool {
        let is_name = |way: &Way| match way {
            Way::Path { .. } => true,
            Way::Pattern(pattern) => !pattern.is_wild(),
        };
        matches!(self.rules.as_slice(), [rule] if rule.ways.iter().all(is_name))
    }

    /// Returns the patterns that match nothing.
    #[must_use]
    pub fn idle(&self) -> &[Vec<u8>] {
        &self.idle
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
                Some(entry) if self.chosen.takes(&entry.path, entry.kind == Kind::Folder) => {
                    let source = self.source(&entry)?;
                    return Ok(Some(Pick { entry, source }));
                }
                Some(_) => {}
            }
        }
    }

    fn source(&mut self, entry: &Entry) -> Result<Option<Entry>, Error> {
        let Some(target) =
            entry.target.as_deref().filter(|target| entry.kind == Kind::HardLink && !self.chosen.takes(target, false))
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
    /// What is selected before the first pattern.
    first: Vec<Rule>,
    /// The same, and the rule of each selected path. The list is empty before the first entry.
    rules: Vec<Rule>,
    seen: Vec<bool>,
    /// Whether an entry was selected.
    taken: bool,
}

impl Filter {
    /// Whether an entry's path is selected. `root` is the name of a pack's root, and must be the same in each call.
    pub fn takes(&mut self, path: &[u8], is_folder: bool, root: Option<&[u8]>) -> bool {
        // The path of a refused entry is stored exactly as in the archive, so a leading `./` and a trailing `/` are
        // removed here.
        let path = plain(path);
        if self.rules.is_empty() {
            let rule = |wanted: &Vec<u8>| {
                let Wanted { takes_back, ways } = Wanted::read(wanted, root);
                Rule { ways, takes_back }
            };
            self.rules = self.first.iter().cloned().chain(self.wanted.iter().map(rule)).collect();
        }
        for (rule, seen) in self.rules[self.first.len()..].iter().zip(&mut self.seen) {
            *seen = *seen || rule.takes(path, is_folder);
        }
        let taken = selects(&self.rules, path, is_folder);
        self.taken |= taken;
        taken
    }

    pub(crate) fn has(&self, path: &[u8]) -> bool {
        selects(&self.rules, path, false)
    }

    /// Checks that at least one entry matched each selected path, and that an entry was selected. Returns the patterns
    /// that matched nothing.
    ///
    /// # Errors
    /// [`Error::Refused`] if a path matched no entry.
    pub fn finish(&self) -> Result<Vec<Vec<u8>>, Error> {
        let unseen = self.wanted.iter().zip(&self.seen).filter(|(_, seen)| !**seen).map(|(wanted, _)| wanted);
        if let Some(wanted) = unseen.clone().find(|wanted| is_name(wanted)) {
            return Err(nothing(wanted));
        }
        match self.wanted.first() {
            Some(wanted) if !self.taken => Err(nothing(wanted)),
            _ => Ok(unseen.cloned().collect()),
        }
    }
}
