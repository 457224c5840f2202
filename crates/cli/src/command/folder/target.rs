//! The folder into which the program unpacks an archive.

use std::io;
use std::path::Path;

use super::FOLDERS;
use crate::place::held;
use crate::place::input::Input;
use crate::place::output::{OutputArgs, Place, taken};
use crate::place::partial::PartialFolder;
use crate::place::report::Done;
use crate::tell::advice;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{bytes, count, shown};
use crate::tell::signals::give_way;
use crate::tell::size::{self, Size};
use deadpan_disk::{Folder, Handle, allow_many_files, umask};
use deadpan_pack::{Error, Outcome, Unpacker, Unpacking};

/// The options for unpacking folders.
#[derive(Clone, Debug, clap::Args)]
pub struct UnpackArgs {
    /// Report what is damaged or fails, and go on with the rest. The exit code is that of the worst failure
    #[arg(long, help_heading = FOLDERS)]
    pub keep_going: bool,
    /// Restore permissions exactly, whatever the umask is
    #[arg(long, help_heading = FOLDERS)]
    pub preserve: bool,
    /// As root, restore the numbers of owners and groups, and with them setuid, setgid and sticky bits
    #[arg(long, help_heading = FOLDERS)]
    owner: bool,
    /// Open or unpack at most this many bytes in all, holes in sparse files included [default: no limit for data; holes
    /// up to 64G or 1000 times the stored data, whichever is more]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = FOLDERS)]
    max_size: Option<Size>,
    /// Restore the extended attributes of users; as root and with --owner, also access control lists and capabilities
    #[arg(long, help_heading = FOLDERS)]
    xattrs: bool,
}

impl UnpackArgs {
    /// Returns the permission bits to remove from the modes of unpacked entries: the umask, or none with `--preserve`.
    pub fn mask(&self) -> u32 {
        if self.preserve { 0 } else { umask() }
    }

    /// Returns how many bytes the data of one file may have.
    pub fn most(&self) -> u64 {
        self.max_size.map_or(u64::MAX, |size| size.0)
    }

    pub fn limit(&self, unpacker: &mut Unpacker) {
        self.max_size.iter().for_each(|size| unpacker.max_size(size.0));
    }
}

/// A folder that is being unpacked.
pub struct Target {
    place: Place,
    /// Whether the archive was sealed. The data of a sealed archive are authenticated, so damaged data are never
    /// unpacked.
    is_authentic: bool,
    // The unpacker is dropped before the folder is removed: some file systems of Windows remove no file that is open.
    unpacker: Unpacker,
    root: Root,
}

enum Root {
    /// A new folder; the folder gets its name when all entries are unpacked.
    New(PartialFolder),
    /// A folder that existed before. Entries are added to its contents.
    There(Folder),
}

impl Target {
    /// Opens the folder or makes a new folder. An existing folder is used only if `join` or `--force` is set. An
    /// existing folder is never used if the sender chose the folder's name.
    pub fn begin(
        place: &Place,
        input: Option<&Input>,
        args: &UnpackArgs,
        output: &OutputArgs,
        join: bool,
    ) -> Result<Self, Failure> {
        allow_many_files();
        let Some(path) = place.path() else {
            return Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o"));
        };
        let (given, force) = (matches!(place, Place::Given(_)), output.force);
        // The path of a folder may end with a slash.
        let trimmed = deadpan_disk::trimmed(path);
        let root = match trimmed.file_name() {
            // The paths `.` and `..` contain no file name, and these folders always exist.
            None if given && (join || force) => {
                Root::There(held::way(path).map_err(|error| Failure::path("open", path, &error))?.folder().clone())
            }
            None => return Err(exists(path)),
            Some(name) => {
                let above = output.folder_of(&trimmed, input)?;
                let failed = |error| Failure::path("create", path, &error);
                match above.look_followed(name).map_err(failed)? {
                    None => Root::New(PartialFolder::create_in(&above, &trimmed)?),
                    Some(about) if about.is_folder() && given && (join || force) => {
                        Root::There(output.enter(place, &trimmed)?)
                    }
                    Some(about) if about.is_folder() && given => return Err(exists(path)),
                    Some(_) if given => {
                        return Err(Failure::usage(
                            format!("{} exists and is not a folder", shown(path)),
                            "choose another name with -o",
                        ));
                    }
                    Some(_) => return Err(taken(place)),
                }
            }
        };
        Ok(Self::unpacking_into(root, place, input, args, force && given))
    }

