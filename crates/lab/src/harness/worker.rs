//! Runs the command `worker`, which prints an example worker or checks the user's worker.

use std::process::ExitCode;
use std::time::Duration;

use super::args::WorkerArgs;
use super::foreign::checked;
use super::output::{Fault, write};
use super::show::Screen;
use crate::foreign::{self, Language};
use crate::plural::plural;

pub(super) fn run(args: &WorkerArgs) -> Result<ExitCode, Fault> {
    if let Some(name) = &args.print {
        let name = if name == "js" { "javascript" } else { name };
        let wanted = Language::ALL.into_iter().find(|language| language.name().eq_ignore_ascii_case(name));
        let source = wanted.map_or("", Language::source);
        write("-".as_ref(), source.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = Screen::new(false);
    let command = args.check.as_deref().unwrap_or_default();
    let mut show = |finding: &foreign::Finding| {
        let (mark, detail) = (if finding.passed { "kept  " } else { "BROKEN" }, &finding.detail);
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        screen.line(&format!("{mark}  {}{detail}", finding.what));
    };
    let findings =
        foreign::check(command, Duration::from_secs_f64(args.timeout), &mut show).map_err(|error| checked(&error))?;
    let broken = findings.iter().filter(|finding| !finding.passed).count() as u64;
    let kept = findings.len() as u64 - broken;
    screen.line(&format!("{kept} {} kept, {broken} broken", plural(kept, "rule", "rules")));
    Ok(ExitCode::from(u8::from(broken > 0)))
}
