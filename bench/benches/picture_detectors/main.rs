//! Measures how often five known detectors find the data that a template hides in a picture: `scripts/bench detectors`,
//! or `cargo bench -p deadpan-bench --bench picture_detectors -- [--covers N] [--photographs FOLDER] [--markdown
//! FILE]`.
//!
//! The benchmark examines each cover picture without data, and again with data in 1, 5, 20 and 100 % of its capacity,
//! at 1 to 4 bits in each sample. Templates (the library's method) hide the data in the cover. As a control, the method
//! *low-bit replacement* hides the same amount of data, in as many samples as a template changes. The detectors that
//! look for low-bit replacement must find these data. A detector raises an alarm if its score exceeds a threshold,
//! which 5 % of the covers without data exceed.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod embed;
mod page;
#[path = "../../../crates/picture/examples/covers/photograph/mod.rs"]
mod photograph;
mod photographs;
mod statistic;
mod study;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use study::Study;

/// The options of the command line.
struct Options {
    covers: u64,
    photographs: Option<PathBuf>,
    markdown: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = parse(std::env::args().skip(1))?;
    let mut study = Study::default();
    for seed in 0..options.covers {
        let kind = if photograph::Camera::new(seed).overexposed { "generated, white areas" } else { "generated" };
        study.add(kind, &photograph::photograph(384, 288, seed), seed)?;
        if seed % 20 == 19 {
            eprintln!("{} of {} generated covers", seed + 1, options.covers);
        }
    }
    if let Some(folder) = &options.photographs {
        for (at, cover) in photographs::covers(folder)?.iter().enumerate() {
            study.add("photograph", cover, 1_000_000 + at as u64)?;
        }
    }
    match &options.markdown {
        Some(path) => std::fs::write(path, page::page(&study, &std::fs::read_to_string(path).unwrap_or_default()))?,
        None => print!("{}", page::page(&study, "")),
    }
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { covers: 240, photographs: None, markdown: None };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--covers" => options.covers = value()?.parse().map_err(|_| "--covers needs a number")?,
            "--photographs" => options.photographs = Some(value()?.into()),
            "--markdown" => options.markdown = Some(value()?.into()),
            // `cargo bench` adds this argument.
            "--bench" => {}
            other => return Err(format!("unknown argument {other}")),
        }
    }
    if options.covers == 0 { Err("at least one cover is needed".to_owned()) } else { Ok(options) }
}
