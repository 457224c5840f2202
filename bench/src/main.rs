//! Compares programs and functions with other programs and libraries: `scripts/bench NAME`. Each module is a table for
//! the engine of `deadpan-lab`. The engine runs all variants interleaved, checks their results, and writes the page.

#[allow(unsafe_code)]
mod barrier;
mod base64;
mod cells;
mod count;
mod ct;
mod floor;
mod ladder;
mod memory;
mod movable;
mod pad;
mod parts;
mod programs;

use std::process::ExitCode;

use deadpan_lab::harness::{self, Caller, NamedTable, Suite};
use deadpan_lab::speed::workload::Offer;

const TABLES: &[NamedTable] = &[
    ("floor", floor::offer),
    ("memory", memory::offer),
    ("parts", parts::offer),
    ("seal", programs::seal::offer),
    ("compress", programs::compress::offer),
    ("age", programs::pairs::age),
    ("signing", programs::pairs::signing),
    ("folder", programs::folder::offer),
    ("pictures", programs::pictures::offer),
    ("repair", programs::repair::offer),
    ("stores", programs::stores::offer),
    ("languages", programs::languages::offer),
];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("count") {
        return count::run(std::env::args().skip(2).collect());
    }
    let suite = Suite {
        name: "deadpan",
        version: env!("CARGO_PKG_VERSION"),
        caller: Caller::Script("scripts/bench"),
        timing: Vec::new,
        honest: Vec::new,
        speed: Vec::new,
        generations: Offer::default,
    };
    harness::tables(&suite, TABLES)
}
