//! Results in a folder whose sources are gone.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::Error;
use crate::act::Act;
use crate::tree::{Tree, TreeFile};
use deadpan_disk::{About, FileKind, Spot, Walk};

/// The results in a folder whose sources are gone, and the folders that hold nothing else.
///
/// A source is gone if nothing has its name any more, or only a folder has its name. A source that a run leaves out is
/// not gone, and neither is a source whose name, or a folder above it, has become a link.
#[derive(Debug)]
pub struct Gone {
    from: Tree,
    to: Tree,
    results: Vec<Stray>,
    /// A folder comes after the folders in it.
    folders: Vec<PathBuf>,
}

/// A result whose source is gone.
#[derive(Debug)]
struct Stray {
    name: PathBuf,
    source: PathBuf,
    about: About,
}

/// An entry that [`Gone::remove`] has removed, or that stays.
#[derive(Debug)]
pub struct Removal {
    /// The whole path.
    pub path: PathBuf,
    /// The error, if the entry stays.
    pub result: Result<(), Error>,
}

impl Gone {
    /// Compares the results in the folder `to` with the sources in the folder `from`. A result has a name that `act`
    /// gives to results. `is_result` looks into such a file, and decides whether it is one. Changes nothing.
    ///
    /// # Errors
    /// If a folder cannot be read, or a file cannot be opened.
    pub fn find(
        from: &Tree,
        to: &Tree,
        act: &dyn Act,
        is_result: impl Fn(&File) -> io::Result<bool>,
    ) -> Result<Self, Error> {
        let mut gone = Self { from: from.clone(), to: to.clone(), results: Vec::new(), folders: Vec::new() };
        let folder = match to.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(gone),
            opened => opened.map_err(|error| Error::File(to.path().to_owned(), error))?,
        };
        let source = from.open().and_then(|folder| folder.about());
        let source = source.map_err(|error| Error::File(from.path().to_owned(), error))?;
        let mut walk = Walk::new(folder.clone()).map_err(|error| Error::File(to.path().to_owned(), error))?;
        // The folders in the order of the walk, and whether they hold something that stays.
        let (mut folders, mut numbers) = (Vec::<(PathBuf, bool)>::new(), HashMap::<PathBuf, usize>::new());
        while walk.advance() {
            let path = walk.path().to_owned();
            let failed = |error| Error::File(to.path().join(&path), error);
            let stays = match walk.look() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
                Ok(about) if about.is_folder() => {
                    let is_source = about.id == source.id;
                    if is_source || path.to_str().is_none() {
                        walk.leave();
                    }
                    numbers.insert(path.clone(), folders.len());
                    folders.push((path.clone(), is_source || path.to_str().is_none()));
                    continue;
                }
                Ok(about) if !about.is_file() => true,
                Ok(about) => match path.to_str().and_then(|name| act.source(name)) {
                    Some(source) if gone.is_gone(source.as_ref())? => {
                        let found = walk.folder().map(|folder| folder.file(walk.name())).transpose();
                        let found = found.map_err(failed)?.filter(|(_, found)| found.id == about.id);
                        match found {
                            Some((file, about)) if is_result(&file).map_err(failed)? => {
                                gone.results.push(Stray { name: path.clone(), source: source.into(), about });
                                false
                            }
                            _ => true,
                        }
                    }
                    _ => true,
                },
            };
            if let Some(&number) = path.parent().filter(|_| stays).and_then(|parent| numbers.get(parent)) {
                folders[number].1 = true;
            }
        }
        for number in (0..folders.len()).rev() {
            let (path, mut stays) = std::mem::take(&mut folders[number]);
            stays = stays || !gone.is_folder_gone(&path)?;
            if !stays {
                gone.folders.push(path);
            } else if let Some(&above) = path.parent().and_then(|parent| numbers.get(parent)) {
                folders[above].1 = true;
            }
        }
        Ok(gone)
    }

    /// Returns the whole paths of the results.
    pub fn results(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.results.iter().map(|stray| self.to.path().join(&stray.name))
    }

    /// Returns the whole paths of the folders.
    pub fn folders(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.folders.iter().map(|path| self.to.path().join(path))
    }

    /// Removes the results and the folders, and calls `told` for each. A result stays if another file has its name by
    /// now, or if its source is there again. A folder stays if something has come into it.
    pub fn remove(self, mut told: impl FnMut(Removal)) {
        for Stray { name, source, about } in &self.results {
            let place = TreeFile { tree: self.to.clone(), name: name.clone() };
            let result = match self.is_gone(source) {
                Ok(false) => continue,
                Ok(true) => {
                    let remove = |spot: Spot| spot.folder.remove_only(&spot.name, about).map_err(io::Error::other);
                    place.spot().and_then(remove).map_err(|error| Error::Write(place.path(), error))
                }
                Err(error) => Err(error),
            };
            told(Removal { path: place.path(), result });
        }
        for name in &self.folders {
            let place = TreeFile { tree: self.to.clone(), name: name.clone() };
            let result = match place.spot().and_then(|spot| spot.folder.remove_empty(&spot.name)) {
                Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
                    continue;
                }
                removed => removed.map_err(|error| Error::Write(place.path(), error)),
            };
            told(Removal { path: place.path(), result });
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
