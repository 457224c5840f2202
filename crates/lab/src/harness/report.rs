//! The command `report`, which makes pages from records.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::args::ReportArgs;
use super::output::{Fault, write};
use crate::record::{Record, SCHEMA_VERSION};
use crate::report;

pub(super) fn run(args: &ReportArgs) -> Result<ExitCode, Fault> {
    let mut records = args.records.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut record = records.next().ok_or("no record")?;
    for other in records {
        join(&mut record, other);
    }
    let history = args.history.iter().map(|path: &PathBuf| read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &args.html {
        write(path, report::html_with_history(&record, &history).as_bytes())?;
    }
    if let Some(folder) = &args.markdown {
        let detail = match args.detail.as_str() {
            "brief" => report::Detail::Brief,
            "main" => report::Detail::Main,
            _ => report::Detail::Full,
        };
        report::markdown_as(&record, &history, folder, "report.md", detail)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Record, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let wrong = |error: serde_json::Error| {
        format!("{} is not a record of the lab: {error}\nhint: records are written by --json", path.display())
    };
    let record: Record = serde_json::from_str(&text).map_err(wrong)?;
    if record.schema_version != SCHEMA_VERSION {
        let version = record.schema_version;
        return Err(format!("{} has version {version}; this program reads {SCHEMA_VERSION}", path.display()).into());
    }
    Ok(record)
}

fn join(record: &mut Record, other: Record) {
    record.command = format!("{}; {}", record.command, other.command);
    record.seconds += other.seconds;
    record.interrupted |= other.interrupted;
    record.timing.extend(other.timing);
    record.speed.extend(other.speed);
    record.comparisons.extend(other.comparisons);
    record.baselines.extend(other.baselines);
    record.selftest.extend(other.selftest);
    record.generations = record.generations.take().or(other.generations);
    record.calibration = other.calibration.or(record.calibration.take());
}
