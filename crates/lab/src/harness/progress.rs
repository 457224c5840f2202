//! The progress bar, and the handling of Ctrl-C. The first Ctrl-C ends the run, and the run reports its results so far.
//! The second Ctrl-C ends the program.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::is_quiet;
use crate::cleanup;
use crate::visible::visible;
use crate::watch::Watch;

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// The lab treats two signals within this time as one press of Ctrl-C.
const TWICE: Duration = Duration::from_millis(150);

/// Returns whether Ctrl-C was pressed.
pub(super) fn interrupted() -> bool {
    let interrupted = INTERRUPTS.load(Ordering::Relaxed) > 0;
    #[cfg(unix)]
    if let Some(notes) = crate::imp::notes::notes() {
        notes.notice(interrupted);
    }
    interrupted
}

pub(super) struct Progress {
    bar: ProgressBar,
    /// The total number of steps of the finished parts.
    before: u64,
}

impl Progress {
    /// The bar is hidden if standard error is not a terminal.
    pub(super) fn new(steps: u64) -> Self {
        static HANDLER: OnceLock<()> = OnceLock::new();
        HANDLER.get_or_init(|| {
            // Without a signal handler, Ctrl-C would end the program at once, and the program would report no results
            // and remove no folders.
            let mut last: Option<Instant> = None;
            let _ = ctrlc::set_handler(move || {
                // One Ctrl-C may cause two signals in this process. The terminal sends the signal to both processes of
                // the lab, and the waiting process forwards the signal to the measuring process.
                if last.replace(Instant::now()).is_some_and(|last| last.elapsed() < TWICE) {
                    return;
                }
                if INTERRUPTS.fetch_add(1, Ordering::Relaxed) > 0 {
                    cleanup::exit(130);
                }
            });
        });
        let target = if std::io::stderr().is_terminal() && !is_quiet() {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {percent:>3} %, {eta} left  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(steps), target).with_style(style);
        Self { bar, before: 0 }
    }

    /// Advances the bar by the steps of a finished part.
    pub(super) fn advance(&mut self, steps: u64) {
        self.before += steps;
        self.bar.set_position(self.before);
    }

    /// Prints a line above the bar.
    pub(super) fn line(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Removes the bar from the terminal.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn progress(&mut self, what: &str, done: u64, _of: u64) {
        self.bar.set_message(visible(what).into_owned());
        self.bar.set_position(self.before + done);
    }

    fn stopped(&self) -> bool {
        interrupted()
    }
}
