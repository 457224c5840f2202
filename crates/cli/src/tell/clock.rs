//! The text of times: in UTC, or in the time zone of this machine.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{Offset, TimeZone};

use deadpan_pack::Time;

/// A day and a time of day in UTC.
pub struct Clock {
    year: i64,
    month: u32,
    day: u32,
    second: u32,
    nanosecond: u32,
}

impl Clock {
    pub fn at(time: Time) -> Self {
        let (year, month, day) = date(time.seconds.div_euclid(86_400));
        Self { year, month, day, second: time.seconds.rem_euclid(86_400) as u32, nanosecond: time.nanoseconds }
    }

    /// Returns the time in the zone of this machine: `2001-02-03 05:05:06 +0100`.
    pub fn local(time: Time) -> impl fmt::Display {
        Self::within(&chrono::Local, time)
    }

    /// Returns the time in a zone. If the year is too large for the calculation in the zone, returns the time in UTC.
    fn within(zone: &impl TimeZone, time: Time) -> impl fmt::Display {
        let known = zone.timestamp_opt(time.seconds, 0).single();
        let east = known.map_or(0, |known| known.offset().fix().local_minus_utc());
        fmt::from_fn(move |f| {
            let clock = Self::at(Time { seconds: time.seconds.saturating_add(east.into()), ..time });
            let (sign, minutes) = (if east < 0 { '-' } else { '+' }, east.unsigned_abs() / 60);
            write!(f, "{clock} {sign}{:02}{:02}", minutes / 60, minutes % 60)
        })
    }

    /// `2001-02-03T04:05:06.000000007Z`.
    pub fn exact(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            let Self { year, month, day, second, nanosecond } = self;
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}Z")
        })
    }
}

/// `2001-02-03 04:05:06`.
impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, second, .. } = self;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        if !(0..=9999).contains(year) {
            return write!(f, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        }
        // The code writes the digits itself, without the formatting macros: a listing has millions of times, and
        // formatting took longer than the rest of the listing.
        let mut text = *b"0000-00-00 00:00:00";
        let fields = [
            (0, *year as u32 / 100),
            (2, *year as u32 % 100),
            (5, *month),
            (8, *day),
            (11, hour),
            (14, minute),
            (17, second),
        ];
        for (at, number) in fields {
            text[at] += (number / 10) as u8;
            text[at + 1] += (number % 10) as u8;
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

/// Returns the year, month and day of a number of days since the beginning of 1970. The calculation begins each year in
/// March, so that the leap day is the last day of the year.
fn date(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let in_march = (month + 2) % 12 + 1;
    (era * 400 + year + i64::from(in_march <= 2), in_march as u32, (day - (153 * month + 2) / 5 + 1) as u32)
}

/// Returns a time as whole seconds since 1970, rounded down, and the remaining nanoseconds.
pub fn since_1970(time: SystemTime) -> Time {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => {
            Time { seconds: after.as_secs().try_into().unwrap_or(i64::MAX), nanoseconds: after.subsec_nanos() }
        }
        Err(before) => {
            let before = before.duration();
            let up = i64::from(before.subsec_nanos() > 0);
            let seconds = 0_i64.saturating_sub_unsigned(before.as_secs()).saturating_sub(up);
            Time { seconds, nanoseconds: (1_000_000_000 - before.subsec_nanos()) % 1_000_000_000 }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shown(seconds: i64, nanoseconds: u32) -> (String, String) {
        let clock = Clock::at(Time { seconds, nanoseconds });
        (clock.to_string(), clock.exact().to_string())
    }

    #[test]
    fn known_times() {
        for (seconds, nanoseconds, short, exact) in [
            (0, 0, "1970-01-01 00:00:00", "1970-01-01T00:00:00.000000000Z"),
            (-1, 999_999_999, "1969-12-31 23:59:59", "1969-12-31T23:59:59.999999999Z"),
            (981_173_106, 7, "2001-02-03 04:05:06", "2001-02-03T04:05:06.000000007Z"),
            (951_782_400, 0, "2000-02-29 00:00:00", "2000-02-29T00:00:00.000000000Z"),
            (4_107_542_399, 0, "2100-02-28 23:59:59", "2100-02-28T23:59:59.000000000Z"),
            (4_107_542_400, 0, "2100-03-01 00:00:00", "2100-03-01T00:00:00.000000000Z"),
            (253_402_300_800, 0, "10000-01-01 00:00:00", "10000-01-01T00:00:00.000000000Z"),
        ] {
            assert_eq!(shown(seconds, nanoseconds), (short.into(), exact.into()));
        }
        assert!(shown(i64::MIN, 0).0.starts_with("-29227702"), "no overflow");
        assert!(shown(i64::MAX, 0).0.starts_with("29227702"), "no overflow");
    }

    #[test]
    fn a_time_in_a_zone_has_its_distance_from_utc() {
        let east = |seconds| chrono::FixedOffset::east_opt(seconds).unwrap();
        for (seconds, zone, shown) in [
            (981_173_106, east(3600), "2001-02-03 05:05:06 +0100"),
            (0, east(-12_600), "1969-12-31 20:30:00 -0330"),
            (-1, east(0), "1969-12-31 23:59:59 +0000"),
        ] {
            assert_eq!(Clock::within(&zone, Time { seconds, nanoseconds: 0 }).to_string(), shown);
        }
        let far = Clock::local(Time { seconds: i64::MAX, nanoseconds: 0 }).to_string();
        assert!(far.ends_with(" +0000"), "{far}");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date(-800_000);
        for days in -799_999..800_000 {
            let (year, month, day) = date(days);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let first = |year, month| (year, month, 1) == (year, month, day);
            let follows = (year, month, day) == (before.0, before.1, before.2 + 1)
                || first(before.0, before.1 + 1) && month == before.1 + 1
                || (year, month, day) == (before.0 + 1, 1, 1) && before.1 == 12;
            let longest = match month {
                2 => 28 + u32::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            assert!(follows && (1..=12).contains(&month) && (1..=longest).contains(&day), "{days}");
            assert!(day != 1 || before.2 >= 28, "{days}");
            before = (year, month, day);
        }
    }

    #[test]
    fn times_before_1970() {
        let before = |duration| since_1970(UNIX_EPOCH - duration);
        assert_eq!(before(Duration::new(5, 0)), Time { seconds: -5, nanoseconds: 0 });
        assert_eq!(before(Duration::new(5, 1)), Time { seconds: -6, nanoseconds: 999_999_999 });
        assert_eq!(since_1970(UNIX_EPOCH + Duration::new(5, 1)), Time { seconds: 5, nanoseconds: 1 });
    }
}
