use std::path::PathBuf;

use super::*;
use crate::generations::SETS;
use crate::speed::workload::Operation;
use crate::watch::Silent;

fn plan(sets: &[Set]) -> Plan {
    Plan {
        sets: sets.to_vec(),
        scale: 1e-5,
        contents: vec![Contents::Zero, Contents::Random],
        rounds: Some(2),
        peers: None,
        only: Vec::new(),
        kernel: Vec::new(),
        quick: false,
    }
}

fn offer(ways: Vec<Way>, subject: Subject) -> Offer {
    let operations = vec![Operation::new("there").beat(1e-9), Operation::new("back")];
    Offer { workloads: vec![Workload::new("copy", subject, operations, ways)], ..Offer::default() }
}

fn run(plan: &Plan, offer: &Offer) -> Generations {
    let mut place = Workplace::new(&std::env::temp_dir(), PathBuf::from("/bin/false")).unwrap();
    let mut shown = 0;
    let found = measure(plan, offer, &mut place, &mut Silent, &mut |rows| shown += rows.len()).unwrap();
    assert_eq!(shown, found.rows.len());
    found
}

fn copy() -> Way {
    Way::own([Action::Run("cp {in} {made}"), Action::Run("cp {made} {out}")])
}

#[test]
fn every_set_contents_operation_and_variant_has_its_row() {
    let peers = [
        copy(),
        Way::limit("dd", [Action::Run("dd if={in} of={made}"), Action::Run("dd if={made} of={out}")]),
        Way::peer("no-such-program 3", [Action::Run("no-such-program"), Action::Run("no-such-program")]),
    ];
    let found = run(&plan(&[SETS[0].scaled(1e-5), SETS[1].scaled(1e-5)]), &offer(peers.to_vec(), Subject::File));
    assert_eq!(found.rows.len(), 2 * 2 * 2 * 4);
    let first: Vec<_> = found.rows[..4].iter().map(|row| (row.operation.as_str(), row.variant.as_str())).collect();
    assert_eq!(first, [("there", "one core"), ("there", "all cores"), ("there", "dd"), ("there", "no-such-program 3")]);
    for row in &found.rows {
        if row.variant.starts_with("no-such") {
            assert_eq!(row.skipped.as_deref(), Some("no-such-program is not installed"));
            assert!(row.rate.is_none() && row.ratio.is_none());
        } else {
            assert!(
                row.skipped.is_none() && row.rate.unwrap() > 0.0 && row.fastest.unwrap() >= row.rate.unwrap(),
                "{row:?}"
            );
            assert!(row.rounds == 2 && row.seconds.len() == 2 && row.processor_seconds.is_some());
        }
    }
    assert!(found.rows.iter().filter(|row| row.variant == ONE_CORE).all(|row| row.ratio == Some(1.0)));
    assert_eq!(found.targets.len(), 2, "one verdict for each set, about the slower contents");
    assert_eq!(found.sets.iter().map(|set| set.name.as_str()).collect::<String>(), "AB");
}

#[test]
fn a_failure_or_a_changed_output_has_a_reason_and_no_figure() {
    let ways = [
        copy(),
        Way::peer("false", [Action::Run("false"), Action::Run("false")]),
        Way::peer("sh", [Action::Run("cp {in} {made}"), Action::Shell("echo changed > '{out}'")]),
        Way::peer("test", [Action::Run("cp {in} {made}"), Action::Run("cp {made} {out}")])
            .setup("echo no luck >&2; exit 3"),
    ];
    let found = run(&plan(&[SETS[0].scaled(1e-5)]), &offer(ways.to_vec(), Subject::File));
    let reason = |variant: &str, operation: &str| {
        found
            .rows
            .iter()
            .find(|row| row.variant == variant && row.operation == operation)
            .unwrap()
            .skipped
            .clone()
            .unwrap_or_default()
    };
    assert!(reason("false", "there").starts_with("failed (exit status: 1)"), "{}", reason("false", "there"));
    assert_eq!(reason("sh", "there"), "");
    assert_eq!(reason("sh", "back"), "the final output differs from the input");
    assert_eq!(reason("test", "back"), "cannot be set up: no luck");
    assert!(reason("all cores", "back").is_empty());
}

#[test]
fn a_command_that_this_build_does_not_have_is_skipped_and_named() {
    let ways =
        vec![Way::own([Action::Run("{self} pack -o {made} {in}"), Action::Run("{self} unpack -o {out} {made}")])];
    let found = run(&plan(&[SETS[4].scaled(1e-5)]), &offer(ways, Subject::Folder));
    assert!(
        found.rows.iter().all(|row| row.skipped.as_deref() == Some("this build has no command `pack`")),
        "{:?}",
        found.rows
    );
    assert!(found.targets.iter().all(|target| target.outcome == crate::record::TargetOutcome::Skipped));
}

