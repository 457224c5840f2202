//! The table of sealing: compares Deadpan with `cp`, age, rage, gpg and openssl.

use super::{
    AGE, AGE_KEY, END_AGENT, GPG, GPG_KEY, KEYGEN, KEYGEN_ECC, KEYGEN_PQC, OPENSSL, deadpan, facts, operations,
};
use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const ABOUT: &str = "\
Each program seals the file, then opens the sealed file; `cp` copies the file, then the copy. All keys are unprotected.
age and rage have an X25519 key, *age hybrid* ML-KEM-768 with X25519. gpg has AES-256 CFB with MDC and no compression;
its passphrase is hashed once, and opening with a key asks gpg-agent, whose processor time is not counted. *openssl enc*
is AES-256 CTR with a bare key: no authentication, no recipients. Through pipes, processor time is that of all programs
of the line. *Alone* is what a passphrase and the data cost each for themselves: opening must hash the passphrase before
the first segment, so only sealing has a goal.";

const RAGE: &str = "version=$(rage --version) && echo \"rage: $version\"";

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let small = [("1 KiB", KIB, 60), ("1 MiB", MIB, 60)];
    let large: &[(&str, u64, usize)] = if quick {
        &[("64 MiB", 64 * MIB, 3)]
    } else {
        &[("10 MiB", 10 * MIB, 40), ("1 GiB", GIB, 11), ("6.7 GB", 6_700_000_000, 5)]
    };
    let sets = small.iter().chain(large).map(|&(name, bytes, rounds)| Set::file(name, bytes).rounds_of(rounds));
    let one = if quick { "64 MiB" } else { "1 GiB" };
    Offer {
        title: "Sealing beside `cp` and its peers",
        about: ABOUT,
        sets: sets.collect(),
        workloads: vec![files(), pipes().on([one]), passphrase().on([one]), range().on([one])],
        facts: facts([AGE, RAGE, GPG, OPENSSL]),
        ..Offer::default()
    }
}

fn files() -> Workload {
    let age = |name, seal, open, setup| Way::peer(name, [Run(seal), Run(open)]).setup(setup);
    let gpg = |name, seal, open, setup| Way::peer(name, [Run(seal), Run(open)]).setup(setup).teardown(END_AGENT);
    let ways = vec![
        Way::limit("cp", [Run("cp {in} {made}"), Run("cp {made} {out}")]),
        deadpan("deadpan ecc", "{self} seal --mode ecc -o {made} {in}", KEYGEN_ECC),
        deadpan("deadpan pqc", "{self} seal --mode pqc -o {made} {in}", KEYGEN_PQC),
        deadpan("deadpan hybrid", "{self} seal --mode hybrid -o {made} {in}", KEYGEN),
        age("age", "age -R {keys}/age.pub -o {made} {in}", "age -d -i {keys}/age.key -o {out} {made}", AGE_KEY),
        age(
            "age hybrid",
            "age -R {keys}/pq.pub -o {made} {in}",
            "age -d -i {keys}/pq.key -o {out} {made}",
            "age-keygen -pq -o {keys}/pq.key && age-keygen -y {keys}/pq.key > {keys}/pq.pub",
        ),
        age(
            "rage",
            "rage -R {keys}/rage.pub -o {made} {in}",
            "rage -d -i {keys}/rage.key -o {out} {made}",
            "rage-keygen -o {keys}/rage.key && rage-keygen -y {keys}/rage.key > {keys}/rage.pub",
        ),
        gpg(
            "gpg passphrase",
            "gpg --batch --quiet --pinentry-mode loopback --passphrase-file {passphrase} --cipher-algo AES256 \
             --compress-algo none --s2k-mode 1 --no-symkey-cache -o {made} --symmetric {in}",
            "gpg --batch --quiet --pinentry-mode loopback --passphrase-file {passphrase} --no-symkey-cache -o {out} \
             --decrypt {made}",
            "gpg --version",
        ),
        gpg(
            "gpg key",
            "gpg --batch --quiet --trust-model always --cipher-algo AES256 --compress-algo none --recipient bench -o \
             {made} --encrypt {in}",
            "gpg --batch --quiet --pinentry-mode loopback -o {out} --decrypt {made}",
            GPG_KEY,
        ),
        Way::peer(
            "openssl enc",
            [
                Run("openssl enc -aes-256-ctr -K 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a \
                     -iv 00000000000000000000000000000000 -in {in} -out {made}"),
                Run("openssl enc -d -aes-256-ctr -K 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a \
                     -iv 00000000000000000000000000000000 -in {made} -out {out}"),
            ],
        ),
    ];
    Workload::new("from file to file", Subject::File, operations(["seal", "open"]), ways)
        .beside("cp")
        .goal(Goal::over(2e-3, "cp").at(0..=2 * MIB))
        .goal(Goal::fastest_peer(1.0).at(0..=2 * MIB))
        .goal(Goal::times(2.0, "cp").at(10 * MIB..=16 * MIB))
        .goal(Goal::times(0.8, "cp").in_part("seal").at(GIB..=u64::MAX))
        .goal(Goal::times(0.85, "cp").in_part("open").at(GIB..=u64::MAX))
        .goal(Goal::peak(16.0))
}

