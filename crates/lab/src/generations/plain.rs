//! What needs no program of one's own: files without anything done to them, and arithmetic. The other figures are read against these.

use super::{Action, Operation, Subject, Way, Workload};

/// In the order of the table.
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
