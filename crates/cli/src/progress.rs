//! A bar with rate and time left, on a terminal, once something takes more than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shorter work is done before a bar is understood.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far one file is.
pub struct Progress {
    name: String,
    /// Bytes in the whole, where that is known.
    total: Option<u64>,
    done: AtomicU64,
    start: Instant,
    shows: bool,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub fn new(name: &str, total: Option<u64>) -> Self {
        let shows = std::io::stderr().is_terminal();
        Self { name: name.to_owned(), total, done: AtomicU64::new(0), start: Instant::now(), shows, bar: OnceLock::new() }
    }

    /// So many bytes more are done; any thread may say so.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.shows && self.start.elapsed() >= PATIENCE {
            self.bar.get_or_init(|| self.draw(done)).set_position(done);
        }
    }

    fn draw(&self, done: u64) -> ProgressBar {
        let template = match self.total {
            Some(_) => "{msg} [{bar:30}] {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta} left",
            None => "{msg} {bytes}, {binary_bytes_per_sec}",
        };
        // No colours: there is nothing for NO_COLOR to take away.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr_with_hz(4));
        bar.with_style(style).with_message(self.name.clone()).with_position(done).with_elapsed(self.start.elapsed())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
