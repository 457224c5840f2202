//! Cells: a cell is a set of functions that do the same work. Each function is a row of the table.

use deadpan_lab::record::{GenerationRow, Role as Part};
use deadpan_lab::speed::field::{Effort, Field};
use deadpan_lab::speed::workload::{Plan, Trouble, beside};
use deadpan_lab::{Random, Watch};

/// By default, the other functions of a cell are compared with this function.
const OURS: &str = "deadpan";

/// The timing promise of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The crate under test.
    Ours,
    /// A library that claims to run in constant time, or a library that has no secrets.
    ConstantTime,
    /// A library that does not claim to run in constant time.
    NoPromise,
    /// A peer that is known to leak.
    Leaks,
    /// A variant that uses plain operators, and jumps that depend on secrets. The times of this variant show the speed
    /// of the same work without protection of secrets.
    Plain,
    /// Other work of the same size, for comparison: a copy, or an empty loop with loads and barriers but without a
    /// call.
    Yardstick,
}

/// A cell before it is measured.
pub struct Cell<'a> {
    section: &'static str,
    name: String,
    bytes: Option<usize>,
    yardstick: &'static str,
    field: Field<'a>,
    entries: Vec<Entry>,
}

struct Entry {
    operation: String,
    variant: String,
    role: Part,
    is_correct: bool,
}

impl<'a> Cell<'a> {
    /// Makes a cell without functions. If the table shows a speed for the cell, `bytes` is the number of bytes that one
    /// call processes.
    pub fn new(section: &'static str, name: impl Into<String>, bytes: Option<usize>) -> Self {
        let (field, entries) = (Field::new(), Vec::new());
        Self { section, name: name.into(), bytes, yardstick: OURS, field, entries }
    }

    pub fn beside(self, yardstick: &'static str) -> Self {
        Self { yardstick, ..self }
    }

    pub fn before_round(&mut self, action: impl FnMut() + 'a) {
        self.field.before_round(action);
    }

    /// Adds a function. `turn(n)` makes `n * calls` calls. `is_correct` is true if the results of the function were
    /// checked and are correct.
    pub fn enter(&mut self, name: &str, role: Role, calls: usize, is_correct: bool, turn: impl FnMut(usize) + 'a) {
        self.enter_row("", name, role, calls, is_correct, turn);
    }

    /// Adds a function. One turn of the measured loop is one call, and the function checks its own result.
    pub fn call<R>(&mut self, name: &str, role: Role, mut function: impl FnMut() -> R + 'a) {
        self.enter(name, role, 1, true, move |turns| (0..turns).for_each(|_| drop(std::hint::black_box(function()))));
    }

    pub fn enter_row(
        &mut self,
        row: &str,
        name: &str,
        role: Role,
        calls: usize,
        is_correct: bool,
        turn: impl FnMut(usize) + 'a,
    ) {
        let operation = [self.name.as_str(), row].join(if row.is_empty() { "" } else { ", " });
        let (role, note) = match role {
            Role::Ours => (Part::Own, ""),
            Role::ConstantTime => (Part::Peer, ""),
            Role::NoPromise => (Part::Peer, ", no promise"),
            Role::Leaks => (Part::Peer, ", leaks"),
            Role::Plain => (Part::Limit, ", leaks"),
            Role::Yardstick => (Part::Limit, ""),
        };
        self.entries.push(Entry { operation, variant: format!("{name}{note}"), role, is_correct });
        self.field.enter(calls, turn);
    }
}

pub struct Cells<'r> {
    /// The plan of the measurement.
    pub plan: &'r Plan,
    /// Notes for the page.
    pub notes: Vec<String>,
    wrong: Vec<String>,
    rows: Vec<GenerationRow>,
    echoes: Vec<f64>,
    watch: &'r mut dyn Watch,
    show: &'r mut dyn FnMut(&[GenerationRow]),
    count: bool,
}

