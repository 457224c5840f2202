//! Measures workloads in rounds: in each round, all variants of a workload run once, in random order.
//!
//! Before each run, the lab removes the outputs of earlier runs, and the system writes modified pages to the disk. If
//! the system did not write these pages, the time of a program would include the time to write the pages of an earlier
//! program. For all variants, the input is in the page cache.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::workplace::Workplace;
use super::{ALL_CORES, Action, Contents, Done, Job, ONE_CORE, Offer, Set, Subject, Trouble, Way, Workload, goal};
use crate::distribution::{median, quantile};
use crate::imp::child;
use crate::random::Random;
use crate::record::{GenerationRow, Generations, Role, SetFacts};
use crate::speed::program::run::Runner;
use crate::speed::program::{Error, Program};
use crate::watch::{Steps, Watch};

const MIB: f64 = (1 << 20) as f64;
/// The number of rounds of workloads that belong to no set.
const ROUNDS: usize = 7;
/// The share of the free memory that one process may take.
const MEMORY: f64 = 0.75;

/// The plan of a measurement: what the lab measures, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sets, already scaled.
    pub sets: Vec<Set>,
    /// The factor by which the sizes of the sets were multiplied.
    pub scale: f64,
    /// The kinds of contents to measure.
    pub contents: Vec<Contents>,
    /// The number of rounds. If `None`, the number of rounds depends on the size of each set.
    pub rounds: Option<usize>,
    /// The names of the peers to measure. If `None`, all peers are measured. The lab always measures the limits and the
    /// variants of the measured program.
    pub peers: Option<Vec<String>>,
    /// Parts of workload names. The lab measures only workloads whose name contains one of these texts. If the list is
    /// empty, the lab measures all workloads.
    pub only: Vec<String>,
    /// The first arguments with which this program starts itself to run a kernel (a timed function). The last argument
    /// is the job as JSON.
    pub kernel: Vec<String>,
    /// Whether the lab measures functions in only a few rounds.
    pub quick: bool,
}

/// One workload on one set with one kind of contents.
struct Group<'o> {
    workload: &'o Workload,
    set: Option<Set>,
    contents: Option<Contents>,
    rounds: usize,
}

impl Plan {
    fn groups<'o>(&self, offer: &'o Offer) -> Vec<Group<'o>> {
        let workloads: Vec<&Workload> = offer.workloads.iter().filter(|workload| self.wants(workload.name)).collect();
        let numbers = workloads.iter().filter(|workload| workload.subject == Subject::Numbers);
        let mut groups: Vec<Group<'o>> = numbers
            .map(|workload| Group {
                workload,
                set: None,
                contents: None,
                rounds: self.rounds.or(workload.rounds).unwrap_or(ROUNDS),
            })
            .collect();
        for set in &self.sets {
            for (number, &contents) in self.contents.iter().enumerate() {
                let here = |workload: &&&Workload| {
                    set.has(workload.subject) && (workload.sets.is_empty() || workload.sets.contains(&set.name))
                };
                for workload in workloads.iter().filter(here) {
                    // A workload without input has no contents, so it is measured only once.
                    let contents = (workload.subject != Subject::Amount).then_some(contents);
                    if contents.is_some() || number == 0 {
                        groups.push(Group {
                            workload,
                            set: Some(*set),
                            contents,
                            rounds: self.rounds.or(workload.rounds).unwrap_or(set.rounds()),
                        });
                    }
                }
            }
        }
        groups
    }

    /// Returns whether the plan includes a workload or function with this name.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    fn takes(&self, way: &Way) -> bool {
        way.role != Role::Peer
            || self.peers.as_ref().is_none_or(|peers| peers.iter().any(|peer| way.names().any(|name| name == peer)))
    }

    /// Returns the number of steps that [`measure`] reports to its watch.
    #[must_use]
    pub fn steps(&self, offer: &Offer) -> u64 {
        let of = |group: &Group<'_>| {
            let ways = group.workload.ways.iter().filter(|way| self.takes(way));
            let variants: usize = ways.map(|way| if way.both() { 2 } else { 1 }).sum();
            (group.rounds * variants) as u64
        };
        self.groups(offer).iter().map(of).sum()
    }
}

impl Way {
    /// Returns whether the lab runs these actions on one core and also on all cores.
    fn both(&self) -> bool {
        self.role == Role::Own && self.name.is_empty()
    }

