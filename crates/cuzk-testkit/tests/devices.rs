//! Every device of the workspace passes the conformance suite, and bellperson agrees with them.

use std::num::NonZeroUsize;

use cuzk_groth16::{CpuDevice, CpuSettings};

/// A CPU device with these many threads in its two halves.
fn cpu(threads: usize, tail_threads: usize) -> CpuDevice {
    let count = |threads| NonZeroUsize::new(threads).expect("a device has threads");
    let settings = CpuSettings {
        threads: count(threads),
        tail_threads: count(tail_threads),
        ..CpuSettings::default()
    };
    CpuDevice::new(settings).expect("the system starts a few threads")
}

mod reference {
    cuzk_testkit::device_conformance!(cuzk_groth16::ReferenceDevice);
}

mod cpu_with_one_thread {
    cuzk_testkit::device_conformance!(super::cpu(1, 1));
}

mod cpu_with_more_threads_than_rows {
    cuzk_testkit::device_conformance!(super::cpu(5, 3));
}
