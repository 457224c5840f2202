//! Outputs: files and objects in stores, which get their name when they are complete, and pipes, devices and standard
//! output.

pub mod planted;
mod special;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::place::held;
use crate::place::input::{Input, Source, widen};
use crate::place::partial::{self, Attributes, Partial, exists, folder_of, is_no_file};
use crate::place::remote;
use crate::tell::failure::Failure;
use crate::tell::shown::{planted_by, shown};
use crate::tell::signals;
use crate::tell::streams;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, Error, FileId, FileKind, Folder, Replace, sync_file};
use deadpan_remote::Upload;

/// The options of all commands that write a result.
#[derive(Clone, Debug, clap::Args)]
pub struct OutputArgs {
    /// Where the result goes: a file, a folder to put it into, - for standard output, or an object in a store
    /// (s3://BUCKET/KEY; a key that ends with / is put before the result's name)
    #[arg(
        short,
        long,
        visible_alias = "to",
        value_name = "OUT",
        value_parser = clap::value_parser!(Place),
        value_hint = clap::ValueHint::AnyPath
    )]
    output: Option<Place>,
    /// Write the result to the disk before reporting success
    #[arg(long)]
    pub sync: bool,
    /// Replace an output that exists
    #[arg(short, long)]
    pub force: bool,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

impl OutputArgs {
    /// Returns the value of `-o`.
    pub fn place(&self) -> Option<&Place> {
        self.output.as_ref()
    }

