//! The function to measure, which maps bytes to a result, and the classes of inputs to compare.

pub(crate) mod buffer;
mod run;

use std::fmt;

use crate::random::Random;
pub(crate) use run::{Run, Slots, dispatch};

/// A function, the length of its input, and the classes of inputs.
///
/// ```
/// use deadpan_lab::Target;
///
/// let target = Target::new("compare", 64, |input| input[..32] == input[32..])
///     .class("equal", |random, input| {
///         let (left, right) = input.split_at_mut(32);
///         random.fill(left);
///         right.copy_from_slice(left);
///     })
///     .class("random", |random, input| random.fill(input));
/// assert_eq!(target.pairs().len(), 1);
/// ```
pub struct Target {
    name: String,
    length: usize,
    run: Box<dyn Run>,
    classes: Vec<Class>,
    pairs: Option<Vec<(usize, usize)>>,
}

type Fill = Box<dyn FnMut(&mut Random, &mut [u8])>;

/// A class of inputs.
pub struct Class {
    name: String,
    outcome: String,
    fill: Fill,
}

impl Class {
    /// The class's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The public part of the result. Traces are compared only between inputs with the same outcome.
    #[must_use]
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    /// Writes one input of this class.
    pub fn fill(&mut self, random: &mut Random, input: &mut [u8]) {
        (self.fill)(random, input);
    }
}

impl Target {
    /// Creates a target from a function that reads its input. A measurement of a short function makes several calls on
    /// the same input.
    ///
    /// The compiler cannot remove the call, although its result is not used. The function owns everything else that it
    /// needs, such as an output buffer.
    ///
    /// # Panics
    /// Panics if `length` is zero.
    pub fn new<R: 'static>(
        name: impl Into<String>,
        length: usize,
        mut function: impl FnMut(&[u8]) -> R + 'static,
    ) -> Self {
        Self::with(name, length, run::Reading(move |input: &[u8]| drop(std::hint::black_box(function(input)))))
    }

    /// Creates a target from a function that changes its input. A measurement with several calls gives each call its
    /// own copy.
    ///
    /// # Panics
    /// Panics if `length` is zero.
    pub fn in_place<R: 'static>(
        name: impl Into<String>,
        length: usize,
        mut function: impl FnMut(&mut [u8]) -> R + 'static,
    ) -> Self {
        Self::with(name, length, run::Changing(move |input: &mut [u8]| drop(std::hint::black_box(function(input)))))
    }

    /// Creates a target from a function that is not called by this process's own loop.
    pub(crate) fn from_run(name: &str, length: usize, run: impl Run + 'static) -> Self {
        Self::with(name, length, run)
    }

    fn with(name: impl Into<String>, length: usize, run: impl Run + 'static) -> Self {
        assert!(length > 0, "a target without input has no secret");
        Self { name: name.into(), length, run: Box::new(run), classes: Vec::new(), pairs: None }
    }

    /// Adds a class of inputs. `fill` writes one input of the class.
    #[must_use]
    pub fn class(self, name: impl Into<String>, fill: impl FnMut(&mut Random, &mut [u8]) + 'static) -> Self {
        self.class_with_outcome(name, "", fill)
    }

    /// Adds a class of inputs whose result is publicly different, such as `valid` or `invalid`. Timing compares all
    /// classes, but the traces of different outcomes may differ.
    #[must_use]
    pub fn class_with_outcome(
        mut self,
        name: impl Into<String>,
        outcome: impl Into<String>,
        fill: impl FnMut(&mut Random, &mut [u8]) + 'static,
    ) -> Self {
        self.classes.push(Class { name: name.into(), outcome: outcome.into(), fill: Box::new(fill) });
        self
    }

    /// Adds a class with a single input.
    ///
    /// # Panics
    /// Panics if `input` does not have the target's length.
    #[must_use]
    pub fn fixed(self, name: impl Into<String>, input: &[u8]) -> Self {
        assert_eq!(input.len(), self.length, "the input must have the target's length");
        let input = input.to_vec();
        self.class(name, move |_, out| out.copy_from_slice(&input))
    }

    /// Compares each class with the first class only, instead of comparing all pairs.
    #[must_use]
    pub fn against_first(mut self) -> Self {
        self.pairs = Some((1..self.classes.len()).map(|other| (0, other)).collect());
        self
    }

    /// Adds this pair of classes to those to compare. A target for which neither this function nor
    /// [`Target::against_first`] is called compares all pairs.
    ///
    /// # Panics
    /// Panics if no class has one of these names.
    #[must_use]
    pub fn pair(mut self, a: &str, b: &str) -> Self {
        let find = |name: &str| self.classes.iter().position(|class| class.name == name);
        let pair = find(a).zip(find(b)).unwrap_or_else(|| panic!("{}: no classes {a} and {b}", self.name));
        self.pairs.get_or_insert_default().push(pair);
        self
    }

    /// Keeps only the classes for whose names `keep` returns true, and the pairs between them.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        let kept: Vec<bool> = self.classes.iter().map(|class| keep(&class.name)).collect();
        let place = |index: usize| kept[..index].iter().filter(|&&kept| kept).count();
        if let Some(pairs) = &mut self.pairs {
            pairs.retain(|&(a, b)| kept[a] && kept[b]);
            for (a, b) in pairs {
                (*a, *b) = (place(*a), place(*b));
            }
        }
        let mut index = 0;
        self.classes.retain(|_| {
            index += 1;
            kept[index - 1]
        });
        self
    }

    /// The target's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length of an input in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The classes in the order in which they were added.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The pairs of classes to compare, by index.
    #[must_use]
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        self.pairs.clone().unwrap_or_else(|| {
            let count = self.classes.len();
            (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect()
        })
    }

    /// Writes an input of the class with index `class`.
    pub fn fill(&mut self, class: usize, random: &mut Random, input: &mut [u8]) {
        self.classes[class].fill(random, input);
    }

    /// Calls the function once on `input`.
    pub fn call(&mut self, input: &mut [u8]) {
        self.run.once(input);
    }

    pub(crate) fn run(&mut self) -> &mut dyn Run {
        &mut *self.run
    }

    pub(crate) fn parts(&mut self) -> (&mut dyn Run, &mut [Class]) {
        (&mut *self.run, &mut self.classes)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<&str> = self.classes.iter().map(Class::name).collect();
        out.debug_struct("Target")
            .field("name", &self.name)
            .field("length", &self.length)
            .field("classes", &classes)
            .finish()
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Class").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target::new("t", 4, |input| input[0]).fixed("a", b"aaaa").fixed("b", b"bbbb").fixed("c", b"cccc")
    }

    #[test]
    fn all_pairs_are_compared_unless_pairs_are_chosen() {
        assert_eq!(target().pairs(), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(target().against_first().pairs(), [(0, 1), (0, 2)]);
        assert_eq!(target().pair("c", "a").pairs(), [(2, 0)]);
    }

    #[test]
    fn a_choice_of_classes_keeps_the_pairs_between_them() {
        let kept = target().only(|name| name != "a");
        assert_eq!(kept.pairs(), [(0, 1)]);
        assert_eq!(kept.classes()[0].name(), "b");
        assert_eq!(target().pair("c", "a").pair("b", "c").only(|name| name != "a").pairs(), [(0, 1)]);
    }
}
