//! Times in options: `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`. Each form may end with `Z` for UTC.

/// Reads a time. Returns the seconds since 1970, or `None` if the text is not a time.
pub(super) fn read(text: &str, zone: impl Fn(i64) -> i64) -> Option<i64> {
    let (digits, is_utc) = match text.strip_suffix(['Z', 'z']) {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    if ![8, 12, 14].contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| digits.get(from..to).map_or(Some(0), |digits| digits.parse::<i64>().ok());
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1970 || !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let time = days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    Some(if is_utc { time } else { zone(time) })
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // In this computation a year begins in March, so that the leap day is the last day of the year.
    let year = if month < 3 { year - 1 } else { year };
    let days_before = (153 * ((month + 9) % 12) + 2) / 5;
    365 * year + year / 4 - year / 100 + year / 400 + days_before + day - 1 - 719_468
}
