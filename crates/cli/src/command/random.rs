//! `deadpan random`: writes random bytes.

mod pour;

use std::io::Write;
use std::time::Instant;

use crate::command::plan::Plan;
use crate::key::words;
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::size::{self, Size};
use deadpan_ct::Wiped;
use deadpan_seal::Secret;
use pour::RandomForm;

/// The symbols of passwords. With 64 symbols, six random bits choose one.
const SYMBOLS: &[u8; 64] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_.+=@%#";

/// Writes SIZE random bytes, or an endless stream of them without SIZE
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |output| {
    output.help("Where the bytes go: a file, which only you can read, or - for standard output")
}))]
#[command(after_help = help!(
    "deadpan random 32 --hex            a key of 32 bytes, as 64 hexadecimal digits",
    "deadpan random --words 6           a passphrase of six words, 66 bits",
    "deadpan random --password 20       a password of 20 characters, 120 bits",
    "deadpan random 10G -o disk.img     a file of 10 GiB, which only you can read",
    "deadpan random > /dev/sdX          overwrites a whole disk; ends with exit code 4 (full)",
    "deadpan random | dieharder -a -g 200"
))]
pub struct RandomArgs {
    /// The number of random bytes, such as 32, 4K or 1.5GiB. K and KiB are 1024 bytes, KB is 1000; M, G and T follow
    /// the same rule. With --hex or --base64, the text is longer
    #[arg(value_name = "SIZE", value_parser = size::parse)]
    size: Option<Size>,
    #[command(flatten)]
    output: OutputArgs,
    /// Write one line of hexadecimal digits
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// Write one line of base64
    #[arg(long)]
    base64: bool,
    /// Write this many words of a list of 2048 words, joined by hyphens
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1000))]
    #[arg(conflicts_with_all = ["size", "hex", "base64", "password"])]
    words: Option<u16>,
    /// Write a password of this many letters, digits and signs, without those that look alike (0O1lI)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(conflicts_with_all = ["size", "hex", "base64"])]
    password: Option<u16>,
}

pub struct Random {
    args: RandomArgs,
    place: Place,
    form: RandomForm,
}

impl RandomArgs {
    pub fn is_to_stdout(&self) -> bool {
        self.output.place().is_none_or(|place| *place == Place::Stdout)
    }

    pub fn plan(self) -> Result<Random, Failure> {
        let place = self.output.file(|| Ok(Place::Stdout))?;
        let form = match (self.hex, self.base64) {
            (true, _) => RandomForm::Hex,
            (_, true) => RandomForm::Base64,
            _ => RandomForm::Bytes,
        };
        Ok(Random { args: self, place, form })
    }
}

impl Plan for Random {
    fn run(&self) -> Result<Exit, Failure> {
        let start = Instant::now();
        let to_stdout = self.place == Place::Stdout;
        let mut report = Report::new("random", self.args.output.json, 1).aside(self.args.is_to_stdout());
        let result = self.make();
        // If the bytes went to standard output, the program reports only failures, except with `--json`.
        if self.args.output.json || !to_stdout || result.is_err() {
            report.made("random bytes", start, &result);
        }
        Ok(report.exit())
    }
}

impl Random {
    /// Returns the words or the password that the user wants.
    fn line(&self) -> Result<Option<Wiped<Vec<u8>>>, Failure> {
        let text = match (self.args.words, self.args.password) {
            (Some(count), _) => words::random(count.into(), '-')?,
            (None, Some(length)) => password(length.into())?,
            (None, None) => return Ok(None),
        };
        // The memory has room for the line end. A vector that grows would leave a copy of the text behind.
        let mut line = Wiped::new(Vec::with_capacity(text.len() + 1));
        line.extend_from_slice(&text);
        Ok(Some(line))
    }

    fn make(&self) -> Result<Done, Failure> {
        let output = self.args.output.open(&self.place, None)?;
        let (name, size) = (output.shown(), self.args.size.map(|size| size.0));
        if let Some(mut line) = self.line()? {
            line.push(b'\n');
            output.writer().write_all(&line).map_err(|error| Failure::io("write", &name, &error))?;
            let place = output.land(Attributes::private(), self.args.output.sync)?;
            return Ok(Done { output: Some(place), bytes: line.len() as u64, ..Done::default() });
        }
        if output.is_terminal() && self.form == RandomForm::Bytes {
            let hint = "ask for text with --hex or --base64, name a file with -o, or send them to another program";
            return Err(Failure::usage("random data are bytes, and a terminal shows text", hint));
        }
        if !matches!(output, Output::Stream { .. }) && size.is_none() {
            return Err(Failure::usage(
                format!("{name} would grow until the disk is full"),
                "say how many bytes: deadpan random 1M -o FILE",
            ));
        }
        let progress = (!output.is_terminal()).then(|| Progress::new("random bytes", size));
        let add = |bytes| progress.iter().for_each(|progress| progress.add(bytes));
        let bytes = pour::pour(self.form, size, &output, &add).map_err(|error| Failure::seal(&name, error))?;
        drop(progress);
        let place = output.land(Attributes::private(), self.args.output.sync)?;
        Ok(Done { output: Some(place), bytes, ..Done::default() })
    }
}

/// Returns a random password. May leak its symbols to programs that share the processor's caches.
fn password(length: usize) -> Result<Secret, Failure> {
    let mut text = Secret::random(length).map_err(|error| Failure::seal("a password", error))?;
    text.iter_mut().for_each(|byte| *byte = SYMBOLS[usize::from(*byte % 64)]);
    Ok(text)
}
