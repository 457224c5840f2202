//! The workloads of Deadpan: sealing, packing and random bytes. Each workload has a target rate, and a list of programs
//! that users can run instead of Deadpan.
//!
//! The target rates are the rates (in MiB/s) of another program on an i5-13600KF with an NVMe drive.

use deadpan_lab::speed::workload::{Action, Kernel, Offer, Operation, Subject, Way, Workload};

mod bytes;
mod languages;

use Action::{Kernel as Own, Run, Shell, Told};

/// Returns all workloads, and the functions whose speed the lab measures with data in memory.
pub(super) fn offer() -> Offer {
    let workloads = files().into_iter().chain(folders()).chain(pictures()).chain(in_memory()).chain(random());
    Offer { workloads: workloads.collect(), kernels: kernels(), ..Offer::default() }
}

fn kernels() -> Vec<Kernel> {
    vec![
        Kernel { name: "bytes.seal.passphrase", run: bytes::seal_with_passphrase },
        Kernel { name: "bytes.open.passphrase", run: bytes::open_with_passphrase },
        Kernel { name: "bytes.seal.key", run: bytes::seal_with_key },
        Kernel { name: "bytes.open.key", run: bytes::open_with_key },
    ]
}

/// Returns two programs whose time is a lower limit for every program, because they only write or copy the bytes of a
/// file.
fn file_limits() -> [Way; 2] {
    [
        Way::limit("plain write", [Own("file.write"), Own("file.write")]),
        Way::limit("cp", [Run("cp {in} {made}"), Run("cp {made} {out}")]),
    ]
}

fn files() -> [Workload; 2] {
    let passphrase = Way::own([
        Run("{self} seal -p --passphrase-file {passphrase} -o {made} {in}"),
        Run("{self} open --passphrase-file {passphrase} -o {out} {made}"),
    ]);
    let key = Way::own([Run("{self} seal -o {made} {in}"), Run("{self} open -o {out} {made}")]).setup(KEYGEN);
    [
        workload(
            "file, passphrase",
            Subject::File,
            [("seal", 1079.0), ("open", 1558.0)],
            [
                vec![passphrase],
                file_limits().into(),
                vec![openssl_passphrase(), gpg_passphrase(), seven_zip(SEVEN_ZIP_PASSPHRASE)],
            ],
        ),
        workload(
            "file, key",
            Subject::File,
            [("seal", 2089.0), ("open", 2080.0)],
            [
                vec![key],
                file_limits().into(),
                [age(), openssl_key(), gpg_key()].into_iter().chain(languages::files()).collect(),
            ],
        ),
    ]
}

fn folders() -> [Workload; 2] {
    let sealed = Way::own([
        Run("{self} seal -p --passphrase-file {passphrase} -o {made} {in}"),
        Run("{self} open --passphrase-file {passphrase} -o {out} {made}"),
    ]);
    let packed = Way::own([Run("{self} pack -o {made}.tar {in}"), Run("{self} unpack -o {out} {made}.tar")]);
    let copy = || Way::limit("cp -r", [Run("cp -r {in} {made}"), Run("cp -r {made} {out}")]);
    let write = || Way::limit("plain write", [Own("file.write"), Own("file.write")]);
    let tar = Way::peer(
        "tar",
        [Run("tar -cf {made}.tar -C {parent} {name}"), Run("tar -xf {made}.tar --one-top-level={out}")],
    );
    let tar_openssl = Way::peer(
        "openssl, tar",
        [
            Shell(
                "tar -cf - -C '{parent}' {name} | openssl enc -aes-256-ctr -pbkdf2 -pass file:{passphrase} > '{made}'",
            ),
            Shell(
                "openssl enc -d -aes-256-ctr -pbkdf2 -pass file:{passphrase} < '{made}' | tar -xf - \
                --one-top-level='{out}'",
            ),
        ],
    );
    let nothing_to_beat = vec![Operation::new("seal"), Operation::new("open")];
    [
        Workload::new(
            "folder, passphrase",
            Subject::Folder,
            nothing_to_beat,
            vec![sealed, write(), copy(), tar_openssl, seven_zip(SEVEN_ZIP_PASSPHRASE)],
        ),
        workload(
            "folder",
            Subject::Folder,
            [("pack", 1095.0), ("unpack", 2183.0)],
            [vec![packed], vec![write(), copy()], vec![tar, seven_zip(SEVEN_ZIP)]],
        ),
    ]
}

