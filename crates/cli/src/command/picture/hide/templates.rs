//! Hides data in the lowest bits of photographs.

pub mod plan;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use serde_json::{Map, json};

use super::{Hide, Made};
use crate::command::picture::cover;
use crate::command::picture::drafts::{DraftNames, Drafts};
use crate::command::picture::hide::fill;
use crate::key::recipient::Recipients;
use crate::place::claims::Claims;
use crate::place::input::Input;
use crate::place::partial::Partial;
use crate::place::report::Done;
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::{joined, put_name};
use crate::tell::shown::{count, shown};
use deadpan_disk::portable::{FileExt, OsStrExt};
use deadpan_picture::analysis::clipped;
use deadpan_picture::template::{self, Bits, Distortion, Hiding, Order, Secret, Seed};
use deadpan_picture::{Compression, Format, Label, Orientation, Pixels, checksum, is_readable, probe, spare, write};
use deadpan_seal::{Cost, Passphrase, Sealing, key};
use plan::{TemplateTask, plan, uses};

/// The program warns if the share of black or white samples in a cover is above this value. In a black or white sample,
/// a change has the same effect as replacing the low bits. RS analysis and sample pair analysis estimate the share of
/// replaced low bits. For covers without data, the estimates of RS and sample pair analysis differ by about this share.
const CLIPPED: f64 = 0.05;
/// The program warns if the share of smooth samples near the top of a cover is above this value. A larger share of
/// smooth samples occurs if the noise of the camera is less than one unit of the sample values. In a cover with more
/// smooth samples, storing the seed and the sealed labels increases the differences between neighboring samples by more
/// than a fifth. The rows of a photograph differ from each other by less than a fifth.
const SMOOTH: f64 = 0.5;

/// The maximum number of pictures whose covers are listed in the notes.
const SOURCES: usize = 20;

/// The secrets with which the data can be found.
struct Doors {
    keys: Vec<Secret>,
    /// The passphrase. The hash of the passphrase opens the first pictures of the set. The number of these first
    /// pictures is one more than the number of pictures that may be lost. Each of these first pictures opens all other
    /// pictures of the set.
    passphrase: Option<Passphrase>,
    /// A thread holds this lock while it hashes a passphrase, because hashing takes much memory.
    hashing: Mutex<()>,
}

impl Doors {
    fn for_recipients(to: Option<&Recipients>) -> Self {
        let public = |public| Secret::recipient(&key::public_der(public));
        match to {
            Some(to) => Self {
                keys: to.keys.iter().map(public).collect(),
                passphrase: to.passphrase.clone(),
                hashing: Mutex::default(),
            },
            None => Self { keys: vec![Secret::open()], passphrase: None, hashing: Mutex::default() },
        }
    }

    /// Returns the maximum number of doors (sealed labels, one for each secret) in a picture.
    fn count(&self) -> usize {
        self.keys.len() + usize::from(self.passphrase.is_some())
    }

    fn for_picture(&self, label: &Label, seed: &Seed) -> Result<Vec<Secret>, Failure> {
        let mut doors = self.keys.clone();
        if let Some(passphrase) = self.passphrase.as_ref().filter(|_| label.index <= label.spares) {
            let failed = |error| Failure::seal("", error);
            let _alone = self.hashing.lock();
            let hash = passphrase.derive(Cost::default(), &seed.salt(), 32).map_err(failed)?;
            doors.extend((&*hash).try_into().ok().map(Secret::passphrase));
        }
        Ok(doors)
    }
}

