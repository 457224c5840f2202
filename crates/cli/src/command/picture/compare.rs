//! `deadpan picture compare`: compares a cover with the picture that was made from it. Shows which traces of hidden
//! data the known detection methods find in these two pictures.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use serde_json::{Value, json};

use super::cover;
use super::shape::format_of;
use crate::command::plan::Plan;
use crate::place::input::Source;
use crate::place::partial::{Attributes, Partial};
use crate::place::report;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::{joined, put_name, with_path};
use crate::tell::shown::shown;
use crate::tell::streams::{print, print_json};
use deadpan_disk::Replace;
use deadpan_disk::portable::OsStrExt;
use deadpan_picture::analysis::{Comparison, Findings, compare, difference, examine};
use deadpan_picture::{Compression, Format, Orientation, Pixels, write};

/// The minimum probability at which the chi-square test reports hidden data. The value is from the paper about this
/// test.
const FOUND: f64 = 0.95;
/// The factor by which differences are drawn brighter. With this factor, differences of 1 to 3 are visible and look
/// different from each other.
const GAIN: u8 = 48;
/// The text that replaces the result of a detection method if the picture has too few samples.
const TOO_SMALL: &str = "the picture is too small";

/// Compares a picture that carries data with its cover, and shows what five detection methods find
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan picture compare beach.jpg beach-out.png    how much was changed, and what shows",
    "deadpan picture compare --difference changes.png beach.jpg beach-out.png"
))]
pub struct CompareArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the differences, 48 times as bright, into this new PNG or WebP file
    #[arg(long, value_name = "OUT")]
    difference: Option<PathBuf>,
    /// The picture before
    #[arg(value_name = "COVER")]
    cover: PathBuf,
    /// The picture after
    #[arg(value_name = "RESULT")]
    result: PathBuf,
}

impl Plan for CompareArgs {
    fn run(&self) -> Result<Exit, Failure> {
        let (path, failure) = match self.compare() {
            Ok(exit) => return Ok(exit),
            Err((path, failure)) if self.json && !failure.quiet => (path, failure),
            Err((_, failure)) => return Err(failure),
        };
        print_json(&report::failed("compare", &Source::File(path.to_owned()), &failure))?;
        Ok(failure.exit)
    }
}

impl CompareArgs {
    /// Compares the pictures; a failure comes with the path of the picture that caused the failure.
    fn compare(&self) -> Result<Exit, (&Path, Failure)> {
        let pixels = |path| cover::decode(path, Orientation::Apply).map(|decoded| decoded.pixels);
        let before = pixels(&self.cover).map_err(|failure| (self.cover.as_path(), failure))?;
        let after = pixels(&self.result).and_then(|after| self.print(&before, &after));
        after.map_err(|failure| (self.result.as_path(), failure))
    }

    fn print(&self, before: &Pixels, after: &Pixels) -> Result<Exit, Failure> {
        let both = || format!("{} and {}", shown(&self.cover), shown(&self.result));
        let compared = compare(before, after).map_err(|error| Failure::picture(&both(), error))?;
        if let Some(path) = &self.difference {
            let drawn = difference(before, after, GAIN).map_err(|error| Failure::picture(&both(), error))?;
            draw(drawn, path)?;
        }
        let findings = [examine(before), examine(after)];
        if self.json {
            print_json(&self.json(&compared, &findings))?
        } else {
            print(&self.text(&compared, &findings))?
        }
        Ok(Exit::Done)
    }

    fn text(&self, compared: &Comparison, [before, after]: &[Findings; 2]) -> String {
        let psnr = match compared.psnr() {
            same if same.is_infinite() => "the same pixels".to_owned(),
            psnr => format!("{psnr:.2} dB"),
        };
        format!(
            "{} beside {}:\n  PSNR          {psnr}\n  \
            changed       {} of the samples, {} of the pixels; by {} at most\n\
            What methods that look for replaced low bits say, with what they say of the cover in brackets:\n  \
            chi-square    {} ({})\n  RS            {} ({})\n  sample pairs  {} ({})\n\
            What methods that look for changes by 1 say: about 1 for most covers, and less after changes:\n  \
            HCF-COM       {} ({})\n  of neighbors  {} ({})\n\
            Trained detectors find more than these five methods.\n",
            shown(&self.result),
            shown(&self.cover),
            percent(compared.changed()),
            percent(compared.changed_pixels()),
            compared.largest(),
            chi_square(after),
            chi_square(before),
            estimate(after.rs),
            estimate(before.rs),
            estimate(after.sample_pairs),
            estimate(before.sample_pairs),
            ratio(after.hcf_com),
            ratio(before.hcf_com),
            ratio(after.adjacency_hcf_com),
            ratio(before.adjacency_hcf_com),
        )
    }

    fn json(&self, compared: &Comparison, [before, after]: &[Findings; 2]) -> Value {
        let findings = |found: &Findings| {
            json!({
                "chi_square": found.chi_square.p,
                "rs": found.rs,
                "sample_pairs": found.sample_pairs,
                "hcf_com": found.hcf_com,
                "adjacency_hcf_com": found.adjacency_hcf_com,
            })
        };
        let fields = json!({
            "schema": 1,
            "command": "compare",
            // Equal pictures have an infinite PSNR, which is null in JSON.
            "psnr": compared.psnr(),
            "changed_samples": compared.changed(),
            "changed_pixels": compared.changed_pixels(),
            "largest_change": compared.largest(),
            "findings": findings(after),
            "findings_in_cover": findings(before),
            "exit": 0,
        });
        let mut names = with_path(&self.result);
        put_name(&mut names, "cover", Some(self.cover.as_os_str().as_bytes()));
        joined(names, fields)
    }
}

/// Writes a picture as a new file.
fn draw(picture: Pixels, path: &Path) -> Result<(), Failure> {
    let format = format_of(path).ok_or_else(|| {
        Failure::usage(format!("{} ends with neither .png nor .webp", shown(path)), "give it one of these endings")
    })?;
    if path.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} exists already", shown(path)), "choose another name for --difference"));
    }
    let picture = if format == Format::WebP { picture.into_rgb() } else { picture };
    let partial = Partial::create(path)?;
    let mut file = BufWriter::new(partial.file());
    let threads = available_parallelism().map_or(1, usize::from);
    write(&picture, format, Compression::Fast, threads, &mut file)
        .map_err(|error| Failure::picture(&shown(path), error))?;
    file.flush().map_err(|error| Failure::path("write", path, &error))?;
    drop(file);
    partial.land(Attributes::usual(), Replace::Nothing, false)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn chi_square(found: &Findings) -> String {
    let p = found.chi_square.p;
    if p >= FOUND {
        format!("finds replaced bits: p is {p:.2}")
    } else {
        format!("finds no replaced bits: p is {p:.2}, below {FOUND}")
    }
}

fn estimate(share: Option<f64>) -> String {
    match share {
        // In a picture without data, estimates are as often below 0 as above 0. If nearly all samples carry data,
        // estimates can be above 1.
        Some(share) => format!("estimates replaced bits in {} of the samples", percent(share.clamp(0.0, 1.0))),
        None => TOO_SMALL.to_owned(),
    }
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| TOO_SMALL.to_owned(), |ratio| format!("{ratio:.3}"))
}
