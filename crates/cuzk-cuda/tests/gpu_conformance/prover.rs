//! The device as a prover: the suite that every device passes, with keys on the card and with keys that pass through it.

mod resident {
    use cuzk_cuda::CudaDevice;

    use crate::device;

    cuzk_testkit::device_conformance!(
        CudaDevice::new(device()),
        #[ignore = "needs an NVIDIA card"]
    );
}

mod streamed {
    use cuzk_cuda::CudaDevice;

    use crate::device;

    /// Fewer bases than the queries of most small circuits have.
    const MAX_BASES: usize = 40;

    cuzk_testkit::device_conformance!(
        CudaDevice::streaming(device(), MAX_BASES),
        #[ignore = "needs an NVIDIA card"]
    );
}
