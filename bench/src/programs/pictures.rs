//! The table of pictures that carry data, with `cp` for comparison.

use super::{KEYGEN, facts, operations};
use deadpan_lab::speed::workload::Action::Run;
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const ABOUT: &str = "\
Data are hidden in pictures, then revealed; `cp` copies the data, then the copy. The rate counts the data, not the
pictures. *Written again*: another program has written the pictures again, and only revealing is measured. Templates
carry their data in one cover that is used again and again, a PNG like a photograph.";

const OPTIPNG: &str = "version=$(optipng --version) && echo \"optipng: $version\" | head -n 1";
const CWEBP: &str = "version=$(cwebp -version) && echo \"cwebp: $version\" | head -n 1";

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let (data, part) = if quick { ((64 << 20), (16 << 20)) } else { ((1 << 30), (256 << 20)) };
    Offer {
        title: "Pictures beside `cp`",
        about: ABOUT,
        sets: vec![Set::file("data", data).rounds_of(7), Set::file("a quarter", part).rounds_of(7)],
        workloads: vec![carriers().on(["data"]), other_encoders().on(["data"]), templates().on(["a quarter"])],
        facts: facts([OPTIPNG, CWEBP]),
        ..Offer::default()
    }
}

fn copy() -> Way {
    Way::limit("cp", [Run("cp {in} {made}"), Run("cp {made} {out}")])
}

fn carriers() -> Workload {
    const REVEAL: &str = "{self} picture reveal -o {out} {parent}/made";
    const RAW: &str = "{self} picture reveal --raw -o {out} {parent}/made";
    let of = |name, hide, reveal| Way::ours(name, [Run(hide), Run(reveal)]).setup(KEYGEN);
    let ways = vec![
        copy(),
        of("PNG, sealed", "{self} picture hide --mode hybrid --format png -o {made}.png {in}", REVEAL),
        of("PNG, raw", "{self} picture hide --raw --format png -o {made}.png {in}", RAW),
        of(
            "PNG, spare pictures",
            "{self} picture hide --mode hybrid --format png --spare 2 -o {made}.png {in}",
            REVEAL,
        ),
        of("WebP, sealed", "{self} picture hide --mode hybrid --format webp -o {made}.webp {in}", REVEAL),
        of("WebP, raw", "{self} picture hide --raw --format webp -o {made}.webp {in}", RAW),
        of(
            "WebP, spare pictures",
            "{self} picture hide --mode hybrid --format webp --spare 2 -o {made}.webp {in}",
            REVEAL,
        ),
    ];
    Workload::new("carriers", Subject::File, operations(["hide", "reveal"]), ways)
        .beside("cp")
        .goal(Goal::times(1.3, "cp").by("sealed"))
        .goal(Goal::times(1.3, "cp").by("raw"))
        .goal(Goal::peak(128.0))
}

fn other_encoders() -> Workload {
    let of = |name, reveal, setup| Way::ours(name, [Run(reveal)]).setup(setup).check("cmp '{in}' '{made}'");
    let ways = vec![
        of(
            "PNG, by optipng",
            "{self} picture reveal -o {made} {parent}/optipng",
            "optipng --version > {keys}/version && mkdir {parent}/optipng && '{self}' picture hide --mode hybrid \
             --format png -o {parent}/optipng/ '{in}' && \
             optipng -quiet -o1 -zc1 -zm8 -zs0 -f0 -force {parent}/optipng/*",
        ),
        of(
            "WebP, by cwebp",
            "{self} picture reveal -o {made} {parent}/cwebp",
            "cwebp -version > {keys}/version && mkdir {parent}/cwebp && '{self}' picture hide --mode hybrid \
             --format webp -o {parent}/cwebp/ '{in}' && for file in {parent}/cwebp/*; do \
             cwebp -quiet -lossless $file -o $file.again && mv $file.again $file || exit; done",
        ),
    ];
    Workload::new("written again", Subject::File, operations(["reveal"]), ways)
        .goal(Goal::rate(300.0))
        .goal(Goal::peak(128.0))
}

fn templates() -> Workload {
    const REVEAL: &str = "{self} picture reveal -o {out} {parent}/made";
    const COVER: &str = "${COVERS:?} {parent}/covers 1 4000 2750";
    let of = |name, hide| Way::ours(name, [Run(hide), Run(REVEAL)]).setup(COVER);
    let ways = vec![
        copy(),
        of(
            "2 bits",
            "{self} picture hide --mode hybrid --cover {parent}/covers/cover-000.png --bits 2 -o {made}.png {in}",
        ),
        of(
            "2 bits, uncompressed",
            "{self} picture hide --mode hybrid --cover {parent}/covers/cover-000.png --bits 2 --uncompressed -o \
             {made}.png {in}",
        ),
    ];
    Workload::new("templates", Subject::File, operations(["hide", "reveal"]), ways)
        .beside("cp")
        .goal(Goal::rate(250.0).in_part("hide"))
        .goal(Goal::rate(500.0).in_part("reveal"))
        .goal(Goal::peak(128.0))
}
