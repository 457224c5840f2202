//! Results whose sources in a folder are gone.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use crate::Error;
use crate::act::Act;
use crate::job::STATE;
use crate::place::{Place, is_fit};
use crate::source::is_current;
use crate::tree::{Tree, TreeFile};
use deadpan_disk::{About, FileKind, Spot, Walk};
use deadpan_remote::{Address, Object, Store};

/// The number of bytes at the beginning of a file or object that show whether it is a result.
const BEGINNING: u64 = 4096;

/// The results whose sources in a folder are gone, and the folders of results that hold nothing else.
///
/// A source is gone if nothing has its name any more, or only a folder has its name. A source that a run leaves out is
/// not gone, and neither is a source whose name, or a folder above it, has become a link.
#[derive(Debug)]
pub struct Gone {
    from: Tree,
    to: Place,
    results: Vec<Stray>,
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

#[derive(Debug)]
enum Found {
    File(About),
    Object(Box<Object>),
}

/// An entry that [`Gone::remove`] has removed, or that stays.
#[derive(Debug)]
pub struct Removal {
    /// The whole path, or the address of an object.
    pub path: PathBuf,
    /// The error, if the entry stays.
    pub result: Result<(), Error>,
}

impl Gone {
    /// Compares the results in the place `to` with the sources in the folder `from`. A result has a name that `act`
    /// gives to results. `is_result` sees the first 4096 bytes of such a file or object, and decides whether it is a
    /// result. Changes nothing.
    ///
    /// # Errors
    /// If a folder cannot be read or a prefix cannot be listed, or if a file or object cannot be opened.
    pub fn find(from: &Tree, to: &Place, act: &dyn Act, is_result: impl Fn(&[u8]) -> bool) -> Result<Self, Error> {
        let mut gone = Self { from: from.clone(), to: to.clone(), results: Vec::new(), folders: Vec::new() };
        match to {
            Place::Folder(tree) => gone.find_in_folder(tree, act, is_result)?,
            Place::Prefix(store, prefix) => gone.find_in_store(store, prefix, act, is_result)?,
        }
        Ok(gone)
    }

    fn find_in_folder(&mut self, to: &Tree, act: &dyn Act, is_result: impl Fn(&[u8]) -> bool) -> Result<(), Error> {
        let folder = match to.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(|error| Error::File(to.path().to_owned(), error))?,
        };
        let source = self.from.open().and_then(|folder| folder.about());
        let source = source.map_err(|error| Error::File(self.from.path().to_owned(), error))?;
        let mut walk = Walk::new(folder.clone()).map_err(|error| Error::File(to.path().to_owned(), error))?;
        // The folders in the order of the walk, and whether they hold something that stays.
        let (mut folders, mut numbers) = (Vec::<(PathBuf, bool)>::new(), HashMap::<PathBuf, usize>::new());
        while walk.advance() {
            let path = walk.path().to_owned();
            let stays = match walk.look() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::File(to.path().join(&path), error)),
                Ok(about) if about.is_folder() => {
                    // A folder with such a name holds no results.
                    let stays = about.id == source.id || path.to_str().is_none();
                    if stays {
                        walk.leave();
                    }
                    numbers.insert(path.clone(), folders.len());
                    folders.push((path, stays));
                    continue;
                }
                Ok(about) => !about.is_file() || !self.add_file(to, &walk, &about, act, &is_result)?,
            };
            if let Some(&number) = path.parent().filter(|_| stays).and_then(|parent| numbers.get(parent)) {
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

    /// Adds the current file of a walk, if it is a result whose source is gone.
    fn add_file(
        &mut self,
        to: &Tree,
        walk: &Walk,
        about: &About,
        act: &dyn Act,
        is_result: impl Fn(&[u8]) -> bool,
    ) -> Result<bool, Error> {
        let path = walk.path();
        let failed = |error| Error::File(to.path().join(path), error);
        let Some(source) = path.to_str().and_then(|name| act.source(name)) else { return Ok(false) };
        if !self.is_gone(source.as_ref())? {
            return Ok(false);
        }
        let opened = walk.folder().map(|folder| folder.file(walk.name())).transpose().map_err(failed)?;
        let Some((file, about)) = opened.filter(|(_, found)| found.id == about.id) else { return Ok(false) };
        let mut start = vec![0; about.length.min(BEGINNING) as usize];
        file.read_exact_at(&mut start, 0).map_err(failed)?;
        let is_stray = is_result(&start);
        if is_stray {
            self.results.push(Stray { name: path.to_owned(), source: source.into(), found: Found::File(about) });
        }
        Ok(is_stray)
    }

    fn find_in_store(
        &mut self,
        store: &Store,
        prefix: &Address,
        act: &dyn Act,
        is_result: impl Fn(&[u8]) -> bool,
    ) -> Result<(), Error> {
        for entry in store.list(prefix, None)? {
            let name = entry?.name;
            let is_state = prefix.key().is_empty() && name.starts_with(STATE);
            let Some(source) = act.source(&name).filter(|source| is_fit(source) && !is_state) else { continue };
            let Ok(address) = prefix.join(&name) else { continue };
            if !self.is_gone(source.as_ref())? {
                continue;
            }
            let object = Object::open_with(store, &address, BEGINNING)?;
            if is_result(&object.start()[..object.start().len().min(BEGINNING as usize)]) {
                let found = Found::Object(Box::new(object.without_bytes()));
                self.results.push(Stray { name: name.into(), source: source.into(), found });
            }
        }
        Ok(())
    }

    /// Returns the whole paths of the results, or their addresses.
    pub fn results(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.results.iter().map(|stray| self.whole(stray))
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

    /// Whether there is no folder of sources with this name, although a file may have the name.
    fn is_folder_gone(&self, name: &Path) -> Result<bool, Error> {
        Ok(self.look(name)?.is_none_or(|about| about.is_file()))
    }

    /// Returns the attributes of a source. If a link or a special file is on the way, returns its attributes.
    fn look(&self, name: &Path) -> Result<Option<About>, Error> {
        let failed = |error| Error::File(self.from.path().join(name), error);
        let mut folder = self.from.open().map_err(failed)?.clone();
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else { return Ok(None) };
            let about = match folder.look(part).map_err(failed)? {
                None => return Ok(None),
                Some(about) if parts.peek().is_none() => return Ok(Some(about)),
                Some(about) => about,
            };
            match about.kind {
                FileKind::Folder => folder = folder.enter(part).map_err(failed)?,
                FileKind::File => return Ok(None),
                _ => return Ok(Some(about)),
            }
        }
        Ok(None)
    }
}
