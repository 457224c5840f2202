//! `deadpan pack`: packs folders and files into archives, without keys.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command::folder::{
    self, ExcludeArgs, FOLDERS, Gathered, PackArgs, Preview, check_stdin, is_one_pack, root_of,
};
use crate::command::plan::Plan;
use crate::place::archive::{COMPRESSED, ENDING};
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::level::LevelArgs;
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::{count, shown};
use deadpan_compress::{CompressWriter, Level};
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{Error, Packer, Rules, Work};

/// Packs folders: FOLDER becomes FOLDER.tar, a tar archive with an index, not sealed
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan pack photos                       photos.tar, which any tar program reads",
    "deadpan pack -z photos                    photos.tar.zst, which tar and zstd read",
    "deadpan pack -o both.tar photos notes.txt  several inputs in one archive, in the folder both",
    "deadpan pack --exclude '*.tmp' --gitignore src          without what matches, and what git ignores",
    "deadpan pack --dry-run --exclude-larger 10M src         shows what would go in",
    "find src -mtime -1 -type f | deadpan pack -o new.tar --files-from -  the listed files with their folders",
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
    #[command(flatten)]
    exclude: ExcludeArgs,
    /// Pack the files and folders that FILE lists, one path on each line or before each NUL, with the folders in their
    /// paths; - is standard input. May be repeated
    #[arg(long, value_name = "FILE", help_heading = FOLDERS)]
    files_from: Vec<PathBuf>,
    /// Write nothing, and show what would go in
    #[arg(long)]
    dry_run: bool,
    /// The folders to pack; with -o FILE, several files and folders that go into one archive
    #[arg(value_name = "FOLDER", required_unless_present = "files_from")]
    folders: Vec<PathBuf>,
}

impl PackCommand {
    pub fn is_to_stdout(&self) -> bool {
        self.output.is_stdout() && !self.dry_run
    }

    pub fn plan(self) -> Result<Self, Failure> {
        check_stdin(&self.folders, &self.files_from, self.exclude.files())?;
        if !self.files_from.is_empty() && self.output.place().is_none_or(|place| place.is_folder()) {
            return Err(Failure::usage("--files-from needs a name for the archive", "name it with -o FILE"));
        }
        Ok(self)
    }

    fn is_one(&self) -> bool {
        is_one_pack(&self.folders, &self.files_from, &self.output)
    }

    /// Returns the level of compression. A name that ends with `.tar.zst` asks for compression, too.
    fn level(&self) -> Option<Level> {
        let path = self.output.place().and_then(Place::path);
        let is_asked = path.is_some_and(|path| path.as_os_str().as_bytes().ends_with(COMPRESSED.as_bytes()));
        self.compress.get().or(is_asked.then(Level::default))
    }

    fn pack(&self, source: &Source, rules: &Rules, claims: &Claims) -> Result<Done, Failure> {
        let input = Input::open(source)?;
        if !input.is_folder() {
            return Err(Failure::usage(
                format!("{} is not a folder", input.shown()),
                "a file needs no packing; seal it with: deadpan seal FILE",
            ));
        }
        let path = source.path().unwrap_or(Path::new("."));
        let ending = if self.level().is_some() { COMPRESSED } else { ENDING };
        let place = self.output.file(|| folder::beside(path, ending).map(Place::Given))?;
        claims.check(&place, source)?;
        let name = input.shown();
        if self.dry_run {
            let packer = self.pack.packer(&input, None, rules.clone())?;
            return self.show(packer, folder::name_of(path)?.as_bytes(), &name, &place, rules);
        }
        let output = self.output.open(&place, Some(&input))?;
        let packer = self.pack.packer(&input, Some(&output), rules.clone())?;
        let mut done = self.write(packer, &name, rules, output, self.pack.progress(&input, rules))?;
        claims.made(&place);
        done.notes.extend(folder::outside(&input, &place, &self.output));
        Ok(done)
    }

    /// Packs several inputs into one archive.
    fn pack_all(&self, rules: &Rules, claims: &Claims) -> Result<Done, Failure> {
        let inputs = Gathered::open(&self.folders, &self.files_from)?;
        let place = self.output.file(|| Err(Failure::usage("the archive has no name", "name it with -o FILE")))?;
        claims.check(&place, &Source::Stdin)?;
        let root = root_of(&place);
        let name = shown(&root);
        if self.dry_run {
            let packer = self.pack.gather(inputs, &root, None, rules.clone())?;
            return self.show(packer, root.as_bytes(), &name, &place, rules);
        }
        let output = self.output.open(&place, None)?;
        let packer = self.pack.gather(inputs, &root, Some(&output), rules.clone())?;
        self.write(packer, &name, rules, output, Progress::new(&name, None))
    }

    fn write(
        &self,
        packer: Packer,
        name: &str,
        rules: &Rules,
        output: Output,
        progress: Progress,
    ) -> Result<Done, Failure> {
        if output.is_terminal() {
            return Err(Failure::usage(
                "a pack is bytes, and a terminal shows text",
                "name a file with -o, or send it to another program",
            ));
        }
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let packed = match self.level() {
            None => deadpan_pack::pack(packer, output.writer(), &work),
            Some(level) => {
                let mut writer = CompressWriter::new(output.writer(), level, 0);
                let packed = deadpan_pack::pack(packer, &mut writer, &work);
                packed.and_then(|packer| writer.finish().map(|_| packer).map_err(Error::Write))
            }
        };
        let packer = packed.map_err(|error| match error {
            Error::Write(error) => Failure::io("write", &output.shown(), &error),
            error => folder::failed(name, error),
        })?;
        drop(progress);
        let place = output.land(Attributes::usual(), self.output.sync)?;
        let mut done = folder::outcome(name, &packer.notes());
        folder::tell(&mut done, rules, &packer);
        Ok(Done { output: Some(place), bytes: packer.size(), ..done })
    }

    fn show(&self, mut packer: Packer, root: &[u8], name: &str, place: &Place, rules: &Rules) -> Result<Done, Failure> {
        let mut preview = Preview::new("pack", self.output.json, place);
        preview.pack(root, &mut packer)?;
        preview.end(name, &packer, rules)
    }
}

impl Plan for PackCommand {
    fn run(&self) -> Result<Exit, Failure> {
        let sources: Vec<_> = self.folders.iter().cloned().map(Source::File).collect();
        self.output.hold(&sources);
        let (rules, claims) = (self.exclude.rules()?, Claims::on(&sources));
        let report = |results| {
            let report = Report::new("pack", self.output.json, results).aside(self.is_to_stdout());
            if self.dry_run { report.rehearsing() } else { report }
        };
        if self.is_one() {
            let (start, mut report) = (Instant::now(), report(1));
            let inputs = count(sources.len() as u64, "input", "inputs");
            let what = if self.files_from.is_empty() { inputs } else { "the listed files".to_owned() };
            report.made(&what, start, &self.pack_all(&rules, &claims));
            return Ok(report.exit());
        }
        self.output.check_room(self.folders.len())?;
        let mut report = report(sources.len());
        for source in &sources {
            let start = Instant::now();
            report.add(source, start, &self.pack(source, &rules, &claims));
        }
        Ok(report.exit())
    }
}
