//! Opens and decodes covers and other pictures whose pixels are read.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, FileKind, Folder, Input, OpenMode, names};
use deadpan_picture::template::{self, Bits, Front};
use deadpan_picture::{Channels, Decoded, FileFormat, Format, Header, Limits, Orientation, probe, read_into};

/// Opens a picture. Opens only regular files, because opening a pipe without a writer never returns, and opening some
/// devices starts an action.
pub fn open(path: &Path) -> Result<File, Failure> {
    let failed = |error| Failure::path("read", path, &error);
    refuse(path, &about(path)?)?;
    let file = open_again(path).map_err(failed)?;
    // Another file may have replaced the file after the first check, so the opened file is checked, too.
    refuse(path, &About::of_file(&file).map_err(failed)?)?;
    Ok(file)
}

/// Other commands accept `-` as standard input. This function refuses `-` with advice.
pub fn about(path: &Path) -> Result<About, Failure> {
    About::of_path(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path == Path::new("-") => {
            let hint = "save what comes out of it as a file, and name the file";
            Failure::usage("pictures are files, and cannot be read from standard input", hint)
        }
        _ => Failure::path("read", path, &error),
    })
}

/// Opens again a file that was a picture when it was opened before. Never waits.
pub fn open_again(path: &Path) -> io::Result<File> {
    Ok(Input::open(path, OpenMode::default())?.file)
}

/// Refuses everything except regular files, since only regular files can be read at any position.
fn refuse(path: &Path, about: &About) -> Result<(), Failure> {
    let (what, hint) = match about.kind {
        FileKind::File => return Ok(()),
        FileKind::Folder => ("a folder", "name a picture"),
        FileKind::Fifo => ("a pipe", "save what comes out of it as a file, and name the file"),
        FileKind::Socket => ("a socket", "name a picture"),
        _ => ("a device", "name a picture"),
    };
    Err(Failure::usage(format!("{} is {what}, not a picture", shown(path)), hint))
}

/// Decodes a picture.
pub fn decode(path: &Path, orientation: Orientation) -> Result<Decoded, Failure> {
    decode_into(path, orientation, Vec::new())
}

/// Decodes a picture. If possible, reuses the memory of `room` for the pixels.
pub fn decode_into(path: &Path, orientation: Orientation, room: Vec<u8>) -> Result<Decoded, Failure> {
    let file = BufReader::with_capacity(1 << 16, open(path)?);
    read_into(file, orientation, &Limits::default(), room).map_err(|error| Failure::picture(&shown(path), error))
}

/// Reads the seed and the sealed labels of a picture with hidden data from its first rows. The labels are also called
/// doors: each secret that opens the picture has one label. Returns `None` if the whole picture must be decoded.
pub fn front(path: &Path) -> Option<Front> {
    let file = open(path).ok()?;
    Front::read(BufReader::with_capacity(1 << 16, file), &Limits::default()).ok().flatten()
}

/// Returns the paths of all covers: the pictures that the user named, and the pictures directly in the folders that the
/// user named. The function ignores other files in the folders.
pub fn all(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let (mut covers, mut seen) = (Vec::new(), HashSet::new());
    // The user may give a photograph twice, for example once by its path and once by its folder. Each photograph is
    // used only once, because a person who has two pictures of the same photograph can see where these pictures differ.
    let mut is_new = |path: &Path| About::of_path(path).map_or(true, |about| seen.insert(about.id));
    for path in named {
        if !path.is_dir() {
            covers.extend(is_new(path).then(|| path.clone()));
            continue;
        }
        let inside: Vec<_> = files_in(path)?.into_iter().filter(|path| format_of(path).is_some()).collect();
        let has_none = inside.is_empty();
        covers.extend(inside.into_iter().filter(|path| is_new(path)));
        if has_none {
            return Err(Failure::usage(
                format!("{} has no pictures in it", shown(path)),
                "name PNG, WebP or JPEG files",
            ));
        }
    }
    Ok(covers)
}

/// Returns the files directly in a folder, in the order of their names. Omits temporary files, which remain from runs
/// that were killed. A remaining temporary file can be an incomplete picture, or can be older than the picture beside
/// it.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::path("read", folder, &error);
    let mut files = Vec::new();
    for entry in Folder::open(folder).and_then(|folder| folder.entries()).map_err(failed)? {
        let (name, _) = entry.map_err(failed)?;
        if names::is_of_any(&name) {
            continue;
        }
        let path = folder.join(name);
        // A link to a file counts as a file. Pipes and devices are not opened, because opening a pipe or a device could
        // wait forever.
        if About::of_path(&path).is_ok_and(|about| about.is_file()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the folders directly inside each of `folders`, in the order of their names. Omits hidden folders and
/// `folders` themselves.
pub fn folders_in(folders: &[PathBuf]) -> Vec<PathBuf> {
    let shows = |name: &OsStr| !name.as_bytes().starts_with(b".");
    let mut inside = Vec::new();
    for path in folders {
        let entries = Folder::open(path).and_then(|folder| folder.entries());
        let names = entries.into_iter().flatten().flatten().map(|(name, _)| name);
        inside.extend(names.filter(|name| shows(name)).map(|name| path.join(name)));
    }
    inside.retain(|path| path.is_dir() && !folders.contains(path));
    inside.sort();
    inside
}

/// Returns the number of bytes that a picture of the format `format` can carry, if it is made from this cover. `doors`
/// is the number of sealed labels, not counting the label for the secret of the set.
pub fn room(cover: &Header, format: Format, bits: Bits, doors: usize) -> u64 {
    let channels = match format {
        Format::Png => cover.channels,
        // WebP has no gray pictures.
        Format::WebP => Channels::Rgb,
    };
    let samples = u64::from(cover.width) * u64::from(cover.height) * channels.count() as u64;
    // The label of a picture stores the length of the part in 32 bits.
    template::capacity(samples, bits, doors).min(u32::MAX.into())
}

/// Returns the format of a picture.
fn format_of(path: &Path) -> Option<FileFormat> {
    probe(BufReader::new(open(path).ok()?)).ok().map(|header| header.format)
}
