//! A progress bar with rate and time left, shown on a terminal after one second.

mod forecast;
mod line;
mod rate;

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::tell::console::is_quiet;
#[cfg(windows)]
use crate::tell::imp;
use crate::tell::shown::guarded;
use deadpan_disk::Folder;
use deadpan_pack::Rules;
use forecast::Forecast;
pub use line::bytes as amount;
use rate::Rate;

/// The time after which the bar is first drawn. Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two drawings of the bar.
const PERIOD: Duration = Duration::from_millis(250);
/// Moves the cursor to the start of the line and erases the line.
pub const ERASE: &str = "\r\x1b[K";

/// Whether the last line of the terminal is a progress bar. Each thread holds this lock while it writes to the
/// terminal.
static DRAWN: Mutex<bool> = Mutex::new(false);

fn drawn() -> MutexGuard<'static, bool> {
    DRAWN.lock()
}

/// The number of bytes to process.
enum Total {
    Unknown,
    Known(u64),
    /// The number of bytes of all objects that are known so far. The total is final when no more objects follow.
    Growing {
        bytes: AtomicU64,
        is_whole: AtomicBool,
    },
    /// The length of a folder's archive. The computation of this length starts when the bar is first drawn.
    Folder {
        folder: Folder,
        rules: Rules,
        keeps_holes: bool,
        forecast: OnceLock<Forecast>,
    },
}

impl Total {
    fn get(&self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Known(total) => Some(*total),
            Self::Growing { bytes, is_whole } => {
                is_whole.load(Ordering::Acquire).then(|| bytes.load(Ordering::Relaxed))
            }
            Self::Folder { folder, rules, keeps_holes, forecast } => {
                forecast.get_or_init(|| Forecast::begin(folder.clone(), rules.clone(), *keeps_holes)).length()
            }
        }
    }
}

/// The progress of one file.
pub struct Progress {
    name: String,
    total: Total,
    done: AtomicU64,
    start: Instant,
    shows: bool,
    /// The next time to draw, in milliseconds after the start.
    due: AtomicU64,
    rate: Mutex<Rate>,
}

impl Progress {
    /// Starts the progress of `name`. `total` is the number of bytes, if it is known.
    pub fn new(name: &str, total: Option<u64>) -> Self {
        Self::to(name, total.map_or(Total::Unknown, Total::Known))
    }

    /// Starts the progress of packing a folder. With `keeps_holes`, the archive does not store holes as zeros.
    /// What the rules leave out does not count.
    pub fn of_folder(name: &str, folder: Folder, rules: &Rules, keeps_holes: bool) -> Self {
        Self::to(name, Total::Folder { folder, rules: rules.clone(), keeps_holes, forecast: OnceLock::new() })
    }

    /// Starts the progress of many objects. [`plan`](Self::plan) counts the bytes of the objects.
    pub fn of_many(name: &str) -> Self {
        Self::to(name, Total::Growing { bytes: AtomicU64::new(0), is_whole: AtomicBool::new(false) })
    }

    /// Adds bytes to process. `None` means that no more bytes follow.
    pub fn plan(&self, more: Option<u64>) {
        let Total::Growing { bytes, is_whole } = &self.total else { return };
        match more {
            Some(more) => _ = bytes.fetch_add(more, Ordering::Relaxed),
            None => is_whole.store(true, Ordering::Release),
        }
    }

    fn to(name: &str, total: Total) -> Self {
        Self {
            name: guarded(name, false).into_owned(),
            total,
            done: AtomicU64::new(0),
            start: Instant::now(),
            shows: io::stderr().is_terminal() && !is_quiet(),
            due: AtomicU64::new(0),
            rate: Mutex::default(),
        }
    }

    /// Hides the bar if `hidden` is set, since the bar would mix with data that are typed or shown on the terminal.
    pub fn hidden_if(mut self, hidden: bool) -> Self {
        self.shows &= !hidden;
        self
    }

    /// Counts processed bytes. Any thread may call this function.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if !self.shows {
            return;
        }
        let elapsed = self.start.elapsed();
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let due = self.due.load(Ordering::Relaxed);
        let next = now.saturating_add(PERIOD.as_millis() as u64);
        // One thread draws the bar, and the other threads continue their work.
        if now < due || self.due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let Some(mut rate) = self.rate.try_lock() else { return };
        rate.add(elapsed, done);
        if elapsed >= PATIENCE {
            // A folder can grow while it is packed.
            let total = self.total.get().map(|total| total.max(done));
            let line = line::line(columns(), &self.name, done, total, rate.per_second());
            let mut drawn = drawn();
            *drawn = true;
            write(&format!("{ERASE}{line}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        erase(&mut drawn());
    }
}

/// Erases the bar, and then runs `act`, which may write to the terminal.
pub fn without_bar<T>(act: impl FnOnce() -> T) -> T {
    let mut drawn = drawn();
    erase(&mut drawn);
    act()
}

fn erase(drawn: &mut bool) {
    if std::mem::take(drawn) {
        write(ERASE);
    }
}

fn write(text: &str) {
    #[expect(clippy::disallowed_methods, reason = "the name is escaped, and the rest moves the cursor")]
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the number of the terminal's columns, or 80 if it is unknown.
fn columns() -> usize {
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_col.into());
    #[cfg(windows)]
    let columns = imp::columns(std::os::windows::io::AsHandle::as_handle(&io::stderr()));
    columns.filter(|columns| *columns > 0).unwrap_or(80)
}
