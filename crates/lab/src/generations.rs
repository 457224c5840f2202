//! One table of whole workloads, from generation to generation of a program: what a user waits for, beside what a user would run instead,
//! beside the least that has to be done with the same bytes.
//!
//! A workload is data: what it works on, its operations, and the ways to do them. This module brings those that need nothing else (files,
//! arithmetic); whoever has a program of their own adds theirs, a row each.
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

/// The variants of a way that is one's own.
pub const ONE_CORE: &str = "one core";
/// The other one; this is the one that is judged.
pub const ALL_CORES: &str = "all cores";

/// Something to be done, and the ways to do it.
#[derive(Clone, Debug)]
pub struct Workload {
    /// From the general to the special: `file, key`.
    pub name: &'static str,
    /// What it works on.
    pub subject: Subject,
    /// One, or one and its inverse.
    pub operations: Vec<Operation>,
    /// The first are one's own; rates are given as multiples of the first row's.
    pub ways: Vec<Way>,
}

/// What a workload works on, and so in which sets it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Bytes in memory: two or three times as many as the set has.
    Memory,
    /// Nothing; so many bytes come out.
    Amount,
    /// Numbers; no set at all.
    Numbers,
}

/// One direction of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// `seal`.
    pub name: &'static str,
    /// The rate to beat, in the unit of the rows.
    pub beat: Option<f64>,
}

impl Operation {
    /// With nothing to beat.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, beat: None }
    }

    /// With a rate to beat.
    #[must_use]
    pub fn beat(self, rate: f64) -> Self {
        Self { beat: Some(rate), ..self }
    }
}

/// One way to do all operations of a workload.
#[derive(Clone, Debug)]
pub struct Way {
    /// The variant's name, beginning with the program; nothing in one's own, whose variants are [`ONE_CORE`] and [`ALL_CORES`].
    pub name: &'static str,
    /// What it is here for.
    pub role: Role,
    /// For each operation, in their order.
    pub actions: Vec<Action>,
    /// A line for `sh`, once and off the clock, before the first run.
    pub setup: Option<&'static str>,
    /// Likewise when everything is over.
    pub teardown: Option<&'static str>,
}

impl Way {
    fn new(name: &'static str, role: Role, actions: Vec<Action>) -> Self {
        Self { name, role, actions, setup: None, teardown: None }
    }

    /// What is measured: on one core, and on all.
    #[must_use]
    pub fn own(actions: impl Into<Vec<Action>>) -> Self {
        Self::new("", Role::Own, actions.into())
    }

    /// The least that has to be done with the same bytes.
    #[must_use]
    pub fn limit(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Limit, actions.into())
    }

    /// What a user would run instead.
    #[must_use]
    pub fn peer(name: &'static str, actions: impl Into<Vec<Action>>) -> Self {
        Self::new(name, Role::Peer, actions.into())
    }

    /// Run by `sh` once before the first run, off the clock: makes keys, say.
    #[must_use]
    pub fn setup(self, line: &'static str) -> Self {
        Self { setup: Some(line), ..self }
    }

    /// Run by `sh` when everything is over: ends agents, say.
    #[must_use]
    pub fn teardown(self, line: &'static str) -> Self {
        Self { teardown: Some(line), ..self }
    }

    /// The program that has to be installed: the first word of the name.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.name.split([' ', ',']).next().unwrap_or_default()
    }
}

/// How an operation is done. Words in braces stand for places: `{self}` this program, `{in}` what is worked on, `{made}` what the first
/// operation makes of it, `{out}` what the second makes of that, `{parent}` and `{name}` of what is worked on, `{bytes}` its size, `{keys}`
/// a folder for keys, `{passphrase}` a file with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A program with arguments, split at spaces.
    Run(&'static str),
    /// A line for `sh -c`.
    Shell(&'static str),
    /// A function, timed by itself, in a process of its own.
    Kernel(&'static str),
}

/// Everything that a table is made of.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// In the order of the table.
    pub workloads: Vec<Workload>,
    /// What the workloads' kernels are.
    pub kernels: Vec<Kernel>,
}

impl Offer {
    /// What this crate brings, and then `more`.
    #[must_use]
    pub fn with_own(more: Self) -> Self {
        let mut offer = Self { workloads: plain::workloads(), kernels: kernel::own() };
        offer.workloads.extend(more.workloads);
        offer.kernels.extend(more.kernels);
        offer
    }
}
