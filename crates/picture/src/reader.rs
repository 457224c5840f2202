//! Reads the data of a set as one file, at any position and with several threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::{Condvar, Mutex};

use crate::carrier::{Buffers, Layout, Pieces, SampleOrder, Sums, read_exact};
use crate::open_files::Open;
use crate::position::read_exact_at;
use crate::template::Template;
use crate::threads::together;
use crate::{Error, Label, Pixels, Set, spare};
use deadpan_position::FileExt;

/// An opened picture of a set: the part of the data that the picture carries can be read.
#[derive(Debug)]
pub enum Opened {
    /// A carrier (a picture file that carries a part of the data) in which the bytes of the part lie at offsets that
    /// follow from the layout.
    Carrier(File, Layout),
    /// The pixels of a carrier that another program wrote.
    Pixels(Pixels, SampleOrder),
    /// A file that holds only the part.
    Part(File),
    /// A template (a photograph that carries hidden data) in a file without compression.
    Template(Box<Template>),
    /// The part.
    Bytes(Vec<u8>),
}

impl Opened {
    fn read(&self, buffer: &mut [u8], at: u64, buffers: &Buffers) -> io::Result<()> {
        match self {
            Self::Carrier(file, layout) => read_exact(file, layout, at, buffer, buffers),
            Self::Pixels(pixels, order) => order.read(pixels, buffer, at),
            Self::Part(file) => read_exact_at(file, buffer, at),
            Self::Template(template) => template.read(buffer, at, buffers),
            Self::Bytes(bytes) => {
                let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)?.get(..buffer.len()));
                from.map(|from| buffer.copy_from_slice(from)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }

    /// Reads the whole part, which has `length` bytes. Two parts with the same digest are equal.
    ///
    /// # Errors
    /// If the picture cannot be read, or if it has fewer than `length` bytes of data.
    pub fn digest(&self, length: u32) -> io::Result<Digest> {
        let (mut sums, mut hash, buffers) = (Sums::default(), blake3::Hasher::new(), Buffers::default());
        let mut buffer = Vec::new();
        while sums.length < u64::from(length) {
            let left = u64::from(length) - sums.length;
            buffer.resize(usize::try_from(left).map_or(CHECK, |left| left.min(CHECK)), 0);
            self.read(&mut buffer, sums.length, &buffers)?;
            hash.update(&buffer);
            sums.append(&Sums::plain(&buffer));
        }
        Ok(Digest { checksum: sums.crc64, hash: *hash.finalize().as_bytes() })
    }

    fn is_in_memory(&self) -> bool {
        matches!(self, Self::Pixels(..) | Self::Bytes(_))
    }
}

/// The digest of a part, which [`Opened::digest`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Digest {
    /// The checksum of the part, for [`Label::checksum`]. Anybody can make another part with the same checksum.
    pub checksum: u64,
    /// The BLAKE3 hash of the part.
    pub hash: [u8; 32],
}

/// Reads the data of a set as if it were one file.
///
/// Checksums of the parts are not compared while the data are read, because sealed data are authenticated anyway. The
/// checksums are computed while the data are read, so [`Reader::damaged`] reads only the bytes that were not read yet.
#[derive(Debug)]
pub struct Reader<T, O> {
    set: Set<T>,
    open: O,
    /// All parts, in the order of their offsets.
    parts: Vec<Part>,
    opened: Mutex<Slots>,
    changed: Condvar,
    passed: Mutex<BTreeMap<u32, Pieces>>,
    scratch: Option<SpareParts>,
    rejected: Vec<(u32, T)>,
    buffers: Buffers,
    /// The number of cores. To find the number of cores takes a dozen system calls.
    cores: usize,
    /// This function receives the memory of decoded pictures as soon as nobody needs these pictures.
    give_back: fn(Vec<u8>),
}

/// A file with parts, one after the other: the parts of missing pictures, and copies of the parts of decoded pictures.
#[derive(Debug)]
struct SpareParts {
    file: File,
    /// The length of the part of a spare picture: the length of the longest part, or a little more.
    length: u64,
    places: Mutex<PartPlaces>,
}

/// The place of each part in the file: place 0 is at the beginning, and each place has the length of one part.
#[derive(Debug, Default)]
struct PartPlaces {
    by_index: BTreeMap<u32, u64>,
    free: Vec<u64>,
}

impl SpareParts {
    /// Reserves a place for a part, and returns its offset.
    fn add(&self, index: u32) -> u64 {
        let mut places = self.places.lock();
        let place = places.free.pop().unwrap_or(places.by_index.len() as u64);
        places.by_index.insert(index, place);
        place * self.length
    }

