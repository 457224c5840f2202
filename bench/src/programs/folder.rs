//! The table of folders: compares Deadpan with `tar`, `cp -r`, age, 7-Zip and gpgtar.

use super::{AGE, AGE_KEY, END_AGENT, GPG, GPG_KEY, GPGTAR, KEYGEN, SEVEN_ZIP, deadpan, facts, operations};
use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Files, Goal, Offer, Set, Subject, Way, Workload};

const MIB: u64 = 1 << 20;

const ABOUT: &str = "\
Each program makes one file of the folder, then a folder of that file. `tar` and `cp -r` neither seal nor hash. *deadpan
pack* makes the same archive without sealing it. Deadpan has an unprotected hybrid key, age an X25519 key. 7-Zip has a
passphrase, AES-256 CBC without authentication, and seals names too; its key derivation is in the time. gpgtar has
AES-256 CFB with MDC and Curve25519, and opening asks gpg-agent, whose processor time is not counted. No program was
asked to wait until its output is on the disk. Each list must have a line for each entry.";

const TAR: &str = "tar --version | head -n 1";
const SEVEN_ZIP_VERSION: &str = "version=$(7z) && echo \"7z: $version\" | sed -n '/[0-9]/{s/7z: *//;p;q}'";

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let scale = if quick { 64 } else { 1 };
    let files = |large, small: u64, small_bytes, each| Files {
        large,
        large_bytes: 1024 * MIB / scale,
        small: if quick { small / 100 } else { small }.max(1),
        small_bytes,
        each,
    };
    Offer {
        title: "Folders beside `tar`, `cp -r` and other programs",
        about: ABOUT,
        sets: vec![
            Set::files("mixed", files(1, 10_000, (100, 8000), 100)).rounds_of(7),
            Set::files("large", files(10, 1, (1000, 1000), 1)).rounds_of(5),
            Set::files("tiny", files(0, 1_000_000, (1, 100), 1000)).rounds_of(3),
        ],
        workloads: vec![mixed(), large(), one(), tiny()],
        facts: facts([TAR, AGE, SEVEN_ZIP_VERSION, GPG]),
        ..Offer::default()
    }
}

fn tar() -> Way {
    Way::limit("tar", [Run("tar -cf {made}.tar -C {parent} {name}"), Run("tar -xf {made}.tar --one-top-level={out}")])
}

fn sealed() -> Way {
    deadpan("deadpan seal", "{self} seal --mode hybrid -o {made} {in}", KEYGEN)
}

fn mixed() -> Workload {
    let ways = vec![
        tar(),
        sealed(),
        Way::ours("deadpan pack", [Run("{self} pack -o {made}.tar {in}"), Run("{self} unpack -o {out} {made}.tar")]),
        Way::peer(
            "age, tar",
            [
                Shell("tar -c -C '{parent}' {name} | age -R {keys}/age.pub -o '{made}'"),
                Shell("age -d -i {keys}/age.key '{made}' | tar -x --one-top-level='{out}'"),
            ],
        )
        .setup(AGE_KEY),
        Way::peer("7z", SEVEN_ZIP),
        Way::peer("gpgtar", GPGTAR).setup(GPG_KEY).teardown(END_AGENT),
    ];
    Workload::new("small files and a large one", Subject::Folder, operations(["to one file", "to a folder"]), ways)
        .on(["mixed"])
        .beside("tar")
        .goal(Goal::times(1.2, "tar").in_part("to one file").by("deadpan seal"))
        .goal(Goal::times(1.3, "tar").in_part("to a folder").by("deadpan seal"))
}

fn large() -> Workload {
    let ways = vec![Way::limit("cp -r", [Run("cp -r {in} {made}"), Run("cp -r {made} {out}")]), sealed()];
    Workload::new("ten large files", Subject::Folder, operations(["to one file", "to a folder"]), ways)
        .on(["large"])
        .beside("cp -r")
        .goal(Goal::times(1.0 / 0.9, "cp -r"))
}

fn one() -> Workload {
    let ways = vec![
        Way::ours(
            "open -o OUT --only FILE",
            [Run("{self} open -o {made} --only plain/small-0000/0000.txt {parent}/kept")],
        )
        .setup("'{self}' seal --mode hybrid -o {parent}/kept {in}")
        .check("cmp '{in}/small-0000/0000.txt' '{made}'"),
        Way::ours("open -o - --only FILE", [Run("{self} open -o - --only plain/small-0000/0000.txt {parent}/kept")])
            .check(
                "'{self}' open -o - --only plain/small-0000/0000.txt {parent}/kept | cmp - '{in}/small-0000/0000.txt'",
            ),
    ];
    Workload::new("one file out of ten large ones", Subject::Folder, operations(["open"]), ways)
        .on(["large"])
        .goal(Goal::seconds(30e-3))
        .rounds(20)
}

fn tiny() -> Workload {
    let lists = |line, json| [Run(line), Run(json)];
    let of = |name, pack, [list, json]: [_; 2], unpack| Way::ours(name, [Run(pack), list, json, Run(unpack)]);
    let ways = vec![
        Way::limit(
            "tar",
            [
                Run("tar -cf {made}.tar -C {parent} {name}"),
                Run("tar -tf {made}.tar"),
                Run("tar -tf {made}.tar"),
                Run("tar -xf {made}.tar --one-top-level={out}"),
            ],
        ),
        of(
            "deadpan seal",
            "{self} seal --mode hybrid -o {made} {in}",
            lists("{self} list {made}", "{self} list --json {made}"),
            "{self} open -o {out} {made}",
        )
        .setup(KEYGEN)
        .check("test $('{self}' list '{made}' | wc -l) = $(find '{in}' | wc -l)"),
        of(
            "deadpan pack",
            "{self} pack -o {made}.tar {in}",
            lists("{self} list {made}.tar", "{self} list --json {made}.tar"),
            "{self} unpack -o {out} {made}.tar",
        )
        .check("test $('{self}' list '{made}.tar' | wc -l) = $(find '{in}' | wc -l)"),
    ];
    let operations = operations(["to one file", "list", "list --json", "to a folder"]);
    Workload::new("a million tiny files", Subject::Folder, operations, ways)
        .on(["tiny"])
        .beside("tar")
        .goal(Goal::seconds(1.0).in_part("list"))
        .goal(Goal::peak(64.0))
}
