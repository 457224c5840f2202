//! The table that compares one generation of a program with the next generation. The table contains workloads on five
//! sets of files, and target rates.
//!
//! A program adds its own workloads. This module contains the workloads that need no other program, such as plain files
//! and arithmetic. These workloads show the highest rates of the machine, with which readers can compare the other
//! rates.

mod verdict;

pub use verdict::{AT_LIMIT, WANTED, judge};

use crate::speed::workload::{Action, Offer, Operation, Set, Shape, Subject, Way, Workload, kernel};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// All sets at their full size.
pub const SETS: [Set; 5] = [
    Set { name: "A", shape: Shape::File, bytes: 300 * MIB, rounds: None },
    Set { name: "B", shape: Shape::File, bytes: GIB, rounds: None },
    Set { name: "C", shape: Shape::File, bytes: 3 * GIB, rounds: None },
    Set { name: "D", shape: Shape::File, bytes: 10 * GIB, rounds: None },
    Set { name: "E", shape: Shape::Folder, bytes: 10 * GIB, rounds: None },
];

/// Returns the table with the workloads and kernels (timed functions) of this crate, followed by the workloads and
/// kernels of `more`.
#[must_use]
pub fn with_own(more: Offer) -> Offer {
    let mut offer = Offer { sets: SETS.to_vec(), workloads: workloads(), kernels: kernel::own(), ..Offer::default() };
    offer.workloads.extend(more.workloads);
    offer.kernels.extend(more.kernels);
    offer
}

fn workloads() -> Vec<Workload> {
    let numbers = |name, kernel| {
        Workload::new(name, Subject::Numbers, vec![Operation::new("compute")], vec![Way::own([Action::Kernel(kernel)])])
    };
    vec![
        numbers("integers", "numbers.integer"),
        numbers("floating point", "numbers.floating"),
        Workload::new(
            "plain file",
            Subject::File,
            vec![Operation::new("write"), Operation::new("read")],
            vec![
                Way::own([Action::Kernel("file.write"), Action::Kernel("file.read")]),
                Way::peer("cp, cat", [Action::Run("cp {in} {made}"), Action::Run("cat {made}")]),
            ],
        ),
    ]
}
