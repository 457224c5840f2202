//! The table of sealing from store to store: compares Deadpan with rclone, s5cmd and boto3.
//!
//! The store is a server on this machine that speaks S3's protocol and keeps objects as files. The script
//! `scripts/bench.d/store` starts the store and writes the file `{keys}/store`, which sets variables for all programs.
//! The variable `$OBJECTS` is the folder of the bucket.

use super::{facts, operations};
use deadpan_lab::speed::workload::Action::Shell;
use deadpan_lab::speed::workload::{Files, Goal, Offer, Set, Subject, Way, Workload};

const ABOUT: &str = "\
The store is versitygw, whose objects are files, on the same machine: requests cross the loopback, and the server takes
a part of the same cores. A real store is further away, and has cores of its own. The objects that a program wrote are
removed before the next one runs. Each result is compared with its source, after opening it if it is sealed. Deadpan has
an unprotected hybrid key. rclone's copies go through this machine (`--disable copy`); *crypt* is NaCl's secretbox with
a shared key, and seals the names too. *s5cmd cp* copies inside the store, and sends no data to this machine. boto3 is
`upload_fileobj` of the body that `get_object` returns. With Ray, the cluster runs already, and its tasks have the
priority of the processes.";

/// The shell command that starts the store and makes the keys. The line runs once for all ways.
const START: &str = "\"${BENCH_STORE:?}\" start '{self}' {keys} {parent}";
const STOP: &str = "\"${BENCH_STORE:?}\" stop {keys}";
/// The shell command that removes the results of the previous run, and copies the input to the bucket.
const FILL: &str = "\"${BENCH_STORE:?}\" fill '{self}' {keys} {parent}";

const GATEWAY: &str = "versitygw --version | head -n 1";
const RCLONE: &str = "version=$(rclone --version) && echo \"$version\" | head -n 1";
const S5CMD: &str = "version=$(s5cmd version) && echo \"s5cmd: $version\"";

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let (long, objects, shared) = if quick { (64 << 20, 200, 1 << 20) } else { (4 << 30, 10_000, 512 << 20) };
    let many = Files { large: 0, large_bytes: 0, small: objects, small_bytes: (10_000, 10_000), each: objects };
    let shares = Files { large: 12, large_bytes: shared, small: 0, small_bytes: (1, 1), each: 1 };
    Offer {
        title: "From store to store beside `rclone`, `s5cmd` and `boto3`",
        about: ABOUT,
        sets: vec![
            Set::files("many", many).rounds_of(5),
            Set::file("one", long).rounds_of(5),
            Set::files("shares", shares).rounds_of(5),
        ],
        workloads: vec![many_objects(), one_object(), opened(), range(), ray()],
        facts: facts([GATEWAY, RCLONE, S5CMD]),
        ..Offer::default()
    }
}

/// Returns a way. The shell command `$line` runs with the environment variables of the store.
macro_rules! way {
    ($make:ident, $name:literal, $line:literal, $check:literal) => {
        Way::$make($name, [Shell(concat!(". {keys}/store; ", $line))])
            .setup(START)
            .teardown(STOP)
            .before(FILL)
            .check(concat!(". {keys}/store; ", $check))
    };
}

fn many_objects() -> Workload {
    let ways = vec![
        way!(
            ours,
            "deadpan seal",
            "'{self}' seal s3://bucket/small-0000/ --to s3://bucket/out/ -r $KEY",
            "test $(ls $OBJECTS/out | wc -l) = $(ls {in}/small-0000 | wc -l) && '{self}' open -o - \
             $OBJECTS/out/0000.txt.dpn | cmp - {in}/small-0000/0000.txt"
        ),
        way!(
            peer,
            "rclone",
            "rclone copy --disable copy --transfers 32 --checkers 32 store:bucket/small-0000 store:bucket/out",
            "diff -rq {in}/small-0000 $OBJECTS/out"
        ),
        way!(
            peer,
            "rclone crypt",
            "rclone copy --transfers 32 --checkers 32 store:bucket/small-0000 crypt:",
            "rclone cat crypt:0000.txt | cmp - {in}/small-0000/0000.txt"
        ),
        way!(
            peer,
            "s5cmd cp down, cp up",
            "s5cmd cp 's3://bucket/small-0000/*' {parent}/local/ && s5cmd cp {parent}/local/ s3://bucket/out/",
            "diff -rq {in}/small-0000 $OBJECTS/out"
        ),
        way!(
            limit,
            "s5cmd cp",
            "s5cmd cp 's3://bucket/small-0000/*' s3://bucket/out/",
            "diff -rq {in}/small-0000 $OBJECTS/out"
        ),
    ];
    Workload::new("many objects of 10 KB", Subject::Folder, operations(["copy or seal"]), ways)
        .on(["many"])
        .beside("s5cmd cp")
        .goal(Goal::times(1.0 / 0.8, "s5cmd cp"))
        .goal(Goal::times(1.0 / 0.8, "s5cmd cp down, cp up"))
        .goal(Goal::peak(256.0))
}

