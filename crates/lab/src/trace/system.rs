//! System calls: what belongs to their trace, and which of them a trace cannot follow.

use crate::imp::step::{Registers, Stop, bytes};

/// The number of words in the trace of a system call: its number, its arguments, and a hash of what one of these points
/// to.
pub(super) const WORDS: usize = 2 + REGISTERS.len();

/// The registers of the arguments, numbered as in instructions.
const REGISTERS: [usize; 6] = [7, 6, 2, 10, 8, 9];

/// The number of arguments of the system calls from 0 on, and of those from [`LATER`] on. Registers that are no
/// arguments may contain anything. Where the last argument has a meaning in some calls only, it is left out.
const ARGUMENTS: [&[u8]; 2] = [
    b"3331222336321440244332150433333312022130433366332323345550031421333124532211223211221221232233312221\
      1403011002000222233331111222432223112223232231112221003212212101252214221323215435553303555444333222\
      2133312153313144531044342112224144325635415523455453203244345343453433651236444646321442442132144455\
      25453214236653345332535133666421564",
    b"42643525332234345654342125444346444443366",
];
const LATER: u64 = 424;

/// Passes each word of a system call that is about to run to `each`.
pub(super) fn words(registers: &Registers<'_>, mut each: impl FnMut(u64)) {
    let number = registers.general(0);
    each(number);
    let known = match number {
        LATER.. => ARGUMENTS[1].get((number - LATER) as usize),
        _ => ARGUMENTS[0].get(number as usize),
    };
    let count = known.map_or(REGISTERS.len(), |digit| usize::from(digit - b'0'));
    for (index, register) in REGISTERS.into_iter().enumerate() {
        each(if index < count { registers.general(register) } else { 0 });
    }
    each(pointed(number as libc::c_long, registers));
}

/// Returns a hash of the time or the lengths that an argument points to, or zero if there are none.
fn pointed(number: libc::c_long, registers: &Registers<'_>) -> u64 {
    const TIME: u64 = size_of::<libc::timespec>() as u64;
    let argument = |index: usize| registers.general(REGISTERS[index]);
    let (pointer, length) = match number {
        libc::SYS_nanosleep => (argument(0), TIME),
        libc::SYS_clock_nanosleep | libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => (argument(2), TIME),
        libc::SYS_futex if WAITS.contains(&operation(argument(1))) => (argument(3), TIME),
        libc::SYS_epoll_pwait2 | libc::SYS_semtimedop => (argument(3), TIME),
        libc::SYS_select | libc::SYS_pselect6 => (argument(4), TIME),
        libc::SYS_readv | libc::SYS_writev | libc::SYS_preadv | libc::SYS_pwritev => {
            (argument(1), argument(2).min(1024) * size_of::<libc::iovec>() as u64)
        }
        _ => return 0,
    };
    if pointer == 0 { 0 } else { bytes(pointer, length).fold(1, super::recording::mix) }
}

/// The operations of `futex` that wait with a time limit, and those that wake other threads.
const WAITS: [u64; 2] = [0, 9];
const WAKES: [u64; 5] = [1, 3, 4, 5, 10];

fn operation(argument: u64) -> u64 {
    argument & 0x7f
}

/// Returns why the trace cannot go on after a system call.
pub(super) fn refused(registers: &Registers<'_>) -> Option<Stop> {
    const EXECUTABLE: u64 = libc::PROT_EXEC as u64;
    const THREAD: u64 = libc::CLONE_THREAD as u64;
    let [first, second, third, fourth, fifth, sixth] = REGISTERS.map(|register| registers.general(register));
    let stop = |yes: bool, stop: Stop| yes.then_some(stop);
    match registers.general(0) as libc::c_long {
        libc::SYS_clone if first & THREAD != 0 => Some(Stop::Thread),
        libc::SYS_clone3 => Some(Stop::Thread),
        libc::SYS_clone | libc::SYS_fork | libc::SYS_vfork | libc::SYS_execve | libc::SYS_execveat => {
            Some(Stop::Process)
        }
        libc::SYS_mmap | libc::SYS_mprotect | libc::SYS_pkey_mprotect => stop(third & EXECUTABLE != 0, Stop::Code),
        libc::SYS_shmat => stop(third & libc::SHM_EXEC as u64 != 0, Stop::Code),
        libc::SYS_futex => stop(WAKES.contains(&operation(second)), Stop::Wake),
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_rt_sigqueueinfo | libc::SYS_pidfd_send_signal => {
            stop(second != 0, Stop::Signal)
        }
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => stop(third != 0, Stop::Signal),
        libc::SYS_alarm
        | libc::SYS_setitimer
        | libc::SYS_timer_create
        | libc::SYS_mq_notify
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigreturn
        | libc::SYS_pause => Some(Stop::Signal),
        libc::SYS_rt_sigprocmask if second != 0 => {
            stop(crate::imp::step::signal::unblocks(first, second), Stop::Signal)
        }
        libc::SYS_ppoll => stop(fourth != 0, Stop::Signal),
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => stop(fifth != 0, Stop::Signal),
        libc::SYS_pselect6 => stop(sixth != 0 && bytes(sixth, 8).any(|pointer| pointer != 0), Stop::Signal),
        // The engine needs the one segment, and the addresses of thread-local data depend on the other.
        libc::SYS_arch_prctl => stop(matches!(first, 0x1001 | 0x1002), Stop::Escape),
        _ => None,
    }
}

/// Returns whether the result of a system call may differ from call to call.
pub(super) fn varies(registers: &Registers<'_>) -> bool {
    matches!(
        registers.general(0) as libc::c_long,
        libc::SYS_getrandom
            | libc::SYS_getpid
            | libc::SYS_gettid
            | libc::SYS_getppid
            | libc::SYS_time
            | libc::SYS_times
            | libc::SYS_gettimeofday
            | libc::SYS_clock_gettime
            | libc::SYS_getcpu
            | libc::SYS_getrusage
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_arguments_of_known_system_calls() {
        assert_eq!(ARGUMENTS.map(<[u8]>::len), [335, 41]);
        let known = [
            (libc::SYS_read, 3),
            (libc::SYS_mmap, 6),
            (libc::SYS_munmap, 2),
            (libc::SYS_nanosleep, 2),
            (libc::SYS_getpid, 0),
            (libc::SYS_sendto, 6),
            (libc::SYS_getdents, 3),
            (libc::SYS_getppid, 0),
            (libc::SYS_mlockall, 1),
            (libc::SYS_gettid, 0),
            (libc::SYS_futex, 3),
            (libc::SYS_clock_nanosleep, 4),
            (libc::SYS_openat, 4),
            (libc::SYS_pselect6, 6),
            (libc::SYS_pipe2, 2),
            (libc::SYS_getrandom, 3),
            (libc::SYS_statx, 5),
            (libc::SYS_rseq, 4),
        ];
        for (number, count) in known {
            assert_eq!(ARGUMENTS[0][number as usize] - b'0', count, "{number}");
        }
        assert_eq!(ARGUMENTS[1][(libc::SYS_close_range as u64 - LATER) as usize], b'3');
    }
}
