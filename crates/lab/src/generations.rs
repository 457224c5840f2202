//! Measures whole workloads and collects them in one table, so that one generation of a program can be compared with
//! the next. The table has the operations that a user waits for, other programs for the same purpose, and the least
//! work that the same bytes need.
//!
//! A workload is data: its input, its operations, and the ways to do them. This module has the workloads that need no
//! program (files, arithmetic). A program adds its own workloads, one value each.
//!
//! ```
//! use deadpan_lab::generations::{Action, Operation, Subject, Way, Workload};
//!
//! let gzip = Workload {
//!     name: "file, gzip",
//!     subject: Subject::File,
//!     operations: vec![Operation::new("pack").beat(300.0), Operation::new("unpack")],
//!     ways: vec![
//!         Way::own([Action::Run("{self} pack -o {made} {in}"), Action::Run("{self} unpack -o {out} {made}")]),
//!         Way::limit("cp", [Action::Run("cp {in} {made}"), Action::Run("cp {made} {out}")]),
//!         Way::peer("pigz", [Action::Shell("pigz -c {in} > {made}"), Action::Shell("pigz -dc {made} > {out}")]),
//!     ],
//! };
//! assert_eq!(gzip.ways[2].program(), "pigz");
//! ```

mod kernel;
mod measure;
mod plain;
mod sets;
mod tree;
mod verdict;
mod workplace;

pub use kernel::{Done, Job, Kernel, Trouble, contents_of, own as own_kernels, threads};
pub use measure::{Plan, measure, variants};
pub use plain::workloads as own_workloads;
pub use sets::{Contents, SETS, Set, Shape};
pub use tree::{Entry, entries};
pub use verdict::{AT_LIMIT, WANTED, judge};
pub use workplace::Workplace;

use crate::record::Role;

/// The variant of the program's own way that is kept on one core.
pub const ONE_CORE: &str = "one core";
/// The variant of the program's own way that may use all cores. Target rates are compared with this variant.
pub const ALL_CORES: &str = "all cores";

/// A workload: operations on one input, and the ways to do them.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name, from the general to the special: `file, key`.
    pub name: &'static str,
    /// The kind of input.
    pub subject: Subject,
    /// One operation, or an operation and its inverse.
    pub operations: Vec<Operation>,
    /// The ways to do the operations, the program's own way first. Ratios are relative to the first row.
    pub ways: Vec<Way>,
}

/// The kind of input of a workload, which decides the sets that it runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Bytes in memory. Such a workload needs two or three times as much memory as the set has bytes.
    Memory,
    /// No input. The output has the size of the set.
    Amount,
    /// Arithmetic on numbers. Such a workload belongs to no set.
    Numbers,
}

/// One direction of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name, for example `seal`.
    pub name: &'static str,
    /// The target rate, in the unit of the rows; `None` if the operation is not judged.
    pub beat: Option<f64>,
}

impl Operation {
    /// Creates an operation without a target rate.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, beat: None }
    }

    /// Sets the target rate.
    #[must_use]
    pub fn beat(self, rate: f64) -> Self {
        Self { beat: Some(rate), ..self }
    }
}

/// One way to do all operations of a workload.
#[derive(Clone, Debug)]
pub struct Way {
    /// The variant's name, which begins with the name of the program. It is empty for the program's own way, whose
    /// variants are [`ONE_CORE`] and [`ALL_CORES`].
    pub name: &'static str,
    /// The role of this way in the table.
    pub role: Role,
    /// One action for each operation, in the same order.
    pub actions: Vec<Action>,
    /// A line for `sh` that runs once before this way is measured, and is not timed.
    pub setup: Option<&'static str>,
    /// A line for `sh` that runs when all measurements are over, and is not timed.
    pub teardown: Option<&'static str>,
}

impl Way {
    fn new(name: &'static str, role: Role, actions: Vec<Action>) -> Self {
        Self { name, role, actions, setup: None, teardown: None }
    }

    /// Creates the program's own way, which is measured on one core and on all cores.
    #[must_use]
    pub fn own(actions: impl Into<Vec<Action>>) -> Self {
        Self::new("", Role::Own, actions.into())
    }

    /// Creates a limit: the least work that the same bytes need.
    #[must_use]
    pub fn limit(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Limit, actions.into())
    }

    /// Creates a peer: another program for the same purpose.
    #[must_use]
    pub fn peer(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Peer, actions.into())
    }

    /// Adds a line that `sh` runs once before this way is measured, for example to make keys. The line is not timed.
    #[must_use]
    pub fn setup(self, line: &'static str) -> Self {
        Self { setup: Some(line), ..self }
    }

    /// Adds a line that `sh` runs when all measurements are over, for example to stop an agent. The line is not timed.
    #[must_use]
    pub fn teardown(self, line: &'static str) -> Self {
        Self { teardown: Some(line), ..self }
    }

    /// Returns the program that must be installed: the first word of the name.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.name.split([' ', ',']).next().unwrap_or_default()
    }
}

/// How an operation is done.
///
/// Words in braces are replaced: `{self}` by this program's path, `{in}` by the input, `{made}` by the output of the
/// first operation, `{out}` by the output of the second operation, `{parent}` and `{name}` by the folder and the name
/// of the input, `{bytes}` by the size of the input, `{keys}` by a folder for keys, `{passphrase}` by a file with a
/// passphrase, `{result}` by the file of [`Action::Told`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A program with its arguments. The line is split at spaces.
    Run(&'static str),
    /// A line for `sh -c`.
    Shell(&'static str),
    /// The name of a [`Kernel`]. The kernel runs in its own process, and only its work is timed.
    Kernel(&'static str),
    /// A line for `sh -c`, for the kernel of another language. It writes the nanoseconds that its work on `{bytes}`
    /// bytes took, without preparation, to `{result}`, and checks the result of the work itself.
    Told(&'static str),
}

/// The workloads of a table, and the kernels that they need.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The workloads, in the order of the table.
    pub workloads: Vec<Workload>,
    /// The kernels that the workloads name.
    pub kernels: Vec<Kernel>,
}

impl Offer {
    /// Returns the workloads and kernels of this crate, followed by those of `more`.
    #[must_use]
    pub fn with_own(more: Self) -> Self {
        let mut offer = Self { workloads: plain::workloads(), kernels: kernel::own() };
        offer.workloads.extend(more.workloads);
        offer.kernels.extend(more.kernels);
        offer
    }
}
