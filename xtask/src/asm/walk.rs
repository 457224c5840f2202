//! The search for a fixpoint: follows every path of a function and of the functions that it calls, until no state
//! changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

use super::calls::{self, Callee};
use super::finding::{Finding, Reason};
use super::graph::{self, Graph};
use super::image::{Image, Target};
use super::marker;
use super::state::{State, parts};
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
    factory: InstructionInfoFactory,
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
            factory: InstructionInfoFactory::new(),
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
            let first = graph.instructions[&start];
            all.findings.insert(self.finding(&first, Reason::CannotFollow("so many paths".to_owned())));
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
                let (_, known) = listing.entry(at).or_insert_with(|| (*instruction, state.clone()));
                known.join(&state);
            }
            if marker::is_request(graph, instruction) {
                marker::apply(&mut state);
            }
            let function = self.active.last().map_or(0, |(function, _)| *function);
            let variables = self.variables.entry(function).or_default();
            variables.extend(store::variable(&state, instruction));
            for reason in transfer::step(self.image, &mut self.factory, variables, &mut state, instruction) {
                pass.findings.insert(self.finding(instruction, reason));
            }
            if !self.leave(graph, instruction, &mut state, pass) {
                return;
            }
            at = instruction.next_ip();
            if graph.leaders.contains(&at) {
                pass.onward.push((at, state));
                return;
            }
        }
    }

    /// Follows jumps and calls. Returns false if execution does not continue at the next instruction in memory.
    fn leave(&mut self, graph: &Graph, instruction: &Instruction, state: &mut State, pass: &mut Pass) -> bool {
        match instruction.flow_control() {
            FlowControl::Return => pass.exits.push(state.clone()),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                if graph.holds(target) {
                    pass.onward.push((target, state.clone()));
                } else {
                    self.tail_call(instruction, Some(Target::Local(target)), state.clone(), pass);
                }
                end_of_probe(graph, instruction, state);
            }
            FlowControl::IndirectBranch if graph.has_table(instruction) => {
                let targets = graph.jumps(instruction).into_iter();
                pass.onward.extend(targets.map(|target| (target, state.clone())));
            }
            FlowControl::IndirectBranch => {
                let target = self.indirect_target(instruction, state);
                self.tail_call(instruction, target, state.clone(), pass);
            }
            FlowControl::Call => {
                let target = Some(Target::Local(instruction.near_branch_target()));
                return self.call(instruction, target, 8, state, pass);
            }
            FlowControl::IndirectCall => {
                let target = self.indirect_target(instruction, state);
                return self.call(instruction, target, 8, state, pass);
            }
            _ => {}
        }
        graph::falls_through(instruction)
    }

    fn tail_call(&mut self, instruction: &Instruction, target: Option<Target>, mut state: State, pass: &mut Pass) {
        if self.call(instruction, target, 0, &mut state, pass) {
            pass.exits.push(state);
        }
    }

    /// Applies a call. `pushed` is the size of the return address, or 0 for a tail call. Returns false if the callee
    /// never returns.
    fn call(
        &mut self,
        instruction: &Instruction,
        target: Option<Target>,
        pushed: i64,
        state: &mut State,
        pass: &mut Pass,
    ) -> bool {
        let (address, name, imported) = match target {
            Some(Target::Import(name)) => (0, name, true),
            Some(Target::Local(address)) => {
                let name = self.image.function_at(address).map(|(_, symbol)| symbol.name.clone());
                (address, name.unwrap_or_default(), false)
            }
            None => {
                let what = if pushed == 0 { "an indirect jump" } else { "an indirect call" };
                pass.findings.insert(self.finding(instruction, Reason::CannotFollow(what.to_owned())));
                calls::give_away_stack(state);
                calls::clobber(state);
                state.mark(Register::RAX, true);
                return true;
            }
        };
        let callee = calls::classify(&name, imported);
        if callee == Callee::End {
            return false;
        }
        if imported || callee != Callee::Other {
            for reason in calls::apply(callee, &name, state) {
                pass.findings.insert(self.finding(instruction, reason));
            }
            return true;
        }
        let Value::Stack(stack) = state.value(Register::RSP) else {
            pass.findings.insert(self.finding(instruction, Reason::CannotFollow("the stack pointer".to_owned())));
            calls::clobber(state);
            return true;
        };
        let by = stack - pushed;
        let outcome = self.function(address, state.enter(by));
        pass.findings.extend(outcome.findings.iter().cloned());
        let Some(exit) = &outcome.exit else { return false };
        *state = exit.leave(by, state);
        true
    }

    fn indirect_target(&self, instruction: &Instruction, state: &State) -> Option<Target> {
        let value = match instruction.op0_kind() {
            OpKind::Register => state.value(instruction.op0_register()),
            OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
                Value::Loaded(instruction.ip_rel_memory_address())
            }
            _ => Value::Unknown,
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
        calls::give_away_stack(&mut state);
        calls::clobber(&mut state);
        state.secret |= [Register::RAX, Register::RDX, Register::ZMM0, Register::ZMM1]
            .map(parts)
            .iter()
            .fold(0, |all, part| all | part);
        Outcome { exit: Some(state), findings: BTreeSet::new() }
    }

    fn lost(&self, start: u64, mut state: State, what: &str) -> Outcome {
        calls::give_away_stack(&mut state);
        calls::clobber(&mut state);
        state.mark(Register::RAX, true);
        let place = self.image.name_at(start);
        let reason = Reason::CannotFollow(what.to_owned());
        let finding = Finding { address: start, text: String::new(), place, reason };
        Outcome { exit: Some(state), findings: BTreeSet::from([finding]) }
    }

    fn finding(&mut self, instruction: &Instruction, reason: Reason) -> Finding {
        let place = self.image.name_at(instruction.ip());
        let finding = Finding { address: instruction.ip(), place, text: instruction.to_string(), reason };
        self.first.get_or_insert_with(|| finding.clone());
        finding
    }

    fn graph(&mut self, start: u64) -> Option<Rc<Graph>> {
        let image = self.image;
        self.graphs.entry(start).or_insert_with(|| Graph::of(image, start).map(Rc::new)).clone()
    }
}

/// Restores the stack pointer after a stack probe. A function with a large frame touches this frame page by page in a
/// loop `sub rsp, 4096; ...; cmp rsp, r11; jne`. After the loop, `rsp` and the other register are equal. Without this
/// rule, the audit would no longer know the value of the stack pointer.
fn end_of_probe(graph: &Graph, jump: &Instruction, state: &mut State) {
    let before = graph.instructions.range(..jump.ip()).next_back();
    if let Some((_, compare)) = before
        && jump.mnemonic() == Mnemonic::Jne
        && compare.mnemonic() == Mnemonic::Cmp
        && compare.op0_register() == Register::RSP
        && compare.op1_kind() == OpKind::Register
    {
        state.set_value(Register::RSP, state.value(compare.op1_register()));
    }
}