impl<'r> Cells<'r> {
    /// Makes a run without rows.
    pub fn new(plan: &'r Plan, watch: &'r mut dyn Watch, show: &'r mut dyn FnMut(&[GenerationRow])) -> Self {
        let (notes, wrong, rows, echoes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { plan, notes, wrong, rows, echoes, watch, show, count: false }
    }

    /// Runs each function a few times between marks, instead of measuring times.
    pub fn counting(self) -> Self {
        Self { count: true, ..self }
    }

    /// Returns whether the user has chosen this cell. Call this function before the inputs of the cell are prepared.
    pub fn wants(&self, section: &str, cell: &str) -> bool {
        !self.watch.stopped() && self.plan.wants(&format!("{section}, {cell}"))
    }

    /// Measures a cell.
    pub fn run(&mut self, cell: Cell<'_>) {
        for entry in cell.entries.iter().filter(|entry| !entry.is_correct) {
            self.wrong.push(format!("{}, {}: the result of {} is wrong", cell.section, entry.operation, entry.variant));
        }
        if self.count {
            return count(cell);
        }
        self.watch.progress(&cell.name, self.echoes.len() as u64, self.echoes.len() as u64);
        let effort = if self.plan.quick { Effort::quick() } else { Effort::full() };
        let rounds = self.plan.rounds;
        let effort = Effort { least: rounds.unwrap_or(effort.least), most: rounds.unwrap_or(effort.most), ..effort };
        let lanes = cell.field.run(&effort);
        self.echoes.push((lanes.echo - 1.0).abs() * 100.0);
        let row = |(entry, seconds): (Entry, Vec<f64>)| row(cell.section, entry, cell.bytes, seconds);
        let mut rows: Vec<GenerationRow> = cell.entries.into_iter().zip(lanes.seconds).map(row).collect();
        beside(&mut rows, cell.yardstick);
        self.keep(rows);
    }

    pub fn keep(&mut self, rows: Vec<GenerationRow>) {
        (self.show)(&rows);
        self.rows.extend(rows);
    }

    /// Returns all rows, and the notes. The notes state the noise: how much the times of equal functions differ.
    ///
    /// # Errors
    /// Returns an error if a function gave a wrong result.
    pub fn finish(mut self) -> Result<(Vec<GenerationRow>, Vec<String>), Trouble> {
        if !self.wrong.is_empty() {
            return Err(self.wrong.join("\n").into());
        }
        self.echoes.sort_by(f64::total_cmp);
        if let Some(last) = self.echoes.len().checked_sub(1) {
            let (middle, most) = (self.echoes[last / 2], self.echoes[last * 19 / 20]);
            self.notes.push(format!(
                "control: in each of the {} cells, the first function was also timed against itself. The two times \
                 differ by {middle:.2} % in the median cell, and by more than {most:.2} % in one cell of twenty.",
                self.echoes.len()
            ));
        }
        Ok((self.rows, self.notes))
    }
}

/// Small functions run more often, so that the calls overlap in the CPU as they do in a measurement.
fn count(cell: Cell<'_>) {
    let mut entries = cell.entries.into_iter();
    cell.field.each(|calls, turn| {
        let entry = entries.next().expect("a function for each entry");
        let turns = (4096 / (calls * cell.bytes.unwrap_or(64))).clamp(1, 32);
        let row = row(cell.section, entry, cell.bytes, vec![1.0]);
        crate::count::between_marks(&row, turns * calls, |times| turn(times * turns));
    });
}

fn row(section: &str, entry: Entry, bytes: Option<usize>, seconds: Vec<f64>) -> GenerationRow {
    let mut sorted = seconds.clone();
    sorted.sort_by(f64::total_cmp);
    let (least, middle) = (sorted[0], (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0);
    let (amount, unit) = bytes.map_or((1.0, "call/s"), |bytes| (bytes as f64, "MiB/s"));
    let rate = |seconds: f64| amount / seconds / if bytes.is_some() { f64::from(1 << 20) } else { 1.0 };
    GenerationRow {
        workload: section.to_owned(),
        operation: entry.operation,
        variant: entry.variant,
        role: entry.role,
        unit: unit.to_owned(),
        amount,
        rate: Some(rate(middle)),
        fastest: Some(rate(least)),
        minimum: Some(least),
        rounds: seconds.len(),
        seconds,
        ..GenerationRow::default()
    }
}

/// Returns random bytes.
pub fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    bytes
}
