//! System calls. This module defines which data of a system call belong to a trace, and which system calls a trace
//! cannot follow.

#[cfg(target_arch = "aarch64")]
mod legacy;

/// The system calls that only old architectures have are in the same module as the others.
#[cfg(target_arch = "x86_64")]
use libc as legacy;

use super::recording::mix;
use crate::imp::step::signal::unblocks;
use crate::imp::step::{Registers, Stop};

/// The number of words in the trace of a system call. The words are the number of the system call, the arguments, and a
/// hash of the data to which the arguments point.
pub(super) const WORDS: usize = 2 + ARGUMENT_COUNT;

/// The maximum number of arguments of a system call.
const ARGUMENT_COUNT: usize = 6;

/// The number of arguments of each system call. The first list starts with system call 0, and the second list starts
/// with system call [`LATER`]. Registers that are not arguments may contain any value.
#[cfg(target_arch = "x86_64")]
const ARGUMENTS: [&[u8]; 2] = [
    b"3331222336321440344332150533333312022130433366332323345550031421334124533211223211221221232233312221\
      1403011002000222233331111222432223112223232231112221003215212101252214221323215435553303555444333222\
      2163312153313144531044342112224144325635415523455453203244345343453433651236444646321442442132144455\
      25453214236653345332535133666421564",
    LATER_ARGUMENTS,
];
#[cfg(target_arch = "aarch64")]
const ARGUMENTS: [&[u8]; 2] = [
    b"2133555544433322223214613313233224333542523222243111235341024333333444446544644420114242412211151162\
      3223432321412224342312330112022322442430324212133331112110221222221532210000000141552323543443333134\
      32333366552333125545536421332210335653464545666666666666666644255321246653345332351336664215645",
    LATER_ARGUMENTS,
];
const LATER: u64 = 424;
/// All architectures have the same system calls from number [`LATER`] on.
const LATER_ARGUMENTS: &[u8] = b"42643525332234345654342125444346444443366";

/// Calls `each` with each word that the trace contains for the next system call.
pub(super) fn words(registers: &Registers<'_>, mut each: impl FnMut(u64)) {
    let (number, arguments) = registers.system_call();
    each(number);
    let count = count(number, |index| arguments[index]);
    for (index, argument) in arguments.into_iter().enumerate() {
        each(if index < count { argument } else { 0 });
    }
    each(pointed(number as libc::c_long, &arguments, registers));
}

/// Returns the number of arguments of a system call. An argument that has no meaning for the given operation or flags
/// is ignored, because the register of this argument may contain any value.
fn count(number: u64, argument: impl Fn(usize) -> u64) -> usize {
    let known = match number {
        LATER.. => ARGUMENTS[1].get((number - LATER) as usize),
        _ => ARGUMENTS[0].get(number as usize),
    };
    let all = known.map_or(ARGUMENT_COUNT, |digit| usize::from(digit - b'0'));
    let (moves, one_processor) = ((libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP) as u64, 1);
    match number as libc::c_long {
        libc::SYS_fcntl if matches!(argument(1) as i32, libc::F_GETFD | libc::F_GETFL) => 2,
        libc::SYS_mremap if argument(3) & moves == 0 => 4,
        libc::SYS_prctl if matches!(argument(0) as i32, libc::PR_SET_NAME | libc::PR_GET_NAME) => 2,
        libc::SYS_futex if operation(argument(1)) == WAITS[0] => 4,
        libc::SYS_membarrier if argument(1) & one_processor == 0 => 2,
        _ => all,
    }
}

/// Returns a hash of the data behind pointer arguments that control the kernel, such as a time, lengths or a path.
/// Returns zero if no argument points to data of this kind.
fn pointed(number: libc::c_long, arguments: &[u64; ARGUMENT_COUNT], registers: &Registers<'_>) -> u64 {
    steering(number, |index| arguments[index]).map_or(0, |all| {
        let parts = all.into_iter().filter(|(pointer, _)| *pointer != 0);
        parts.fold(0, |hash, (pointer, length)| match length {
            PATH => registers.path(pointer).fold(mix(hash, 1), |hash, byte| mix(hash, byte.into())),
            _ => registers.bytes(pointer, length).fold(mix(hash, 1), mix),
        })
    })
}

