//! Sizes with units. K, M, G and T, alone or with `iB`, are powers of 1024. The letters K, M, G and T, followed by only
//! `B`, are powers of 1000.

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

pub fn parse(text: &str) -> Result<Size, String> {
    let wrong = || {
        "a size is a number of bytes, or a number with a unit: 512, 4K, 1.5GiB (K and KiB are 1024 bytes, KB is 1000)"
            .to_owned()
    };
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let unit = unit_of(&unit.to_ascii_uppercase()).ok_or_else(wrong)?;
    if whole.is_empty()
        || (number.contains('.') && fraction.is_empty())
        || fraction.len() > 9
        || (unit == 1 && !fraction.is_empty())
    {
        return Err(wrong());
    }
    let scaled: u128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let bytes = scaled.checked_mul(unit).map(|bytes| bytes / 10_u128.pow(fraction.len() as u32));
    // Positions in files are signed 64-bit numbers.
    let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok()).ok_or("more than any file can hold")?;
    Ok(Size(bytes.unsigned_abs()))
}

fn unit_of(name: &str) -> Option<u128> {
    let (prefix, base) = match (name.strip_suffix("IB"), name.strip_suffix('B')) {
        (Some(prefix), _) if !prefix.is_empty() => (prefix, 1024_u128),
        (Some(_), _) => return None,
        (None, Some("")) => return Some(1),
        (None, Some(prefix)) => (prefix, 1000),
        (None, None) => (name, 1024),
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|it| *it == prefix)?;
    Some(base.pow(power as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_what_they_say() {
        for (text, bytes) in [
            ("0", 0),
            ("32", 32),
            ("32B", 32),
            ("4K", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4kb", 4000),
            ("10M", 10 << 20),
            ("1.5G", 3 << 29),
            ("6.7GB", 6_700_000_000),
            ("1T", 1 << 40),
            ("9223372036854775807", i64::MAX as u64),
        ] {
            assert_eq!(parse(text), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn all_else_is_no_size() {
        for text in [
            "",
            "K",
            "iB",
            "32iB",
            "-1",
            "+1",
            "1.5",
            ".5K",
            "1.K",
            "1..5K",
            "1 K",
            "4Q",
            "4KK",
            "0x10",
            "1e3",
            "9223372036854775808",
            "9999999999999999T",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
