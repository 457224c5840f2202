//! The guide at the end of a page: how to read the report, and what it does not claim.

use super::markup::escape;
use super::table::{badge, plain};
use super::words;
use crate::record::Verdict;

const READING: [(&str, &str); 7] = [
    (
        "The claim",
        "With probability at least 1 − α, these classes of input differ by no more than the stated bound, in the named \
         statistics, for this program on this machine. Nine of ten runs find a shift of the size under “shift that is \
         found”.",
    ),
    (
        "The main picture",
        "The picture shows the difference between the second class and the first at each quantile, the fastest calls \
         on the left, the slowest on the right. The band holds at all quantiles together. A band inside the green \
         area shows that no difference counts. A band outside shows a leak. A band across the edge leaves the \
         question open.",
    ),
    ("Δ", "The difference that counts as a leak. It is chosen before measuring."),
    (
        "Bounds",
        "“No difference above” and “differs at most” cover quantiles up to 95\u{a0}%, or up to 90\u{a0}% where the \
         text says so, because other programs disturbed more calls. “Slowest calls” covers quantiles up to \
         99.9\u{a0}%, where interrupts and other work of the machine make calls slow, and bounds wide.",
    ),
    (
        "Means",
        "The mean of the fastest 90\u{a0}% leaves out the slowest tenth of the calls of each class, so that one \
         interruption cannot decide the result. The raw mean is the mean of all calls; its interval is wide.",
    ),
    (
        "Gaps",
        "A quantile may lie between two groups of times, where its value says nothing: it jumps by the width of the \
         gap if a single call changes sides. Such a quantile is judged by the share of the calls that cross the gap, \
         multiplied by the width of the gap. The product is their part of the difference of the means.",
    ),
    (
        "Controls",
        "The lab must find no difference between one class and itself. It must find an added delay and a known leak of \
         similar cost. If a control fails, the run is INVALID, whatever else it shows.",
    ),
];

const NOT_CLAIMED: [&str; 5] = [
    "This page says nothing about other processors, compilers, flags or programs: a verdict belongs to the program \
     whose digest stands under “Run and machine”.",
    "It says nothing about inputs outside the classes that were compared.",
    "Differences below the bound may exist, and so may leaks that do not show as time: power, radiation, speculation, \
     shared caches.",
    "Equal traces show equal addresses for the inputs that were run, not for all inputs.",
    "A speed belongs to this machine under this load. Ratios to a yardstick of the same run apply more widely.",
];

/// Returns the guide for the HTML page.
pub(super) fn html() -> String {
    let mut out = String::from("<section id=\"guide\">\n<h2>How to read this</h2>\n<dl>\n");
    for (name, text) in READING {
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text)));
    }
    out.push_str("</dl>\n<h3>Verdicts</h3>\n<dl class=\"verdicts\">\n");
    for verdict in Verdict::ALL {
        out.push_str(&format!(
            "<dt>{}</dt><dd>{}</dd>\n",
            badge(verdict, verdict.name()),
            escape(words::meaning(verdict))
        ));
    }
    out.push_str("</dl>\n<h3>What is not claimed</h3>\n<ul>\n");
    for text in NOT_CLAIMED {
        out.push_str(&format!("<li>{}</li>\n", escape(text)));
    }
    out.push_str("</ul>\n</section>\n");
    out
}

/// Returns the guide for the Markdown page.
pub(super) fn markdown() -> String {
    let mut out = String::from("## How to read this\n\n");
    for (name, text) in READING {
        out.push_str(&format!("- **{}.** {}\n", plain(name), plain(text)));
    }
    out.push('\n');
    for verdict in Verdict::ALL {
        out.push_str(&format!("- `{}`: {}\n", verdict.name(), plain(words::meaning(verdict))));
    }
    out.push_str("\n### What is not claimed\n\n");
    for text in NOT_CLAIMED {
        out.push_str(&format!("- {}\n", plain(text)));
    }
    out
}