    /// Allows other parts to use the place of this part.
    fn remove(&self, index: u32) {
        let mut places = self.places.lock();
        let place = places.by_index.remove(&index);
        places.free.extend(place);
    }

    fn position(&self, index: u32) -> Option<u64> {
        self.places.lock().by_index.get(&index).map(|place| place * self.length)
    }
}

#[derive(Debug)]
struct Part {
    index: u32,
    offset: u64,
    length: u32,
}

#[derive(Debug)]
struct Slots {
    open: Open<Opened>,
    /// The indexes of the pictures that threads are opening now.
    opening: BTreeSet<u32>,
    /// Whether opening a picture of this set takes long, because the pictures are decoded.
    in_memory: bool,
}

/// A picture whose part does not match its label.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The index of the picture.
    pub index: u32,
    /// The error if the part could not be read. `None` if the part could be read, but has a wrong checksum.
    pub error: Option<io::Error>,
}

/// The reader remembers at most this many byte ranges of a part with their checksums. Only reading at many scattered
/// positions makes more ranges than this number.
const MOST_PIECES: usize = 1024;
/// The number of bytes that are read at once for a check.
const CHECK: usize = 1 << 20;

impl<T: Sync, O: Fn(&T) -> io::Result<Opened> + Sync> Reader<T, O> {
    /// Reads a set in which all pictures that carry data are present. `open` opens a picture, and is called again for
    /// the same picture when many pictures are open.
    ///
    /// # Errors
    /// [`Error::MissingPictures`] if a picture that carries data is missing, [`Error::Contradiction`] if the parts do
    /// not lie one after the other.
    pub fn new(set: Set<T>, open: O) -> Result<Self, Error> {
        let (missing, spares) = (set.lost(), set.spares_present());
        match missing {
            0 => Self::with_set(set, open),
            _ => Err(Error::MissingPictures { missing, spares, damaged: Vec::new() }),
        }
    }

    /// Reads a set. If pictures are missing, first computes their parts from spare pictures. The parts of missing
    /// pictures are written to the file that `scratch` opens for reading and writing. `scratch` is called only if a
    /// picture is missing. The parts of pictures that are [`Opened::Pixels`] or [`Opened::Bytes`] are copied to this
    /// file too, so that each of these pictures is opened only once.
    ///
    /// Parts that are made from a damaged picture would be damaged too. Therefore all used pictures are checked first,
    /// and [`Reader::rejected`] returns the damaged pictures, which are not used. If no picture is missing, no picture
    /// is checked.
    ///
    /// The work is in proportion to the lengths in the labels of the pictures that are present. A caller that receives
    /// pictures from strangers should compare these lengths with the lengths of the files, because a short file can
    /// have a long part.
    ///
    /// # Errors
    /// [`Error::MissingPictures`] if more pictures are missing or damaged than there are spare pictures,
    /// [`Error::Contradiction`] if the offsets of the missing parts do not follow from the labels,
    /// [`Error::TooManySpares`] and [`Error::TooManyPictures`] if no set has so many pictures, [`Error::Read`] and
    /// [`Error::Write`] if the system cannot read or write.
    pub fn recovering(set: Set<T>, open: O, scratch: impl FnOnce() -> io::Result<File>) -> Result<Self, Error> {
        let (missing, spares) = (set.lost(), set.spares_present());
        if missing > spares {
            return Err(Error::MissingPictures { missing, spares, damaged: Vec::new() });
        }
        let mut reader = Self::with_set(set, open)?;
        if reader.set.is_complete() {
            return Ok(reader);
        }
        spare::check(reader.set.count(), reader.set.spares())?;
        let length = reader.spare_length()?;
        let scratch = SpareParts { file: scratch().map_err(Error::Write)?, length, places: Mutex::default() };
        let good = reader.check(&scratch)?;
        let count = reader.set.count();
        for missing in (0..count).filter(|index| !good.contains(index)) {
            scratch.add(missing);
        }
        reader.scratch = Some(scratch);
        reader.recover(&good)?;
        Ok(reader)
    }

