//! Prints findings, the table, and the listing of one function.

use std::collections::BTreeSet;

use super::audit::{Expectation, Verdict};
use super::build::Level;
use super::finding::Finding;
use super::image::{Image, Target};
use super::instruction::{Address, Flow};
use super::walk::Listing;
use crate::Outcome;

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    passed: usize,
    failed: usize,
}

struct Row {
    level: &'static str,
    functions: usize,
    clean: (usize, usize),
    caught: (usize, usize),
}

impl Table {
    pub(crate) fn add(&mut self, level: Level, verdicts: &[Verdict]) -> Result<(), String> {
        let of_ours = verdicts.iter().filter(|verdict| verdict.expected == Expectation::Clean);
        let known_bad = verdicts.iter().filter(|verdict| verdict.expected != Expectation::Clean);
        let row = Row {
            level: level.name,
            functions: verdicts.len(),
            clean: (of_ours.clone().filter(|verdict| verdict.findings.is_empty()).count(), of_ours.count()),
            caught: (known_bad.clone().filter(|verdict| verdict.caught()).count(), known_bad.count()),
        };
        if row.clean.1 == 0 || row.caught.1 == 0 {
            return Err(
                "the library exports no functions to audit, or no known leaks to test the audit with\nhint: name them \
                        `ok_NAME__ARGS` and `bad_NAME__ARGS`, extern \"C\" and no_mangle"
                    .to_owned(),
            );
        }
        for verdict in verdicts {
            if verdict.passed(level.fully_optimized()) {
                self.passed += 1;
            } else {
                self.failed += 1;
                println!("{}", failure(level, verdict));
            }
            if verdict.expected == Expectation::CaughtWhenOptimized && !verdict.caught() {
                println!("note: level {}: {} leaks nothing that could be seen", level.name, verdict.function);
            }
        }
        self.rows.push(row);
        Ok(())
    }

    pub(crate) fn finish(self) -> Outcome {
        println!("{:<8} | {:>9} | {:>9} | {:>16}", "level", "functions", "clean", "known-bad caught");
        for row in &self.rows {
            let clean = format!("{}/{}", row.clean.0, row.clean.1);
            let caught = format!("{}/{}", row.caught.0, row.caught.1);
            println!("{:<8} | {:>9} | {clean:>9} | {caught:>16}", row.level, row.functions);
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { Outcome::Clean } else { Outcome::Found }
    }
}

fn failure(level: Level, verdict: &Verdict) -> String {
    if verdict.expected != Expectation::Clean {
        let function = &verdict.function;
        return format!("level {}: {function}: a known leak was not found; the audit has lost its eyes\n", level.name);
    }
    let mut text = format!("level {}: {}: {} findings\n", level.name, verdict.function, verdict.findings.len());
    for finding in &verdict.findings {
        text += &line(&verdict.function, finding);
    }
    if let Some(first) = verdict.first.as_ref().filter(|_| verdict.findings.len() > 2) {
        text += &format!("  met first:\n{}", line(&verdict.function, first));
    }
    text += &format!("  hint: cargo xtask asm --level {} --show {}\n", level.name, verdict.function);
    text
}

fn line(function: &str, finding: &Finding) -> String {
    let place = if finding.place == function { String::new() } else { format!(" (in {})", finding.place) };
    format!("  {:#8x}  {:<48} {}{place}\n", finding.address, finding.text, finding.reason)
}

/// Prints the listing of a function and its callees. `s` marks an instruction that reads a secret register. `!` marks a
/// finding.
pub(crate) fn show(image: &Image, listing: &Listing, findings: &BTreeSet<Finding>) {
    for (address, (instruction, state)) in listing {
        if image.function_at(*address).is_some_and(|(start, _)| start == *address) {
            println!("\n{}:", image.name_at(*address));
        }
        let mut secret: Vec<String> = Vec::new();
        for (name, parts) in &instruction.mentioned {
            if state.secret & parts != 0 && !secret.contains(name) {
                secret.push(name.clone());
            }
        }
        if instruction.steps.iter().any(|step| state.flags & step.flags.reads != 0) {
            secret.push("flags".to_owned());
        }
        let here: Vec<_> = findings.iter().filter(|finding| finding.address == *address).collect();
        let mark = if !here.is_empty() {
            '!'
        } else if secret.is_empty() {
            ' '
        } else {
            's'
        };
        let reasons: Vec<String> = here.iter().map(|finding| finding.reason.to_string()).collect();
        let mut notes = Vec::new();
        if !secret.is_empty() {
            notes.push(format!("secret: {}", secret.join(" ")));
        }
        if let Flow::Call(target) = instruction.flow {
            notes.push(format!("calls {}", image.name_at(target)));
        }
        for access in instruction.steps.iter().flat_map(|step| &step.accesses) {
            if let Address::Object(at) = access.address
                && let Some(Target::Import(name)) = image.slot(at)
            {
                notes.push(format!("`{name}`"));
            }
        }
        notes.extend(reasons);
        let text = format!("{address:#8x} {mark} {:<56} {}", instruction.text, notes.join("; "));
        println!("{}", text.trim_end());
    }
    for finding in findings.iter().filter(|finding| !listing.contains_key(&finding.address)) {
        print!("{}", line("", finding));
    }
}