    /// Returns the names of the programs that `Way::name` contains. For example, the name `cp, cat` contains two
    /// programs.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.name.split(", ").map(|name| name.split(' ').next().unwrap_or_default())
    }
}

/// Returns the names of all peers (other programs) of the workloads, without duplicates.
#[must_use]
pub fn variants(offer: &Offer) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in offer
        .workloads
        .iter()
        .flat_map(|workload| &workload.ways)
        .filter(|way| way.role == Role::Peer)
        .flat_map(Way::names)
    {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Measures the workloads of `offer` according to `plan`, in the folders of `place`.
///
/// The function calls `show` with the rows of each workload as soon as the rows are known. If `watch` stops the run,
/// the result contains only the rows that are complete.
///
/// # Errors
/// Returns an error if a folder of `place` cannot be read or written, or if no process can be started.
pub fn measure(
    plan: &Plan,
    offer: &Offer,
    place: &mut Workplace,
    watch: &mut dyn Watch,
    show: &mut dyn FnMut(&[GenerationRow]),
) -> Result<Generations, Trouble> {
    let mut found = Generations {
        scale: plan.scale,
        title: offer.title.to_owned(),
        about: offer.about.to_owned(),
        ..Generations::default()
    };
    let sets = |set: &Set| SetFacts { name: set.name.to_owned(), what: set.what(), bytes: set.bytes };
    found.sets = plan.sets.iter().map(sets).collect();
    found.notes.extend(plan.sets.iter().filter_map(beyond_cache));
    // The result has no note from a command line that fails, for example because a program is not installed.
    found.notes.extend(offer.facts.iter().filter_map(|line| place.shell(line).ok()).filter(|fact| !fact.is_empty()));
    let mut bench = Bench {
        plan,
        place,
        runner: Runner::new(true, None)?,
        random: Random::new(1),
        setups: HashMap::new(),
        processor: child::last_processor(),
    };
    let mut steps = Steps::new(watch, plan.steps(offer));
    let mut there: Option<(Set, Contents)> = None;
    for group in plan.groups(offer) {
        if steps.stopped() {
            break;
        }
        if let Some(note) = bench.no_room(&group) {
            if !found.notes.contains(&note) {
                found.notes.push(note);
            }
            continue;
        }
        if let (Subject::File | Subject::Folder, Some(set), Some(contents)) =
            (group.workload.subject, group.set, group.contents)
            && there != Some((set, contents))
        {
            bench.place.make(&set, contents)?;
            there = Some((set, contents));
        }
        let mut rows = bench.group(&group, &mut steps)?;
        if let Some(yardstick) = group.workload.yardstick {
            goal::beside(&mut rows, yardstick);
        }
        show(&rows);
        found.rows.extend(rows);
    }
    bench.place.clear()?;
    for workload in offer.workloads.iter().filter(|workload| plan.wants(workload.name)) {
        let rows: Vec<_> = found.rows.iter().filter(|row| row.workload == workload.name).cloned().collect();
        found.goals.extend(goal::judge(workload.name, &workload.goals, &rows));
    }
    if let Some(functions) = offer.functions {
        let (rows, notes) = functions(plan, &mut steps, show)?;
        found.notes.extend(notes);
        found.goals.extend(goal::judge("", &offer.goals, &rows));
        found.rows.extend(rows.into_iter().map(brief));
    }
    found.targets = crate::generations::judge(&offer.workloads, &found.rows);
    Ok(found)
}

/// If a row has more than 100 times, keeps only five times: the shortest time, the three quartiles and the longest
/// time. The median stays the same.
fn brief(row: GenerationRow) -> GenerationRow {
    if row.rounds <= 100 {
        return row;
    }
    let mut sorted = row.seconds.clone();
    sorted.sort_by(f64::total_cmp);
    GenerationRow { seconds: [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| quantile(&sorted, at)).to_vec(), ..row }
}

struct Bench<'b> {
    plan: &'b Plan,
    place: &'b mut Workplace,
    runner: Runner,
    random: Random,
    /// The setup lines that have run. A line that failed has its error.
    setups: HashMap<&'static str, Option<String>>,
    /// The number of the processor that runs all single-core variants.
    processor: Option<usize>,
}

struct Variant<'o> {
    way: &'o Way,
    name: &'static str,
    processor: Option<usize>,
    /// The measurements of each operation.
    seen: Vec<SeenInput>,
}

#[derive(Clone, Debug, Default)]
struct SeenInput {
    seconds: Vec<f64>,
    processor_seconds: Vec<f64>,
    amount: f64,
    peak: Option<u64>,
    skipped: Option<String>,
}

