//! Evaluates the options that name code in other languages: a shared library, or a worker.

use std::process::ExitCode;
use std::time::Duration;

use super::Suite;
use super::args::ForeignArgs;
use super::caller::Caller;
use super::output::{Fault, Run, quoted};
#[cfg(unix)]
use super::output::{note, remark};
use super::show::Screen;
use crate::clock::{self, Clock};
use crate::foreign::{self, Abi, Error, ForeignClass, Worker};
use crate::target::Target;
use crate::watch::Watch;

pub(super) struct Source {
    pub(super) targets: Vec<Target>,
    pub(super) clock: Box<dyn Clock>,
    worker: Option<Worker>,
    foreign: bool,
    advice: Advice,
    /// The number of threads of this process before the lab created the targets.
    #[cfg(feature = "trace")]
    threads: usize,
}

#[derive(Clone, Default)]
struct Advice {
    /// Whether the first two parts of the same length differ in the first byte in all classes, so that a comparison
    /// never reads the second byte.
    blind: bool,
    /// Whether the two parts are equal in some of the usual classes and different in other usual classes. If equal and
    /// different parts both occur, the result of comparing the parts may be public.
    mixed: bool,
    /// The warnings about classes, except the warnings about `blind` and `mixed`.
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Advice {
    fn new(abi: &Abi, classes: &[ForeignClass]) -> Self {
        let [warnings, notes] = foreign::limits(abi, classes);
        let mixed = classes.is_empty() && foreign::comparable(abi);
        Self { blind: foreign::blind(abi, classes), mixed, warnings, notes }
    }
}

impl Source {
    /// Returns the targets that the options name, or this program's own targets if the options name none.
    pub(super) fn open(args: &ForeignArgs, own: fn() -> Vec<Target>) -> Result<Self, Fault> {
        Self::try_open(args, own).map_err(|error| explained(&error))
    }

    fn try_open(args: &ForeignArgs, own: fn() -> Vec<Target>) -> Result<Self, Error> {
        #[cfg(feature = "trace")]
        let threads = crate::trace::threads();
        if let Some(command) = &args.worker {
            let worker = Worker::start(command, Duration::from_secs_f64(args.timeout))?;
            let classes = classes(args, worker.abi())?;
            let advice = Advice { mixed: false, ..Advice::new(worker.abi(), &classes) };
            let (targets, clock) = (worker.targets(&classes)?, Box::new(worker.clock()));
            return Ok(Self {
                targets,
                clock,
                worker: Some(worker),
                foreign: true,
                advice,
                #[cfg(feature = "trace")]
                threads,
            });
        }
        let (targets, advice) = match &args.so {
            Some(path) => library(args, path)?,
            None => (own(), Advice::default()),
        };
        Ok(Self {
            targets,
            clock: clock::best(),
            worker: None,
            foreign: args.so.is_some(),
            advice,
            #[cfg(feature = "trace")]
            threads,
        })
    }

    pub(super) fn foreign(&self) -> bool {
        self.foreign
    }

    /// Returns whether the targets run in another process.
    pub(super) fn elsewhere(&self) -> bool {
        self.worker.is_some()
    }

    /// Returns the threshold that the worker of the targets needs, or `None` if the default threshold is suitable.
    pub(super) fn delta_ns(&self) -> Option<f64> {
        self.worker.as_ref().map(Worker::delta_ns)
    }

    /// If the times come from a worker's clock, writes the name of this clock to the record.
    pub(super) fn note(&self, run: &mut Run) {
        if let Some(worker) = &self.worker {
            let hello = worker.hello();
            run.record.machine.clock.name = format!("{} of {}", hello.clock, hello.runtime);
        }
    }

    /// If the target is in a worker, makes warm-up calls, so that the worker compiles the target.
    pub(super) fn warm_up(&self, target: &mut Target, seed: u64) -> Result<(), Fault> {
        match &self.worker {
            Some(worker) => worker.warm_up(target, seed).map_err(|error| explained(&error)),
            None => Ok(()),
        }
    }

    /// Runs a measurement. The measurement ends early if the worker fails.
    pub(super) fn guard<T>(
        &self,
        watch: &mut dyn Watch,
        measure: impl FnOnce(&mut dyn Watch) -> T,
    ) -> Result<T, Fault> {
        let Some(worker) = &self.worker else { return Ok(measure(watch)) };
        let result = measure(&mut worker.watch(watch));
        worker.check().map(|()| result).map_err(|error| explained(&error))
    }

