//! The registers and the memory of the process that runs the traced call, before an instruction.

use std::cell::Cell;
use std::marker::PhantomData;

/// The general registers, in the layout of the kernel (`user_pt_regs`): X0 to X30, the stack pointer, the address of
/// the next instruction, and the flags.
pub(super) const WORDS: usize = 34;
const SP: usize = 31;
const PC: usize = 32;
/// The numbers of the kernel for the sets of registers: general registers, and vector registers.
const GENERAL: usize = 1;
const VECTOR: usize = 2;
/// The vector registers, in the layout of the kernel (`user_fpsimd_state`): V0 to V31, and two words with settings.
const VECTOR_WORDS: usize = 66;

/// The registers of a stopped process.
pub(crate) struct Registers<'p> {
    pub(super) process: libc::pid_t,
    words: [u64; WORDS],
    /// The vector registers. Few instructions need them, so they are read when they are needed.
    vectors: Cell<Option<[u64; VECTOR_WORDS]>>,
    lifetime: PhantomData<&'p ()>,
}

impl Registers<'_> {
    /// Reads the registers of a process that this process traces and that has stopped.
    pub(super) fn of(process: libc::pid_t) -> Option<Self> {
        let words = set(process, GENERAL)?;
        Some(Self { process, words, vectors: Cell::new(None), lifetime: PhantomData })
    }

    /// Writes the changed general registers to the process.
    pub(super) fn write(&self) -> bool {
        let mut words = self.words;
        let part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
        ptrace(libc::PTRACE_SETREGSET as _, self.process, GENERAL, (&raw const part).expose_provenance())
    }

    pub(crate) fn pc(&self) -> u64 {
        self.words[PC]
    }

    pub(super) fn set_pc(&mut self, address: u64) {
        self.words[PC] = address;
    }

    /// Returns a general register, or zero for number 31, which is the zero register.
    pub(crate) fn general(&self, number: usize) -> u64 {
        if number < SP { self.words[number] } else { 0 }
    }

    pub(super) fn set_general(&mut self, number: usize, value: u64) {
        if number < SP {
            self.words[number] = value;
        }
    }

    /// Returns the register with the base of an address: number 31 is the stack pointer.
    pub(crate) fn base(&self, number: usize) -> u64 {
        self.words[number & 31]
    }

    /// Returns word `index` of the 128 bits of a vector register.
    pub(crate) fn vector(&self, number: usize, index: usize) -> u64 {
        let words = self.vectors.get().or_else(|| set(self.process, VECTOR));
        self.vectors.set(words);
        words.map_or(0, |words| words[(number & 31) * 2 + (index & 1)])
    }

    /// Returns the number and the arguments of a system call, if the next instruction is a system call.
    pub(crate) fn system_call(&self) -> (u64, [u64; 6]) {
        (self.general(8), [0, 1, 2, 3, 4, 5].map(|register| self.general(register)))
    }

    /// Returns the `length` bytes at `address` as words. Zeros fill the last word. If the bytes are not mapped, the
    /// result ends early. The system call then fails too.
    pub(crate) fn bytes(&self, address: u64, length: u64) -> impl Iterator<Item = u64> + use<> {
        let process = self.process;
        (0..length.div_ceil(8)).map_while(move |word| {
            let mut bytes = [0; 8];
            let size = (length - word * 8).min(8) as usize;
            read(process, address.wrapping_add(word * 8), &mut bytes[..size]).then(|| u64::from_le_bytes(bytes))
        })
    }

    /// Returns the bytes of a path at `address`, without the zero byte at its end.
    pub(crate) fn path(&self, address: u64) -> impl Iterator<Item = u8> + use<> {
        let process = self.process;
        (0..libc::PATH_MAX as u64)
            .map_while(move |place| {
                let mut byte = [0];
                read(process, address.wrapping_add(place), &mut byte).then_some(byte[0])
            })
            .take_while(|&byte| byte != 0)
    }
}

/// Reads a set of registers. Returns `None` if the process has ended.
fn set<const COUNT: usize>(process: libc::pid_t, number: usize) -> Option<[u64; COUNT]> {
    let mut words = [0_u64; COUNT];
    let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
    let read = ptrace(libc::PTRACE_GETREGSET as _, process, number, (&raw mut part).expose_provenance());
    read.then_some(words)
}

/// Makes the system call `ptrace`. Returns whether the call succeeded.
pub(super) fn ptrace(request: libc::c_long, process: libc::pid_t, address: usize, data: usize) -> bool {
    // SAFETY: the callers pass numbers, or the address of a description of a local variable that is as long as the
    // description says. Changes affect only the other process, which exists for one traced call.
    unsafe { libc::syscall(libc::SYS_ptrace, request, process, address, data) == 0 }
}

/// Copies bytes from the memory of a process. Returns whether all of these bytes are mapped.
pub(super) fn read(process: libc::pid_t, address: u64, bytes: &mut [u8]) -> bool {
    let (here, there) = parts(address, bytes);
    // SAFETY: the kernel writes to the slice only.
    unsafe { libc::process_vm_readv(process, &raw const here, 1, &raw const there, 1, 0) == bytes.len() as isize }
}

/// Copies bytes to the memory of a process. Returns whether the process may write to all of these bytes.
pub(super) fn write(process: libc::pid_t, address: u64, bytes: &mut [u8]) -> bool {
    let (here, there) = parts(address, bytes);
    // SAFETY: the kernel only reads the slice. The other process exists for one traced call, and is about to write the
    // same bytes.
    unsafe { libc::process_vm_writev(process, &raw const here, 1, &raw const there, 1, 0) == bytes.len() as isize }
}

fn parts(address: u64, bytes: &mut [u8]) -> (libc::iovec, libc::iovec) {
    let part = |start: *mut libc::c_void| libc::iovec { iov_base: start, iov_len: bytes.len() };
    let there = part(std::ptr::without_provenance_mut(address as usize));
    (libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }, there)
}
