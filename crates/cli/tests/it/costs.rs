//! The requests that a job from store to store sends. The tests compare the computed numbers with the counts of a
//! server, and with the tables of docs/scale-costs.md.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::sandbox::{LIMIT, Sandbox, finish};
use crate::store::{Fate, Server, meddle, sample};

/// The number of requests of each kind.
type Requests = BTreeMap<&'static str, f64>;

const SEGMENT: u64 = 256 << 10;
/// The number of segments in a part, and the largest number of parts in an upload.
const EACH: u64 = 64;
const PARTS: u64 = 9_990;
/// An object of at least this length is uploaded in parts, if the memory is large enough for three such objects.
const LONG: u64 = 64 << 20;
const BESIDE: u64 = 48 << 20;
const USUAL: u64 = 224 << 20;

#[derive(Clone, Copy)]
struct Objects {
    count: u64,
    length: u64,
}

/// How the work is distributed: either all machines share one command, or each machine runs its own commands.
#[derive(Clone, Copy)]
struct Layout {
    machines: u64,
    commands: u64,
    memory: u64,
}

impl Layout {
    fn shares(&self) -> u64 {
        if self.commands > 1 { 1 } else { self.machines }
    }

    /// Returns the number of requests that list objects. Each machine alternately lists one page of the sources and one
    /// page of the results.
    fn listings(&self, objects: u64) -> u64 {
        self.shares() * 2 * self.commands * objects.div_ceil(self.commands).max(1).div_ceil(1000)
    }
}

fn is_long(objects: Objects, layout: Layout) -> bool {
    objects.length >= LONG.min((layout.memory - BESIDE) / 3)
}

fn part_length(length: u64) -> u64 {
    EACH.max((length / PARTS).div_ceil(SEGMENT) + 1) * SEGMENT
}

/// Returns the number of parts. The header takes the place of one segment, and each segment has 32 bytes in addition to
/// its data.
fn part_count(length: u64) -> u64 {
    (length.div_ceil(SEGMENT - 32).max(1) + 1).div_ceil(part_length(length) / SEGMENT)
}

/// Returns the number of shares (machines) that work on a long object. A machine works on the object only if the object
/// is long enough for the machine to get a part.
fn beginning(length: u64, shares: u64) -> u64 {
    shares.min(length / (EACH * SEGMENT) + 2)
}

/// Returns the requests for one object that is uploaded in parts. Each machine works on the object for `seconds`.
fn divided(length: u64, shares: u64, seconds: f64) -> Requests {
    let (parts, begin) = (part_count(length), beginning(length, shares));
    let (pages, fresh) = (parts.div_ceil(1000), (5 * (1 + parts / 1000)) as f64);
    // A machine that begins later requests the list of finished parts. A machine that makes parts requests the list of
    // finished parts again at intervals. At the end, each machine requests the list.
    let again = (seconds / fresh).floor() * (pages + 1) as f64 / 2.0 * shares.min(parts) as f64;
    // Each machine opens the source, reads the manifest, and finally checks whether another machine has completed the
    // object.
    let mut one = Requests::from([
        ("PART", parts as f64),
        ("GET", (parts + 3 * begin + 2) as f64),
        ("HEAD", 1.0),
        ("LIST", begin as f64),
        ("LISTPARTS", (begin - 1 + begin * pages) as f64 + again),
    ]);
    one.extend(["CREATE", "PUT", "COMPLETE", "ABORT", "DELETE"].map(|kind| (kind, 1.0)));
    one
}

/// Returns the requests of a run that finds all results complete.
fn second_run(all: &[Objects], layout: Layout) -> Requests {
    let objects = all.iter().map(|sort| sort.count).sum();
    // At the end, the first share lists the remaining objects of the job's state.
    let lists = layout.listings(objects) + layout.commands;
    Requests::from([("LIST", lists as f64), ("GET", (layout.commands * layout.shares()) as f64)])
}

