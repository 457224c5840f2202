//! Measures how often wrong results come from the lab and from other tools that find timing leaks: `scripts/bench peers
//! [--nulls N] [--leaks N] [--cases NAMES] [--markdown FILE]`.
//!
//! In each round, each tool runs on each case twice, in random order: once on the machine without extra load, and once
//! while other processes keep the machine busy. Each run has its own process, `bench-peers CASE TOOL`.

mod cases;
mod leaks;
mod page;
mod tools;

use std::io::Read;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use deadpan_lab::Random;
use page::{Options, Run};

type Trouble = Box<dyn std::error::Error>;

const USAGE: &str = "usage: scripts/bench peers [--nulls N] [--leaks N] [--cases NAMES] [--markdown FILE]";
/// If a tool takes longer than this limit, its result is `undecided`.
const LIMIT: Duration = Duration::from_secs(90);
const BUSY: usize = 4;
/// The threshold that the README of dudect-bencher recommends.
const THRESHOLD: f64 = 5.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        ["busy"] => {
            busy();
            Ok(())
        }
        [case, tool] if !case.starts_with('-') => one(case, tool),
        _ => Options::parse(&arguments).and_then(|options| page::write(&options, &measure(&options)?)),
    };
    outcome.map_or_else(
        |error| {
            eprintln!("error: {error}\n{USAGE}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}

fn one(case: &str, tool: &str) -> Result<(), Trouble> {
    let case = cases::all().into_iter().find(|one| one.name == case).ok_or("there is no such case")?;
    let tool = tools::ALL.iter().find(|one| one.name == tool).ok_or("there is no such tool")?;
    let start = Instant::now();
    let verdict = (tool.run)(case);
    println!("verdict: {verdict}\nseconds: {:.4}", start.elapsed().as_secs_f64());
    Ok(())
}

/// Keeps a processor busy until the standard input ends. The standard input ends when the parent process ends, for any
/// reason.
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

fn measure(options: &Options) -> Result<Vec<Run>, Trouble> {
    let (mut runs, mut random) = (Vec::new(), Random::from_time());
    let rounds = options.nulls.max(options.leaks);
    for round in 0..rounds {
        let wanted = |leaks: bool| round < if leaks { options.leaks } else { options.nulls };
        let cases = options.cases().into_iter().filter(|case| wanted(case.leaks));
        let mut all: Vec<_> =
            cases.flat_map(|case| tools::ALL.iter().map(move |tool| (case.name, tool.name))).collect();
        for is_busy in [false, true] {
            random.shuffle(&mut all);
            let mut load = Vec::new();
            for _ in 0..if is_busy { BUSY } else { 0 } {
                load.push(Command::new(std::env::current_exe()?).arg("busy").stdin(Stdio::piped()).spawn()?);
            }
            for (case, tool) in &all {
                let others = runnable()?;
                let (verdict, seconds) = run(case, tool)?;
                runs.push(Run { case, tool, is_busy, verdict, seconds, others });
            }
            load.into_iter().try_for_each(end)?;
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    Ok(runs)
}

fn end(mut child: Child) -> Result<(), Trouble> {
    drop(child.stdin.take());
    child.wait()?;
    Ok(())
}

/// Returns the number of other threads and processes that currently run or wait for a processor.
fn runnable() -> Result<u64, Trouble> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    let running = text.split(' ').nth(3).and_then(|field| field.split('/').next()).ok_or("no field")?;
    Ok(running.parse::<u64>()? - 1)
}

/// Runs one tool on one case in its own process. Returns the verdict, and the duration in seconds.
fn run(case: &str, tool: &str) -> Result<(String, f64), Trouble> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([case, tool])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    // A thread waits for the output of the process, so that no other code runs during the measurement.
    let (ended, end) = mpsc::channel();
    let mut output = child.stdout.take().ok_or("no output")?;
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = ended.send(output.read_to_string(&mut text).map(|_| text));
    });
    let Ok(text) = end.recv_timeout(LIMIT) else {
        child.kill()?;
        child.wait()?;
        return Ok(("undecided".to_owned(), LIMIT.as_secs_f64()));
    };
    child.wait()?;
    let text = text?;
    let after = |key: &str| text.lines().find_map(|line| line.split_once(key)).map(|(_, value)| value);
    let (Some(verdict), Some(seconds)) = (after("verdict: "), after("seconds: ")) else {
        return Err(format!("{tool} failed on {case}\n{text}").into());
    };
    let verdict = if verdict == "printed" {
        let statistic = after("max t = ").and_then(|rest| rest.split(',').next()).ok_or("no statistic")?;
        if statistic.trim().parse::<f64>()?.abs() > THRESHOLD { "leak" } else { "none" }
    } else {
        verdict
    };
    Ok((verdict.to_owned(), seconds.parse()?))
}
