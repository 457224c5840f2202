//! A target consists of the function to measure and the classes of inputs to compare. The function computes a result
//! from bytes or from prepared values.

pub(crate) mod buffer;
mod prepared;
mod results;
mod run;

use std::fmt;

use crate::random::Random;
use prepared::{Draft, Prepared};
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

    /// The public outcome: the part of the calls' result that is public. The lab compares traces only between inputs
    /// with the same outcome.
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
    /// Creates a target from a function that reads its input. If the function is fast, a measurement makes several
    /// calls on the same input.
    ///
    /// The compiler cannot remove the call, even though the lab does not use the result. The lab drops the result after
    /// the clock has stopped. The function must own everything else that it needs, such as an output buffer.
    ///
    /// # Panics
    /// Panics if `length` is zero.
    pub fn new<R: 'static>(name: impl Into<String>, length: usize, function: impl FnMut(&[u8]) -> R + 'static) -> Self {
        Self::with(name, length, run::Reading::new(function))
    }

    /// Creates a target from a function that changes its input. If a measurement makes several calls, each call gets
    /// its own copy of the input.
    ///
    /// # Panics
    /// Panics if `length` is zero.
    pub fn in_place<R: 'static>(
        name: impl Into<String>,
        length: usize,
        function: impl FnMut(&mut [u8]) -> R + 'static,
    ) -> Self {
        Self::with(name, length, run::Changing::new(function))
    }

    /// Creates a target from a function that reads an input of any type, such as a key, a context or a large structure.
    ///
    /// `prepare` receives random numbers and the name of a class, and returns an input of this class. The clock does
    /// not run while the lab makes inputs, or while it drops inputs and results. Inputs can have different lengths. The
    /// lengths are then public.
    ///
    /// The result of `prepare` must depend only on its two arguments, so that `prepare` can make the same input again.
    /// For the call, the lab moves each input to the same address. Memory that an input *owns*, such as the bytes of a
    /// `Vec`, stays at the address where `prepare` allocated the memory. The lab prepares inputs in random order. If
    /// `prepare` allocates in the same way for each class, the classes therefore get the same addresses on average. A
    /// trace compares addresses, and shows a difference if the allocations depend on the secret.
    ///
    /// ```
    /// use deadpan_lab::Target;
    ///
    /// struct Key([u64; 4]);
    ///
    /// impl Key {
    ///     fn mask(&self, message: u64) -> u64 {
    ///         self.0.iter().fold(message, |sum, word| sum.rotate_left(5) ^ word)
    ///     }
    /// }
    ///
    /// let prepare = |random: &mut deadpan_lab::Random, class: &str| match class {
    ///     "few bits" => Key(std::array::from_fn(|_| 1 << random.below(64))),
    ///     _ => Key(std::array::from_fn(|_| random.bits())),
    /// };
    /// let target = Target::prepared("mask", ["few bits", "random"], prepare, |key| key.mask(7));
    /// assert_eq!(target.pairs().len(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics if `prepare` panics while the target is measured.
    pub fn prepared<T: 'static, R: 'static>(
        name: impl Into<String>,
        classes: impl IntoIterator<Item = impl Into<String>>,
        prepare: impl FnMut(&mut Random, &str) -> T + 'static,
        mut function: impl FnMut(&T) -> R + 'static,
    ) -> Self {
        let classes: Vec<String> = classes.into_iter().map(Into::into).collect();
        let function = move |input: &mut T| function(input);
        let run = Prepared::<_, _, _, _, false>::new(classes.clone(), prepare, function);
        Self::with(name, Draft::LENGTH, run).drafts(classes)
    }

    /// Creates a target from a function that changes its input. The input can have any type. Each call gets its own
    /// input. `prepare` receives the same random numbers for all inputs of one measurement. Otherwise, this function is
    /// like [`Target::prepared`].
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use deadpan_lab::Target;
    ///
    /// let prepare = |random: &mut deadpan_lab::Random, class: &str| {
    ///     let size = if class == "small" { 10 } else { 1000 };
    ///     (0..size).map(|_| (random.bits(), 0)).collect::<HashMap<u64, u64>>()
    /// };
    /// let target = Target::prepared_in_place("insert", ["small", "large"], prepare, |map| map.insert(7, 1));
    /// assert_eq!(target.classes()[1].name(), "large");
    /// ```
    ///
    /// # Panics
    /// Panics if `prepare` panics while the target is measured.
    pub fn prepared_in_place<T: 'static, R: 'static>(
        name: impl Into<String>,
        classes: impl IntoIterator<Item = impl Into<String>>,
        prepare: impl FnMut(&mut Random, &str) -> T + 'static,
        function: impl FnMut(&mut T) -> R + 'static,
    ) -> Self {
        let classes: Vec<String> = classes.into_iter().map(Into::into).collect();
        let run = Prepared::<_, _, _, _, true>::new(classes.clone(), prepare, function);
        Self::with(name, Draft::LENGTH, run).drafts(classes)
    }

    fn drafts(mut self, classes: Vec<String>) -> Self {
        self.classes = classes
            .into_iter()
            .enumerate()
            .map(|(index, name)| Class {
                name,
                outcome: String::new(),
                fill: Box::new(move |random, draft| Draft::write(index, random, draft)),
            })
            .collect();
        self
    }

    /// Creates a target from `run`, which calls the function itself. This process measures the target through `run`,
    /// and never calls the function directly.
    pub(crate) fn from_run(name: &str, length: usize, run: impl Run + 'static) -> Self {
        Self::with(name, length, run)
    }

    fn with(name: impl Into<String>, length: usize, run: impl Run + 'static) -> Self {
        assert!(length > 0, "a target without input has no secret");
        Self { name: name.into(), length, run: Box::new(run), classes: Vec::new(), pairs: None }
    }

    /// Adds a class of inputs. `fill` writes one input of the class.
    ///
    /// # Panics
    /// Panics if the target is prepared: [`Target::prepared`] receives the names of all classes.
    #[must_use]
    pub fn class(self, name: impl Into<String>, fill: impl FnMut(&mut Random, &mut [u8]) + 'static) -> Self {
        self.class_with_outcome(name, "", fill)
    }

    /// Adds a class of inputs with a public outcome, such as `valid` or `invalid`. The lab compares the times of all
    /// classes, but the traces of classes with different outcomes may differ.
    ///
    /// # Panics
    /// Panics if the target is prepared: For prepared targets, use [`Target::outcome`] to set the outcome of a class.
    #[must_use]
    pub fn class_with_outcome(
        mut self,
        name: impl Into<String>,
        outcome: impl Into<String>,
        fill: impl FnMut(&mut Random, &mut [u8]) + 'static,
    ) -> Self {
        assert!(!self.run.prepared(), "{}: a prepared target names all its classes at once", self.name);
        self.classes.push(Class { name: name.into(), outcome: outcome.into(), fill: Box::new(fill) });
        self
    }

    /// Sets the public outcome of the class with this name. Examples of outcomes are `valid` and `invalid`. The lab
    /// compares the times of all classes, but the traces of classes with different outcomes may differ.
    ///
    /// # Panics
    /// Panics if no class has this name.
    #[must_use]
    pub fn outcome(mut self, class: &str, outcome: impl Into<String>) -> Self {
        let Some(found) = self.classes.iter_mut().find(|known| known.name == class) else {
            panic!("{}: no class {class}", self.name);
        };
        found.outcome = outcome.into();
        self
    }

    /// Adds a class with a single input.
    ///
    /// # Panics
    /// Panics if `input` does not have the target's length, or if the target is prepared.
    #[must_use]
    pub fn fixed(self, name: impl Into<String>, input: &[u8]) -> Self {
        assert_eq!(input.len(), self.length, "the input must have the target's length");
        let input = input.to_vec();
        self.class(name, move |_, out| out.copy_from_slice(&input))
    }

    /// Compares each class only with the first class, instead of all pairs of classes.
    #[must_use]
    pub fn against_first(mut self) -> Self {
        self.pairs = Some((1..self.classes.len()).map(|other| (0, other)).collect());
        self
    }

    /// Disables timing comparisons for this target. The lab only traces the target.
    #[must_use]
    pub fn untimed(mut self) -> Self {
        self.pairs = Some(Vec::new());
        self
    }

    /// Adds a pair of classes that the lab must compare. Without a call of this function or of
    /// [`Target::against_first`], the lab compares all pairs of classes.
    ///
    /// # Panics
    /// Panics if one of the two names is not the name of a class.
    #[must_use]
    pub fn pair(mut self, a: &str, b: &str) -> Self {
        let find = |name: &str| self.classes.iter().position(|class| class.name == name);
        let pair = find(a).zip(find(b)).unwrap_or_else(|| panic!("{}: no classes {a} and {b}", self.name));
        self.pairs.get_or_insert_default().push(pair);
        self
    }

    pub(crate) fn within_outcomes(mut self) -> Self {
        let same = |&(a, b): &(usize, usize)| self.classes[a].outcome == self.classes[b].outcome;
        self.pairs = Some(self.pairs().into_iter().filter(same).collect());
        self
    }

    /// Keeps only the classes for which `keep` returns true, and the pairs that consist of these classes. `keep` gets
    /// the name of a class.
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

    /// The length of an input in bytes. For a prepared target, the result is the length of the bytes that represent an
    /// input. The bytes that represent an input contain the class and a seed.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the length of an input in bytes, in the form that a record stores. The length is zero if the inputs are
    /// values instead of bytes.
    pub(crate) fn recorded_length(&self) -> usize {
        if self.run.prepared() { 0 } else { self.length }
    }

    /// The classes in the order in which they were added.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The pairs of classes to compare, as pairs of class indexes.
    #[must_use]
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        self.pairs.clone().unwrap_or_else(|| {
            let count = self.classes.len();
            (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect()
        })
    }

    /// The range of the secret bytes in an input.
    pub(crate) fn secret(&self) -> std::ops::Range<usize> {
        if self.run.prepared() { Draft::CLASS..Draft::LENGTH } else { 0..self.length }
    }

    /// Writes an input of the class with index `class`.
    pub fn fill(&mut self, class: usize, random: &mut Random, input: &mut [u8]) {
        self.classes[class].fill(random, input);
    }

    /// Calls the function once on `input`. [`Target::fill`] must have filled this input.
    pub fn call(&mut self, input: &mut [u8]) {
        self.run.prepare(input);
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
        assert_eq!(target().untimed().pairs(), []);
    }

    #[test]
    fn a_choice_of_classes_keeps_the_pairs_between_them() {
        let kept = target().only(|name| name != "a");
        assert_eq!(kept.pairs(), [(0, 1)]);
        assert_eq!(kept.classes()[0].name(), "b");
        assert_eq!(target().pair("c", "a").pair("b", "c").only(|name| name != "a").pairs(), [(0, 1)]);
    }
}
