//! The guide at the end of a page. The guide explains how to read the report, and what the report does not claim.

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
         on the left, the slowest on the right. The band holds at all quantiles together. NO_LEAK_ABOVE needs a band \
         inside the green area. If the test found a difference, a band that lies wholly beyond ±Δ at any quantile is a \
         leak. A band across the edge leaves the question open.",
    ),
    ("Δ", "The threshold: the difference that counts as a leak. It is chosen before measuring."),
    (
        "Bounds",
        "A bound covers a share of the calls, from the fastest on. “For 95\u{a0}% of the calls” means that no quantile \
         up to 95\u{a0}% differs by more. Where other programs disturbed more calls than that, the share is 90\u{a0}%. \
         “Slowest calls” covers up to 99.9\u{a0}% of the calls. This bound is wide, because interrupts make some calls \
         slow. A difference in fewer calls is not covered: 10 µs in one call of ten thousand can stay unseen. The same \
         holds for a leak at few addresses of the buffer, since those calls are rare too.",
    ),
    (
        "Means",
        "The mean of the fastest 90\u{a0}% leaves out the slowest tenth of the calls of each class, so that one \
         interruption cannot decide the result. The mean of all calls has a wide interval.",
    ),
    (
        "Gaps",
        "Some functions have two usual times. If half of the calls take 100 ns and half 200 ns, the median jumps by \
         100 ns when a single call changes sides. Such a quantile is judged by how many calls change sides. If that is \
         1\u{a0}% of the calls, the difference is 1\u{a0}% of 100 ns, which is 1 ns.",
    ),
    (
        "Controls",
        "The lab must find no difference between one class and itself. It must find an added delay and a known leak of \
         similar cost. If a class differs from itself, the run is INVALID, whatever else it shows. If a planted \
         difference is missed, it cannot show that there is no leak.",
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