/// Hides the input in covers.
pub fn hide(
    hide: &Hide,
    covers: &[PathBuf],
    input: &Input,
    sealing: Option<&Sealing>,
    to: Option<&Recipients>,
    names: DraftNames,
    claims: &Claims,
) -> Result<Done, Failure> {
    let args = &hide.args;
    let doors = Doors::for_recipients(to);
    let bits = Bits::new(args.bits).ok_or_else(|| Failure::usage("--bits is 1 to 4", "leave it out"))?;
    let rooms = rooms(covers, hide.format, bits, doors.count())?;
    if let Some(total) = super::total(input, sealing)? {
        // Before the data are sealed, the function refuses covers that are too small and existing names.
        let tasks = plan(&rooms, total, args.spare).map_err(|failure| failure.about(&names.shown()))?;
        names.check(Some(tasks.len() as u32), args.output.force, claims)?;
    }
    // Until their length is known, sealed data are written to a file without a name. Data that are not sealed are read
    // directly from the input file.
    let (spool, total, mut done);
    let plain = input.file().zip(input.length()).filter(|_| sealing.is_none() && input.positioned);
    if let Some((file, length)) = plain {
        spool = file.try_clone().map_err(|error| Failure::io("read", &input.shown(), &error))?;
        (total, done) = (length, Done { bytes: length, ..Done::default() });
    } else {
        let partial = names.draft()?;
        done = fill(hide, input, sealing, partial.file(), &names)?;
        spool = partial.file().try_clone().map_err(|error| names.unwritten(&error))?;
        total = spool.metadata().map_err(|error| names.unwritten(&error))?.len();
    }
    let tasks = plan(&rooms, total, args.spare).map_err(|failure| failure.about(&names.shown()))?;
    names.check(Some(tasks.len() as u32), args.output.force, claims)?;
    deadpan_disk::allow_many_files();
    let spares = match args.spare {
        0 => None,
        _ => Some(spare_parts(&spool, &tasks, &names)?),
    };
    let drafts = Drafts::new(names);
    let mut set_key = [0; 32];
    deadpan_seal::random::fill(&mut set_key).map_err(|error| Failure::seal("", error))?;
    let order = if to.is_some() { Order::Keyed } else { Order::InOrder };
    let job = Job {
        hiding: Hiding { bits, order, set_key, doors: Vec::new() },
        format: hide.format,
        compression: if args.uncompressed { Compression::Stored } else { Compression::Fast },
        doors,
        covers,
        uses: uses(&tasks),
        decoded: Mutex::default(),
        spool: &spool,
        spares: spares.as_ref().map(Partial::file),
        drafts: &drafts,
    };
    let mut results = job.run(&tasks)?;
    results.sort_by_key(|result| result.index);
    let paths = drafts.land(hide.attributes(input), args.output.force, args.output.sync, claims)?;
    let psnr = || results.iter().map(|result| result.distortion.psnr());
    let (lowest, mean) = (psnr().fold(f64::INFINITY, f64::min), psnr().sum::<f64>() / results.len() as f64);
    let pictures = count(paths.len() as u64, "picture", "pictures");
    done.notes.push(match paths.len() {
        1 => format!("{total} bytes in {pictures}, PSNR {lowest:.1} dB"),
        _ => format!("{total} bytes in {pictures}, PSNR {lowest:.1} dB at least and {mean:.1} dB on average"),
    });
    done.notes.extend(sources(covers, &results, &paths));
    done.notes.extend(reused(covers, &rooms, &tasks));
    done.notes.extend(warnings(covers, &results));
    done.more.insert("psnr_lowest".into(), json!(lowest));
    done.more.insert("psnr_mean".into(), json!(mean));
    let of = |(result, path): (&Changed, &PathBuf)| {
        let mut of = Map::new();
        put_name(&mut of, "picture", Some(path.as_os_str().as_bytes()));
        put_name(&mut of, "cover", Some(covers[result.cover].as_os_str().as_bytes()));
        joined(of, json!({ "psnr": result.distortion.psnr() }))
    };
    done.more.insert("covers".into(), results.iter().zip(&paths).map(of).collect());
    Ok(Made { paths, spares: args.spare, total }.report(hide, input, done))
}

/// Returns the number of bytes that each cover can carry.
fn rooms(covers: &[PathBuf], format: Format, bits: Bits, doors: usize) -> Result<Vec<u64>, Failure> {
    let room = |path: &PathBuf| {
        let file = cover::open(path)?;
        let header = probe(BufReader::new(file)).map_err(|error| Failure::picture(&shown(path), error))?;
        Ok(cover::room(&header, format, bits, doors))
    };
    covers.iter().map(room).collect()
}

/// Computes the parts of the spare pictures, and writes these parts one after the other to a file without a name.
fn spare_parts(spool: &File, tasks: &[TemplateTask], names: &DraftNames) -> Result<Partial, Failure> {
    let partial = names.draft()?;
    let Some(TemplateTask { label, .. }) = tasks.iter().find(|task| task.label.is_spare()) else { return Ok(partial) };
    let length = u64::from(label.length);
    let read = |index: u32, buffer: &mut [u8], at: u64| {
        // All parts except the last part have the same length as the spare parts.
        let from = u64::from(index) * length + at;
        let there = usize::try_from(label.total.saturating_sub(from)).unwrap_or(usize::MAX);
        let (known, zeros) = buffer.split_at_mut(there.min(buffer.len()));
        zeros.fill(0);
        spool.read_exact_at(known, from)
    };
    let write = |spare: u32, bytes: &[u8], at: u64| partial.file().write_all_at(bytes, u64::from(spare) * length + at);
    match spare::encode(label.count, label.spares, length, &read, &write) {
        Ok(()) => Ok(partial),
        Err(deadpan_picture::Error::Read(error)) => Err(unread(&error)),
        Err(error) => Err(Failure::picture(&names.shown(), error)),
    }
}

