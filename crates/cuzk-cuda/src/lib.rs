#![doc = include_str!("../README.md")]

#[cfg(any(feature = "cuda", test))]
mod background;
mod device_info;
mod elements;
mod error;
#[cfg(any(feature = "cuda", test))]
mod fault;
mod footprint;
mod host_field;
#[cfg(any(feature = "cuda", test))]
mod joined;
mod kernel_table;
#[cfg(any(feature = "cuda", test))]
mod lobby;
mod msm_plan;
mod ntt_plan;
mod pass_plan;
#[cfg(any(feature = "cuda", test))]
mod rooms;
#[cfg(any(feature = "cuda", test))]
mod spares;
#[cfg(any(feature = "cuda", test))]
mod sync;
mod tables;
#[cfg(any(feature = "cuda", test))]
mod turn;

#[cfg(feature = "cuda")]
mod bench;
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
mod fixed_base;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "cuda")]
mod key_check;
#[cfg(feature = "cuda")]
mod multiexp;
#[cfg(feature = "cuda")]
mod prover;
#[cfg(feature = "cuda")]
mod rates;
#[cfg(feature = "cuda")]
mod setup;
#[cfg(feature = "cuda")]
mod transform;

#[cfg(not(feature = "cuda"))]
pub use device_info::devices;
pub use device_info::{DeviceInfo, KernelCode};
pub use elements::{Base, G1Base, G2Base, Partial, RawScalar, Xyzz, combine_windows};
pub use error::CudaError;
pub use footprint::{key_bytes, resident_bytes};
pub use host_field::{Coordinate, Fp, Fp2};
pub use kernel_table::{BenchPlan, CopyLine, EvaluationLine, KernelTable, RateLine, TimeLine};
pub use msm_plan::{MAX_TERMS, MsmPlan, ReduceStep};
pub use ntt_plan::{MAX_LOG_SIZE, NttPlan, Pass};
pub use pass_plan::{PassPlan, ProofSizes, Streaming};
pub use tables::{QueryPart, QueryTables, RowTables, TemplateRows, WideTerms};

#[cfg(feature = "cuda")]
pub use {
    bench::{EvaluatedCircuit, bench_kernels},
    bitmap_sum::{Bitmap, BitmapSum, Selection},
    device::{Device, devices},
    device_key::DeviceKey,
    driver::DeviceBuffer,
    evaluation::{Evaluation, RowOutputs, WitnessBuffers},
    kernels::DeviceGroup,
    multiexp::{MultiExp, MultiExpTimes, ScalarForm},
    prover::{CudaDevice, PendingTimes, ProofTimes},
    rates::{Rate, fill_random, measure, repeat_bases},
    setup::DevicePoints,
    transform::{Finish, Quotient, Transform, TransformKind, reverse_order},
};
