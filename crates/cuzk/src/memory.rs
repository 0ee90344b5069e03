//! How much memory did this step need at its worst? The kernel keeps the answer for the whole
//! process (`VmHWM`), and lets a process set it back to the present value through
//! `/proc/self/clear_refs`. Where that is refused, a thread samples `VmRSS`; where there is no
//! `/proc`, the answer is "unknown" and never a made-up number. Resident memory includes the pages
//! of a mapped key file that were touched, for every prover alike.

use std::{
    fs,
    sync::mpsc::{self, RecvTimeoutError},
    thread::JoinHandle,
    time::Duration,
};

use cuzk_server::process::{peak_resident_bytes, resident_bytes};

/// Time between two samples where the kernel's own high-water mark cannot be used.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);
/// What the kernel wants to read in `clear_refs` to set the high-water mark back.
const RESET_HIGH_WATER_MARK: &str = "5";

/// Measures peak resident memory from `start` to `finish`. One at a time: the kernel has one mark.
#[derive(Debug)]
pub(crate) struct PeakMeter(Source);

#[derive(Debug)]
enum Source {
    HighWaterMark,
    /// The thread ends with its peak when the sender is dropped.
    Sampler {
        stop: mpsc::Sender<()>,
        thread: JoinHandle<u64>,
    },
    Unavailable,
}

impl PeakMeter {
    /// Begins a measurement with the best method that this process may use.
    pub(crate) fn start() -> Self {
        let resettable = fs::write("/proc/self/clear_refs", RESET_HIGH_WATER_MARK).is_ok();
        if resettable && peak_resident_bytes().is_some() {
            return Self(Source::HighWaterMark);
        }
        if resident_bytes().is_none() {
            return Self(Source::Unavailable);
        }
        Self(start_sampler())
    }

    /// Peak resident bytes since `start`; `None` where the platform does not tell.
    pub(crate) fn finish(self) -> Option<u64> {
        match self.0 {
            Source::HighWaterMark => peak_resident_bytes(),
            Source::Sampler { stop, thread } => {
                drop(stop);
                thread.join().ok()
            }
            Source::Unavailable => None,
        }
    }
}

fn start_sampler() -> Source {
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let mut peak = 0;
        loop {
            peak = peak.max(resident_bytes().unwrap_or(0));
            if stopped.recv_timeout(SAMPLE_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return peak.max(resident_bytes().unwrap_or(0));
            }
        }
    });
    Source::Sampler { stop, thread }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test for both methods: the high-water mark belongs to the whole process.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_peak_sees_memory_that_is_already_gone_and_a_new_measurement_forgets_it() {
        const BLOCK: usize = 256 << 20;
        let touch = || {
            let block = vec![1_u8; BLOCK];
            std::hint::black_box(
                block
                    .iter()
                    .step_by(4096)
                    .map(|&x| u64::from(x))
                    .sum::<u64>(),
            )
        };
        let meter = PeakMeter::start();
        let exact = matches!(meter.0, Source::HighWaterMark);
        assert_eq!(touch(), (BLOCK / 4096) as u64);
        let with_block = meter.finish().expect("linux tells resident memory");
        let after = PeakMeter::start()
            .finish()
            .expect("linux tells resident memory");
        if exact {
            assert!(with_block >= BLOCK as u64, "{with_block}");
        }
        assert!(after < with_block.max(BLOCK as u64), "{after} {with_block}");

        let sampler = PeakMeter(start_sampler());
        assert!(matches!(sampler.0, Source::Sampler { .. }));
        let kept = std::hint::black_box(vec![1_u8; BLOCK]);
        let sampled = sampler.finish().expect("linux tells resident memory");
        let kept = std::hint::black_box(kept);
        assert!(sampled >= kept.len() as u64, "{sampled}");
    }
}
