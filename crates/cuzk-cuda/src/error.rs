//! What can go wrong between the host and a card.

use cuzk_groth16::Section;
use thiserror::Error;

/// A failed operation of the CUDA device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The program has no kernels.
    #[error(
        "this program was built without the feature cuda, so it has no code for NVIDIA cards; build it with --features \
         cuda, or choose the device cpu"
    )]
    NotBuilt,
    /// The machine has no NVIDIA driver, so no card can be used.
    #[error(
        "no NVIDIA driver on this machine: libcuda was not found; install the driver, or choose the device cpu"
    )]
    NoDriver,
    /// There is no card with this number.
    #[error("no CUDA device {ordinal}: the driver reports {}", found(*count))]
    NoDevice {
        /// The number that was asked for.
        ordinal: usize,
        /// Cards that the driver reports.
        count: usize,
    },
    /// None of the embedded kernels runs on this card.
    #[error("the kernels were built for sm_{built}, device {ordinal} is sm_{major}{minor}: {name}")]
    Architecture {
        /// The card's number.
        ordinal: usize,
        /// Architectures of the embedded kernels.
        built: &'static str,
        /// Major compute capability of the card.
        major: i32,
        /// Minor compute capability of the card.
        minor: i32,
        /// The driver's name for the error.
        name: String,
    },
    /// A call of the driver failed.
    #[error("{call} failed: {name} ({code})")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The driver's error number.
        code: u32,
        /// The driver's name for it.
        name: String,
    },
    /// A kernel could not be found or launched. A kernel that fails while it runs is reported by the wait after it.
    #[error("kernel {kernel}: {name} ({code})")]
    Kernel {
        /// Name of the kernel.
        kernel: &'static str,
        /// The driver's error number.
        code: u32,
        /// The driver's name for it.
        name: String,
    },
    /// The card has too little free memory.
    #[error("{wanted} bytes of device memory wanted, {used} of at most {limit} in use")]
    OutOfMemory {
        /// Bytes of the allocation that failed.
        wanted: u64,
        /// Bytes in use by this process's buffers.
        used: u64,
        /// The device's limit for them.
        limit: u64,
    },
    /// The host has too little memory that the card may read and write.
    #[error("{wanted} bytes of page-locked host memory are not to be had")]
    HostMemory {
        /// Bytes of the allocation that failed.
        wanted: usize,
    },
    /// A vector has the wrong length.
    #[error("{what} has {got} elements, expected {expected}")]
    Length {
        /// The vector.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that the operation needs.
        expected: usize,
    },
    /// The transform is larger than the field's roots of unity or the tables allow.
    #[error("transforms of 2^{log_size} elements are not supported, at most 2^{max}")]
    TransformSize {
        /// Logarithm of the size that was asked for.
        log_size: u32,
        /// Logarithm of the largest size.
        max: u32,
    },
    /// The circuit has more variables or rows than the kernels can number.
    #[error("circuits of {variables} variables or rows are not supported, at most {max}")]
    TooManyVariables {
        /// Variables of one kind, or rows.
        variables: usize,
        /// The most that fit.
        max: usize,
    },
    /// The multiplication has more terms than its references can number.
    #[error("{terms} terms are too many for one multiplication, at most {max}")]
    TooManyTerms {
        /// Terms that were asked for.
        terms: usize,
        /// Terms that fit.
        max: usize,
    },
    /// A key's file could not be read.
    #[error("{section} of the key cannot be read: {kind}")]
    KeyRead {
        /// The vector of the key.
        section: Section,
        /// What the system says.
        kind: std::io::ErrorKind,
        /// The system's number for it, where it has one.
        os_error: Option<i32>,
    },
    /// The pass over a key that a proof was part of ended without a result for it.
    #[error("the pass over the key was given up")]
    PassGivenUp,
    /// A key holds bytes that encode no point of the curve.
    #[error("{section} of the key holds no point of its curve at index {index}")]
    BadPoint {
        /// The vector of the key.
        section: Section,
        /// The first such position in it.
        index: u32,
    },
}

/// What there is instead of the card that was asked for, and what to do.
fn found(count: usize) -> String {
    match count {
        0 => "none; choose the device cpu".to_owned(),
        1 => "only device 0; choose that, or the device cpu".to_owned(),
        _ => format!(
            "devices 0 to {}; choose one of them, or the device cpu",
            count - 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_cannot_be_used_comes_with_a_way_out() {
        let missing = |ordinal, count| CudaError::NoDevice { ordinal, count };
        for (error, words) in [
            (CudaError::NotBuilt, "build it with --features cuda"),
            (CudaError::NoDriver, "install the driver"),
            (missing(0, 0), "no CUDA device 0: the driver reports none"),
            (missing(1, 1), "only device 0"),
            (missing(9, 2), "devices 0 to 1; choose one of them"),
        ] {
            let text = error.to_string();
            assert!(text.contains(words), "{text}");
            assert!(text.ends_with("the device cpu"), "{text}");
        }
    }
}
