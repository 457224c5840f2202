//! Results whose sources in a folder are gone.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::act::Act;
use crate::filter::Filter;
use crate::job::STATE;
use crate::listing::Listing;
use crate::place::{Place, is_fit};
use crate::source::is_current;
use crate::stamp::{StampKey, Stamped};
use crate::tree::{Tree, TreeFile};
use deadpan_disk::{About, FileId, Spot, Walk, names, sweep};
use deadpan_remote::{Address, Object, Problem, Store};

/// The number of bytes of an object that are read to find out whether it is a result. The longest header has fewer.
const BEGINNING: u64 = 300 << 10;

/// The results whose sources in a folder are gone, and the folders of results that hold nothing else.
///
/// A source is gone if nothing has its name any more, or only a folder has its name. A source that a run leaves out is
/// not gone, even if nothing has its name. A source whose name, or a folder above it, has become a link is not gone
/// either.
#[derive(Debug)]
pub struct Gone {
    from: Tree,
    to: Place,
    filter: Filter,
    results: Vec<Stray>,
    /// Files and objects that have the name of a result without a source, but that no run with this key has made.
    foreign: Vec<PathBuf>,
    /// The folders and the targets of files with temporary names, which killed runs may have left.
    drafts: Vec<Draft>,
    /// A folder comes after the folders in it.
    folders: Vec<PathBuf>,
}

/// A result whose source is gone.
#[derive(Debug)]
struct Stray {
    name: PathBuf,
    source: PathBuf,
    found: Found,
}

/// A file with a temporary name.
#[derive(Debug)]
struct Draft {
    /// The path of the folder.
    folder: PathBuf,
    /// The name of the output.
    target: OsString,
}

#[derive(Debug)]
enum Found {
    File(About),
    Object(Box<Object>),
}

/// An entry that [`Gone::remove`] has removed, or that stays.
#[derive(Debug)]
pub struct Removal {
    /// The whole path of a file or folder, or the address of an object.
    pub path: PathBuf,
    /// The error, if the entry stays.
    pub result: Result<(), Error>,
}

impl Gone {
    /// Compares the results in the place `to` with the sources in the folder `from` that the filter takes. A result has
    /// a name that `act` gives to results, and contents that `act` can have made. If a key is given, a result in a
    /// folder also has a stamp of this key, unless the file system has no attributes. The search does not leave the
    /// file system of the folder `to`. Changes nothing.
    ///
    /// # Errors
    /// If a folder cannot be read or a prefix cannot be listed, or if a file or object cannot be opened.
    pub fn find(
        from: &Tree,
        to: &Place,
        act: &dyn Act,
        filter: &Filter,
        stamps: Option<&StampKey>,
    ) -> Result<Self, Error> {
        let mut gone = Self {
            from: from.clone(),
            to: to.clone(),
            filter: filter.clone(),
            results: Vec::new(),
            foreign: Vec::new(),
            drafts: Vec::new(),
            folders: Vec::new(),
        };
        match to {
            Place::Folder(tree) => gone.find_in_folder(tree, act, stamps)?,
            Place::Prefix(store, prefix) => gone.find_in_store(store, prefix, act)?,
        }
        Ok(gone)
    }

