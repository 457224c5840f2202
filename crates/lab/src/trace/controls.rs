//! Traces the control functions: some of them must be reported as leaks, and others must not.

#[cfg(feature = "harness")]
use std::hint::black_box;

use super::{compare, leaks};
use crate::random::Random;
#[cfg(feature = "harness")]
use crate::record::Trace;
use crate::taint::control::{CONTROLS, Control, ControlResult, ControlSeen};

/// Traces functions that leak and functions that do not leak. Rows of the layer `trace` show whether the traces differ.
/// The row of the layer `division` shows whether the trace found a division by a secret.
#[must_use]
pub fn controls() -> Vec<ControlResult> {
    CONTROLS.iter().flat_map(rows).collect()
}

/// Traces a loop of about a hundred million instructions, to show how fast traces are.
#[cfg(feature = "harness")]
pub(crate) fn long() -> Trace {
    const TURNS: u64 = 25_000_000;
    compare(&[vec![1], vec![2]], &mut |_| {
        (0..TURNS).fold(0, |sum, turn| black_box(sum ^ turn));
    })
}

fn rows(control: &Control) -> Vec<ControlResult> {
    let mut random = Random::new(1);
    let inputs: Vec<Vec<u8>> = (0..8).map(|index| control.input(index, &mut random)).collect();
    // A trace runs the function only in other processes. This direct call of the function shows whether the processor
    // can execute it.
    let ran = (control.run)(&mut inputs[0].clone());
    let trace = compare(&inputs, &mut |input| {
        (control.run)(input);
    });
    let skipped = if ran { trace.skipped.clone() } else { Some(control.missing("this processor")) };
    let leak = leaks(&trace);
    let row = |layer, must_be_caught: bool, caught: bool| {
        let detail = skipped.clone().or_else(|| leak.clone().filter(|_| caught)).unwrap_or_default();
        // If the traces contain instructions but could not be compared, the layer has failed.
        let unclear = ran && skipped.is_some() && trace.instructions > 0;
        let caught = if unclear { Some(!must_be_caught) } else { skipped.is_none().then_some(caught) };
        ControlResult { name: control.name, layer, must_be_caught, caught, detail }
    };
    let divided = trace.variable_latency.iter().any(|instruction| instruction.secret);
    match control.seen {
        ControlSeen::Division => vec![row("trace", false, trace.divergence.is_some()), row("division", true, divided)],
        ControlSeen::Trace | ControlSeen::TraceAndTaint => vec![row("trace", true, trace.divergence.is_some())],
        ControlSeen::Nowhere => vec![row("trace", false, leak.is_some())],
    }
}
