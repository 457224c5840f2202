//! `deadpan repair fix`: makes the original file from a damaged one.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, json};

use super::sidecar::{self, OpenSidecar, SidecarArgs};
use crate::command::plan::Plan;
use crate::place::claims::Claims;
use crate::place::input::Source;
use crate::place::output::{OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::{Progress, amount};
use deadpan_repair::Work;

/// The ending of the name of a repaired file.
const ENDING: &str = ".repaired";

/// Repairs files: writes what FILE was to FILE.repaired, and leaves FILE as it is
///
/// The result gets its name only if its hash is that of the original file. If FILE is whole, nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan repair fix photos.dpn                photos.dpn.repaired, by photos.dpn.dpr",
    "deadpan repair fix -o new.dpn photos.dpn",
    "deadpan repair fix -s disk2/film.mkv.dpr film.mkv"
))]
pub struct RepairFixArgs {
    #[command(flatten)]
    sidecar: SidecarArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// The damaged files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub struct RepairFix {
    args: RepairFixArgs,
    sources: Vec<Source>,
}

impl RepairFixArgs {
    pub fn plan(self) -> Result<RepairFix, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.sidecar.check(&sources)?;
        if self.output.is_stdout() {
            return Err(Failure::usage("a repair needs a file as output", "name a file or a folder with -o"));
        }
        Ok(RepairFix { args: self, sources })
    }
}

impl Plan for RepairFix {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        args.output.hold(&self.sources);
        args.output.check_room(self.sources.len())?;
        let mut report = Report::new("repair fix", args.output.json, self.sources.len()).talking();
        let claims = Claims::on(&self.sources);
        for source in &self.sources {
            let start = Instant::now();
            report.add(source, start, &self.fix(source, &claims));
        }
        Ok(report.exit())
    }
}

impl RepairFix {
    fn fix(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let path = source.path().unwrap_or("-".as_ref());
        sidecar::refuse_sidecar(path, "fix")?;
        let input = sidecar::regular(source)?;
        let name = input.shown();
        let open = OpenSidecar::open(args.sidecar.path(path), &name)?;
        let place = args.output.file(|| Ok(Place::Given(sidecar::beside(path, ENDING))))?;
        claims.check(&place, source)?;
        let output = args.output.open(&place, Some(&input))?;
        let Some(to) = output.positions() else {
            let message = format!("a repair writes at any position, and {} takes only a stream", output.shown());
            return Err(Failure::usage(message, "name a file with -o"));
        };
        let sidecar = open.read()?;
        let damage = open.check(&sidecar, &input)?;
        if damage.is_whole() {
            let remark = Some("whole, so nothing was written".into());
            return Ok(Done { bytes: damage.file_length(), remark, ..Done::default() });
        }
        damage.fixable().map_err(|error| Failure::repair(&name, open.shown(), error))?;
        let (file, _) = sidecar::opened(&input)?;
        let restored = damage.missing_bytes();
        // The file is copied, restored and hashed.
        let rounds = if restored > 0 { 3 } else { 2 };
        let progress = Progress::new(&name, Some(damage.original_length().saturating_mul(rounds)));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        sidecar.fix(file, &damage, to, &work).map_err(|error| match error {
            deadpan_repair::Error::Write(error) => Failure::io("write", &output.shown(), &error),
            error => Failure::repair(&name, open.shown(), error),
        })?;
        drop(progress);
        let about = input.about;
        let attributes = Attributes {
            mode: about.map_or(0o600, |about| about.mode),
            modified: about.map(|about| about.modified_at()),
        };
        let place = output.land(attributes, args.output.sync)?;
        claims.made(&place);
        let mut more = Map::new();
        more.insert("restored_bytes".into(), json!(restored));
        let remark = Some(format!("{} restored", amount(restored)));
        Ok(Done { output: Some(place), bytes: damage.original_length(), remark, more, ..Done::default() })
    }
}
