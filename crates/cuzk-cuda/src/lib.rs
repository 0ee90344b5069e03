#![doc = include_str!("../README.md")]

mod elements;
mod error;
mod host_field;
mod msm_plan;
mod ntt_plan;
mod tables;

#[cfg(feature = "cuda")]
mod bitmap_sum;
#[cfg(feature = "cuda")]
mod device;
#[cfg(feature = "cuda")]
mod device_key;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(feature = "cuda")]
mod evaluation;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "cuda")]
mod multiexp;
#[cfg(feature = "cuda")]
mod prover;
#[cfg(feature = "cuda")]
mod rates;
#[cfg(feature = "cuda")]
mod transform;

pub use elements::{Base, G1Base, G2Base, Partial, RawScalar, Xyzz, combine_windows};
pub use error::CudaError;
pub use host_field::{Coordinate, Fp, Fp2};
pub use msm_plan::{MAX_TERMS, MsmPlan, ReduceStep};
pub use ntt_plan::{MAX_LOG_SIZE, NttPlan, Pass};
pub use tables::{QueryTables, RowTables, TemplateRows, WideTerms};

#[cfg(feature = "cuda")]
pub use {
    bitmap_sum::{Bitmap, BitmapSum, Selection},
    device::{Device, DeviceInfo, devices},
    device_key::DeviceKey,
    driver::DeviceBuffer,
    evaluation::{Evaluation, RowOutputs, WitnessBuffers},
    kernels::DeviceGroup,
    multiexp::{MultiExp, MultiExpTimes, ScalarForm},
    prover::{CudaDevice, PendingTimes, ProofTimes},
    rates::{Rate, fill_random, measure, repeat_bases},
    transform::{Finish, Quotient, Transform, TransformKind, reverse_order},
};
