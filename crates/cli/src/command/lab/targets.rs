//! The targets of the lab. Each target for timing is a function whose time must not depend on a secret. Each target for
//! timing has classes of inputs; if the function has a leak, the times of the classes differ. The targets for speed are
//! functions whose speed is measured.

mod base64;
mod ct;
mod honest;
mod pad;
mod seal;
mod size;

use deadpan_lab::Target;
use deadpan_lab::harness::SizedTarget;
use size::{SIZES, SYMBOLS};

/// If a target has no pairs of classes, the lab traces the target but does not time it.
#[must_use]
pub fn timing() -> Vec<Target> {
    [base64::timing(), ct::timing(), pad::timing(), seal::timing()].into_iter().flatten().collect()
}

/// Returns targets for functions of another library that are known to take the same time for all secrets.
#[must_use]
pub fn honest() -> Vec<Target> {
    honest::all()
}

/// Returns all targets for speed, and a `memcpy` of the same number of bytes for comparison.
#[must_use]
pub fn speed() -> Vec<SizedTarget> {
    let yardsticks = [SYMBOLS].into_iter().chain(SIZES).map(memcpy).collect();
    [yardsticks, base64::speed(), ct::speed(), pad::speed(), seal::speed()].into_iter().flatten().collect()
}

fn memcpy((bytes, size): (usize, &'static str)) -> SizedTarget {
    let mut output = vec![0; bytes];
    let target = Target::new("memcpy", bytes, move |input| std::hint::black_box(&mut output).copy_from_slice(input));
    let target = target.class("random", |random, input| random.fill(input));
    SizedTarget { target, bytes: bytes as u64, size: size.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use deadpan_lab::Random;

    fn call_each_class(target: &mut Target, times: usize) {
        let mut random = Random::new(1);
        let mut input = vec![0; target.length()];
        for class in 0..target.classes().len() {
            for _ in 0..times {
                target.fill(class, &mut random, &mut input);
                target.call(&mut input);
            }
        }
    }

    #[test]
    fn every_target_runs_with_inputs_of_every_class() {
        for mut target in timing() {
            assert!(target.classes().len() > 1, "{}", target.name());
            call_each_class(&mut target, 20);
        }
    }

    #[test]
    fn every_target_for_speed_has_one_class_and_a_memcpy_of_its_size() {
        let mut all = speed();
        let yardsticks: HashSet<u64> =
            all.iter().filter(|it| it.target.name() == "memcpy").map(|it| it.bytes).collect();
        for SizedTarget { target, bytes, .. } in &mut all {
            assert_eq!(target.classes().len(), 1, "{}", target.name());
            assert!(yardsticks.contains(bytes), "{} of {bytes}", target.name());
            call_each_class(target, 2);
        }
    }

    #[test]
    fn names_of_targets_and_classes_are_unique() {
        let mut names = HashSet::new();
        for target in timing() {
            assert!(names.insert(target.name().to_owned()), "{}", target.name());
            let classes: HashSet<&str> = target.classes().iter().map(|class| class.name()).collect();
            assert_eq!(classes.len(), target.classes().len(), "{}", target.name());
        }
        let mut names = HashSet::new();
        for SizedTarget { target, size, .. } in speed() {
            assert!(names.insert((target.name().to_owned(), size.clone())), "{} of {size}", target.name());
        }
    }
}
