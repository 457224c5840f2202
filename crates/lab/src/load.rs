//! Keeps a processor busy during a measurement, because error rates of an idle machine are not valid for a busy
//! machine.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::cleanup::Cleanup;

/// Keeps a processor busy until this value is dropped. A thread runs a compiler in a loop. If no compiler is installed,
/// the thread sorts numbers.
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    name: &'static str,
    /// A guard that removes the folder with the compiler's files. The guard is dropped after the thread has ended.
    _folder: Cleanup,
}

impl Load {
    /// Starts the load.
    #[must_use]
    pub fn start() -> Self {
        let folder = folder();
        let cleanup = Cleanup::removing(&folder);
        let compiler = ["rustc", "cc"].into_iter().find(|program| runs(program));
        let prepared = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("load.rs"), rust()))
            .and_then(|()| std::fs::write(folder.join("load.c"), c()));
        let compiler = compiler.filter(|_| prepared.is_ok());
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                match compiler {
                    Some(program) => compile(program, &folder, &seen),
                    None => sort(),
                }
            }
        });
        let name = match compiler {
            Some("rustc") => "rustc compiling in a loop",
            Some(_) => "a C compiler in a loop",
            None => "sorting in a loop",
        };
        Self { stop, thread: Some(thread), name, _folder: cleanup }
    }

    /// Returns a description of the load, for reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("deadpan-lab-load-{}", std::process::id()))
}

fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn compile(program: &str, folder: &std::path::Path, stop: &AtomicBool) {
    let mut command = Command::new(program);
    if program == "rustc" {
        command.args(["--crate-type", "lib", "--edition", "2021", "-O", "--emit", "obj", "-o", "load.o", "load.rs"]);
    } else {
        command.args(["-O2", "-c", "-o", "load.o", "load.c"]);
    }
    let Ok(mut child) = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return sort();
    };
    while matches!(child.try_wait(), Ok(None)) {
        if stop.load(Ordering::Relaxed) {
            let _ = child.kill();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn sort() {
    let mut random = crate::Random::new(1);
    let mut numbers: Vec<u64> = (0..200_000).map(|_| random.bits()).collect();
    numbers.sort_unstable();
    std::hint::black_box(numbers);
}

fn rust() -> String {
    let function = |n: u32| {
        format!(
            "pub fn f{n}(v: &mut Vec<(u64, String)>) -> u64 {{ v.sort_by_key(|x| x.0.rotate_left({n} % 64)); \
             v.iter().map(|x| x.0.wrapping_mul({n}) ^ x.1.len() as u64).filter(|x| x % 3 == 1).fold({n}, |a, b| \
             a.rotate_left(5) ^ b) }}\n"
        )
    };
    (0..120).map(function).collect()
}

fn c() -> String {
    let function = |n: u32| {
        format!(
            "unsigned long f{n}(unsigned long *v, int n) {{ unsigned long a = {n}; \
             for (int i = 0; i < n; i++) for (int j = i; j < n; j += {n} % 7 + 1) a ^= v[i] * v[j] >> (a & 15); \
             return a; }}\n"
        )
    };
    (0..400).map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_load_removes_its_folder() {
        let load = Load::start();
        let folder = folder();
        std::thread::sleep(std::time::Duration::from_millis(60));
        drop(load);
        assert!(!folder.exists());
    }
}
