// References to bases, grouped by bucket: digits of all scalars, then two partitions per window by counting. Order
// within a bucket is free, since the affine sum of a bucket does not depend on it.
#include "digits.cuh"
#include "field.cuh"
#include "groups.cuh"
#include "scan.cuh"
#include "segments.cuh"

using namespace cuzk;

namespace {

constexpr uint32_t kBlock = 1024;
constexpr uint32_t kItems = 16; // of one thread in a partition's tile
constexpr uint32_t kTile = kBlock * kItems;
constexpr uint32_t kBatch = 4; // loads of a thread in flight
constexpr uint32_t kMaxLength = 1023; // of a segment

// A window's buckets are numbered by `coarse_bits` high and `fine_bits` low bits. From `narrow_from` on, windows have
// half as many buckets, and one low bit less.
struct Layout {
    uint64_t row;         // references a window has room for
    uint32_t num_scalars;
    uint32_t coarse_bits;
    uint32_t fine_bits;
    uint32_t narrow_from;

    __device__ uint32_t bins() const { return 1u << coarse_bits; }
    __device__ uint32_t buckets() const { return 1u << (coarse_bits + fine_bits); }
    __device__ uint32_t fine_bits_of(uint32_t window) const { return fine_bits - (window < narrow_from ? 0 : 1); }
};

// Bucket of a digit other than 0.
__device__ __forceinline__ uint32_t bucket_of(uint32_t digit) { return (digit & ~kSignBit) - 1; }

// Which bases the terms have: number numbers[i] - first for term i; without numbers, i, with its low `reversed` bits in
// reversed order.
struct BaseNumbers {
    const uint32_t *numbers;
    uint32_t first;
    uint32_t reversed;

    __device__ uint32_t of(uint32_t term) const {
        if (numbers != nullptr)
            return numbers[term] - first;
        return reversed == 0 ? term : __brev(term) >> (32 - reversed);
    }
};

} // namespace

// rows[w][i] = signed digit w of term i, whose scalar is scalars[numbers[i]], or scalars[i] without numbers; scalars
// above half of the modulus are negated first. One thread a term.
extern "C" __global__ void cuzk_digits(uint32_t *rows, const Fr *scalars, const uint32_t *numbers, Layout layout,
                                       Windows windows, uint32_t montgomery) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= layout.num_scalars)
        return;
    Fr scalar = scalars[numbers == nullptr ? i : numbers[i]];
    if (montgomery)
        scalar.from();
    const uint32_t flip = scalar.abs() ? kSignBit : 0;
    uint32_t limbs[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; k++)
        limbs[k] = scalar[k];
#pragma unroll 1
    for (uint32_t w = 0; w < windows.count; w++) {
        const uint32_t digit = signed_digit(limbs, w, windows);
        rows[w * layout.row + i] = digit == 0 ? 0 : digit ^ flip;
    }
#endif
}

// counts[w][bin] += digits per coarse bin. Grid: tiles x windows; shared memory: one counter a bin.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_coarse_count(uint32_t *counts, const uint32_t *rows, Layout layout) {
#ifdef __CUDA_ARCH__
    extern __shared__ uint32_t bins[];
    const uint32_t fine_bits = layout.fine_bits_of(blockIdx.y);
    for (uint32_t b = threadIdx.x; b < layout.bins(); b += kBlock)
        bins[b] = 0;
    __syncthreads();
    const uint32_t *row = rows + blockIdx.y * layout.row;
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t i = blockIdx.x * kTile + k * kBlock + threadIdx.x;
        const uint32_t digit = i < layout.num_scalars ? row[i] : 0;
        if (digit != 0)
            atomicAdd(&bins[bucket_of(digit) >> fine_bits], 1);
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < layout.bins(); b += kBlock)
        if (bins[b] != 0)
            atomicAdd(&counts[(blockIdx.y << layout.coarse_bits) + b], bins[b]);
#endif
}

// Counts become first positions, in `starts` (one more entry than bins) and `cursors`. One block a window.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_coarse_scan(uint32_t *starts, uint32_t *cursors, Layout layout) {
#ifdef __CUDA_ARCH__
    const uint32_t num_bins = 1u << layout.coarse_bits;
    uint32_t *const counts = cursors + blockIdx.x * num_bins;
    uint32_t *const out = starts + blockIdx.x * (num_bins + 1);
    const uint32_t total = exclusive_sums(counts, num_bins);
    for (uint32_t b = threadIdx.x; b < num_bins; b += kBlock)
        out[b] = counts[b];
    if (threadIdx.x == 0)
        out[num_bins] = total;