fn unread(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Failure::new(Exit::Data, "the file became shorter while it was hidden", "wait until nobody writes to it")
        }
        _ => Failure::io("read", "the data", error),
    }
}

/// If the command has several covers, returns notes that show the cover of each picture.
fn sources(covers: &[PathBuf], results: &[Changed], paths: &[PathBuf]) -> Vec<String> {
    if covers.len() < 2 {
        return Vec::new();
    }
    let source = |(result, path): (&Changed, &PathBuf)| {
        let (cover, psnr) = (shown(&covers[result.cover]), result.distortion.psnr());
        format!("{} was made from {cover}, PSNR {psnr:.1} dB", shown(path))
    };
    let mut sources: Vec<_> = results.iter().zip(paths).take(SOURCES).map(source).collect();
    if let Some(more) = results.len().checked_sub(SOURCES).filter(|more| *more > 0) {
        sources
            .push(format!("{}; --json names the covers of all", count(more as u64, "more picture", "more pictures")));
    }
    sources
}

/// Returns a warning if a cover carries more than one picture.
fn reused(covers: &[PathBuf], rooms: &[u64], tasks: &[TemplateTask]) -> Option<String> {
    let uses = uses(tasks);
    let (cover, times) = uses.iter().find(|(_, times)| **times > 1)?;
    // All parts of the same set have about the same length, so each additional cover of this size saves one repeated
    // use of a cover.
    let room = rooms[*cover].max(1);
    let again = |cover: usize, times: u32| u64::from(times - 1) * rooms[cover];
    let more: u64 = uses.iter().map(|(cover, times)| again(*cover, *times)).sum();
    Some(format!(
        "{} carries {times} pictures: who has several can see where they differ; {} of this size would be enough",
        shown(&covers[*cover]),
        count(more.div_ceil(room), "more cover", "more covers")
    ))
}

/// Returns warnings about covers in which hidden data are easier to find than in other covers.
fn warnings(covers: &[PathBuf], results: &[Changed]) -> Vec<String> {
    let warning = |applies: fn(&About) -> bool, text: &dyn Fn(&About) -> String| {
        let about: BTreeMap<usize, About> = results.iter().map(|result| (result.cover, result.about)).collect();
        let mut about = about.into_iter().filter(|(_, about)| applies(about));
        let (cover, first) = about.next()?;
        let others = match about.count() as u64 {
            0 => String::new(),
            others => format!(", and {} like it", count(others, "more cover", "more covers")),
        };
        Some(format!("{}{others}: {}", shown(&covers[cover]), text(&first)))
    };
    let full = warning(|about| about.is_full, &|_| {
        "it carries data already; who has both pictures can see where they differ".into()
    });
    let smooth = warning(|about| about.smoothness > SMOOTH, &|_| {
        "the upper edge is smooth, where even short data are seen; take a cover with texture there".into()
    });
    let clipped = warning(|about| about.clipped > CLIPPED, &|about| {
        let share = about.clipped * 100.0;
        format!(
            "{share:.0} % of the samples are white or black, where data are found more easily and the PSNR is lower"
        )
    });
    [full, smooth, clipped].into_iter().flatten().collect()
}

/// The changes to a cover for one picture.
struct Changed {
    /// The index of the picture.
    index: u32,
    cover: usize,
    distortion: Distortion,
    about: About,
}

/// The properties that make a cover good or bad.
#[derive(Clone, Copy)]
struct About {
    /// The share of the samples that are black or white.
    clipped: f64,
    /// The share of smooth samples in the part of the cover that always changes, even if the data are short.
    smoothness: f64,
    /// Whether the cover already carries data for one of the same recipients.
    is_full: bool,
}

/// The data that all pictures of a set share.
struct Job<'a> {
    hiding: Hiding,
    format: Format,
    compression: Compression,
    doors: Doors,
    covers: &'a [PathBuf],
    uses: BTreeMap<usize, u32>,
    /// The decoded covers that are used more than once.
    decoded: Mutex<BTreeMap<usize, Arc<Cover>>>,
    spool: &'a File,
    /// The file with the parts of the spare pictures.
    spares: Option<&'a File>,
    drafts: &'a Drafts,
}

