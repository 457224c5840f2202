//! The reasons for which the audit reports an instruction.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    Jump,
    JumpTarget,
    Address,
    Division,
    Repeat,
    /// A secret is an argument of a library function whose time depends on that argument.
    Argument(String),
    /// A library function's time depends on the contents of memory.
    Library(String),
    CannotFollow(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jump => f.write_str("jump depends on a secret"),
            Self::JumpTarget => f.write_str("jump target depends on a secret"),
            Self::Address => f.write_str("address depends on a secret"),
            Self::Division => f.write_str("division, square root or x87 arithmetic of a secret"),
            Self::Repeat => f.write_str("repetition depends on a secret"),
            Self::Argument(name) => write!(f, "`{name}` is called with a secret length or address"),
            Self::Library(name) => write!(f, "`{name}` takes a time that depends on the data"),
            Self::CannotFollow(what) => write!(f, "cannot follow {what}"),
        }
    }
}

/// One finding: a reason and the instruction to which it applies. Findings are ordered by address for the report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) address: u64,
    /// The function that contains the instruction. The containing function may be a callee of the audited function.
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) reason: Reason,
}
