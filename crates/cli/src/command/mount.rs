//! `deadpan mount`: shows the contents of a sealed file as a folder, without writing them to the disk.

mod attach;
mod blocks;
mod serve;
mod tree;

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use rustix::process::{getgid, getuid};

use self::attach::attach;
use self::blocks::{BlockReader, Blocks};
use self::serve::{Mounted, MountedContents};
use self::tree::{MountTree, TreeBuilder};
use crate::command::open::folder::{is_pack, without_index};
use crate::command::open::{bare, sealed_name};
use crate::command::plan::Plan;
use crate::key::identity::IdentityArgs;
use crate::key::signed::{SignerArgs, misnamed};
use crate::place::held;
use crate::place::input::{Input, Source};
use crate::place::sealed::Sealed;
use crate::tell::clock::since_1970;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::shown::{count, planted_by, shown};
use crate::tell::signals;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, Folder, is_root};
use deadpan_pack::{Contents, Entry, Kind, Time};
use deadpan_seal::{Format, Kind as SealedKind, Metadata, Opened};

/// Shows a sealed file or folder as a folder, read-only, without writing its contents to the disk
///
/// The command runs until the folder is unmounted. Only what is read is opened. Only you can look into the folder.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan mount photos.dpn mnt                 until Ctrl-C, or umount mnt (without root: fusermount3 -u mnt)",
    "deadpan mount s3://backup/photos.dpn mnt     an object in a store",
    "deadpan mount --require-signature=alice photos.dpn mnt"
))]
pub struct MountArgs {
    #[command(flatten)]
    keys: IdentityArgs,
    #[command(flatten)]
    signer: SignerArgs,
    /// The sealed file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An empty folder, which shows the contents
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// A validated `deadpan mount` command.
pub struct MountFile {
    args: MountArgs,
    sources: [Source; 1],
}

impl MountArgs {
    pub fn plan(self) -> Result<MountFile, Failure> {
        let Ok([source]) = <[Source; 1]>::try_from(Source::all(vec![self.file.clone()])?) else {
            return Err(Failure::usage("no file is named", "name a sealed file"));
        };
        let sources = [source];
        self.keys.source.leave_stdin_to(&sources)?;
        self.signer.refuse_who_as_file(&sources)?;
        Ok(MountFile { args: self, sources })
    }
}

impl Plan for MountFile {
    fn run(&self) -> Result<Exit, Failure> {
        let path = self.args.folder.as_path();
        let folder = check_folder(path, &self.args.file)?;
        let mounted = self.open()?;
        let name = mounted.name.clone();
        let threads = available_parallelism().map_or(2, usize::from).clamp(2, 8);
        let failed = |error: io::Error| not_mounted(path, &error);
        let (session, attached) = attach(mounted, &folder, path, threads).map_err(failed)?;
        // The folder lies below the mount now, and is not needed any more.
        drop(folder);
        let _guard = signals::notice(move || attached.detach());
        say(&format!("mounted {name} at {}; it ends with Ctrl-C, or with: {} {0}", shown(path), unmounting()));
        session.run().map_err(failed)?;
        Ok(Exit::Done)
    }
}

impl MountFile {
    /// Opens the sealed file, and reads the index of a folder.
    fn open(&self) -> Result<Mounted, Failure> {
        let [source] = &self.sources;
        let input = Input::open(source)?.file_only("name a sealed file")?;
        input.announce();
        let input = input.spooled_sealed()?;
        let name = input.shown();
        let sealed = Sealed::read(&input)?;
        let opened = self.args.keys.identities()?.open(&name, &sealed)?;
        drop(sealed);
        let blocks = Arc::new(Blocks::new(input, opened));
        let reader = blocks.reader()?;
        let verdict = self.args.signer.judge()?.verdict(&name, blocks.opened(), reader.signatures())?;
        let own = bare(source).and_then(|path| path.file_name().map(OsStr::to_owned));
        let misnamed = own.and_then(|own| misnamed(&name, blocks.opened(), &own));
        verdict.notes.into_iter().chain(misnamed).for_each(|note| say(&format!("note: {note}")));
        let owner = (getuid().as_raw(), getgid().as_raw());
        let length = reader.length();
        drop(reader);
        if !holds_folder(&blocks, length) {
            let tree = single(blocks.opened(), source, length);
            return Ok(Mounted::new(name, tree, blocks, None, owner));
        }
        let failed = |error| Failure::pack(&name, error);
        let contents = Contents::read(BlockReader::new(Arc::clone(&blocks), length)).map_err(failed)?;
        let mut contents = contents.ok_or_else(|| without_index(&name, "open it with: deadpan open"))?;
        let tree = all(&mut contents, &name)?;
        Ok(Mounted::new(name, tree, blocks, Some(contents), owner))
    }
}

/// Whether the data are a folder. An age file does not record the kind of its data, so the function looks for the index
/// of a pack.
fn holds_folder(blocks: &Arc<Blocks>, length: u64) -> bool {
    let opened = blocks.opened();
    match opened.format() {
        Format::Age => is_pack(BlockReader::new(Arc::clone(blocks), length)),
        _ => opened.metadata().kind == SealedKind::Folder,
    }
}

/// Reads all entries from the index.
fn all(contents: &mut MountedContents, name: &str) -> Result<MountTree, Failure> {
    let (mut builder, mut left_out) = (TreeBuilder::default(), 0);
    for entry in contents.entries() {
        let entry = entry.map_err(|error| Failure::pack(name, error))?;
        left_out += u64::from(!builder.add(entry));
    }
    if left_out > 0 {
        let entries = count(left_out, "entry is", "entries are");
        say(&format!("note: {name}: {entries} left out, because their names are too long"));
    }
    Ok(builder.finish())
}

/// Returns the tree of a single file, with the name that `deadpan open` would give it.
fn single(opened: &Opened, source: &Source, size: u64) -> MountTree {
    let Metadata { name, mode, modified, .. } = opened.metadata();
    let bare = bare(source).and_then(|path| Some(path.file_name()?.as_bytes().to_vec()));
    let sealed = name.clone().filter(|name| sealed_name(name).is_ok());
    let modified = modified.map_or_else(Time::default, since_1970);
    let entry = |path: Vec<u8>, kind, mode, size| Entry {
        path,
        kind,
        mode,
        modified,
        size,
        begin: 0,
        content: 0,
        stored: size,
        hash: None,
        target: None,
    };
    let mut builder = TreeBuilder::default();
    builder.add(entry(Vec::new(), Kind::Folder, 0o500, 0));
    let path = bare.or(sealed).unwrap_or_else(|| b"data".to_vec());
    builder.add(entry(path, Kind::File, mode.unwrap_or(0o600), size));
    builder.finish()
}

/// Checks the folder before the user is asked for a passphrase, and returns its handle.
fn check_folder(folder: &Path, file: &Path) -> Result<Folder, Failure> {
    let name = shown(folder);
    let failed = |error| unusable(folder, &error);
    if !About::of_path(folder).map_err(failed)?.is_folder() {
        let is_swapped = About::of_path(file).is_ok_and(|about| about.is_folder());
        let hint = if is_swapped { "the FILE comes first: deadpan mount FILE FOLDER" } else { "name an empty folder" };
        return Err(Failure::usage(format!("{name} is not a folder"), hint));
    }
    if let Some(planted) = held::planted(folder) {
        return Err(Failure::usage(planted_by(&planted), "name a folder of your own"));
    }
    let way = held::way(folder).map_err(failed)?;
    match way.folder().entries().map_err(failed)?.next() {
        None => Ok(way.folder().clone()),
        Some(entry) => {
            entry.map_err(failed)?;
            let message = format!("{name} is not empty, and mounting would hide what is in it");
            Err(Failure::usage(message, "name an empty folder"))
        }
    }
}

/// Returns the command with which the user can unmount a folder.
fn unmounting() -> &'static str {
    if is_root() { "umount" } else { "fusermount3 -u" }
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    let name = shown(folder);
    match error.kind() {
        ErrorKind::NotFound => {
            Failure::usage(format!("there is no folder {name}"), format!("make it first: mkdir {name}"))
        }
        ErrorKind::NotConnected => Failure::usage(
            format!("{name} is still mounted by a program that has ended"),
            format!("unmount it first: {} {name}", unmounting()),
        ),
        _ => Failure::path("read", folder, error),
    }
}

fn not_mounted(folder: &Path, error: &io::Error) -> Failure {
    let failure = Failure::path("mount", folder, error);
    let hint = match About::of_path(Path::new("/dev/fuse")) {
        Err(_) => "this system has no /dev/fuse; load the module fuse (modprobe fuse), or unpack with: deadpan open",
        Ok(_) => "without root, mounting takes the program fusermount3 (package fuse3) and a folder of your own",
    };
    Failure { hint: Some(hint.into()), ..failure }
}
