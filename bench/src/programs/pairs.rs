//! Comparisons of two commands, on one core and on all cores: Deadpan and `age` on age files, and Deadpan on signed and
//! unsigned files.

use super::{AGE_KEY, OPENSSL, facts, operations};
use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const AGE: &str = "\
Both programs have the same X25519 key. About half of Deadpan's time on one core is the system's copying of files. The
rest is ChaCha20-Poly1305: `scripts/bench parts --target chunks` measures it alone. On ext4, files get all their blocks
at once, which saves a third of the time for writing.";

const SIGNING: &str = "\
What limits the ratio of signed to unsigned: each byte is hashed with BLAKE3, and `scripts/bench parts --target hashes`
measures that hash alone. Sealing without a signature spends most of its time in the system, which copies the data. The
ratio rises when sealing without a signature becomes faster.";

fn set(quick: bool) -> Vec<Set> {
    vec![if quick { Set::file("64 MiB", 64 << 20) } else { Set::file("1 GiB", 1 << 30).rounds_of(7) }]
}

/// Makes a workload twice: first with all variants on one core, and then with all variants on all cores.
fn on_cores(names: [&'static str; 2], make: impl Fn(&'static str) -> Workload) -> [Workload; 2] {
    let [mut alone, all] = names.map(make);
    alone.ways = alone.ways.into_iter().map(Way::alone).collect();
    [alone, all]
}

/// Returns the table of age files.
pub fn age(quick: bool) -> Offer {
    let workloads = on_cores(["on one core", "on all cores"], |name| {
        let ways = vec![
            Way::ours(
                "deadpan",
                [
                    Run("{self} seal --format age -R {keys}/age.pub -o {made} {in}"),
                    Run("{self} open -i {keys}/age.key -o {out} {made}"),
                ],
            )
            .setup(AGE_KEY)
            .check(
                "'{self}' open -i {keys}/age.key --range 7000000:70000 -o - '{made}' > {keys}/range && \
                    tail -c +7000001 '{in}' | head -c 70000 | cmp - {keys}/range",
            ),
            Way::peer(
                "age",
                [Run("age -R {keys}/age.pub -o {made} {in}"), Run("age -d -i {keys}/age.key -o {out} {made}")],
            )
            .setup(AGE_KEY),
        ];
        let most = if name == "on one core" { 1.0 / 1.8 } else { 1.0 / 3.0 };
        Workload::new(name, Subject::File, operations(["seal", "open"]), ways)
            .beside("age")
            .goal(Goal::times(most, "age"))
            .goal(Goal::peak(24.0))
    });
    let (sets, facts) = (set(quick), facts([super::AGE]));
    Offer { title: "age files beside `age`", about: AGE, sets, workloads: workloads.into(), facts, ..Offer::default() }
}

/// Returns the table of signatures.
pub fn signing(quick: bool) -> Offer {
    let sealing = on_cores(["signed beside unsigned, on one core", "signed beside unsigned, on all cores"], |name| {
        let ways = vec![
            Way::limit(
                "unsigned",
                [Run("{self} seal --mode hybrid -o {made} {in}"), Run("{self} open -o {out} {made}")],
            )
            .setup(SIGN_KEY),
            Way::ours(
                "signed",
                [
                    Run("{self} seal --mode hybrid --sign -o {made} {in}"),
                    Run("{self} open --require-signature -o {out} {made}"),
                ],
            )
            .setup(SIGN_KEY),
        ];
        Workload::new(name, Subject::File, operations(["seal", "open"]), ways)
            .beside("unsigned")
            .goal(Goal::times(1.25, "unsigned"))
    });
    let detached =
        on_cores(["signature beside a file, on one core", "signature beside a file, on all cores"], |name| {
            let digest = "openssl dgst -sha512 -out {made} {in}";
            let ways = vec![
                Way::limit("openssl dgst -sha512", [Run(digest), Run(digest)]),
                Way::ours("deadpan", [Run("{self} sign -o {made} {in}"), Run("{self} verify -s {made} {in}")])
                    .setup(SIGN_KEY),
            ];
            Workload::new(name, Subject::File, operations(["sign", "verify"]), ways)
                .beside("openssl dgst -sha512")
                .goal(Goal::times(1.0 / 0.95, "openssl dgst -sha512"))
        });
    let long = if quick {
        "head -c 1G /dev/zero | '{self}' seal --mode hybrid --sign -o - > /dev/null"
    } else {
        "head -c 100G /dev/zero | '{self}' seal --mode hybrid --sign -o - > /dev/null"
    };
    let memory = Workload::new(
        "memory for a long stream, 100 GiB",
        Subject::Numbers,
        operations(["seal"]),
        vec![Way::ours("signed", [Shell(long)]).setup(SIGN_KEY)],
    )
    .goal(Goal::peak(20.0))
    .rounds(1);
    Offer {
        title: "What signatures cost",
        about: SIGNING,
        sets: set(quick),
        workloads: sealing.into_iter().chain(detached).chain([memory]).collect(),
        facts: facts([OPENSSL]),
        ..Offer::default()
    }
}

/// The shell command that makes a key for sealing and a key for signing. All variants use the same command text, so the
/// command runs only once.
const SIGN_KEY: &str = "'{self}' keygen --mode hybrid --no-passphrase && '{self}' keygen --sign --no-passphrase";
