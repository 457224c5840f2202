//! Decides about each entry of a walk.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

use crate::patterns::Patterns;
use crate::rules::{Heed, LongList, Remark, Rules};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, Exchanged, FileId, Folder, Start, Walk};

/// The name of the files with patterns.
const LIST: &str = ".gitignore";
/// The folder of a repository.
const REPOSITORY: &str = ".git";
/// The file that marks a cache, and the bytes with which it begins (see <https://bford.info/cachedir/>).
const TAG: &str = "CACHEDIR.TAG";
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
/// The longest file of patterns, in bytes. Each pattern is tried on each name.
const LONGEST: u64 = 1 << 20;
/// The folders of the system.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Decides about each entry of a walk: [`takes_name`](Self::takes_name) before the entry is opened, and
/// [`takes`](Self::takes) afterwards.
#[derive(Debug)]
pub struct Sieve {
    rules: Rules,
    system: Vec<FileId>,
    /// The folders that the walk has entered.
    levels: Vec<SieveLevel>,
    /// The lists of git. A later list goes before an earlier one.
    lists: Vec<GitList>,
    /// The folder to which the listed entries of the walk are relative.
    base: Option<FileId>,
    /// The current entry.
    current: Current,
    remarks: Vec<Remark>,
    larger: u64,
}

/// A folder that the walk has entered.
#[derive(Clone, Copy, Debug, Default)]
struct SieveLevel {
    /// The device of the file system; `None` above the entries that the walk begins with.
    device: Option<u64>,
    is_cache: bool,
    /// The range of the lists that apply to the names in the folder.
    first: usize,
    end: usize,
}

/// What [`Sieve::takes_name`] has found out about an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    /// Whether the caller has named the entry, so that it goes in even if git would ignore it.
    is_named: bool,
    is_folder: bool,
}

#[derive(Debug)]
struct GitList {
    patterns: Patterns,
    /// The path from the folder of the list to the folder where the walk begins, if the list lies above the walk.
    above: Vec<u8>,
    /// The length of the path, in the walk, of the folder whose names follow `above`.
    base: usize,
}

impl Sieve {
    /// Begins with a walk whose first entry is not selected yet.
    #[must_use]
    pub fn new(rules: Rules, walk: &Walk) -> Self {
        let ids = SYSTEM.iter().filter_map(|path| About::of_name(Path::new(path)).ok()).map(|about| about.id);
        let system = if rules.system { ids.collect() } else { Vec::new() };
        let (levels, lists, remarks, current) = (Vec::new(), Vec::new(), Vec::new(), Current::default());
        let mut sieve = Self { rules, system, levels, lists, base: None, current, remarks, larger: 0 };
        match walk.folder() {
            Some(folder) => {
                let device = folder.about().ok().map(|about| about.id.device);
                sieve.enter(walk, SieveLevel { device, ..SieveLevel::default() }, true);
            }
            None => sieve.levels.push(SieveLevel::default()),
        }
        sieve
    }

    /// Returns the number of files that were left out because of their length.
    #[must_use]
    pub fn larger(&self) -> u64 {
        self.larger
    }

