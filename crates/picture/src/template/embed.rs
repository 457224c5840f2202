//! Hides a part in a cover.

use std::ops::Range;

use super::door::{self, Inside};
use super::imp::{self, Cost, Course, LINES, Level, Line, Values, Ways};
use super::places::{self, Places, Table};
use super::secret::{Secret, Seed, random};
use super::shares::Shares;
use super::signs::Signs;
use super::{Bits, DOOR_LINES, DOORS, Distortion, LINE, Order, SEED_LINES, capacity};
use crate::label::Label;
use crate::{Error, Pixels};

/// Options for hiding a part.
#[derive(Clone, Debug)]
pub struct Hiding {
    /// The number of bits that each sample of the data lines carries.
    pub bits: Bits,
    /// The order of the values in the data lines.
    pub order: Order,
    /// The random key of the set, which is the same for all pictures of the set.
    pub set_key: [u8; 32],
    /// The secrets that open the picture besides the secret of the set: at most 31 secrets.
    pub doors: Vec<Secret>,
}

/// Hides a part and its label in a picture, and writes the seed into the picture. `threads` is the number of threads
/// that work on the picture.
///
/// # Errors
///
/// [`Error::SmallCover`] if the picture is too small, [`Error::Doors`] if there are more than 31 secrets, and
/// [`Error::Random`] if the system has no random bytes. After an error, the picture is unchanged.
///
/// # Panics
///
/// Panics if the length in the label is not the length of the part.
pub fn embed(
    pixels: &mut Pixels,
    label: &Label,
    part: &[u8],
    hiding: &Hiding,
    seed: &Seed,
    threads: usize,
) -> Result<Distortion, Error> {
    let mut signs = [0; 16];
    random(&mut signs)?;
    embed_with(Engine { level: Level::detect(), threads }, pixels, label, part, hiding, seed, &signs)
}

/// The implementation that embeds.
#[derive(Clone, Copy)]
pub(super) struct Engine {
    /// The back end.
    pub(super) level: Level,
    pub(super) threads: usize,
}

/// Embeds a part as [`embed`] does, but with a given back end and a given number of threads, and with random bits that
/// come from a given key.
pub(super) fn embed_with(
    Engine { level, threads }: Engine,
    pixels: &mut Pixels,
    label: &Label,
    part: &[u8],
    hiding: &Hiding,
    seed: &Seed,
    signs: &[u8; 16],
) -> Result<Distortion, Error> {
    assert_eq!(label.length as usize, part.len(), "the label has the length of the part");
    let doors = hiding.doors.len() + 1;
    if doors > DOORS {
        return Err(Error::Doors { doors });
    }
    let (samples, reserved) = (pixels.samples.len() as u64, SEED_LINES + DOOR_LINES * doors);
    let room = capacity(samples, hiding.bits, hiding.doors.len());
    if room < part.len() as u64 || samples < (reserved * LINE) as u64 {
        let (length, reserved) = (part.len() as u64, (reserved * LINE) as u64);
        return Err(Error::SmallCover { samples, reserved, room, length });
    }
    let inside = Inside { label: *label, bits: hiding.bits, doors, order: hiding.order, set_key: hiding.set_key };
    let front = door::seal(&inside, seed, &hiding.doors)?;
    let (first, data) = pixels.samples.as_chunks_mut::<LINE>().0.split_at_mut(reserved);
    let signs = Signs::new(signs);

    let places = Places::new(Order::InOrder, &hiding.set_key, seed);
    let front = EmbedTask::new(level, Bits(1), &front, places, None, signs, 0..first.len());
    let places = Places::new(hiding.order, &hiding.set_key, seed);
    let mask = places::mask(&hiding.set_key, seed);
    let part = EmbedTask::new(level, hiding.bits, part, places, Some(mask), signs, reserved..reserved + data.len());
    let mut distortion = Distortion { samples, ..Distortion::default() };
    for cost in [front.embed(first), part.embed_threads(data, threads)] {
        distortion.squares += cost.squares;
        distortion.changed += cost.changed;
    }
    Ok(distortion)
}

