//! The draft: the opened data as a file in a private folder in memory. The editor may leave other files in the folder,
//! so the whole folder is wiped at the end.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, Digest, SHA256};

use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::{About, DraftFolder, Folder, Input, OpenMode, overwrite};
use deadpan_seal::Secret;

/// The beginning of the private folder's name. The rest is random.
const FOLDER: &str = "deadpan-edit";
/// The list of the areas to which the system swaps memory.
const SWAPS: &str = "/proc/swaps";
/// The length of the buffer for reading a draft.
const BUFFER: usize = 1 << 16;

pub struct Draft {
    /// The folder in which the private folder was made.
    parent: Folder,
    folder: DraftFolder,
    name: OsString,
    file: File,
    /// The file that the editor got. An editor that saves by renaming leaves this file without a name.
    original: Original,
    digest: Option<Digest>,
}

/// An open file. Dropping this value overwrites the file.
struct Original(Option<File>);

impl Drop for Original {
    fn drop(&mut self) {
        self.0.iter().for_each(overwrite);
    }
}

impl Draft {
    /// Makes an empty draft with this name. If no folder in memory can be used, makes it in the folder for temporary
    /// files, and prints a note.
    pub fn create(name: &OsStr) -> Result<Self, Failure> {
        let (parent, folder) = private()?;
        let file = folder.folder().create(name);
        let failed = |error| Failure::path("create", &folder.folder().path_of(name), &error);
        let file = file.map_err(failed)?;
        let original = Original(Some(file.try_clone().map_err(failed)?));
        Ok(Self { parent, folder, name: name.to_owned(), file, original, digest: None })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.folder().path_of(&self.name)
    }

    /// Returns the folder around the private folder.
    pub fn parent(&self) -> &Folder {
        &self.parent
    }

    /// While the returned value exists, an editor that is started also gets the lock of the draft. If this program is
    /// killed, no other run removes the text before the editor ends.
    pub fn share_lock(&self) -> io::Result<impl Drop + use<>> {
        self.folder.share_lock()
    }

    /// Returns the file, from its start.
    pub fn file(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }

    pub fn length(&self) -> io::Result<u64> {
        About::of_file(&self.file).map(|about| about.length)
    }

    /// Writes the opened data with the function `write`, and remembers their hash.
    pub fn fill<T>(&mut self, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Failure>) -> Result<T, Failure> {
        let done = write(&mut &self.file)?;
        self.digest = Some(self.hash()?);
        Ok(done)
    }

    /// Reads the draft that the editor has left. Returns whether the editor has changed the data.
    ///
    /// The editor may have replaced the file, so the file is opened again. No link is followed.
    pub fn read_changed(&mut self) -> Result<bool, Failure> {
        let path = self.path();
        let hint = "nothing was changed; an editor has to save the text under the name that it gets";
        let unusable =
            |why| Failure::new(Exit::System, format!("the editor has left no text: {} {why}", shown(&self.name)), hint);
        let (file, about) = self.folder.folder().file(&self.name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unusable("is gone"),
            io::ErrorKind::NotADirectory => unusable("is a link"),
            _ => Failure::path("read", &path, &error),
        })?;
        if !about.is_file() {
            return Err(unusable("is not a regular file"));
        }
        self.file = file;
        let now = self.hash()?;
        Ok(self.digest.is_none_or(|before| before.as_ref() != now.as_ref()))
    }

    fn hash(&self) -> Result<Digest, Failure> {
        let failed = |error| Failure::path("read", &self.path(), &error);
        let (mut file, mut buffer, mut context) =
            (self.file().map_err(failed)?, Secret::zeroed(BUFFER), Context::new(&SHA256));
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(context.finish()),
                Ok(read) => context.update(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Leaves the draft unsealed, because it cannot be sealed anywhere. Returns the path of the draft, if it is there.
    pub fn leave(mut self) -> Option<PathBuf> {
        // The editor may have changed this file in place. Then the draft that stays is this file.
        self.original.0 = None;
        let kept = self.folder.keep_incomplete().ok()?;
        Some(self.parent.path_of(&kept).join(self.name))
    }
}

/// Makes the private folder. Returns the folder around it, too.
fn private() -> Result<(Folder, DraftFolder), Failure> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let path = std::path::absolute(std::env::temp_dir()).unwrap_or_else(|_| std::env::temp_dir());
    let in_memory: Vec<_> = runtime.into_iter().chain([PathBuf::from("/dev/shm")]).collect();
    // A run that was killed may have used another of these folders.
    for parent in in_memory.iter().chain([&path]).filter_map(|path| Folder::open(path).ok()) {
        DraftFolder::sweep_erased(&parent, OsStr::new(FOLDER));
    }
    for path in in_memory {
        let usable = |parent: &Folder| parent.is_in_memory() && is_safe(parent);
        let Some(parent) = Folder::open(&path).ok().filter(usable) else { continue };
        if let Ok(folder) = DraftFolder::create_erased_in(&parent, OsStr::new(FOLDER)) {
            if is_swapped() {
                say("note: swap is on, so the system may write the text to the disk while you edit it");
            }
            return Ok((parent, folder));
        }
    }
    let parent = Folder::open(&path).map_err(|error| Failure::path("use", &path, &error))?;
    if !is_safe(&parent) {
        let message = format!("other users can rename what is in {}, where the text would lie", shown(&path));
        return Err(Failure::usage(message, "name a folder of your own with TMPDIR"));
    }
    let folder = DraftFolder::create_erased_in(&parent, OsStr::new(FOLDER));
    let folder = folder.map_err(|error| Failure::io("create a folder in", &shown(&path), &io::Error::other(error)))?;
    if !parent.is_in_memory() {
        say(&format!("note: no folder in memory can be used, so the text lies in {} while you edit it", shown(&path)));
    }
    Ok((parent, folder))
}

/// Whether no other user can put another folder in the place of the private one.
fn is_safe(parent: &Folder) -> bool {
    parent.about().is_ok_and(|about| about.is_trusted() && (about.mode & 0o022 == 0 || about.is_open_to_others()))
}

/// Whether the system writes memory to a disk if memory is short. Swap that is compressed memory does not count.
fn is_swapped() -> bool {
    let mut text = String::new();
    let read =
        Input::open(Path::new(SWAPS), OpenMode::WAITING).and_then(|input| (&input.file).read_to_string(&mut text));
    read.is_ok() && text.lines().skip(1).any(|line| !line.starts_with("/dev/zram"))
}
