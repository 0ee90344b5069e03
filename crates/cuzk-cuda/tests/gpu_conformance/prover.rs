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
    use cuzk_cuda::{CudaDevice, PassPlan, Streaming};

    use crate::device;

    /// Fewer bases than the queries of most small circuits have.
    const PLAN: PassPlan = PassPlan {
        max_g1: 40,
        quotients: 2,
        proofs: 4,
    };

    cuzk_testkit::device_conformance!(
        CudaDevice::streaming(device(), Streaming::Planned(PLAN)),
        #[ignore = "needs an NVIDIA card"]
    );
}
