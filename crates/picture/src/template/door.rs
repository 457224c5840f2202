//! Doors: the sealed labels of a template.

use std::io::{BufRead, Seek, SeekFrom};

use super::low;
use super::secret::{self, Opens, Secret, Seed};
use super::{Bits, DOOR_LINES, DOORS, LINE, Order, SEED_LINES, capacity};
use crate::label::{LABEL, Label};
use crate::pixels::{is_gray, one_channel};
use crate::read::first_rows;
use crate::{Channels, Error, Header, Limits, Pixels, probe};

/// The length of a door in bytes.
pub(super) const DOOR: usize = SEALED + CODE;
/// The length of the encrypted part of a sealed label (door).
const SEALED: usize = LABEL + 8 + 32;
/// The length of the authentication code of a sealed label (door).
const CODE: usize = 8;

/// The contents of a sealed label (door) that was opened with a secret. These contents are enough to extract the part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The label of the picture. The length in the label is at most the capacity of the picture.
    pub label: Label,
    /// The number of bits that a sample carries.
    pub bits: Bits,
    /// The order of the values in the picture.
    pub order: Order,
    /// The number of sealed labels (doors), including the sealed label for the secret of the set.
    pub doors: usize,
    /// The key of the set, which opens the other pictures of the set: [`Secret::set`].
    pub set_key: [u8; 32],
    /// The seed of the picture.
    pub seed: Seed,
    /// The index of the secret that opened the picture.
    pub secret: usize,
    /// Whether the picture was gray, and another program wrote it with three equal channels.
    pub gray_in_color: bool,
}

impl Found {
    /// Whether a picture is large enough to contain the part. The picture in which the label was found is large enough.
    #[must_use]
    pub fn fits(&self, pixels: &Pixels) -> bool {
        let channels = if self.gray_in_color { 3 } else { 1 };
        self.fits_in(pixels.samples.len() as u64 / channels)
    }

    /// Whether a picture with `samples` samples is large enough to contain the part.
    pub(super) fn fits_in(&self, samples: u64) -> bool {
        u64::from(self.label.length) <= capacity(samples, self.bits, self.doors - 1)
    }
}

/// Searches for a label that one of the secrets opens. Returns `None` if the picture carries no data for these secrets.
#[must_use]
pub fn find(pixels: &Pixels, secrets: &[Secret]) -> Option<Found> {
    Front::in_pixels(pixels)?.find(secrets)
}

/// The number of samples for the seed and the maximum number of sealed labels.
const FRONT: usize = (SEED_LINES + DOOR_LINES * DOORS) * LINE;

/// The seed and the sealed labels (doors) of a picture. In a picture without data, the values that are read as the seed
/// and the labels are ordinary low bits. The first rows of a picture are enough to find its label.
#[derive(Clone, Debug)]
pub struct Front {
    seed: Seed,
    doors: Vec<[u8; DOOR]>,
    samples: u64,
    gray_in_color: bool,
}

impl Front {
    /// Takes the front of a picture. Returns `None` if the picture is too small for a seed and sealed labels.
    #[must_use]
    pub fn in_pixels(pixels: &Pixels) -> Option<Self> {
        let samples = &pixels.samples;
        let first = &samples[..samples.len().min(FRONT * pixels.channels.count())];
        Self::from(first, pixels.channels, samples.len() as u64)
    }

    /// Reads the seed and the sealed labels of a lossless picture, and decodes only the first rows. The rest of the
    /// file may be damaged. Returns `None` if the whole picture must be decoded instead, for [`Front::in_pixels`].
    ///
    /// # Errors
    /// If the file is no picture, if its beginning is damaged, cut or transparent, if it is larger than the limits, or
    /// if the system cannot read.
    pub fn read(mut input: impl BufRead + Seek, limits: &Limits) -> Result<Option<Self>, Error> {
        let start = input.stream_position().map_err(Error::Read)?;
        let Header { width, height, .. } = probe(&mut input)?;
        input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
        // Read enough samples for a gray picture with three equal channels, of which only one carries data.
        let Some(first) = first_rows(input, FRONT as u32, limits)? else { return Ok(None) };
        Ok(Self::from(&first.samples, first.channels, 3 * u64::from(width) * u64::from(height)))
    }

    /// Reads the seed and the sealed labels from the first rows of a picture with `samples` samples.
    fn from(first: &[u8], channels: Channels, samples: u64) -> Option<Self> {
        // In a color template, the seed and the sealed labels make the channels different.
        let gray_in_color = channels == Channels::Rgb && is_gray(first);
        let gray = gray_in_color.then(|| one_channel(first));
        let (first, samples) = match &gray {
            Some(gray) => (gray.as_slice(), samples / 3),
            None => (first, samples),
        };
        let seed = Seed::from(first)?;
        let lines = usize::try_from(samples / LINE as u64).unwrap_or(usize::MAX).min(first.len() / LINE);
        let there = (lines.saturating_sub(SEED_LINES) / DOOR_LINES).min(DOORS);
        let mut doors = vec![[0; DOOR]; there];
        low::read(first[SEED_LINES * LINE..].get(..there * DOOR_LINES * LINE)?, doors.as_flattened_mut());
        Some(Self { seed, doors, samples, gray_in_color })
    }

