//! Formats numbers for readers, with a suitable unit and with the significant digits only.

use crate::record::Interval;

const MINUS: &str = "\u{2212}";
/// Keeps a number and its unit on one line.
const SPACE: char = '\u{a0}';
/// The text for a missing number.
pub(super) const NONE: &str = "–";

/// A unit and its value in the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) worth: f64,
}

const TIMES: [Unit; 5] = [
    Unit { name: "ps", worth: 1e-3 },
    Unit { name: "ns", worth: 1.0 },
    Unit { name: "µs", worth: 1e3 },
    Unit { name: "ms", worth: 1e6 },
    Unit { name: "s", worth: 1e9 },
];
const RATES: [Unit; 5] = [
    Unit { name: "B/s", worth: 1.0 },
    Unit { name: "kB/s", worth: 1e3 },
    Unit { name: "MB/s", worth: 1e6 },
    Unit { name: "GB/s", worth: 1e9 },
    Unit { name: "TB/s", worth: 1e12 },
];
const SIZES: [Unit; 4] = [
    Unit { name: "B", worth: 1.0 },
    Unit { name: "KiB", worth: 1024.0 },
    Unit { name: "MiB", worth: 1_048_576.0 },
    Unit { name: "GiB", worth: 1_073_741_824.0 },
];
const OPERATIONS: [Unit; 4] = [
    Unit { name: "/s", worth: 1.0 },
    Unit { name: "thousand/s", worth: 1e3 },
    Unit { name: "million/s", worth: 1e6 },
    Unit { name: "billion/s", worth: 1e9 },
];

fn pick(units: &[Unit], value: f64, least: f64) -> Unit {
    units.iter().rev().find(|unit| value.abs() >= unit.worth * least).copied().unwrap_or(units[0])
}

/// Returns the unit for times of about this size. Nanoseconds are used down to 0.1 ns, so that small differences have
/// the same unit as the times beside them.
pub(super) fn time_unit(ns: f64) -> Unit {
    if !ns.is_finite() || (0.0995..1.0).contains(&ns.abs()) || ns == 0.0 { TIMES[1] } else { pick(&TIMES, ns, 0.9995) }
}

/// Returns the unit for a rate in bytes per second.
pub(super) fn rate_unit(bytes: f64) -> Unit {
    pick(&RATES, bytes, 0.9995)
}

/// Returns the unit for the rate of a baseline.
pub(super) fn unit_of(kind: &str, rate: f64) -> Unit {
    if kind.starts_with("byte") { rate_unit(rate) } else { pick(&OPERATIONS, rate, 0.9995) }
}

/// Formats a number with this many decimal places and a true minus sign.
pub(super) fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { NONE.to_owned() } else { format!("{}∞", if value < 0.0 { MINUS } else { "" }) };
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

/// Returns the number of decimal places that show `digits` significant digits of `value`.
pub(super) fn places(value: f64, digits: i32) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    (digits - digits_before).clamp(0, 9) as usize
}

/// Formats a number with three significant digits and without trailing zeros.
pub(super) fn short(value: f64) -> String {
    let text = fixed(value, places(value, 3));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats nanoseconds with a suitable unit: `41.2 ns`.
pub(super) fn time(ns: f64) -> String {
    let unit = time_unit(ns);
    format!("{}{SPACE}{}", short(ns / unit.worth), unit.name)
}

/// Formats seconds with a suitable unit.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds >= 600.0 { format!("{}{SPACE}min", short(seconds / 60.0)) } else { time(seconds * 1e9) }
}

/// Formats a range of times in one unit: `41.2 to 41.5 ns`. If both times look equal, only one is shown.
pub(super) fn times(from: f64, to: f64) -> String {
    let unit = time_unit(from.abs().max(to.abs()));
    let gap = (to - from) / unit.worth;
    let digits = places(to / unit.worth, 3).max(places(gap, 1).min(places(to / unit.worth, 3) + 1));
    let (low, high) = (fixed(from / unit.worth, digits), fixed(to / unit.worth, digits));
    if low == high { format!("{low}{SPACE}{}", unit.name) } else { format!("{low} to {high}{SPACE}{}", unit.name) }
}

/// Formats a rate in bytes per second.
pub(super) fn rate(bytes: f64) -> String {
    let unit = rate_unit(bytes);
    format!("{}{SPACE}{}", short(bytes / unit.worth), unit.name)
}

