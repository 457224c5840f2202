//! The system calls that only old architectures have. AArch64 lacks them. Their numbers here are negative, so that no
//! system call has one of these numbers.
#![allow(non_upper_case_globals)]

use libc::c_long;

pub(super) const SYS_access: c_long = -1;
pub(super) const SYS_alarm: c_long = -2;
pub(super) const SYS_arch_prctl: c_long = -3;
pub(super) const SYS_chmod: c_long = -4;
pub(super) const SYS_creat: c_long = -5;
pub(super) const SYS_dup2: c_long = -6;
pub(super) const SYS_epoll_wait: c_long = -7;
pub(super) const SYS_fork: c_long = -8;
pub(super) const SYS_getpgrp: c_long = -9;
pub(super) const SYS_lstat: c_long = -10;
pub(super) const SYS_mkdir: c_long = -11;
pub(super) const SYS_open: c_long = -12;
pub(super) const SYS_pause: c_long = -13;
pub(super) const SYS_pipe: c_long = -14;
pub(super) const SYS_poll: c_long = -15;
pub(super) const SYS_readlink: c_long = -16;
pub(super) const SYS_rename: c_long = -17;
pub(super) const SYS_rmdir: c_long = -18;
pub(super) const SYS_select: c_long = -19;
pub(super) const SYS_stat: c_long = -20;
pub(super) const SYS_time: c_long = -21;
pub(super) const SYS_unlink: c_long = -22;
pub(super) const SYS_vfork: c_long = -23;