/// The value that stands for the length of a text that ends with a zero byte.
const PATH: u64 = u64::MAX;
const NONE: (u64, u64) = (0, 0);

/// If arguments of a system call point to data that control the kernel, returns the addresses and the lengths in bytes
/// of these data. The result contains neither data that the kernel only copies, nor memory for the kernel's results.
/// Returns `None` for a system call that is not in this function's list, because it is unknown what its arguments point
/// to.
fn steering(number: libc::c_long, argument: impl Fn(usize) -> u64) -> Option<[(u64, u64); 4]> {
    const TIME: u64 = size_of::<libc::timespec>() as u64;
    const VECTOR: u64 = size_of::<libc::iovec>() as u64;
    let at = |index: usize, length: u64| (argument(index), length);
    let sized = |index: usize, length: usize| (argument(index), argument(length).min(1 << 16));
    let array = |index: usize, count: usize, size: u64| (argument(index), argument(count).min(1024) * size);
    let set = |index: usize| (argument(index), argument(0).min(1024).div_ceil(64) * 8);
    Some(match number {
        libc::SYS_nanosleep => [at(0, TIME), NONE, NONE, NONE],
        libc::SYS_clock_nanosleep => [at(2, TIME), NONE, NONE, NONE],
        libc::SYS_rt_sigtimedwait => [at(0, 8), at(2, TIME), NONE, NONE],
        legacy::SYS_poll => [array(0, 1, 8), NONE, NONE, NONE],
        libc::SYS_ppoll => [array(0, 1, 8), at(2, TIME), NONE, NONE],
        legacy::SYS_select | libc::SYS_pselect6 => [set(1), set(2), set(3), at(4, TIME)],
        libc::SYS_epoll_pwait2 => [at(3, TIME), NONE, NONE, NONE],
        libc::SYS_epoll_ctl => [at(3, size_of::<libc::epoll_event>() as u64), NONE, NONE, NONE],
        libc::SYS_futex => match operation(argument(1)) {
            operation if WAITS.contains(&operation) => [at(0, 4), at(3, TIME), NONE, NONE],
            operation if WAKES.contains(&operation) => [NONE; 4],
            _ => return None,
        },
        libc::SYS_semop => [array(1, 2, 6), NONE, NONE, NONE],
        libc::SYS_semtimedop => [array(1, 2, 6), at(3, TIME), NONE, NONE],
        libc::SYS_readv
        | libc::SYS_writev
        | libc::SYS_preadv
        | libc::SYS_pwritev
        | libc::SYS_preadv2
        | libc::SYS_pwritev2 => [array(1, 2, VECTOR), NONE, NONE, NONE],
        libc::SYS_timerfd_settime => [at(2, 2 * TIME), NONE, NONE, NONE],
        libc::SYS_setsockopt => [sized(3, 4), NONE, NONE, NONE],
        libc::SYS_connect | libc::SYS_bind => [sized(1, 2), NONE, NONE, NONE],
        libc::SYS_sendto => [sized(4, 5), NONE, NONE, NONE],
        legacy::SYS_open
        | legacy::SYS_creat
        | legacy::SYS_stat
        | legacy::SYS_lstat
        | legacy::SYS_access
        | legacy::SYS_unlink
        | legacy::SYS_mkdir
        | legacy::SYS_rmdir
        | libc::SYS_chdir
        | legacy::SYS_readlink
        | libc::SYS_memfd_create
        | libc::SYS_truncate
        | libc::SYS_statfs
        | legacy::SYS_chmod => [at(0, PATH), NONE, NONE, NONE],
        libc::SYS_openat
        | libc::SYS_newfstatat
        | libc::SYS_statx
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat
        | libc::SYS_unlinkat
        | libc::SYS_mkdirat => [at(1, PATH), NONE, NONE, NONE],
        legacy::SYS_rename => [at(0, PATH), at(1, PATH), NONE, NONE],
        libc::SYS_renameat | libc::SYS_renameat2 => [at(1, PATH), at(3, PATH), NONE, NONE],
        libc::SYS_rt_sigaction => [at(1, 32), NONE, NONE, NONE],
        libc::SYS_rt_sigprocmask => [at(1, 8), NONE, NONE, NONE],
        // In the structure of `sigaltstack`, the first 12 bytes are the address and the flags, and the last 8 bytes are
        // the size. The bytes between the flags and the size of a signal stack have no meaning.
        libc::SYS_sigaltstack if argument(0) != 0 => [at(0, 12), (argument(0) + 16, 8), NONE, NONE],
        libc::SYS_sigaltstack => [NONE; 4],
        libc::SYS_setrlimit => [at(1, 16), NONE, NONE, NONE],
        libc::SYS_prlimit64 => [at(2, 16), NONE, NONE, NONE],
        libc::SYS_sched_setaffinity => [sized(2, 1), NONE, NONE, NONE],
        libc::SYS_fcntl if matches!(argument(1) as i32, libc::F_DUPFD..=libc::F_SETFL | libc::F_DUPFD_CLOEXEC) => {
            [NONE; 4]
        }
        libc::SYS_ioctl if matches!(argument(1) as libc::Ioctl, libc::TCGETS | libc::FIONREAD | libc::TIOCGWINSZ) => {
            [NONE; 4]
        }
        libc::SYS_prctl if matches!(argument(0) as i32, libc::PR_SET_NAME | libc::PR_GET_NAME | PR_SET_VMA) => {
            [NONE; 4]
        }
        _ if PLAIN.contains(&number) => [NONE; 4],
        _ => return None,
    })
}

