//! Hides data in the lowest bits of photographs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use super::{Hide, Made};
use crate::claims::Claims;
use crate::failure::{Exit, Failure};
use crate::folder;
use crate::input::Input;
use crate::partial::Partial;
use crate::picture::drafts::{Drafts, Names};
use crate::picture::hide::fill;
use crate::picture::{cover, failed};
use crate::recipient::Recipients;
use crate::report::Done;
use crate::shown::{count, shown};
use deadpan_picture::template::{self, Bits, Distortion, Hiding, Order, Secret, Seed};
use deadpan_picture::{Compression, Format, Label, Orientation, Pixels, checksum, probe, write};
use deadpan_seal::{Cost, Passphrase, Sealing, key};

/// The most pictures of a set.
const MOST: u64 = 65_536;

/// Who can find the data.
struct Doors {
    keys: Vec<Secret>,
    /// The passphrase, whose hash opens the first picture. That picture opens the others.
    passphrase: Option<Passphrase>,
}

impl Doors {
    fn of(to: Option<&Recipients>) -> Self {
        let public = |public| Secret::recipient(&key::public_der(public));
        match to {
            Some(to) => Self { keys: to.keys.iter().map(public).collect(), passphrase: to.passphrase.clone() },
            None => Self { keys: vec![Secret::open()], passphrase: None },
        }
    }

    /// Returns the number of doors of the picture that has the most of them.
    fn count(&self) -> usize {
        self.keys.len() + usize::from(self.passphrase.is_some())
    }

    fn for_picture(&self, index: u32, seed: &Seed) -> Result<Vec<Secret>, Failure> {
        let mut doors = self.keys.clone();
        if let Some(passphrase) = self.passphrase.as_ref().filter(|_| index == 0) {
            let failed = |error| Failure::of("", error);
            let hash = passphrase.derive(Cost::default(), &seed.salt(), 32).map_err(failed)?;
            doors.extend((&*hash).try_into().ok().map(Secret::passphrase));
        }
        Ok(doors)
    }
}

/// A picture to be made.
struct Task {
    cover: usize,
    label: Label,
}

/// Hides the input in covers.
pub fn hide(
    hide: &Hide,
    input: &Input,
    sealing: Option<&Sealing>,
    to: Option<&Recipients>,
    names: Names,
    claims: &Claims,
) -> Result<Done, Failure> {
    let args = &hide.args;
    let doors = Doors::of(to);
    let covers = cover::all(&args.cover)?;
    let bits = Bits::new(args.bits).ok_or_else(|| Failure::usage("--bits is 1 to 4", "leave it out"))?;
    let rooms = rooms(&covers, bits, doors.count())?;
    // Sealed data wait in a file without a name until their length is known. What is not sealed stays where it is.
    let (spool, total, mut done);
    if let Some(length) = input.length().filter(|_| sealing.is_none() && input.positioned) {
        spool = input.file.try_clone().map_err(|error| Failure::io("read", &input.shown(), &error))?;
        (total, done) = (length, Done { bytes: length, ..Done::default() });
    } else {
        let partial = Partial::create(&names.set())?;
        done = fill(hide, input, sealing, partial.file())?;
        spool = partial.file().try_clone().map_err(|error| Failure::io("write", "the pictures", &error))?;
        total = spool.metadata().map_err(|error| Failure::io("write", "the pictures", &error))?.len();
    }
    let tasks = plan(&rooms, total)?;
    names.check(Some(tasks.len() as u32), args.output.force, claims)?;
    folder::allow_many_files();
    let drafts = Drafts::new(names);
    let mut set_key = [0; 32];
    deadpan_seal::random::fill(&mut set_key).map_err(|error| Failure::of("", error))?;
    let order = if to.is_some() { Order::Keyed } else { Order::InOrder };
    let job = Job {
        hiding: Hiding { bits, order, set_key, doors: Vec::new() },
        format: hide.format,
        doors,
        covers: &covers,
        uses: uses(&tasks),
        decoded: Mutex::default(),
        spool: &spool,
        drafts: &drafts,
    };
    let distortions = job.run(&tasks)?;
    let paths = drafts.land(args.output.force, args.output.sync, claims)?;
    let lowest = distortions.iter().map(Distortion::psnr).fold(f64::INFINITY, f64::min);
    let mut all = Distortion::default();
    distortions.iter().for_each(|distortion| all += *distortion);
    let mean = distortions.iter().map(Distortion::psnr).sum::<f64>() / distortions.len() as f64;
    let pictures = count(paths.len() as u64, "picture", "pictures");
    done.notes.push(format!("{total} bytes in {pictures}, PSNR {lowest:.1} dB at least and {mean:.1} dB on average"));
    done.notes.extend(reused(&covers, &rooms, total, &tasks));
    done.more.insert("psnr_lowest".into(), json!(lowest));
    done.more.insert("psnr_mean".into(), json!(mean));
    Ok(Made { paths, spares: 0, total }.report(hide, input, done))
}

/// Returns how many bytes each cover carries.
fn rooms(covers: &[PathBuf], bits: Bits, doors: usize) -> Result<Vec<u64>, Failure> {
    let room = |path: &PathBuf| {
        let file = cover::open(path)?;
        let header = probe(BufReader::new(file)).map_err(|error| failed(&shown(path), error))?;
        let samples = u64::from(header.width) * u64::from(header.height) * header.channels.count() as u64;
        Ok(template::capacity(samples, bits, doors).min(u32::MAX.into()))
    };
    covers.iter().map(room).collect()
}

