//! Tests that a function is skipped if a trace cannot record its effects, even if the recorded instructions do not
//! differ.
#![cfg(all(feature = "trace", target_arch = "x86_64", target_os = "linux"))]
#![allow(unsafe_code, clippy::print_stderr)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use deadpan_lab::trace::{self, control};

fn inputs() -> Vec<Vec<u8>> {
    (0..8).map(|index| vec![index * 31, 5, 9, 1]).collect()
}

fn sink<R>(result: R) {
    drop(black_box(result));
}

fn reason(run: impl FnMut(&mut [u8])) -> String {
    let found = trace::compare(&inputs(), &mut { run });
    assert!(!found.equal && trace::leaks(&found).is_none(), "{found:?}");
    found.skipped.expect("a reason")
}

fn leak(run: impl FnMut(&mut [u8])) -> String {
    let found = trace::compare(&inputs(), &mut { run });
    found.divergence.clone().unwrap_or_else(|| panic!("{found:?}"))
}

/// Maps a page and returns two addresses. If `shared` is true, the second address is a writable mapping of the same
/// memory. If `shared` is false, both addresses are the same.
fn page(access: i32, shared: bool) -> [*mut u8; 2] {
    // SAFETY: these calls make new memory.
    unsafe {
        if !shared {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0).cast();
            return [page; 2];
        }
        let file = libc::memfd_create(c"code".as_ptr(), 0);
        assert_eq!(libc::ftruncate(file, 4096), 0);
        [access, libc::PROT_READ | libc::PROT_WRITE]
            .map(|access| libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, file, 0).cast())
    }
}

fn protect(page: *mut u8, access: i32) {
    // SAFETY: no other code uses the page.
    assert_eq!(unsafe { libc::mprotect(page.cast(), 4096, access) }, 0);
}

/// Writes the code `mov eax, [rdi + secret]; ret`. The secret is a byte of the code.
fn write_code(code: *mut u8, secret: u8) {
    // SAFETY: the page is writable.
    unsafe { std::slice::from_raw_parts_mut(code, 4).copy_from_slice(&[0x8b, 0x47, secret & 0x3f, 0xc3]) };
}

fn run_code(code: *mut u8) {
    let data = [0_u8; 256];
    // SAFETY: the code only reads from the 256 bytes.
    let function = unsafe { std::mem::transmute::<*mut u8, extern "C" fn(*const u8) -> u32>(code) };
    sink(function(data.as_ptr()));
}

