//! What an error means for the calls that come after it.

use crate::CudaError;

/// The driver's number for lack of memory.
pub(crate) const OUT_OF_MEMORY: u32 = 2;

/// What an error tells about the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It may succeed when more memory is free.
    Memory,
    /// It fails every time with the same arguments.
    Request,
    /// It may succeed.
    Passing,
    /// All calls fail until the process ends.
    Lasting,
}

impl CudaError {
    /// Whose fault it is.
    pub(crate) const fn fault(&self) -> Fault {
        match self {
            Self::OutOfMemory { .. } | Self::HostMemory { .. } => Fault::Memory,
            Self::Driver { code, .. } | Self::Kernel { code, .. } => fault_of_code(*code),
            Self::PassGivenUp => Fault::Passing,
            Self::NotBuilt
            | Self::NoDriver
            | Self::NoDevice { .. }
            | Self::Architecture { .. }
            | Self::Length { .. }
            | Self::TransformSize { .. }
            | Self::TooManyVariables { .. }
            | Self::TooManyTerms { .. }
            | Self::KeyRead { .. }
            | Self::BadPoint { .. } => Fault::Request,
        }
    }
}

/// By the driver's documentation of `CUresult`: some errors leave the process in a state in which any further CUDA work returns
/// the same error.
const fn fault_of_code(code: u32) -> Fault {
    match code {
        OUT_OF_MEMORY => Fault::Memory,
        // DEINITIALIZED, DEVICE_UNAVAILABLE, NO_DEVICE, INVALID_CONTEXT, ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE, CONTAINED
        4 | 46 | 100 | 201 | 214 | 220 | 226
        // ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, CONTEXT_IS_DESTROYED, ASSERT
        | 700 | 702 | 709 | 710
        // HARDWARE_STACK_ERROR, ILLEGAL_INSTRUCTION, MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE, INVALID_PC, LAUNCH_FAILED
        | 714..=719
        // TENSOR_MEMORY_LEAK, MPS_CLIENT_TERMINATED, EXTERNAL_DEVICE, UNKNOWN
        | 721 | 810 | 911 | 999 => Fault::Lasting,
        _ => Fault::Passing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_failed_while_it_ran_ends_the_card_and_lack_of_memory_does_not() {
        let driver = |code| CudaError::Driver {
            call: "cuStreamSynchronize",
            code,
            name: String::new(),
        };
        for code in [700, 716, 719, 999] {
            assert_eq!(driver(code).fault(), Fault::Lasting, "{code}");
        }
        assert_eq!(driver(2).fault(), Fault::Memory);
        assert_eq!(driver(1).fault(), Fault::Passing);
        assert_eq!(CudaError::PassGivenUp.fault(), Fault::Passing);
        let terms = CudaError::TooManyTerms { terms: 2, max: 1 };
        assert_eq!(terms.fault(), Fault::Request);
    }
}
