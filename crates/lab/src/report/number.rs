//! Formats rates, sizes, ranges and intervals for pages.

pub(super) use crate::number::{
    MINUS, NONE, SPACE, Unit, count, fixed, interval, percent, pick, places, probability, seconds, short, time,
    time_unit,
};
use crate::record::Interval;

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

pub(super) fn rate_unit(bytes: f64) -> Unit {
    pick(&RATES, bytes, 0.9995)
}

pub(super) fn unit_of(kind: &str, rate: f64) -> Unit {
    if kind.starts_with("byte") { rate_unit(rate) } else { pick(&OPERATIONS, rate, 0.9995) }
}

/// Formats a range of times in one unit: `41.2 to 41.5 ns`. If both times look equal after rounding, the text contains
/// only one time.
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

/// Formats a ratio as a change in percent: `1.0031` as `+0.31 %`.
pub(super) fn change(ratio: f64) -> String {
    let value = (ratio - 1.0) * 100.0;
    let text = fixed(value, places(value, 2).clamp(1, 2));
    format!("{}{text}{SPACE}%", if text.starts_with(MINUS) { "" } else { "+" })
}

/// Returns the number of decimal places for an interval. With this number of places, the width of the interval has two
/// digits and the estimate has three digits, but there are never more than four places.
pub(super) fn interval_places(interval: &Interval, worth: f64) -> usize {
    let width = (interval.upper - interval.lower).abs() / worth;
    places(width, 2).max(places(interval.estimate / worth, 3)).min(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_sizes_have_a_suitable_unit() {
        assert_eq!(rate(16.3e9).replace(SPACE, " "), "16.3 GB/s");
        assert_eq!(size(65536.0).replace(SPACE, " "), "64 KiB");
    }

    #[test]
    fn ranges_share_a_unit() {
        assert_eq!(times(41.2, 41.5).replace(SPACE, " "), "41.2 to 41.5 ns");
        assert_eq!(times(41.2, 41.2).replace(SPACE, " "), "41.2 ns");
        assert_eq!(times(980.0, 1200.0).replace(SPACE, " "), "0.98 to 1.20 µs");
    }

    #[test]
    fn ratios_are_shown_as_changes() {
        assert_eq!(change(0.9969).replace(SPACE, " "), "−0.31 %");
    }
}