/// Returns the requests of a run that makes all results.
fn first_run(all: &[Objects], layout: Layout) -> Requests {
    let mut total = second_run(all, layout);
    let mut add = |kind, number: f64| *total.entry(kind).or_default() += number;
    // The first process of each command writes the settings of the job.
    add("PUT", layout.commands as f64);
    for sort in all {
        let one = if is_long(*sort, layout) {
            divided(sort.length, layout.shares(), pace(*sort, layout).seconds_on_one)
        } else {
            // An empty object has no first byte that a GET could request, so the object needs an additional HEAD.
            let empty = f64::from(u8::from(sort.length == 0));
            Requests::from([("GET", 1.0), ("PUT", 1.0), ("HEAD", empty)])
        };
        one.into_iter().for_each(|(kind, number)| add(kind, (sort.count as f64 * number).round()));
    }
    // A machine checks whether sources were replaced before their short results were complete. If a page of the list
    // has few short results, the machine sends one request for each of these results.
    let short: u64 = all.iter().filter(|sort| !is_long(**sort, layout)).map(|sort| sort.count).sum();
    let objects: u64 = all.iter().map(|sort| sort.count).sum();
    if short == 0 || objects.div_ceil(layout.commands).min(1000) / layout.shares() <= 12 {
        add("HEAD", short as f64);
    } else {
        add("LIST", (layout.listings(objects) / 2) as f64);
    }
    total.retain(|_, number| *number > 0.0);
    total
}

/// The speed of one machine in docs/scale-costs.md: objects or parts per second, and the limit that determines the
/// speed.
struct Pace {
    items: f64,
    limit: &'static str,
    memory: u64,
    /// The number of parts of one object, or 1 for a short object.
    each: u64,
    seconds_on_one: f64,
}

/// Computes the speed from the assumptions of docs/scale-costs.md, such as 16 cores, 1.5 GB/s, and answers that begin
/// after 0.1 s and come at 85 MB/s.
fn pace(sort: Objects, layout: Layout) -> Pace {
    const LATENCY: f64 = 0.1;
    let (data, is_long) = (layout.memory - BESIDE, is_long(sort, layout));
    let each = if is_long { part_count(sort.length) } else { 1 };
    let length = if is_long { part_length(sort.length).min(sort.length.div_ceil(each)) } else { sort.length };
    let room = if is_long { 2 * length } else { 3 * length + (1 << 19) };
    let at_once = (data / room).clamp(1, 32);
    let busy = length as f64 / 1e9 + if is_long { 0.0 } else { 0.0015 };
    let seconds = 2.0 * LATENCY + 2.0 * length as f64 / 85e6 + busy;
    // All requests for a long object, except those for its parts, are sent one after another. While a thread sends
    // these requests, it does not make a part.
    let others = if is_long {
        let all: f64 = divided(sort.length, layout.shares(), 0.0).values().sum();
        LATENCY * (all - 2.0 * each as f64) / each as f64
    } else {
        0.0
    };
    let mut limits = vec![
        (16.0 / (busy + length as f64 / 0.7e9), "cores"),
        (2.0 * 0.7e9 / length as f64, "2 connection threads"),
        (1.5e9 / length as f64, "network"),
        (32.0 / (seconds + others), "32 threads"),
    ];
    if at_once < 32 {
        limits.push((at_once as f64 / seconds, "memory"));
    }
    let (items, limit) = limits.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let seconds_on_one = if each > 1 { each as f64 / layout.shares() as f64 / items } else { seconds };
    Pace { items, limit, memory: BESIDE + at_once * room, each, seconds_on_one }
}

/// Returns the hours that a run takes, and what limits its speed: the machines, or 3500 write requests per second for
/// each prefix.
fn hours(sort: Objects, layout: Layout) -> (f64, &'static str) {
    let pace = pace(sort, layout);
    let writes = 3500.0 * layout.commands as f64 / layout.machines as f64;
    let (rate, limit) = if writes < pace.items { (writes, "PUTs of the store") } else { (pace.items, pace.limit) };
    // A command lists 5000 objects per second.
    let listing = 5000.0 * pace.each as f64 / layout.shares() as f64;
    (sort.count as f64 * pace.each as f64 / layout.machines as f64 / rate.min(listing) / 3600.0, limit)
}

fn dollars(requests: &Requests, [writing, reading]: [f64; 2]) -> f64 {
    let sum = |kinds: &[&str]| kinds.iter().filter_map(|kind| requests.get(kind)).sum::<f64>();
    let writes = sum(&["LIST", "PUT", "CREATE", "PART", "LISTPARTS", "COMPLETE"]);
    (writes * writing + sum(&["GET", "HEAD"]) * reading) / 1e6
}

/// Returns a number with at most three significant digits.
fn short(value: f64) -> String {
    let places = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).max(0) as usize };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn money(value: f64) -> String {
    let whole = format!("{value:.0}");
    match whole.len() {
        _ if value < 10.0 => format!("{value:.2}"),
        4.. => format!("{},{}", &whole[..whole.len() - 3], &whole[whole.len() - 3..]),
        _ => whole,
    }
}