    /// Whether `-o` stands for standard output, as `-` or as a path.
    pub fn is_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(|place| *place == Place::Stdout || place.descriptor() == Some(1))
    }

    /// Returns an error if there are several results and `-o` does not name a folder.
    pub fn check_room(&self, results: usize) -> Result<(), Failure> {
        match self.output.as_ref().filter(|place| results > 1 && !place.is_folder()) {
            None => Ok(()),
            Some(place) => Err(Failure::usage(
                format!("{} is not a folder, and there are several results", place.shown()),
                if place.path().is_some_and(remote::is_address) {
                    "end the key with a slash, so that it is put before each name"
                } else {
                    "make the folder first, or leave out -o"
                },
            )),
        }
    }

    /// Returns the place for a file. If `-o` is a folder, the file is made in that folder, and has the same name as
    /// without `-o`.
    pub fn file(&self, usual: impl FnOnce() -> Result<Place, Failure>) -> Result<Place, Failure> {
        match &self.output {
            None => {
                let place = usual()?;
                if let Some(path) = place.path().filter(|path| special::is_beside_devices(path)) {
                    let message = format!("{} is no place for a result", shown(folder_of(path)));
                    return Err(Failure::usage(message, "name the output with -o"));
                }
                self.unplanted(place, false)
            }
            Some(place) if place.is_folder() => {
                let folder = self.unplanted(place.clone(), true)?;
                self.check_folder(&folder)?;
                self.unplanted(folder.join(usual()?)?, false)
            }
            Some(place) => place.clone().checked(),
        }
    }

    /// Opens the folders of the inputs and of `-o`, before the command waits for anything.
    pub fn hold(&self, sources: &[Source]) {
        held::hold_inputs(sources.iter().filter_map(Source::path));
        self.output.iter().for_each(Self::hold_place);
    }

    /// Opens the folder of an input's result, and the folder into which the input may be unpacked, if the names of
    /// these folders are known. If a folder is missing now, the whole command treats the folder as missing, unless the
    /// command itself makes the folder.
    pub fn hold_result(&self, usual: impl FnOnce() -> Result<Place, Failure>) {
        self.file(usual).iter().for_each(Self::hold_place);
    }

    fn hold_place(place: &Place) {
        if let Some(path) = place.path().filter(|path| !remote::is_address(path)) {
            held::hold([path]);
            held::hold_folder(&deadpan_disk::trimmed(path));
        }
    }

    /// Fails if the place cannot be used as a folder for results.
    fn check_folder(&self, place: &Place) -> Result<(), Failure> {
        match place.path().filter(|path| !remote::is_address(path)) {
            None => Ok(()),
            Some(path) => self.folder_at(path, None).map(drop),
        }
    }

    /// Opens a folder for this result, or for results whose names are not known yet. Refuses a folder that another user
    /// may have planted, unless the user wants to replace files.
    fn folder_at(&self, path: &Path, result: Option<&Path>) -> Result<Folder, Failure> {
        let failed = |error| match (error, result) {
            (Error::Planted(planted), _) => self.appeared(planted::refused(&planted, true)),
            (Error::NoFolder, None) => {
                Failure::usage(format!("there is no folder {}", shown(path)), "make the folder first, with mkdir")
            }
            (error, result) => partial::failure(result.unwrap_or(path), error),
        };
        let way = held::way(path).map_err(|error| failed(Error::of_folder(error)))?;
        if self.force && !held::was_missing(path) {
            return Ok(way.folder().clone());
        }
        way.unplanted().map_err(failed)
    }

    pub fn refuse_planted(&self, place: &Place) -> Result<(), Failure> {
        self.unplanted(place.clone(), true).map(drop)
    }

    /// Refuses a place that another user may have planted. `named` is true if the user gave the name of the place.
    fn unplanted(&self, place: Place, named: bool) -> Result<Place, Failure> {
        if let Some(path) = place.path().filter(|path| !remote::is_address(path)) {
            planted::check(path, named, self.force)?;
        }
        Ok(place)
    }

    /// Whether the user gave the whole path of this place.
    fn names(&self, place: &Place) -> bool {
        self.output.as_ref() == Some(place)
    }

    /// If `--force` was given, changes the advice to this: `--force` does not replace a file or folder of another user
    /// that appeared after the command began.
    fn appeared(&self, mut failure: Failure) -> Failure {
        if self.force {
            failure.hint = Some(planted::APPEARED.into());
        }
        failure
    }

    /// Opens an output. Replaces a file only with `--force`, and never if the sender chose its name. Fails if the
    /// output is the input.
    pub fn open(&self, place: &Place, input: Option<&Input>) -> Result<Output, Failure> {
        let output = match place.path() {
            None => Output::stream(streams::stdout()?, place),
            Some(path) if remote::is_address(path) => Output::object(path, place, self.force, input)?,
            Some(path) => {
                // Links are followed, since a link can lead to the input.
                if let Ok(about) = About::of_path(path) {
                    refuse_input(about.id, input, &shown(path))?;
                }
                let given = matches!(place, Place::Given(_));
                let force = self.force && self.names(place) && !held::was_missing(path);
                match special::open(path, force).filter(|_| given) {
                    Some(file) => Output::stream(file.map_err(|failure| self.appeared(failure))?, place),
                    None => Output::partial(&self.folder_of(path, input)?, path, place, self.force && given)?,
                }
            }
        };
        if let Output::Stream { file, .. } = &output {
            let about = About::of_file(file).map_err(|error| Failure::io("write", &place.shown(), &error))?;
            refuse_input(about.id, input, &place.shown())?;
        }
        Ok(output)
    }

    /// Opens an existing folder, to put results into it. Refuses a folder that another user may have planted, unless
    /// the user named the folder and gave `--force`.
    pub fn enter(&self, place: &Place, path: &Path) -> Result<Folder, Failure> {
        let failed = |error: &io::Error| Failure::path("open", path, error);
        planted::check(path, self.names(place), self.force)?;
        let opened = held::way(path).map_err(|error| failed(&error))?.folder().clone();
        // The folder must be readable, since unpacking searches it for existing names.
        opened.entries().map(drop).map_err(|error| failed(&error))?;
        Ok(opened)
    }

    /// Opens the folder in which an output is made. Refuses a folder that another user may have planted. If the output
    /// is made beside the input, uses the folder in which the input was found.
    pub fn folder_of(&self, path: &Path, input: Option<&Input>) -> Result<Folder, Failure> {
        let found = input.map(|input| &input.found).filter(|_| self.output.is_none());
        if let Some(link) = found.and_then(|found| found.link.as_ref()) {
            let hint = "name the file that it leads to, or name the output with -o";
            return Err(Failure::usage(planted_by(link), hint));
        }
        match found.and_then(|found| found.folder_beside(path)) {
            Some(folder) => Ok(folder.clone()),
            None => self.folder_at(folder_of(path), Some(path)),
        }
    }

    /// Returns the place for a folder. If there are several `results`, or if `-o` ends with a slash, the new folder is
    /// made inside `-o`. In all other cases, `-o` is the path of the new folder, so that a second run with the same
    /// `-o` does not put its result into the result of the first run.
    pub fn folder(&self, results: usize, usual: impl FnOnce() -> Result<Place, Failure>) -> Result<Place, Failure> {
        if let Some(place) = self.output.as_ref().filter(|place| place.path().is_some_and(remote::is_address)) {
            let message = format!("{} is no place for a folder: what is unpacked lies on this machine", place.shown());
            return Err(Failure::usage(message, "name a folder here; or open it as an archive: -o - | …"));
        }
        match &self.output {
            None => self.unplanted(usual()?, false),
            Some(place) if results > 1 || place.ends_with_slash() => {
                let folder = self.unplanted(place.clone().checked()?, true)?;
                self.check_folder(&folder)?;
                self.unplanted(folder.join(usual()?)?, false)
            }
            Some(place) => self.unplanted(place.clone(), true),
        }
    }
}

