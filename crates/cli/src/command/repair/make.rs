//! `deadpan repair make`: makes recovery data.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, json};

use super::sidecar::{self, Draft, ENDING};
use crate::command::plan::Plan;
use crate::place::claims::Claims;
use crate::place::input::Source;
use crate::place::output::{OutputArgs, Place};
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::amount;
use deadpan_repair::Percent;

/// Makes recovery data: FILE.dpr, which repairs damage to FILE
///
/// With 10 %, a tenth of FILE may be lost in one place, or in many small ones. FILE may be any file, sealed or not.
/// FILE.dpr is no signature: whoever can change both files decides what a repair makes. A repaired sealed file is
/// authenticated when it is opened, as any other.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan repair make photos.dpn                photos.dpn.dpr, a tenth as long",
    "deadpan repair make --percent 30 *.dpn        three tenths",
    "deadpan repair make -o disk2/ film.mkv       into another folder, such as another disk",
    "deadpan seal --repair report.pdf              while a file is sealed"
))]
pub struct RepairMakeArgs {
    /// How much recovery data to make, in hundredths of FILE: from 1 to 100
    #[arg(long, value_name = "N", default_value = "10")]
    percent: Percent,
    #[command(flatten)]
    output: OutputArgs,
    /// The files to make recovery data for
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub struct RepairMake {
    args: RepairMakeArgs,
    sources: Vec<Source>,
}

impl RepairMakeArgs {
    pub fn plan(self) -> Result<RepairMake, Failure> {
        let sources = Source::all(self.files.clone())?;
        if self.output.is_stdout() {
            return Err(Failure::usage("recovery data need a file as output", "name a file or a folder with -o"));
        }
        Ok(RepairMake { args: self, sources })
    }
}

impl Plan for RepairMake {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        args.output.hold(&self.sources);
        args.output.check_room(self.sources.len())?;
        let mut report = Report::new("repair make", args.output.json, self.sources.len());
        let claims = Claims::on(&self.sources);
        for source in &self.sources {
            let start = Instant::now();
            report.add(source, start, &self.make(source, &claims));
        }
        Ok(report.exit())
    }
}

impl RepairMake {
    fn make(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let input = sidecar::regular(source)?;
        let path = source.path().unwrap_or("-".as_ref());
        sidecar::refuse_sidecar(path, "make")?;
        let place = args.output.file(|| Ok(Place::Given(sidecar::beside(path, ENDING))))?;
        claims.check(&place, source)?;
        let draft = Draft::open(&args.output, &place, Some(&input), args.percent)?;
        let (file, length) = sidecar::opened(&input)?;
        let made = draft.make(file, length, &input.shown())?;
        let place = draft.land(input.about.map_or(0o600, |about| about.mode), args.output.sync)?;
        claims.made(&place);
        let mut more = Map::new();
        more.insert("percent".into(), json!(args.percent.get()));
        more.insert("recovery_bytes".into(), json!(made));
        Ok(Done { output: Some(place), bytes: length, remark: Some(amount(made)), more, ..Done::default() })
    }
}