    /// Checks the pictures that carry data, and enough spare pictures to replace the missing and damaged pictures.
    /// Removes the damaged pictures from the set, and returns the indexes of the good pictures. No picture is read
    /// twice, however many pictures are damaged.
    fn check(&mut self, scratch: &SpareParts) -> Result<BTreeSet<u32>, Error> {
        let mut good = BTreeSet::new();
        loop {
            let (missing, spares) = (self.set.lost(), self.set.spares_present());
            if missing > spares {
                let damaged = self.rejected.iter().map(|(index, _)| *index).collect();
                return Err(Error::MissingPictures { missing, spares, damaged });
            }
            let needed = missing as usize - good.range(self.set.count()..).count().min(missing as usize);
            // If many pictures are damaged, further pictures are likely to be damaged too. One round for each damaged
            // picture would take long, so several pictures are checked at once.
            let mut more = if needed == 0 { 0 } else { needed + self.rejected.len() };
            let labels = self.set.pictures().map(|(label, _)| *label).filter(|label| !good.contains(&label.index));
            let labels: Vec<Label> = labels
                .filter(|label| {
                    let is_used = !label.is_spare() || more > 0;
                    more -= usize::from(label.is_spare() && is_used);
                    is_used
                })
                .collect();
            if labels.is_empty() {
                return Ok(good);
            }
            let damaged = self.examine_all(&labels, scratch)?;
            good.extend(labels.iter().map(|label| label.index).filter(|index| !damaged.contains(index)));
            for index in damaged {
                self.rejected.extend(self.set.reject(index).map(|picture| (index, picture)));
                self.opened.lock().open.remove(index);
            }
        }
    }

    /// Passes the memory of each [`Opened::Pixels`] picture to `take` after the picture was read. So `open` can use the
    /// memory again, and the system need not allocate new memory for each picture.
    #[must_use]
    pub fn giving_back(self, take: fn(Vec<u8>)) -> Self {
        Self { give_back: take, ..self }
    }

    /// Compares the checksums of parts, on all cores. Returns the indexes of the damaged pictures.
    fn examine_all(&self, labels: &[Label], scratch: &SpareParts) -> Result<BTreeSet<u32>, Error> {
        let (next, damaged) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
        let worker = || {
            while let Some(label) = labels.get(next.fetch_add(1, Ordering::Relaxed)) {
                if !self.examine(label, scratch)? {
                    damaged.lock().insert(label.index);
                }
            }
            Ok(())
        };
        together(self.cores.min(labels.len()), worker).into_iter().collect::<Result<(), Error>>()?;
        Ok(damaged.into_inner())
    }

    /// Returns whether a picture can be read and its part has the correct checksum. The Reed–Solomon code works on
    /// short stripes of all pictures at a time, and only a few decoded pictures fit into memory. Therefore the part of
    /// a decoded picture is copied to the scratch file.
    fn examine(&self, label: &Label, scratch: &SpareParts) -> Result<bool, Error> {
        let Ok(opened) = self.opened(label.index) else { return Ok(false) };
        let place = opened.is_in_memory().then(|| scratch.add(label.index));
        let (mut sums, mut buffer) = (Sums::default(), Vec::new());
        let mut is_read = true;
        while is_read && sums.length < u64::from(label.length) {
            let left = u64::from(label.length) - sums.length;
            buffer.resize(usize::try_from(left).map_or(CHECK, |left| left.min(CHECK)), 0);
            is_read = opened.read(&mut buffer, sums.length, &self.buffers).is_ok();
            if let Some(place) = place.filter(|_| is_read) {
                scratch.file.write_all_at(&buffer, place + sums.length).map_err(Error::Write)?;
            }
            sums.append(&Sums::plain(&buffer));
        }
        let is_good = is_read && sums.crc64 == label.checksum;
        if is_good {
            self.passed.lock().entry(label.index).or_default().insert(0, sums);
        } else {
            scratch.remove(label.index);
        }
        Ok(is_good)
    }