fn pictures() -> [Workload; 3] {
    let own = |hide| Way::own([Run(hide), Shell("'{self}' picture reveal -o '{out}' \"$(dirname '{made}')\"")]);
    let of = |name, beat, hide| {
        workload(name, Subject::File, beat, [vec![own(hide).setup(KEYGEN)], file_limits().into(), Vec::new()])
    };
    [
        of(
            "pictures png",
            [("hide", 478.0), ("reveal", 1160.0)],
            "{self} picture hide --format png -o {made}.png {in}",
        ),
        of(
            "pictures webp",
            [("hide", 85.0), ("reveal", 880.0)],
            "{self} picture hide --format webp -o {made}.webp {in}",
        ),
        Workload::new(
            "pictures template",
            Subject::File,
            vec![Operation::new("hide"), Operation::new("reveal")],
            [own("{self} picture hide --cover {keys}/cover.png -o {made}.png {in}").setup(COVER)]
                .into_iter()
                .chain(file_limits())
                .collect(),
        ),
    ]
}

/// The shell command that creates a cover (a picture for hiding data) with 33 MB of random samples. The cover has room
/// for hidden data with a quarter of these 33 MB. The command `hide` makes a key if the user has no key.
const COVER: &str = "'{self}' random -f -o {keys}/noise 33MB && '{self}' picture hide -f --raw -o {keys}/cover.png \
    {keys}/noise";

fn in_memory() -> [Workload; 2] {
    let of = |name, beat, seal, open, peers| {
        let copy = Way::limit("memcpy", [Own("memory.copy"), Own("memory.copy")]);
        workload(name, Subject::Memory, beat, [vec![Way::own([Own(seal), Own(open)])], vec![copy], peers])
    };
    let passphrase = [("seal", 1536.0), ("open", 1777.0)];
    let key = [("seal", 6430.0), ("open", 5355.0)];
    [
        of("bytes, passphrase", passphrase, "bytes.seal.passphrase", "bytes.open.passphrase", Vec::new()),
        of("bytes, key", key, "bytes.seal.key", "bytes.open.key", languages::bytes()),
    ]
}

fn random() -> [Workload; 2] {
    let of = |name, beat, ways| Workload::new(name, Subject::Amount, vec![Operation::new("make").beat(beat)], ways);
    [
        of(
            "random",
            2243.0,
            vec![
                Way::own([Run("{self} random {bytes}")]),
                Way::peer("openssl rand", [Run("openssl rand {bytes}")]),
                Way::peer("head urandom", [Run("head -c {bytes} /dev/urandom")]),
            ],
        ),
        of(
            "random to a file",
            2243.0,
            vec![
                Way::own([Run("{self} random -o {made} {bytes}")]),
                Way::limit("plain write", [Own("file.write")]),
                Way::peer("openssl rand", [Run("openssl rand -out {made} {bytes}")]),
                Way::peer("head urandom", [Shell("head -c {bytes} /dev/urandom > '{made}'")]),
            ],
        ),
    ]
}

fn workload(name: &'static str, subject: Subject, beat: [(&'static str, f64); 2], ways: [Vec<Way>; 3]) -> Workload {
    let operations = beat.map(|(name, rate)| Operation::new(name).beat(rate)).into();
    Workload::new(name, subject, operations, ways.into_iter().flatten().collect())
}

/// The shell command that creates a key folder with one key without a passphrase.
const KEYGEN: &str = "'{self}' keygen --no-passphrase";

fn age() -> Way {
    Way::peer("age", [Run("age -R {keys}/age.pub -o {made} {in}"), Run("age -d -i {keys}/age.key -o {out} {made}")])
        .setup("age-keygen -o {keys}/age.key && age-keygen -y {keys}/age.key > {keys}/age.pub")
}

