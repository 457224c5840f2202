//! An optional value. Whether the value is valid is secret.

use core::fmt;

use crate::{Choice, CtAssign, CtEq, CtSelect};

/// An optional value like `Option`. The option always holds a value, and a [`Choice`] states whether the value is
/// valid.
///
/// If the value is not valid, its contents are arbitrary. Closures for [`map`](CtOption::map) and
/// [`and_then`](CtOption::and_then) always run, and must not panic or branch on their arguments.
#[derive(Clone, Copy)]
#[must_use = "whether the value counts has not been checked"]
pub struct CtOption<T> {
    value: T,
    some: Choice,
}

impl<T> CtOption<T> {
    /// Makes an option from `value`. The value is valid if `some` is *yes*.
    #[inline(always)]
    pub fn new(value: T, some: Choice) -> Self {
        Self { value, some }
    }

    /// Returns *yes* if the value counts.
    #[inline(always)]
    pub fn is_some(&self) -> Choice {
        self.some
    }

    /// Returns *yes* if the value is not valid.
    #[inline(always)]
    pub fn is_none(&self) -> Choice {
        !self.some
    }

    /// Applies `f` to the value. `f` runs even if the value is not valid.
    #[inline(always)]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> CtOption<U> {
        CtOption::new(f(self.value), self.some)
    }

    /// Applies `f` to the value. `f` returns an option, and runs even if the value is not valid.
    #[inline(always)]
    pub fn and_then<U>(self, f: impl FnOnce(T) -> CtOption<U>) -> CtOption<U> {
        let next = f(self.value);
        CtOption::new(next.value, next.some & self.some)
    }

    /// Returns an option whose value is valid only if the value of this option is valid and `condition` is *yes*.
    #[inline(always)]
    pub fn filter(self, condition: Choice) -> Self {
        Self::new(self.value, self.some & condition)
    }

    /// Returns the value, and whether the value is valid.
    #[inline(always)]
    pub fn into_parts(self) -> (T, Choice) {
        (self.value, self.some)
    }

    /// Makes public whether the value is valid. Returns the value if it is valid, and `None` otherwise.
    #[inline(always)]
    #[must_use]
    pub fn declassify(self) -> Option<T> {
        if self.some.declassify() { Some(self.value) } else { None }
    }
}

impl<T: CtSelect> CtOption<T> {
    /// Returns the value if it is valid, and `otherwise` if it is not.
    #[inline(always)]
    #[must_use]
    pub fn unwrap_or(self, otherwise: T) -> T {
        self.some.select(self.value, otherwise)
    }

    /// Returns this option if its value is valid, and the other option otherwise.
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
    /// Two options are equal if both values are valid and equal, or if neither value is valid.
    #[inline(always)]
    fn ct_eq(&self, other: &Self) -> Choice {
        let both = self.some & other.some;
        let neither = !(self.some | other.some);
        (both & self.value.ct_eq(&other.value)) | neither
    }
}

impl<T> fmt::Debug for CtOption<T> {
    /// The debug output shows neither the value nor whether the value is valid, because logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CtOption(..)")
    }
}