    /// Removes and returns the remarks since the last call.
    pub fn remarks(&mut self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks)
    }

    /// Decides about the current entry by its name, before it is opened. An entry that is left out need not be opened.
    pub fn takes_name(&mut self, walk: &Walk) -> bool {
        self.levels.truncate(walk.depth().max(1));
        let Some(mut level) = self.levels.last().copied() else { return true };
        self.lists.truncate(level.end);
        let start = walk.start();
        if let Some(Start::Listed(folder, ..)) = start {
            level.end = self.begin_list(folder);
        }
        self.current.is_named = matches!(start, Some(Start::Open(..)));
        let path = walk.path().as_os_str().as_bytes();
        if level.is_cache && walk.name() != TAG {
            return false;
        }
        let look = || match start {
            Some(start) => start.about().ok(),
            None => walk.folder().and_then(|folder| folder.look(walk.name()).ok().flatten()),
        };
        let kind = walk.kind();
        let mut about = if kind.is_none() { look() } else { None };
        self.current.is_folder = kind.or(about.map(|about| about.kind)) == Some(deadpan_disk::FileKind::Folder);
        if self.excludes(path, level) {
            return false;
        }
        // A file that is left out need not be readable.
        if self.rules.larger.is_some() && !self.current.is_folder {
            about = about.or_else(look);
        }
        about.is_none_or(|about| self.is_small(&about))
    }

    /// Decides about the current entry after it was opened. If it is a folder, the walk has entered it. Of a folder
    /// that is not taken, or whose contents are not taken, the walk skips the contents.
    pub fn takes(&mut self, walk: &mut Walk, about: &About) -> bool {
        let Current { is_named, is_folder } = self.current;
        let above = self.levels.last().copied().unwrap_or_default();
        if about.is_folder() != is_folder {
            // Another program has put another file there.
            self.current.is_folder = about.is_folder();
            if self.excludes(walk.path().as_os_str().as_bytes(), above) {
                if about.is_folder() {
                    walk.leave();
                }
                return false;
            }
        }
        let is_elsewhere = self.rules.one_file_system && above.device.is_some_and(|device| device != about.id.device);
        if !about.is_folder() {
            if is_elsewhere {
                self.remark(walk.path(), Heed::Mounted);
            }
            return !is_elsewhere && self.is_small(about);
        }
        if !is_named && self.system.contains(&about.id) {
            self.remark(walk.path(), Heed::System);
            walk.leave();
            return false;
        }
        let level = SieveLevel { device: Some(above.device.unwrap_or(about.id.device)), is_cache: false, ..above };
        if is_elsewhere {
            self.remark(walk.path(), Heed::Mounted);
            walk.skip();
            self.levels.push(level);
            return true;
        }
        self.enter(walk, level, is_named);
        true
    }

    /// Whether patterns exclude the current entry. Nothing above the entry is excluded, because the walk would not have
    /// entered it.
    fn excludes(&self, path: &[u8], level: SieveLevel) -> bool {
        let Current { is_named, is_folder } = self.current;
        if self.rules.exclude.verdict(path, is_folder) == Some(true) {
            return true;
        }
        if !self.rules.git || is_named {
            return false;
        }
        let name = crate::pattern::name(path);
        let verdict = |list: &GitList| {
            let below = &path[list.base..];
            if list.above.is_empty() {
                list.patterns.verdict(below, is_folder)
            } else {
                list.patterns.verdict(&[&list.above, &b"/"[..], below].concat(), is_folder)
            }
        };
        let lists = &self.lists[level.first..self.lists.len().max(level.first)];
        name == REPOSITORY.as_bytes() || lists.iter().rev().find_map(verdict).unwrap_or(false)
    }

    /// Returns false for a file that is too long, and counts it.
    fn is_small(&mut self, about: &About) -> bool {
        let is_larger = about.is_file() && self.rules.larger.is_some_and(|most| about.length > most);
        self.larger += u64::from(is_larger);
        !is_larger
    }

    fn remark(&mut self, path: &Path, what: Heed) {
        self.remarks.push(Remark { path: path.as_os_str().as_bytes().to_vec(), what });
    }

    /// Adds the folder that the walk has just entered. `is_start` means that the walk begins with this folder.
    fn enter(&mut self, walk: &Walk, mut level: SieveLevel, is_start: bool) {
        let path = walk.path().as_os_str().as_bytes();
        if let Some(folder) = walk.folder() {
            let may_have = |name: &str| walk.is_listed() || walk.has(OsStr::new(name));
            if self.rules.git {
                let base = if path.is_empty() { 0 } else { path.len() + 1 };
                let is_repository =
                    may_have(REPOSITORY) && folder.look(OsStr::new(REPOSITORY)).is_ok_and(|it| it.is_some());
                if is_start || is_repository {
                    level.first = self.lists.len();
                }
                if is_start && !is_repository {
                    self.add_above(folder, base);
                }
                if is_repository {
                    self.add_excludes(folder, path, &[], base);
                }
                if may_have(LIST) {
                    self.add(folder, LIST, path, &[], base);
                }
            }
            level.is_cache = self.rules.caches && may_have(TAG) && is_cache(folder);
        }
        level.end = self.lists.len();
        self.levels.push(level);
    }

    /// Reads the lists for the listed entries of a walk, which are relative to `folder`. Returns the number of lists.
    fn begin_list(&mut self, folder: &Folder) -> usize {
        let id = folder.about().ok().map(|about| about.id);
        if self.rules.git && (self.base.is_none() || self.base != id) {
            self.base = id;
            self.lists.clear();
            if folder.look(OsStr::new(REPOSITORY)).is_ok_and(|it| it.is_some()) {
                self.add_excludes(folder, b"", &[], 0);
            } else {
                self.add_above(folder, 0);
            }
            self.add(folder, LIST, b"", &[], 0);
            self.levels[0].end = self.lists.len();
        }
        self.levels[0].end
    }

    /// Adds the lists of the folders above the folder where the walk begins, if they belong to its repository.
    fn add_above(&mut self, folder: &Folder, base: usize) {
        let shown = folder.path();
        match above(folder) {
            Ok(folders) => {
                for (number, (folder, path)) in folders.iter().enumerate() {
                    let shown = folder.path().into_os_string().into_encoded_bytes();
                    if number == 0 {
                        self.add_excludes(folder, &shown, path, base);
                    }
                    self.add(folder, LIST, &shown, path, base);
                }
            }
            Err(error) => self.remark(&shown, Heed::Unread(error)),
        }
    }

    /// Adds the repository's own list.
    fn add_excludes(&mut self, folder: &Folder, path: &[u8], above: &[u8], base: usize) {
        let info = [REPOSITORY, "info"].iter().try_fold(folder.clone(), |folder, name| folder.enter(OsStr::new(name)));
        // A work tree of another repository has a file of this name, and no list.
        if let Ok(info) = info {
            let path = [path, if path.is_empty() { b"" } else { b"/" }, b".git/info"].concat();
            self.add(&info, "exclude", &path, above, base);
        }
    }

    /// Adds the list with this name in a folder, if there is one. `path` is the path of the folder for messages.
    fn add(&mut self, folder: &Folder, name: &str, path: &[u8], above: &[u8], base: usize) {
        let what = match read(folder, OsStr::new(name)) {
            Ok(None) => return,
            Ok(Some(text)) => {
                let patterns = Patterns::of_file(&text);
                self.lists.push(GitList { patterns, above: above.to_vec(), base });
                return;
            }
            Err(what) => what,
        };
        let path = [path, if path.is_empty() { b"" } else { b"/" }, name.as_bytes()].concat();
        self.remarks.push(Remark { path, what });
    }
}

