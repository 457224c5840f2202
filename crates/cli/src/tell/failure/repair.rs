//! Failures of repairing, with advice on each failure.

use super::{Exit, Failure};
use crate::tell::progress::amount;
use deadpan_repair::{Error, Fault};

impl Failure {
    /// Returns the failure for an error about a file or about its sidecar, which is also the name of a new sidecar.
    pub fn repair(file: &str, sidecar: &str, error: Error) -> Self {
        let hint = match error {
            Error::Read(error) => return Self::io("read", file, &error),
            Error::ReadSidecar(error) => return Self::io("read", sidecar, &error),
            Error::Write(error) => return Self::io("write", sidecar, &error),
            Error::NotSidecar => {
                let hint = "check the name; recovery data are made while a file is whole: deadpan repair make";
                return Self::new(Exit::Data, error.to_string(), hint).about(sidecar);
            }
            Error::Newer(_) => {
                return Self::new(Exit::Data, error.to_string(), "a newer deadpan may use them").about(sidecar);
            }
            Error::Foreign => {
                let message = format!(
                    "{sidecar} was not made for {file}, or {file} was replaced later: no part of the two fits together"
                );
                let hint = format!("if {file} is whole, make new recovery data: deadpan repair make --force {file}");
                return Self::new(Exit::Data, message, hint);
            }
            Error::TooMuch { missing, available } => return Self::too_much(file, missing, available),
            Error::Contradiction => {
                "nothing was kept; wait until nobody writes to the file, and check that the recovery data belong to it"
            }
            Error::Percent => "10 is usual",
            Error::TooLong => "divide it: split -b 1T FILE",
            _ => "wait until nobody writes to it",
        };
        Self::new(Exit::from(error.fault()), error.to_string(), hint).about(file)
    }

    fn too_much(file: &str, missing: u64, available: u64) -> Self {
        let (lost, left) = (amount(missing), amount(available));
        let message = if missing > available {
            format!("{file}: too much is damaged: {lost} are missing, and there are only {left} of recovery data")
        } else {
            format!(
                "{file}: too much is damaged: {lost} are missing, and the {left} of recovery data are not enough in \
                 all places"
            )
        };
        Self::new(
            Exit::Data,
            message,
            "get another copy, or check that these recovery data belong to it; `deadpan open --keep-going` opens the \
             rest of a sealed file",
        )
    }
}

impl From<Fault> for Exit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Data => Self::Data,
            Fault::Caller => Self::Usage,
            Fault::System => Self::System,
        }
    }
}
