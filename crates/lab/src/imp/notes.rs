//! Notes in shared memory. The process that runs a library's code writes the notes, and the process that waits for this
//! process reads the notes. The notes stay readable even if the process that writes them crashes.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

/// The number of recent inputs whose classes the notes contain.
const RECENT: usize = 64;
/// Maximum total length of the names of all classes.
const NAMES: usize = 2048;

/// The notes. Zero bytes are a valid value, and mean that nothing has happened yet.
#[derive(Default)]
pub(crate) struct Notes {
    /// The id of the process that runs the library's code.
    pub(super) process: AtomicI32,
    /// The process stores its exit code plus 256 in this field when its work is complete.
    pub(super) code: AtomicU32,
    /// Whether the function has called `fork`, and the child process has returned from the function.
    pub(super) copied: AtomicBool,
    /// A number that changes repeatedly while the work makes progress.
    beats: AtomicUsize,
    /// Whether the process has received a signal that asks it to end early.
    pub(super) ending: AtomicBool,
    /// Whether the process ended without a message because its results are invalid.
    pub(super) silent: AtomicBool,
    /// The current [`Phase`].
    phase: AtomicU8,
    /// The first rule of the calling convention that the function broke, counted from 1.
    broken: AtomicU8,
    /// The address of the last failed access, and whether this access was a write.
    pub(super) fault: AtomicUsize,
    pub(super) wrote: AtomicBool,
    /// The input of the current trial call: its class, and the position of its parts in memory.
    pub(super) trial: [AtomicU32; 2],
    recent: Classes,
}

/// The classes of the most recent inputs.
struct Classes {
    names: [AtomicU8; NAMES],
    ring: [AtomicU8; RECENT],
    drawn: AtomicUsize,
}

impl Default for Classes {
    fn default() -> Self {
        Self {
            names: [const { AtomicU8::new(0) }; NAMES],
            ring: [const { AtomicU8::new(0) }; RECENT],
            drawn: AtomicUsize::new(0),
        }
    }
}

/// The purpose for which the library's code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// The library's constructors run.
    Load = 1,
    /// The lab makes trial calls of the function, with inputs of each class, before the measurement.
    Trial,
    /// The function is measured.
    Measurement,
}

/// The notes of this process. The pointer is null if this process waits for no other process and no other process waits
/// for this process.
pub(super) static NOTES: AtomicPtr<Notes> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn notes() -> Option<&'static Notes> {
    // SAFETY: the pointer is null, or points to memory that `supervise::run` mapped and that is never unmapped. All
    // fields are atomics.
    unsafe { NOTES.load(Ordering::Relaxed).as_ref() }
}

impl Notes {
    /// Begins a phase, and deletes the classes that were recorded in the previous phase.
    pub(crate) fn enter(&self, phase: Phase) {
        self.recent.drawn.store(0, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn phase(&self) -> Option<Phase> {
        [Phase::Load, Phase::Trial, Phase::Measurement]
            .into_iter()
            .find(|phase| *phase as u8 == self.phase.load(Ordering::Relaxed))
    }

    /// Notes that the work makes progress.
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn beats(&self) -> usize {
        self.beats.load(Ordering::Relaxed)
    }

    /// Writes to the notes that the work makes progress. If `interrupted` is true, also records that a signal ends the
    /// work early.
    pub(crate) fn notice(&self, interrupted: bool) {
        self.beat();
        if interrupted {
            self.ending.store(true, Ordering::Relaxed);
        }
    }

    /// Stores the names of the classes, so that the waiting process can read these names.
    pub(crate) fn name_classes<'n>(&self, names: impl Iterator<Item = &'n str>) {
        let text = names.collect::<Vec<_>>().join("\n");
        for (place, name) in self.recent.names.iter().enumerate() {
            name.store(text.as_bytes().get(place).copied().unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// Records the class of an input that the lab has just created.
    pub(crate) fn draw(&self, class: usize) {
        self.beat();
        let at = self.recent.drawn.fetch_add(1, Ordering::Relaxed);
        self.recent.ring[at % RECENT].store(class.min(255) as u8, Ordering::Relaxed);
    }

    /// Returns the names of the classes of the most recent inputs, in the order of the classes.
    pub(crate) fn drawn(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.recent.names.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        let text = String::from_utf8_lossy(&bytes);
        let count = self.recent.drawn.load(Ordering::Relaxed).min(RECENT);
        let ring: Vec<usize> =
            self.recent.ring[..count].iter().map(|class| usize::from(class.load(Ordering::Relaxed))).collect();
        let named = text.trim_end_matches('\0').split('\n').enumerate();
        named.filter(|(class, _)| ring.contains(class)).map(|(_, name)| name.to_owned()).collect()
    }

    pub(crate) fn copied(&self) -> bool {
        self.copied.load(Ordering::Relaxed)
    }

    pub(crate) fn silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    pub(crate) fn note_broken(&self, rule: usize) {
        self.broken.store(rule as u8 + 1, Ordering::Relaxed);
    }

    pub(crate) fn broken_rule(&self) -> Option<usize> {
        self.broken.load(Ordering::Relaxed).checked_sub(1).map(usize::from)
    }

    pub(crate) fn fault(&self) -> Option<(usize, bool)> {
        let address = self.fault.load(Ordering::Relaxed);
        (address != 0).then(|| (address, self.wrote.load(Ordering::Relaxed)))
    }

    pub(crate) fn trial_class(&self) -> usize {
        self.trial[0].load(Ordering::Relaxed) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_the_last_inputs_are_remembered() {
        let notes = Notes::default();
        assert_eq!(notes.drawn(), [""; 0]);
        notes.name_classes(["random", "zeros", "last"].into_iter());
        notes.draw(2);
        assert_eq!(notes.drawn(), ["last"]);
        (0..100).for_each(|turn| notes.draw(turn % 2));
        assert_eq!(notes.drawn(), ["random", "zeros"]);
    }
}