impl Bench<'_> {
    /// If a set does not fit on the disk, returns a note. The table leaves out such a set.
    fn no_room(&self, group: &Group<'_>) -> Option<String> {
        let set = group.set.filter(|_| group.workload.subject != Subject::Memory)?;
        let free = self.place.free()?.saturating_add(self.occupied());
        (set.disk() > free).then(|| {
            let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
            format!(
                "skipped: set {}: needs {:.1} GiB on the disk, and {:.1} GiB are free",
                set.name,
                gib(set.disk()),
                gib(free)
            )
        })
    }

    /// Returns the size of the present input file. The lab removes this file before it creates the next input.
    fn occupied(&self) -> u64 {
        fs::metadata(self.place.input()).map_or(0, |about| if about.is_file() { about.len() } else { 0 })
    }

    fn group(&mut self, group: &Group<'_>, steps: &mut Steps<'_>) -> Result<Vec<GenerationRow>, Trouble> {
        let mut variants = self.variants(group);
        let mut order: Vec<usize> = (0..variants.len()).collect();
        'rounds: for round in 0..group.rounds {
            self.random.shuffle(&mut order);
            for &index in &order {
                let variant = &mut variants[index];
                if !steps.step(&format!("{}: {}", title(group), variant.name)) {
                    break 'rounds;
                }
                self.place.clear()?;
                for operation in 0..group.workload.operations.len() {
                    if variant.seen[operation].skipped.is_some() {
                        break;
                    }
                    let result = self.run(group, variant, operation, round);
                    if steps.stopped() {
                        // Ctrl-C may have ended the measured program too early, so the time of this run is discarded.
                        break 'rounds;
                    }
                    if let Err(reason) = result {
                        let reason = self.place.without_paths(&reason.to_string());
                        variant.seen[operation..].iter_mut().for_each(|seen| seen.skipped = Some(reason.clone()));
                    }
                }
            }
        }
        self.place.clear()?;
        Ok(rows(group, &variants))
    }

    /// Returns the variants of a group. If a variant cannot run on this machine, each of its operations contains the
    /// reason.
    fn variants<'o>(&mut self, group: &Group<'o>) -> Vec<Variant<'o>> {
        let mut variants = Vec::new();
        for way in group.workload.ways.iter().filter(|way| self.plan.takes(way)) {
            let reason = self.unfit(group, way);
            let seen = |reason: Option<String>| {
                vec![SeenInput { skipped: reason, ..SeenInput::default() }; group.workload.operations.len()]
            };
            if way.both() {
                let alone =
                    self.processor.is_none().then(|| "this system cannot keep a process on one core".to_owned());
                variants.push(Variant {
                    way,
                    name: ONE_CORE,
                    processor: self.processor,
                    seen: seen(reason.clone().or(alone)),
                });
                variants.push(Variant { way, name: ALL_CORES, processor: None, seen: seen(reason) });
            } else {
                let processor = self.processor.filter(|_| way.alone);
                variants.push(Variant { way, name: way.name, processor, seen: seen(reason) });
            }
        }
        variants
    }

    /// If this machine cannot run the actions of `way`, returns the reason.
    fn unfit(&mut self, group: &Group<'_>, way: &Way) -> Option<String> {
        if let (Subject::Memory, Some(set)) = (group.workload.subject, group.set)
            && let Some(reason) = no_memory(set.bytes)
        {
            return Some(reason);
        }
        for action in &way.actions {
            if let Action::Run(line) = action {
                let mut words = line.split(' ');
                let (program, command) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                if program != "{self}" && !installed(program) {
                    return Some(format!("{program} is not installed"));
                }
                if program == "{self}" && self.place.shell(&format!("exec '{{self}}' {command} --help")).is_err() {
                    return Some(format!("this build has no command `{command}`"));
                }
            }
        }
        if way.role == Role::Peer
            && way.actions.iter().any(|action| matches!(action, Action::Shell(_) | Action::Told(_)))
            && !installed(way.program())
        {
            return Some(format!("{} is not installed", way.program()));
        }
        let setup = way.setup?;
        if !self.setups.contains_key(setup) {
            let result = self.place.shell(setup).err().map(|reason| format!("cannot be set up: {reason}"));
            self.setups.insert(setup, result);
            way.teardown.into_iter().for_each(|line| self.place.at_the_end(line));
        }
        self.setups.get(setup).cloned().flatten()
    }

    fn run(
        &mut self,
        group: &Group<'_>,
        variant: &mut Variant<'_>,
        operation: usize,
        round: usize,
    ) -> Result<(), Trouble> {
        let bytes = group.set.map_or(0, |set| set.bytes);
        let fits = memory().is_none_or(|memory| bytes < memory / 2);
        if matches!(group.workload.subject, Subject::File | Subject::Folder) && operation == 0 && fits {
            self.place.warm()?;
        }
        if let Some(line) = variant.way.before {
            self.place.shell(line)?;
        }
        let action = variant.way.actions[operation];
        let program = self.program(group, action, operation)?;
        let program = self
            .place
            .environment()
            .into_iter()
            .fold(program, |program, (name, value)| program.environment(name, value));
        let program = variant.processor.into_iter().fold(program, Program::on);
        let (took, peak) = self.runner.whole(&program).map_err(reason)?;
        let seen = &mut variant.seen[operation];
        seen.peak = seen.peak.max(peak);
        match action {
            Action::Kernel(_) => {
                let done: Done = serde_json::from_slice(&self.result()?)?;
                seen.seconds.push(done.seconds);
                seen.amount = done.amount;
            }
            Action::Told(_) => {
                seen.seconds.push(told(&self.result()?)?);
                seen.amount = bytes as f64;
            }
            Action::Run(_) | Action::Shell(_) => {
                seen.seconds.push(took.wall);
                seen.processor_seconds.push(took.usage.user + took.usage.system);
                seen.amount = bytes as f64;
                self.check(group, variant.way, operation, round)?;
            }
        }
        Ok(())
    }

    /// Reads and removes the file in which a process has reported its work.
    fn result(&self) -> Result<Vec<u8>, Trouble> {
        let result = fs::read(self.place.result())?;
        fs::remove_file(self.place.result())?;
        Ok(result)
    }

    fn program(&self, group: &Group<'_>, action: Action, operation: usize) -> Result<Program, Trouble> {
        let bytes = group.set.map_or(0, |set| set.bytes);
        Ok(match action {
            Action::Run(line) => Program::new(line, line.split(' ').map(|word| self.place.fill(word, bytes))),
            Action::Shell(line) | Action::Told(line) => Program::shell(line, self.place.fill(line, bytes)),
            Action::Kernel(name) => {
                let (input, output) = if operation == 0 {
                    (self.place.input(), self.place.made())
                } else {
                    (self.place.made(), self.place.out())
                };
                let job = Job {
                    kernel: name.to_owned(),
                    bytes,
                    contents: group.contents.unwrap_or(Contents::Zero),
                    scale: self.plan.scale,
                    input,
                    output,
                    result: self.place.result(),
                };
                let words = [self.place.fill("{self}", 0)].into_iter().chain(self.plan.kernel.clone());
                Program::new(name, words.chain([serde_json::to_string(&job)?]))
            }
        })
    }

    /// In the first round, checks the result of a program. The check is not timed.
    ///
    /// The output of the last operation must be equal to the input, and the command line `Way::check` must succeed. The
    /// output of a workload without input must have the size of the set.
    fn check(&self, group: &Group<'_>, way: &Way, operation: usize, round: usize) -> Result<(), Trouble> {
        if round > 0 {
            return Ok(());
        }
        let last = operation + 1 == group.workload.operations.len();
        if last && operation > 0 && self.place.out().exists() && !self.place.same()? {
            return Err("the final output differs from the input".into());
        }
        if let Some(line) = way.check.filter(|_| last) {
            self.place.shell(line).map_err(|said| format!("the result is wrong: {said}"))?;
        }
        if let (Subject::Amount, Some(set), Ok(about)) =
            (group.workload.subject, group.set, fs::metadata(self.place.made()))
            && about.len() != set.bytes
        {
            return Err(format!("{} wrote {} bytes instead of {}", way.name, about.len(), set.bytes).into());
        }
        Ok(())
    }
}