/// Embeds bytes into lines.
#[derive(Clone)]
struct EmbedTask<'a> {
    level: Level,
    bits: Bits,
    bytes: &'a [u8],
    shares: Shares,
    places: Places,
    inverses: Box<Table>,
    mask: Option<blake3::OutputReader>,
    signs: Signs,
    /// The number of lines of the picture that come before the lines of this task. The random bits of the preceding
    /// lines must not be used again.
    before: u64,
    /// The number of the next line to embed.
    line: u64,
}

impl<'a> EmbedTask<'a> {
    /// Makes a task. `lines` are the lines in which the bytes are embedded.
    fn new(
        level: Level,
        bits: Bits,
        bytes: &'a [u8],
        places: Places,
        mask: Option<blake3::OutputReader>,
        signs: Signs,
        lines: Range<usize>,
    ) -> Self {
        let values = (bytes.len() as u64 * 8).div_ceil(u64::from(bits.get()));
        let shares = Shares::new(places.order(), values, lines.len() as u64);
        let inverses = places.inverses();
        Self { level, bits, bytes, shares, places, inverses, mask, signs, before: lines.start as u64, line: 0 }
    }

    fn embed_threads(self, lines: &mut [Line], threads: usize) -> Cost {
        let many = lines.len().div_ceil(threads.max(1)).next_multiple_of(LINES);
        if many >= lines.len() {
            return self.embed(lines);
        }
        std::thread::scope(|scope| {
            let tasks = lines.chunks_mut(many).zip(0..).map(|(lines, at)| {
                let task = Self { line: at * many as u64, ..self.clone() };
                scope.spawn(move || task.embed(lines))
            });
            let tasks: Vec<_> = tasks.collect();
            tasks.into_iter().fold(Cost::default(), |sum, task| {
                // If the thread panics, the caller panics too.
                let cost = task.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                Cost { squares: sum.squares + cost.squares, changed: sum.changed + cost.changed }
            })
        })
    }

    fn embed(mut self, lines: &mut [Line]) -> Cost {
        let mut values: Values = [0; size_of::<Values>()];
        let mut choices = [[0; 2]; LINES];
        let mut signs = [[0; LINE / 8]; LINES];
        let mut walk = self.shares.from(self.line);
        let mut sum = Cost::default();
        let mut stream = self.places.choices();
        for lines in lines.chunks_mut(LINES) {
            let next = self.line + lines.len() as u64;
            let (first, end) = (self.bit(self.line), self.bit(next));
            if first < end {
                self.fill(&mut values, first, end);
                stream.choose(self.line, &mut choices[..lines.len()]);
                for (signs, line) in signs[..lines.len()].iter_mut().zip(self.before + self.line..) {
                    *signs = self.signs.in_line(line);
                }
                let mut course = Course { bits: self.bits.count(), at: (first % 8) as usize, walk };
                let ways = Ways {
                    table: &self.places.table,
                    inverses: &self.inverses,
                    choices: &choices[..lines.len()],
                    signs: &signs[..lines.len()],
                };
                let cost = imp::embed(self.level, lines, &values, &mut course, ways);
                sum = Cost { squares: sum.squares + cost.squares, changed: sum.changed + cost.changed };
                walk = course.walk;
            } else {
                walk = self.shares.from(next);
            }
            self.line = next;
        }
        sum
    }

    /// Returns the index of the first bit of the part that a line carries.
    fn bit(&self, line: u64) -> u64 {
        self.shares.first(line) * u64::from(self.bits.get())
    }

    /// Copies the bytes that contain the bits from `first` to `end`, and adds zeros.
    fn fill(&mut self, values: &mut Values, first: u64, end: u64) {
        let bytes = &self.bytes[(first / 8) as usize..(end.div_ceil(8) as usize).min(self.bytes.len())];
        let (values, rest) = values.split_at_mut(bytes.len());
        // Bits after the end of the part are zeros.
        rest[..LINE / 2].fill(0);
        match &mut self.mask {
            None => values.copy_from_slice(bytes),
            Some(mask) => {
                mask.set_position(first / 8);
                mask.fill(values);
                values.iter_mut().zip(bytes).for_each(|(value, byte)| *value ^= byte);
            }
        }
    }
}
