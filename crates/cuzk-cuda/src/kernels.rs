//! The embedded fat binaries and the kernels in them, by name.

use crate::host_field::{Coordinate, Fp, Fp2};

/// Architectures that the fat binaries hold, comma separated.
pub(crate) const ARCHITECTURES: &str = env!("CUZK_CUDA_ARCHITECTURES");

/// Names the images, each with the kernel file that it was compiled from.
macro_rules! images {
    ($($image:ident = $file:literal),+ $(,)?) => {
        /// A fat binary: what nvcc made of one kernel file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Image {
            $(#[doc = concat!("`", $file, ".cu`.")] $image),+
        }

        impl Image {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$image),+];

            /// The binary.
            pub(crate) const fn bytes(self) -> &'static [u8] {
                match self {
                    $(Self::$image => {
                        include_bytes!(concat!(env!("CUZK_KERNELS"), "/", $file, ".fatbin"))
                    })+
                }
            }
        }
    };
}

images! {
    Ntt = "ntt",
    Sort = "sort",
    MsmG1 = "msm_g1",
    MsmG2 = "msm_g2",
    Bitmap = "bitmap",
    Points = "points",
    Fixed = "fixed",
    Rows = "rows",
    Rates = "rates",
}

/// A kernel, and the dynamic shared memory that it may ask for beyond 48 KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) image: Image,
    pub(crate) name: &'static str,
    pub(crate) shared_bytes: i32,
}

const fn kernel(image: Image, name: &'static str) -> Kernel {
    Kernel {
        image,
        name,
        shared_bytes: 0,
    }
}

/// Tile and twiddles of the largest pass of a transform.
const NTT_SHARED_BYTES: i32 = 88 * 1024;

pub(crate) const NTT_RISING: Kernel = Kernel {
    image: Image::Ntt,
    name: "cuzk_ntt_rising",
    shared_bytes: NTT_SHARED_BYTES,
};
pub(crate) const NTT_FALLING: Kernel = Kernel {
    image: Image::Ntt,
    name: "cuzk_ntt_falling",
    shared_bytes: NTT_SHARED_BYTES,
};
pub(crate) const NTT_TINY: Kernel = kernel(Image::Ntt, "cuzk_ntt_tiny");
pub(crate) const POWERS: Kernel = kernel(Image::Ntt, "cuzk_powers");
pub(crate) const REVERSE_ORDER: Kernel = kernel(Image::Ntt, "cuzk_reverse_order");

pub(crate) const DIGITS: Kernel = kernel(Image::Sort, "cuzk_digits");
pub(crate) const COARSE_COUNT: Kernel = kernel(Image::Sort, "cuzk_coarse_count");
pub(crate) const COARSE_SCAN: Kernel = kernel(Image::Sort, "cuzk_coarse_scan");
pub(crate) const COARSE_SCATTER: Kernel = kernel(Image::Sort, "cuzk_coarse_scatter");
pub(crate) const FINE_SORT: Kernel = kernel(Image::Sort, "cuzk_fine_sort");
pub(crate) const PLAN_SEGMENTS: Kernel = kernel(Image::Sort, "cuzk_plan_segments");
pub(crate) const SCAN_LENGTHS: Kernel = kernel(Image::Sort, "cuzk_scan_lengths");
pub(crate) const WRITE_SEGMENTS: Kernel = kernel(Image::Sort, "cuzk_write_segments");
pub(crate) const WRITE_SPLIT_SEGMENTS: Kernel = kernel(Image::Sort, "cuzk_write_split_segments");

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
        sum_narrow: kernel(Image::MsmG1, "cuzk_g1_sum_narrow"),
        sum_wide: kernel(Image::MsmG1, "cuzk_g1_sum_wide"),
        join_splits: kernel(Image::MsmG1, "cuzk_g1_join_splits"),
        reduce_buckets: kernel(Image::MsmG1, "cuzk_g1_reduce_buckets"),
        reduce_partials: kernel(Image::MsmG1, "cuzk_g1_reduce_partials"),
        decode: kernel(Image::Points, "cuzk_g1_decode"),
        encode: kernel(Image::Points, "cuzk_g1_encode"),
        sum_blocks_per_sm: 4,
        wide: 32,
    };
}

impl DeviceGroup for Fp2 {
    const KERNELS: GroupKernels = GroupKernels {
        sum_narrow: kernel(Image::MsmG2, "cuzk_g2_sum_narrow"),
        sum_wide: kernel(Image::MsmG2, "cuzk_g2_sum_wide"),
        join_splits: kernel(Image::MsmG2, "cuzk_g2_join_splits"),
        reduce_buckets: kernel(Image::MsmG2, "cuzk_g2_reduce_buckets"),
        reduce_partials: kernel(Image::MsmG2, "cuzk_g2_reduce_partials"),
        decode: kernel(Image::Points, "cuzk_g2_decode"),
        encode: kernel(Image::Points, "cuzk_g2_encode"),
        sum_blocks_per_sm: 2,
        wide: 8,
    };
}

pub(crate) const BITMAP_COUNT: Kernel = kernel(Image::Bitmap, "cuzk_bitmap_count");
pub(crate) const BITMAP_SCAN: Kernel = kernel(Image::Bitmap, "cuzk_bitmap_scan");
pub(crate) const BITMAP_REFS: Kernel = kernel(Image::Bitmap, "cuzk_bitmap_refs");
pub(crate) const EVEN_SEGMENTS: Kernel = kernel(Image::Bitmap, "cuzk_even_segments");

pub(crate) const TABLE_SCALARS: Kernel = kernel(Image::Fixed, "cuzk_table_scalars");
pub(crate) const TABLE_SEGMENTS: Kernel = kernel(Image::Fixed, "cuzk_table_segments");

pub(crate) const RATE_MULTIPLY_ADD: Kernel = kernel(Image::Rates, "cuzk_rate_multiply_add");
pub(crate) const RATE_MULTIPLY_FP: Kernel = kernel(Image::Rates, "cuzk_rate_multiply_fp");
pub(crate) const RATE_MULTIPLY_FR: Kernel = kernel(Image::Rates, "cuzk_rate_multiply_fr");
pub(crate) const RANDOM_SCALARS: Kernel = kernel(Image::Rates, "cuzk_random_scalars");
pub(crate) const REPEAT: Kernel = kernel(Image::Rates, "cuzk_repeat");

pub(crate) const EVALUATE: Kernel = kernel(Image::Rows, "cuzk_evaluate");
pub(crate) const LAST_ROWS: Kernel = kernel(Image::Rows, "cuzk_last_rows");
