//! `deadpan random`: random bytes, as many as one wants.

mod pour;
mod size;

use crate::failure::{Exit, Failure, help};
use crate::output::{Output, Place};
use crate::partial::Landing;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Done, Report};
use crate::shown::shown;
use pour::Form;
use size::Size;
use std::path::PathBuf;
use std::time::Instant;

/// Writes random bytes: SIZE of them, or without SIZE until the reader has had enough
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan random 32 --hex            a key of 32 bytes, as 64 hexadecimal digits",
    "deadpan random 24 --base64         a password of 32 characters",
    "deadpan random 10G -o disk.img     a file of 10 GiB, which only you can read",
    "deadpan random > /dev/sdX          all over a disk, until it is full",
    "deadpan random | dieharder -a -g 200"
))]
pub struct RandomArgs {
    /// How many bytes, before they become text: 32, 4K, 10M, 1.5G, 1T. K and KiB are 1024 bytes, KB is 1000, and so on
    #[arg(value_name = "SIZE", value_parser = size::parse)]
    size: Option<Size>,
    /// Where they go: a file, which only you can read, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write hexadecimal digits, in one line
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// Write base64, in one line
    #[arg(long)]
    base64: bool,
    /// Have the file on the disk before saying that it is done
    #[arg(long)]
    sync: bool,
    /// Replace an output that exists
    #[arg(short, long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Bytes to be made.
pub struct Random {
    args: RandomArgs,
    place: Place,
    form: Form,
}

impl RandomArgs {
    pub fn plan(self) -> Result<Random, Failure> {
        let place = match self.output.as_deref().map(|path| (path, shown(path))) {
            None => Place::Stdout,
            Some((path, name)) if path.is_dir() => return Err(Failure::usage(format!("{name} is a folder"), "name a file with -o")),
            Some((path, _)) => Place::resolve(Some(path), || Ok(Place::Stdout))?,
        };
        let form = match (self.hex, self.base64) {
            (true, _) => Form::Hex,
            (_, true) => Form::Base64,
            _ => Form::Bytes,
        };
        Ok(Random { args: self, place, form })
    }
}

impl Plan for Random {
    fn run(&self) -> Result<Exit, Failure> {
        let start = Instant::now();
        let to_stdout = self.place == Place::Stdout;
        let mut report = Report::new("random", self.args.json, 1).aside(to_stdout);
        let result = self.make();
        // That something came out shows by itself where it went to standard output.
        if self.args.json || !to_stdout || result.is_err() {
            report.add("random bytes", start, &result);
        }
        Ok(report.exit())
    }
}

impl Random {
    fn make(&self) -> Result<Done, Failure> {
        let output = Output::open(&self.place, self.args.force, None)?;
        let (name, size) = (output.shown(), self.args.size.map(|size| size.0));
        if output.is_terminal() && self.form == Form::Bytes {
            let hint = "ask for text with --hex or --base64, name a file with -o, or send them to another program";
            return Err(Failure::usage("random data are bytes, and a terminal shows text", hint));
        }
        if output.is_positioned() && size.is_none() {
            return Err(Failure::usage(
                format!("{name} would grow until the disk is full"),
                "say how many bytes: deadpan random 1M -o FILE",
            ));
        }
        let progress = (!output.is_terminal()).then(|| Progress::new("random bytes", size));
        let add = |bytes| progress.iter().for_each(|progress| progress.add(bytes));
        let bytes = pour::pour(self.form, size, &output, &add).map_err(|error| Failure::of(&name, error))?;
        drop(progress);
        output.land(Landing { replace: self.args.force, sync: self.args.sync })?;
        Ok(Done { output: Some(name), bytes, ..Done::default() })
    }
}
