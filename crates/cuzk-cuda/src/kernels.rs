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

impl Kernel {
    /// Those of all images, in no order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let groups = [Fp::KERNELS, Fp2::KERNELS];
        let of_groups = groups.into_iter().flat_map(GroupKernels::kernels);
        WITHOUT_GROUP.iter().copied().chain(of_groups)
    }
}

const fn kernel(image: Image, name: &'static str) -> Kernel {
    with_shared(image, name, 0)
}

const fn with_shared(image: Image, name: &'static str, shared_bytes: i32) -> Kernel {
    Kernel {
        image,
        name,
        shared_bytes,
    }
}

/// As much shared memory as the card gives a block.
const ALL_SHARED_BYTES: i32 = i32::MAX;
/// Tile and twiddles of the largest pass of a transform.
const NTT_SHARED_BYTES: i32 = 88 * 1024;

/// Names the kernels that do not compute in a group, and lists them.
macro_rules! kernels {
    ($($constant:ident = $kernel:expr;)+) => {
        $(pub(crate) const $constant: Kernel = $kernel;)+

        /// The kernels that do not compute in a group.
        const WITHOUT_GROUP: &[Kernel] = &[$($constant),+];
    };
}

kernels! {
    NTT_RISING = with_shared(Image::Ntt, "cuzk_ntt_rising", NTT_SHARED_BYTES);
    NTT_FALLING = with_shared(Image::Ntt, "cuzk_ntt_falling", NTT_SHARED_BYTES);
    NTT_TINY = kernel(Image::Ntt, "cuzk_ntt_tiny");
    POWERS = kernel(Image::Ntt, "cuzk_powers");
    REVERSE_ORDER = kernel(Image::Ntt, "cuzk_reverse_order");

    DIGITS = kernel(Image::Sort, "cuzk_digits");
    COARSE_COUNT = kernel(Image::Sort, "cuzk_coarse_count");
    COARSE_SCAN = kernel(Image::Sort, "cuzk_coarse_scan");
    COARSE_SCATTER = with_shared(Image::Sort, "cuzk_coarse_scatter", ALL_SHARED_BYTES);
    FINE_SORT = with_shared(Image::Sort, "cuzk_fine_sort", ALL_SHARED_BYTES);
    PLAN_SEGMENTS = kernel(Image::Sort, "cuzk_plan_segments");
    SCAN_LENGTHS = kernel(Image::Sort, "cuzk_scan_lengths");
    WRITE_SEGMENTS = kernel(Image::Sort, "cuzk_write_segments");
    WRITE_GROUP_SEGMENTS = kernel(Image::Sort, "cuzk_write_group_segments");
    WRITE_COLUMN_SPLITS = kernel(Image::Sort, "cuzk_write_column_splits");
    WRITE_SPLIT_SEGMENTS = kernel(Image::Sort, "cuzk_write_split_segments");

    BITMAP_COUNT = kernel(Image::Bitmap, "cuzk_bitmap_count");
    BITMAP_SCAN = kernel(Image::Bitmap, "cuzk_bitmap_scan");
    BITMAP_REFS = kernel(Image::Bitmap, "cuzk_bitmap_refs");
    EVEN_SEGMENTS = kernel(Image::Bitmap, "cuzk_even_segments");

    TABLE_SCALARS = kernel(Image::Fixed, "cuzk_table_scalars");
    TABLE_SEGMENTS = kernel(Image::Fixed, "cuzk_table_segments");

    RATE_MULTIPLY_ADD = kernel(Image::Rates, "cuzk_rate_multiply_add");
    RATE_MULTIPLY_FP = kernel(Image::Rates, "cuzk_rate_multiply_fp");
    RATE_MULTIPLY_FR = kernel(Image::Rates, "cuzk_rate_multiply_fr");
    RANDOM_SCALARS = kernel(Image::Rates, "cuzk_random_scalars");
    REPEAT = kernel(Image::Rates, "cuzk_repeat");

    EVALUATE = kernel(Image::Rows, "cuzk_evaluate");
    LAST_ROWS = kernel(Image::Rows, "cuzk_last_rows");
}

/// The kernels over one group and their tuning.
#[derive(Debug, Clone, Copy)]
pub struct GroupKernels {
    pub(crate) sum_segments: Kernel,
    pub(crate) join_splits: Kernel,
    pub(crate) reduce_buckets: Kernel,
    pub(crate) reduce_groups: Kernel,
    pub(crate) reduce_partials: Kernel,
    pub(crate) add_columns: Kernel,
    pub(crate) decode: Kernel,
    pub(crate) encode: Kernel,
    /// Blocks of a summation that a multiprocessor runs at once.
    pub(crate) sum_blocks_per_sm: u32,
    /// Segments of a lane in a summation, at most.
    pub(crate) width: usize,
}

impl GroupKernels {
    fn kernels(self) -> [Kernel; 8] {
        let Self {
            sum_segments,
            join_splits,
            reduce_buckets,
            reduce_groups,
            reduce_partials,
            add_columns,
            decode,
            encode,
            sum_blocks_per_sm: _,
            width: _,
        } = self;
        [
            sum_segments,
            join_splits,
            reduce_buckets,
            reduce_groups,
            reduce_partials,
            add_columns,
            decode,
            encode,
        ]
    }
}

/// A group that the device computes in, by the field of its coordinates.
pub trait DeviceGroup: Coordinate {
    /// The kernels over the group.
    #[doc(hidden)]
    const KERNELS: GroupKernels;
}

impl DeviceGroup for Fp {
    const KERNELS: GroupKernels = GroupKernels {
        sum_segments: kernel(Image::MsmG1, "cuzk_g1_sum_segments"),
        join_splits: kernel(Image::MsmG1, "cuzk_g1_join_splits"),
        reduce_buckets: kernel(Image::MsmG1, "cuzk_g1_reduce_buckets"),
        reduce_groups: kernel(Image::MsmG1, "cuzk_g1_reduce_groups"),
        reduce_partials: kernel(Image::MsmG1, "cuzk_g1_reduce_partials"),
        add_columns: kernel(Image::MsmG1, "cuzk_g1_add_columns"),
        decode: kernel(Image::Points, "cuzk_g1_decode"),
        encode: kernel(Image::Points, "cuzk_g1_encode"),
        sum_blocks_per_sm: 5,
        width: 32,
    };
}

impl DeviceGroup for Fp2 {
    const KERNELS: GroupKernels = GroupKernels {
        sum_segments: kernel(Image::MsmG2, "cuzk_g2_sum_segments"),
        join_splits: kernel(Image::MsmG2, "cuzk_g2_join_splits"),
        reduce_buckets: kernel(Image::MsmG2, "cuzk_g2_reduce_buckets"),
        reduce_groups: kernel(Image::MsmG2, "cuzk_g2_reduce_groups"),
        reduce_partials: kernel(Image::MsmG2, "cuzk_g2_reduce_partials"),
        add_columns: kernel(Image::MsmG2, "cuzk_g2_add_columns"),
        decode: kernel(Image::Points, "cuzk_g2_decode"),
        encode: kernel(Image::Points, "cuzk_g2_encode"),
        sum_blocks_per_sm: 3,
        width: 24,
    };
}
