//! Where and with what it was measured: the first lines of every record.
//!
//! A figure without its machine means nothing to anybody else. Nothing here names a path or a host.
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
use crate::record::{Machine, Tool};

/// This machine, and what reading this clock takes on it.
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

/// The program that runs, and the revision of its sources.
///
/// The revision is that of the environment variable `DEADPAN_REVISION` when this crate was built, or else what git says of the package
/// that cargo runs; without cargo, of the current directory, but only if the program itself lies in that work tree: any other would name
/// somebody else's sources. Changes that are not committed show as `-dirty`.
#[must_use]
pub fn tool(name: &str, version: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        version: version.to_owned(),
        revision: option_env!("DEADPAN_REVISION").map(str::to_owned).or_else(|| revision(&sources()?)),
        binary_sha256: std::env::current_exe().ok().and_then(|path| digest(&path)),
    }
}

/// The time now, RFC 3339, UTC, in full seconds.
#[must_use]
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The load average over one minute.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Name, family and model from what Linux says of the first processor. Arm processors have numbers only.
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

/// The name that the hypervisor gives itself in leaf 4000_0000h.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<String> {
    use core::arch::x86_64::__cpuid;
    // Bit 31 of leaf 1 is reserved for hypervisors to say that they are there; without one, leaf 4000_0000h may hold anything.
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

/// The directory whose git revision is that of the running program's sources.
fn sources() -> Option<PathBuf> {
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        return Some(package.into());
    }
    let here = std::env::current_dir().ok()?;
    let top = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    program.starts_with(&top).then_some(top)
}

fn revision(directory: &Path) -> Option<String> {
    let head = git(directory, &["rev-parse", "HEAD"])?;
    let changed = git(directory, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { head } else { head + "-dirty" })
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(directory).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The SHA-256 of a file.
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
        let info = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: A Processor @ 2 GHz\n\nprocessor\t: 1\n";
        assert_eq!(cpu(info), "A Processor @ 2 GHz (family 6, model 143)");
        assert_eq!(cpu("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"), "implementer 0x41, part 0xd0c");
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let path = std::env::temp_dir().join(format!("deadpan-lab-digest-{}", std::process::id()));
        fs::write(&path, "abc").unwrap();
        let digest = digest(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(digest.as_deref(), Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    }

    #[test]
    fn this_machine_and_this_program_are_known() {
        let machine = machine(&clock::System::new());
        assert!(machine.cpu.len() > 3 && machine.processors > 0 && !machine.system.is_empty(), "{machine:?}");
        let tool = tool("lab", "1");
        assert_eq!(tool.binary_sha256.map(|digest| digest.len()), Some(64));
        assert!(tool.revision.is_none_or(|revision| revision.len() >= 40));
    }

    #[test]
    fn the_time_has_the_form_of_the_standard() {
        let now = now();
        assert!(now.len() == 20 && now.parse::<jiff::Timestamp>().is_ok(), "{now}");
    }
}
