//! Options and results of packing folders.

mod exclude;
mod gathered;
mod preview;
mod target;

pub use exclude::{ExcludeArgs, idle, tell};
pub use gathered::{Gathered, check_stdin, is_one_pack, root_of};
pub use preview::Preview;
pub use target::{Target, UnpackArgs, exists};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::place::input::Input;
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::report::Done;
use crate::tell::advice;
use crate::tell::failure::{Exit, Failure};
use crate::tell::progress::Progress;
use crate::tell::shown::{bytes, count, shown};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, allow_many_files};
use deadpan_pack::{LeftOut, Notes, OutputPlace, Packer, Packing, Rules};
use deadpan_seal::Error;

/// The maximum number of gaps or entries that a message lists.
pub const MOST: usize = 20;

/// The heading of the options for folders in each command's help. The attribute of each single option sets this
/// heading. If an attribute of the whole structure set the heading, the heading would also apply to the options that a
/// command defines after this structure.
pub const FOLDERS: &str = "Folders";

/// The options for packing folders.
#[derive(Clone, Debug, clap::Args)]
pub struct PackArgs {
    /// Record the numeric IDs of owners and groups
    #[arg(long, help_heading = FOLDERS)]
    owner: bool,
    /// Record extended attributes
    #[arg(long, help_heading = FOLDERS)]
    xattrs: bool,
    /// Make the same archive from the same contents each time: leave out times and owners, and write holes in files as
    /// zeros
    #[arg(long, help_heading = FOLDERS, conflicts_with = "owner")]
    deterministic: bool,
    /// Leave out entries that cannot be read, report them, and exit with 4. Parts of a file that cannot be read become
    /// zeros
    #[arg(long, help_heading = FOLDERS)]
    keep_going: bool,
}

impl PackArgs {
    /// Refuses options that files which are sealed one by one do not have.
    pub fn refuse_alone(&self) -> Result<(), Failure> {
        let given = [("--owner", self.owner), ("--xattrs", self.xattrs)];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::usage(
                format!("{option} is for a folder in one sealed file: a file by itself keeps its name, time and mode"),
                format!("leave out {option}, or seal the folder without --each"),
            )),
        }
    }

    /// Begins to pack the folder `input`. If the output is inside the folder `input`, the archive does not include the
    /// output. `output` is `None` if the folder is hidden in pictures, because the pictures are not a single output.
    pub fn packer(&self, input: &Input, output: Option<&Output>, rules: Rules) -> Result<Packer, Failure> {
        let path = input.source.path().unwrap_or(Path::new("."));
        let name = name_of(path)?;
        let packer = Packer::pack_open(input.folder()?, name.as_bytes(), self.packing(output, rules));
        packer.map_err(|error| self.unpacked(&input.shown(), error))
    }

    /// Begins to pack several inputs. `root` is the name of the root.
    pub fn gather(
        &self,
        inputs: Gathered,
        root: &OsStr,
        output: Option<&Output>,
        rules: Rules,
    ) -> Result<Packer, Failure> {
        let packer = Packer::gather(inputs.into_starts(), root.as_bytes(), self.packing(output, rules));
        packer.map_err(|error| self.unpacked(&shown(root), error))
    }

    /// Returns the failure for a folder that cannot be read.
    fn unpacked(&self, name: &str, error: deadpan_pack::Error) -> Failure {
        // If the folder itself cannot be read, nothing is left to pack, even with `--keep-going`.
        if self.keep_going { Failure::pack(name, error) } else { failed(name, error) }
    }

    fn packing(&self, output: Option<&Output>, rules: Rules) -> Packing {
        allow_many_files();
        let written = output.and_then(|output| About::of_file(output.file()?).ok());
        let written = written.filter(About::is_file).map(|about| about.id);
        // The archive omits the temporary file of the output, and no note mentions this file. The archive also omits
        // the file that has the output's final name, or the file that a stream writes to. A note names this file.
        let (except, output) = match output {
            Some(Output::Partial { partial, .. }) => {
                let draft = partial.draft();
                let name = draft.name().as_bytes().to_vec();
                let place = draft.folder().about().map(|about| OutputPlace::Name { folder: about.id, name });
                (written, place.ok())
            }
            Some(Output::Stream { .. }) => (None, written.map(OutputPlace::File)),
            Some(Output::Object { .. }) | None => (None, None),
        };
        Packing {
            owner: self.owner,
            xattrs: self.xattrs,
            deterministic: self.deterministic,
            keep_going: self.keep_going,
            rules,
            except,
            output,
        }
    }

    /// Begins to show the progress of sealing or packing `input` (a file or a folder).
    pub fn progress(&self, input: &Input, rules: &Rules) -> Progress {
        match input.folder().ok().filter(|_| input.is_folder()) {
            Some(folder) => Progress::of_folder(&input.shown(), folder, rules, !self.deterministic),
            None => Progress::new(&input.shown(), input.length()),
        }
    }
}

