//! The folders of this command's files. Each folder is opened once.
//!
//! A command may have to wait for a passphrase, or for the data of a pipe. During the wait, another program may
//! exchange a folder, so that a path leads to another file or folder. The folders of inputs and outputs are therefore
//! opened before the wait. If the same path is used later, the program uses the open folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::place::remote;
use crate::tell::failure::Failure;
use crate::tell::shown::planted_by;
use crate::tell::streams;
use deadpan_disk::{
    About, Error, Exchanged, FileId, Folder, Found, Input, OpenMode, Planted, Spot, Way, allow_many_files, is_root,
    most_open_files, nearest, parent, trimmed,
};

/// The maximum number of folders that stay open, even if the system allows more open files.
const MOST: usize = 1 << 16;

static HELD: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());
/// The inputs on the command line.
static INPUTS: Mutex<BTreeMap<PathBuf, NamedInput>> = Mutex::new(BTreeMap::new());

/// The kind of an input when the command began.
enum NamedInput {
    Folder(FileId),
    /// A link: the file that the link leads to, and the folder and the name of that file if they are known.
    Link(FileId, Option<(FileId, OsString)>),
    /// Something else.
    File(FileId),
}

/// The folder that a path led to when the path was first used.
#[derive(Clone)]
enum Held {
    There(Way),
    /// A folder that is opened again for each use, because too many folders are open.
    Seen(FileId),
    /// The folder did not exist: the nearest existing folder above, and the path from there.
    Missing(Way, PathBuf),
}

/// Returns a `Way` to the folder that this path led to when the path was first used. At the first use of a path, begins
/// at the nearest folder above it that is already open.
pub fn way(path: &Path) -> io::Result<Way> {
    let path = trimmed(path);
    match held(&path) {
        Some(Held::There(way)) => return Ok(way),
        Some(Held::Missing(above, rest)) => {
            return above.descend(&rest).map_err(|error| match error.kind() {
                // A link or a file has replaced a folder.
                ErrorKind::NotADirectory => exchanged(),
                _ => error,
            });
        }
        Some(Held::Seen(id)) => {
            let way = Way::to(&path)?;
            return if way.folder().about()?.id == id { Ok(way) } else { Err(exchanged()) };
        }
        None => {}
    }
    let way = match above(&path) {
        Some((way, rest)) => way.onward(&rest, &path)?,
        None => Way::to(&path)?,
    };
    let id = way.folder().about()?.id;
    put(path, if has_room() { Held::There(way.clone()) } else { Held::Seen(id) });
    Ok(way)
}

/// Like [`way`], but makes the folder and the folders above it if they are missing. Before making any folder, refuses a
/// folder that another user may have planted.
pub fn own_or_make(path: &Path, mode: u32) -> Result<Folder, Error> {
    let path = trimmed(path);
    if let Some(planted) = planted(&path) {
        return Err(Error::Planted(planted));
    }
    let way = match held(&path) {
        Some(Held::Missing(above, rest)) => {
            owner_of(above.folder()).and_then(|owner| above.clone().descend_or_make(&rest, mode, owner.as_ref()))
        }
        _ => way(&path),
    };
    let way = way.map_err(Error::of_folder)?;
    put(path, Held::There(way.clone()));
    Ok(way.folder().clone())
}

/// Whether no file or folder had this path when the command began.
pub fn was_missing(path: &Path) -> bool {
    matches!(held(&trimmed(path)), Some(Held::Missing(..)))
}

/// If root makes folders below a folder of another user, returns that folder's attributes, because its owner must own
/// the new folders.
fn owner_of(above: &Folder) -> io::Result<Option<About>> {
    Ok(Some(above.about()?).filter(|about| is_root() && about.owner != 0))
}

/// Returns a link or folder that another user may have planted in the path of a folder. If the folder is missing,
/// checks the path of the nearest existing folder above it.
pub fn planted(path: &Path) -> Option<Planted> {
    hold_folder(&trimmed(path));
    let way = match held(&trimmed(path)) {
        // The missing folder may exist now.
        Some(Held::Missing(above, rest)) => Some(above.clone().descend(&rest).unwrap_or(above)),
        _ => way(path).ok(),
    };
    way.and_then(|way| way.planted().cloned())
}

