//! Traces on AArch64. No processor feature lets a process interrupt itself after each instruction, so a second process
//! does so with the system call `ptrace`.

pub(crate) mod exclusive;
mod registers;
pub(super) mod switch;
pub(crate) mod trap;

pub(crate) use registers::Registers;
pub(crate) use trap::Trap;

use super::call::{Function, Stage};
use super::{Step, Stop};

/// The engine that copies code, which does not exist for AArch64.
pub(crate) enum Engine {}

impl Engine {
    pub(crate) fn new() -> Option<Box<Self>> {
        None
    }

    pub(crate) fn record(
        &mut self,
        _step: &mut dyn Step,
        _stage: &mut Stage,
        _run: &mut Function<'_>,
        _input: &mut [u8],
    ) -> Result<(), Stop> {
        match *self {}
    }
}