    /// Writes warnings about what the result for a target does not cover, and also the notes if `found` is false. If
    /// `may_be_public` is true, adds the hint that the function's result may be public and may explain the leak.
    pub(super) fn advise(&self, target: &Target, suite: &Suite, [found, may_be_public]: [bool; 2], screen: &Screen) {
        const SAME: &str = "a comparison that stops at the first difference behaves the same for all of them; use the \
            default classes, or add one whose inputs are equal or differ late";
        match target.classes() {
            [class] if self.foreign || suite.caller == Caller::Bench => {
                let name = class.name();
                screen.caution(&format!("WARNING: all inputs are of one class, `{name}`: {SAME}"));
            }
            _ if self.advice.blind => {
                screen.caution(&format!("WARNING: in all classes, the parts differ in the first byte: {SAME}"));
            }
            _ => {}
        }
        for warning in &self.advice.warnings {
            screen.caution(&format!("WARNING: {warning}"));
        }
        for note in self.advice.notes.iter().filter(|_| !found) {
            screen.line(&format!("    note: {note}"));
        }
        if self.foreign && target.classes().iter().any(|class| class.outcome() != target.classes()[0].outcome()) {
            let classes: Vec<String> =
                target.classes().iter().map(|class| format!("{}@{}", class.name(), class.outcome())).collect();
            screen.line(&format!(
                "    note: classes with different results were not compared with each other: {}",
                classes.join(", ")
            ));
        }
        if may_be_public && self.advice.mixed {
            screen.line(
                "    hint: if the result, such as equal or not, is public, state it: --classes \
                 equal@valid,first@invalid,last@invalid, with both parts stated as secret",
            );
        }
    }

