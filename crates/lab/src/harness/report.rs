//! The command `report`, which makes pages from records.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::args::ReportArgs;
use super::output::{Fault, apart, page, page_failed, same_file, write};
use crate::record::{Record, SCHEMA_VERSION, Timing, Verdict};
use crate::report;

pub(super) fn run(args: &ReportArgs) -> Result<ExitCode, Fault> {
    let inputs: Vec<&Path> = args.records.iter().chain(&args.history).map(PathBuf::as_path).collect();
    let page = args.markdown.as_deref().map(page);
    let page_path = page.map(|(folder, name)| folder.join(name));
    for path in args.html.iter().chain(&page_path) {
        apart(path, &inputs)?;
    }
    if let (Some(html), Some(page)) = (&args.html, &page_path)
        && same_file(html, page)
    {
        let path = html.display();
        return Err(format!("--html and --markdown both name {path}\nhint: give each output a file of its own").into());
    }
    let twice = |(index, path): &(usize, &PathBuf)| args.records[..*index].iter().any(|other| same_file(other, path));
    if let Some((_, path)) = args.records.iter().enumerate().find(twice) {
        return Err(format!("{} is given twice, so its figures would count twice", path.display()).into());
    }
    let mut records = args.records.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut record = records.next().ok_or("no record")?;
    for other in records {
        join(&mut record, other);
    }
    let history = args.history.iter().map(|path: &PathBuf| read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &args.html {
        write(path, report::html_with_history(&record, &history).as_bytes())?;
    }
    if let Some((folder, name)) = page {
        let detail = match args.detail.as_str() {
            "brief" => report::Detail::Brief,
            "main" => report::Detail::Main,
            _ => report::Detail::Full,
        };
        report::markdown_as(&record, &history, folder, name, detail).map_err(page_failed)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Record, Fault> {
    let (path, contents) = if path == Path::new("-") {
        let mut contents = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut contents);
        (Path::new("standard input"), read.map(|_| contents))
    } else {
        (path, std::fs::read(path))
    };
    let contents = contents.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let wrong = |error: serde_json::Error| {
        format!("{} is not a record of the lab: {error}\nhint: records are written by --json", path.display())
    };
    let record: Record = serde_json::from_slice(&contents).map_err(wrong)?;
    if record.schema_version != SCHEMA_VERSION {
        let version = record.schema_version;
        return Err(format!("{} has version {version}; this program reads {SCHEMA_VERSION}", path.display()).into());
    }
    match record.timing.iter().find_map(contradiction) {
        Some(why) => Err(format!(
            "{} contradicts itself: {why}\nhint: measure again; the lab writes no such record",
            path.display()
        )
        .into()),
        None => Ok(record),
    }
}

/// Returns a description if a target's verdict is less severe than the verdict about one of its pairs of classes. A
/// page that shows only the target's verdict would hide a more severe verdict about a pair of classes.
fn contradiction(timing: &Timing) -> Option<String> {
    let Timing { target, verdict, pairs, .. } = timing;
    let about = format!("the verdict about `{target}` is {verdict}");
    match pairs.iter().max_by_key(|pair| pair.verdict) {
        Some(pair) if pair.verdict > *verdict => {
            Some(format!("{about}, and that about its classes `{}` and `{}` is {}", pair.a, pair.b, pair.verdict))
        }
        None if matches!(verdict, Verdict::NoLeakAbove | Verdict::BelowThreshold) => {
            Some(format!("{about}, and no pair of classes was compared"))
        }
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Interval;

    #[test]
    fn a_verdict_that_hides_that_of_a_pair_is_a_contradiction() {
        let timing = |verdict: &str, pairs: &[&str]| -> Timing {
            let pair = |verdict: &&str| {
                serde_json::json!({
                    "a": "x", "b": "y", "verdict": verdict, "reason": "", "p": 1.0, "p_holm": 1.0, "batches": 16,
                    "effects": [], "raw_mean": Interval::default(), "bound_ns": 1.0, "tail_bound_ns": 1.0,
                    "mde_ns": 1.0, "more_pairs": null, "controls": crate::record::Controls::default(), "funnel": [],
                    "series": [], "autocorrelation": [], "ecdf": [], "seconds": 1.0,
                })
            };
            let pairs: Vec<_> = pairs.iter().map(pair).collect();
            serde_json::from_value(serde_json::json!({
                "target": "t", "length": 1, "repeats": 1, "design": crate::record::Design::default(), "classes": [],
                "pairs": pairs, "trace": null, "verdict": verdict,
            }))
            .unwrap()
        };
        for (verdict, pairs) in [
            ("NO_LEAK_ABOVE", &["NO_LEAK_ABOVE"; 2][..]),
            ("LEAK", &["NO_LEAK_ABOVE", "LEAK", "INVALID"]),
            ("LEAK", &[]),
            ("INCONCLUSIVE", &[]),
        ] {
            assert_eq!(contradiction(&timing(verdict, pairs)), None, "{verdict} {pairs:?}");
        }
        let why = contradiction(&timing("NO_LEAK_ABOVE", &["NO_LEAK_ABOVE", "LEAK"])).unwrap();
        assert_eq!(why, "the verdict about `t` is NO_LEAK_ABOVE, and that about its classes `x` and `y` is LEAK");
        assert!(contradiction(&timing("INCONCLUSIVE", &["INVALID"])).is_some());
        assert!(contradiction(&timing("NO_LEAK_ABOVE", &[])).is_some());
    }
}
