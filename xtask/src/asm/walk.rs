//! The search for a fixpoint: follows every path of a function and of the functions that it calls, until no state
//! changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::calls::{self, Callee};
use super::finding::{Finding, Reason};
use super::graph::Graph;
use super::image::{Image, Target};
use super::instruction::{Destination, Flow, Instruction};
use super::machine::Machine;
use super::marker;
use super::state::State;
use super::store;
use super::transfer;
use super::value::Value;

/// If calls are nested deeper than this number, the audit gives up and reports this.
const DEPTH_LIMIT: usize = 48;
/// The number of basic blocks that the audit may analyze for one exported function.
const WORK_LIMIT: usize = 200_000;

/// How a function changes the state of its caller, and the findings in the function.
#[derive(Default)]
pub(crate) struct Outcome {
    /// `None` if the function never returns.
    pub(crate) exit: Option<State>,
    pub(crate) findings: BTreeSet<Finding>,
}

/// The state before each instruction, for the annotated listings.
pub(crate) type Listing = BTreeMap<u64, (Instruction, State)>;

pub(crate) struct Walker<'image> {
    image: &'image Image,
    graphs: HashMap<u64, Option<Rc<Graph>>>,
    known: HashMap<(u64, State), Rc<Outcome>>,
    active: Vec<(u64, State)>,
    work: usize,
    listing: Option<Listing>,
    /// For each function, the stack offsets to which the function stores whole registers with public contents. These
    /// bytes are treated as variables, not as parts of arrays.
    variables: BTreeMap<u64, BTreeSet<i64>>,
    /// The first finding, which is most likely the cause of the other findings.
    pub(crate) first: Option<Finding>,
}

#[derive(Default)]
struct Pass {
    onward: Vec<(u64, State)>,
    exits: Vec<State>,
    findings: BTreeSet<Finding>,
}

impl<'image> Walker<'image> {
    pub(crate) fn new(image: &'image Image) -> Self {
        Self {
            image,
            graphs: HashMap::new(),
            known: HashMap::new(),
            active: Vec::new(),
            work: 0,
            listing: None,
            variables: BTreeMap::new(),
            first: None,
        }
    }

    /// Audits the function at `start` with the state `entry`. A newly found variable may change earlier results, so the
    /// audit starts again until it finds no new variable.
    pub(crate) fn audit(&mut self, start: u64, entry: State) -> Rc<Outcome> {
        loop {
            let known = self.variables.clone();
            self.work = 0;
            self.first = None;
            let outcome = self.function(start, entry.clone());
            if self.variables == known {
                return outcome;
            }
            self.known.clear();
            if let Some(listing) = &mut self.listing {
                listing.clear();
            }
        }
    }

    /// Audits the function at `start`, and also returns the state before every instruction that the audit followed.
    pub(crate) fn audit_with_listing(&mut self, start: u64, entry: State) -> (Rc<Outcome>, Listing) {
        self.listing = Some(Listing::new());
        let outcome = self.audit(start, entry);
        (outcome, self.listing.take().unwrap_or_default())
    }

    fn function(&mut self, start: u64, entry: State) -> Rc<Outcome> {
        let key = (start, entry);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        if let Some((_, outer)) = self.active.iter().rev().find(|(active, _)| *active == start) {
            let covered = key.1.secret & !outer.secret == 0;
            return Rc::new(self.recursion(start, key.1, covered));
        }
        if self.active.len() >= DEPTH_LIMIT {
            return Rc::new(self.lost(start, key.1, "calls nested this deep"));
        }
        let Some(graph) = self.graph(start) else {
            return Rc::new(self.lost(start, key.1, "code that does not decode"));
        };
        self.active.push(key.clone());
        let pass = self.settle(&graph, start, key.1.clone());
        self.active.pop();
        let mut exits = pass.exits.into_iter();
        let mut exit = exits.next();
        for other in exits {
            exit.as_mut().map(|exit| exit.join(&other));
        }
        let outcome = Rc::new(Outcome { exit, findings: pass.findings });
        self.known.insert(key, Rc::clone(&outcome));
        outcome
    }