/// Converts nanoseconds to seconds. The input is text that a program wrote. If the text is not a positive whole number,
/// the function returns the text as an error.
fn told(result: &[u8]) -> Result<f64, Trouble> {
    let text = String::from_utf8_lossy(result);
    let nanoseconds: Option<u64> = text.trim().parse().ok().filter(|&nanoseconds| nanoseconds > 0);
    nanoseconds.map(|nanoseconds| nanoseconds as f64 / 1e9).ok_or_else(|| text.trim().into())
}

fn title(group: &Group<'_>) -> String {
    let set = group.set.map_or_else(String::new, |set| format!("{} ", set.name));
    let contents = group.contents.map_or_else(String::new, |contents| format!("{} ", contents.name()));
    format!("{set}{contents}{}", group.workload.name)
}

fn rows(group: &Group<'_>, variants: &[Variant<'_>]) -> Vec<GenerationRow> {
    let mut rows = Vec::new();
    for (index, operation) in group.workload.operations.iter().enumerate() {
        let start = rows.len();
        rows.extend(variants.iter().map(|variant| row(group, variant, index, operation.name)));
        beside_first(&mut rows[start..]);
    }
    rows
}

/// For each row, stores its rate divided by the first known rate.
fn beside_first(rows: &mut [GenerationRow]) {
    let Some(first) = rows.iter().find_map(|row| row.rate) else { return };
    for row in rows {
        row.ratio = row.rate.map(|rate| rate / first);
    }
}