    fn find_in_folder(&mut self, to: &Tree, act: &dyn Act, stamps: Option<&StampKey>) -> Result<(), Error> {
        let folder = match to.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(|error| Error::File(to.path().to_owned(), error))?,
        };
        let source = self.from.open().and_then(|folder| folder.about());
        let source = source.map_err(|error| Error::File(self.from.path().to_owned(), error))?;
        let failed = |error| Error::File(to.path().to_owned(), error);
        let target = folder.about().map_err(failed)?;
        let mut walk = Walk::new(folder.clone()).map_err(failed)?;
        // The folders in the order of the walk, and whether they hold something that stays.
        let (mut folders, mut numbers) = (Vec::<(PathBuf, bool)>::new(), HashMap::<PathBuf, usize>::new());
        while walk.advance() {
            let path = walk.path().to_owned();
            let stays = match walk.look_unmounted() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => true,
                Err(error) => return Err(Error::File(to.path().join(&path), error)),
                Ok(about) if about.is_folder() => {
                    // A folder with such a name holds no results.
                    let is_elsewhere = about.id == source.id || about.id.device != target.id.device;
                    let stays = is_elsewhere || path.to_str().is_none();
                    if stays {
                        walk.leave();
                    }
                    numbers.insert(path.clone(), folders.len());
                    folders.push((path, stays));
                    continue;
                }
                Ok(about) => !about.is_file() || !self.add_file(to, &walk, &about, act, stamps)?,
            };
            if let Some(&number) = path.parent().filter(|_| stays).and_then(|parent| numbers.get(parent)) {
                folders[number].1 = true;
            }
        }
        for path in self.keep_sources(target.id)? {
            if let Some(&number) = path.parent().and_then(|parent| numbers.get(parent)) {
                folders[number].1 = true;
            }
        }
        for number in (0..folders.len()).rev() {
            let (path, stays) = std::mem::take(&mut folders[number]);
            if !stays && self.is_folder_gone(&path)? {
                self.folders.push(path);
            } else if let Some(&above) = path.parent().and_then(|parent| numbers.get(parent)) {
                folders[above].1 = true;
            }
        }
        Ok(())
    }

    /// Adds the current file of a walk, if it is a result whose source is gone, or the rest of a killed run. Returns
    /// whether the file does not keep its folder.
    fn add_file(
        &mut self,
        to: &Tree,
        walk: &Walk,
        about: &About,
        act: &dyn Act,
        stamps: Option<&StampKey>,
    ) -> Result<bool, Error> {
        let path = walk.path();
        let failed = |error| Error::File(to.path().join(path), error);
        if let Some(target) = names::target(walk.name()) {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            self.drafts.push(Draft { folder, target });
            return Ok(true);
        }
        let Some(source) = path.to_str().and_then(|name| act.source(name)) else { return Ok(false) };
        if !self.is_stray(&source)? {
            return Ok(false);
        }
        let opened = match walk.folder().map(|folder| folder.file(walk.name())).transpose() {
            // Another program has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            opened => opened.map_err(failed)?,
        };
        let Some((mut file, about)) = opened.filter(|(_, found)| found.id == about.id) else { return Ok(false) };
        let is_stamped = stamps.is_none_or(|key| !matches!(key.read(&file), Stamped::No));
        let is_stray = is_stamped && act.has_made(&mut file).map_err(failed)?;
        if is_stray {
            self.results.push(Stray { name: path.to_owned(), source: source.into(), found: Found::File(about) });
        } else {
            self.foreign.push(to.path().join(path));
        }
        Ok(is_stray)
    }

    /// Keeps results that are also files of the source, because the target contains a part of the source under another
    /// path. `target` is the folder of the results. Returns the paths of the kept results.
    fn keep_sources(&mut self, target: FileId) -> Result<Vec<PathBuf>, Error> {
        let id = |stray: &Stray| match &stray.found {
            Found::File(about) => Some(about.id),
            Found::Object(_) => None,
        };
        let ids: HashSet<_> = self.results.iter().filter_map(id).collect();
        let mut shared = HashSet::new();
        if !ids.is_empty() {
            Listing::read(&self.from, Some(target), self.filter.rules(), |_, about| {
                if ids.contains(&about.id) {
                    shared.insert(about.id);
                }
            })?;
        }
        let is_shared = |stray: &mut Stray| id(stray).is_some_and(|id| shared.contains(&id));
        Ok(self.results.extract_if(.., is_shared).map(|stray| stray.name).collect())
    }

    fn find_in_store(&mut self, store: &Store, prefix: &Address, act: &dyn Act) -> Result<(), Error> {
        for entry in store.list(prefix, None)? {
            let name = entry?.name;
            let is_state = prefix.key().is_empty() && name.starts_with(STATE);
            let Some(source) = act.source(&name).filter(|_| !is_state) else { continue };
            let Ok(address) = prefix.join(&name) else { continue };
            if !self.is_stray(&source)? {
                continue;
            }
            let object = match Object::open_with(store, &address, BEGINNING) {
                Err(error) if error.problem() == Problem::Missing => continue,
                opened => opened?,
            };
            let mut start: &[u8] = object.start();
            match act.has_made(&mut start) {
                Ok(true) => {
                    let found = Found::Object(Box::new(object.without_bytes()));
                    self.results.push(Stray { name: name.into(), source: source.into(), found });
                }
                _ => self.foreign.push(address.text().into()),
            }
        }
        Ok(())
    }

    /// Returns the whole paths of the results, or their addresses.
    pub fn results(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.results.iter().map(|stray| self.whole(stray))
    }

    /// Returns the whole paths or the addresses of what has the name of a result without a source, but stays, because
    /// no run with this key has made it.
    #[must_use]
    pub fn foreign(&self) -> &[PathBuf] {
        &self.foreign
    }

    /// Removes files with temporary names that killed runs of this user have left among the results. Files that a
    /// running program uses stay.
    pub fn sweep(&self) {
        let Place::Folder(to) = &self.to else { return };
        for Draft { folder, target } in &self.drafts {
            if let Ok(folder) = to.open().and_then(|to| to.descend(folder)) {
                sweep(&folder, target);
            }
        }
    }

    fn whole(&self, stray: &Stray) -> PathBuf {
        match &stray.found {
            Found::File(_) => self.to.whole(&stray.name),
            Found::Object(object) => object.address().text().into(),
        }
    }

    /// Returns the whole paths of the folders.
    pub fn folders(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.folders.iter().map(|path| self.to.whole(path))
    }

    /// Removes the results and the folders, and calls `told` for each. A result stays if another file or object has its
    /// name by now, or if its source is there again. A folder stays if something has come into it.
    pub fn remove(self, mut told: impl FnMut(Removal)) {
        for stray in &self.results {
            let result = match self.is_gone(&stray.source) {
                Ok(false) => continue,
                Ok(true) => self.remove_one(stray),
                Err(error) => Err(error),
            };
            // Another run has removed it.
            if result.is_err() && self.is_missing(stray) {
                continue;
            }
            told(Removal { path: self.whole(stray), result });
        }
        let Place::Folder(to) = &self.to else { return };
        for name in &self.folders {
            let place = TreeFile { tree: to.clone(), name: name.clone() };
            let result = match place.spot().and_then(|spot| spot.folder.remove_empty(&spot.name)) {
                Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
                    continue;
                }
                removed => removed.map_err(|error| Error::Write(place.path(), error)),
            };
            told(Removal { path: place.path(), result });
        }
    }

    /// Whether nothing has the name of a result any more.
    fn is_missing(&self, stray: &Stray) -> bool {
        let Place::Folder(to) = &self.to else { return false };
        let place = TreeFile { tree: to.clone(), name: stray.name.clone() };
        matches!(place.look(), Ok(None))
    }

    fn remove_one(&self, stray: &Stray) -> Result<(), Error> {
        match (&stray.found, &self.to) {
            (Found::File(about), Place::Folder(to)) => {
                let place = TreeFile { tree: to.clone(), name: stray.name.clone() };
                let remove = |spot: Spot| spot.folder.remove_only(&spot.name, about).map_err(io::Error::other);
                place.spot().and_then(remove).map_err(|error| Error::Write(place.path(), error))
            }
            (Found::Object(object), Place::Prefix(store, _)) if is_current(object)? => {
                Ok(store.remove(object.address())?)
            }
            _ => Err(Error::Changed),
        }
    }

    /// Whether there is no source with this name, although a folder may have the name.
    fn is_gone(&self, name: &Path) -> Result<bool, Error> {
        Ok(self.look(name)?.is_none_or(|about| about.is_folder()))
    }

    /// Whether the source of a result is gone. If the filter leaves out the name of the source, the source does not
    /// count as gone.
    fn is_stray(&self, source: &str) -> Result<bool, Error> {
        Ok(is_fit(source) && self.filter.takes(source) && self.is_gone(source.as_ref())?)
    }

    /// Whether there is no folder of sources with this name, although a file may have the name.
    fn is_folder_gone(&self, name: &Path) -> Result<bool, Error> {
        let is_taken = name.to_str().is_some_and(|name| self.filter.takes_missing_folder(name));
        Ok(is_taken && self.look(name)?.is_none_or(|about| about.is_file()))
    }

    /// Returns the attributes of a source. If a link or a special file is on the way, returns its attributes.
    fn look(&self, name: &Path) -> Result<Option<About>, Error> {
        let source = TreeFile { tree: self.from.clone(), name: name.to_owned() };
        source.reach().map_err(|error| Error::File(source.path(), error))
    }
}
