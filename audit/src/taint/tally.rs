//! Runs the cases and counts their results.

use core::fmt;
use std::process::ExitCode;

use deadpan_ct::imp::valgrind::errors;

#[derive(Default)]
pub(crate) struct Tally {
    passed: u32,
    failed: u32,
    blind: bool,
}

impl Tally {
    /// Runs a case whose result must be right, and for which Valgrind must report nothing.
    pub(crate) fn case(&mut self, name: fmt::Arguments<'_>, run: impl FnOnce() -> bool) {
        self.examine(name, 0, run);
    }

    /// Runs a case whose result must be right, and for which Valgrind must report one documented jump. The tested
    /// function cannot declassify the condition of this jump.
    pub(crate) fn disclosing(&mut self, name: fmt::Arguments<'_>, run: impl FnOnce() -> bool) {
        self.examine(name, 1, run);
    }

    fn examine(&mut self, name: fmt::Arguments<'_>, allowed: u64, run: impl FnOnce() -> bool) {
        let before = errors();
        let right = run();
        let reports = errors() - before;
        self.count(right && reports <= allowed);
        if reports > allowed {
            println!("FAILED {name}: {reports} reports");
        }
        if !right {
            println!("FAILED {name}: the result is wrong");
        }
    }

    /// Runs a case for which Valgrind must report a leak.
    pub(crate) fn leak(&mut self, name: &str, run: impl FnOnce()) {
        let before = errors();
        run();
        let seen = errors() > before;
        self.count(seen);
        self.blind |= !seen;
        println!("control {name}: {}", if seen { "seen" } else { "NOT SEEN" });
    }

    pub(crate) fn finish(&self) -> ExitCode {
        if self.blind {
            println!("the taint test is broken: a known leak was not reported");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn count(&mut self, good: bool) {
        if good {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}