fn pipes() -> Workload {
    let ways = vec![
        Way::limit("cat", [Shell("cat '{in}' | cat | cat > '{made}'"), Shell("cat '{made}' | cat | cat > '{out}'")]),
        Way::ours(
            "deadpan",
            [
                Shell("cat '{in}' | '{self}' seal --mode hybrid | cat > '{made}'"),
                Shell("cat '{made}' | '{self}' open | cat > '{out}'"),
            ],
        )
        .setup(KEYGEN),
        Way::peer(
            "age",
            [
                Shell("cat '{in}' | age -R {keys}/age.pub | cat > '{made}'"),
                Shell("cat '{made}' | age -d -i {keys}/age.key | cat > '{out}'"),
            ],
        )
        .setup(AGE_KEY),
    ];
    Workload::new("through pipes", Subject::File, operations(["seal", "open"]), ways)
        .beside("cat")
        .goal(Goal::times(1.0 / 0.9, "cat"))
        .goal(Goal::times(0.5, "age"))
        .goal(Goal::peak(16.0))
}

fn passphrase() -> Workload {
    let ways = vec![
        Way::ours(
            "with a passphrase",
            [
                Run("{self} seal -p --passphrase-file {passphrase} -o {made} {in}"),
                Run("{self} open --passphrase-file {passphrase} -o {out} {made}"),
            ],
        ),
        Way::limit(
            "the passphrase alone",
            [
                Run("{self} seal -p --passphrase-file {passphrase} -o {made}.x {keys}/x"),
                Run("{self} open --passphrase-file {passphrase} -o {out}.x {made}.x"),
            ],
        )
        .setup("printf x > {keys}/x")
        .check("cmp {keys}/x '{out}.x'"),
        Way::limit(
            "the data alone",
            [Run("{self} seal --mode hybrid -o {made} {in}"), Run("{self} open -o {out} {made}")],
        )
        .setup(KEYGEN),
    ];
    Workload::new("a passphrase and data at once", Subject::File, operations(["seal", "open"]), ways)
        .beside("the data alone")
        .goal(Goal::times(1.1, "the passphrase alone|the data alone").in_part("seal"))
}

fn range() -> Workload {
    let ways = vec![
        Way::ours("out of the whole file", [Run("{self} open --range 50000000:4096 -o {made} {parent}/long.dpn")])
            .setup("'{self}' seal --mode hybrid -o {parent}/long.dpn {in}")
            .check("tail -c +50000001 '{in}' | head -c 4096 | cmp - '{made}'"),
        Way::limit("out of a file of 4 KiB", [Run("{self} open --range 0:4096 -o {made} {parent}/short.dpn")]).setup(
            "head -c 4096 '{in}' > {parent}/short && '{self}' seal --mode hybrid -o {parent}/short.dpn {parent}/short",
        ),
    ];
    Workload::new("a range of 4 KiB", Subject::File, operations(["open"]), ways)
        .beside("out of a file of 4 KiB")
        .rounds(20)
}
