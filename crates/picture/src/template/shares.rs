//! Computes which values each data line carries.

use super::{LINE, Order};

/// Divides the values of a part among the data lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    order: Order,
    values: u64,
    lines: u64,
}

impl Shares {
    /// Makes the division. The lines must have enough samples for all values.
    pub(super) fn new(order: Order, values: u64, lines: u64) -> Self {
        debug_assert!(values <= lines * LINE as u64);
        Self { order, values, lines }
    }

    /// Returns the index of the first value of a line, or, for a line after the last line, the number of values.
    pub(super) fn first(&self, line: u64) -> u64 {
        match self.order {
            Order::InOrder => (line * LINE as u64).min(self.values),
            // The product can need 128 bits.
            Order::Keyed if self.lines > 0 => {
                (u128::from(line) * u128::from(self.values) / u128::from(self.lines)) as u64
            }
            Order::Keyed => 0,
        }
    }

    /// Returns the line of a value.
    pub(super) fn line(&self, value: u64) -> u64 {
        match self.order {
            Order::InOrder => value / LINE as u64,
            Order::Keyed => (((u128::from(value) + 1) * u128::from(self.lines) - 1) / u128::from(self.values)) as u64,
        }
    }

    /// Returns how many values each line carries, beginning with line `line`.
    pub(super) fn from(&self, line: u64) -> Walk {
        match self.order {
            Order::InOrder => {
                Walk { rest: Some(self.values - self.first(line)), quotient: 0, step: 0, sum: 0, lines: 1 }
            }
            Order::Keyed => {
                let lines = self.lines.max(1);
                Walk {
                    rest: None,
                    quotient: self.values / lines,
                    step: self.values % lines,
                    sum: (u128::from(line) * u128::from(self.values) % u128::from(lines)) as u64,
                    lines,
                }
            }
        }
    }
}

/// Goes through the lines, and returns the number of values that each line carries.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// If lines are filled in order, the number of values that the remaining lines carry.
    rest: Option<u64>,
    quotient: u64,
    step: u64,
    /// The fraction of a value that is carried over from the previous lines, multiplied by `lines`.
    sum: u64,
    lines: u64,
}

impl Walk {
    /// Returns how many values the next line carries: 0 to 64.
    #[inline(always)]
    pub(super) fn next(&mut self) -> usize {
        if let Some(rest) = &mut self.rest {
            let count = (*rest).min(LINE as u64);
            *rest -= count;
            return count as usize;
        }
        self.sum += self.step;
        let more = self.sum >= self.lines;
        self.sum -= if more { self.lines } else { 0 };
        (self.quotient + u64::from(more)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_share_all_values_without_gaps() {
        for order in [Order::Keyed, Order::InOrder] {
            for lines in [1, 2, 3, 7, 64, 1000] {
                for values in [0, 1, 2, lines - 1, lines, lines + 1, lines * 13 + 5, lines * 64 - 1, lines * 64] {
                    let values = values.min(lines * 64);
                    let shares = Shares::new(order, values, lines);
                    let mut walk = shares.from(0);
                    for line in 0..lines {
                        let (first, next) = (shares.first(line), shares.first(line + 1));
                        assert_eq!(walk.next() as u64, next - first);
                        assert!(next - first <= 64);
                        assert!((first..next).all(|value| shares.line(value) == line));
                        assert_eq!(shares.from(line).next() as u64, next - first);
                    }
                    assert_eq!((shares.first(0), shares.first(lines)), (0, values));
                }
            }
        }
    }
}