/// The place where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Stdout,
    /// A path that the user gave, or that was made from such a path.
    Given(PathBuf),
    /// A path that ends with the name that was sealed together with the data. The sender chose this component.
    Sealed(PathBuf),
}

/// The value of `-o`, where `-` is standard output.
impl From<OsString> for Place {
    fn from(text: OsString) -> Self {
        if text == "-" { Self::Stdout } else { Self::Given(remote::local(text.into())) }
    }
}

impl Place {
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::Given(path) | Self::Sealed(path) => Some(path),
        }
    }

    /// Returns the name for messages.
    pub fn shown(&self) -> String {
        self.path().map_or_else(|| "standard output".into(), shown)
    }

    /// Returns the number of the open descriptor that the path stands for, such as 1 for `/dev/stdout`.
    pub fn descriptor(&self) -> Option<u32> {
        self.path().and_then(special::descriptor)
    }

    /// Whether the place is standard output, another open descriptor, a pipe or a device.
    pub fn is_stream(&self) -> bool {
        let is_special = |path: &Path| About::of_path(path).is_ok_and(|about| !about.is_file() && !about.is_folder());
        *self == Self::Stdout || self.descriptor().is_some() || self.path().is_some_and(is_special)
    }

    pub fn is_folder(&self) -> bool {
        self.path().is_some_and(|path| match remote::address(path) {
            Ok(Some(address)) => address.is_prefix(),
            _ => path.is_dir(),
        })
    }

    pub fn ends_with_slash(&self) -> bool {
        self.path()
            .is_some_and(|path| path.as_os_str().as_bytes().last().is_some_and(|byte| is_separator(char::from(*byte))))
    }

    /// Refuses a folder that does not exist.
    fn checked(self) -> Result<Self, Failure> {
        self.path().map_or(Ok(None), remote::address)?;
        if self.ends_with_slash() && !self.is_folder() {
            return Err(Failure::usage(
                format!("there is no folder {}", self.shown()),
                "make the folder first, with mkdir",
            ));
        }
        Ok(self)
    }

    /// Returns the place in this folder that has the same last component as `usual`.
    fn join(&self, usual: Self) -> Result<Self, Failure> {
        let folder = self.path().unwrap_or(Path::new(""));
        match usual {
            Self::Given(path) => Ok(Self::Given(folder.join(path.file_name().unwrap_or_default()))),
            Self::Sealed(path) => Ok(Self::Sealed(folder.join(path.file_name().unwrap_or_default()))),
            Self::Stdout => Err(Failure::usage(
                format!("{} is a folder, and there is no name for a file in it", self.shown()),
                "name the file with -o",
            )),
        }
    }
}

/// An open output.
pub enum Output {
    /// Each byte is written as soon as it is available.
    Stream { file: File, place: Place },
    /// The file gets its name when it is complete.
    Partial { partial: Partial, place: Place, replace: bool },
    /// The object gets its name when it is complete.
    Object { upload: Shared, place: Place, guard: signals::Guard },
}