/// The C library uses this operation of `prctl` to name its memory areas.
const PR_SET_VMA: i32 = 0x5356_4d41;

/// The system calls whose arguments are numbers, or point to data that the kernel only copies.
#[rustfmt::skip]
const PLAIN: &[libc::c_long] = &[
    libc::SYS_read, libc::SYS_write, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_close, libc::SYS_fstat,
    libc::SYS_lseek, libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_brk,
    libc::SYS_madvise, libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_mlock2, libc::SYS_munlock,
    libc::SYS_mlockall, libc::SYS_munlockall, libc::SYS_pkey_mprotect, libc::SYS_pkey_alloc, libc::SYS_pkey_free,
    libc::SYS_membarrier, libc::SYS_dup, legacy::SYS_dup2, libc::SYS_dup3, legacy::SYS_pipe, libc::SYS_pipe2,
    libc::SYS_close_range, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync, libc::SYS_ftruncate,
    libc::SYS_fallocate, libc::SYS_fadvise64, libc::SYS_flock, libc::SYS_fchmod, libc::SYS_fchdir, libc::SYS_umask,
    libc::SYS_fstatfs, libc::SYS_getdents64, libc::SYS_getcwd, libc::SYS_memfd_secret, libc::SYS_getrandom,
    libc::SYS_getpid, libc::SYS_gettid, libc::SYS_getppid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid,
    libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid, legacy::SYS_getpgrp, libc::SYS_getpgid,
    libc::SYS_getsid, libc::SYS_getpriority, libc::SYS_getcpu, libc::SYS_getrusage, libc::SYS_getrlimit,
    legacy::SYS_time, libc::SYS_times, libc::SYS_gettimeofday, libc::SYS_clock_gettime, libc::SYS_clock_getres,
    libc::SYS_sysinfo, libc::SYS_uname, libc::SYS_sched_yield, libc::SYS_sched_getaffinity,
    libc::SYS_sched_getscheduler, libc::SYS_sched_getparam, libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min, libc::SYS_rt_sigpending, libc::SYS_kill,
    libc::SYS_tkill, libc::SYS_tgkill, legacy::SYS_arch_prctl, libc::SYS_set_tid_address, libc::SYS_set_robust_list,
    libc::SYS_rseq, libc::SYS_restart_syscall, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_socket,
    libc::SYS_socketpair, libc::SYS_listen, libc::SYS_shutdown, libc::SYS_getsockname, libc::SYS_getpeername,
    libc::SYS_recvfrom, libc::SYS_eventfd2, libc::SYS_timerfd_create, libc::SYS_timerfd_gettime,
    libc::SYS_epoll_create1, legacy::SYS_epoll_wait,
];

