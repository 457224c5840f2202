//! Where records go.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Suite;
use super::args::OutputArgs;
use crate::clock::Clock;
use crate::record::{Record, SCHEMA_VERSION};
use crate::{machine, record};

/// An error that is shown to a person.
pub(super) type Fault = Box<dyn std::error::Error>;

/// A record of a run that begins.
pub(super) struct Run {
    pub(super) record: Record,
    begin: Instant,
}

impl Run {
    pub(super) fn new(suite: &Suite, command: &str, clock: &dyn Clock) -> Self {
        let record = Record {
            schema_version: SCHEMA_VERSION,
            tool: machine::tool(suite.name, suite.version),
            machine: machine::machine(clock),
            started: machine::now(),
            command: format!("{} {command}", suite.command),
            ..record::Record::default()
        };
        Self { record, begin: Instant::now() }
    }

    /// Writes what was asked for.
    pub(super) fn finish(mut self, output: &OutputArgs) -> Result<(), Fault> {
        self.record.seconds = self.begin.elapsed().as_secs_f64();
        if let Some(path) = &output.json {
            write(path, serde_json::to_string(&self.record)?.as_bytes())?;
        }
        #[cfg(feature = "report")]
        {
            if let Some(path) = &output.html {
                write(path, crate::report::html(&self.record).as_bytes())?;
            }
            if let Some(folder) = &output.markdown {
                crate::report::markdown_as(&self.record, &[], folder, "report.md", crate::report::Pictures::All)?;
            }
        }
        Ok(())
    }
}

impl OutputArgs {
    /// Whether standard output is taken by data.
    pub(super) fn takes_stdout(&self) -> bool {
        let dash = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        #[cfg(feature = "report")]
        if dash(&self.html) {
            return true;
        }
        dash(&self.json)
    }
}

/// Writes a file, or standard output for `-`.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    if path == Path::new("-") {
        return Ok(std::io::stdout().write_all(bytes)?);
    }
    std::fs::write(path, bytes).map_err(|error| {
        format!("cannot write {}: {error}\nhint: choose a folder that exists and may be written to", path.display()).into()
    })
}
