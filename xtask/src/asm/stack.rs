//! The audit's model of the stack. A byte is secret, except if the code stored a public value in this byte.
//!
//! If the code never stored to a byte, a read of this byte returns a secret. Where two paths join and only one path has
//! stored to the byte, the joined state contains the entry of that path. This entry may be kept, because no valid
//! program reads the byte after the paths join.

use std::collections::BTreeMap;

use super::value::Value;

/// The kind of store that wrote a byte. The kind distinguishes arrays from spilled variables. LLVM places arrays and
/// spilled variables in any order. Where paths meet, the joined state keeps the smaller variant of this enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Origin {
    Secret,
    /// A vector store, a narrow store or a library call. The byte may belong to the initial contents of an array.
    Contents,
    /// A store of 4 or 8 bytes that contain a number, except a small count. The byte belongs to a variable or to a very
    /// small array.
    Number,
    /// A store of a whole register, or of a small count. The byte belongs to a spilled variable.
    Spill,
    /// No known store wrote this byte, but a store at an unknown address near this byte wrote a secret. A read of this
    /// byte returns a secret. If paths join and the byte is a spilled variable on one path, the joined state keeps the
    /// spilled variable.
    Smeared,
}

impl Origin {
    /// The kind of a store of a number.
    pub(crate) fn of_number(number: u64, size: usize) -> Self {
        match (number, size) {
            // The value is a small count, such as the chunk size that an iterator stores. The first contents of an
            // array are zeros or one repeated byte, so a small count is not part of an array.
            (1..=0xffff, 8) => Self::Spill,
            (_, 4..) => Self::Number,
            _ => Self::Contents,
        }
    }

    fn is_public(self) -> bool {
        !matches!(self, Self::Secret | Self::Smeared)
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Smeared, Self::Contents | Self::Number) | (Self::Contents | Self::Number, Self::Smeared) => {
                Self::Secret
            }
            (ours, theirs) => ours.min(theirs),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    bytes: BTreeMap<i64, Origin>,
    values: BTreeMap<i64, Value>,
    /// Start and end of each array whose extent is known because `memset` or `memcpy` filled the array.
    arrays: BTreeMap<i64, i64>,
    /// The offsets at which the frames of the current function (0) and of its callers begin, in ascending order.
    frames: Vec<i64>,
}

impl Stack {
    pub(crate) fn at_entry() -> Self {
        Self { frames: vec![0], ..Self::default() }
    }

    pub(crate) fn is_public(&self, offset: i64, len: i64) -> bool {
        len > 0
            && len <= 0x1_0000
            && (offset..offset + len).all(|byte| self.bytes.get(&byte).is_some_and(|origin| origin.is_public()))
    }

    pub(crate) fn value(&self, offset: i64) -> Value {
        self.values.get(&offset).copied().unwrap_or_default()
    }

    /// Applies a store at a known offset. `value` is the stored value, if the store has 8 bytes and the value is known.
    pub(crate) fn store(&mut self, offset: i64, len: i64, secret: bool, origin: Origin, value: Option<Value>) {
        self.values.retain(|&at, _| at + 8 <= offset || at >= offset + len);
        for byte in offset..offset + len {
            self.bytes.insert(byte, if secret { Origin::Secret } else { origin });
        }
        if let Some(value) = value.filter(|&value| value != Value::Unknown && len == 8) {
            self.values.insert(offset, value);
        }
    }

    /// Applies a store that may or may not happen: a masked store, or a store to one of two addresses.
    pub(crate) fn store_perhaps(&mut self, offset: i64, len: i64, secret: bool, origin: Origin) {
        let stored = if secret { Origin::Secret } else { origin };
        self.values.retain(|&at, _| at + 8 <= offset || at >= offset + len);
        for byte in offset..offset + len {
            let old = self.bytes.entry(byte).or_insert(stored);
            // A wide masked store to a short array also covers bytes after the array, but the mask prevents a write to
            // these bytes.
            if !(secret && *old == Origin::Spill && len > 8) {
                *old = stored.join(*old);
            }
        }
    }

    /// Applies a store of a secret at an unknown address near the stack offset `floor`.
    ///
    /// If an array of known extent contains the offset `floor`, the store makes that whole array secret. If no array of
    /// known extent contains the offset `floor`, the store makes array contents anywhere in that frame secret. The
    /// reason: a loop may count a negative index up to zero and so write below `floor`. The store also makes numbers at
    /// or above `floor` secret. The store does not change spilled variables, because the compiler never stores to
    /// spilled variables through a pointer.
    pub(crate) fn smear(&mut self, to: Value) {
        if let Value::Either(_, second) = to {
            self.smear_at(second);
        }
        if let Some(floor) = to.stack_floor() {
            self.smear_at(floor);
        }
    }

