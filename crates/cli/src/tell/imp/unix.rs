//! Access to descriptors by number, and a setting of the allocator. Access to descriptors needs `unsafe`, because the
//! type system tracks only descriptors with an owner. The setting needs `unsafe`, because it is a function of C.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::io::{Errno, fcntl_getfd};

/// Duplicates the descriptor `number`. The duplicate shares the position of the original. Duplicating also works for
/// sockets, pipes and files of other users, since no file is opened.
///
/// # Errors
/// Fails if `number` is not an open descriptor.
pub fn descriptor(number: u32) -> io::Result<OwnedFd> {
    let number = RawFd::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    // SAFETY: a borrowed descriptor must not be -1 and must stay open while it is borrowed. A number that was converted
    // from a `u32` is not -1. The borrow ends with the last use of `given` below. The caller is the parser of the
    // command line. The program opens no file before the parser runs, and no other thread runs at the same time as the
    // parser, so nothing closes the descriptor during the borrow. If `number` was never open, the system call fails and
    // nothing is read or written.
    let given = unsafe { BorrowedFd::borrow_raw(number) };
    let own = rustix::io::fcntl_dupfd_cloexec(given, 3)?;
    // Plugins are other programs, and must not get access to a descriptor with a passphrase.
    if number > 2 {
        rustix::io::fcntl_setfd(given, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(own)
}

/// The number of descriptors that [`keep_descriptors`] looks at.
const MOST: RawFd = 4096;

/// Prevents programs that this program starts from inheriting descriptors other than the standard streams. A shell
/// script may have opened such a descriptor, for example for a lock.
pub fn keep_descriptors() {
    for number in 3..MOST {
        // SAFETY: the code only sets a flag of the descriptor, which changes nothing for its owner, and the request
        // fails for a closed descriptor.
        let given = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = rustix::io::fcntl_setfd(given, rustix::io::FdFlags::CLOEXEC);
    }
}

/// A bit for each standard stream that was closed when the program began.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// The runtime of the standard library opens `/dev/null` in place of standard streams that are closed. `look` runs
// before the runtime opens `/dev/null`, and records which streams were closed.
//
// SAFETY: this section holds pointers to functions, each of which is called once before `main`. `look` ignores the
// arguments that some systems pass, cannot panic, and uses nothing that the runtime sets up later: `look` makes system
// calls and stores a number.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for number in 0..3_u8 {
        // SAFETY: the descriptor may be closed. The code only requests the flags of the descriptor, and this request
        // fails for a closed descriptor. No other code runs that could open or close the descriptor.
        let stream = unsafe { BorrowedFd::borrow_raw(i32::from(number)) };
        if fcntl_getfd(stream) == Err(Errno::BADF) {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

pub fn was_closed(number: u8) -> bool {
    CLOSED.load(Ordering::Relaxed) >> number & 1 == 1
}

/// Whether the parent process made this process ignore the signal. Other systems have `/proc` for that.
#[cfg(target_vendor = "apple")]
pub fn is_ignored(signal: i32) -> bool {
    /// The structure `sigaction` of this system.
    #[repr(C)]
    struct Action {
        handler: usize,
        mask: u32,
        flags: i32,
    }
    unsafe extern "C" {
        fn sigaction(signal: i32, new: *const Action, old: *mut Action) -> i32;
    }
    /// The handler `SIG_IGN`.
    const IGNORED: usize = 1;
    let mut old = Action { handler: 0, mask: 0, flags: 0 };
    // SAFETY: the function has this type. Without a new action, it changes nothing, and writes the old action to the
    // local variable.
    unsafe { sigaction(signal, std::ptr::null(), &raw mut old) == 0 && old.handler == IGNORED }
}

/// Makes the allocator return freed memory of a mebibyte or more to the system. Without this setting, each thread that
/// processed a long object may keep some of this memory.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        const M_MMAP_THRESHOLD: i32 = -3;
        // SAFETY: `mallopt` of glibc has this type, accepts any values, and may be called at any time and from any
        // thread. The call affects only where later allocations are made.
        let _ = unsafe { mallopt(M_MMAP_THRESHOLD, 1 << 20) };
    }
}
