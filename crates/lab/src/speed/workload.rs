//! Measures whole workloads and shows the results in one table. The table contains the operations that a user waits
//! for, the same operations in other programs, and limits. A limit is a program that does only the minimum of work for
//! the same bytes.
//!
//! A workload is a data structure. A workload contains an input, operations on the input, the ways in which programs do
//! the operations, and goals for the measured figures. A table is an [`Offer`] of workloads. [`measure`] measures the
//! workloads of any table.
//!
//! ```
//! use deadpan_lab::speed::workload::{Action, Goal, Operation, Subject, Way, Workload};
//!
//! let gzip = Workload::new(
//!     "file, gzip",
//!     Subject::File,
//!     vec![Operation::new("pack").beat(300.0), Operation::new("unpack")],
//!     vec![
//!         Way::own([Action::Run("{self} pack -o {made} {in}"), Action::Run("{self} unpack -o {out} {made}")]),
//!         Way::limit("cp", [Action::Run("cp {in} {made}"), Action::Run("cp {made} {out}")]),
//!         Way::peer("pigz", [Action::Shell("pigz -c {in} > {made}"), Action::Shell("pigz -dc {made} > {out}")]),
//!     ],
//! )
//! .beside("cp")
//! .goal(Goal::times(2.0, "cp").in_part("pack"));
//! assert_eq!(gzip.ways[2].program(), "pigz");
//! ```

mod goal;
pub(crate) mod kernel;
mod measure;
mod sets;
mod tree;
mod workplace;

pub use goal::{Goal, beside, judge};
pub use kernel::{Done, Job, Kernel, Trouble, contents_of, threads};
pub use measure::{Plan, measure, variants};
pub use sets::{Contents, Files, Set, Shape};
pub use tree::{Entry, entries};
pub use workplace::Workplace;

use crate::record::{GenerationRow, Role};
use crate::watch::Watch;

/// The name of the variant in which the measured program runs on one core only.
pub const ONE_CORE: &str = "one core";
/// The name of the variant in which the measured program may use all cores. The lab compares target rates with this
/// variant.
pub const ALL_CORES: &str = "all cores";

/// A workload: operations on one input, and the ways in which programs do the operations.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name. The more general part comes first: `file, key`.
    pub name: &'static str,
    /// The kind of input.
    pub subject: Subject,
    /// One operation, or an operation and its inverse.
    pub operations: Vec<Operation>,
    /// The ways in which programs do the operations. The measured program comes first. Ratios are relative to the first
    /// row.
    pub ways: Vec<Way>,
    /// The names of the sets on which the workload runs. If the list is empty, the workload runs on all sets of its
    /// kind.
    pub sets: Vec<&'static str>,
    /// The lab compares the times of all other variants with the times of this variant, round by round.
    pub yardstick: Option<&'static str>,
    /// The lab compares the measured figures of the workload with these goals.
    pub goals: Vec<Goal>,
    /// The number of rounds. If `None`, the number of rounds depends on the set.
    pub rounds: Option<usize>,
}

impl Workload {
    /// Creates a workload that runs on all sets of its kind, without a yardstick and without goals.
    #[must_use]
    pub fn new(name: &'static str, subject: Subject, operations: Vec<Operation>, ways: Vec<Way>) -> Self {
        Self { name, subject, operations, ways, sets: Vec::new(), yardstick: None, goals: Vec::new(), rounds: None }
    }

    /// Sets the names of the sets on which the workload runs.
    #[must_use]
    pub fn on(self, sets: impl Into<Vec<&'static str>>) -> Self {
        Self { sets: sets.into(), ..self }
    }

    /// Sets the yardstick: the variant with which the lab compares all times.
    #[must_use]
    pub fn beside(self, variant: &'static str) -> Self {
        Self { yardstick: Some(variant), ..self }
    }

    /// Sets the number of rounds, for a workload that takes less time than other workloads on the same sets.
    #[must_use]
    pub fn rounds(self, rounds: usize) -> Self {
        Self { rounds: Some(rounds), ..self }
    }

    /// Adds a goal.
    #[must_use]
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goals.push(goal);
        self
    }
}

/// The kind of input of a workload. The kind of input determines the sets on which the workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Bytes in memory. A workload in memory needs two or three times as much memory as the set has bytes.
    Memory,
    /// No input. The output has the size of the set.
    Amount,
    /// No input and no output. Such a workload belongs to no set. For a kernel (a timed function) without input and
    /// output, the rate is the number of its operations per second.
    Numbers,
}