    fn with_set(set: Set<T>, open: O) -> Result<Self, Error> {
        let (mut parts, mut end) = (Vec::new(), 0);
        for index in 0..set.count() {
            let (offset, length) = set.part(index).ok_or(Error::Contradiction)?;
            let empty = length == 0 && set.total() > 0;
            if offset != end || empty {
                return Err(Error::Contradiction);
            }
            end += u64::from(length);
            parts.push(Part { index, offset, length });
        }
        if end != set.total() {
            return Err(Error::Contradiction);
        }
        let slots = Slots { open: Open::new(), opening: BTreeSet::new(), in_memory: false };
        let (opened, changed, passed) = (Mutex::new(slots), Condvar::new(), Mutex::default());
        let (scratch, rejected, buffers) = (None, Vec::new(), Buffers::default());
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { set, open, parts, opened, changed, passed, scratch, rejected, buffers, cores, give_back: drop })
    }

    /// All spare parts have the same length.
    fn spare_length(&self) -> Result<u64, Error> {
        let longest = self.parts.iter().map(|part| part.length).max().unwrap_or(0);
        let length = u64::from(longest).next_multiple_of(64);
        let mut spares = self.set.pictures().filter(|(label, _)| label.is_spare());
        if spares.all(|(label, _)| u64::from(label.length) == length) { Ok(length) } else { Err(Error::Contradiction) }
    }

    /// Makes the missing parts from the parts of good pictures.
    fn recover(&self, good: &BTreeSet<u32>) -> Result<(), Error> {
        let Some(scratch) = &self.scratch else { return Ok(()) };
        let read = |index: u32, buffer: &mut [u8], at: u64| {
            let length = self.set.picture(index).map_or(0, |(label, _)| u64::from(label.length));
            let there =
                usize::try_from(length.saturating_sub(at)).map_or(buffer.len(), |there| there.min(buffer.len()));
            let (known, zeros) = buffer.split_at_mut(there);
            zeros.fill(0);
            self.read_part(index, known, at)
        };
        let write = |index: u32, bytes: &[u8], at: u64| match scratch.position(index) {
            Some(position) => scratch.file.write_all_at(bytes, position + at),
            None => Ok(()),
        };
        spare::recover(self.set.count(), self.set.spares(), scratch.length, good, &read, &write)
    }

    /// Returns the length of the data.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.set.total()
    }

    /// Returns the set.
    #[must_use]
    pub fn set(&self) -> &Set<T> {
        &self.set
    }

    /// Returns the set, for example to remove damaged pictures and begin again.
    #[must_use]
    pub fn into_set(self) -> Set<T> {
        self.set
    }

    /// Returns the damaged pictures that [`Reader::recovering`] did not use, with their indexes.
    #[must_use]
    pub fn rejected(&self) -> &[(u32, T)] {
        &self.rejected
    }

    /// Fills `buffer` with the data that begin at `position`. Returns the number of bytes that were read. Fewer bytes
    /// than the length of the buffer are read only at the end of the data.
    ///
    /// # Errors
    /// If a picture cannot be opened or read.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let left = self.length().saturating_sub(position);
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let (mut rest, mut position) = (&mut buffer[..length], position);
        let mut parts =
            self.parts[self.parts.partition_point(|part| part.offset <= position).saturating_sub(1)..].iter();
        while let Some(part) = parts.next().filter(|_| !rest.is_empty()) {
            let at = position - part.offset;
            let left = (u64::from(part.length) - at) as usize;
            let (now, later) = rest.split_at_mut(left.min(rest.len()));
            if let Err(error) = self.read_part(part.index, now, at) {
                // The picture is damaged. A later check treats a damaged picture as a picture that was partly read.
                self.passed.lock().entry(part.index).or_default();
                return Err(error);
            }
            self.pass(part.index, now, at);
            position += now.len() as u64;
            rest = later;
        }
        Ok(length)
    }

    /// Returns a reader for the data in order.
    pub fn stream(&self) -> SetStream<'_, T, O> {
        SetStream { reader: self, position: 0 }
    }

    /// Compares the checksums of the parts of the data, on all cores. Parts that were read completely are not read
    /// again. Returns the damaged pictures in the order of their indexes.
    #[must_use]
    pub fn damaged(&self) -> Vec<Damage> {
        self.damaged_of(|label| !label.is_spare())
    }

    /// Compares the checksums of all parts of which at least one byte was read. Each of these parts is read to its end.
    /// Returns the damaged pictures in the order of their indexes.
    #[must_use]
    pub fn damaged_so_far(&self) -> Vec<Damage> {
        let read: BTreeSet<u32> = self.passed.lock().keys().copied().collect();
        self.damaged_of(|label| read.contains(&label.index))
    }

    /// Compares the checksums of the parts whose labels `used` selects.
    fn damaged_of(&self, used: impl Fn(&Label) -> bool) -> Vec<Damage> {
        let (next, damaged) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let labels: Vec<&Label> = self.set.pictures().map(|(label, _)| label).filter(|label| used(label)).collect();
        let worker = || {
            while let Some(label) = labels.get(next.fetch_add(1, Ordering::Relaxed)) {
                let error = match self.checksum(label) {
                    Ok(checksum) if checksum == label.checksum => continue,
                    checksum => checksum.err(),
                };
                damaged.lock().push(Damage { index: label.index, error });
            }
        };
        together(self.cores.min(labels.len()), worker);
        let mut damaged = damaged.into_inner();
        damaged.sort_by_key(|damage: &Damage| damage.index);
        damaged
    }

    fn checksum(&self, label: &Label) -> io::Result<u64> {
        let passed = self.passed.lock().get(&label.index).and_then(Pieces::whole);
        if let Some(sums) = passed.filter(|sums| sums.length == u64::from(label.length)) {
            return Ok(sums.crc64);
        }
        let (mut sums, mut buffer) = (Sums::default(), Vec::new());
        while sums.length < u64::from(label.length) {
            let left = u64::from(label.length) - sums.length;
            buffer.resize(usize::try_from(left).map_or(CHECK, |left| left.min(CHECK)), 0);
            self.read_part(label.index, &mut buffer, sums.length)?;
            sums.append(&Sums::plain(&buffer));
        }
        Ok(sums.crc64)
    }

    /// Records the checksum of bytes that were read.
    fn pass(&self, index: u32, bytes: &[u8], at: u64) {
        let sums = Sums::plain(bytes);
        let mut passed = self.passed.lock();
        let pieces = passed.entry(index).or_default();
        if pieces.count() < MOST_PIECES {
            // Bytes that are read again change nothing.
            pieces.insert(at, sums);
        }
    }

    fn read_part(&self, index: u32, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let scratch = self.scratch.as_ref();
        match scratch.and_then(|scratch| Some((&scratch.file, scratch.position(index)?))) {
            Some((file, position)) => read_exact_at(file, buffer, position + at),
            None => {
                let opened = self.opened(index)?;
                let result = opened.read(buffer, at, &self.buffers);
                self.release(opened);
                result
            }
        }
    }

    /// Gives back the memory of a picture, if no other thread reads the picture and the picture is not open any more.
    fn release(&self, opened: Arc<Opened>) {
        if let Some(Opened::Pixels(pixels, _)) = Arc::into_inner(opened) {
            (self.give_back)(pixels.samples);
        }
    }

    /// Opens a picture once for all threads. If another thread is already decoding this picture, this thread decodes
    /// the next picture, because data are mostly read in order.
    fn opened(&self, index: u32) -> io::Result<Arc<Opened>> {
        let most = self.cores.clamp(2, 4);
        let mut slots = self.opened.lock();
        loop {
            if let Some(opened) = slots.open.get(index) {
                return Ok(opened);
            }
            let mut target = index;
            if slots.opening.contains(&index) {
                let busy = !slots.in_memory || slots.opening.len() >= most;
                let ahead = (index + 1..index + most as u32).filter(|_| !busy);
                let mut ahead =
                    ahead.filter(|next| self.set.picture(*next).is_some_and(|(label, _)| !label.is_spare()));
                match ahead.find(|next| !slots.opening.contains(next) && !slots.open.contains(*next)) {
                    Some(next) => target = next,
                    None => {
                        self.changed.wait(&mut slots);
                        continue;
                    }
                }
            }
            slots.opening.insert(target);
            let room = most.saturating_sub(slots.opening.len());
            let out = slots.open.limit(room, Opened::is_in_memory);
            drop(slots);
            out.into_iter().for_each(|opened| self.release(opened));
            let result = match self.set.picture(target) {
                Some((_, picture)) => (self.open)(picture),
                None => Err(io::Error::new(io::ErrorKind::NotFound, Error::Contradiction)),
            };
            slots = self.opened.lock();
            slots.opening.remove(&target);
            self.changed.notify_all();
            match result {
                Ok(opened) => {
                    slots.in_memory |= opened.is_in_memory();
                    slots.open.insert(target, opened);
                }
                // The system allows fewer open files than are open now. Close some files, and try again.
                Err(error) if is_out_of_files(&error) && slots.open.shrink() => {}
                Err(error) if target == index => return Err(error),
                // If a thread requests this picture later, the thread gets the same error.
                Err(_) => {}
            }
        }
    }
}

/// Whether an error means that the process or the system has too many open files. `ErrorKind` has no name for this
/// error.
fn is_out_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Reads the data of a set in order, and seeks in them.
#[derive(Debug)]
pub struct SetStream<'r, T, O> {
    reader: &'r Reader<T, O>,
    position: u64,
}

impl<T, O> Clone for SetStream<'_, T, O> {
    fn clone(&self) -> Self {
        Self { reader: self.reader, position: self.position }
    }
}

impl<T: Sync, O: Fn(&T) -> io::Result<Opened> + Sync> Read for SetStream<'_, T, O> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl<T: Sync, O: Fn(&T) -> io::Result<Opened> + Sync> Seek for SetStream<'_, T, O> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.reader.length().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the data");
        self.position = position.ok_or_else(outside)?;
        Ok(self.position)
    }
}
