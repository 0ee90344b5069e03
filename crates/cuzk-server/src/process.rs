//! What does the system say about this process: its memory and its processor time? Where it does not tell, nothing is made up.

use std::{fs, time::Duration};

/// How many of the units of `/proc/PID/stat` are a second, on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Bytes that are resident now, touched pages of mapped files included.
pub fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// The most resident bytes since the process started, or since somebody set the kernel's mark back.
pub fn peak_resident_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// Processor time of all threads, those that ended included, in steps of 10 ms.
pub fn cpu_time() -> Option<Duration> {
    parse_stat(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// One field of `/proc/self/status`, which counts in kB.
fn status_bytes(field: &str) -> Option<u64> {
    parse_status(&fs::read_to_string("/proc/self/status").ok()?, field)
}

fn parse_status(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn parse_stat(stat: &str) -> Option<Duration> {
    // The second field is the name in parentheses, and a name may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    let ticks = user.checked_add(system)?;
    Some(Duration::from_millis(
        ticks.checked_mul(1000 / TICKS_PER_SECOND)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_in_bytes_and_anything_else_is_unknown() {
        let status = "Name:\tcuzk\nVmHWM:\t   21312 kB\nVmRSS:\t 100 kB\n";
        assert_eq!(parse_status(status, "VmHWM:"), Some(21_312 * 1024));
        assert_eq!(parse_status(status, "VmPeak:"), None);
        assert_eq!(parse_status("VmHWM:\t12 MB\n", "VmHWM:"), None);
    }

    #[test]
    fn processor_time_is_that_of_user_and_system_whatever_the_process_is_called() {
        let stat = "7 (a) 1 2) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 3 4 20 0 5 0 77 1 1";
        assert_eq!(parse_stat(stat), Some(Duration::from_secs(3)));
        assert_eq!(parse_stat("7 (a) S 1 7"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_resident_and_never_more_than_at_its_peak() {
        let resident = resident_bytes().expect("Linux tells");
        assert!(resident > 0);
        // The kernel gathers both counts from its processors at different moments.
        assert!(peak_resident_bytes().expect("Linux tells") >= resident / 2);
        assert!(cpu_time().is_some());
    }
}