/// The names of system calls that a trace does not compare. Messages contain these names.
const NAMES: [(libc::c_long, &str); 22] = [
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_sendmmsg, "sendmmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_sendfile, "sendfile"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_vmsplice, "vmsplice"),
    (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_prctl, "prctl"),
    (libc::SYS_futex, "futex"),
    (449, "futex_waitv"),
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_submit, "io_submit"),
    (libc::SYS_mq_timedsend, "mq_timedsend"),
    (libc::SYS_mq_timedreceive, "mq_timedreceive"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_userfaultfd, "userfaultfd"),
];

/// Returns the number of a system call, with the name of the system call if the name is known.
pub(super) fn named(number: u64) -> String {
    let name = NAMES.iter().find(|(known, _)| *known as u64 == number).map(|(_, name)| *name);
    name.map_or_else(|| number.to_string(), |name| format!("{number} ({name})"))
}

/// Returns whether the file at a path represents the memory of a process.
fn memory(text: u64, registers: &Registers<'_>) -> bool {
    if text == 0 {
        return false;
    }
    let mut last = [0; 4];
    registers.path(text).for_each(|byte| last = [last[1], last[2], last[3], byte]);
    last == *b"/mem" || last == *b"\0mem"
}

/// The `futex` operations that wait with a time limit, and the `futex` operations that wake other threads.
const WAITS: [u64; 2] = [0, 9];
const WAKES: [u64; 5] = [1, 3, 4, 5, 10];

fn operation(argument: u64) -> u64 {
    argument & 0x7f
}

/// If the trace cannot continue after a system call, returns the reason.
pub(super) fn refused(registers: &Registers<'_>) -> Option<Stop> {
    const EXECUTABLE: u64 = libc::PROT_EXEC as u64;
    const THREAD: u64 = libc::CLONE_THREAD as u64;
    let (number, arguments) = registers.system_call();
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let words = |pointer| registers.bytes(pointer, 8);
    let stop = |yes: bool, stop: Stop| yes.then_some(stop);
    match number as libc::c_long {
        libc::SYS_clone if first & THREAD != 0 => Some(Stop::Thread),
        libc::SYS_clone3 => Some(Stop::Thread),
        libc::SYS_clone | legacy::SYS_fork | legacy::SYS_vfork | libc::SYS_execve | libc::SYS_execveat => {
            Some(Stop::Process)
        }
        libc::SYS_mmap | libc::SYS_mprotect | libc::SYS_pkey_mprotect => stop(third & EXECUTABLE != 0, Stop::Code),
        libc::SYS_shmat => stop(third & libc::SHM_EXEC as u64 != 0, Stop::Code),
        libc::SYS_futex if WAKES.contains(&operation(second)) => Some(Stop::Wake),
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_rt_sigqueueinfo | libc::SYS_pidfd_send_signal => {
            stop(second != 0, Stop::Signal)
        }
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => stop(third != 0, Stop::Signal),
        legacy::SYS_alarm
        | libc::SYS_setitimer
        | libc::SYS_timer_create
        | libc::SYS_mq_notify
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigreturn
        | legacy::SYS_pause => Some(Stop::Signal),
        libc::SYS_rt_sigprocmask if second != 0 => {
            stop(unblocks(first, words(second).next().unwrap_or(0)), Stop::Signal)
        }
        libc::SYS_ppoll => stop(fourth != 0, Stop::Signal),
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => stop(fifth != 0, Stop::Signal),
        libc::SYS_pselect6 => stop(sixth != 0 && words(sixth).any(|pointer| pointer != 0), Stop::Signal),
        legacy::SYS_open | legacy::SYS_creat if memory(first, registers) => Some(Stop::Memory),
        libc::SYS_openat if memory(second, registers) => Some(Stop::Memory),
        // A change of FS or GS is refused: the engine needs the GS segment for its data, and the addresses of
        // thread-local data depend on the FS segment.
        legacy::SYS_arch_prctl => stop(matches!(first, 0x1001 | 0x1002), Stop::Escape),
        number => stop(steering(number, |index| arguments[index]).is_none(), Stop::Call(number as u64)),
    }
}

