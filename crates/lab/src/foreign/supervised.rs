//! Runs a library's function in a second process. If this process fails, an error describes how the process ended.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use super::Error;
use crate::imp::convention::{Convention, RULES};
use crate::imp::notes::{Notes, Phase, notes};
use crate::imp::supervise::{self, CHANGES, End, signal_name};

/// Runs `work` in a second process. `work` returns an exit code. If the second process did not complete the work, the
/// error describes how the process ended, even if its exit code was 0. If the second process ignores a signal to end,
/// the lab kills the process, and the function returns no exit code. The lab also kills the second process if it makes
/// no progress for the time `patience`.
pub(crate) fn supervised(
    path: &Path,
    symbol: &str,
    patience: Duration,
    work: impl FnOnce() -> u8,
) -> Result<Option<u8>, Error> {
    let fault = |why: String| Error::Function { path: path.to_owned(), symbol: symbol.to_owned(), why };
    let end = supervise::run(patience, work)
        .map_err(|error| fault(format!("the system refuses a process for the library: {error}")))?;
    let Some(notes) = notes() else { return Err(fault("the system refuses memory".to_owned())) };
    let how = match end {
        End::Complete(code) => return completed(notes, code).map(Some).map_err(fault),
        End::Deaf => return Ok(None),
        End::Exited(code) => format!("ended the process with exit code {code}"),
        End::Killed(signal) => format!("the process was killed by {}", signal_name(signal)),
        End::Stopped(signal) => format!("the process was stopped by {}", signal_name(signal)),
        End::Late => format!("it did not return within {} s", patience.as_secs_f64()),
    };
    Err(match notes.phase() {
        None | Some(Phase::Load) => {
            Error::Library { path: path.to_owned(), why: format!("{how}, while its constructors ran") }
        }
        Some(Phase::Trial | Phase::Measurement) => fault(format!("{how}{}; the run shows nothing", during(notes))),
    })
}

/// Returns the exit code of a run. Returns an error if the library's function did something that makes the results
/// invalid.
fn completed(notes: &Notes, code: u8) -> Result<u8, String> {
    // A run with exit code 2 has already printed its error message.
    if code == 2 && !notes.silent() {
        return Ok(code);
    }
    let spoiled = "; the results above do not count";
    if notes.copied() {
        return Err(format!("in some calls it starts a process with `fork` and returns in both processes{spoiled}"));
    }
    match notes.broken_rule() {
        Some(rule) => {
            let what = RULES.iter().chain(&CHANGES).nth(rule).copied().unwrap_or_default();
            Err(format!("in some calls {what}{spoiled}"))
        }
        None => Ok(code),
    }
}

/// Returns the names of the classes whose inputs the lab used shortly before the process ended.
fn during(notes: &Notes) -> String {
    let names: Vec<String> = notes.drawn().iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((name, [])) => format!(" during calls with inputs of the class {name}"),
        Some((last, names)) => format!(" during calls with inputs of the classes {} and {last}", names.join(", ")),
    }
}

/// Writes to the shared notes that this process begins to load a library. If another process waits for this process,
/// returns the shared memory in which both processes keep notes.
pub(crate) fn begin() -> Option<&'static Notes> {
    notes().inspect(|notes| notes.enter(Phase::Load))
}

/// Writes the names of the classes to the memory that the waiting process can read.
pub(super) fn note_classes<'n>(names: impl Iterator<Item = &'n str>) {
    if let Some(notes) = notes() {
        notes.name_classes(names);
    }
}

thread_local! {
    /// The processor state before the first call: the library's function must preserve this state.
    static CONVENTION: Cell<Option<Convention>> = const { Cell::new(None) };
}

/// Records the class of the next input, and restores processor state that the function should have restored. No
/// measurement runs at this time.
pub(super) fn between_calls(class: usize) {
    let Some(notes) = notes() else { return };
    notes.draw(class);
    let convention = CONVENTION.get().unwrap_or_else(|| {
        let now = Convention::read();
        CONVENTION.set(Some(now));
        now
    });
    if let Some(rule) = convention.broken() {
        convention.restore();
        notes.note_broken(rule);
    }
}