#[test]
fn workloads_without_input_run_once_and_the_length_of_their_output_is_checked() {
    let ways = |count| vec![Way::own([Action::Shell(count), Action::Run("true")])];
    let good =
        run(&plan(&[SETS[0].scaled(1e-5)]), &offer(ways("head -c {bytes} /dev/zero > '{made}'"), Subject::Amount));
    assert_eq!(good.rows.len(), 4);
    assert!(good.rows.iter().all(|row| row.contents.is_empty() && row.skipped.is_none()), "{:?}", good.rows);
    let short = run(&plan(&[SETS[0].scaled(1e-5)]), &offer(ways("head -c 9 /dev/zero > '{made}'"), Subject::Amount));
    assert!(
        short.rows[0].skipped.as_deref().is_some_and(|reason| reason.contains("9 bytes instead of 3146")),
        "{:?}",
        short.rows[0]
    );
}

#[test]
fn only_the_chosen_peers_are_measured() {
    let ways = [
        copy(),
        Way::limit("dd", [Action::Run("dd")]),
        Way::peer("cp, cat", [Action::Run("cp")]),
        Way::peer("tar x", []),
    ];
    let offer = offer(ways.to_vec(), Subject::File);
    let taken = |peers: Option<&[&str]>| {
        let peers = peers.map(|peers| peers.iter().map(|&peer| peer.to_owned()).collect());
        let plan = Plan { peers, ..plan(&SETS[..1]) };
        offer.workloads[0].ways.iter().filter(|way| plan.takes(way)).map(|way| way.name).collect::<Vec<_>>()
    };
    assert_eq!(taken(None), ["", "dd", "cp, cat", "tar x"]);
    assert_eq!(taken(Some(&["cat"])), ["", "dd", "cp, cat"]);
    assert_eq!(taken(Some(&[])), ["", "dd"]);
    assert_eq!(variants(&offer), ["cp", "cat", "tar"]);
    assert_eq!(plan(&SETS[..1]).steps(&offer), 2 * 2 * 5);
}

#[test]
fn rows_summarize_the_measurements() {
    let offer = offer(vec![copy(), Way::limit("dd", [Action::Run("dd"), Action::Run("dd")])], Subject::File);
    let set = Set { bytes: 100 << 20, ..SETS[0] };
    let group = Group { workload: &offer.workloads[0], set: Some(set), contents: Some(Contents::Zero), rounds: 3 };
    let seen = |seconds: &[f64], skipped: Option<&str>| SeenInput {
        seconds: seconds.to_vec(),
        processor_seconds: vec![2.0, 1.0, 3.0],
        amount: set.bytes as f64,
        peak: Some(7),
        skipped: skipped.map(str::to_owned),
    };
    let variant = |name, way: usize, first: SeenInput| Variant {
        way: &offer.workloads[0].ways[way],
        name,
        processor: None,
        seen: vec![first, seen(&[1.0], Some("failed"))],
    };
    let rows = rows(
        &group,
        &[variant(ONE_CORE, 0, seen(&[1.0, 4.0, 2.0], None)), variant("dd", 1, seen(&[0.5, 0.25, 1.0], None))],
    );
    assert_eq!(rows.len(), 4);
    let figures: Vec<_> =
        rows[..2].iter().map(|row| (row.rate, row.fastest, row.minimum, row.ratio, row.processor_seconds)).collect();
    assert_eq!(figures[0], (Some(50.0), Some(100.0), Some(1.0), Some(1.0), Some(2.0)));
    assert_eq!(figures[1], (Some(200.0), Some(400.0), Some(0.25), Some(4.0), Some(2.0)));
    assert!(
        rows[2..]
            .iter()
            .all(|row| row.rate.is_none() && row.ratio.is_none() && row.skipped.as_deref() == Some("failed"))
    );
}

#[test]
fn a_program_that_tells_its_own_time_is_believed_and_one_that_tells_something_else_has_no_figure() {
    const TELLS: [Action; 2] = [Action::Told("echo 2000000 > '{result}'"), Action::Told("echo 4000000 > '{result}'")];
    const COMPLAINS: [Action; 2] = [Action::Told("echo error of mine > '{result}'"), Action::Told("true")];
    let ways = [copy(), Way::peer("sh tells", TELLS), Way::peer("sh complains", COMPLAINS)];
    let found = run(&plan(&[SETS[0].scaled(1e-5)]), &offer(ways.to_vec(), Subject::File));
    let seconds = |operation: &str| {
        let row = found.rows.iter().find(|row| row.variant == "sh tells" && row.operation == operation).unwrap();
        row.seconds.clone()
    };
    assert_eq!((seconds("there"), seconds("back")), (vec![0.002; 2], vec![0.004; 2]));
    for row in found.rows.iter().filter(|row| row.variant == "sh complains") {
        assert!(row.rate.is_none() && row.skipped.is_some(), "{row:?}");
        assert!(row.operation == "back" || row.skipped.as_deref().unwrap().contains("error of mine"), "{row:?}");
    }
}
