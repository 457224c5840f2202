//! The page with the results.

use std::fmt::Write;

use crate::embed::Way;
use crate::statistic::{FALSE_ALARMS, Rate};
use crate::study::{DETECTORS, Outcome, SHARES, Study, Treatment};

const BEFORE: &str = "\
# What templates hide, and what they do not

Made by `scripts/bench-detectors`. All figures of these tables come from one run of it.

A template hides its data from a glance, and mostly from three classical methods that find low-bit replacement. With
all room filled, these methods still find some templates: about one in ten at 1 and 2 bits, and more at 3 and 4 bits, in
photographs, and in covers with white or black areas. With a fifth of the room filled and no such areas, they find about
as many templates at 1 to 3 bits as they raise false alarms. The data are **not** hidden from trained detectors, such as
SRNet or classifiers with rich models: these find ±1 changes, and this page does not measure them. No picture that
carries data is undetectable. Platforms that recompress pictures destroy the data.

## The pictures

| cover | with data at 2 bits, all room filled | difference × 48 |
|---|---|---|
| ![cover](pictures/cover.png) | ![result](pictures/result.png) | ![difference](pictures/difference.png) |

## How it is measured

Each cover is examined without data, and with data in 1, 5, 20 and 100 % of its room. The *template* is what
`deadpan picture hide` makes: changes to the nearest fitting number, at keyed places. The *control* replaces the same
number of bits in the same number of samples, at random places; the detectors must find it.

The detectors are the chi-square attack on the whole picture (Westfeld and Pfitzmann 1999), RS analysis (Fridrich,
Goljan and Du 2001) and sample pair analysis (Dumitrescu, Wu and Wang 2003), as in `deadpan_picture::analysis`. A
detector raises an alarm above its threshold, which 5 % of the covers without data exceed. The thresholds come from the
same covers as the rates. In brackets: the 95 % interval (Wilson). **Bold**: the whole interval is above 5 %, so the
detector finds such pictures more often than it errs.

The generated covers have 384 × 288 pixels: scenes of textured objects behind a lens, a sensor with noise and a color
filter; half of them passed through JPEG, a sixth is gray, some have stretched contrast, and in every seventh, areas are
overexposed to white. The photographs are sample pictures of the Python packages scikit-image, scikit-learn, imgaug and
ultralytics, cut into pieces of up to 640 × 480 pixels.
";

/// Writes the page in Markdown.
pub fn page(study: &Study) -> String {
    let mut page = format!("{BEFORE}\n");
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

/// The thresholds.
fn covers(page: &mut String, study: &Study) {
    let _ = writeln!(page, "| covers without data | chi-square | RS | sample pairs |\n|---|--:|--:|--:|");
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
        "\nChi-square is the statistic for each degree of freedom, and a low one is suspicious. RS and sample pairs \
         are\nestimated rates."
    );
}

/// Template and control side by side.
fn both(page: &mut String, value: impl Fn(Treatment, usize) -> String) {
    let names = DETECTORS.join(" | ");
    let _ = writeln!(page, "| bits | filled | template: {names} | control: {names} |");
    let _ = writeln!(page, "|--:|--:{}|", "|--:".repeat(2 * DETECTORS.len()));
    for bits in 1..=4 {
        for share in SHARES {
            let treatments = Way::ALL.map(|way| Treatment { way, bits, share });
            let cells = treatments.into_iter().flat_map(|one| (0..DETECTORS.len()).map(move |at| (one, at)));
            let cells: Vec<String> = cells.map(|(treatment, detector)| value(treatment, detector)).collect();
            let _ = writeln!(page, "| {bits} | {share} % | {} |", cells.join(" | "));
        }
    }
}

/// Templates in each kind of covers.
fn kinds(page: &mut String, study: &Study) {
    let _ = writeln!(
        page,
        "\n## Templates by the kind of cover\n\nA white sample can only become darker, and a black one only lighter. \
         There a change by 1 is the same as replacing the\nlow bit, and RS and sample pair analysis find it. Choose \
         covers without white or black areas.\nA full template also smooths the histogram, which the chi-square \
         attack finds. Some photographs have black or white\nareas too. Each kind has thresholds of its own.\n"
    );
    let _ = writeln!(page, "| covers | bits | filled | {} |", DETECTORS.join(" | "));
    let _ = writeln!(page, "|---|--:|--:{}|", "|--:".repeat(DETECTORS.len()));
    for kind in study.kinds().into_keys() {
        let cells = [0, 1, 2].map(|detector| cell(study.covers(detector, Some(kind)).0));
        let _ = writeln!(page, "| {kind} | – | no data | {} |", cells.join(" | "));
        for bits in 1..=4 {
            for share in [20, 100] {
                let treatment = Treatment { way: Way::Template, bits, share };
                let outcomes: [Outcome; 3] = [0, 1, 2].map(|at| study.outcome(at, treatment, Some(kind)));
                let cells = outcomes.map(|outcome| cell(outcome.rate));
                let _ = writeln!(page, "| {kind} | {bits} | {share} % | {} |", cells.join(" | "));
            }
        }
    }
}

/// The lowest signal-to-noise ratios.
fn noise(page: &mut String, study: &Study) {
    let _ = writeln!(page, "\n## Peak signal-to-noise ratio\n\nThe lowest of all covers, with all room filled.\n");
    let _ = writeln!(page, "| bits | template | control |\n|--:|--:|--:|");
    for bits in 1..=4 {
        let psnr = Way::ALL.map(|way| study.psnr[&Treatment { way, bits, share: 100 }]);
        let _ = writeln!(page, "| {bits} | {:.1} dB | {:.1} dB |", psnr[0], psnr[1]);
    }
}

/// A score as the detector gives it: the study turns the sign of chi-square.
fn score(detector: usize, score: f64) -> String {
    if detector == 0 { format!("{:.2}", -score) } else { format!("{score:.3}") }
}

fn cell(rate: Rate) -> String {
    let (low, high) = rate.interval();
    let text = format!("{:.0} % ({:.0}–{:.0})", 100.0 * rate.share(), 100.0 * low, 100.0 * high);
    if low > FALSE_ALARMS { format!("**{text}**") } else { text }
}

fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores, of which the program uses one", field.map_or("unknown CPU", |(_, name)| name))
}
