//! Reads the names of audited functions, and decides for each function whether it passes.

use std::collections::BTreeSet;

use super::finding::{Finding, Reason};
use super::image::Image;
use super::machine::Machine;
use super::state::State;
use super::walk::{Listing, Walker};

/// What the audit must find in a function, by the prefix of the function's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// `ok_`: nothing may be found.
    Clean,
    /// `bad_`: something must be found; otherwise the audit is broken.
    Caught,
    /// `bad3_`: something must be found, but only at the level where the compiler optimizes fully.
    CaughtWhenOptimized,
}

#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) function: String,
    pub(crate) expected: Expectation,
    pub(crate) findings: BTreeSet<Finding>,
    pub(crate) first: Option<Finding>,
}

impl Verdict {
    /// Whether the leak was found. If the audit could not follow the function, the leak is regarded as not found.
    pub(crate) fn caught(&self) -> bool {
        self.findings.iter().any(|finding| !matches!(finding.reason, Reason::CannotFollow(_)))
    }

    pub(crate) fn passed(&self, fully_optimized: bool) -> bool {
        match self.expected {
            Expectation::Clean => self.findings.is_empty(),
            Expectation::Caught => self.caught(),
            Expectation::CaughtWhenOptimized => self.caught() || !fully_optimized,
        }
    }
}

/// Reads a name of the form `ok_NAME__ARGS`. `ARGS` has one letter for each integer argument: `s` for a secret
/// argument, `p` for a public argument.
pub(crate) fn parse_name(name: &str, machine: &Machine) -> Result<Option<(Expectation, State)>, String> {
    let expected = if name.starts_with("ok_") {
        Expectation::Clean
    } else if name.starts_with("bad_") {
        Expectation::Caught
    } else if name.starts_with("bad3_") {
        Expectation::CaughtWhenOptimized
    } else {
        return Ok(None);
    };
    let (_, letters) = name.rsplit_once("__").ok_or_else(|| {
        format!(
            "`{name}` does not say which arguments are secret\n\
            hint: end its name in `__` and one letter, s or p, for each"
        )
    })?;
    let mut state = State::at_entry(machine);
    if letters.len() > machine.arguments.len() {
        return Err(format!(
            "`{name}` has more than {} arguments\nhint: the audit knows only those in registers",
            machine.arguments.len()
        ));
    }
    for (letter, &register) in letters.chars().zip(machine.arguments) {
        match letter {
            's' => state.mark(register, true),
            'p' => {}
            other => {
                return Err(format!(
                    "`{name}` has the argument letter `{other}`\nhint: use s for secret and p for public"
                ));
            }
        }
    }
    Ok(Some((expected, state)))
}

/// Audits every exported function whose name begins with `ok_`, `bad_` or `bad3_`.
pub(crate) fn audit(image: &Image) -> Result<Vec<Verdict>, String> {
    let mut walker = Walker::new(image);
    let mut verdicts = Vec::new();
    for (name, address) in image.exports() {
        if let Some((expected, entry)) = parse_name(name, image.machine)? {
            let outcome = walker.audit(address, entry);
            verdicts.push(Verdict {
                function: name.to_owned(),
                expected,
                findings: outcome.findings.clone(),
                first: walker.first.clone(),
            });
        }
    }
    Ok(verdicts)
}

/// Lists one function and the callees that have a finding, with the state before each instruction.
pub(crate) fn listing(image: &Image, name: &str) -> Result<(Listing, BTreeSet<Finding>), String> {
    let unknown =
        || format!("no audited function `{name}`\nhint: give its full exported name, such as `ok_eq_u64__ss`");
    let (_, address) = image.exports().find(|(known, _)| *known == name).ok_or_else(unknown)?;
    let (_, entry) = parse_name(name, image.machine)?.ok_or_else(unknown)?;
    let mut walker = Walker::new(image);
    let (outcome, mut listing) = walker.audit_with_listing(address, entry);
    // The listing does not contain callees without a finding, because they would only make the listing longer.
    let function = |at: u64| image.function_at(at).map(|(start, _)| start);
    let shown: BTreeSet<_> =
        outcome.findings.iter().map(|finding| finding.address).chain([address]).filter_map(function).collect();
    listing.retain(|&at, _| function(at).is_some_and(|start| shown.contains(&start)));
    Ok((listing, outcome.findings.clone()))
}
