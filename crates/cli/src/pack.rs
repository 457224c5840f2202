//! `deadpan pack`: a folder becomes one file, without keys.

use crate::failure::{Exit, Failure, help};
use crate::folder::{self, PackArgs};
use crate::input::{Input, Source};
use crate::output::{self, Output, Place};
use crate::partial::Landing;
use crate::plan::Plan;
use crate::process;
use crate::progress::Progress;
use crate::report::{Done, Report};
use deadpan_pack::{Error, Work};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is added to the name of a pack.
const ENDING: &str = ".tar";

/// Packs folders: FOLDER becomes FOLDER.tar, a tar archive with an index, not sealed
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan pack photos                       photos.tar, which any tar reads",
    "deadpan pack -o - photos | ssh host 'cat > photos.tar'",
    "deadpan pack --deterministic src          the same bytes for the same contents"
))]
pub struct PackCommand {
    /// Where the pack goes; a folder is possible, and - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    pack: PackArgs,
    /// Have the pack on the disk before saying that it is done
    #[arg(long)]
    sync: bool,
    /// Replace an output that exists
    #[arg(short, long)]
    force: bool,
    /// Print the results as JSON, an object a line
    #[arg(long)]
    json: bool,
    /// What to pack
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<PathBuf>,
}

impl PackCommand {
    pub fn plan(self) -> Result<Self, Failure> {
        if self.folders.len() > 1 && self.to_stdout() {
            return Err(Failure::usage(
                "several packs in one stream cannot be told apart",
                "leave out -o, or pack the folder that holds them",
            ));
        }
        Ok(self)
    }

    fn to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    fn pack(&self, path: &Path) -> Result<Done, Failure> {
        let input = Input::open(&Source::File(path.into()))?;
        if !input.is_folder() {
            return Err(Failure::usage(format!("{} is not a folder", input.shown()), "a single file needs no packing; seal it as it is"));
        }
        let place = Place::resolve(self.output.as_deref(), || folder::beside(path, ENDING).map(Place::File))?;
        let output = Output::open(&place, self.force, Some(&input))?;
        if output.is_terminal() {
            return Err(Failure::usage("a pack is bytes, and a terminal shows text", "name a file with -o, or send it to another program"));
        }
        let packer = self.pack.packer(&input, &output)?;
        let progress = Progress::new(&input.shown(), None);
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let packed = deadpan_pack::pack(packer, output.file(), &work);
        let packer = packed.map_err(|error| match error {
            Error::Write(error) => Failure::io("write", &output.shown(), &error),
            error => folder::failed(&input.shown(), error),
        })?;
        drop(progress);
        if let Output::Partial(partial, path) = &output {
            let mode = Permissions::from_mode(0o666 & !process::umask());
            partial.file().set_permissions(mode).map_err(|error| Failure::path("set the mode of", path, &error))?;
        }
        let name = output.shown();
        output.land(Landing { replace: self.force, sync: self.sync })?;
        Ok(Done { output: Some(name), bytes: packer.size(), remark: None, exit: folder::tell(&packer.notes()) })
    }
}

impl Plan for PackCommand {
    fn run(&self) -> Result<Exit, Failure> {
        output::check_room(self.output.as_deref(), self.folders.len())?;
        let mut report = Report::new("pack", self.json, self.folders.len()).aside(self.to_stdout());
        for folder in &self.folders {
            let start = Instant::now();
            report.add(&Source::File(folder.clone()).shown(), start, &self.pack(folder));
        }
        Ok(report.exit())
    }
}