/// The `openssl enc` command, whose encryption has no authentication.
fn openssl_passphrase() -> Way {
    Way::peer(
        "openssl enc",
        [
            Run("openssl enc -aes-256-ctr -pbkdf2 -pass file:{passphrase} -in {in} -out {made}"),
            Run("openssl enc -d -aes-256-ctr -pbkdf2 -pass file:{passphrase} -in {made} -out {out}"),
        ],
    )
}

/// The `openssl enc` command with a key instead of a passphrase.
fn openssl_key() -> Way {
    const KEY: [Action; 2] = [
        Run("openssl enc -aes-256-ctr -K 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a -iv \
            00000000000000000000000000000000 -in {in} -out {made}"),
        Run("openssl enc -d -aes-256-ctr -K 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a -iv \
            00000000000000000000000000000000 -in {made} -out {out}"),
    ];
    Way::peer("openssl enc", KEY)
}

/// Ends the agent that gpg started.
const END_AGENT: &str = "gpgconf --kill all";

/// Runs gpg without compression, because otherwise the lab would measure zlib. The passphrase is hashed with gpg's
/// default settings.
fn gpg_passphrase() -> Way {
    Way::peer("gpg -z0", [
        Run("gpg --batch --quiet --pinentry-mode loopback --passphrase-file {passphrase} --no-symkey-cache -z 0 \
            --cipher-algo AES256 -o {made} --symmetric {in}"),
        Run("gpg --batch --quiet --pinentry-mode loopback --passphrase-file {passphrase} --no-symkey-cache -o {out} \
            --decrypt {made}"),
    ])
    .setup("gpg --version")
    .teardown(END_AGENT)
}

fn gpg_key() -> Way {
    Way::peer(
        "gpg -z0",
        [
            Run("gpg --batch --quiet --trust-model always -z 0 --cipher-algo AES256 --recipient lab -o {made} \
                --encrypt {in}"),
            Run("gpg --batch --quiet --pinentry-mode loopback -o {out} --decrypt {made}"),
        ],
    )
    .setup(
        "gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key lab future-default \
        default never",
    )
    .teardown(END_AGENT)
}

/// Runs 7z without compression. The passphrase is an argument, because without a terminal 7z reads a passphrase only
/// from its arguments. The measured data need no protection.
const SEVEN_ZIP_PASSPHRASE: [Action; 2] = [
    Run("7z a -bd -y -mx=0 -mhe=on -pcorrect-horse {made}.7z {in}"),
    Run("7z x -bd -y -pcorrect-horse -o{out} {made}.7z"),
];

const SEVEN_ZIP: [Action; 2] = [Run("7z a -bd -y -mx=0 {made}.7z {in}"), Run("7z x -bd -y -o{out} {made}.7z")];

fn seven_zip(actions: [Action; 2]) -> Way {
    Way::peer("7z -mx=0", actions)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use deadpan_lab::generations::with_own;
    use deadpan_lab::record::Role;

    #[test]
    fn every_way_has_an_action_for_each_operation_and_every_kernel_exists() {
        let offer = with_own(offer());
        let kernels: HashSet<&str> = offer.kernels.iter().map(|kernel| kernel.name).collect();
        assert_eq!(kernels.len(), offer.kernels.len());
        for workload in &offer.workloads {
            assert_eq!(workload.ways[0].role, Role::Own, "{}", workload.name);
            for way in &workload.ways {
                assert_eq!(way.actions.len(), workload.operations.len(), "{}: {}", workload.name, way.name);
                for action in &way.actions {
                    if let Own(name) = action {
                        assert!(kernels.contains(name), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_row_exists_twice() {
        let offer = with_own(offer());
        let mut names = HashSet::new();
        for workload in &offer.workloads {
            for way in &workload.ways {
                assert!(names.insert((workload.name, way.name)), "{}: {}", workload.name, way.name);
            }
        }
    }
}
