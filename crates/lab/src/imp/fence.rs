//! Memory between two inaccessible pages, and trial calls of a library's function in another process, with memory of
//! this kind.

use std::io;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::convention::Convention;
use super::library::Function;
use super::notes::Notes;
use super::supervise::{self, End};

/// Memory between two inaccessible pages. The bytes in this memory can start at any alignment.
pub(crate) struct Fenced {
    base: usize,
    /// The length of the accessible pages.
    room: usize,
    page: usize,
    length: usize,
}

/// The position of the bytes in the accessible pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first byte follows an inaccessible page.
    Start,
    /// An inaccessible page follows the last byte.
    End,
    /// Like [`Place::End`], but the address of the first byte is a multiple of 16.
    AlignedEnd,
}

/// How the function may access the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    None,
    Read,
    Write,
}

/// The place of a failed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    Inside,
    Behind,
}

impl Fenced {
    /// Maps memory for `length` bytes. The memory stays mapped until the process ends.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        // SAFETY: the function takes a number. The page size is positive.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let room = length.max(1).next_multiple_of(page);
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: the mapping is new, so it overlaps nothing.
        let memory = unsafe { libc::mmap(null_mut(), room + 2 * page, libc::PROT_NONE, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let fenced = Self { base: memory.expose_provenance() + page, room, page, length };
        fenced.protect(Access::Write);
        Ok(fenced)
    }

    fn protect(&self, access: Access) {
        let access = match access {
            Access::None => libc::PROT_NONE,
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: the pages belong to this value, and no reference to them exists. If the call fails, a later write
        // ends the process, and the lab reports the end of the process.
        unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(self.base), self.room, access) };
    }

    /// Copies the bytes to this place, and returns their address.
    pub(crate) fn fill(&self, bytes: &[u8], place: Place, access: Access) -> usize {
        assert_eq!(bytes.len(), self.length, "the memory was made for this part");
        let exact = self.room - self.length;
        let offset = match place {
            Place::Start => 0,
            Place::End => exact,
            Place::AlignedEnd => exact / 16 * 16,
        };
        let start = self.base + offset;
        self.protect(Access::Write);
        // SAFETY: the bytes fit between the two outer pages, which belong to this value.
        unsafe {
            let to: *mut u8 = std::ptr::with_exposed_provenance_mut(start);
            bytes.as_ptr().copy_to_nonoverlapping(to, bytes.len());
        }
        self.protect(access);
        start
    }

    /// Returns whether an address is in the accessible pages, in the page before them or in the page after them.
    pub(crate) fn side(&self, address: usize) -> Option<Side> {
        let end = self.base + self.room;
        match address {
            _ if (self.base - self.page..self.base).contains(&address) => Some(Side::Before),
            _ if (self.base..end).contains(&address) => Some(Side::Inside),
            _ if (end..end + self.page).contains(&address) => Some(Side::Behind),
            _ => None,
        }
    }
}

/// The data of one trial call: the class of its input, the position of its parts in memory, and the values of its
/// arguments.
pub(crate) struct Call {
    pub(crate) class: usize,
    pub(crate) place: Place,
    pub(crate) values: [usize; 6],
}

/// Calls the function repeatedly in another process, with the arguments that `next` returns, until `next` returns
/// `None`. The notes record the last call and the failed access.
pub(crate) fn attempt(
    notes: &Notes,
    function: &Function,
    limit: Duration,
    mut next: impl FnMut() -> Option<Call>,
) -> io::Result<End> {
    notes.fault.store(0, Ordering::Relaxed);
    supervise::aside(limit, || {
        catch_faults();
        let (own, convention) = (supervise::process(), Convention::read());
        while let Some(call) = next() {
            notes.trial[0].store(call.class as u32, Ordering::Relaxed);
            notes.trial[1].store(call.place as u32, Ordering::Relaxed);
            function.invoke(call.values);
            let broken = convention.broken();
            convention.restore();
            if supervise::process() != own {
                supervise::end_copy();
            }
            if let Some(rule) = broken {
                notes.note_broken(rule);
                return BROKEN;
            }
        }
        if await_copies() { LEFT } else { DONE }
    })
}

/// Waits a short time for the end of the processes that the library's function has started. Returns whether the
/// library's function did not wait for the end of at least one process that this function had started.
fn await_copies() -> bool {
    for turn in 0..200 {
        // SAFETY: the null pointer is allowed.
        match unsafe { libc::waitpid(-1, null_mut(), libc::WNOHANG) } {
            -1 => return turn > 0,
            0 => std::thread::sleep(Duration::from_millis(1)),
            _ => {}
        }
    }
    true
}

/// The exit codes of a trial. These exit codes are unusual, so the function itself is very unlikely to end the process
/// with one of them.
pub(crate) const DONE: u8 = 0xd7;
const BROKEN: u8 = 0xd8;
/// The function has started processes and has not waited for their end.
pub(crate) const LEFT: u8 = 0xd9;

/// Installs signal handlers that record the address of a failed access. After the handler returns, the access fails
/// again and kills the process.
fn catch_faults() {
    extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        if let Some(notes) = super::notes::notes() {
            // SAFETY: the system passes valid structures to a handler with `SA_SIGINFO`.
            unsafe {
                notes.fault.store((*info).si_addr().addr(), Ordering::Relaxed);
                notes.wrote.store(is_write(context), Ordering::Relaxed);
            }
        }
        // SAFETY: the call takes numbers only.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: `sigaction` consists of integers only, for which zeros are valid. The handler has the type that the
        // flag `SA_SIGINFO` requires. If the standard library made an alternate stack, the handler runs on that stack.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
            libc::sigaction(signal, &raw const action, null_mut());
        }
    }
    // A crashing trial process must not write a core file.
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a live structure.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// Returns true if the system reports that the failed access was a write.
///
/// # Safety
/// `context` is the third argument of a signal handler.
unsafe fn is_write(context: *mut libc::c_void) -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    // SAFETY: the context of a handler is a `ucontext_t`. Bit 1 of a page fault's error code stands for a write.
    return unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0 };
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        let _ = context;
        false
    }
}
