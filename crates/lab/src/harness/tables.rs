//! Tables of whole workloads: the command `speed --table generations`, and the tables of a benchmark program.

use std::path::PathBuf;
use std::process::ExitCode;

use super::args::{SpeedArgs, TableArgs, TablesArgs};
use super::output::{Fault, Run, quoted};
use super::progress::{self, Progress};
use super::show::Screen;
use super::{NamedTable, Suite};
use crate::generations::with_own;
use crate::record::Generations;
use crate::speed::workload::{Contents, Job, Offer, Plan, Set, Workplace, measure, variants};
use crate::{clock, invocation};

/// Measures the table of generations.
pub(super) fn generations(args: &SpeedArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    run(args, &with_own((suite.generations)()), suite, "speed --table generations", std::env::current_exe()?)
}

pub(super) fn named(args: &TablesArgs, suite: &Suite, tables: &[NamedTable]) -> Result<ExitCode, Fault> {
    let Some((name, table)) = tables.iter().find(|(name, _)| *name == args.table) else {
        let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no table {}\nhint: the tables are {}", args.table, names.join(", ")).into());
    };
    let offer = table(args.quick);
    if let Some(unknown) = args.sets.iter().find(|name| !offer.sets.iter().any(|set| set.name == name.as_str())) {
        let names: Vec<&str> = offer.sets.iter().map(|set| set.name).collect();
        return Err(format!("there is no set {unknown}\nhint: the sets are {}", names.join(", ")).into());
    }
    let TablesArgs { target, quick, list, sets, rounds, peers, dir, program, output, .. } = args.clone();
    let contents = vec![Contents::Random.name().to_owned()];
    let table = TableArgs { sets, contents, rounds, peers, dir, ..TableArgs::default() };
    let args = SpeedArgs { target, quick, list, table, output, ..SpeedArgs::default() };
    run(&args, &offer, suite, name, program)
}

/// In commands, the path `program` replaces the text `{self}`.
fn run(args: &SpeedArgs, offer: &Offer, suite: &Suite, command: &str, program: PathBuf) -> Result<ExitCode, Fault> {
    let screen = Screen::new(args.output.takes_stdout());
    if args.list {
        list(&screen, offer);
        return Ok(ExitCode::SUCCESS);
    }
    let plan = plan(args, offer, suite)?;
    args.output.check(&[])?;
    if invocation::interpreted().is_some() {
        return Err("the start of an interpreter would count as time of Deadpan\nhint: use the program deadpan".into());
    }
    let mut place = Workplace::new(&parent(&args.table), program)?;
    let mut run = Run::new(suite, &describe(args, command), &*clock::best());
    announce(&screen, &plan, &place);
    let mut progress = Progress::new(plan.steps(offer));
    if offer.title.is_empty() {
        screen.generations_head();
    }
    let shown = measure(&plan, offer, &mut place, &mut progress, &mut |rows| {
        rows.iter().for_each(|row| if offer.title.is_empty() { screen.generation(row) } else { screen.row(row) })
    });
    progress.finish();
    // The folders are removed before the next output, because the output ends this program if the pipe is closed.
    drop(place);
    let found = shown.map_err(|trouble| -> Fault { trouble })?;
    // The names of functions are known only after the table has run.
    let sought = offer.functions.is_some() && !args.target.is_empty();
    if sought && found.rows.is_empty() && !progress::interrupted() {
        let names = args.target.join(", ");
        return Err(format!("no function of this table is called {names}\nhint: run the table without --target").into());
    }
    conclude(&screen, &found);
    run.record.generations = Some(found);
    run.record.interrupted = progress::interrupted();
    run.finish(&args.output)?;
    Ok(ExitCode::from(if progress::interrupted() { 130 } else { 0 }))
}

/// Runs one kernel in this process. The lab started this process only to run this kernel.
pub(super) fn kernel(job: &str, suite: &Suite) -> Result<ExitCode, Fault> {
    let job: Job = serde_json::from_str(job)?;
    let offer = with_own((suite.generations)());
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
        && offer.functions.is_none()
    {
        let names: Vec<&str> = offer.workloads.iter().map(|workload| workload.name).collect();
        return Err(format!("no workload is called {unknown}\nhint: the workloads are {}", names.join("; ")).into());
    }
    let known = variants(offer);
    if let Some(unknown) = table.peers.iter().flatten().find(|name| !name.is_empty() && !known.contains(name)) {
        return Err(format!("no peer is called {unknown}\nhint: the peers are {}", known.join(", ")).into());
    }
    let scale = table.scale.unwrap_or(1.0);
    let wanted = |set: &Set| table.sets.is_empty() || table.sets.iter().any(|name| name.eq_ignore_ascii_case(set.name));
    let contents = [Contents::Zero, Contents::Random];
    let chosen =
        |contents: &Contents| table.contents.is_empty() || table.contents.iter().any(|name| name == contents.name());
    Ok(Plan {
        sets: offer.sets.iter().filter(|set| wanted(set)).map(|set| set.scaled(scale)).collect(),
        scale,
        contents: contents.into_iter().filter(chosen).collect(),
        rounds: table.rounds.map(|rounds| rounds as usize).or((args.quick && offer.functions.is_none()).then_some(1)),
        peers: table.peers.clone(),
        only: args.target.clone(),
        quick: args.quick,
        kernel: [suite.caller.words(), vec!["speed".to_owned(), "--kernel".to_owned()]].concat(),
    })
}

/// Returns the folder in which the lab creates its temporary folder. The default is Cargo's folder `target`, so that
/// `cargo clean` also removes the files of a killed run.
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
    if !found.goals.is_empty() {
        screen.line("\ngoals");
        found.goals.iter().for_each(|goal| screen.goal(goal));
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

fn describe(args: &SpeedArgs, command: &str) -> String {
    let table = &args.table;
    let list = |name: &str, values: &[String]| {
        if values.is_empty() { String::new() } else { format!(" --{name} {}", quoted(&values.join(","))) }
    };
    let scale = table.scale.map_or_else(String::new, |scale| format!(" --scale {scale}"));
    let rounds = table.rounds.map_or_else(String::new, |rounds| format!(" --rounds {rounds}"));
    let peers = table.peers.as_ref().map_or_else(String::new, |peers| format!(" --peers {}", quoted(&peers.join(","))));
    let targets: String = args.target.iter().map(|name| format!(" --target {}", quoted(name))).collect();
    let quick = if args.quick { " --quick" } else { "" };
    let contents: &[String] = if table.name.is_some() { &table.contents } else { &[] };
    let (sets, contents) = (list("sets", &table.sets), list("contents", contents));
    format!("{command}{scale}{sets}{contents}{rounds}{peers}{targets}{quick}")
}