/// Divides the data among the covers in turn, in proportion to their rooms. Fewer bits in each picture show less.
fn plan(rooms: &[u64], total: u64) -> Result<Vec<Task>, Failure> {
    let usable: Vec<usize> = (0..rooms.len()).filter(|cover| rooms[*cover] > 0).collect();
    let sum: u64 = rooms.iter().sum();
    if sum == 0 {
        return Err(Failure::usage("the covers are too small to carry anything", "choose larger ones"));
    }
    let (mut chosen, mut room) = (Vec::new(), 0_u64);
    while room < total.max(1) {
        if chosen.len() as u64 >= MOST {
            return Err(Failure::usage("the set would have too many pictures", "choose more or larger covers"));
        }
        let cover = usable[chosen.len() % usable.len()];
        chosen.push(cover);
        room += rooms[cover];
    }
    let mut set = [0; 16];
    deadpan_seal::random::fill(&mut set).map_err(|error| Failure::of("", error))?;
    let (count, mut before, mut offset) = (chosen.len() as u32, 0_u64, 0_u64);
    let mut tasks = Vec::new();
    for (index, cover) in (0..).zip(chosen) {
        before += rooms[cover];
        // A share is at most the room of its picture, because all rooms together are enough. Rounding up of the ends
        // can add a byte, which the bound takes away again.
        let end = (u128::from(total) * u128::from(before)).div_ceil(room.into()) as u64;
        let end = end.min(offset + rooms[cover]);
        let length = (end - offset) as u32;
        tasks.push(Task { cover, label: Label { set, index, count, spares: 0, length, offset, total, checksum: 0 } });
        offset = end;
    }
    match offset == total && (total == 0 || tasks.iter().all(|task| task.label.length > 0)) {
        true => Ok(tasks),
        false => Err(Failure::usage("the data do not divide among these covers", "leave out the smallest cover")),
    }
}

/// Returns how often each cover is used.
fn uses(tasks: &[Task]) -> BTreeMap<usize, u32> {
    let mut uses = BTreeMap::new();
    tasks.iter().for_each(|task| *uses.entry(task.cover).or_default() += 1);
    uses
}

/// Returns a warning if a cover carries more than one picture.
fn reused(covers: &[PathBuf], rooms: &[u64], total: u64, tasks: &[Task]) -> Option<String> {
    let (cover, times) = uses(tasks).into_iter().find(|(_, times)| *times > 1)?;
    let sum: u64 = rooms.iter().sum();
    let more = (total - sum).div_ceil((sum / rooms.len() as u64).max(1));
    Some(format!(
        "{} carries {times} pictures: who has several can see where they differ; {} of this size would be enough",
        shown(&covers[cover]),
        count(more, "more cover", "more covers")
    ))
}

/// What all pictures of a set share.
struct Job<'a> {
    hiding: Hiding,
    format: Format,
    doors: Doors,
    covers: &'a [PathBuf],
    uses: BTreeMap<usize, u32>,
    /// Covers that are used again.
    decoded: Mutex<BTreeMap<usize, Arc<Pixels>>>,
    spool: &'a File,
    drafts: &'a Drafts,
}

impl Job<'_> {
    /// Makes all pictures, on all cores.
    fn run(&self, tasks: &[Task]) -> Result<Vec<Distortion>, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = cores.min(tasks.len()).max(1);
        let next = AtomicU32::new(0);
        let results = Mutex::new((Vec::new(), None));
        let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = || {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                if lock().1.is_some() {
                    return;
                }
                match self.make(task, cores / workers) {
                    Ok(distortion) => lock().0.push(distortion),
                    Err(failure) => lock().1 = Some(self.drafts.blame(failure)),
                }
            }
        };
        std::thread::scope(|scope| {
            // If the system cannot start a thread, the other threads do its share.
            for _ in 1..workers {
                let _ = std::thread::Builder::new().spawn_scoped(scope, worker);
            }
            worker();
        });
        let (distortions, failure) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(distortions), Err)
    }

    fn make(&self, task: &Task, threads: usize) -> Result<Distortion, Failure> {
        let mut part = vec![0; task.label.length as usize];
        self.spool.read_exact_at(&mut part, task.label.offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Failure::new(
                Exit::Data,
                "the file became shorter while it was hidden",
                "wait until nobody writes to it",
            ),
            _ => Failure::io("read", "the data", &error),
        })?;
        let mut pixels = self.cover(task.cover)?;
        let name = shown(&self.covers[task.cover]);
        let seed = Seed::random().map_err(|error| failed("", error))?;
        let label = Label { checksum: checksum(&part), ..task.label };
        let hiding = Hiding { doors: self.doors.for_picture(label.index, &seed)?, ..self.hiding.clone() };
        let distortion = template::embed(&mut pixels, &label, &part, &hiding, &seed, threads)
            .map_err(|error| failed(&name, error))?;
        let file = self.drafts.open(label.index).map_err(|error| Failure::io("create", "the pictures", &error))?;
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        write(&pixels, self.format, Compression::Fast, threads, &mut writer).map_err(|error| failed("", error))?;
        writer.flush().map_err(|error| Failure::io("write", "the pictures", &error))?;
        Ok(distortion)
    }

    /// Returns the pixels of a cover. A cover that is used again is decoded once.
    fn cover(&self, cover: usize) -> Result<Pixels, Failure> {
        let decode = || cover::decode(&self.covers[cover], Orientation::Apply).map(|decoded| decoded.pixels);
        if self.uses.get(&cover).is_none_or(|uses| *uses < 2) {
            return decode();
        }
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let pixels = match decoded.get(&cover) {
            Some(pixels) => Arc::clone(pixels),
            None => Arc::clone(decoded.entry(cover).or_insert(Arc::new(decode()?))),
        };
        drop(decoded);
        Ok((*pixels).clone())
    }
}
