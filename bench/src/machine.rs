//! The machine, and the core that the process is pinned to.

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

/// Pins the process to its present core, so that no round includes a migration. Returns none if the system does not
/// allow it.
pub fn stay() -> Option<usize> {
    let core = sched_getcpu();
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).ok().map(|()| core)
}

/// Returns a paragraph about the machine and the build.
pub fn describe(core: Option<usize>) -> String {
    let cpu = read("/proc/cpuinfo", "model name");
    let family = [read("/proc/cpuinfo", "cpu family"), read("/proc/cpuinfo", "model")].join("/");
    let core = core.map_or("not pinned".to_owned(), |core| format!("pinned to core {core}"));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let level = deadpan_ct::cpu::level().name();
    // scripts/bench sets this variable to the compiler and the flags of the build.
    let build = std::env::var("DEADPAN_BENCH_BUILD").unwrap_or("unknown build (run scripts/bench)".to_owned());
    format!("machine: {cpu}, family/model {family}, level {level}, {core}, load {load}\nbuild:   {build}")
}

fn read(path: &str, key: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let found = fields.into_iter().find(|(name, _)| name.trim() == key);
    found.map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}