#endif
}

// Moves references (base number and sign), with the low bits of their buckets above them, to their coarse bin. A block
// sorts its tile in shared memory first, so that a warp writes whole runs: 16 items a thread, and shared memory for
// them and for two words a bin. Grid: tiles x windows of the group that begins at `first_window`.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_coarse_scatter(uint64_t *items, uint32_t *cursors, const uint32_t *rows, const uint32_t *numbers,
                        uint32_t first_base, uint32_t reversed, Layout layout, uint32_t first_window) {
#ifdef __CUDA_ARCH__
    const BaseNumbers bases{numbers, first_base, reversed};
    extern __shared__ uint64_t tile[];
    uint32_t *const bins = reinterpret_cast<uint32_t *>(tile + blockDim.x * kItems);
    uint32_t *const moves = bins + layout.bins();
    const uint32_t window = first_window + blockIdx.y;
    const uint32_t fine_bits = layout.fine_bits_of(window);
    for (uint32_t b = threadIdx.x; b < layout.bins(); b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    const uint32_t *row = rows + window * layout.row;
    const uint32_t first = blockIdx.x * blockDim.x * kItems + threadIdx.x;
    uint32_t digits[kItems], ranks[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t i = first + k * blockDim.x;
        digits[k] = i < layout.num_scalars ? row[i] : 0;
    }
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        if (digits[k] != 0)
            ranks[k] = atomicAdd(&bins[bucket_of(digits[k]) >> fine_bits], 1);
    __syncthreads();
    // A bin's run goes to the place that its cursor reserves; `moves` is how far that is from its place in the tile.
    for (uint32_t b = threadIdx.x; b < layout.bins(); b += blockDim.x)
        moves[b] = bins[b] == 0 ? 0 : atomicAdd(&cursors[(window << layout.coarse_bits) + b], bins[b]);
    __syncthreads();
    const uint32_t total = exclusive_sums(bins, layout.bins());
    for (uint32_t b = threadIdx.x; b < layout.bins(); b += blockDim.x)
        moves[b] -= bins[b];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (digits[k] == 0)
            continue;
        const uint32_t bucket = bucket_of(digits[k]);
        const uint32_t base = bases.of(first + k * blockDim.x) | (digits[k] & kSignBit);
        tile[bins[bucket >> fine_bits] + ranks[k]] = base | (uint64_t(bucket) << 32);
    }
    __syncthreads();
    uint64_t *const out = items + blockIdx.y * layout.row;
    for (uint32_t i = threadIdx.x; i < total; i += blockDim.x) {
        const uint64_t item = tile[i];
        const uint32_t bucket = item >> 32;
        const uint32_t fine = bucket & ((1u << fine_bits) - 1);
        out[moves[bucket >> fine_bits] + i] = uint32_t(item) | (uint64_t(fine) << 32);
    }
#endif
}

