//! `deadpan pack`: packs a folder into one archive, without keys.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command::folder::{self, PackArgs};
use crate::command::plan::Plan;
use crate::place::archive::{COMPRESSED, ENDING};
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::level::LevelArgs;
use crate::place::output::{OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use deadpan_compress::CompressWriter;
use deadpan_pack::{Error, Work};

/// Packs folders: FOLDER becomes FOLDER.tar, a tar archive with an index, not sealed
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan pack photos                       photos.tar, which any tar program reads",
    "deadpan pack -z photos                    photos.tar.zst, which tar and zstd read",
    "deadpan pack -o - photos | ssh host 'cat > photos.tar'",
    "deadpan pack --deterministic src          the same bytes for the same contents"
))]
pub struct PackCommand {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    compress: LevelArgs,
    #[command(flatten)]
    pack: PackArgs,
    /// The folders to pack
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<PathBuf>,
}

impl PackCommand {
    pub fn is_to_stdout(&self) -> bool {
        self.output.is_stdout()
    }

    pub fn plan(self) -> Result<Self, Failure> {
        if self.folders.len() > 1 && self.output.is_stdout() {
            return Err(Failure::usage(
                "several packs in one stream cannot be told apart",
                "leave out -o, or pack the folder that holds them",
            ));
        }
        Ok(self)
    }

    fn pack(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let input = Input::open(source)?;
        if !input.is_folder() {
            return Err(Failure::usage(
                format!("{} is not a folder", input.shown()),
                "a file needs no packing; seal it with: deadpan seal FILE",
            ));
        }
        let path = source.path().unwrap_or(Path::new("."));
        let ending = if self.compress.get().is_some() { COMPRESSED } else { ENDING };
        let place = self.output.file(|| folder::beside(path, ending).map(Place::Given))?;
        claims.check(&place, source)?;
        let output = self.output.open(&place, Some(&input))?;
        if output.is_terminal() {
            return Err(Failure::usage(
                "a pack is bytes, and a terminal shows text",
                "name a file with -o, or send it to another program",
            ));
        }
        let packer = self.pack.packer(&input, Some(&output))?;
        let progress = self.pack.progress(&input);
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let packed = match self.compress.get() {
            None => deadpan_pack::pack(packer, output.writer(), &work),
            Some(level) => {
                let mut writer = CompressWriter::new(output.writer(), level, 0);
                let packed = deadpan_pack::pack(packer, &mut writer, &work);
                packed.and_then(|packer| writer.finish().map(|_| packer).map_err(Error::Write))
            }
        };
        let packer = packed.map_err(|error| match error {
            Error::Write(error) => Failure::io("write", &output.shown(), &error),
            error => folder::failed(&input.shown(), error),
        })?;
        drop(progress);
        let place = output.land(Attributes::usual(), self.output.sync)?;
        claims.made(&place);
        let mut done = folder::outcome(&input.shown(), &packer.notes());
        done.notes.extend(folder::outside(&input, &place, &self.output));
        Ok(Done { output: Some(place), bytes: packer.size(), ..done })
    }
}

impl Plan for PackCommand {
    fn run(&self) -> Result<Exit, Failure> {
        let sources: Vec<_> = self.folders.iter().cloned().map(Source::File).collect();
        self.output.hold(&sources);
        self.output.check_room(self.folders.len())?;
        let mut report = Report::new("pack", self.output.json, self.folders.len()).aside(self.is_to_stdout());
        let claims = Claims::on(&sources);
        for source in &sources {
            let start = Instant::now();
            report.add(source, start, &self.pack(source, &claims));
        }
        Ok(report.exit())
    }
}