    /// Returns the seed, which is the salt of a passphrase.
    #[must_use]
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Searches for a label that one of the secrets opens. Returns `None` if the picture carries no data for these
    /// secrets.
    #[must_use]
    pub fn find(&self, secrets: &[Secret]) -> Option<Found> {
        let there = self.doors.len();
        for (number, secret) in secrets.iter().enumerate() {
            let key = DoorKey::new(secret, &self.seed);
            let range = match secret.opens {
                Opens::Set => 0..there.min(1),
                Opens::Others => 1.min(there)..there,
            };
            for at in range {
                let Some(inside) = key.open(&self.doors[at]) else { continue };
                let Some(inside) = Inside::from_bytes(&inside) else { continue };
                let room = capacity(self.samples, inside.bits, inside.doors - 1);
                if at >= inside.doors || inside.doors > there || u64::from(inside.label.length) > room {
                    continue;
                }
                let Inside { label, bits, order, doors, set_key } = inside;
                let Self { seed, gray_in_color, .. } = *self;
                return Some(Found { label, bits, order, doors, set_key, seed, secret: number, gray_in_color });
            }
        }
        None
    }
}

/// The contents of a door.
pub(super) struct Inside {
    pub(super) label: Label,
    pub(super) bits: Bits,
    pub(super) doors: usize,
    pub(super) order: Order,
    pub(super) set_key: [u8; 32],
}

impl Inside {
    pub(super) fn to_bytes(&self) -> [u8; SEALED] {
        let mut bytes = [0; SEALED];
        bytes[..LABEL].copy_from_slice(&self.label.to_bytes());
        bytes[LABEL] = self.bits.get();
        bytes[LABEL + 1] = self.doors as u8;
        bytes[LABEL + 2] = u8::from(self.order == Order::InOrder);
        bytes[SEALED - 32..].copy_from_slice(&self.set_key);
        bytes
    }

    fn from_bytes(bytes: &[u8; SEALED]) -> Option<Self> {
        let (label, rest) = bytes.split_first_chunk::<LABEL>()?;
        let (&[bits, doors, order, zeros @ ..], set_key) = rest.split_first_chunk::<8>()?;
        let doors = usize::from(doors);
        let order = match order {
            0 => Order::Keyed,
            1 => Order::InOrder,
            _ => return None,
        };
        let possible = (1..=DOORS).contains(&doors) && zeros == [0; 5];
        let (label, bits, set_key) = (Label::from_bytes(label)?, Bits::new(bits)?, set_key.try_into().ok()?);
        possible.then_some(Self { label, bits, doors, order, set_key })
    }
}

/// Makes the bytes of the seed and of all sealed labels, in the order of the samples that carry them. The door of the
/// set comes first.
pub(super) fn seal(inside: &Inside, seed: &Seed, secrets: &[Secret]) -> Result<Vec<u8>, Error> {
    let mut bytes = seed.0.to_vec();
    let contents = inside.to_bytes();
    bytes.extend(DoorKey::new(&Secret::set(&inside.set_key), seed).seal(&contents));
    for (at, secret) in secrets.iter().enumerate() {
        // Two sealed labels with the same secret would be equal, and an observer could see this. One door for each
        // secret is enough.
        if secrets[..at].iter().any(|before| before.bytes == secret.bytes) {
            let mut noise = [0; DOOR];
            secret::random(&mut noise)?;
            bytes.extend(noise);
        } else {
            bytes.extend(DoorKey::new(secret, seed).seal(&contents));
        }
    }
    Ok(bytes)
}

/// Seals and opens the sealed label (door) of one secret in one picture.
pub(super) struct DoorKey {
    stream: [u8; SEALED],
    code: [u8; 32],
}

impl DoorKey {
    pub(super) fn new(secret: &Secret, seed: &Seed) -> Self {
        let mut key = Self { stream: [0; SEALED], code: [0; 32] };
        let mut reader =
            blake3::Hasher::new_keyed(&secret.bytes).update(b"deadpan picture door").update(&seed.0).finalize_xof();
        reader.fill(&mut key.stream);
        reader.fill(&mut key.code);
        key
    }

    pub(super) fn seal(&self, contents: &[u8; SEALED]) -> [u8; DOOR] {
        let sealed: [u8; SEALED] = std::array::from_fn(|at| contents[at] ^ self.stream[at]);
        let mut door = [0; DOOR];
        door[..SEALED].copy_from_slice(&sealed);
        door[SEALED..].copy_from_slice(&self.code(&sealed));
        door
    }

    fn open(&self, door: &[u8; DOOR]) -> Option<[u8; SEALED]> {
        let (sealed, code) = door.split_first_chunk::<SEALED>()?;
        (self.code(sealed) == *code).then(|| std::array::from_fn(|at| sealed[at] ^ self.stream[at]))
    }

    fn code(&self, sealed: &[u8; SEALED]) -> [u8; CODE] {
        let code = blake3::keyed_hash(&self.code, sealed);
        std::array::from_fn(|at| code.as_bytes()[at])
    }
}
