//! The options, and the page of the results.

use std::fmt::Write;
use std::path::PathBuf;

use crate::cases::{self, Case};
use crate::{Trouble, tools};
use deadpan_lab::{clock, clopper_pearson, machine};

/// The text above this heading and the section after the tables were written by a person. When the page is written
/// again, the text and the section do not change.
const SUMMARY: &str = "## Summary\n\n";
const READING: &str = "## Reading";

const WORDS: &str = "
- *False alarms*: a leak was reported in a function that does not leak, with the exact 95 % interval of the rate.
- *Small*: the lab reports a real difference below its threshold. Where nothing leaks, that counts as a false alarm.
- *Missed*: a leaking function passed. Of `dudect-bencher`, a small t means that nothing was found so far.
- *Undecided*: inconclusive, invalid or unmeasurable, over all functions. *Time*: the median of a run.
";

/// The options of a measurement.
pub struct Options {
    /// The number of runs of each tool on each function without a leak.
    pub nulls: usize,
    /// The number of runs of each tool on each function that leaks.
    pub leaks: usize,
    only: Vec<String>,
    markdown: Option<PathBuf>,
}

impl Options {
    pub fn parse(arguments: &[&str]) -> Result<Self, Trouble> {
        let mut options = Self { nulls: 30, leaks: 20, only: Vec::new(), markdown: None };
        for pair in arguments.chunks(2) {
            match *pair {
                ["--nulls", number] => options.nulls = number.parse()?,
                ["--leaks", number] => options.leaks = number.parse()?,
                ["--cases", names] => options.only = names.split(',').map(str::to_owned).collect(),
                ["--markdown", file] => options.markdown = Some(file.into()),
                _ => return Err(format!("{} is no option with a value", pair[0]).into()),
            }
        }
        Ok(options)
    }

    pub fn cases(&self) -> Vec<Case> {
        let wanted = |case: &Case| self.only.is_empty() || self.only.iter().any(|name| name == case.name);
        cases::all().into_iter().filter(wanted).collect()
    }
}

/// One run of one tool on one case.
pub struct Run {
    pub case: &'static str,
    pub tool: &'static str,
    pub is_busy: bool,
    pub verdict: String,
    pub seconds: f64,
    /// The number of other processes that were running at the beginning of this run.
    pub others: u64,
}

pub fn write(options: &Options, runs: &[Run]) -> Result<(), Trouble> {
    let page = text(options, runs)?;
    let Some(path) = &options.markdown else {
        print!("{page}");
        return Ok(());
    };
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let reading = old.find(READING).map_or_else(String::new, |at| format!("\n{}", &old[at..]));
    let above = old.split(SUMMARY).next().unwrap_or_default();
    Ok(std::fs::write(path, [above, &page, &reading].concat())?)
}

