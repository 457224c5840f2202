//! Tests with functions of shared libraries, and with workers that obey or violate the protocol. No test depends on
//! measured time.
#![cfg(all(unix, feature = "harness"))]
#![allow(unsafe_code, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use deadpan_lab::foreign::{self, Abi, Error, ForeignClass, Language, Worker, shared_library};
use deadpan_lab::record::Verdict;
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Silent, Target};

/// A folder for one test. The folder is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("deadpan-lab-foreign-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn library(&self) -> PathBuf {
        let (source, library) = (self.file("functions.c", C), self.0.join("libfunctions.so"));
        let status =
            Command::new("cc").args(["-g", "-O1", "-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(status.expect("a C compiler").success());
        library
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const C: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int leaky_compare(const uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

int steady_compare(const uint8_t *a, const uint8_t *b, size_t n) {
    unsigned d = 0;
    for (size_t i = 0; i < n; i++) d |= a[i] ^ b[i];
    return 1 & ((d - 1) >> 8);
}

uint32_t divide(uint32_t secret) { return 1000000007u / (secret | 1); }

static const uint8_t table[256] = {1, 2, 3};
int lookup(const uint8_t *secret) { return table[secret[3]]; }

/* Ends the process if an argument is not what the tests state. */
void arguments(uint8_t *out, const uint8_t *a, const uint8_t *b, int64_t minus, uint16_t zeros, uint8_t *changed) {
    if ((uintptr_t)out % 16 || (uintptr_t)a % 16 || (uintptr_t)b % 16 || (uintptr_t)changed % 16) abort();
    if (memcmp(a, b, 20) != 0 || minus != -7 || changed[0] == 0) abort();
    (void)zeros;
    memset(out, 0xff, 100);
    changed[0] = 0;
}
"#;

fn library(path: &Path, symbol: &str, abi: &str, classes: &str) -> Result<Target, Error> {
    let classes = if classes.is_empty() { Vec::new() } else { ForeignClass::list(classes)? };
    // SAFETY: the functions of these tests take the arguments that the tests state.
    unsafe { shared_library(path, symbol, &abi.parse()?, &classes) }
}

#[test]
#[cfg(all(feature = "trace", target_arch = "x86_64", target_os = "linux"))]
fn a_trace_finds_the_leaks_of_a_c_library_and_names_their_lines() {
    use deadpan_lab::trace;

    let folder = Folder::new("trace");
    let path = folder.library();
    let finding = |symbol: &str, abi: &str, classes: &str| {
        let trace = trace::target(&mut library(&path, symbol, abi, classes).unwrap(), 1);
        assert_eq!(trace.skipped, None, "{symbol}");
        trace::leaks(&trace)
    };
    let compare = "secret:32,public:32,len:32->int";
    let text = finding("leaky_compare", compare, "first,last").expect("an early exit");
    assert!(text.contains("leaky_compare") && text.contains("functions.c:"), "{text}");
    assert!(finding("leaky_compare", compare, "").is_some(), "the usual classes find an early exit");
    assert_eq!(finding("steady_compare", compare, ""), None);
    assert_eq!(finding("steady_compare", compare, "equal,first,last,differs:16,random"), None);
    let text = finding("divide", "secret-int:4", "").expect("a division");
    assert!(text.contains("div") && text.contains("functions.c:"), "{text}");
    let text = finding("lookup", "secret:16", "").expect("a secret index");
    assert!(text.contains("lookup"), "{text}");
}

#[test]
fn a_function_gets_the_stated_arguments() {
    let folder = Folder::new("arguments");
    let (path, seven) = (folder.library(), folder.file("seven.bin", &"7".repeat(20 + 20 + 2 + 1)));
    let abi: Abi = "out:100,secret:20,secret:20,int:-7,secret-int:2,inout:1->void".parse().unwrap();
    let classes = [ForeignClass::from_file("seven", &seven, &abi).unwrap()];
    // SAFETY: the function `arguments` takes the arguments that `abi` states.
    let mut target = unsafe { shared_library(&path, "arguments", &abi, &classes) }.unwrap();
    let mut random = deadpan_lab::Random::new(1);
    let mut memory = vec![0; target.length() + 16];
    let start = memory.as_ptr().align_offset(16);
    let input = &mut memory[start..start + target.length()];
    for _ in 0..50 {
        target.fill(0, &mut random, input);
        let before = input.to_vec();
        target.call(input);
        let changed: Vec<usize> = (0..input.len()).filter(|&place| input[place] != before[place]).collect();
        assert_eq!(changed.len(), 1, "only the changed part differs");
    }
}

#[test]
fn a_wrong_library_symbol_or_class_is_named() {
    let folder = Folder::new("wrong");
    let path = folder.library();
    let error = |path: &Path, symbol: &str, abi: &str, classes: &str| match library(path, symbol, abi, classes) {
        Ok(target) => panic!("{target:?}"),
        Err(error) => error,
    };
    let abi = "secret:32,public:32,len:32";
    let Error::Symbol { similar, exported, .. } = error(&path, "leaky_compar", abi, "") else { panic!() };
    assert_eq!((similar[0].as_str(), exported), ("leaky_compare", 5));
    assert!(error(&path, "table", abi, "").to_string().contains("exports no function"), "a static variable");
    let missing = error(Path::new("missing.so"), "x", abi, "");
    assert!(missing.to_string().contains("missing.so: there is no such file"), "{missing}");
    let text = error(&folder.file("text.so", "text"), "x", abi, "");
    assert!(matches!(text, Error::Library { .. }) && text.to_string().contains("text.so"), "{text}");
    assert!(
        matches!(error(&path, "leaky_compare", "secret:32,pubic:32", ""), Error::Abi { part, .. } if part == "pubic:32")
    );
    assert!(matches!(error(&path, "lookup", "secret:16", "equal"), Error::Class { name, .. } if name == "equal"));
    let abi: Abi = abi.parse().unwrap();
    let short = ForeignClass::from_file("short", &folder.file("short", "x"), &abi).unwrap_err().to_string();
    assert!(short.contains("length in bytes, 1,") && short.contains("32 secret bytes"), "{short}");
    let absent = ForeignClass::from_file("absent", &folder.0.join("absent"), &abi).unwrap_err();
    assert!(absent.to_string().contains("cannot read the file"), "{absent}");
}

fn python() -> bool {
    let found = Language::Python.missing().is_none();
    if !found {
        crate::skipped("no python3");
    }
    found
}

const LIMIT: Duration = Duration::from_secs(60);

/// A worker whose clock counts simulated ticks. A call takes 100 ticks. In target 0, a call takes 5 ticks more for each
/// byte that is equal at the start of the two parts.
const SIMULATED: &str = r#"
import random, struct, sys
noise = random.Random(1)
def read(count):
    data = sys.stdin.buffer.read(count)
    if len(data) < count: sys.exit(0)
    return data
hello = b"language: Python\nruntime: simulated\nclock: simulated\nhertz: 1000000000000\nwarm-up: 700\n" \
    b"target: leaky secret:8,public:8 first,last\ntarget: steady secret:8,public:8 first,last\n"
out = sys.stdout.buffer
out.write(b"DPWK" + struct.pack("<II", 1, len(hello)) + hello)
while True:
    out.flush()
    number, target, calls, count, length = struct.unpack("<5I", read(20))
    data = read(count * (8 + length))
    out.write(struct.pack("<II", number, count))
    for i in range(0, len(data), 8 + length):
        before, within = struct.unpack_from("<II", data, i)
        ticks = 20 + within + int(noise.expovariate(0.2))
        if target != 0xffffffff:
            left, right = data[i + 8 : i + 16], data[i + 16 : i + 24]
            same = 0
            while same < 8 and left[same] == right[same]: same += 1
            ticks += calls * (100 + (5 * same if target == 0 else 0))
        out.write(struct.pack("<Q", ticks))
"#;

#[test]
fn a_simulated_worker_leaks_where_it_should_and_only_there() {
    if !python() {
        return;
    }
    let folder = Folder::new("simulated");
    let file = folder.file("worker.py", SIMULATED);
    let worker = Worker::start(&format!("exec python3 '{}'", file.display()), LIMIT).unwrap();
    assert_eq!((worker.hello().language.as_str(), worker.hello().hertz), ("Python", 1e12));
    let settings = Settings { delta_ns: Some(0.01), looks: 4, seed: 1, ..Settings::default() };
    let mut verdicts = Vec::new();
    for mut target in worker.targets(&[]).unwrap() {
        worker.warm_up(&mut target, 1).unwrap();
        let report = timing::run(&mut target, &settings, &worker.clock(), &mut worker.watch(&mut Silent));
        worker.check().unwrap();
        let pair = &report.pairs[0];
        assert_eq!((pair.a.as_str(), pair.b.as_str()), ("first", "last"));
        assert!(pair.controls.delay.passed && pair.controls.leak.passed, "{:?}", pair.controls);
        verdicts.push(report.verdict);
        if report.verdict == Verdict::Leak {
            // The expected difference is 35 ps: 5 ps for each of seven bytes.
            let effect = pair.effects.iter().find(|effect| effect.quantile == Some(0.5)).unwrap();
            assert!(effect.difference.covers(0.035), "{effect:?}");
        }
    }
    assert_eq!(verdicts, [Verdict::Leak, Verdict::NoLeakAbove]);
}

#[test]
fn the_workers_of_the_lab_follow_the_protocol() {
    for language in Language::ALL {
        if let Some(missing) = language.missing() {
            crate::skipped(format_args!("{}: no {missing}", language.name()));
            continue;
        }
        let shipped = language.prepare().unwrap();
        let worker = Worker::start(shipped.command(), LIMIT).unwrap();
        assert_eq!(worker.hello().language, language.name());
        let targets = worker.targets(&[]).unwrap();
        assert_eq!(targets.len(), 2);
        for mut target in targets {
            worker.warm_up(&mut target, 1).unwrap();
            target.call(&mut [1; 64]);
            worker.check().unwrap();
        }
        let mut shown = 0;
        let findings = foreign::check(shipped.command(), LIMIT, &mut |_| shown += 1).unwrap();
        // The findings about time depend on the load of the machine, so the test only prints the findings and checks
        // their number.
        eprintln!("{}: {findings:#?}", language.name());
        assert_eq!((findings.len(), shown), (10, 10));
    }
}

const PAGE: &str = include_str!("../../../../docs/lab-worker.md");

fn documented() -> &'static str {
    let (_, rest) = PAGE.split_once("```python\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_worker_of_the_documentation_runs_as_printed() {
    // The documentation must state the true length of the text in its example.
    let text = PAGE.lines().find(|line| line.starts_with("language: Lua")).unwrap().replace('⏎', "\n");
    assert!(PAGE.contains(&format!("{} bytes of text", text.len())), "{}", text.len());
    if !python() {
        return;
    }
    let folder = Folder::new("page");
    let command = format!("python3 '{}'", folder.file("worker.py", documented()).display());
    let findings = foreign::check(&command, LIMIT, &mut |_| {}).unwrap();
    assert_eq!(findings.len(), 9);
}

/// Returns the command that starts the documentation's worker with a mistake in its source code: `wrong` replaces
/// `right` in the worker's source code.
fn mistaken(folder: &Folder, right: &str, wrong: &str) -> String {
    assert!(documented().contains(right), "{right}");
    format!("exec python3 '{}'", folder.file("worker.py", &documented().replace(right, wrong)).display())
}

#[test]
fn a_broken_rule_is_named() {
    if !python() {
        return;
    }
    const CLOCK: &str = "time.perf_counter_ns()";
    for (right, wrong, rule) in [
        (CLOCK, "0", "as many seconds as the lab's clock"),
        (CLOCK, "time.perf_counter_ns() // 1000000 * 1000000", "fine enough"),
        ("hertz: 1000000000", "hertz: 100000000000", "as many seconds as the lab's clock"),
        ("for _ in range(within)", "for _ in range(0)", "the delay loop takes time"),
        (
            "    for _ in range(before):\n        pass\n    start = time.perf_counter_ns()\n",
            "    start = time.perf_counter_ns()\n    for _ in range(before):\n        pass\n",
            "the delay before a measurement",
        ),
        ("for _ in range(calls)", "for _ in range(0)", "calls take longer"),
        ("for _ in range(calls)", "for _ in range(40 * min(calls, 5))", "calls take longer"),
        ("        sys.exit(0)", "        sys.exit(3)", "ends when its standard input is closed"),
    ] {
        let folder = Folder::new("mistaken");
        let findings = foreign::check(&mistaken(&folder, right, wrong), LIMIT, &mut |_| {}).unwrap();
        let named = findings.iter().any(|finding| !finding.passed && finding.what.contains(rule));
        assert!(named, "{wrong}: {findings:?}");
    }
}

#[test]
fn numbers_of_the_wrong_form_and_short_reads_are_named() {
    if !python() {
        return;
    }
    let short = Duration::from_secs(2);
    for (right, wrong, limit, wanted) in [
        (r#"pack("<II", 1"#, r#"pack(">II", 1"#, LIMIT, "first message are not little endian"),
        (r#"pack("<II", number"#, r#"pack(">II", number"#, LIMIT, "answer are not little endian"),
        (r#"pack("<Q", ticks"#, r#"pack(">Q", ticks"#, LIMIT, "times are not little endian"),
        (r#"unpack("<5I""#, r#"unpack(">5I""#, short, "did not answer within 2 s"),
        ("hertz: 1000000000", "hertz: 1000000", LIMIT, "is `hertz` right"),
        ("time.perf_counter_ns() - start", "start - time.perf_counter_ns() & 2**64 - 1", LIMIT, "is the first reading"),
        // This mistake affects only a request that is longer than 512 KiB.
        ("buffer.read(count)", "buffer.read(min(count, 1 << 19))", LIMIT, "ended while it was measuring"),
    ] {
        let folder = Folder::new("form");
        let error = foreign::check(&mistaken(&folder, right, wrong), limit, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wrong}: {error}");
    }
}

fn fault(command: &str, limit: Duration) -> Error {
    match Worker::start(command, limit) {
        Ok(worker) => panic!("{worker:?}"),
        Err(error) => error,
    }
}

#[test]
fn a_worker_that_does_not_begin_well_is_refused() {
    let short = Duration::from_millis(300);
    let error = fault("no-such-program-of-the-lab", LIMIT);
    let text = error.to_string();
    assert!(matches!(error, Error::Ended { .. }) && text.contains("no-such-program-of-the-lab"), "{text}");
    assert!(text.contains("not found"), "the shell's message is shown: {text}");

    let text = fault("echo broken >&2; exit 3", LIMIT).to_string();
    assert!(
        text.contains("ended at its start") && text.contains("exit status: 3") && text.contains("broken"),
        "{text}"
    );

    let text = fault("echo Hello World", LIMIT).to_string();
    assert!(text.contains("its first bytes are not `DPWK`, but \"Hello World"), "{text}");

    let text = fault("cat", LIMIT).to_string();
    assert!(text.contains("sends its input back"), "{text}");

    let error = fault(r"printf 'DPWK\2\0\0\0\0\0\0\0'; cat", LIMIT);
    assert!(matches!(error, Error::Version { found: 2, .. }), "{error}");

    let text = fault(r"printf 'DPWK\1\0\0\0\0\0\0\77'; cat", LIMIT).to_string();
    assert!(text.contains("little endian"), "{text}");

    let text = fault(r"printf 'DPWK\1\0\0\0\3\0\0\0abc'; cat", LIMIT).to_string();
    assert!(text.contains("`abc`") && text.contains("no colon"), "{text}");

    let error = fault("echo waiting >&2; sleep 1000", short);
    let text = error.to_string();
    assert!(matches!(error, Error::Silent { .. }) && text.contains("0.3 s") && text.contains("waiting"), "{text}");
}

/// Returns the command of the simulated worker with additional code, which runs before the answer to request `number`.
fn spoiled(folder: &Folder, number: u32, code: &str) -> String {
    let line = r#"    out.write(struct.pack("<II", number, count))"#;
    assert!(SIMULATED.contains(line));
    let text = SIMULATED.replace(line, &format!("    if number == {number}:\n        {code}\n{line}"));
    format!("exec python3 '{}'", folder.file("worker.py", &text).display())
}

#[test]
fn a_worker_that_dies_hangs_or_lies_ends_the_run_with_an_error() {
    if !python() {
        return;
    }
    let short = Duration::from_millis(1500);
    for (code, limit, wanted) in [
        ("sys.exit(5)", LIMIT, "ended while it was measuring (exit status: 5)"),
        ("raise ValueError('bad key')", LIMIT, "ValueError: bad key"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", LIMIT, "SIGSEGV"),
        ("import time; time.sleep(1000)", short, "did not answer within 1.5 s while it was measuring"),
        ("number += 1", LIMIT, "instead of the request's number"),
        ("out.write(b'debug: ')", LIMIT, "has the text \"debug: "),
        ("out.write(struct.pack('<II', number, count) + b'found: 7\\n')", LIMIT, "must print to standard error"),
        ("out.write(struct.pack('<II', number, count) + b'x\\n')", LIMIT, "print to standard"),
        ("count -= 1", LIMIT, "measurements"),
        ("noise.expovariate = lambda _: 1e15", LIMIT, "its clock counted"),
    ] {
        let folder = Folder::new("spoiled");
        // Requests up to number 60 belong to the start and the warm-up.
        for number in [1, 80] {
            let command = spoiled(&folder, number, code);
            let error = match Worker::start(&command, limit) {
                Err(error) => error,
                Ok(worker) => {
                    let mut target = worker.targets(&[]).unwrap().remove(0);
                    let settings = Settings { delta_ns: Some(0.01), seed: 1, ..Settings::default() };
                    timing::run(&mut target, &settings, &worker.clock(), &mut worker.watch(&mut Silent));
                    worker.check().expect_err(code)
                }
            };
            let text = error.to_string();
            assert!(text.contains(wanted) && text.contains("worker.py"), "{code} in request {number}: {text}");
        }
    }
}

#[test]
fn a_warm_up_that_takes_too_long_is_an_error() {
    if !python() {
        return;
    }
    let folder = Folder::new("warm");
    let file = folder.file("worker.py", &SIMULATED.replace("warm-up: 700", "warm-up: 10000000"));
    let worker = Worker::start(&format!("exec python3 '{}'", file.display()), Duration::from_millis(1500)).unwrap();
    let text = worker.warm_up(&mut worker.targets(&[]).unwrap()[0], 1).unwrap_err().to_string();
    assert!(text.contains("of the 10000000 calls of its warm-up took longer than 1.5 s"), "{text}");
}

#[test]
fn no_process_of_a_worker_is_left() {
    let folder = Folder::new("left");
    let id = folder.0.join("id");
    // The child process of the shell keeps the pipes open after the shell has ended.
    let command = format!("sleep 1000 & echo $! > '{}'; wait", id.display());
    let error = fault(&command, Duration::from_millis(500));
    assert!(matches!(error, Error::Silent { .. }), "{error}");
    let id = fs::read_to_string(id).unwrap();
    let alive = || Command::new("kill").args(["-0", id.trim()]).stderr(Stdio::null()).status().unwrap().success();
    for _ in 0..100 {
        if !alive() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    // In a container, there may be no process that waits for processes whose parent has ended. Processes that nobody
    // waits for become zombies, and the test accepts a zombie as an ended process.
    let state = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    assert!(state.contains(") Z "), "{state}");
}
