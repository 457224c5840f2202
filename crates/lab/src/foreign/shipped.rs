//! The workers that come with the lab: one worker for each language. Each worker is a file that users can copy and
//! change.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use super::Error;
use crate::cleanup::Cleanup;

/// A language for which the lab contains a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python 3.8 or later.
    Python,
    /// Go 1.21 or later.
    Go,
    /// Java 17 or later.
    Java,
    /// JavaScript, for Node.js.
    JavaScript,
}

/// A worker in a temporary folder. The folder is removed when this value is dropped.
#[derive(Debug)]
pub struct Shipped {
    command: String,
    _folder: Cleanup,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 4] = [Self::Python, Self::Go, Self::Java, Self::JavaScript];

    /// The language's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::JavaScript => "JavaScript",
        }
    }

    /// The name of the worker's file.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Python => "worker.py",
            Self::Go => "worker.go",
            Self::Java => "Worker.java",
            Self::JavaScript => "worker.js",
        }
    }

    /// The worker's source.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Python => include_str!("../../workers/python/worker.py"),
            Self::Go => include_str!("../../workers/go/worker.go"),
            Self::Java => include_str!("../../workers/java/Worker.java"),
            Self::JavaScript => include_str!("../../workers/javascript/worker.js"),
        }
    }

    /// If the machine lacks a program that the worker needs, returns the name of the program, otherwise `None`.
    #[must_use]
    pub fn missing(self) -> Option<&'static str> {
        let (program, argument) = match self {
            Self::Python => ("python3", "--version"),
            Self::Go => ("go", "version"),
            Self::Java => ("java", "--version"),
            Self::JavaScript => ("node", "--version"),
        };
        let output = Command::new(program).arg(argument).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let output = output.ok().filter(|output| output.status.success());
        match output {
            None => Some(program),
            Some(output) if self == Self::Java && !new_enough(&String::from_utf8_lossy(&output.stdout)) => {
                Some("java 17 or later")
            }
            Some(_) => None,
        }
    }

    /// Writes the worker to a temporary folder, compiles the worker if necessary, and returns the command that runs the
    /// worker.
    ///
    /// # Errors
    /// Fails if the folder cannot be written or the worker does not compile.
    pub fn prepare(self) -> Result<Shipped, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let fault = |why: String| Error::Prepare { language: self.name(), why };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("deadpan-lab-worker-{}-{number}", process::id()));
        let guard = Cleanup::removing(&folder);
        let file = folder.join(self.file());
        fs::create_dir(&folder)
            .and_then(|()| fs::write(&file, self.source()))
            .map_err(|error| fault(format!("cannot write {}: {error}", file.display())))?;
        let command = match self {
            Self::Python => format!("exec python3 {}", quoted(&file)),
            Self::Java => format!("exec java -XX:+UseSerialGC {}", quoted(&file)),
            Self::JavaScript => format!("exec node {}", quoted(&file)),
            Self::Go => {
                let program = folder.join("worker");
                let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(&file).output();
                match built {
                    Ok(output) if output.status.success() => format!("exec {}", quoted(&program)),
                    Ok(output) => return Err(fault(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())),
                    Err(error) => return Err(fault(format!("cannot start go: {error}"))),
                }
            }
        };
        Ok(Shipped { command, _folder: guard })
    }
}

impl Shipped {
    /// The command that runs the worker.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }
}

/// Returns whether the first line of `java --version` shows version 17 or later, for example
/// `openjdk 17.0.15 2025-04-15`.
fn new_enough(text: &str) -> bool {
    let version = text.split_whitespace().nth(1).unwrap_or_default();
    version.split(['.', '-', '+']).next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 17)
}

fn quoted(path: &std::path::Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_java_are_compared() {
        assert!(new_enough("openjdk 17.0.15 2025-04-15\nOpenJDK Runtime"));
        assert!(new_enough("java 21 2023-09-19 LTS") && new_enough("openjdk 25-ea 2025-09-16"));
        assert!(!new_enough("openjdk 11.0.2 2019-01-15") && !new_enough(""));
    }

    #[test]
    fn every_worker_names_itself_and_the_protocol() {
        for language in Language::ALL {
            let source = language.source();
            assert!(source.contains("DPWK") && source.contains("docs/lab-worker.md"), "{language:?}");
            assert!(source.lines().all(|line| line.chars().count() <= 120), "{language:?}");
        }
    }
}
