//! Workloads that need no other program: plain files and arithmetic. They show what the machine can do, and so give a
//! scale for the figures of the other workloads.

use super::{Action, Operation, Subject, Way, Workload};

/// Returns the workloads of this crate, in the order of the table.
#[must_use]
pub fn workloads() -> Vec<Workload> {
    let numbers = |name, kernel| Workload {
        name,
        subject: Subject::Numbers,
        operations: vec![Operation::new("compute")],
        ways: vec![Way::own([Action::Kernel(kernel)])],
    };
    vec![
        numbers("integers", "numbers.integer"),
        numbers("floating point", "numbers.floating"),
        Workload {
            name: "plain file",
            subject: Subject::File,
            operations: vec![Operation::new("write"), Operation::new("read")],
            ways: vec![
                Way::own([Action::Kernel("file.write"), Action::Kernel("file.read")]),
                Way::peer("cp, cat", [Action::Run("cp {in} {made}"), Action::Run("cat {made}")]),
            ],
        },
    ]
}
