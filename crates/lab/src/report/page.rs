//! The HTML page.

use super::markup::escape;
use super::number::{self, NONE};
use super::{calibration, chart, generations, guide, security, speed, summary, traces};
use crate::record::Record;

const STYLE: &str = include_str!("page.css");

/// Returns the whole page.
pub(super) fn write(record: &Record, earlier: &[Record]) -> String {
    let charts: Vec<_> = chart::beside_timing(record, earlier);
    let title = title(record);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}{STYLE}</style>\n\
         </head>\n<body>\n<main>\n",
        escape(&title),
        chart::style(":root")
    );
    out.push_str(&head(record, &title));
    let timed = security::order(record);
    if !timed.is_empty() {
        out.push_str("<section id=\"timing\">\n<h2>Does time depend on the input?</h2>\n");
        out.push_str(&security::summary(record).html());
        out.push_str(&format!("<p class=\"small\">{}</p>\n", escape(security::COLUMNS)));
        for index in timed {
            out.push_str(&security::section(record, index));
        }
        out.push_str("</section>\n");
    }
    out.push_str(&traces::section(record));
    out.push_str(&speed::section(record, &charts));
    out.push_str(&speed::comparisons(record, &charts));
    out.push_str(&speed::machine(record, &charts));
    out.push_str(&generations::section(record.generations.as_ref()));
    out.push_str(&calibration::section(record, &charts));
    out.push_str(&calibration::selftest(record));
    out.push_str(&guide::html());
    out.push_str(&machine(record));
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Returns the title of the page: the name of the program, and the day of the run.
pub(super) fn title(record: &Record) -> String {
    let day = record.started.get(..10).unwrap_or(&record.started);
    let what = if record.tool.name.is_empty() { "Lab" } else { &record.tool.name };
    if day.is_empty() { format!("{what}: report") } else { format!("{what}: report of {day}") }
}

fn head(record: &Record, title: &str) -> String {
    let mut out = format!("<header>\n<h1>{}</h1>\n", escape(title));
    out.push_str(&summary::html(record));
    out.push_str("<nav>");
    let parts = [
        ("timing", "Timing", record.timing.iter().any(|timing| !traces::only(timing))),
        ("traces", "Traces", record.timing.iter().any(traces::only)),
        ("speed", "Speed", !record.speed.is_empty()),
        ("comparisons", "Comparisons", !record.comparisons.is_empty()),
        ("baselines", "Machine limits", !record.baselines.is_empty()),
        ("generations", "Whole workloads", record.generations.is_some()),
        ("calibration", "Error rates", record.calibration.is_some()),
        ("selftest", "Selftest", !record.selftest.is_empty()),
        ("guide", "How to read this", true),
        ("run", "Run and machine", true),
    ];
    for (place, name, _) in parts.iter().filter(|part| part.2) {
        out.push_str(&format!("<a href=\"#{place}\">{name}</a>"));
    }
    out.push_str("</nav>\n</header>\n");
    out
}

/// Returns the section about the run and the machine. The section about the run and the machine is the last section,
/// because few readers need it.
fn machine(record: &Record) -> String {
    let mut out = String::from("<section id=\"run\">\n<h2>Run and machine</h2>\n");
    if !record.command.is_empty() {
        out.push_str("<p>This command repeats the run:</p>\n");
        out.push_str(&format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(&record.command)));
    }
    out.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts(record) {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(&value)));
    }
    out.push_str("</dl>\n</section>\n");
    out
}

pub(super) fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let (tool, machine, clock) = (&record.tool, &record.machine, &record.machine.clock);
    let known = |text: &str| if text.is_empty() { NONE.to_owned() } else { text.to_owned() };
    let mut out = vec![
        ("Started", known(&record.started)),
        ("Took", number::seconds(record.seconds)),
        ("Tool", known(format!("{} {}", tool.name, tool.version).trim())),
        ("Revision", tool.revision.clone().unwrap_or_else(|| NONE.to_owned())),
        ("Program (SHA-256)", tool.binary_sha256.clone().unwrap_or_else(|| NONE.to_owned())),
        ("Processor", known(&machine.cpu)),
        ("Instruction set", known(&machine.architecture)),
        ("System", known(&machine.system)),
        ("Processors", machine.processors.to_string()),
        ("Hypervisor", machine.hypervisor.clone().unwrap_or_else(|| "none detected".to_owned())),
    ];
    if record.interrupted {
        out.push(("Ended early", "interrupted: some targets or pairs of classes were not measured".to_owned()));
    }
    if let Some(load) = machine.load {
        out.push(("Load at the start", number::short(load)));
    }
    let reading = format!("step {}, reading it takes {}", number::time(clock.step_ns), number::time(clock.overhead_ns));
    out.push(("Clock", format!("{}, {}, {reading}", known(&clock.name), number::hertz(clock.hertz))));
    out
}