/// Formats a number of bytes.
pub(super) fn size(bytes: f64) -> String {
    let unit = pick(&SIZES, bytes, 1.0);
    format!("{}{SPACE}{}", short(bytes / unit.worth), unit.name)
}

/// Formats a frequency.
pub(super) fn hertz(hertz: f64) -> String {
    let (worth, name) = if hertz >= 1e9 { (1e9, "GHz") } else { (1e6, "MHz") };
    format!("{}{SPACE}{name}", fixed(hertz / worth, places(hertz / worth, 4)))
}

/// Formats a whole number with its digits in groups of three.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Formats a share as a percentage: `0.3` as `30 %`.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = if value.abs() >= 99.0 { 4 } else { 2 };
    let text = fixed(value, places(value, digits).min(3));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{SPACE}%")
}

/// Formats a ratio as a change in percent: `1.0031` as `+0.31 %`.
pub(super) fn change(ratio: f64) -> String {
    let value = (ratio - 1.0) * 100.0;
    let text = fixed(value, places(value, 2).clamp(1, 2));
    format!("{}{text}{SPACE}%", if text.starts_with(MINUS) { "" } else { "+" })
}

/// Formats a p-value.
pub(super) fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { fixed(p, places(p, 2).min(4)) }
}

/// Returns the number of decimal places for an interval: two digits of the width, three of the estimate, at most four.
pub(super) fn interval_places(interval: &Interval, worth: f64) -> usize {
    let width = (interval.upper - interval.lower).abs() / worth;
    places(width, 2).max(places(interval.estimate / worth, 3)).min(4)
}

/// Formats an estimate with its interval: `41.2 [41.0, 41.5] ns`.
pub(super) fn interval(value: &Interval) -> String {
    let largest = value.reach();
    let unit = time_unit(if largest.is_finite() { largest } else { value.estimate });
    interval_in(value, unit)
}

/// Formats an estimate with its interval in a given unit.
pub(super) fn interval_in(value: &Interval, unit: Unit) -> String {
    let digits = places((value.upper - value.lower).abs() / unit.worth, 2).min(4);
    let show = |ns: f64| fixed(ns / unit.worth, digits);
    format!("{} [{}, {}]{SPACE}{}", show(value.estimate), show(value.lower), show(value.upper), unit.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_suitable_unit_and_three_digits() {
        for (ns, text) in [
            (0.0123, "12.3 ps"),
            (0.3, "0.3 ns"),
            (41.234, "41.2 ns"),
            (999.96, "1 µs"),
            (1_234_567.0, "1.23 ms"),
            (-2.5, "−2.5 ns"),
            (0.0, "0 ns"),
        ] {
            assert_eq!(time(ns).replace(SPACE, " "), text);
        }
        assert_eq!(rate(16.3e9).replace(SPACE, " "), "16.3 GB/s");
        assert_eq!(size(65536.0).replace(SPACE, " "), "64 KiB");
    }

    #[test]
    fn infinite_and_missing_numbers_are_shown_as_such() {
        assert_eq!(fixed(f64::NAN, 2), NONE);
        assert_eq!(fixed(f64::INFINITY, 2), "∞");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(time(f64::INFINITY).replace(SPACE, " "), "∞ ns");
    }

    #[test]
    fn ranges_share_a_unit() {
        assert_eq!(times(41.2, 41.5).replace(SPACE, " "), "41.2 to 41.5 ns");
        assert_eq!(times(41.2, 41.2).replace(SPACE, " "), "41.2 ns");
        assert_eq!(times(980.0, 1200.0).replace(SPACE, " "), "0.98 to 1.20 µs");
    }

    #[test]
    fn percentages_counts_changes_and_p_values_are_formatted() {
        assert_eq!(percent(0.01).replace(SPACE, " "), "1 %");
        assert_eq!(percent(0.0006).replace(SPACE, " "), "0.06 %");
        assert_eq!(percent(0.999).replace(SPACE, " "), "99.9 %");
        assert_eq!(count(1_234_567).replace('\u{202f}', " "), "1 234 567");
        assert_eq!(change(0.9969).replace(SPACE, " "), "−0.31 %");
        assert_eq!(probability(0.00001), "< 0.0001");
    }
}