// Groups one coarse bin by bucket, into the row whose digits were read before. offsets[w][b] is the place of bucket b's
// first reference in `rows` (one more entry than buckets). Grid: bins x windows of the group; shared memory: one
// counter a bucket, and `capacity` references. A bin with more than those is written without detour.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_fine_sort(uint32_t *rows, uint32_t *offsets, const uint64_t *items, const uint32_t *starts, Layout layout,
                   uint32_t first_window, uint32_t capacity) {
#ifdef __CUDA_ARCH__
    extern __shared__ uint32_t memory[];
    const uint32_t window = first_window + blockIdx.y;
    const uint32_t fine_bits = layout.fine_bits_of(window);
    const uint32_t num_fine = 1u << fine_bits;
    uint32_t *const buckets = memory, *const sorted = memory + (1u << layout.fine_bits);
    const uint32_t *bounds = starts + window * (layout.bins() + 1) + blockIdx.x;
    const uint32_t length = bounds[1] - bounds[0];
    const uint64_t *const in = items + blockIdx.y * layout.row + bounds[0];
    const uint64_t out = window * layout.row + bounds[0];
    for (uint32_t b = threadIdx.x; b < num_fine; b += kBlock)
        buckets[b] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < length; i += kBatch * kBlock) {
        uint32_t own[kBatch];
#pragma unroll
        for (uint32_t k = 0; k < kBatch; k++)
            own[k] = i + k * kBlock < length ? uint32_t(in[i + k * kBlock] >> 32) : ~0u;
#pragma unroll
        for (uint32_t k = 0; k < kBatch; k++)
            if (own[k] != ~0u)
                atomicAdd(&buckets[own[k]], 1);
    }
    __syncthreads();
    exclusive_sums(buckets, num_fine);
    uint32_t *const places = offsets + uint64_t(window) * (layout.buckets() + 1);
    for (uint32_t b = threadIdx.x; b < num_fine; b += kBlock)
        places[(blockIdx.x << fine_bits) + b] = out + buckets[b];
    // Buckets that a narrow window does not have are empty and come last.
    const uint32_t end = window * layout.row + starts[window * (layout.bins() + 1) + layout.bins()];
    const uint32_t missing = layout.buckets() - (layout.bins() << fine_bits);
    for (uint32_t b = blockIdx.x * kBlock + threadIdx.x; b <= missing; b += layout.bins() * kBlock)
        places[layout.buckets() - b] = end;
    __syncthreads();
    const bool fits = length <= capacity;
    for (uint32_t i = threadIdx.x; i < length; i += kBatch * kBlock) {
        uint64_t own[kBatch];
#pragma unroll
        for (uint32_t k = 0; k < kBatch; k++)
            own[k] = i + k * kBlock < length ? in[i + k * kBlock] : ~uint64_t(0);
#pragma unroll
        for (uint32_t k = 0; k < kBatch; k++) {
            if (own[k] == ~uint64_t(0))
                continue;
            const uint32_t place = atomicAdd(&buckets[own[k] >> 32], 1);
            if (fits)
                sorted[place] = uint32_t(own[k]);
            else
                rows[out + place] = uint32_t(own[k]);
        }
    }
    __syncthreads();
    if (fits)
        for (uint32_t i = threadIdx.x; i < length; i += kBlock)
            rows[out + i] = sorted[i];
#endif
}

#ifdef __CUDA_ARCH__
__device__ __forceinline__ void put_infinity(uint4 *points, uint64_t number, uint32_t units) {
    for (uint32_t unit = 0; unit < units; unit++)
        points[number * units + unit] = uint4{0, 0, 0, 0};
}
#endif

// Counters shared by the kernels below and by the summation.
struct Counters {
    uint32_t segments;
    uint32_t partials;
    uint32_t splits;
    uint32_t next; // segment to be summed next
    uint32_t by_length[kMaxLength + 1]; // by falling length: entry kMaxLength - length
};

// Plans the segments of every bucket: how many there are of each length, and which buckets are split. `offsets` has
// `runs` runs of `per_run` buckets, each with one more entry. A bucket's number is its place without those entries.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_plan_segments(Counters *counters, Split *splits, const uint32_t *offsets, uint32_t runs, uint32_t per_run,
                       uint32_t max_length) {
#ifdef __CUDA_ARCH__
    __shared__ uint32_t lengths[kMaxLength + 1];
    for (uint32_t l = threadIdx.x; l <= kMaxLength; l += kBlock)
        lengths[l] = 0;
    __syncthreads();
    const uint32_t bucket = blockIdx.x * kBlock + threadIdx.x;
    if (bucket < runs * per_run) {
        const uint32_t *bounds = offsets + bucket + bucket / per_run;
        const uint32_t length = bounds[1] - bounds[0];
        if (length != 0 && length <= max_length) {
            atomicAdd(&lengths[kMaxLength - length], 1);
        } else if (length != 0) {
            const uint32_t parts = (length + max_length - 1) / max_length;
            const uint32_t longer = length % parts, shorter = parts - longer, base = length / parts;
            atomicAdd(&lengths[kMaxLength - base], shorter);
            if (longer != 0)
                atomicAdd(&lengths[kMaxLength - base - 1], longer);
            const uint32_t first = atomicAdd(&counters->partials, parts);
            splits[atomicAdd(&counters->splits, 1)] = Split{bucket, first, parts, bounds[0], length};
        }
    }
    __syncthreads();
    for (uint32_t l = threadIdx.x; l <= kMaxLength; l += kBlock)
        if (lengths[l] != 0)
            atomicAdd(&counters->by_length[l], lengths[l]);
#endif
}

