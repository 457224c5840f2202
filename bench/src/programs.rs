//! The tables of programs. The tables measure commands of Deadpan and of other programs as whole processes.
//!
//! A program that is not installed is skipped, and the page reports this. `scripts/bench` installs the other programs
//! first.

pub mod compress;
pub mod folder;
pub mod languages;
pub mod pairs;
pub mod pictures;
pub mod repair;
pub mod seal;
pub mod stores;

use deadpan_lab::speed::workload::Action::{Run, Shell};
use deadpan_lab::speed::workload::{Action, Operation, Way};

/// The commands that make the keys of the modes. Each key is made only once, even if several workloads need this key.
const KEYGEN_ECC: &str = "'{self}' keygen --mode ecc --no-passphrase";
const KEYGEN_PQC: &str = "'{self}' keygen --mode pqc --no-passphrase";
const KEYGEN: &str = "'{self}' keygen --mode hybrid --no-passphrase";

const AGE_KEY: &str = "age-keygen -o {keys}/age.key && age-keygen -y {keys}/age.key > {keys}/age.pub";

const GPG_KEY: &str = "gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key bench \
    future-default default never";
const END_AGENT: &str = "gpgconf --kill all";

const MACHINE: [&str; 5] = [
    "stat -f -c 'file system: %T' {parent}",
    "awk '/MemTotal/ { printf \"memory: %.1f GiB\", $2 / 1048576 }' /proc/meminfo",
    "echo \"huge pages: $(sed 's/.*\\[\\(.*\\)\\].*/\\1/' /sys/kernel/mm/transparent_hugepage/enabled)\"",
    "cd /proc/sys/vm && echo \"dirty pages: background writes above $(cat dirty_background_ratio) %, writers wait \
     above $(cat dirty_ratio) %\"",
    "echo \"deadpan: $('{self}' --version), ${BENCH_BUILD:?}\"",
];

const AGE: &str = "version=$(age --version) && echo \"age: $version\"";
const GPG: &str = "version=$(gpg --version) && echo \"gpg: $version\" | head -n 1";
const OPENSSL: &str = "version=$(openssl version) && echo \"openssl: $version\"";

/// Returns the shell commands that print facts for the page, followed by the commands that print the versions of other
/// programs. For a program that is not installed, no version is printed.
fn facts<const N: usize>(versions: [&'static str; N]) -> Vec<&'static str> {
    MACHINE.into_iter().chain(versions).collect()
}

fn operations<const N: usize>(names: [&'static str; N]) -> Vec<Operation> {
    names.map(Operation::new).into()
}

/// Returns a `Way` (a measured variant) that seals and opens with a key of the mode in `keygen`. The key has no
/// passphrase.
fn deadpan(name: &'static str, seal: &'static str, keygen: &'static str) -> Way {
    Way::ours(name, [Run(seal), Run("{self} open -o {out} {made}")]).setup(keygen)
}

/// The actions of 7-Zip without compression. Without a terminal, 7-Zip accepts a passphrase only as an argument.
const SEVEN_ZIP: [Action; 2] = [
    Run("7z a -bd -y -t7z -mx=0 -mhe=on -pcorrect-horse {made}.7z {in}"),
    Run("7z x -bd -y -pcorrect-horse -o{out} {made}.7z"),
];

/// The actions of gpgtar without compression. If gpgtar compressed the data, the benchmark would measure zlib.
const GPGTAR: [Action; 2] = [
    Shell(
        "gpgtar --encrypt --gpg-args '--batch --quiet --trust-model always --cipher-algo AES256 --compress-algo none' \
         -r bench -o '{made}.gpg' -C '{parent}' {name}",
    ),
    Shell("mkdir '{out}' && gpgtar --decrypt --gpg-args '--batch --quiet' --directory '{out}' '{made}.gpg'"),
];