    /// Repeats the analysis of one function until its states no longer change. When the states no longer change,
    /// analyzes the function once more to collect the findings.
    fn settle(&mut self, graph: &Graph, start: u64, entry: State) -> Pass {
        let mut states = BTreeMap::from([(start, entry)]);
        let mut todo = BTreeSet::from([start]);
        while let Some(at) = todo.pop_first() {
            self.work += 1;
            if self.work > WORK_LIMIT {
                break;
            }
            let mut pass = Pass::default();
            self.stretch(graph, at, states[&at].clone(), &mut pass);
            for (target, state) in pass.onward {
                let changed = match states.get_mut(&target) {
                    Some(known) => known.join(&state),
                    None => states.insert(target, state).is_none(),
                };
                if changed {
                    todo.insert(target);
                }
            }
        }
        let mut all = Pass::default();
        if self.work > WORK_LIMIT {
            let first = &graph.instructions[&start];
            all.findings.insert(self.finding(first, Reason::CannotFollow("so many paths".to_owned())));
            return all;
        }
        for (at, state) in states {
            self.stretch(graph, at, state, &mut all);
        }
        all
    }

    fn stretch(&mut self, graph: &Graph, start: u64, mut state: State, pass: &mut Pass) {
        let mut at = start;
        loop {
            let Some(instruction) = graph.instructions.get(&at) else {
                return;
            };
            if let Some(listing) = &mut self.listing {
                // If a function is called twice, the listing shows the function only once, with the joined states of
                // both calls.
                let (_, known) = listing.entry(at).or_insert_with(|| (instruction.clone(), state.clone()));
                known.join(&state);
            }
            if instruction.request {
                marker::apply(&mut state, self.image.machine);
            }
            let function = self.active.last().map_or(0, |(function, _)| *function);
            let variables = self.variables.entry(function).or_default();
            variables.extend(store::variables(&state, instruction));
            for reason in transfer::step(self.image, variables, &mut state, instruction) {
                pass.findings.insert(self.finding(instruction, reason));
            }
            if !self.leave(graph, instruction, &mut state, pass) {
                return;
            }
            at = instruction.next;
            if graph.leaders.contains(&at) {
                pass.onward.push((at, state));
                return;
            }
        }
    }

    /// Follows jumps and calls. Returns false if execution does not continue at the next instruction in memory.
    fn leave(&mut self, graph: &Graph, instruction: &Instruction, state: &mut State, pass: &mut Pass) -> bool {
        match instruction.flow {
            Flow::Return => pass.exits.push(state.clone()),
            Flow::ConditionalJump { target, .. } | Flow::Jump(target) => {
                if graph.holds(target) {
                    pass.onward.push((target, state.clone()));
                } else {
                    self.tail_call(instruction, Some(Target::Local(target)), state.clone(), pass);
                }
                end_of_probe(graph, instruction, state, self.image.machine);
            }
            Flow::IndirectJump(_) if graph.has_table(instruction) => {
                let targets = graph.jumps(instruction).into_iter();
                pass.onward.extend(targets.map(|target| (target, state.clone())));
            }
            Flow::IndirectJump(destination) => {
                let target = self.indirect_target(destination, state);
                self.tail_call(instruction, target, state.clone(), pass);
            }
            Flow::Call(target) => return self.call(instruction, Some(Target::Local(target)), false, state, pass),
            Flow::IndirectCall(destination) => {
                let target = self.indirect_target(destination, state);
                return self.call(instruction, target, false, state, pass);
            }
            _ => {}
        }
        instruction.falls_through()
    }

    fn tail_call(&mut self, instruction: &Instruction, target: Option<Target>, mut state: State, pass: &mut Pass) {
        if self.call(instruction, target, true, &mut state, pass) {
            pass.exits.push(state);
        }
    }