/// An upload that several writers share.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Option<Upload>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |upload| upload.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    fn partial(folder: &Folder, path: &Path, place: &Place, replace: bool) -> Result<Self, Failure> {
        let name = path.file_name().ok_or(Error::NoName).map_err(|error| partial::failure(path, error))?;
        match folder.look(name).map_err(|error| Failure::path("create", path, &error))? {
            None => {}
            Some(found) if found.is_folder() => {
                return Err(Failure::usage(format!("{} is a folder", shown(path)), "name a file with -o"));
            }
            Some(_) if !replace => return Err(taken(place)),
            Some(found) if !found.is_file() && !found.is_link() => {
                let hint = "write to it through a pipe: deadpan … -o - > …";
                return Err(Failure { hint: Some(hint.into()), ..is_no_file(path) });
            }
            Some(_) => {}
        }
        Ok(Self::Partial { partial: Partial::create_in(folder, path)?, place: place.clone(), replace })
    }

    fn object(path: &Path, place: &Place, force: bool, input: Option<&Input>) -> Result<Self, Failure> {
        let failed = |error| Failure::store(&error);
        let address = remote::address(path)?.filter(|address| !address.is_prefix());
        let Some(address) = address else {
            let message = format!("{} names a prefix, and not an object", place.shown());
            return Err(Failure::usage(message, "name the object, with a key that does not end with a slash"));
        };
        deadpan_fleet::refuse_state(&address).map_err(|error| Failure::job("", error))?;
        let source = input.and_then(|input| input.data.object());
        if source.is_some_and(|object| *object.address() == address) {
            let message = format!("{address} is the input and the output");
            return Err(Failure::usage(message, "choose another output with --to"));
        }
        let replace = force && matches!(place, Place::Given(_));
        let length = input.and_then(Input::length).map(longest).filter(|length| *length > HUGE);
        let upload = Upload::start(&remote::store(&address)?, &address, length, replace).map_err(failed)?;
        let guard = remote::guard(upload.canceller(), place.shown());
        Ok(Self::Object { upload: Shared(Arc::new(Mutex::new(Some(upload)))), place: place.clone(), guard })
    }

    fn stream(file: File, place: &Place) -> Self {
        widen(&file);
        Self::Stream { file, place: place.clone() }
    }

    /// Returns the file, or `None` if the output is an object.
    pub fn file(&self) -> Option<&File> {
        match self {
            Self::Stream { file, .. } => Some(file),
            Self::Partial { partial, .. } => Some(partial.file()),
            Self::Object { .. } => None,
        }
    }

    /// Returns the file if several threads can write to it at any position.
    pub fn positions(&self) -> Option<&File> {
        if let Self::Partial { partial, .. } = self { Some(partial.file()) } else { None }
    }

    pub fn writer(&self) -> Box<dyn Write + Send + '_> {
        match self {
            Self::Object { upload, .. } => Box::new(upload.clone()),
            Self::Stream { file, .. } => Box::new(file),
            Self::Partial { partial, .. } => Box::new(partial.file()),
        }
    }

    /// Returns a writer that owns its resources.
    pub fn owned_writer(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(match self {
            Self::Object { upload, .. } => Box::new(upload.clone()),
            Self::Stream { file, .. } => Box::new(file.try_clone()?),
            Self::Partial { partial, .. } => Box::new(partial.file().try_clone()?),
        })
    }

    pub fn place(&self) -> &Place {
        match self {
            Self::Stream { place, .. } | Self::Partial { place, .. } | Self::Object { place, .. } => place,
        }
    }

    pub fn shown(&self) -> String {
        self.place().shown()
    }

    pub fn is_positioned(&self) -> bool {
        self.positions().is_some()
    }

    pub fn is_terminal(&self) -> bool {
        self.file().is_some_and(File::is_terminal)
    }

    /// Sets the attributes of a file, and gives the file its name. With `sync`, the data are on the disk before this
    /// function returns.
    pub fn land(self, attributes: Attributes, sync: bool) -> Result<Place, Failure> {
        match self {
            Self::Partial { partial, place, replace } => {
                partial.land(attributes, Replace::any_if(replace), sync)?;
                Ok(place)
            }
            Self::Stream { file, place } if sync => match sync_file(&file) {
                // Pipes and terminals cannot be synced, and report `InvalidInput`.
                Err(error) if error.kind() != ErrorKind::InvalidInput => {
                    Err(Failure::io("write", &place.shown(), &error))
                }
                _ => Ok(place),
            },
            Self::Stream { place, .. } => Ok(place),
            Self::Object { upload, place, guard } => {
                let upload = upload.0.lock().take();
                let ended = upload.map_or(Ok(0), Upload::finish);
                drop(guard);
                ended.map(|_| place).map_err(|error| Failure::store(&error))
            }
        }
    }
}

/// Up to this length, an upload does not need to know its length. The data of a compressed file may be much longer than
/// the file.
const HUGE: u64 = 1 << 40;

/// Returns an upper limit for the length of a sealed input, with padding and armor. The parts of an upload must be long
/// enough for this length.
fn longest(input: u64) -> u64 {
    input.saturating_add(input / 2).saturating_add(2 << 20)
}

pub fn taken(place: &Place) -> Failure {
    match place {
        Place::Sealed(path) => Failure::usage(
            format!("{} exists already, and the sender chose this name", shown(path)),
            "choose another name with -o; --force replaces only what you name yourself",
        ),
        _ => exists(place.path().unwrap_or(Path::new("-"))),
    }
}

/// Returns an error if the output is the input: sealing a file onto itself would destroy it.
fn refuse_input(output: FileId, input: Option<&Input>, name: &str) -> Result<(), Failure> {
    let Some((input, about)) = input.and_then(|input| Some((input, input.about?))) else { return Ok(()) };
    if matches!(about.kind, FileKind::File | FileKind::Fifo) && output == about.id {
        let message = format!("{} and {name} are the same file", input.shown());
        return Err(Failure::usage(message, "choose another output with -o"));
    }
    Ok(())
}