#[test]
fn code_that_the_function_rewrites_is_not_traced_from_a_stale_copy() {
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let [code, _] = page(all, false);
    let text = reason(|input| {
        write_code(code, input[0]);
        run_code(code);
    });
    assert!(text.starts_with("the function runs code that it can change"), "{text}");
    let [code, other] = page(libc::PROT_READ | libc::PROT_EXEC, true);
    let text = reason(|input| {
        write_code(other, input[0]);
        run_code(code);
    });
    assert!(text.starts_with("the function runs code that it can change"), "{text}");
    let [code, _] = page(libc::PROT_READ | libc::PROT_WRITE, false);
    let text = reason(|input| {
        protect(code, libc::PROT_READ | libc::PROT_WRITE);
        write_code(code, input[0]);
        protect(code, libc::PROT_READ | libc::PROT_EXEC);
        run_code(code);
    });
    assert!(text.starts_with("the function makes memory executable"), "{text}");
    // The function changes the page without a store instruction: it writes to a file that represents the memory of the
    // process.
    let [code, _] = page(libc::PROT_READ | libc::PROT_WRITE, false);
    write_code(code, 3);
    protect(code, libc::PROT_READ | libc::PROT_EXEC);
    let text = reason(|input| {
        use std::os::unix::fs::FileExt;
        run_code(code);
        let memory = std::fs::OpenOptions::new().write(true).open("/proc/self/mem").expect("a file");
        memory.write_all_at(&[input[0] & 0x3f], code as u64 + 2).expect("a write");
        run_code(code);
    });
    assert!(text.starts_with("the function opens the memory of a process as a file"), "{text}");
    // A trace can follow code that was generated at run time and does not change, such as code from a just-in-time
    // compiler.
    let found = trace::compare(&inputs(), &mut |_| run_code(code));
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

#[test]
fn a_division_of_a_random_number_by_a_secret_is_skipped() {
    let text = reason(|input| {
        let mut random = 0_u64;
        // SAFETY: the call writes only to this local variable.
        unsafe { libc::getrandom((&raw mut random).cast(), 8, 0) };
        sink(black_box(random) / black_box(u64::from(input[0]) + 1));
    });
    assert!(
        text.starts_with("the operands of `div` in ") && text.ends_with("differ between calls with one input"),
        "{text}"
    );
}

#[test]
fn an_instruction_that_holds_back_the_next_trap_is_not_followed() {
    let text = reason(|input| {
        let table = [0_u8; 256];
        // SAFETY: the segment register keeps its value, and the address is inside the table.
        unsafe {
            std::arch::asm!(
                "mov {copy:e}, ss", "mov ss, {copy:e}", "mov {copy:l}, [{table} + {index}]",
                copy = out(reg) _, table = in(reg) &raw const table, index = in(reg) usize::from(input[0]),
            );
        }
    });
    assert!(text.starts_with("a trace cannot follow `mov") && text.contains("%ss"), "{text}");
}

#[test]
fn what_system_calls_point_to_is_compared_or_the_function_is_skipped() {
    let socket = || {
        let mut ends = [0; 2];
        // SAFETY: the call writes only to this local variable.
        assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM, 0, ends.as_mut_ptr()) }, 0);
        ends[0]
    };
    let vector = |length: usize| libc::iovec { iov_base: SENT.as_ptr().cast_mut().cast(), iov_len: length };
    let end = socket();
    let text = reason(|input| {
        let mut part = vector(1 + usize::from(input[0]));
        // SAFETY: zeros are valid for this structure, and the call reads live values.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
            sink(libc::sendmsg(end, &message, libc::MSG_DONTWAIT));
        }
    });
    assert_eq!(text, "the function makes system call 46 (sendmsg), whose arguments the lab cannot compare");
    // SAFETY: all these calls read live values.
    let text = leak(|input| unsafe {
        let part = vector(1 + usize::from(input[0]));
        let file = libc::memfd_create(c"file".as_ptr(), 0);
        sink(libc::syscall(libc::SYS_pwritev2, file, &raw const part, 1, 0, 0, 0));
    });
    assert!(text.contains("times, lengths or paths"), "{text}");
    let text = leak(|input| {
        let path = [b'/', b'a' + input[0] % 16, 0];
        // SAFETY: the path ends with a zero byte.
        sink(unsafe { libc::access(path.as_ptr().cast(), 0) });
    });
    assert!(text.contains("times, lengths or paths"), "{text}");
    // The trace can compare a function that opens and reads a file.
    let found = trace::compare(&inputs(), &mut |_| sink(std::fs::read("/proc/self/comm")));
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

static SENT: [u8; 256] = [0; 256];

#[test]
fn a_function_with_its_memory_open_as_a_file_is_skipped() {
    let file = std::sync::OnceLock::new();
    let text = reason(|_| {
        sink(file.get_or_init(|| std::fs::File::open("/proc/self/mem").expect("a file")).metadata());
    });
    assert!(text.starts_with("the function opens the memory of a process as a file"), "{text}");
}

static SECRET: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: libc::c_int) {
    sink(control::lookup(SECRET.load(Ordering::SeqCst) as u8));
}

#[test]
fn a_function_whose_signal_handler_runs_is_skipped() {
    let installed = |signal| {
        move |input: &mut [u8]| {
            SECRET.store(input[0].into(), Ordering::SeqCst);
            // SAFETY: the handler is a function of the right type, which reads a table.
            unsafe { libc::signal(signal, handle as *const () as usize) };
        }
    };
    let gets = "the function gets a signal; a trace does not follow signal handlers";
    let send: [(&str, fn()); 4] = [
        // SAFETY: the handler of the signal only reads a table.
        ("raise", || unsafe { sink(libc::raise(libc::SIGUSR1)) }),
        // SAFETY: see above.
        ("kill", || unsafe { sink(libc::kill(libc::getpid(), libc::SIGUSR1)) }),
        // SAFETY: see above.
        ("alarm", || unsafe { sink(libc::alarm(1)) }),
        // SAFETY: the calls use a live local variable and the descriptors that the first call opens.
        ("pipe", || unsafe {
            let mut ends = [0; 2];
            libc::pipe(ends.as_mut_ptr());
            libc::close(ends[0]);
            libc::write(ends[1], ends.as_ptr().cast(), 1);
            libc::close(ends[1]);
        }),
    ];
    for (name, send) in send {
        let signal = if name == "pipe" { libc::SIGPIPE } else { libc::SIGUSR1 };
        let text = reason(|input| {
            installed(signal)(input);
            send();
        });
        assert_eq!(text, gets, "{name}");
    }
    let text = reason(|input| {
        installed(libc::SIGTRAP)(input);
        // SAFETY: the handler of the trap only reads a table.
        unsafe { std::arch::asm!("int3") };
    });
    assert!(text.starts_with("the function was killed by signal 5 "), "{text}");
    // A function that only blocks signals and unblocks them again is not skipped.
    // SAFETY: the calls use live locals, for which zeros are valid.
    let found = trace::compare(&inputs(), &mut |_| unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut old);
        sink(control::lookup(3));
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
    });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

