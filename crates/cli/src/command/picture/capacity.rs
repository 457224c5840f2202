//! `deadpan picture capacity`: shows how many bytes of hidden data pictures can carry.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::cover;
use super::hide::templates::plan;
use super::shape::PictureFormatArg;
use crate::command::plan::Plan;
use crate::place::input::Source;
use crate::place::report;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::{joined, with_path};
use crate::tell::shown::{count, shown};
use crate::tell::streams::{print, print_json};
use deadpan_picture::template::Bits;
use deadpan_picture::{Header, Orientation, probe};

/// The approximate number of bytes that sealing adds to short data: a header for one hybrid key, the name and the time.
const SEALING: u64 = 2 << 10;
/// The approximate number of bytes that each further recipient with a hybrid key adds.
const MORE: u64 = 1200;

/// Shows how many bytes covers carry, at 1 to 4 bits in each channel of a pixel
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan picture capacity beach.jpg          how much fits, at 1 to 4 bits",
    "deadpan picture capacity --bits 2 photos    of all pictures in a folder, at 2 bits",
    "deadpan picture capacity --spare 2 photos   of all together, if any two of the results may be lost"
))]
pub struct CapacityArgs {
    /// Show only this number of bits per channel, 1 to 4
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=4))]
    bits: Option<u8>,
    /// The file format of the results. In WebP, a gray cover carries 3 times as much, since WebP lacks gray
    #[arg(long, value_name = "FORMAT", default_value = "png")]
    format: PictureFormatArg,
    /// Show how much all covers carry with N spare pictures, without using a cover twice
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    spare: u32,
    /// Print JSON, one object per line. With several covers, or with --spare, the last object is about all covers
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
        let total = match self.spare {
            0 => "total".to_owned(),
            spares => format!("total, with {spares} spare"),
        };
        let width = names.iter().chain([&total]).map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = format!("{:width$} {:>13}", "", "pixels");
        for bits in &all {
            let _ = write!(text, " {:>14}", count(bits.get().into(), "bit", "bits"));
        }
        for (name, (_, header)) in names.iter().zip(rows) {
            let _ = write!(text, "\n{name:width$} {:>13}", format!("{}x{}", header.width, header.height));
            for bits in &all {
                let _ = write!(text, " {:>14}", self.room(header, *bits));
            }
        }
        if rows.len() > 1 || self.spare > 0 {
            let _ = write!(text, "\n{total:width$} {:13}", "");
            for bits in all {
                let _ = write!(text, " {:>14}", self.total(rows, bits));
            }
        }
        let _ = writeln!(
            text,
            "\nin bytes, of data as they are; sealing adds about {SEALING} bytes, {MORE} for each further recipient, \
             and 32 for each 256 KiB"
        );
        text
    }

    /// Returns the number of bytes that a cover can carry if the data have one recipient.
    fn room(&self, header: &Header, bits: Bits) -> u64 {
        cover::room(header, self.format.into(), bits, 1)
    }

    /// Returns the number of bytes that all covers together can carry, if some pictures are spare (they only replace
    /// lost pictures).
    fn total(&self, rows: &[(PathBuf, Header)], bits: Bits) -> u64 {
        let rooms: Vec<_> = rows.iter().map(|(_, header)| self.room(header, bits)).collect();
        plan::room(&rooms, self.spare)
    }

    fn by_bits(&self, room: impl Fn(Bits) -> u64) -> serde_json::Map<String, Value> {
        self.bits().into_iter().map(|bits| (bits.get().to_string(), json!(room(bits)))).collect()
    }

    fn json(&self, path: &Path, header: &Header) -> Value {
        let fields = json!({
            "schema": 1,
            "command": "capacity",
            "format": header.format.to_string(),
            "lossy": header.format.is_lossy(),
            "width": header.width,
            "height": header.height,
            "bytes_by_bits": self.by_bits(|bits| self.room(header, bits)),
            "exit": 0,
        });
        joined(with_path(path), fields)
    }

    fn json_of_all(&self, rows: &[(PathBuf, Header)], exit: Exit) -> Value {
        json!({
            "schema": 1,
            "command": "capacity",
            "covers": rows.len(),
            "spares": self.spare,
            "bytes_by_bits": self.by_bits(|bits| self.total(rows, bits)),
            "exit": exit as u8,
        })
    }
}

impl Plan for CapacityArgs {
    fn run(&self) -> Result<Exit, Failure> {
        let (mut rows, mut worst) = (Vec::new(), Exit::Done);
        let covers = cover::all(&self.covers)?;
        let headers = headers(&covers);
        for (path, header) in covers.into_iter().zip(headers) {
            match header {
                Ok(header) => {
                    if self.json {
                        print_json(&self.json(&path, &header))?;
                    }
                    rows.push((path, header));
                }
                Err(failure) => {
                    worst = worst.max(failure.exit);
                    if self.json {
                        print_json(&report::failed("capacity", &Source::File(path), &failure))?
                    } else {
                        failure.say()
                    }
                }
            }
        }
        match self.json {
            false if !rows.is_empty() => print(&self.text(&rows))?,
            true if rows.len() > 1 || self.spare > 0 => print_json(&self.json_of_all(&rows, worst))?,
            _ => {}
        }
        Ok(worst)
    }
}

/// Reads the headers of covers, on all cores. Returns a failure for each cover that the command `hide` refuses. A
/// header does not show whether a picture is complete and opaque, so the function decodes all pixels.
fn headers(covers: &[PathBuf]) -> Vec<Result<Header, Failure>> {
    let (next, headers) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let lock = || headers.lock();
    let worker = || {
        let mut room = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = covers.get(at) else { return };
            let probed = cover::open(path)
                .and_then(|file| probe(BufReader::new(file)).map_err(|error| Failure::picture(&shown(path), error)));
            let header = probed.and_then(|header| {
                room = cover::decode_into(path, Orientation::Apply, std::mem::take(&mut room))?.pixels.samples;
                Ok(header)
            });
            lock().insert(at, header);
        }
    };
    let cores = available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        // If the system cannot start a thread, the other threads do the work of that thread.
        for _ in 1..cores.min(covers.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    headers.into_inner().into_values().collect()
}