/// One direction of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name, for example `seal`.
    pub name: &'static str,
    /// The target rate, in the unit of the rows; `None` if there is no target rate for the operation.
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
    /// The name of the variant. For other programs and limits, the name begins with the name of the program. If the
    /// name is empty, the actions run the measured program, and the names of its variants are [`ONE_CORE`] and
    /// [`ALL_CORES`].
    pub name: &'static str,
    /// The role of this way in the table.
    pub role: Role,
    /// One action for each operation, in the same order.
    pub actions: Vec<Action>,
    /// A command line for `sh` that runs once before the lab measures these actions. The line is not timed.
    pub setup: Option<&'static str>,
    /// A command line for `sh` that runs after all measurements. The line is not timed.
    pub teardown: Option<&'static str>,
    /// A command line for `sh` that runs before each operation. The line is not timed.
    pub before: Option<&'static str>,
    /// A command line for `sh` that checks the results of the first round. The command line replaces the usual check,
    /// which compares the output with the input.
    pub check: Option<&'static str>,
    /// Whether the program runs on one core only.
    pub alone: bool,
}

impl Way {
    fn new(name: &'static str, role: Role, actions: Vec<Action>) -> Self {
        Self { name, role, actions, setup: None, teardown: None, before: None, check: None, alone: false }
    }

    /// Creates the usual [`Way`] of the measured program. The lab measures the program on one core and on all cores.
    #[must_use]
    pub fn own(actions: impl Into<Vec<Action>>) -> Self {
        Self::new("", Role::Own, actions.into())
    }

    /// Creates a named [`Way`] of the measured program, for a program that is measured in several ways.
    #[must_use]
    pub fn ours(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Own, actions.into())
    }

    /// Creates a limit: a program that does only the minimum of work for the same bytes.
    #[must_use]
    pub fn limit(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Limit, actions.into())
    }

    /// Creates a peer: another program for the same purpose.
    #[must_use]
    pub fn peer(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Peer, actions.into())
    }

    /// Sets a command line that `sh` runs once before the measurement, for example to create keys. The line is not
    /// timed.
    #[must_use]
    pub fn setup(self, line: &'static str) -> Self {
        Self { setup: Some(line), ..self }
    }

    /// Sets a command line that `sh` runs after all measurements, for example to stop an agent. The line is not timed.
    #[must_use]
    pub fn teardown(self, line: &'static str) -> Self {
        Self { teardown: Some(line), ..self }
    }

    /// Sets a command line that `sh` runs before each operation, for example to remove outputs that are outside of the
    /// folders of the run.
    #[must_use]
    pub fn before(self, line: &'static str) -> Self {
        Self { before: Some(line), ..self }
    }

    /// Sets a command line that `sh` runs after all operations of the first round. This command line must fail if a
    /// result is wrong.
    #[must_use]
    pub fn check(self, line: &'static str) -> Self {
        Self { check: Some(line), ..self }
    }

    /// Restricts the program to one core.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Returns the name of the program that must be installed. The first word of `Way::name` is the name of this
    /// program.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.name.split([' ', ',']).next().unwrap_or_default()
    }
}

/// An action that does an operation.
///
/// The lab replaces words in braces: `{self}` by the measured program's path, `{in}` by the input, `{made}` by the
/// output of the first operation, `{out}` by the output of the last operation, `{parent}` and `{name}` by the folder
/// and the name of the input, `{bytes}` by the size of the input, `{keys}` by a folder for keys, `{passphrase}` by a
/// file with a passphrase, `{result}` by the file of [`Action::Told`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A program with its arguments. The line is split at spaces.
    Run(&'static str),
    /// A line for `sh -c`.
    Shell(&'static str),
    /// The name of a [`Kernel`]. The kernel (a timed function) runs in its own process, but only the time of its work
    /// is measured.
    Kernel(&'static str),
    /// A command line for `sh -c` that runs a kernel (a timed function) in another language. The timed function works
    /// on `{bytes}` bytes. The function writes the duration of its work in nanoseconds, without the preparation, to the
    /// file `{result}`. The timed function also checks the result of its work.
    Told(&'static str),
}

/// Measures functions in this process. The arguments are the plan, the watch that may stop the measurement, and a
/// function that shows rows. The result contains one row for each function, and notes. The lab measures only functions
/// whose name contains one of the texts in `plan.only`.
pub type Functions = fn(&Plan, &mut dyn Watch, &mut dyn FnMut(&[GenerationRow])) -> Result<Measured, Trouble>;

/// The rows of the table for functions, and notes about these rows.
pub type Measured = (Vec<GenerationRow>, Vec<String>);

/// The content of a table: its workloads, its functions, and the kernels that the workloads use.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The title of the page.
    pub title: &'static str,
    /// The facts that a reader of the page has to know.
    pub about: &'static str,
    /// The sets, in the order of the table.
    pub sets: Vec<Set>,
    /// The workloads, in the order of the table.
    pub workloads: Vec<Workload>,
    /// The kernels whose names the workloads contain.
    pub kernels: Vec<Kernel>,
    /// Functions that are measured after the workloads.
    pub functions: Option<Functions>,
    /// The lab compares the measured figures of the functions with these goals.
    pub goals: Vec<Goal>,
    /// Command lines for `sh`. Each command line prints a note for the page, for example the version of a program.
    pub facts: Vec<&'static str>,
}
