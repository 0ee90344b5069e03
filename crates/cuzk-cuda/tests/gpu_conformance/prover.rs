//! The device as a prover: the suite that every device passes.

use cuzk_cuda::CudaDevice;

use crate::device;

cuzk_testkit::device_conformance!(
    CudaDevice::new(device()),
    #[ignore = "needs an NVIDIA card"]
);