    fn smear_at(&mut self, floor: i64) {
        // If a loop moves a pointer through an array, `floor` remains the start of the array.
        let known = self.array(floor);
        let top = self.frame_top(floor);
        let bottom = self.frames.iter().rev().find(|&&start| start <= floor).copied().unwrap_or(i64::MIN);
        let (contents, numbers) = known.map_or((bottom..top, floor..top), |(start, end)| (start..end, start..end));
        for (byte, origin) in &mut self.bytes {
            let hit = match origin {
                Origin::Secret | Origin::Smeared | Origin::Spill => false,
                Origin::Contents => contents.contains(byte),
                Origin::Number => numbers.contains(byte),
            };
            if hit {
                *origin = Origin::Secret;
            }
        }
        self.fill(numbers.start, numbers.end);
    }

    /// The start and the end of the known array that contains this byte.
    fn array(&self, at: i64) -> Option<(i64, i64)> {
        let (&start, &end) = self.arrays.range(..=at).next_back()?;
        (at < end).then_some((start, end))
    }

    /// Records an array of at least 32 bytes. A shorter array is more likely a part of a larger array.
    pub(crate) fn add_array(&mut self, start: i64, len: i64) {
        if len >= 32 {
            self.arrays.insert(start, start + len);
        }
    }

    /// Marks each byte without a known store as `Smeared`, up to the end of a frame. Does nothing in the frame of the
    /// outermost caller, because the end of this frame is not known.
    fn fill(&mut self, from: i64, to: i64) {
        if to != i64::MAX {
            for byte in from..to {
                self.bytes.entry(byte).or_insert(Origin::Smeared);
            }
        }
    }

    /// The end of the frame that contains this offset.
    pub(crate) fn frame_top(&self, offset: i64) -> i64 {
        self.frames.iter().find(|&&start| start > offset).copied().unwrap_or(i64::MAX)
    }

    /// Marks as secret all bytes that foreign code can reach from a stack pointer: the bytes at and above `floor`, and
    /// the targets of pointers that are stored there.
    pub(crate) fn smear_reachable(&mut self, floor: i64) {
        let mut floors = vec![floor];
        let mut next = 0;
        while let Some(&floor) = floors.get(next) {
            next += 1;
            let top = self.frame_top(floor);
            let inside = self.values.range(floor..top).filter_map(|(_, value)| value.stack_floor());
            for found in inside.collect::<Vec<_>>() {
                if !floors.contains(&found) {
                    floors.push(found);
                }
            }
            self.fill(floor, top);
            self.bytes.range_mut(floor..top).for_each(|(_, origin)| *origin = Origin::Secret);
        }
    }

    pub(crate) fn publish(&mut self, from: i64, to: i64) {
        for byte in from..to {
            let origin = self.bytes.entry(byte).or_insert(Origin::Contents);
            if !origin.is_public() {
                *origin = Origin::Contents;
            }
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (&byte, &theirs) in &other.bytes {
            let ours = self.bytes.entry(byte).or_insert(theirs);
            *ours = theirs.join(*ours);
        }
        self.arrays.retain(|start, end| other.arrays.get(start) == Some(end));
        for (&at, &theirs) in &other.values {
            let joined = self.value(at).join(theirs);
            self.values.insert(at, joined);
        }
        for (at, ours) in &mut self.values {
            *ours = ours.join(other.value(*at));
        }
        self.values.retain(|_, value| *value != Value::Unknown);
    }

    /// The caller's stack, with offsets relative to the callee's stack pointer. The result does not contain bytes below
    /// the stack pointer of the call.
    pub(crate) fn enter(&self, by: i64) -> Self {
        let mut frames = vec![0];
        frames.extend(self.frames.iter().map(|start| start - by));
        Self {
            bytes: self.bytes.range(by..).map(|(byte, origin)| (byte - by, *origin)).collect(),
            values: self.values.range(by..).map(|(at, value)| (at - by, value.shift(by))).collect(),
            arrays: self.arrays.range(by..).map(|(start, end)| (start - by, end - by)).collect(),
            frames,
        }
    }

    /// The callee's stack at its return, with offsets relative to the caller's stack pointer.
    pub(crate) fn leave(&self, by: i64) -> Self {
        Self {
            bytes: self.bytes.range(0..).map(|(byte, origin)| (byte + by, *origin)).collect(),
            values: self.values.range(0..).map(|(at, value)| (at + by, value.shift(-by))).collect(),
            arrays: self.arrays.range(0..).map(|(start, end)| (start + by, end + by)).collect(),
            frames: self.frames.iter().skip(1).map(|start| start + by).collect(),
        }
    }
}
