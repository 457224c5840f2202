//! Options for making an output.

use deadpan_seal::Work;

/// Options for making an output and for watching the work. The default replaces no file and uses all cores.
///
/// ```
/// use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
///
/// use deadpan_files::Options;
/// use deadpan_seal::Work;
///
/// let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
/// let progress = |bytes| drop(done.fetch_add(bytes, Ordering::Relaxed));
/// let stop = || stopped.load(Ordering::Relaxed);
/// let work = Work { progress: Some(&progress), stop: Some(&stop), ..Work::default() };
/// let options = Options { replace: true, work, ..Options::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Whether a file may replace another file. An output that is a folder never replaces an existing file or folder.
    pub replace: bool,
    /// Whether the output and its name must be on the disk when the call returns. An output that replaces a file is on
    /// the disk even without this option. If everything succeeds except writing the name to the disk, the call returns
    /// an error, but the complete output stays.
    pub sync: bool,
    /// The number of threads, and callbacks to watch and stop the work.
    pub work: Work<'a>,
}