fn text(options: &Options, runs: &[Run]) -> Result<String, Trouble> {
    let (all, mut page) = (options.cases(), SUMMARY.to_owned());
    let of = |leaks: bool, tool: &str, is_busy: bool| -> Vec<&Run> {
        let leaky = |name: &str| all.iter().any(|case| case.name == name && case.leaks == leaks);
        runs.iter().filter(|run| run.tool == tool && run.is_busy == is_busy && leaky(run.case)).collect()
    };
    page += &head(&["Tool", "Machine", "False alarms", "Found", "Small", "Missed", "Undecided", "Time"]);
    for (tool, is_busy) in tools::ALL.iter().flat_map(|tool| [(tool.name, false), (tool.name, true)]) {
        let [nulls, leaks] = [false, true].map(|leaks| of(leaks, tool, is_busy));
        let alarms = count(&nulls, "leak") + count(&nulls, "small");
        let rate = clopper_pearson(alarms as u64, nulls.len() as u64, 0.95);
        let undecided = count(&nulls, "undecided") + count(&leaks, "undecided");
        let (low, high) = (100.0 * rate.lower, 100.0 * rate.upper);
        writeln!(
            page,
            "| `{tool}` | {} | {alarms} of {} ({low:.1} to {high:.1} %) | {} of {} | {} | {} | {undecided} | {} |",
            machine_state(is_busy),
            nulls.len(),
            count(&leaks, "leak"),
            leaks.len(),
            count(&leaks, "small"),
            count(&leaks, "none"),
            seconds(nulls.iter().chain(&leaks).copied())
        )?;
    }
    page += WORDS;
    for (leaks, title) in [(false, "Functions that do not leak"), (true, "Functions that leak")] {
        let names: Vec<String> = tools::ALL.iter().map(|tool| format!("`{}`", tool.name)).collect();
        let columns = ["Function", "Machine"].into_iter().chain(names.iter().map(String::as_str));
        write!(page, "\n## {title}\n\n{}", head(&columns.collect::<Vec<_>>()))?;
        for case in all.iter().filter(|case| case.leaks == leaks) {
            for is_busy in [false, true] {
                let cell = |tool: &tools::Tool| {
                    let here = |run: &&Run| run.case == case.name && run.tool == tool.name && run.is_busy == is_busy;
                    cell(&runs.iter().filter(here).collect::<Vec<_>>())
                };
                let cells: Vec<String> = tools::ALL.iter().map(cell).collect();
                writeln!(page, "| `{}` | {} | {} |", case.name, machine_state(is_busy), cells.join(" | "))?;
            }
        }
    }
    write!(page, "\n## What was measured\n\n{}", head(&["Function", "Leaks", "What it is"]))?;
    for case in &all {
        writeln!(page, "| `{}` | {} | {} |", case.name, if case.leaks { "yes" } else { "no" }, case.what)?;
    }
    write!(page, "\n{}", head(&["Tool", "How it is used"]))?;
    for tool in tools::ALL {
        writeln!(page, "| `{}` | {} |", tool.name, tool.what)?;
    }
    facts(&mut page, options, runs)?;
    Ok(page)
}

fn facts(page: &mut String, options: &Options, runs: &[Run]) -> Result<(), Trouble> {
    let machine = machine::machine(&*clock::best());
    let [calm, busy] = [false, true].map(|is_busy| {
        let mut others: Vec<u64> = runs.iter().filter(|run| run.is_busy == is_busy).map(|run| run.others).collect();
        others.sort_unstable();
        let middle = others.get(others.len() / 2).copied().unwrap_or_default();
        format!("median {middle}, at most {}", others.last().copied().unwrap_or_default())
    });
    write!(page, "\n{}", head(&["Made with", ""]))?;
    for (name, value) in [
        ("command", format!("`scripts/bench peers --nulls {} --leaks {}`", options.nulls, options.leaks)),
        ("date", machine::now()),
        ("CPU", format!("{}, {} cores", machine.cpu, machine.processors)),
        ("system", machine.system),
        ("the lab's clock", format!("{} at {:.0} MHz", machine.clock.name, machine.clock.hertz / 1e6)),
        ("other runnable processes at the start of a run", format!("as it was: {calm}; busy: {busy}")),
        ("build", std::env::var("BENCH_BUILD").unwrap_or_default()),
    ] {
        writeln!(page, "| {name} | {value} |")?;
    }
    Ok(())
}

fn machine_state(is_busy: bool) -> &'static str {
    if is_busy { "busy" } else { "as it was" }
}

fn count(runs: &[&Run], verdict: &str) -> usize {
    runs.iter().filter(|run| run.verdict == verdict).count()
}

fn cell(runs: &[&Run]) -> String {
    let words = ["leak", "small", "none", "undecided"].map(|word| (count(runs, word), word));
    let words: Vec<String> =
        words.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    format!("{}; {}", words.join(", "), seconds(runs.iter().copied()))
}

fn seconds<'r>(runs: impl Iterator<Item = &'r Run>) -> String {
    let mut all: Vec<f64> = runs.map(|run| run.seconds).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map_or_else(|| "–".to_owned(), |middle| format!("{middle:.2} s"))
}

fn head(names: &[&str]) -> String {
    format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
}
