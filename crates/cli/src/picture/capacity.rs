//! `deadpan picture capacity`: how much covers carry.

use std::fmt::Write;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::cover;
use super::failed;
use crate::failure::{Exit, Failure, help};
use crate::input::Source;
use crate::names::{joined, with_path};
use crate::plan::Plan;
use crate::report;
use crate::shown::{count, shown};
use crate::streams::print;
use deadpan_picture::template::{self, Bits};
use deadpan_picture::{Header, probe};

/// About the number of bytes that sealing adds to short data: the header for one hybrid key, name and time.
const SEALING: u64 = 2 << 10;

/// Shows how many bytes covers carry, at 1 to 4 bits in each channel of a pixel
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan picture capacity beach.jpg          how much fits, at 1 to 4 bits",
    "deadpan picture capacity --bits 2 photos    of all pictures in a folder, at 2 bits"
))]
pub struct CapacityArgs {
    /// Show only this number of bits per channel, 1 to 4
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=4))]
    bits: Option<u8>,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The pictures, or folders with pictures
    #[arg(value_name = "COVER", required = true)]
    covers: Vec<PathBuf>,
}

impl CapacityArgs {
    fn bits(&self) -> Vec<Bits> {
        self.bits.map_or((1..=4).collect(), |bits| vec![bits]).into_iter().filter_map(Bits::new).collect()
    }

    fn text(&self, rows: &[(PathBuf, Header)]) -> String {
        let all = self.bits();
        let names: Vec<_> = rows.iter().map(|(path, _)| shown(path)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("total".len());
        let mut text = format!("{:width$} {:>13}", "", "pixels");
        for bits in &all {
            let _ = write!(text, " {:>14}", count(bits.get().into(), "bit", "bits"));
        }
        let mut totals = vec![0; all.len()];
        for (name, (_, header)) in names.iter().zip(rows) {
            let _ = write!(text, "\n{name:width$} {:>13}", format!("{}x{}", header.width, header.height));
            for (bits, total) in all.iter().zip(&mut totals) {
                let room = room(header, *bits);
                *total += room;
                let _ = write!(text, " {room:>14}");
            }
        }
        if rows.len() > 1 {
            let _ = write!(text, "\n{:width$} {:13}", "total", "");
            for total in totals {
                let _ = write!(text, " {total:>14}");
            }
        }
        let _ = writeln!(
            text,
            "\nin bytes, of data as they are; sealing adds about {SEALING} bytes, and 32 for each 256 KiB"
        );
        text
    }

    fn json(&self, path: &Path, header: &Header) -> String {
        let rooms: serde_json::Map<_, _> =
            self.bits().iter().map(|bits| (bits.get().to_string(), json!(room(header, *bits)))).collect();
        let fields = json!({
            "schema": 1,
            "command": "capacity",
            "format": header.format.to_string(),
            "lossy": header.format.is_lossy(),
            "width": header.width,
            "height": header.height,
            "bytes_by_bits": rooms,
            "exit": 0,
        });
        format!("{}\n", joined(with_path(path), fields))
    }
}

/// Returns the number of bytes that a picture carries, with one recipient.
fn room(header: &Header, bits: Bits) -> u64 {
    let samples = u64::from(header.width) * u64::from(header.height) * header.channels.count() as u64;
    template::capacity(samples, bits, 1)
}

impl Plan for CapacityArgs {
    fn run(&self) -> Result<Exit, Failure> {
        let (mut rows, mut worst) = (Vec::new(), Exit::Done);
        for path in cover::all(&self.covers)? {
            let probed = cover::open(&path)
                .and_then(|file| probe(BufReader::new(file)).map_err(|error| failed(&shown(&path), error)));
            match probed {
                Ok(header) if self.json => print(&self.json(&path, &header))?,
                Ok(header) => rows.push((path, header)),
                Err(failure) => {
                    worst = worst.max(failure.exit);
                    match self.json {
                        true => print(&format!("{}\n", report::failed("capacity", &Source::File(path), &failure)))?,
                        false => failure.say(),
                    }
                }
            }
        }
        if !rows.is_empty() {
            print(&self.text(&rows))?;
        }
        Ok(worst)
    }
}