    /// If the target cannot be traced, returns an empty trace with the reason. The reason is that the target is in a
    /// worker, or that other threads or processes may execute its code.
    #[cfg(feature = "trace")]
    pub(super) fn no_trace(&self) -> Option<crate::record::Trace> {
        let skipped = match &self.worker {
            Some(worker) => Some(format!("the code runs in a {} process", worker.hello().language)),
            None if self.foreign && crate::trace::any_child() => {
                Some("the library has started processes; a trace follows one process only".to_owned())
            }
            None => crate::trace::more_threads(self.threads)
                .then(|| "the code under test has started threads; a trace follows one thread only".to_owned()),
        };
        skipped.map(|reason| crate::record::Trace { skipped: Some(reason), ..Default::default() })
    }
}

#[cfg(unix)]
fn library(args: &ForeignArgs, path: &std::path::Path) -> Result<(Vec<Target>, Advice), Error> {
    // The command line accepts a shared library only together with a symbol and a description of its arguments.
    let abi: Abi = args.abi.as_deref().unwrap_or_default().parse()?;
    let symbol = args.symbol.as_deref().unwrap_or_default();
    let classes = classes(args, &abi)?;
    let notes = foreign::begin();
    let mut target = foreign::target(path, symbol, &abi, &classes)?;
    if let Some(notes) = notes
        && let Some(why) = foreign::try_out(path, &abi, &mut target, notes)?
    {
        remark(&format!("note: accesses beyond the parts of --abi were not looked for: {why}"));
    }
    Ok((vec![target], Advice::new(&abi, &classes)))
}

#[cfg(not(unix))]
fn library(_args: &ForeignArgs, path: &std::path::Path) -> Result<(Vec<Target>, Advice), Error> {
    Err(Error::Library { path: path.to_owned(), why: "the lab loads libraries on Unix only".to_owned() })
}

/// The lab's class of random bytes.
const RANDOM: &str = "random";

fn classes(args: &ForeignArgs, abi: &Abi) -> Result<Vec<ForeignClass>, Error> {
    let mut classes = match &args.classes {
        Some(list) => ForeignClass::list(list)?,
        None => Vec::new(),
    };
    for (name, path) in &args.class_file {
        classes.push(ForeignClass::from_file(name, path, abi)?);
    }
    // If there is only one class and it has no public result, it is compared with random bytes.
    if let ([class], [(name, _)]) = (&classes[..], &args.class_file[..])
        && !class.is_public()
    {
        if name == RANDOM {
            let why = "the lab compares a single file with its own class of this name; choose another name";
            return Err(Error::Class { name: name.clone(), why: why.to_owned() });
        }
        classes.push(RANDOM.parse()?);
    }
    Ok(classes)
}

/// Returns an error of a worker check with advice on what the user can do next.
pub(super) fn checked(error: &Error) -> Fault {
    match error {
        Error::Ended { .. } | Error::Protocol { .. } => format!(
            "{error}\nhint: a worker writes its first message, answers requests and ends with its standard input: see \
             docs/lab-worker.md, or start from: deadpan lab worker --print python"
        )
        .into(),
        Error::Silent { .. } => format!(
            "{error}\nhint: give a slow worker more time with --timeout SECONDS; a worker that reads numbers as big \
             endian waits for input that the lab does not send, or runs too long a delay"
        )
        .into(),
        error => explained(error),
    }
}

/// Returns the error with advice on what the user can do next.
pub(super) fn explained(error: &Error) -> Fault {
    let hint = match error {
        Error::Abi { .. } => "state the arguments in order, for example: --abi 'secret:32,public:32,out:32,int:32'",
        Error::Class { .. } => {
            "state classes as a list, for example: --classes equal,first,last,differs:16; each class, also one of \
             --class-file, needs a name of its own"
        }
        Error::ClassFile { .. } => {
            "a file for --class-file has the secret bytes of one input after the other, in the order of --abi"
        }
        // musl loads libraries only into programs that are linked dynamically.
        Error::Library { .. } if cfg!(all(target_env = "musl", target_feature = "crt-static")) => {
            "this program is linked statically, so it loads no libraries: use the program of the package (.deb, .rpm), \
             or build Deadpan yourself"
        }
        Error::Library { .. } => {
            "name a shared library for this processor, for example one built with: cc -shared -fPIC"
        }
        Error::Symbol { .. } => "choose a name with --symbol; C++ needs extern \"C\", Rust #[no_mangle], Go //export",
        Error::Function { .. } => {
            "compare --abi with the function's declaration: order, lengths, pointers that must not be missing, and \
             what the function writes (inout:N, out:N); what must be set up before a call belongs into a wrapper or a \
             constructor of the library"
        }
        Error::Start { .. } => "the lab starts workers with sh, as in: --worker 'python3 worker.py'",
        Error::Ended { .. } | Error::Protocol { .. } => {
            "check the worker step by step with: deadpan lab worker --check 'COMMAND'; docs/lab-worker.md has the rules"
        }
        Error::Silent { .. } => {
            "give a slow worker more time with --timeout SECONDS, or find where it stops: deadpan lab worker --check"
        }
        Error::Version { .. } => "take the worker of this version from: deadpan lab worker --print LANGUAGE",
        Error::Prepare { .. } => "choose another folder for temporary files with the variable TMPDIR",
    };
    format!("{error}\nhint: {hint}").into()
}

/// Runs a command. A command that measures a shared library runs in a second process. Therefore the exit code is right
/// even if the library damages or ends this second process. Other commands run in this process.
pub(super) fn supervised(args: &ForeignArgs, work: impl FnOnce() -> ExitCode) -> ExitCode {
    #[cfg(unix)]
    if let Some(path) = &args.so {
        let symbol = args.symbol.as_deref().unwrap_or_default();
        let patience = Duration::from_secs_f64(args.timeout);
        return match foreign::supervised(path, symbol, patience, || super::number(work())) {
            Ok(Some(code)) => ExitCode::from(code),
            Ok(None) => {
                note(&format!("interrupted: `{symbol}` did not end by itself and was killed; nothing was reported"));
                ExitCode::from(130)
            }
            Err(error) => super::ended(Err(explained(&error))),
        };
    }
    #[cfg(not(unix))]
    let _ = args;
    work()
}

/// Returns the options of this run that select code in other languages, for the command line that repeats the run.
pub(super) fn describe(args: &ForeignArgs) -> Vec<String> {
    let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name} {}", quoted(value)));
    let so = args.so.as_ref().map(|path| path.display().to_string());
    let mut words: Vec<String> = [
        option("so", &so),
        option("symbol", &args.symbol),
        option("abi", &args.abi),
        option("worker", &args.worker),
        option("classes", &args.classes),
    ]
    .into_iter()
    .flatten()
    .collect();
    words.extend(
        args.class_file
            .iter()
            .map(|(name, path)| format!("--class-file {}", quoted(&format!("{name}={}", path.display())))),
    );
    words
}
