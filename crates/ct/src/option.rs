//! A value that may be there, without showing whether it is.

use crate::{Choice, CtAssign, CtEq, CtSelect};
use core::fmt;

/// Like `Option`, but the value is always present and whether it counts is a [`Choice`].
///
/// A value that does not count may be anything: closures given to [`map`](CtOption::map) and [`and_then`](CtOption::and_then) always run,
/// and must not panic or branch on what they get.
#[derive(Clone, Copy)]
#[must_use = "whether the value counts has not been looked at"]
pub struct CtOption<T> {
    value: T,
    some: Choice,
}

impl<T> CtOption<T> {
    /// `value`, which counts if `some`.
    #[inline(always)]
    pub fn new(value: T, some: Choice) -> Self {
        Self { value, some }
    }

    /// *Yes* if the value counts.
    #[inline(always)]
    pub fn is_some(&self) -> Choice {
        self.some
    }

    /// *Yes* if it does not.
    #[inline(always)]
    pub fn is_none(&self) -> Choice {
        !self.some
    }

    /// `f` of the value; `f` runs either way.
    #[inline(always)]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> CtOption<U> {
        CtOption::new(f(self.value), self.some)
    }

    /// `f` of the value, which may decline; `f` runs either way.
    #[inline(always)]
    pub fn and_then<U>(self, f: impl FnOnce(T) -> CtOption<U>) -> CtOption<U> {
        let next = f(self.value);
        CtOption::new(next.value, next.some & self.some)
    }

    /// Keeps the value only if `condition` holds too.
    #[inline(always)]
    pub fn filter(self, condition: Choice) -> Self {
        Self::new(self.value, self.some & condition)
    }

    /// The value and whether it counts, to go on with by hand.
    #[inline(always)]
    pub fn into_parts(self) -> (T, Choice) {
        (self.value, self.some)
    }

    /// Makes public whether there is a value, and gives it out if so.
    #[inline(always)]
    #[must_use]
    pub fn declassify(self) -> Option<T> {
        if self.some.declassify() { Some(self.value) } else { None }
    }
}

impl<T: CtSelect> CtOption<T> {
    /// The value, or `otherwise` if it does not count.
    #[inline(always)]
    #[must_use]
    pub fn unwrap_or(self, otherwise: T) -> T {
        self.some.select(self.value, otherwise)
    }

    /// This one if it counts, else the other.
    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self::new(self.some.select(self.value, other.value), self.some | other.some)
    }
}

impl<T: CtSelect> CtSelect for CtOption<T> {
    #[inline(always)]
    fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self {
        Self::new(choice.select(then.value, otherwise.value), choice.select(then.some, otherwise.some))
    }
}

impl<T: CtAssign> CtAssign for CtOption<T> {
    #[inline(always)]
    fn ct_assign(&mut self, source: &Self, choice: Choice) {
        self.value.ct_assign(&source.value, choice);
        self.some.ct_assign(&source.some, choice);
    }

    #[inline(always)]
    fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
        self.value.ct_swap(&mut other.value, choice);
        self.some.ct_swap(&mut other.some, choice);
    }
}

impl<T: CtEq> CtEq for CtOption<T> {
    /// Equal if both count and agree, or if neither counts.
    #[inline(always)]
    fn ct_eq(&self, other: &Self) -> Choice {
        let both = self.some & other.some;
        let neither = !(self.some | other.some);
        (both & self.value.ct_eq(&other.value)) | neither
    }
}

impl<T> fmt::Debug for CtOption<T> {
    /// Never shows the value or whether there is one: logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CtOption(..)")
    }
}