#[test]
fn a_function_that_wakes_another_thread_is_skipped() {
    let (work, wake) = (std::sync::Mutex::new(0), std::sync::Condvar::new());
    let text = reason(|input| {
        *work.lock().expect("a lock") = input[0];
        wake.notify_one();
    });
    assert_eq!(text, "the function wakes another thread; a trace follows one thread only");
}

fn operation_with_argument(operation: i32, argument: libc::c_long) {
    // SAFETY: the operations of this test affect only file descriptors.
    unsafe { libc::syscall(libc::SYS_fcntl, 0, operation, argument) };
}

#[test]
fn arguments_of_system_calls_are_compared() {
    let zero = std::fs::File::open("/dev/zero").expect("a file");
    let text = leak(|input| {
        use std::io::Read;
        let mut buffer = [0; 256];
        sink((&zero).read(&mut buffer[..usize::from(input[0])]));
    });
    assert!(text.contains("whose argument 3 of system call 0 is 0x"), "{text}");
    let text = leak(|input| std::thread::sleep(std::time::Duration::from_micros(1 + u64::from(input[0]))));
    assert!(text.contains("which passes different times, lengths or paths to system call 230"), "{text}");
    // SAFETY: the time is a live local.
    let text = leak(|input| unsafe {
        let time = libc::timespec { tv_sec: 0, tv_nsec: input[0].into() };
        libc::syscall(libc::SYS_nanosleep, &raw const time, 0);
    });
    assert!(text.contains("which passes different times, lengths or paths to system call 35"), "{text}");
    // SAFETY: neither call has a precondition.
    let text = leak(|input| unsafe {
        let number = if input[0] < 100 { libc::SYS_getuid } else { libc::SYS_getgid };
        libc::syscall(number);
    });
    assert!(text.contains("which makes system call 102 or 104"), "{text}");
    let text = leak(|input| operation_with_argument(libc::F_SETFL, libc::c_long::from(input[0] & 1) << 11));
    assert!(text.contains("whose argument 3 of system call 72 is 0x0 or 0x800"), "{text}");
    // The kernel refuses a signal stack of this size, so the call changes nothing.
    let text = leak(|input| {
        let stack = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: usize::from(input[0]) };
        // SAFETY: the kernel only reads the structure, and only during the call.
        unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
    });
    assert!(text.contains("which passes different times, lengths or paths to system call 131"), "{text}");
    // SAFETY: the call returns at once, because the word is not the expected value 1000.
    let text = leak(|input| unsafe {
        let word = u32::from(input[0]);
        libc::syscall(libc::SYS_futex, &raw const word, libc::FUTEX_WAIT, 1000, 0);
    });
    assert!(text.contains("which passes different times, lengths or paths to system call 202"), "{text}");
    let text = leak(|input| operation_with_argument(libc::F_DUPFD, 100 + libc::c_long::from(input[0])));
    assert!(text.contains("whose argument 3 of system call 72 is 0x"), "{text}");
    let found = trace::compare(&inputs(), &mut |input| operation_with_argument(libc::F_GETFD, input[0].into()));
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
    let base = page(libc::PROT_READ, false)[0] as u64;
    // SAFETY: `mremap` moves no memory, because there is no memory at address zero. The second call names a page.
    let text = leak(|input| unsafe {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::syscall(libc::SYS_mremap, 0, 4096, 4096, flags, base + (u64::from(input[0]) << 12));
    });
    assert!(text.contains("whose argument 5 of system call 25 is 0x"), "{text}");
    // SAFETY: see above.
    let text = leak(|input| unsafe {
        libc::syscall(libc::SYS_prctl, 0x5356_4d41, 0, base, u64::from(input[0]) << 12, c"page".as_ptr());
    });
    assert!(text.contains("whose argument 4 of system call 157 is 0x"), "{text}");
    // A register that is not an argument of the system call may contain a secret. SAFETY: neither call uses memory, and
    // there is no descriptor -1.
    let found = trace::compare(&inputs(), &mut |input| unsafe {
        libc::syscall(libc::SYS_getuid, u64::from(input[0]), 1, u64::from(input[0]));
        libc::syscall(libc::SYS_close, -1, u64::from(input[0]));
    });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

