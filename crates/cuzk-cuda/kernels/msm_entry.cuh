// The entry points over one group. The including file defines CUZK_NAME (a kernel's full name), Field, and the
// tuning: kWidth (segments of a lane, at most), kSumThreads and kSumBlocksPerSm.

#ifdef __CUDA_ARCH__
#define CUZK_BODY(...) __VA_ARGS__
#else
#define CUZK_BODY(...)
#endif

namespace {

constexpr uint32_t kTreeThreads = 64;
constexpr uint32_t kReduceThreads = 128;

} // namespace

// sums[segment.output] = sum of the segment's members, for *count segments sorted by falling length. The grid fills the
// device; segments are handed out through `next`, which begins at 0. `bases` may be sums that no segment puts out.
extern "C" __global__ void __launch_bounds__(kSumThreads, kSumBlocksPerSm)
    CUZK_NAME(sum_segments)(Affine<Field> *sums, const Segment *segments, const uint32_t *count, uint32_t *next,
                            const Affine<Field> *bases, const uint32_t *refs) {
    CUZK_BODY(sum_segments<Field, kWidth, kSumThreads>(sums, segments, *count, next, Members<Field>{bases, refs});)
}

// sums[split.bucket] = sum of the split bucket's partial sums. Blocks take splits in turn.
// Shared memory: one point with denominators per thread.
extern "C" __global__ void __launch_bounds__(kTreeThreads)
    CUZK_NAME(join_splits)(Affine<Field> *sums, const Split *splits, const uint32_t *count, uint32_t num_buckets) {
#ifdef __CUDA_ARCH__
    extern __shared__ uint4 memory[];
    Xyzz<Field> *const tree = reinterpret_cast<Xyzz<Field> *>(memory);
    for (uint32_t s = blockIdx.x; s < *count; s += gridDim.x) {
        const Split split = splits[s];
        const Affine<Field> sum =
            sum_by_block<Field, kTreeThreads>(sums + num_buckets + split.first_partial, split.parts, tree);
        if (threadIdx.x == 0)
            sums[split.bucket] = sum;
    }
#endif
}

// One thread a chunk of 2^log_chunk buckets.
extern "C" __global__ void __launch_bounds__(kReduceThreads)
    CUZK_NAME(reduce_buckets)(Partial<Field> *out, const Affine<Field> *buckets, uint32_t chunks, uint32_t log_chunk) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < chunks)
        reduce_buckets(buckets + (uint64_t(i) << log_chunk), 1u << log_chunk, out[i]);
#endif
}

// One thread a chunk of 2^log_chunk sums of 2^log_unit buckets each.
extern "C" __global__ void __launch_bounds__(kReduceThreads)
    CUZK_NAME(reduce_groups)(Partial<Field> *out, const Affine<Field> *groups, uint32_t chunks, uint32_t log_chunk,
                             uint32_t log_unit) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < chunks)
        reduce_groups(groups + (uint64_t(i) << log_chunk), 1u << log_chunk, log_unit, out[i]);
#endif
}

// One thread a chunk of 2^log_chunk entries whose unit is 2^log_unit.
extern "C" __global__ void __launch_bounds__(kReduceThreads)
    CUZK_NAME(reduce_partials)(Partial<Field> *out, const Partial<Field> *entries, uint32_t chunks,
                               uint32_t log_chunk, uint32_t log_unit) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < chunks)
        reduce_partials(entries + (uint64_t(i) << log_chunk), 1u << log_chunk, log_unit, out[i]);
#endif
}

// Adds the `count` columns of each window, which begin at column_sums + (window << log_buckets), to the first of the
// window's 2^log_entries entries. One thread a window.
extern "C" __global__ void __launch_bounds__(kReduceThreads)
    CUZK_NAME(add_columns)(Partial<Field> *entries, const Affine<Field> *column_sums, uint32_t windows,
                           uint32_t log_buckets, uint32_t log_entries, uint32_t count) {
#ifdef __CUDA_ARCH__
    const uint32_t window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= windows)
        return;
    Partial<Field> columns;
    reduce_buckets(column_sums + (uint64_t(window) << log_buckets), count, columns);
    entries[uint64_t(window) << log_entries].weighted.add(columns.weighted);
#endif
}