impl Job<'_> {
    /// Makes all pictures, on all cores.
    fn run(&self, tasks: &[TemplateTask]) -> Result<Vec<Changed>, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = cores.min(tasks.len()).max(1);
        let next = AtomicU32::new(0);
        let results = Mutex::new((Vec::new(), None));
        let lock = || results.lock();
        let worker = || {
            let mut room = Room::default();
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                if lock().1.is_some() {
                    return;
                }
                match self.make(task, cores / workers, &mut room) {
                    Ok(changed) => lock().0.push(changed),
                    Err(failure) => lock().1 = Some(self.drafts.blame(failure)),
                }
            }
        };
        std::thread::scope(|scope| {
            // If the system cannot start a thread, the other threads do the work of that thread.
            for _ in 1..workers {
                let _ = std::thread::Builder::new().spawn_scoped(scope, worker);
            }
            worker();
        });
        let (results, failure) = results.into_inner();
        failure.map_or(Ok(results), Err)
    }

    fn make(&self, task: &TemplateTask, threads: usize, room: &mut Room) -> Result<Changed, Failure> {
        self.part(&task.label, &mut room.part)?;
        let Cover { mut pixels, about } = self.cover(task.cover, std::mem::take(&mut room.samples))?;
        let name = shown(&self.covers[task.cover]);
        let seed = Seed::random().map_err(|error| Failure::picture("", error))?;
        let label = Label { checksum: checksum(&room.part), ..task.label };
        let hiding = Hiding { doors: self.doors.for_picture(&label, &seed)?, ..self.hiding.clone() };
        let distortion = template::embed(&mut pixels, &label, &room.part, &hiding, &seed, threads)
            .map_err(|error| Failure::picture(&name, error))?;
        let file = self.drafts.open(label.index).map_err(|error| self.drafts.names().unwritten(&error))?;
        // The writer writes whole bands of the picture directly to the file, without a copy to its buffer.
        let mut writer = BufWriter::with_capacity(1 << 16, file);
        write(&pixels, self.format, self.compression, threads, &mut writer)
            .map_err(|error| Failure::picture(&self.drafts.names().shown(), error))?;
        writer.flush().map_err(|error| self.drafts.names().unwritten(&error))?;
        let file = writer.get_mut();
        let length = file.metadata().map_err(|error| self.drafts.names().unwritten(&error))?.len();
        if self.format == Format::Png && !is_readable(&pixels, length) {
            file.rewind().and_then(|()| file.set_len(0)).map_err(|error| self.drafts.names().unwritten(&error))?;
            write(&pixels, self.format, Compression::Stored, threads, file)
                .map_err(|error| Failure::picture(&self.drafts.names().shown(), error))?;
        }
        room.samples = pixels.samples;
        Ok(Changed { index: label.index, cover: task.cover, distortion, about })
    }

    fn part(&self, label: &Label, part: &mut Vec<u8>) -> Result<(), Failure> {
        part.resize(label.length as usize, 0);
        let (file, position) = match self.spares.filter(|_| label.is_spare()) {
            Some(spares) => (spares, u64::from(label.index - label.count) * u64::from(label.length)),
            None => (self.spool, label.offset),
        };
        file.read_exact_at(part, position).map_err(|error| unread(&error))
    }

    /// Returns a cover. The pixels of the cover may use the memory of `room`. A cover that several pictures use is
    /// decoded only once.
    fn cover(&self, cover: usize, mut room: Vec<u8>) -> Result<Cover, Failure> {
        if self.uses.get(&cover).is_none_or(|uses| *uses < 2) {
            return self.decode(cover, room);
        }
        let mut decoded = self.decoded.lock();
        let shared = match decoded.get(&cover) {
            Some(shared) => Arc::clone(shared),
            None => Arc::clone(decoded.entry(cover).or_insert(Arc::new(self.decode(cover, Vec::new())?))),
        };
        drop(decoded);
        room.clear();
        room.extend_from_slice(&shared.pixels.samples);
        let Pixels { width, height, channels, .. } = shared.pixels;
        Ok(Cover { pixels: Pixels { width, height, channels, samples: room }, about: shared.about })
    }

    fn decode(&self, cover: usize, room: Vec<u8>) -> Result<Cover, Failure> {
        let mut pixels = cover::decode_into(&self.covers[cover], Orientation::Apply, room)?.pixels;
        // WebP has no gray pictures, so the samples of three channels carry the data.
        if self.format == Format::WebP {
            pixels = pixels.into_rgb();
        }
        let about = About {
            clipped: clipped(&pixels),
            smoothness: template::smoothness(&pixels, self.doors.count()),
            is_full: template::find(&pixels, &self.doors.keys).is_some(),
        };
        Ok(Cover { pixels, about })
    }
}

/// A decoded cover.
struct Cover {
    pixels: Pixels,
    about: About,
}

/// The memory that a thread reuses for each of its pictures.
#[derive(Default)]
struct Room {
    samples: Vec<u8>,
    part: Vec<u8>,
}
