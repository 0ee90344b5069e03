//! The embedded fat binaries and the kernels in them, by name.

use crate::host_field::{Coordinate, Fp, Fp2};

/// A fat binary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image(pub(crate) &'static [u8]);

/// Architectures that the fat binaries hold, comma separated.
pub(crate) const ARCHITECTURES: &str = env!("CUZK_CUDA_ARCHITECTURES");

macro_rules! image {
    ($name:literal) => {
        Image(include_bytes!(concat!(
            env!("CUZK_KERNELS"),
            "/",
            $name,
            ".fatbin"
        )))
    };
}

/// All images; a [`Kernel`] names its own by position.
pub(crate) const IMAGES: [Image; 9] = [
    image!("ntt"),
    image!("sort"),
    image!("msm_g1"),
    image!("bitmap"),
    image!("rates"),
    image!("msm_g2"),
    image!("points"),
    image!("rows"),
    image!("fixed"),
];

/// A kernel, and the dynamic shared memory that it may ask for beyond 48 KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) image: usize,
    pub(crate) name: &'static str,
    pub(crate) shared_bytes: i32,
}

const fn kernel(image: usize, name: &'static str) -> Kernel {
    Kernel {
        image,
        name,
        shared_bytes: 0,
    }
}

/// Tile and twiddles of the largest pass of a transform.
const NTT_SHARED_BYTES: i32 = 88 * 1024;

pub(crate) const NTT_RISING: Kernel = Kernel {
    image: 0,
    name: "cuzk_ntt_rising",
    shared_bytes: NTT_SHARED_BYTES,
};
pub(crate) const NTT_FALLING: Kernel = Kernel {
    image: 0,
    name: "cuzk_ntt_falling",
    shared_bytes: NTT_SHARED_BYTES,
};
pub(crate) const NTT_TINY: Kernel = kernel(0, "cuzk_ntt_tiny");
pub(crate) const POWERS: Kernel = kernel(0, "cuzk_powers");
pub(crate) const REVERSE_ORDER: Kernel = kernel(0, "cuzk_reverse_order");

pub(crate) const DIGITS: Kernel = kernel(1, "cuzk_digits");
pub(crate) const COARSE_COUNT: Kernel = kernel(1, "cuzk_coarse_count");
pub(crate) const COARSE_SCAN: Kernel = kernel(1, "cuzk_coarse_scan");
pub(crate) const COARSE_SCATTER: Kernel = kernel(1, "cuzk_coarse_scatter");
pub(crate) const FINE_SORT: Kernel = kernel(1, "cuzk_fine_sort");
pub(crate) const PLAN_SEGMENTS: Kernel = kernel(1, "cuzk_plan_segments");
pub(crate) const SCAN_LENGTHS: Kernel = kernel(1, "cuzk_scan_lengths");
pub(crate) const WRITE_SEGMENTS: Kernel = kernel(1, "cuzk_write_segments");
pub(crate) const WRITE_SPLIT_SEGMENTS: Kernel = kernel(1, "cuzk_write_split_segments");

/// The kernels over one group and their tuning.
#[derive(Debug, Clone, Copy)]
pub struct GroupKernels {
    pub(crate) sum_narrow: Kernel,
    pub(crate) sum_wide: Kernel,
    pub(crate) join_splits: Kernel,
    pub(crate) reduce_buckets: Kernel,
    pub(crate) reduce_partials: Kernel,
    pub(crate) decode: Kernel,
    pub(crate) encode: Kernel,
    /// Blocks of a summation that a multiprocessor runs at once.
    pub(crate) sum_blocks_per_sm: u32,
    /// Segments of a lane in the wide summation.
    pub(crate) wide: usize,
}

/// A group that the device computes in, by the field of its coordinates.
pub trait DeviceGroup: Coordinate {
    /// The kernels over the group.
    #[doc(hidden)]
    const KERNELS: GroupKernels;
}

impl DeviceGroup for Fp {
    const KERNELS: GroupKernels = GroupKernels {
        sum_narrow: kernel(2, "cuzk_g1_sum_narrow"),
        sum_wide: kernel(2, "cuzk_g1_sum_wide"),
        join_splits: kernel(2, "cuzk_g1_join_splits"),
        reduce_buckets: kernel(2, "cuzk_g1_reduce_buckets"),
        reduce_partials: kernel(2, "cuzk_g1_reduce_partials"),
        decode: kernel(6, "cuzk_g1_decode"),
        encode: kernel(6, "cuzk_g1_encode"),
        sum_blocks_per_sm: 4,
        wide: 32,
    };
}

impl DeviceGroup for Fp2 {
    const KERNELS: GroupKernels = GroupKernels {
        sum_narrow: kernel(5, "cuzk_g2_sum_narrow"),
        sum_wide: kernel(5, "cuzk_g2_sum_wide"),
        join_splits: kernel(5, "cuzk_g2_join_splits"),
        reduce_buckets: kernel(5, "cuzk_g2_reduce_buckets"),
        reduce_partials: kernel(5, "cuzk_g2_reduce_partials"),
        decode: kernel(6, "cuzk_g2_decode"),
        encode: kernel(6, "cuzk_g2_encode"),
        sum_blocks_per_sm: 2,
        wide: 8,
    };
}

pub(crate) const BITMAP_COUNT: Kernel = kernel(3, "cuzk_bitmap_count");
pub(crate) const BITMAP_SCAN: Kernel = kernel(3, "cuzk_bitmap_scan");
pub(crate) const BITMAP_REFS: Kernel = kernel(3, "cuzk_bitmap_refs");
pub(crate) const EVEN_SEGMENTS: Kernel = kernel(3, "cuzk_even_segments");

pub(crate) const TABLE_SCALARS: Kernel = kernel(8, "cuzk_table_scalars");
pub(crate) const TABLE_SEGMENTS: Kernel = kernel(8, "cuzk_table_segments");

pub(crate) const RATE_MULTIPLY_ADD: Kernel = kernel(4, "cuzk_rate_multiply_add");
pub(crate) const RATE_MULTIPLY_FP: Kernel = kernel(4, "cuzk_rate_multiply_fp");
pub(crate) const RATE_MULTIPLY_FR: Kernel = kernel(4, "cuzk_rate_multiply_fr");
pub(crate) const RANDOM_SCALARS: Kernel = kernel(4, "cuzk_random_scalars");
pub(crate) const REPEAT: Kernel = kernel(4, "cuzk_repeat");

pub(crate) const EVALUATE: Kernel = kernel(7, "cuzk_evaluate");
pub(crate) const LAST_ROWS: Kernel = kernel(7, "cuzk_last_rows");
