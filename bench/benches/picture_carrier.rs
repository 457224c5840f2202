//! Writes and reads a set of carriers of 1 GiB beside `cp`, in pairs: `cargo bench -p deadpan-bench --bench
//! picture_carrier [-- FOLDER]`.
#![allow(clippy::print_stdout)]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use deadpan_picture::carrier::{Carrier, Layout, Writer};
use deadpan_picture::{Format, Opened, Reader, Sets};

const LENGTH: u64 = 1 << 30;
const STEP: u64 = 1 << 20;
const ROUNDS: usize = 9;

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    let (input, copy, back) = (folder.join("input"), folder.join("copy"), folder.join("back"));
    noise(&input);
    for format in [Format::Png, Format::WebP] {
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..ROUNDS {
            times[0].push(timed(&folder, || {
                assert!(Command::new("cp").args([&input, &copy]).status().expect("cp runs").success());
            }));
            fs::remove_file(&copy).expect("it is there");
            let mut count = 0;
            times[1].push(timed(&folder, || count = hide(&folder, format, &input)));
            times[2].push(timed(&folder, || reveal(&folder, count, &back)));
            for index in 0..count {
                fs::remove_file(picture(&folder, index)).expect("it is there");
            }
            if times[0].len() == 1 {
                assert!(Command::new("cmp").args([&input, &back]).status().expect("cmp runs").success());
            }
            fs::remove_file(&back).expect("it is there");
        }
        let median = |mut ratios: Vec<f64>| {
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        let ratio = |which: usize| median(times[which].iter().zip(&times[0]).map(|(time, copy)| time / copy).collect());
        let [copy, hide, reveal] =
            times.each_ref().map(|times| LENGTH as f64 / (1 << 20) as f64 / median(times.clone()));
        println!(
            "{format:?}: cp {copy:.0} MiB/s; hide {hide:.0} ({:.2} × cp); reveal {reveal:.0} ({:.2} × cp)",
            ratio(1),
            ratio(2)
        );
    }
    fs::remove_file(&input).expect("it is there");
}

/// Syncs first, so that no earlier write slows this one down.
fn timed(folder: &Path, work: impl FnOnce()) -> f64 {
    assert!(Command::new("sync").arg("-f").arg(folder).status().expect("sync runs").success());
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn noise(path: &Path) {
    let file = File::create(path).expect("room in the folder");
    let mut state = 1_u64;
    let mut buffer = vec![0; STEP as usize];
    for at in (0..LENGTH).step_by(STEP as usize) {
        for bytes in buffer.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.copy_from_slice(&(state ^ state >> 29).to_le_bytes());
        }
        file.write_all_at(&buffer, at).expect("written");
    }
}

fn picture(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("picture-{index}"))
}

/// Calls `work` with a buffer for each piece, on two threads.
fn pieces(work: impl Fn(&mut [u8], u64) -> io::Result<()> + Sync) {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut buffer = vec![0; STEP as usize];
                loop {
                    let at = next.fetch_add(STEP, Ordering::Relaxed);
                    if at >= LENGTH {
                        return;
                    }
                    work(&mut buffer, at).expect("read and written");
                }
            });
        }
    });
}

fn hide(folder: &Path, format: Format, input: &Path) -> u32 {
    let input = File::open(input).expect("it is there");
    let open = |index| File::options().read(true).write(true).create(true).truncate(false).open(picture(folder, index));
    let writer = Writer::new(Layout::new(format, 4096, 4096).expect("a size"), open).expect("a size");
    pieces(|buffer, at| {
        input.read_exact_at(buffer, at)?;
        writer.write_all_at(buffer, at)
    });
    writer.finish([7; 16], 0).expect("finished").labels.len() as u32
}

fn reveal(folder: &Path, count: u32, back: &Path) {
    let mut sets = Sets::new();
    for index in 0..count {
        let path = picture(folder, index);
        let carrier = Carrier::recognize(&File::open(&path).expect("it is there")).expect("whole").expect("a carrier");
        sets.add(carrier.label, (path, carrier));
    }
    let open = |(path, carrier): &(PathBuf, Carrier)| -> io::Result<Opened> { Ok(carrier.open(File::open(path)?)) };
    let reader = Reader::new(sets.into_sets().remove(0), open).expect("complete");
    let back = File::create(back).expect("room in the folder");
    pieces(|buffer, at| {
        reader.read_at(buffer, at)?;
        back.write_all_at(buffer, at)
    });
    assert!(reader.damaged().is_empty());
}
