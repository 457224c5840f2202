//! The table of compression: compares sealing with `-z` with zstd, with 7-Zip, and with tar, zstd and age in a pipe.

use super::{AGE, AGE_KEY, KEYGEN, facts, operations};
use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const ABOUT: &str = "\
Each program compresses a file of 300 MB to a new file, and expands the new file to another new file. *deadpan -z* has
level 3 and an unprotected hybrid key. *zstd* is `zstd -3 -T0` and `zstd -d`, and *7z* LZMA2 at level 3, both without
encryption. *age* is `tar | zstd -3 -T0 | age`. The files are the sources of this program and of crates, the libraries
of this machine, generated logs and JSON, and random bytes.";

const ZSTD: &str = "version=$(zstd --version) && echo \"zstd: $version\"";

/// A command that makes a corpus, and prints its length compressed by each program.
macro_rules! corpus {
    ($name:literal) => {
        concat!("DEADPAN='{self}' \"${BENCH_CORPUS:?}\" ", $name, " '{parent}/", $name, "'")
    };
}

/// The actions of all programs on one file.
macro_rules! on {
    ($workload:literal, $file:literal, $check:literal) => {
        Workload::new(
            $workload,
            Subject::File,
            operations(["seal", "open"]),
            vec![
                Way::ours(
                    "deadpan -z",
                    [
                        Run(concat!("{self} seal -z --mode hybrid -o {made} ", $file)),
                        Run("{self} open -o {out}.x {made}"),
                    ],
                )
                .setup(KEYGEN)
                .check($check),
                Way::ours(
                    "deadpan",
                    [Run(concat!("{self} seal --mode hybrid -o {made} ", $file)), Run("{self} open -o {out}.x {made}")],
                )
                .setup(KEYGEN)
                .check($check),
                Way::peer(
                    "zstd",
                    [Run(concat!("zstd -3 -T0 -q -o {made} ", $file)), Run("zstd -d -q -o {out}.x {made}")],
                )
                .check($check),
                Way::peer(
                    "7z",
                    [Run(concat!("7z a -bd -y -mx=3 {made}.7z ", $file)), Run("7z x -bd -y -o{out}.x {made}.7z")],
                )
                .check("test -d '{out}.x'"),
                Way::peer(
                    "age, tar, zstd",
                    [
                        Shell(concat!("tar -cP '", $file, "' | zstd -3 -T0 -q | age -R {keys}/age.pub -o '{made}'")),
                        Shell("age -d -i {keys}/age.key '{made}' | zstd -d -q | tar -x --one-top-level='{out}.x'"),
                    ],
                )
                .setup(AGE_KEY)
                .check("test -d '{out}.x'"),
            ],
        )
        .beside("zstd")
        .goal(Goal::peak(64.0).by("deadpan -z"))
    };
}

/// Returns the table.
pub fn offer(_quick: bool) -> Offer {
    let shrinking = |workload: Workload| {
        workload
            .goal(Goal::times(1.0 / 0.95, "zstd").in_part("seal").by("deadpan -z"))
            .goal(Goal::times(1.0 / 1.5, "zstd").in_part("open").by("deadpan -z"))
    };
    Offer {
        title: "Compression beside zstd and its peers",
        about: ABOUT,
        sets: vec![Set::file("300 MB", 300_000_000).rounds_of(7)],
        workloads: vec![
            shrinking(on!("sources", "{parent}/sources", "cmp '{parent}/sources' '{out}.x'")),
            shrinking(on!("programs", "{parent}/programs", "cmp '{parent}/programs' '{out}.x'")),
            shrinking(on!("logs", "{parent}/logs", "cmp '{parent}/logs' '{out}.x'")),
            shrinking(on!("JSON", "{parent}/json", "cmp '{parent}/json' '{out}.x'")),
            on!("random bytes", "{in}", "cmp '{in}' '{out}.x'")
                .goal(Goal::times(1.15, "deadpan").in_part("seal").by("deadpan -z")),
        ],
        facts: {
            let mut facts = facts([ZSTD, AGE]);
            facts.extend([corpus!("sources"), corpus!("programs"), corpus!("logs"), corpus!("json")]);
            facts
        },
        ..Offer::default()
    }
}