fn one_object() -> Workload {
    let ways = vec![
        way!(
            ours,
            "deadpan seal",
            "'{self}' seal s3://bucket/plain --to s3://bucket/out/plain.dpn -r $KEY",
            "'{self}' open -o - $OBJECTS/out/plain.dpn | cmp - {in}"
        ),
        way!(
            peer,
            "rclone",
            "rclone copyto --disable copy store:bucket/plain store:bucket/out/plain",
            "cmp {in} $OBJECTS/out/plain"
        ),
        way!(
            peer,
            "rclone crypt",
            "rclone copyto store:bucket/plain crypt:plain",
            "rclone cat crypt:plain | cmp - {in}"
        ),
        way!(
            peer,
            "s5cmd cat, pipe",
            "s5cmd cat s3://bucket/plain | s5cmd pipe s3://bucket/out/plain",
            "cmp {in} $OBJECTS/out/plain"
        ),
        way!(limit, "s5cmd cp", "s5cmd cp s3://bucket/plain s3://bucket/out/plain", "cmp {in} $OBJECTS/out/plain"),
        way!(limit, "boto3", "$BOTO3 bucket plain out/plain", "cmp {in} $OBJECTS/out/plain"),
    ];
    Workload::new("one object", Subject::File, operations(["copy or seal"]), ways)
        .on(["one"])
        .beside("rclone")
        .goal(Goal::fastest_peer(1.0 / 0.8))
        .goal(Goal::times(1.0 / 3.0, "rclone crypt"))
        .goal(Goal::peak(256.0))
}

fn opened() -> Workload {
    let ways = vec![
        way!(
            ours,
            "deadpan open",
            "'{self}' open s3://bucket/sealed.dpn --to s3://bucket/out/plain",
            "cmp {in} $OBJECTS/out/plain"
        ),
        way!(
            peer,
            "rclone, of the sealed object",
            "rclone copyto --disable copy store:bucket/sealed.dpn store:bucket/out/sealed.dpn",
            "cmp $OBJECTS/sealed.dpn $OBJECTS/out/sealed.dpn"
        ),
    ];
    Workload::new("one object, opened", Subject::File, operations(["copy or open"]), ways)
        .on(["one"])
        .beside("rclone, of the sealed object")
        .goal(Goal::peak(256.0))
}

fn range() -> Workload {
    let ways = vec![
        way!(
            ours,
            "deadpan open --range",
            "'{self}' open --range 40000000:65536 -o - s3://bucket/sealed.dpn",
            "'{self}' open --range 40000000:65536 -o {made} s3://bucket/sealed.dpn && tail -c +40000001 {in} | head -c \
             65536 | cmp - {made}"
        ),
        way!(
            peer,
            "rclone cat, of the sealed object",
            "rclone cat --offset 40000000 --count 65536 store:bucket/sealed.dpn",
            "true"
        ),
    ];
    Workload::new("a range of 64 KiB", Subject::File, operations(["read"]), ways)
        .on(["one"])
        .beside("rclone cat, of the sealed object")
        .rounds(20)
}

fn ray() -> Workload {
    let ways = vec![
        way!(
            limit,
            "deadpan seal, 4 shares",
            "for share in 0 1 2 3; do '{self}' seal s3://bucket/shares/ --to s3://bucket/out/ -r $KEY \
             --job-key $JOB_KEY --shard $share/4 & all=\"$all $!\"; done; for one in $all; do wait $one || exit; done",
            "test $(ls $OBJECTS/out/*.dpn | wc -l) = 12"
        ),
        way!(
            ours,
            "deadpan.cluster, 4 tasks",
            "$RAY_PYTHON -m deadpan.cluster seal s3://bucket/shares/ s3://bucket/out/ -r $KEY --job-key $JOB_KEY \
             --shards 4",
            "test $(ls $OBJECTS/out/*.dpn | wc -l) = 12"
        ),
    ];
    Workload::new("with Ray", Subject::Folder, operations(["seal"]), ways)
        .on(["shares"])
        .beside("deadpan seal, 4 shares")
        .goal(Goal::times(1.1, "deadpan seal, 4 shares"))
}
