//! Formats times and counts for readers, with a suitable unit and at most three significant digits.

use crate::record::Interval;

pub(crate) const MINUS: &str = "\u{2212}";
/// A non-breaking space, which keeps a number and its unit on one line.
pub(crate) const SPACE: char = '\u{a0}';
/// The text for a missing number.
pub(crate) const NONE: &str = "–";

/// The name of a unit, and the size of the unit in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) worth: f64,
}

const TIMES: [Unit; 5] = [
    Unit { name: "ps", worth: 1e-3 },
    Unit { name: "ns", worth: 1.0 },
    Unit { name: "µs", worth: 1e3 },
    Unit { name: "ms", worth: 1e6 },
    Unit { name: "s", worth: 1e9 },
];

/// Returns the largest unit such that `value` is at least `least` times the unit.
pub(crate) fn pick(units: &[Unit], value: f64, least: f64) -> Unit {
    units.iter().rev().find(|unit| value.abs() >= unit.worth * least).copied().unwrap_or(units[0])
}

/// Returns a suitable unit for times of this size. Times down to 0.1 ns are shown in nanoseconds, so that small
/// differences have the same unit as the times next to them.
pub(crate) fn time_unit(ns: f64) -> Unit {
    if !ns.is_finite() || (0.0995..1.0).contains(&ns.abs()) || ns == 0.0 { TIMES[1] } else { pick(&TIMES, ns, 0.9995) }
}

/// Numbers with this value or a larger value are written with an exponent.
const EXPONENT: f64 = 1e15;

/// Formats a number with this number of decimal places and a real minus sign (U+2212).
pub(crate) fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { NONE.to_owned() } else { format!("{}∞", if value < 0.0 { MINUS } else { "" }) };
    }
    if value.abs() >= EXPONENT {
        return format!("{}{:.2e}", if value < 0.0 { MINUS } else { "" }, value.abs());
    }
    let text = format!("{:.places$}", value.abs());
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::from(if value < 0.0 && !zero { MINUS } else { "" });
    out.push_str(&grouped(whole));
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len() > 4 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Returns the number of decimal places with which `value` has `digits` significant digits.
pub(crate) fn places(value: f64, digits: i32) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    (digits - digits_before).clamp(0, 9) as usize
}

/// Formats a number with three significant digits and without trailing zeros.
pub(crate) fn short(value: f64) -> String {
    trimmed(value, places(value, 3))
}

/// Formats a number with at most this many decimal places and without trailing zeros.
fn trimmed(value: f64, places: usize) -> String {
    let text = fixed(value, places);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats nanoseconds with a suitable unit: `41.2 ns`.
pub(crate) fn time(ns: f64) -> String {
    let unit = time_unit(ns);
    format!("{}{SPACE}{}", short(ns / unit.worth), unit.name)
}

/// Formats an estimate with its interval: `41.2 ns (41 to 41.5)`.
pub(crate) fn interval(value: &Interval) -> String {
    let unit = time_unit(if value.reach().is_finite() { value.reach() } else { value.estimate });
    format!("{}{SPACE}{} ({})", within(value, value.estimate, unit), unit.name, bounds(value, unit))
}

/// Formats an interval without its estimate, for example `41 to 41.5 ns`.
pub(crate) fn span(value: &Interval) -> String {
    let unit = time_unit(value.reach());
    format!("{}{SPACE}{}", bounds(value, unit), unit.name)
}

fn bounds(value: &Interval, unit: Unit) -> String {
    format!("{} to {}", within(value, value.lower, unit), within(value, value.upper, unit))
}

/// Formats one number of an interval. The result has at most three significant digits, and fewer decimal places if the
/// interval is wide.
fn within(value: &Interval, ns: f64, unit: Unit) -> String {
    let most = places(value.reach() / unit.worth, 3) + 1;
    trimmed(ns / unit.worth, places(ns / unit.worth, 3).min(most))
}

pub(crate) fn seconds(seconds: f64) -> String {
    if seconds >= 600.0 { format!("{}{SPACE}min", short(seconds / 60.0)) } else { time(seconds * 1e9) }
}

/// Formats a whole number and separates groups of three digits.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Formats a share as a percentage: `0.3` as `30 %`, `0.987` as `98.7 %`. For a share above 0.5, the result shows two
/// significant digits of the difference to 100 %.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let precise = if (50.0..100.0).contains(&value) { 100.0 - value } else { value };
    let text = fixed(value, places(precise, 2).min(3));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{SPACE}%")
}

/// Formats a p-value.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { fixed(p, places(p, 2).min(4)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_suitable_unit_and_three_digits() {
        for (ns, text) in [
            (0.0123, "12.3 ps"),
            (0.3, "0.3 ns"),
            (41.234, "41.2 ns"),
            (999.96, "1 µs"),
            (1_234_567.0, "1.23 ms"),
            (-2.5, "−2.5 ns"),
            (0.0, "0 ns"),
            (-1e308, "−1.00e299 s"),
            (f64::INFINITY, "∞ ns"),
        ] {
            assert_eq!(time(ns).replace(SPACE, " "), text);
        }
    }

    #[test]
    fn infinite_and_missing_numbers_are_shown_as_such() {
        assert_eq!(fixed(f64::NAN, 2), NONE);
        assert_eq!(fixed(f64::INFINITY, 2), "∞");
        assert_eq!(fixed(-0.0001, 2), "0.00");
    }

    #[test]
    fn intervals_have_one_unit_and_at_most_three_digits() {
        for (lower, estimate, upper, text) in [
            (6.05, 6.25, 6.45, "6.25 ns (6.05 to 6.45)"),
            (13.0, 5488.4, 9516.3, "5.49 µs (0.013 to 9.52)"),
            (-0.012_34, 0.1, 0.2, "0.1 ns (−0.0123 to 0.2)"),
            (-0.000_01, 30.0, 60.123, "30 ns (0 to 60.1)"),
        ] {
            assert_eq!(interval(&Interval { lower, estimate, upper }).replace(SPACE, " "), text);
        }
        assert_eq!(span(&Interval { lower: -4.0, estimate: 0.0, upper: 2.5 }).replace(SPACE, " "), "−4 to 2.5 ns");
    }

    #[test]
    fn percentages_counts_and_p_values_are_formatted() {
        assert_eq!(percent(0.01).replace(SPACE, " "), "1 %");
        assert_eq!(percent(0.0006).replace(SPACE, " "), "0.06 %");
        assert_eq!(percent(0.576).replace(SPACE, " "), "58 %");
        assert_eq!(percent(0.987).replace(SPACE, " "), "98.7 %");
        assert_eq!(percent(0.99).replace(SPACE, " "), "99 %");
        assert_eq!(percent(1.0).replace(SPACE, " "), "100 %");
        assert_eq!(percent(0.999).replace(SPACE, " "), "99.9 %");
        assert_eq!(count(1_234_567).replace('\u{202f}', " "), "1 234 567");
        assert_eq!(probability(0.00001), "< 0.0001");
    }
}