fn row(group: &Group<'_>, variant: &Variant<'_>, index: usize, operation: &str) -> GenerationRow {
    let seen = &variant.seen[index];
    let unit = if group.workload.subject == Subject::Numbers { ("Mop/s", 1e6) } else { ("MiB/s", MIB) };
    // If a program fails in a later round, its row also has no figures, because the program is not reliable.
    let measured = seen.skipped.is_none() && !seen.seconds.is_empty();
    let rate = |seconds: f64| seen.amount / seconds.max(1e-9) / unit.1;
    let mut rates: Vec<f64> = seen.seconds.iter().copied().map(rate).collect();
    let minimum = seen.seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let skipped = if measured {
        None
    } else {
        Some(seen.skipped.clone().unwrap_or_else(|| "the run was stopped before this operation".to_owned()))
    };
    GenerationRow {
        set: group.set.map_or_else(String::new, |set| set.name.to_owned()),
        contents: group.contents.map_or_else(String::new, |contents| contents.name().to_owned()),
        workload: group.workload.name.to_owned(),
        operation: operation.to_owned(),
        variant: variant.name.to_owned(),
        role: variant.way.role,
        command: match variant.way.actions[index] {
            Action::Run(line) | Action::Shell(line) | Action::Told(line) => line.to_owned(),
            Action::Kernel(name) => format!("kernel {name}"),
        },
        unit: unit.0.to_owned(),
        amount: seen.amount,
        seconds: seen.seconds.clone(),
        rate: measured.then(|| median(&mut rates)),
        fastest: measured.then(|| rate(minimum)),
        minimum: measured.then_some(minimum),
        ratio: None,
        processor_seconds: (measured && !seen.processor_seconds.is_empty())
            .then(|| median(&mut seen.processor_seconds.clone())),
        peak_memory: if measured { seen.peak } else { None },
        rounds: seen.seconds.len(),
        skipped,
        beside: None,
    }
}

/// Returns whether a program is on the search path. For an absolute path, the function always returns true.
fn installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
        || Path::new(program).is_absolute()
}

/// Returns the bytes of memory that the system can give to new processes. The number includes caches that the system
/// can free.
fn memory() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Returns a note if the files for a set do not fit into the page cache. The times for a set that does not fit into the
/// page cache also depend on the disk.
fn beyond_cache(set: &Set) -> Option<String> {
    let memory = memory()?;
    // The input and the outputs of both operations are in the cache at the same time.
    (set.bytes.saturating_mul(3) > memory).then(|| {
        format!(
            "note: set {}: inputs and outputs do not fit into the {:.1} GiB of free memory, so the figures include the \
            disk",
            set.name,
            memory as f64 / (1_u64 << 30) as f64
        )
    })
}

/// Returns the reason if a set of this size does not fit into memory.
fn no_memory(bytes: u64) -> Option<String> {
    let free = memory()?;
    // Input and output are in memory at the same time.
    let need = bytes.saturating_mul(2).saturating_add(512 << 20);
    let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
    (need as f64 > MEMORY * free as f64).then(|| {
        format!("needs {:.1} GiB of memory; three quarters of the free {:.1} GiB may be used", gib(need), gib(free))
    })
}

fn reason(error: Error) -> Trouble {
    match error {
        Error::Failed { status, stderr, .. } => {
            let said = stderr
                .lines()
                .find(|line| line.starts_with("error"))
                .or_else(|| stderr.lines().last())
                .unwrap_or("no message");
            format!("failed ({status}): {said}").into()
        }
        Error::Start { source, .. } => format!("cannot be started: {source}").into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests;