/// Returns the folders above a folder up to the root of its repository, the root first, each with the path from there.
/// The list is empty if the folder lies in no repository.
fn above(folder: &Folder) -> io::Result<Vec<(Folder, Vec<u8>)>> {
    let real = folder.path().canonicalize()?;
    if Folder::open(&real)?.about()?.id != folder.about()?.id {
        return Err(Exchanged.into());
    }
    let mut folders = Vec::new();
    for path in real.ancestors().skip(1) {
        // The user need not have the right to read all folders above.
        let Ok(folder) = Folder::open(path) else { continue };
        let below = real.strip_prefix(path).unwrap_or(&real).as_os_str().as_bytes().to_vec();
        let is_repository = folder.look(OsStr::new(REPOSITORY))?.is_some();
        folders.push((folder, below));
        if is_repository {
            folders.reverse();
            return Ok(folders);
        }
    }
    Ok(Vec::new())
}

/// Reads a list of patterns. Returns `None` if the folder has no entry with this name.
fn read(folder: &Folder, name: &OsStr) -> Result<Option<Vec<u8>>, Heed> {
    match folder.look(name).map_err(Heed::Unread)? {
        None => return Ok(None),
        Some(about) if !about.is_file() => return Err(Heed::NoFile),
        Some(_) => {}
    }
    let (file, about) = match folder.file(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(Heed::NoFile),
        opened => opened.map_err(Heed::Unread)?,
    };
    if !about.is_file() {
        return Err(Heed::NoFile);
    }
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(Heed::Unread)?;
    if text.len() as u64 > LONGEST {
        return Err(Heed::Unread(io::Error::other(LongList)));
    }
    Ok(Some(text))
}

/// Whether the folder is marked as a cache.
fn is_cache(folder: &Folder) -> bool {
    let Ok((mut file, about)) = folder.file(OsStr::new(TAG)) else { return false };
    let mut begin = [0; SIGNATURE.len()];
    about.is_file() && file.read_exact(&mut begin).is_ok() && begin == SIGNATURE
}
