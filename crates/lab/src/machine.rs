//! Describes the machine, the clock and the program of a measurement. Every record contains this description, because a
//! time means little if the machine is unknown. The description contains no paths and no host name.
//!
//! ```
//! use deadpan_lab::{clock, machine};
//!
//! let machine = machine::machine(&*clock::best());
//! assert!(machine.processors > 0);
//! assert!(machine::now().ends_with('Z'));
//! ```

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use crate::clock::{self, Clock};
use crate::invocation::code;
use crate::record::{Machine, Tool};

/// Returns the properties of this machine, and the properties of `clock` on this machine.
#[must_use]
pub fn machine(clock: &dyn Clock) -> Machine {
    Machine {
        cpu: cpu(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        architecture: std::env::consts::ARCH.to_owned(),
        system: system(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        hypervisor: hypervisor(),
        load: load(),
        clock: clock::facts(clock),
    }
}

/// Returns the properties of the running program: its name, version, digest, and the revision of its sources.
///
/// The revision is the value of the environment variable `DEADPAN_REVISION` when this crate was built. If
/// `DEADPAN_REVISION` was not set, git reports the revision of the package that cargo runs. If cargo does not run the
/// program, git reports the revision of the current directory. The revision of the current directory is used only if
/// the program's file is in the same work tree, because another work tree may have other sources. If there are
/// uncommitted changes, the revision ends with `-dirty`.
#[must_use]
pub fn tool(name: &str, version: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        version: version.to_owned(),
        revision: option_env!("DEADPAN_REVISION").map(str::to_owned).or_else(|| revision(&sources()?)),
        binary_sha256: code().and_then(|path| digest(&path)),
    }
}

/// Returns the present time in UTC in the format of RFC 3339, in full seconds.
#[must_use]
pub fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    rfc_3339(since.map_or(0, |since| since.as_secs()))
}

fn rfc_3339(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // In this calculation, a year begins in March, so the leap day is the last day of the year. 400 years have 146 097
    // days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // If the year begins in March, each group of five months has 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Returns the load average over one minute.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Returns the name, family and model of the first processor in `/proc/cpuinfo`. For Arm processors, `/proc/cpuinfo`
/// contains numbers instead of names.
fn cpu(info: &str) -> String {
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    if let (Some(name), Some(family), Some(model)) = (field("model name"), field("cpu family"), field("model")) {
        return format!("{name} (family {family}, model {model})");
    }
    if let (Some(implementer), Some(part)) = (field("CPU implementer"), field("CPU part")) {
        return format!("implementer {implementer}, part {part}");
    }
    brand().unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(target_arch = "x86_64")]
fn brand() -> Option<String> {
    use core::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < 0x8000_0004 {
        return None;
    }
    let registers = (0x8000_0002..=0x8000_0004).map(__cpuid).flat_map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]);
    Some(text(registers))
}

#[cfg(not(target_arch = "x86_64"))]
fn brand() -> Option<String> {
    None
}

/// Returns the hypervisor's name, which CPUID leaf 4000_0000h contains.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<String> {
    use core::arch::x86_64::__cpuid;
    // A hypervisor sets bit 31 of leaf 1. Without a hypervisor, leaf 4000_0000h has no defined content.
    if __cpuid(1).ecx & (1 << 31) == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let name = text([leaf.ebx, leaf.ecx, leaf.edx].into_iter());
    Some(if name.is_empty() { "unnamed".to_owned() } else { name })
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    None
}

#[cfg(target_arch = "x86_64")]
fn text(registers: impl Iterator<Item = u32>) -> String {
    let bytes = registers.flat_map(u32::to_le_bytes).filter(|byte| (b' '..=b'~').contains(byte));
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).trim().to_owned()
}

fn system() -> String {
    let kernel = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).map(|line| line.trim().to_owned());
    match (kernel("ostype"), kernel("osrelease")) {
        (Ok(name), Ok(release)) => format!("{name} {release}"),
        _ => std::env::consts::OS.to_owned(),
    }
}

/// Returns the folder with the sources of the running program, or `None` if the folder is unknown.
fn sources() -> Option<PathBuf> {
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        return Some(package.into());
    }
    let here = std::env::current_dir().ok()?;
    let top = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    let program = code()?.canonicalize().ok()?;
    program.starts_with(&top).then_some(top)
}

fn revision(directory: &Path) -> Option<String> {
    let head = git(directory, &["rev-parse", "HEAD"])?;
    let changed = git(directory, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { head } else { head + "-dirty" })
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the SHA-256 digest of a file in hexadecimal.
fn digest(path: &Path) -> Option<String> {
    let mut file = fs::File::open(path).ok()?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut block).ok()? {
            0 => break,
            length => hash.update(&block[..length]),
        }
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_with_family_and_model() {
        let info =
            "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: A Processor @ 2 GHz\n\nprocessor\t: 1\n";
        assert_eq!(cpu(info), "A Processor @ 2 GHz (family 6, model 143)");
        assert_eq!(cpu("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"), "implementer 0x41, part 0xd0c");
    }

    #[test]
    fn the_digest_of_abc_is_that_of_fips_180() {
        let path = std::env::temp_dir().join(format!("deadpan-lab-digest-{}", std::process::id()));
        fs::write(&path, "abc").unwrap();
        let digest = digest(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(digest.as_deref(), Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    }

    #[test]
    fn this_machine_and_this_program_are_described() {
        let machine = machine(&clock::System::new());
        assert!(machine.cpu.len() > 3 && machine.processors > 0 && !machine.system.is_empty(), "{machine:?}");
        let tool = tool("lab", "1");
        assert_eq!(tool.binary_sha256.map(|digest| digest.len()), Some(64));
        assert!(tool.revision.is_none_or(|revision| revision.len() >= 40));
    }

    #[test]
    fn the_time_has_the_format_of_rfc_3339() {
        let now = now();
        assert!(now.len() == 20 && now.as_str() > "2026-01-01T00:00:00Z", "{now}");
    }

    #[test]
    fn dates_in_leap_years_are_right() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc_3339(seconds), date);
        }
    }
}