    /// Begins a new folder beside an existing folder. The new folder gets the undamaged entries of a damaged archive.
    /// Returns `None` if the existing folder has no name.
    pub fn begin_beside(
        place: &Place,
        input: Option<&Input>,
        args: &UnpackArgs,
        output: &OutputArgs,
    ) -> Result<Option<Self>, Failure> {
        let trimmed = deadpan_disk::trimmed(place.path().unwrap_or(Path::new(".")));
        if trimmed.file_name().is_none() {
            return Ok(None);
        }
        let root = Root::New(PartialFolder::create_in(&output.folder_of(&trimmed, input)?, &trimmed)?);
        Ok(Some(Self::unpacking_into(root, place, input, args, false)))
    }

    fn unpacking_into(root: Root, place: &Place, input: Option<&Input>, args: &UnpackArgs, replace: bool) -> Self {
        let options = Unpacking {
            replace,
            keep_going: args.keep_going,
            skip_damage: args.keep_going,
            mask: args.mask(),
            owner: args.owner,
            attributes: args.xattrs,
            fresh: matches!(root, Root::New(_)),
            archive: input.and_then(|input| input.about).map(|about| about.id),
        };
        let folder = match &root {
            Root::New(partial) => partial.folder(),
            Root::There(folder) => folder,
        };
        let mut unpacker = Unpacker::new(folder.clone(), options);
        args.limit(&mut unpacker);
        Self { place: place.clone(), is_authentic: true, unpacker, root }
    }

    /// Marks the archive as not sealed.
    pub fn of_unsealed(self) -> Self {
        Self { is_authentic: false, ..self }
    }

    pub fn unpacker(&mut self) -> &mut Unpacker {
        &mut self.unpacker
    }

    /// Completes the folder. If unpacking failed, keeps the entries that are complete. With `sync`, all data are on the
    /// disk before this function returns.
    pub fn end(self, outcome: Result<Outcome, Failure>, sync: bool) -> Result<Done, Failure> {
        // If a signal is ending the program, `give_way` waits until the program ends. The program therefore does not
        // report failures that the signal caused.
        give_way();
        match outcome {
            Ok(outcome) => self.land(&outcome, sync),
            Err(failure) => Err(self.keep(failure, true)),
        }
    }

    pub fn is_new(&self) -> bool {
        matches!(self.root, Root::New(_))
    }

    /// Keeps the undamaged entries of a damaged archive. `left_out` has notes on the damaged entries. The report also
    /// includes the entries that failed for reasons other than the damage.
    pub fn keep_whole(self, failure: Failure, outcome: Result<Outcome, Failure>, left_out: Vec<String>) -> Done {
        give_way();
        let others = match outcome {
            Ok(outcome) => told(&outcome),
            Err(mut failure) => {
                failure.notes.push("what stands behind this entry was not unpacked".into());
                vec![failure]
            }
        };
        let mut damage = self.keep(failure, false);
        damage.notes.extend(left_out);
        let failures: Vec<_> = [damage].into_iter().chain(others).collect();
        let exit = failures.iter().map(|failure| failure.exit).max().unwrap_or_default();
        Done { failures, exit, ..Done::default() }
    }

    /// Removes a new folder with all unpacked entries. If the folder existed before, keeps its new entries and adds a
    /// note about them.
    pub fn discard(self, mut failure: Failure) -> Failure {
        give_way();
        let progress = self.unpacker.progress();
        if matches!(self.root, Root::There(_)) && progress.complete > 0 {
            let complete = count(progress.complete, "entry is", "entries are");
            failure.notes.push(format!("{complete} in {}, and nothing of that can be trusted", self.place.shown()));
        }
        failure
    }