    /// Applies a call. A tail call passes on the return address of this function. Returns false if the callee never
    /// returns.
    fn call(
        &mut self,
        instruction: &Instruction,
        target: Option<Target>,
        tail: bool,
        state: &mut State,
        pass: &mut Pass,
    ) -> bool {
        let machine = self.image.machine;
        if let Some(link) = machine.link.filter(|_| !tail) {
            state.mark(link, false);
            state.set_value(link, Value::Unknown);
        }
        let (address, name, imported) = match target {
            Some(Target::Import(name)) => (0, name, true),
            Some(Target::Local(address)) => {
                let name = self.image.function_at(address).map(|(_, symbol)| symbol.name.clone());
                (address, name.unwrap_or_default(), false)
            }
            None => {
                let what = if tail { "an indirect jump" } else { "an indirect call" };
                pass.findings.insert(self.finding(instruction, Reason::CannotFollow(what.to_owned())));
                calls::give_away_stack(state, machine);
                calls::clobber(state, machine);
                state.mark(machine.result, true);
                return true;
            }
        };
        let callee = calls::classify(&name, imported);
        if callee == Callee::End {
            return false;
        }
        if imported || callee != Callee::Other {
            for reason in calls::apply(callee, &name, state, machine) {
                pass.findings.insert(self.finding(instruction, reason));
            }
            return true;
        }
        let Value::Stack(stack) = state.value(machine.stack_pointer) else {
            pass.findings.insert(self.finding(instruction, Reason::CannotFollow("the stack pointer".to_owned())));
            calls::clobber(state, machine);
            return true;
        };
        let by = if tail { stack } else { stack - machine.pushed };
        let outlined = calls::is_outlined(&name);
        let mut entry = state.enter(by, machine);
        if outlined || tail {
            entry.flags = state.flags;
        }
        let outcome = self.function(address, entry);
        pass.findings.extend(outcome.findings.iter().cloned());
        let Some(exit) = &outcome.exit else { return false };
        *state = if outlined { exit.leave_part(by) } else { exit.leave(by, state, machine) };
        true
    }

    fn indirect_target(&self, destination: Destination, state: &State) -> Option<Target> {
        let value = match destination {
            Destination::Register(register) => state.value(register),
            Destination::Slot(at) => Value::Loaded(at),
            Destination::Unknown => Value::Unknown,
        };
        match value {
            Value::Loaded(slot) => self.image.slot(slot).cloned(),
            Value::Address(address) => Some(Target::Local(address)),
            _ => None,
        }
    }

    /// Analyzes a recursive call of a function whose analysis is in progress. The result of the inner call may depend
    /// on every secret. The analysis of the outer call reports the findings of the function. The report is complete
    /// only if the outer call has the same secret arguments as the inner call.
    fn recursion(&self, start: u64, mut state: State, covered: bool) -> Outcome {
        if !covered {
            return self.lost(start, state, "recursion on new secrets");
        }
        calls::give_away_stack(&mut state, self.image.machine);
        calls::clobber(&mut state, self.image.machine);
        state.secret |= self.image.machine.results;
        Outcome { exit: Some(state), findings: BTreeSet::new() }
    }

    fn lost(&self, start: u64, mut state: State, what: &str) -> Outcome {
        calls::give_away_stack(&mut state, self.image.machine);
        calls::clobber(&mut state, self.image.machine);
        state.mark(self.image.machine.result, true);
        let place = self.image.name_at(start);
        let reason = Reason::CannotFollow(what.to_owned());
        let finding = Finding { address: start, text: String::new(), place, reason };
        Outcome { exit: Some(state), findings: BTreeSet::from([finding]) }
    }

    fn finding(&mut self, instruction: &Instruction, reason: Reason) -> Finding {
        let place = self.image.name_at(instruction.address);
        let finding = Finding { address: instruction.address, place, text: instruction.text.clone(), reason };
        self.first.get_or_insert_with(|| finding.clone());
        finding
    }

    fn graph(&mut self, start: u64) -> Option<Rc<Graph>> {
        let image = self.image;
        self.graphs.entry(start).or_insert_with(|| Graph::of(image, start).map(Rc::new)).clone()
    }
}

/// Restores the stack pointer after a stack probe. A function with a large frame touches this frame page by page in a
/// loop such as `sub rsp, 4096; ...; cmp rsp, r11; jne`. After the loop, `rsp` and the other register are equal.
/// Without this rule, the audit would no longer know the value of the stack pointer.
fn end_of_probe(graph: &Graph, jump: &Instruction, state: &mut State, machine: &Machine) {
    let before = graph.instructions.range(..jump.address).next_back();
    if let Some((_, compare)) = before
        && matches!(jump.flow, Flow::ConditionalJump { unequal: true, .. })
        && let Some((first, second)) = compare.compared
        && first == machine.stack_pointer
    {
        state.set_value(first, state.value(second));
    }
}
