//! The table of the basic crates: compares ct, base64 and pad with other libraries.

use crate::cells::Cells;
use crate::{base64, ct, ladder, pad};
use deadpan_lab::Watch;
use deadpan_lab::record::GenerationRow;
use deadpan_lab::speed::workload::{Goal, Measured, Offer, Plan, Trouble};

const ABOUT: &str = "\
Each cell runs its functions interleaved on one core: many rounds of 25 µs for each. *No promise*: the function does not
claim constant time. *Leaks*: it is known to leak through time. *Loop alone*: the loop with its loads and barriers but
without a call; every other row of the cell includes this time. The lower levels of the CPU come from a binary built
with `--cfg deadpan_test`, which also marks declassified values for Valgrind.";

const LEAKING: &str = "memcmp, leaks";
const TURBO: &str = "base64-turbo, no promise";

/// Returns the table.
pub fn offer(_quick: bool) -> Offer {
    Offer {
        title: "ct, base64 and pad beside other libraries",
        about: ABOUT,
        functions: Some(run),
        goals: vec![
            Goal::fastest_peer(1.05).in_part("ct, "),
            Goal::times(1.1, LEAKING).in_part("ct, eq [u8], 1024 bytes"),
            Goal::seconds(32e-9).in_part("ct, assign [u8], 1024 bytes"),
            Goal::seconds(0.70e-9).in_part("ct, eq u64"),
            Goal::seconds(0.80e-9).in_part("ct, eq u128"),
            Goal::times(1.0 / 30.0, "base64ct").in_part("base64, encode 16 KiB"),
            Goal::times(1.0 / 90.0, "base64ct").in_part("base64, decode 16 KiB"),
            Goal::times(1.0 / 1.3, TURBO).in_part("base64, ").at(0..=256),
            Goal::times(1.0, TURBO).in_part("base64, encode 16 KiB"),
            Goal::times(1.0, TURBO).in_part("base64, decode 16 KiB"),
            Goal::times(1.0, TURBO).in_part("base64, ").at(1 << 20..=u64::MAX),
            Goal::times(1.0 / 1.8, "base64-simd, no promise").in_part("avx2 only"),
            Goal::seconds(8e-9).in_part("pad, pad_"),
            Goal::seconds(12e-9).in_part("pad with random bytes, pad_"),
            Goal::seconds(4e-9).in_part(", unpad "),
            Goal::alike(0.02, ", 1 pad byte", ", 15 pad bytes"),
            Goal::alike(0.02, ", 8 pad bytes", ", 8 pad bytes, invalid"),
        ],
        ..Offer::default()
    }
}

fn run(plan: &Plan, watch: &mut dyn Watch, show: &mut dyn FnMut(&[GenerationRow])) -> Result<Measured, Trouble> {
    let level = deadpan_ct::cpu::level().name();
    if let Some(wanted) = std::env::var_os("DEADPAN_CPU").filter(|wanted| wanted != level) {
        return Err(format!("asked for level {}, but this CPU or build gives {level}", wanted.display()).into());
    }
    let mut cells = Cells::new(plan, watch, show);
    cells.notes.push(match stay() {
        Some(core) => format!("level {level}, pinned to core {core}"),
        None => format!("level {level}, not pinned to a core"),
    });
    functions(&mut cells);
    cells.finish()
}

/// Gives every cell to `cells`.
pub fn functions(cells: &mut Cells<'_>) {
    ct::run(cells);
    base64::run(cells);
    ladder::run(cells);
    pad::run(cells);
}

/// macOS has no function that pins a thread.
#[cfg(not(target_os = "linux"))]
fn stay() -> Option<usize> {
    None
}

/// Pins the process to its present core, so that the process does not move to another core during a round. Returns
/// `None` if the system does not allow pinning.
#[cfg(target_os = "linux")]
fn stay() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    let core = sched_getcpu();
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).ok().map(|()| core)
}