#[test]
fn a_branch_on_a_random_bit_is_never_a_leak() {
    let random = || {
        let mut byte = 0_u8;
        // SAFETY: the byte is a live local.
        unsafe { libc::getrandom((&raw mut byte).cast(), 1, 0) };
        byte
    };
    let sources: [(_, fn() -> u64); 3] = [
        // SAFETY: each x86-64 processor has a time-stamp counter.
        ("time stamp", || unsafe { std::arch::x86_64::_rdtsc() } >> 8),
        // SAFETY: the call has no precondition.
        ("process number", || unsafe { libc::getpid() as u64 }),
        ("clock", || std::time::SystemTime::now().elapsed().map_or(1, |time| time.as_nanos() as u64 >> 4)),
    ];
    let work = |bit: u64| {
        if black_box(bit & 1 == 1) {
            sink(control::lookup(7));
        }
    };
    let runs = |name: &str, runs: u32, run: &mut dyn FnMut(&mut [u8])| {
        let mut equal = 0;
        for _ in 0..runs {
            let found = trace::compare(&inputs(), run);
            assert_eq!(found.divergence, None, "{name}");
            equal += u32::from(found.equal);
        }
        eprintln!("{name}: equal in {equal} of {runs}");
        assert!(equal * 5 <= runs, "{name}: equal in {equal} of {runs}");
    };
    runs("random bit", 100, &mut |_| work(random().into()));
    for (name, source) in sources {
        runs(name, 15, &mut |_| work(source()));
    }
    for _ in 0..10 {
        let text = leak(|input| work(u64::from(input[0]) >> 4 | u64::from(random()) << 8));
        assert!(text.contains("differ at instruction"), "{text}");
    }
}

/// The trace lists a masked access, but does not report it as a leak. The trace treats AVX2 code and AVX-512 code in
/// the same way. The addresses that a gather instruction accesses depend on its mask.
#[test]
fn masks_are_treated_alike_in_all_instruction_sets() {
    let memory = [0_u8; 128];
    let check = |name: &str, found: deadpan_lab::record::Trace| {
        assert_eq!((found.equal, &found.skipped), (true, &None), "{name}: {found:?}");
        assert!(found.masked.iter().any(|access| access.secret), "{name}: {found:?}");
        assert!(found.notes.iter().any(|note| note.contains("the input decides which bytes")), "{name}: {found:?}");
        assert_eq!(trace::leaks(&found), None, "{name}");
    };
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the code reads from the 128 bytes, and the processor has AVX2.
        let found = trace::compare(&inputs(), &mut |input| unsafe {
            std::arch::asm!(
                "vmovd xmm1, {0:e}", "vpbroadcastd ymm1, xmm1", "vpslld ymm1, ymm1, 28", "vmaskmovps ymm0, ymm1, [{1}]",
                in(reg) u32::from(input[0]), in(reg) memory.as_ptr(), out("xmm0") _, out("xmm1") _,
            );
        });
        check("AVX2", found);
    }
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the code reads from the 128 bytes, and the processor has AVX-512BW.
        let found = trace::compare(&inputs(), &mut |input| unsafe {
            std::arch::asm!(
                "kmovd k1, {0:e}", "vmovdqu8 zmm0{{k1}}{{z}}, [{1}]",
                in(reg) u32::from(input[0]), in(reg) memory.as_ptr(), out("xmm0") _, out("k1") _,
            );
        });
        check("AVX-512", found);
    }
}
