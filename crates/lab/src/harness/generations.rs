//! The command `speed --table generations`, which measures whole workloads beside other programs.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Suite;
use super::args::{SpeedArgs, TableArgs};
use super::output::{Fault, Run, quoted};
use super::progress::{self, Progress};
use super::show::Screen;
use crate::generations::{Contents, Job, Offer, Plan, SETS, Set, Workplace, measure, variants};
use crate::record::Generations;
use crate::{clock, invocation};

/// Measures the workloads, prints the table and writes the record.
pub(super) fn run(args: &SpeedArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let offer = Offer::with_own((suite.generations)());
    let screen = Screen::new(args.output.takes_stdout());
    if args.list {
        list(&screen, &offer);
        return Ok(ExitCode::SUCCESS);
    }
    let plan = plan(args, &offer, suite)?;
    args.output.check(&[])?;
    if invocation::interpreted().is_some() {
        return Err("the start of an interpreter would count as time of Deadpan\nhint: use the program deadpan".into());
    }
    let mut place = Workplace::new(&parent(&args.table), std::env::current_exe()?)?;
    let mut run = Run::new(suite, &describe(args), &*clock::best());
    announce(&screen, &plan, &place);
    let mut progress = Progress::new(plan.steps(&offer));
    screen.generations_head();
    let shown = measure(&plan, &offer, &mut place, &mut progress, &mut |rows| {
        rows.iter().for_each(|row| screen.generation(row))
    });
    progress.finish();
    // The folders are removed before the next output, because a closed pipe ends this program.
    drop(place);
    let found = shown.map_err(|trouble| -> Fault { trouble })?;
    conclude(&screen, &found);
    run.record.generations = Some(found);
    run.record.interrupted = progress::interrupted();
    run.finish(&args.output)?;
    Ok(ExitCode::from(if progress::interrupted() { 130 } else { 0 }))
}

/// Runs one kernel in this process, which the lab started for it.
pub(super) fn kernel(job: &str, suite: &Suite) -> Result<ExitCode, Fault> {
    let job: Job = serde_json::from_str(job)?;
    let offer = Offer::with_own((suite.generations)());
    let kernel = offer
        .kernels
        .iter()
        .find(|kernel| kernel.name == job.kernel)
        .ok_or_else(|| format!("no kernel is called {}", job.kernel))?;
    let done = (kernel.run)(&job).map_err(|trouble| trouble.to_string())?;
    std::fs::write(&job.result, serde_json::to_string(&done)?)?;
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &SpeedArgs, offer: &Offer, suite: &Suite) -> Result<Plan, Fault> {
    let table = &args.table;
    if let Some(unknown) =
        args.target.iter().find(|name| !offer.workloads.iter().any(|workload| workload.name.contains(name.as_str())))
    {
        let names: Vec<&str> = offer.workloads.iter().map(|workload| workload.name).collect();
        return Err(format!("no workload is called {unknown}\nhint: the workloads are {}", names.join("; ")).into());
    }
    let known = variants(offer);
    if let Some(unknown) = table.peers.iter().flatten().find(|name| !name.is_empty() && !known.contains(name)) {
        return Err(format!("no peer is called {unknown}\nhint: the peers are {}", known.join(", ")).into());
    }
    let scale = table.scale.unwrap_or(1.0);
    let wanted = |set: &Set| {
        table.sets.is_empty() || table.sets.iter().any(|name| name.eq_ignore_ascii_case(&set.name.to_string()))
    };
    let contents = [Contents::Zero, Contents::Random];
    let chosen =
        |contents: &Contents| table.contents.is_empty() || table.contents.iter().any(|name| name == contents.name());
    Ok(Plan {
        sets: SETS.iter().filter(|set| wanted(set)).map(|set| set.scaled(scale)).collect(),
        scale,
        contents: contents.into_iter().filter(chosen).collect(),
        rounds: table.rounds.map(|rounds| rounds as usize).or(args.quick.then_some(1)),
        peers: table.peers.clone(),
        only: args.target.clone(),
        kernel: [suite.caller.words(), vec!["speed".to_owned(), "--kernel".to_owned()]].concat(),
    })
}

/// Returns the folder in which the lab creates its own. The default is Cargo's `target`: `cargo clean` then also
/// removes what a killed run left behind.
fn parent(table: &TableArgs) -> PathBuf {
    let target = || Some(PathBuf::from("target")).filter(|target| target.is_dir());
    table.dir.clone().or_else(target).unwrap_or_else(|| PathBuf::from("."))
}

fn announce(screen: &Screen, plan: &Plan, place: &Workplace) {
    let gib = |bytes: u64| format!("{:.2} GiB", bytes as f64 / (1_u64 << 30) as f64);
    let free = place.free().map_or_else(|| "an unknown amount".to_owned(), gib);
    let most = plan.sets.iter().map(Set::disk).max().unwrap_or(0);
    screen.line(&format!("disk: at most {} are needed at one time, {free} are free", gib(most)));
    plan.sets.iter().for_each(|set| screen.line(&format!("set {}: {}", set.name, set.what())));
    screen.line("");
}

fn conclude(screen: &Screen, found: &Generations) {
    if !found.targets.is_empty() {
        screen.line("");
        screen.line("target rates: on all cores, with zeros or random bytes, whichever is slower");
        found.targets.iter().for_each(|target| screen.target(target));
    }
    if !found.notes.is_empty() {
        screen.line("");
        found.notes.iter().for_each(|note| screen.line(note));
    }
}

fn list(screen: &Screen, offer: &Offer) {
    for workload in &offer.workloads {
        let operations: Vec<&str> = workload.operations.iter().map(|operation| operation.name).collect();
        let others: Vec<&str> = workload.ways.iter().map(|way| way.name).filter(|name| !name.is_empty()).collect();
        let beside = if others.is_empty() { String::new() } else { format!("; beside {}", others.join("; ")) };
        screen.line(&format!("{}: {}{beside}", workload.name, operations.join(" and ")));
    }
}

fn describe(args: &SpeedArgs) -> String {
    let table = &args.table;
    let list = |name: &str, values: &[String]| {
        if values.is_empty() { String::new() } else { format!(" --{name} {}", quoted(&values.join(","))) }
    };
    let scale = table.scale.map_or_else(String::new, |scale| format!(" --scale {scale}"));
    let rounds = table.rounds.map_or_else(String::new, |rounds| format!(" --rounds {rounds}"));
    let peers = table.peers.as_ref().map_or_else(String::new, |peers| format!(" --peers {}", quoted(&peers.join(","))));
    let targets: String = args.target.iter().map(|name| format!(" --target {}", quoted(name))).collect();
    let quick = if args.quick { " --quick" } else { "" };
    let (sets, contents) = (list("sets", &table.sets), list("contents", &table.contents));
    format!("speed --table generations{scale}{sets}{contents}{rounds}{peers}{targets}{quick}")
}
