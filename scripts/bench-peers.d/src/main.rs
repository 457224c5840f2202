//! One run of one tool on one case, for `scripts/bench-peers`.

mod cases;
mod leaks;
mod tools;

use std::io::Read;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use deadpan_lab::{Random, clock, machine};

const USAGE: &str = "usage: bench-peers CASE TOOL | list | clock | busy";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["list"] => list(),
        ["clock"] => describe(),
        ["busy"] => busy(),
        [case, tool] => {
            let case = cases::all().into_iter().find(|one| one.name == case);
            let tool = tools::ALL.iter().find(|one| one.name == tool);
            let (Some(case), Some(tool)) = (case, tool) else {
                eprintln!("error: no such case or tool\n{USAGE}");
                return ExitCode::from(2);
            };
            let start = Instant::now();
            let verdict = (tool.run)(case);
            println!("verdict: {verdict}\nseconds: {:.4}", start.elapsed().as_secs_f64());
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn list() {
    for case in cases::all() {
        println!("case\t{}\t{}\t{}", case.name, if case.leaks { "leak" } else { "null" }, case.what);
    }
    for tool in tools::ALL {
        println!("tool\t{}\t{}", tool.name, tool.what);
    }
}

/// Prints the clock of the lab, which the page states.
fn describe() {
    let machine = machine::machine(&*clock::best());
    let clock = machine.clock;
    println!("{} at {:.0} MHz, steps of {:.1} ns", clock.name, clock.hertz / 1e6, clock.step_ns);
}

/// Keeps a processor busy until the standard input ends, which it does when the script ends for any reason.
fn busy() {
    static ENDED: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::Relaxed);
    });
    let mut random = Random::from_time();
    while !ENDED.load(Ordering::Relaxed) {
        let mut numbers: Vec<u64> = (0..200_000).map(|_| random.bits()).collect();
        numbers.sort_unstable();
        std::hint::black_box(numbers);
    }
}