/// Opens the file at this path. The file is looked up in the folder that the path led to when the path was first used.
/// Fails if the path is an input that another program has replaced by a link, a folder or a different link.
pub fn open(path: &Path, mode: OpenMode) -> io::Result<Input> {
    if let Some(stdin) = stdin(path) {
        return stdin;
    }
    let input = Input::open_by(path, mode, way)?;
    // An editor may have put a new file in the place of the named file. A file with several hard links may be an older
    // file, so it is not treated as a new file.
    let is_it_or_new = |id| input.about.id == id || input.about.links < 2;
    let is_same = match INPUTS.lock().get(path) {
        Some(NamedInput::Folder(id)) => input.about.id == *id,
        Some(NamedInput::Link(id, place)) => {
            input.found.real.as_ref().and_then(place_of) == *place && is_it_or_new(*id)
        }
        Some(NamedInput::File(id)) => !input.about.is_folder() && !input.found.is_link && is_it_or_new(*id),
        None => true,
    };
    if is_same { Ok(input) } else { Err(exchanged()) }
}

/// Opens the folders of the files with these paths. If a folder cannot be opened, the error is reported later, when the
/// folder is used.
pub fn hold<'a>(paths: impl IntoIterator<Item = &'a Path>) {
    let files = paths.into_iter().filter(|path| !remote::is_address(path));
    files.for_each(|path| hold_folder(&trimmed(parent(path))));
}

/// Like [`hold`], for inputs. Also records which inputs are links or folders, and where the links lead.
pub fn hold_inputs<'a>(paths: impl IntoIterator<Item = &'a Path>) {
    for path in paths.into_iter().filter(|path| !remote::is_address(path)) {
        hold([path]);
        if let Some(named) = named(path) {
            INPUTS.lock().insert(path.to_owned(), named);
        }
    }
}

fn named(path: &Path) -> Option<NamedInput> {
    let (about, trimmed) = (About::of_path(path).ok()?, trimmed(path));
    if about.is_folder() {
        return Some(NamedInput::Folder(about.id));
    }
    if !About::of_name(&trimmed).ok()?.is_link() {
        return Some(NamedInput::File(about.id));
    }
    let place = way(parent(&trimmed)).and_then(|mut way| way.end(trimmed.file_name().unwrap_or_default()));
    let place = place.ok().flatten().filter(|spot| spot.folder.look(&spot.name).is_ok_and(|it| it == Some(about)));
    Some(NamedInput::Link(about.id, place.as_ref().and_then(place_of)))
}

fn place_of(spot: &Spot) -> Option<(FileId, OsString)> {
    Some((spot.folder.about().ok()?.id, spot.name.clone()))
}

/// Opens a folder, or the nearest existing folder above it.
pub fn hold_folder(path: &Path) {
    if held(path).is_some() {
        return;
    }
    match nearest(path, way) {
        Ok((above, rest)) if !rest.as_os_str().is_empty() && has_room() => {
            put(path.to_owned(), Held::Missing(above, rest));
        }
        _ => {}
    }
}

/// Returns the nearest open folder above a path, and the path from that folder.
fn above(path: &Path) -> Option<(Way, PathBuf)> {
    let held = HELD.lock();
    path.ancestors().skip(1).find_map(|above| match held.get(above) {
        Some(Held::There(way)) => Some((way.clone(), path.strip_prefix(above).ok()?.to_owned())),
        _ => None,
    })
}

/// Whether another folder may stay open. A quarter of the files that the system allows the program to open may be
/// folders, and the rest is for other purposes.
fn has_room() -> bool {
    static ROOM: OnceLock<usize> = OnceLock::new();
    let room = *ROOM.get_or_init(|| {
        allow_many_files();
        most_open_files() / 4
    });
    HELD.lock().len() < room.min(MOST)
}

fn held(path: &Path) -> Option<Held> {
    HELD.lock().get(path).cloned()
}

fn put(path: PathBuf, what: Held) {
    HELD.lock().insert(path, what);
}

/// Returns the error for a path that led to another place when the command began.
fn exchanged() -> io::Error {
    Exchanged.into()
}

pub fn refuse_link(found: &Found, force: bool) -> Result<(), Failure> {
    match found.link.as_ref().filter(|_| !force) {
        None => Ok(()),
        Some(link) => Err(Failure::usage(
            format!("{}, and can lead to any of your files", planted_by(link)),
            "name the file itself, without the link; --force follows it",
        )),
    }
}

/// Returns standard input, if the path stands for it and is no path of the system: on Windows, standard input has no
/// path.
pub fn stdin(path: &Path) -> Option<io::Result<Input>> {
    (cfg!(windows) && path == Path::new(streams::STDIN)).then(|| {
        let file = streams::Duplicate::duplicate(&io::stdin())?;
        Ok(Input { about: About::of_file(&file)?, file, found: Found::default() })
    })
}