/// Returns whether the result of a system call may differ between calls with the same input.
pub(super) fn varies(registers: &Registers<'_>) -> bool {
    matches!(
        registers.system_call().0 as libc::c_long,
        libc::SYS_getrandom
            | libc::SYS_getpid
            | libc::SYS_gettid
            | libc::SYS_getppid
            | legacy::SYS_time
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

    /// The system calls that a trace compares, grouped by the number of arguments in the kernel.
    #[rustfmt::skip]
    const KNOWN: [&[libc::c_long]; 7] = [
        &[
            libc::SYS_sched_yield, libc::SYS_getpid, libc::SYS_getuid, libc::SYS_getgid, libc::SYS_geteuid,
            libc::SYS_getegid, libc::SYS_getppid, legacy::SYS_getpgrp, libc::SYS_munlockall, libc::SYS_sync,
            libc::SYS_gettid, libc::SYS_restart_syscall,
        ],
        &[
            libc::SYS_close, libc::SYS_brk, legacy::SYS_pipe, libc::SYS_dup, libc::SYS_exit, libc::SYS_uname,
            libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_chdir, libc::SYS_fchdir, legacy::SYS_rmdir,
            legacy::SYS_unlink, libc::SYS_umask, libc::SYS_sysinfo, libc::SYS_times, libc::SYS_getpgid,
            libc::SYS_getsid, libc::SYS_sched_getscheduler, libc::SYS_sched_get_priority_max,
            libc::SYS_sched_get_priority_min, libc::SYS_mlockall, legacy::SYS_time, libc::SYS_set_tid_address,
            libc::SYS_exit_group, libc::SYS_epoll_create1, libc::SYS_pkey_free, libc::SYS_memfd_secret,
        ],
        &[
            legacy::SYS_stat, libc::SYS_fstat, legacy::SYS_lstat, libc::SYS_munmap, legacy::SYS_access,
            legacy::SYS_dup2, libc::SYS_nanosleep, libc::SYS_shutdown, libc::SYS_listen, libc::SYS_kill,
            libc::SYS_flock, libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_getcwd, legacy::SYS_rename,
            legacy::SYS_mkdir, legacy::SYS_creat, legacy::SYS_chmod, libc::SYS_fchmod, libc::SYS_gettimeofday,
            libc::SYS_getrlimit, libc::SYS_getrusage, libc::SYS_rt_sigpending, libc::SYS_sigaltstack, libc::SYS_statfs,
            libc::SYS_fstatfs, libc::SYS_getpriority, libc::SYS_sched_getparam, libc::SYS_mlock, libc::SYS_munlock,
            legacy::SYS_arch_prctl, libc::SYS_setrlimit, libc::SYS_tkill, libc::SYS_clock_gettime,
            libc::SYS_clock_getres, libc::SYS_set_robust_list, libc::SYS_timerfd_create, libc::SYS_timerfd_gettime,
            libc::SYS_eventfd2, libc::SYS_pipe2, libc::SYS_memfd_create, libc::SYS_pkey_alloc,
        ],
        &[
            libc::SYS_read, libc::SYS_write, legacy::SYS_open, legacy::SYS_poll, libc::SYS_lseek, libc::SYS_mprotect,
            libc::SYS_ioctl, libc::SYS_readv, libc::SYS_writev, libc::SYS_msync, libc::SYS_mincore,
            libc::SYS_madvise, libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_getsockname,
            libc::SYS_getpeername, libc::SYS_semop, libc::SYS_fcntl, legacy::SYS_readlink, libc::SYS_getresuid,
            libc::SYS_getresgid, libc::SYS_sched_setaffinity, libc::SYS_sched_getaffinity, libc::SYS_getdents64,
            libc::SYS_tgkill, libc::SYS_mkdirat, libc::SYS_unlinkat, libc::SYS_faccessat, libc::SYS_dup3,
            libc::SYS_getcpu, libc::SYS_getrandom, libc::SYS_membarrier, libc::SYS_mlock2, libc::SYS_close_range,
        ],
        &[
            libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_pread64, libc::SYS_pwrite64,
            libc::SYS_socketpair, libc::SYS_rt_sigtimedwait, libc::SYS_semtimedop, libc::SYS_fadvise64,
            libc::SYS_clock_nanosleep, legacy::SYS_epoll_wait, libc::SYS_epoll_ctl, libc::SYS_openat,
            libc::SYS_newfstatat, libc::SYS_renameat, libc::SYS_readlinkat, libc::SYS_fallocate,
            libc::SYS_timerfd_settime, libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_prlimit64,
            libc::SYS_pkey_mprotect, libc::SYS_rseq, libc::SYS_faccessat2,
        ],
        &[
            legacy::SYS_select, libc::SYS_mremap, libc::SYS_setsockopt, libc::SYS_prctl, libc::SYS_ppoll,
            libc::SYS_renameat2, libc::SYS_statx,
        ],
        &[
            libc::SYS_mmap, libc::SYS_sendto, libc::SYS_recvfrom, libc::SYS_futex, libc::SYS_pselect6,
            libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_epoll_pwait2,
        ],
    ];

    #[test]
    fn the_table_has_all_arguments_of_the_system_calls_that_are_compared() {
        assert_eq!(ARGUMENTS.map(<[u8]>::len), [if cfg!(target_arch = "x86_64") { 335 } else { 295 }, 41]);
        // If a system call gets these arguments, `count` returns the maximum number of arguments of this system call.
        let all = |index: usize| [0, libc::FUTEX_WAIT_BITSET as u64, 0, u64::MAX, 0, 0][index];
        for (arguments, numbers) in KNOWN.iter().enumerate() {
            for &number in numbers.iter().filter(|&&number| number >= 0) {
                let all = |index| if number == libc::SYS_membarrier { 1 } else { all(index) };
                assert_eq!(count(number as u64, all), arguments, "{number}");
            }
        }
        // The second argument selects an operation of `fcntl`, `ioctl` and `futex`. The first argument selects an
        // operation of `prctl`.
        for number in 0..500 {
            let compared = steering(number, |_| 0).is_some();
            assert!(!compared || KNOWN.iter().any(|numbers| numbers.contains(&number)), "{number}");
        }
    }

    #[test]
    fn arguments_without_a_meaning_are_left_out() {
        let count = |number: libc::c_long, arguments: [u64; 6]| count(number as u64, |index| arguments[index]);
        let fcntl = |operation: i32| count(libc::SYS_fcntl, [0, operation as u64, 0, 0, 0, 0]);
        assert_eq!([libc::F_GETFD, libc::F_GETFL, libc::F_DUPFD, libc::F_SETFD].map(fcntl), [2, 2, 3, 3]);
        assert_eq!([libc::F_SETFL, libc::F_DUPFD_CLOEXEC].map(fcntl), [3, 3]);
        let mremap = |flags: i32| count(libc::SYS_mremap, [0, 0, 0, flags as u64, 0, 0]);
        assert_eq!([0, libc::MREMAP_MAYMOVE, 3, 4 | 1].map(mremap), [4, 4, 5, 5]);
        let prctl = |operation: i32| count(libc::SYS_prctl, [operation as u64, 0, 0, 0, 0, 0]);
        assert_eq!([libc::PR_SET_NAME, libc::PR_GET_NAME, PR_SET_VMA].map(prctl), [2, 2, 5]);
        let futex = |operation: i32| count(libc::SYS_futex, [0, operation as u64, 0, 0, 0, 0]);
        assert_eq!([libc::FUTEX_WAIT, libc::FUTEX_WAIT | 128, libc::FUTEX_WAIT_BITSET | 128].map(futex), [4, 4, 6]);
    }
}
