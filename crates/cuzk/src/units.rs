//! Numbers for people: counts with separators, times and sizes with the unit that fits. JSON never
//! passes through here; it carries plain seconds and bytes.

use std::time::Duration;

/// `2687921` as `2,687,921`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 partition`, `2,000 partitions`.
pub(crate) fn counted(value: u64, what: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(value))
}

/// A time with two or three significant digits: `4.1 ms`, `12.3 s`, `2 min 05 s`.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 0.001 {
        format!("{:.0} us", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!(
            "{:.0} min {:02.0} s",
            (seconds.round() / 60.0).floor(),
            seconds.round() % 60.0
        )
    }
}

/// A size in binary units: `192 B`, `45.1 MiB`, `1.04 GiB`.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(scaled < 100.0) + usize::from(scaled < 10.0);
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// A size that may not be known on this platform.
pub(crate) fn bytes_or_unknown(value: Option<u64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_separated_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(130_278_541), "130,278,541");
    }

    #[test]
    fn one_of_something_has_no_plural() {
        assert_eq!(counted(1, "partition"), "1 partition");
        assert_eq!(counted(0, "partition"), "0 partitions");
        assert_eq!(counted(2_349, "sector"), "2,349 sectors");
    }

    #[test]
    fn times_choose_their_unit() {
        assert_eq!(time(Duration::ZERO), "0 us");
        assert_eq!(time(Duration::from_micros(4_130)), "4.1 ms");
        assert_eq!(time(Duration::from_millis(12_340)), "12.3 s");
        assert_eq!(time(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn sizes_choose_their_unit() {
        assert_eq!(bytes(192), "192 B");
        assert_eq!(bytes(1_114_707_768), "1.04 GiB");
        assert_eq!(bytes(47_299_128), "45.1 MiB");
        assert_eq!(bytes_or_unknown(None), "unknown");
    }
}