    fn land(self, outcome: &Outcome, sync: bool) -> Result<Done, Failure> {
        let failures = told(outcome);
        let notes = outcome.remarks.iter().map(ToString::to_string).collect();
        match self.root {
            Root::New(partial) => {
                if !self.unpacker.progress().root {
                    // The archive has no entry for the folder itself, so the folder gets the default mode.
                    let set = partial.folder().set_mode(0o777 & !umask());
                    set.map_err(|error| Failure::path("set time and mode of", &partial.target, &error))?;
                }
                partial.land(sync)?
            }
            Root::There(folder) if sync => {
                let path = self.place.path().unwrap_or(Path::new("."));
                folder.sync_all().map_err(|error| Failure::path("write", path, &error))?
            }
            Root::There(_) => {}
        }
        let exit = failures.iter().map(|failure| failure.exit).max().unwrap_or_default();
        Ok(Done { output: Some(self.place), bytes: outcome.bytes, failures, notes, exit, ..Done::default() })
    }

    /// Keeps the complete entries after a failure. A new folder gets a name that shows that the folder is incomplete.
    /// `in_order` means that all entries before the failure are complete.
    fn keep(self, mut failure: Failure, in_order: bool) -> Failure {
        let progress = self.unpacker.progress();
        // Dropping the unpacker sets the times and modes of the unpacked folders.
        drop(self.unpacker);
        let place = match self.root {
            // No entry is complete, except perhaps the entry of the folder itself.
            Root::New(_) if progress.complete == u64::from(progress.root) => return failure,
            // Nothing was unpacked.
            Root::There(_) if progress.complete == 0 && progress.failed == 0 => return failure,
            Root::New(partial) => match partial.keep_incomplete() {
                Ok(path) => path,
                Err(other) => {
                    failure.notes.push(other.message);
                    return failure;
                }
            },
            Root::There(_) => self.place.path().unwrap_or(Path::new(".")).to_path_buf(),
        };
        let complete = count(progress.complete, "entry is", "entries are");
        let until = progress
            .until
            .filter(|path| in_order && !path.is_empty())
            .map_or(String::new(), |path| format!(": all up to {}", bytes(&path)));
        let but = if progress.failed > 0 && !until.is_empty() { ", except those that failed" } else { "" };
        // If only the folder itself is complete, no other entry was written.
        if progress.complete > u64::from(progress.root) {
            failure.notes.push(format!("{complete} complete in {}{until}{but}", shown(&place)));
            if !self.is_authentic && !progress.compared {
                failure.notes.push("they were not compared with the hashes of a pack, which stand at its end".into());
            }
        }
        // On a full disk all threads fail at once, and one message about the full disk is enough.
        let (full, others): (Vec<_>, Vec<_>) = progress.failures.iter().partition(|other| is_full(&other.error));
        for other in others.into_iter().map(|other| Failure::pack("", other.error.clone())) {
            failure.exit = failure.exit.max(other.exit);
            failure.notes.push(format!("failed too: {}", other.message));
        }
        if !full.is_empty() {
            failure.exit = failure.exit.max(Exit::System);
            let more = count(full.len() as u64, "more entry", "more entries");
            failure.notes.push(format!("{more} failed, since the disk is full"));
        }
        failure.kept = Some(place);
        failure
    }
}

/// Returns the failures of entries. If more entries failed, the last failure has a note about them.
fn told(outcome: &Outcome) -> Vec<Failure> {
    let told = |error: &Error| {
        let failure = Failure::pack("", error.clone());
        Failure { hint: advice::pack::kept_going(error).map(str::to_owned).or(failure.hint), ..failure }
    };
    let mut failures: Vec<_> = outcome.failures.iter().map(|failure| told(&failure.error)).collect();
    if outcome.failed > failures.len() as u64
        && let Some(last) = failures.last_mut()
    {
        last.notes.push(format!("{} failed, and these are the first", count(outcome.failed, "entry", "entries")));
    }
    failures
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Entry { error, .. } if error.kind() == io::ErrorKind::StorageFull)
}

/// Returns the failure for a target folder that exists already.
pub fn exists(path: &Path) -> Failure {
    Failure::usage(
        format!("{} exists already", shown(path)),
        "unpack into it with --force, which replaces files of the same names, or choose another name with -o; \
        -o FOLDER/, with a slash, unpacks inside that folder",
    )
}
