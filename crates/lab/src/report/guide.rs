//! How to read a report, and what it does not say.

use super::markup::escape;
use super::table::{badge, plain};
use super::words;
use crate::record::Verdict;

const VERDICTS: [Verdict; 6] =
    [Verdict::NoLeakAbove, Verdict::BelowThreshold, Verdict::Leak, Verdict::Inconclusive, Verdict::Invalid, Verdict::Unmeasurable];

const READING: [(&str, &str); 6] = [
    (
        "The claim",
        "With probability at least 1 − α there is no difference above the stated bound between these classes of input, in the named \
      statistics, for this program on this machine; a shift of the size under “would be found” would have been seen nine times in ten.",
    ),
    (
        "The main picture",
        "It shows how far the second class lies from the first at each quantile. Left are the fastest calls, right the slowest. \
      The band holds at all quantiles together. A band inside the green area \
         shows that no difference counts; one outside it, a leak; one across its edge leaves it open.",
    ),
    ("Δ", "The difference that counts as a leak. It is chosen before measuring."),
    (
        "No difference above",
        "The bound for quantiles up to 95\u{a0}%; “in the tail” is the bound up to the 99.9\u{a0}% quantile, where interrupts and other \
      work of the machine make calls slow, and bounds wide.",
    ),
    (
        "Means",
        "The mean to p90 takes slower calls as if they were at the 90\u{a0}% quantile: nothing is dropped, and one interruption \
      cannot decide. The raw mean stands beside it, with its wide interval.",
    ),
    (
        "Controls",
        "One class against itself must not be found; an added delay and a known leak of like cost must be. If one of them comes out \
      wrong, the run is INVALID, whatever else it shows.",
    ),
];

const NOT_CLAIMED: [&str; 5] = [
    "Nothing is said about other processors, compilers, flags or programs: a verdict belongs to the digest above.",
    "Nothing is said about inputs outside the classes that were compared.",
    "Differences below the bound may exist. So may leaks that do not show as time: power, radiation, speculation, shared caches.",
    "Equal traces show equal addresses for the inputs that were run, not for all inputs.",
    "A speed belongs to this machine under this load; ratios to a yardstick of the same run carry further.",
];

/// As the last section of the page.
pub(super) fn html() -> String {
    let mut out = String::from("<section id=\"guide\">\n<h2>How to read this</h2>\n<dl>\n");
    for (name, text) in READING {
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text)));
    }
    out.push_str("</dl>\n<h3>Verdicts</h3>\n<dl class=\"verdicts\">\n");
    for verdict in VERDICTS {
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", badge(verdict, verdict.name()), escape(words::meaning(verdict))));
    }
    out.push_str("</dl>\n<h3>What is not claimed</h3>\n<ul>\n");
    for text in NOT_CLAIMED {
        out.push_str(&format!("<li>{}</li>\n", escape(text)));
    }
    out.push_str("</ul>\n</section>\n");
    out
}

/// As the last chapter of the Markdown page.
pub(super) fn markdown() -> String {
    let mut out = String::from("## How to read this\n\n");
    for (name, text) in READING {
        out.push_str(&format!("- **{}.** {}\n", plain(name), plain(text)));
    }
    out.push('\n');
    for verdict in VERDICTS {
        out.push_str(&format!("- `{}`: {}\n", verdict.name(), plain(words::meaning(verdict))));
    }
    out.push_str("\n### What is not claimed\n\n");
    for text in NOT_CLAIMED {
        out.push_str(&format!("- {}\n", plain(text)));
    }
    out
}
