//! The page with the results.

use std::fmt::Write;

use crate::embed::Way;
use crate::statistic::{FALSE_ALARMS, Rate};
use crate::study::{DETECTORS, OF_REPLACEMENT, SHARES, Study, Treatment};
use deadpan_lab::{clock, machine};

/// The line at which the results begin. The text above this line is written by a person.
const BEGIN: &str = "- generated";

/// Returns the page in Markdown: first the text that stood above the results on the old page, and then the new results.
pub fn page(study: &Study, old: &str) -> String {
    let mut page = old.split(&format!("\n{BEGIN}")).next().unwrap_or_default().trim_end().to_owned() + "\n\n";
    for (kind, count) in study.kinds() {
        let _ = writeln!(page, "- {kind}: {count} covers");
    }
    let _ = writeln!(page, "- machine: {}\n", machine());
    covers(&mut page, study);
    let _ = writeln!(page, "\n## Detection rates, all covers\n");
    both(&mut page, |treatment, detector| cell(study.outcome(detector, treatment, None).rate));
    let _ = writeln!(
        page,
        "\n## Area under the curve, all covers\n\nThe probability that a picture with data is more suspicious than a \
         cover. 0.50 is guessing.\n"
    );
    both(&mut page, |treatment, detector| format!("{:.2}", study.outcome(detector, treatment, None).area));
    kinds(&mut page, study);
    noise(&mut page, study);
    page
}

/// Writes the table of thresholds.
fn covers(page: &mut String, study: &Study) {
    let _ = writeln!(page, "| covers without data | {} |", DETECTORS.join(" | "));
    let _ = writeln!(page, "|---|{}", "--:|".repeat(DETECTORS.len()));
    let columns: Vec<(Rate, f64, f64)> = (0..DETECTORS.len()).map(|detector| study.covers(detector, None)).collect();
    let mut row = |name: &str, cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..DETECTORS.len()).map(cell).collect();
        let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
    };
    row("median", &|at| score(at, columns[at].2));
    row("threshold", &|at| score(at, columns[at].1));
    row("alarms", &|at| cell(columns[at].0));
    let _ = writeln!(
        page,
        "\nChi-square is the statistic for each degree of freedom, and HCF-COM is the ratio of the centers: low ones \
         are\nsuspicious. RS and sample pairs are estimated rates."
    );
}

/// Writes a table with adjacent columns for templates and for the control. For the control, the table has only the
/// detectors that look for low-bit replacement.
fn both(page: &mut String, value: impl Fn(Treatment, usize) -> String) {
    let control = DETECTORS[..OF_REPLACEMENT].join(" | ");
    let _ = writeln!(page, "| bits | filled | template: {} | control: {control} |", DETECTORS.join(" | "));
    let _ = writeln!(page, "|--:|--:{}|", "|--:".repeat(DETECTORS.len() + OF_REPLACEMENT));
    for bits in 1..=4 {
        for share in SHARES {
            let cells = Way::ALL.into_iter().flat_map(|way| {
                let detectors = if way == Way::Template { DETECTORS.len() } else { OF_REPLACEMENT };
                (0..detectors).map(move |at| (Treatment { way, bits, share }, at))
            });
            let cells: Vec<String> = cells.map(|(treatment, detector)| value(treatment, detector)).collect();
            let _ = writeln!(page, "| {bits} | {share} % | {} |", cells.join(" | "));
        }
    }
}

/// Writes the results of templates for each kind of cover: the detection rates, and the areas under the curve.
fn kinds(page: &mut String, study: &Study) {
    let _ = writeln!(
        page,
        "\n## Templates by the kind of cover\n\nA white sample can only become darker, and a black one only lighter. \
         There a change by 1 is the same as replacing the\nlow bit, and RS and sample pair analysis find it. Choose \
         covers without white or black areas.\nA full template also smooths the histogram, which the chi-square \
         attack finds. Some photographs have black or white\nareas too. HCF-COM looks for changes by ±1. Of the \
         larger changes at 3 and 4 bits, that of neighbors finds\nfew. Each kind has thresholds of its own. *Area* is \
         the area under the curve.\n"
    );
    let _ = writeln!(page, "| covers | bits | filled | {} |", DETECTORS.join(" | "));
    let _ = writeln!(page, "|---|--:|--:{}|", "|--:".repeat(DETECTORS.len()));
    let mut row = |kind: &str, what: &str, value: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..DETECTORS.len()).map(value).collect();
        let _ = writeln!(page, "| {kind} | {what} | {} |", cells.join(" | "));
    };
    for kind in study.kinds().into_keys() {
        row(kind, "– | no data", &|at| cell(study.covers(at, Some(kind)).0));
        for bits in 1..=4 {
            for share in [20, 100] {
                let outcome = |at| study.outcome(at, Treatment { way: Way::Template, bits, share }, Some(kind));
                row(kind, &format!("{bits} | {share} %"), &|at| cell(outcome(at).rate));
                if share == 100 {
                    row(kind, &format!("{bits} | {share} %, area"), &|at| format!("{:.2}", outcome(at).area));
                }
            }
        }
    }
}

fn noise(page: &mut String, study: &Study) {
    let _ = writeln!(page, "\n## Peak signal-to-noise ratio\n\nThe lowest of all covers, with all room filled.\n");
    let _ = writeln!(page, "| bits | template | control |\n|--:|--:|--:|");
    for bits in 1..=4 {
        let psnr = Way::ALL.map(|way| study.psnr[&Treatment { way, bits, share: 100 }]);
        let _ = writeln!(page, "| {bits} | {:.1} dB | {:.1} dB |", psnr[0], psnr[1]);
    }
}

/// Formats a score with the sign that the detector's definition gives. The study stores the scores of chi-square and
/// HCF-COM with reversed signs.
fn score(detector: usize, score: f64) -> String {
    match DETECTORS[detector] {
        "chi-square" => format!("{:.2}", -score),
        "HCF-COM" | "HCF-COM of neighbors" => format!("{:.3}", -score),
        _ => format!("{score:.3}"),
    }
}

fn cell(rate: Rate) -> String {
    let (low, high) = rate.interval();
    let text = format!("{:.0} % ({:.0}–{:.0})", 100.0 * rate.share(), 100.0 * low, 100.0 * high);
    if low > FALSE_ALARMS { format!("**{text}**") } else { text }
}

fn machine() -> String {
    let machine = machine::machine(&*clock::best());
    format!("{}, {} cores, of which the program uses one", machine.cpu, machine.processors)
}