/// Returns the name of a folder, even if `path` is `.` or `..`.
pub fn name_of(path: &Path) -> Result<OsString, Failure> {
    let named = |path: &Path| path.file_name().map(OsString::from);
    let name = match named(path) {
        Some(name) => Some(name),
        None => named(&path.canonicalize().map_err(|error| Failure::path("read", path, &error))?),
    };
    Ok(name.unwrap_or_else(|| "root".into()))
}

/// Returns a path in the parent of the folder `path`: the name of the folder, followed by the extension `ending`.
pub fn beside(path: &Path, ending: &str) -> Result<PathBuf, Failure> {
    let mut name = name_of(path)?;
    name.push(ending);
    Ok(match path.file_name() {
        Some(_) => path.with_file_name(name),
        // Without this case, the result for a path such as `.` lies inside the folder itself.
        None if path == Path::new(".") => Path::new("..").join(name),
        None => path.join("..").join(name),
    })
}

/// Returns a note with the path of the result, if the user did not choose this path and may not find the result. For
/// example, packing `.` makes a file outside of the current folder.
pub fn outside(input: &Input, place: &Place, output: &OutputArgs) -> Option<String> {
    let is_named = output.place().is_some() || input.source.path().is_none_or(|path| path.file_name().is_some());
    (!is_named && input.is_folder()).then(|| format!("the result is {}; choose another place with -o", place.shown()))
}

/// Returns the result of packing a folder: the notes, and a failure if the archive lacks an entry. The failure has the
/// notes that name what is missing.
pub fn outcome(folder: &str, notes: &Notes) -> Done {
    let texts = |are_of_missing: bool, more: u64| -> Vec<_> {
        let list = notes.list().iter().filter(|note| note.is_of_missing() == are_of_missing).map(ToString::to_string);
        let more = (more > 0).then(|| count(more, "more note is not shown", "more notes are not shown"));
        list.chain(more).collect()
    };
    let missing = || Failure {
        notes: texts(true, notes.more_missing()),
        ..Failure::new(
            Exit::System,
            format!("{folder} is not complete in the result, since a part of it could not be read"),
            "the notes name what is missing; make that readable or exclude it, and try again",
        )
    };
    let failures: Vec<_> = notes.incomplete().then(missing).into_iter().collect();
    let exit = failures.first().map_or(Exit::Done, |failure| failure.exit);
    Done { failures, notes: texts(false, notes.more()), exit, ..Done::default() }
}

pub fn failed(folder: &str, error: deadpan_pack::Error) -> Failure {
    let advice = advice::pack::packing(&error);
    let failure = Failure::pack(folder, error);
    Failure { hint: advice.map(str::to_owned).or(failure.hint), ..failure }
}

/// Converts an error of the library `deadpan_seal` into a failure. If the packer caused the error, returns the failure
/// of the packer. If writing `output` failed, the failure is about `output`, and otherwise about `input`.
pub fn blame(error: Error, input: &str, output: &str) -> Failure {
    use deadpan_pack::Error as Packs;
    let of_pack = match error {
        Error::Read(error) => error.downcast::<Packs>().map_err(Error::Read),
        Error::Write(error) => error.downcast::<Packs>().map_err(Error::Write),
        error => Err(error),
    };
    match of_pack {
        // The unpacker itself writes to `output` only when it unpacks one file to a stream.
        Ok(Packs::Write(error)) => Failure::io("write", output, &error),
        Ok(error) => failed(input, error),
        Err(error) => Failure::blame(error, input, output),
    }
}

/// Returns notes about damaged entries.
pub fn left_out(left_out: &LeftOut) -> Vec<String> {
    let note = |path: &Vec<u8>| format!("damaged, and left out: {}", bytes(path));
    left_out.paths.iter().take(MOST).map(note).chain(others(left_out.count, "entry", "entries")).collect()
}

/// Returns a note if there are more gaps or entries than messages list.
pub fn others(all: u64, one: &str, many: &str) -> Option<String> {
    let more = all.saturating_sub(MOST as u64);
    (more > 0).then(|| format!("and {}", count(more, &format!("more {one}"), &format!("more {many}"))))
}
