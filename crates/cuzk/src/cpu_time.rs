//! How much processor time did this step need? Elapsed time says little on a machine that is shared. The kernel counts the
//! time that each thread ran, in nanoseconds, in `schedstat`; where it does not, elapsed time has to do.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// Measures the time that the current thread runs.
#[derive(Debug)]
pub(crate) struct ThreadTimer {
    start: Instant,
    ran_before: Option<Duration>,
}

impl ThreadTimer {
    /// Begins a measurement.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            ran_before: ran(),
        }
    }

    /// Processor time since `start`, which must have been on the same thread; elapsed time where the platform does not
    /// count it.
    pub(crate) fn finish(self) -> Duration {
        let counted = self
            .ran_before
            .zip(ran())
            .map(|(before, now)| now.saturating_sub(before));
        counted.unwrap_or_else(|| self.start.elapsed())
    }
}

/// Time that this thread ran.
fn ran() -> Option<Duration> {
    let text = fs::read_to_string(Path::new("/proc/thread-self/schedstat")).ok()?;
    parse(&text)
}

fn parse(schedstat: &str) -> Option<Duration> {
    let nanoseconds = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_is_the_time_in_nanoseconds() {
        assert_eq!(
            parse("2500000000 17 3\n"),
            Some(Duration::from_millis(2500))
        );
        assert_eq!(parse("\n"), None);
        assert_eq!(parse("x 1 2"), None);
    }

    #[test]
    fn waiting_is_not_counted_and_work_is() {
        let timer = ThreadTimer::start();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waited = receiver.recv_timeout(Duration::from_millis(50));
        drop(sender);
        assert!(waited.is_err());
        let idle = timer.finish();
        if ran().is_some() {
            assert!(idle < Duration::from_millis(40), "{idle:?}");
        }
        let timer = ThreadTimer::start();
        let mut sum = 0_u64;
        for index in 0..3_000_000_u64 {
            sum = std::hint::black_box(sum ^ index.wrapping_mul(sum | 1));
        }
        assert!(timer.finish() > Duration::ZERO, "{sum}");
    }
}