// Counts per length become first positions. One block.
extern "C" __global__ void __launch_bounds__(kBlock) cuzk_scan_lengths(Counters *counters) {
#ifdef __CUDA_ARCH__
    const uint32_t total = exclusive_sums(counters->by_length, kMaxLength + 1);
    if (threadIdx.x == 0)
        counters->segments = total;
#endif
}

// Writes the segments of buckets that are not split, sorted by falling length. The sum of a bucket without members is
// infinity; a point in `sums` has `units` units of 16 bytes.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_write_segments(Segment *segments, Counters *counters, uint4 *sums, const uint32_t *offsets, uint32_t runs,
                        uint32_t per_run, uint32_t max_length, uint32_t units) {
#ifdef __CUDA_ARCH__
    __shared__ uint32_t lengths[kMaxLength + 1];
    for (uint32_t l = threadIdx.x; l <= kMaxLength; l += kBlock)
        lengths[l] = 0;
    __syncthreads();
    const uint32_t bucket = blockIdx.x * kBlock + threadIdx.x;
    uint32_t start = 0, length = 0, rank = 0;
    if (bucket < runs * per_run) {
        const uint32_t *bounds = offsets + bucket + bucket / per_run;
        start = bounds[0];
        length = bounds[1] - start;
        if (length == 0)
            put_infinity(sums, bucket, units);
        if (length > max_length)
            length = 0;
        if (length != 0)
            rank = atomicAdd(&lengths[kMaxLength - length], 1);
    }
    __syncthreads();
    for (uint32_t l = threadIdx.x; l <= kMaxLength; l += kBlock)
        if (lengths[l] != 0)
            lengths[l] = atomicAdd(&counters->by_length[l], lengths[l]);
    __syncthreads();
    if (length != 0)
        segments[lengths[kMaxLength - length] + rank] = Segment{start, length, bucket};
#endif
}

// Writes the segments of split buckets; their sums go behind the `num_buckets` buckets. Blocks take splits in turn.
extern "C" __global__ void cuzk_write_split_segments(Segment *segments, Counters *counters, const Split *splits,
                                                     uint32_t num_buckets) {
#ifdef __CUDA_ARCH__
    for (uint32_t s = blockIdx.x; s < counters->splits; s += gridDim.x) {
        const Split split = splits[s];
        const uint32_t base = split.length / split.parts, longer = split.length % split.parts;
        for (uint32_t part = threadIdx.x; part < split.parts; part += blockDim.x) {
            const uint32_t length = base + (part < longer ? 1 : 0);
            const uint32_t start = split.start + part * base + (part < longer ? part : longer);
            const uint32_t place = atomicAdd(&counters->by_length[kMaxLength - length], 1);
            segments[place] = Segment{start, length, num_buckets + split.first_partial + part};
        }
    }
#endif
}

// Writes the segments of groups and of columns' parts over references to buckets, and infinity for groups that a narrow
// window does not have. Grid: slots of a window x windows, one thread for a group and a part.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_write_group_segments(Segment *segments, Counters *counters, uint32_t *refs, uint4 *sums, Groups groups,
                              uint32_t units) {
#ifdef __CUDA_ARCH__
    const uint32_t window = blockIdx.y, i = blockIdx.x * kBlock + threadIdx.x;
    if (i == 0 && window == 0) {
        counters->segments = 2 * groups.total();
        counters->next = 0;
    }
    if (i >= groups.slots())
        return;
    if (i >= groups.count(window)) {
        put_infinity(sums, groups.slot(window, i), units);
        return;
    }
    const Segment group = groups.group(window, i), part = groups.part(window, i);
    segments[groups.number(window, i)] = group;
    segments[groups.total() + groups.number(window, i)] = part;
    for (uint32_t k = 0; k < group.length; k++) {
        refs[group.start + k] = groups.member_of_group(window, i, k);
        refs[part.start + k] = groups.member_of_part(window, i, k);
    }
#endif
}

// The parts of a column become its sum. One thread a column and window.
extern "C" __global__ void cuzk_write_column_splits(Split *splits, Counters *counters, Groups groups) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t total = groups.windows << groups.log_group;
    if (i == 0)
        counters->splits = total;
    if (i < total)
        splits[i] = groups.column(i >> groups.log_group, i & (groups.length() - 1));
#endif
}
