//! The text of the progress bar, for a terminal of any width.

/// The width of the widest bar, in columns.
const WIDEST: usize = 40;
/// The width of the narrowest bar, with its brackets.
const NARROWEST: usize = 8;
/// The number of columns that are reserved for the name, if the name is that long.
const NAME: usize = 16;

/// Returns a line that is narrower than `columns`, so that the terminal does not wrap it. If there are too few columns,
/// the line first loses the bar, then a part of the name, then the rate.
pub fn line(columns: usize, name: &str, done: u64, total: Option<u64>, rate: f64) -> String {
    let room = columns.saturating_sub(1);
    let (amount, left) = match total {
        Some(total) => (format!("{}/{}", bytes(done), bytes(total)), Some(left(total.saturating_sub(done), rate))),
        None => (bytes(done), None),
    };
    let rate = format!("{}/s", bytes(rate as u64));
    let whole: Vec<_> = [Some(amount.clone()), Some(rate), left.clone()].into_iter().flatten().collect();
    let mut figures = whole.join(", ");
    let least = width(name).min(NAME);
    if least + 1 + figures.len() > room {
        figures = [Some(amount), left].into_iter().flatten().collect::<Vec<_>>().join(", ");
    }
    let for_name = room.saturating_sub(figures.len() + 1);
    if for_name < 4 {
        // The texts from long to short: the amounts with the remaining time, only the amounts, only the number of
        // processed bytes.
        let parts = [figures.as_str(), figures.split(", ").next().unwrap_or_default(), &bytes(done)];
        return parts.into_iter().find(|part| part.len() <= room).unwrap_or_default().to_owned();
    }
    let name = shortened(name, for_name);
    let for_bar = room.saturating_sub(width(&name) + figures.len() + 2).min(WIDEST);
    match total.filter(|_| for_bar >= NARROWEST) {
        Some(total) => format!("{name} {} {figures}", bar(for_bar - 2, done, total)),
        None => format!("{name} {figures}"),
    }
}

fn bar(columns: usize, done: u64, total: u64) -> String {
    let part = if total == 0 { 1.0 } else { (done as f64 / total as f64).min(1.0) };
    let full = (part * columns as f64) as usize;
    let head = if full < columns { ">" } else { "" };
    format!("[{:columns$}]", format!("{}{head}", "=".repeat(full)))
}

/// Returns the maximum width of a text, in columns.
fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns the maximum width of a character: one column for Latin letters, two for other characters.
fn columns_of(character: char) -> usize {
    if character < '\u{300}' || character == '\u{2026}' { 1 } else { 2 }
}

/// Shortens a name that is too long, by removing its middle.
fn shortened(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head: String = within(name.chars(), room / 2);
    let tail: String = within(name.chars().rev(), room - width(&head));
    format!("{head}\u{2026}{}", tail.chars().rev().collect::<String>())
}

/// Returns as many of the first characters as fit into the columns.
fn within(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += columns_of(*character);
            used <= columns
        })
        .collect()
}

/// Returns the remaining time at this rate, as text.
fn left(bytes: u64, rate: f64) -> String {
    let seconds = bytes as f64 / rate;
    if !seconds.is_finite() || seconds >= 360_000.0 {
        return "? left".into();
    }
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s left"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02} left"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02} left"),
    }
}

/// Returns a number of bytes as text, with up to three digits.
pub fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // 999.5 would be shown as 1000.
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if value < 9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const MIB: f64 = 1_048_576.0;

    #[test]
    fn the_line_fits_every_terminal() {
        let names = [
            "a",
            "report.pdf",
            "a very long name of a backup that was made in November.tar.dpn",
            "\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}\u{5b57}",
        ];
        for columns in 0..200 {
            for name in names {
                for (done, total) in
                    [(0, Some(0)), (GIB, Some(4 * GIB)), (5, Some(1)), (u64::MAX, None), (9, Some(u64::MAX))]
                {
                    for rate in [0.0, 1.0, 873.0 * MIB, 1e18] {
                        let line = line(columns, name, done, total, rate);
                        assert!(width(&line) < columns.max(1), "{columns}: {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn forty_columns_show_name_amount_and_time() {
        let at = |columns| line(columns, "backup-of-november.tar", 1825 << 20, Some(4 * GIB), 100.0 * MIB);
        assert_eq!(at(40), "backu\u{2026}er.tar 1.8 GiB/4.0 GiB, 23 s left");
        assert_eq!(at(80), "backup-of-november.tar [=======>        ] 1.8 GiB/4.0 GiB, 100 MiB/s, 23 s left");
        assert_eq!(at(24), "1.8 GiB/4.0 GiB");
        assert_eq!(at(12), "1.8 GiB");
        assert_eq!(line(40, "pipe", 5 << 20, None, MIB), "pipe 5.0 MiB, 1.0 MiB/s");
    }

    #[test]
    fn figures_can_be_read() {
        for (number, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KiB"),
            (10 << 10, "10 KiB"),
            (1 << 40, "1.0 TiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
        for (bytes, rate, text) in [
            (0, 1.0, "0 s left"),
            (1, 10.0, "1 s left"),
            (90, 1.0, "1:30 left"),
            (7325, 1.0, "2:02:05 left"),
            (1, 0.0, "? left"),
            (u64::MAX, 1.0, "? left"),
        ] {
            assert_eq!(left(bytes, rate), text);
        }
    }
}