#[test]
fn the_tables_of_the_page_follow_from_the_requests_for_each_object() {
    let page = include_str!("../../../../docs/scale-costs.md");
    let jobs = [
        ("1 PB in objects of 1 GiB", Objects { count: 931_322, length: 1 << 30 }),
        ("1 PB in objects of 1 TiB", Objects { count: 909, length: 1 << 40 }),
        ("10^9 objects of 1 MB", Objects { count: 1_000_000_000, length: 1_000_000 }),
        ("10^9 objects of 10 KB", Objects { count: 1_000_000_000, length: 10_000 }),
    ];
    let layout = |commands, memory| Layout { machines: 20, commands, memory };
    let (large, prices) = (layout(1000, 8 << 30), [5.0, 0.4]);
    for (name, sort) in jobs {
        let (hours, limit) = hours(sort, large);
        let memory = (pace(sort, large).memory as f64 / f64::from(1 << 20)).round();
        let [first, again] = [first_run, second_run].map(|run| money(dollars(&run(&[sort], large), prices)));
        // A second run lists 5000 objects per second.
        let listing = sort.count as f64 / large.machines as f64 / 5000.0 / 3600.0;
        let listing = if listing < 0.005 { "0".to_owned() } else { short(listing) };
        let row = format!("| {name} | {first} | {} | {limit} | {memory} | {again} | {listing} |", short(hours));
        assert!(page.contains(&row), "the page has no row\n{row}");
    }
    let shared = money(dollars(&first_run(&[jobs[0].1], layout(1, 8 << 30)), prices));
    let slow = short(hours(jobs[1].1, layout(1, USUAL)).0);
    for fact in [format!("${shared} in place of $"), format!("1 PB in objects of 1 TiB takes {slow} hours")] {
        assert!(page.contains(&fact), "the page does not say {fact}");
    }
}

fn kind(line: &str) -> &'static str {
    let has = |part: &str| line.contains(part);
    match line.split(' ').next() {
        Some("GET") if has("list-type") => "LIST",
        Some("GET") if has("uploadId") => "LISTPARTS",
        Some("GET") => "GET",
        Some("PUT") if has("partNumber") => "PART",
        Some("PUT") => "PUT",
        Some("POST") if has("uploadId") => "COMPLETE",
        Some("POST") if has("uploads") => "CREATE",
        Some("DELETE") if has("uploadId") => "ABORT",
        Some("POST" | "DELETE") => "DELETE",
        _ => "HEAD",
    }
}

#[test]
fn a_job_sends_the_requests_that_are_computed() {
    let Some(server) = Server::start("requests of jobs") else { return };
    let counts = Arc::new(Mutex::new(Requests::new()));
    let counted = Arc::clone(&counts);
    let port = meddle(server.port, move |line| {
        *counted.lock().unwrap().entry(kind(line)).or_default() += 1.0;
        Fate::Pass
    });
    let sandbox = Sandbox::with_key("ecc");
    server.run(&sandbox, &["cluster", "key", "-o", "job.key"]).expect(0, "");
    let of = |count, length| Objects { count, length };
    let jobs = [
        (vec![of(25, 10_000), of(1, 100_000_000)], 1),
        (vec![of(3, 1_000_000), of(1, 0)], 1),
        (vec![of(1, 64 << 20)], 3),
    ];
    for (job, (all, machines)) in jobs.into_iter().enumerate() {
        let lengths = all.iter().flat_map(|sort| (0..sort.count).map(|_| sort.length));
        for (number, length) in lengths.enumerate() {
            server.ask("PUT", &format!("/bucket/{job}/{number:03}"), &sample(length as usize));
        }
        // If a source changed in the last second, a job seals the source only one second later, so the test waits.
        std::thread::sleep(std::time::Duration::from_millis(1200));
        let layout = Layout { machines, commands: 1, memory: USUAL };
        for (what, expected) in [("first", first_run(&all, layout)), ("second", second_run(&all, layout))] {
            counts.lock().unwrap().clear();
            // The machines work one after another, and the first machine works last.
            for share in (0..machines).rev() {
                let (from, to) = (format!("s3://bucket/{job}/"), format!("s3://bucket/sealed{job}/"));
                let shard = format!("{share}/{machines}");
                let shares = ["--job-key", "job.key", "--shard", &shard];
                let args = [&["seal", &from, "--to", &to][..], if machines > 1 { &shares } else { &[] }].concat();
                finish(server.command_at(port, &sandbox, &args), LIMIT, |_| ()).expect(0, "");
            }
            assert_eq!(*counts.lock().unwrap(), expected, "job {job}, {what} run");
        }
    }
}
