//! The table of recovery data: compares Deadpan with par2 and zfec.

use super::{facts, operations};
use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const ABOUT: &str = "\
Each program makes 10 % of recovery data for a file that is in the page cache, and repairs a copy of the file in which a
burst of 9.5 % was overwritten: with its usual 2000 blocks, par2 cannot repair 10 %. zfec makes eleven files, of which
any ten make the file again, and its repair begins with the first of them lost, without looking for damage. *check*
compares an undamaged file with its recovery data; b3sum only hashes the file. The rate counts the bytes of the file.";

const PAR2: &str = "version=$(par2 --version) && echo \"par2: $version\" | head -n 1";
const ZFEC: &str = "version=$(zfec --version 2>&1) && echo \"zfec: $version\" | tail -n 1";
const B3SUM: &str = "b3sum --version";

/// Makes a copy of the file with a burst of other bytes, unless the copy is there.
macro_rules! damaged {
    () => {
        "{ test -e {parent}/damaged || { cp '{in}' {parent}/damaged && length=$(stat -c %s '{in}') && \
         head -c $((length * 95 / 1000)) /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null | \
         dd of={parent}/damaged bs=1M iflag=fullblock oflag=seek_bytes seek=$((length / 3)) conv=notrunc \
         status=none; }; }"
    };
}

/// Gives par2 the file, or the damaged copy if its recovery data are there: it repairs a file in its place.
const FOR_PAR2: &str = concat!(
    "mkdir -p {parent}/par2 && rm -f {parent}/par2/data* && if test -e '{made}'; then ",
    damaged!(),
    " && cp {parent}/damaged {parent}/par2/data && cp {parent}/kept/data.* {parent}/par2; ",
    "else cp '{in}' {parent}/par2/data; fi"
);

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let data = if quick { 64 << 20 } else { 1 << 30 };
    Offer {
        title: "Recovery data beside par2 and zfec",
        about: ABOUT,
        sets: vec![Set::file("data", data).rounds_of(5)],
        workloads: vec![burst(), check()],
        facts: facts([PAR2, ZFEC, B3SUM]),
        ..Offer::default()
    }
}

fn burst() -> Workload {
    let ways = vec![
        Way::own([
            Run("{self} repair make -o {made} {in}"),
            Run("{self} repair fix -q -s {made} -o {out} {parent}/damaged"),
        ])
        .before(damaged!()),
        Way::peer(
            "par2",
            [
                Shell(
                    "cd {parent}/par2 && par2 create -q -q -r10 -n1 data.par2 data && mkdir -p ../kept && \
                     mv -f data.par2 data.vol* ../kept && touch '{made}'",
                ),
                Shell("cd {parent}/par2 && par2 repair -q -q data.par2 && mv data '{out}'"),
            ],
        )
        .before(FOR_PAR2),
        Way::peer(
            "zfec",
            [
                Shell(
                    "mkdir -p {parent}/zfec && zfec -q -f -k 10 -m 11 -d {parent}/zfec -p data '{in}' && \
                     touch '{made}'",
                ),
                Shell("zunfec -o '{out}' $(ls {parent}/zfec/data.* | tail -n 10)"),
            ],
        ),
    ];
    Workload::new("a burst", Subject::File, operations(["make", "repair"]), ways)
        .goal(Goal::rate(2000.0).in_part("make").by("all cores"))
        .goal(Goal::times(1.0 / 20.0, "par2").in_part("make").by("all cores"))
        .goal(Goal::rate(500.0).in_part("repair").by("all cores"))
        .goal(Goal::peak(256.0))
}

fn check() -> Workload {
    const MADE: &str = "test -e {parent}/data.dpr || '{self}' repair make -o {parent}/data.dpr '{in}'";
    let ways = vec![
        Way::own([Shell("'{self}' repair check -s {parent}/data.dpr '{in}' 2> '{made}'")])
            .before(MADE)
            .check("grep -q whole '{made}'"),
        Way::limit("b3sum", [Shell("b3sum '{in}' > '{made}'")]).check("test -s '{made}'"),
    ];
    Workload::new("whole", Subject::File, operations(["check"]), ways)
        .beside("b3sum")
        .goal(Goal::times(1.5, "b3sum").by("all cores"))
}
