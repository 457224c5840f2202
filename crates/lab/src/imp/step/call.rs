//! Calls a function on a separate stack. The stack pointer at the start is always the same, so that the addresses on
//! the stack are the same in each call.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(target_arch = "aarch64")]
use super::aarch64::switch::{Float, switch};
use super::memory::Mapping;
#[cfg(target_arch = "x86_64")]
use super::switch::{Float, switch};

/// The function to trace.
pub(crate) type Function<'f> = dyn FnMut(&mut [u8]) + 'f;

/// Size in bytes of the mapping for the traced call's stack.
const STACK: usize = 8 << 20;
/// The number of bytes above the first stack frame of the traced call. These bytes contain the arguments for
/// [`enter_call`]. An unwinder that searches for a caller may also read these bytes.
const SLACK: usize = 1 << 12;

/// How a call begins.
#[derive(Clone, Copy)]
pub(super) enum Start {
    Plain,
    /// The call is single-stepped.
    Trap,
    /// The call runs in the copy of the code that [`super::blocks`] makes.
    #[cfg(target_arch = "x86_64")]
    Copy,
}

/// The stack of traced calls.
pub(crate) struct Stage {
    stack: Mapping,
}

struct Call<'c> {
    run: &'c mut Function<'c>,
    input: &'c mut [u8],
    panic: Option<Box<dyn Any + Send>>,
}

impl Stage {
    pub(crate) fn new() -> Option<Self> {
        Mapping::new(STACK).map(|stack| Self { stack })
    }

    /// Calls the function without a trace.
    pub(crate) fn call(&mut self, run: &mut Function<'_>, input: &mut [u8]) {
        if let Some(panic) = self.enter(run, input, Start::Plain, &mut 0) {
            std::panic::resume_unwind(panic);
        }
    }

    /// Calls the function, and stores the return address of the call at `end`. If the function panics, returns the
    /// payload of the panic.
    pub(super) fn enter(
        &mut self,
        run: &mut Function<'_>,
        input: &mut [u8],
        start: Start,
        end: *mut u64,
    ) -> Option<Box<dyn Any + Send>> {
        // The [`Call`] value is at a fixed address instead of on the caller's stack, because a trace records the
        // address of each read, including reads of this value. SAFETY: both pointers are inside the mapping, are
        // multiples of 16 and have no other use. The bytes above the first stack frame have room for the description.
        let (top, call) = unsafe {
            (self.stack.start().add(STACK - SLACK), self.stack.start().add(STACK - SLACK / 2).cast::<Call<'_>>())
        };
        // SAFETY: the cast changes only the lifetime, and the code does not use the function after this call.
        let run = unsafe { std::mem::transmute::<&mut Function<'_>, &mut Function<'_>>(run) };
        // SAFETY: `top` is the end of a mapped stack. `call` is written before it is read, and is moved out only once.
        // `end` is writable. The caller has made all preparations for this value of `start`.
        unsafe {
            call.write(Call { run, input, panic: None });
            let float = Float::get();
            match start {
                Start::Plain => switch(top, call.cast(), false, end),
                Start::Trap => switch(top, call.cast(), true, end),
                #[cfg(target_arch = "x86_64")]
                Start::Copy => super::blocks::run::switch(top, call.cast(), end),
            }
            float.set();
            call.read().panic
        }
    }
}

/// Runs the call and catches its panic, because no panic may unwind through [`switch`].
///
/// # Safety
/// `data` must point to a [`Call`] that no other code uses during this function.
pub(super) unsafe extern "C" fn enter_call(data: *mut c_void) {
    // SAFETY: the caller guarantees that `data` points to a `Call` that no other code uses.
    let call = unsafe { &mut *data.cast::<Call<'_>>() };
    call.panic = catch_unwind(AssertUnwindSafe(|| (call.run)(call.input))).err();
}
