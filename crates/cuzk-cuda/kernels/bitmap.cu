// Sums of the bases that a bitmap selects: set bits become references, references become segments of even length.
#include "scan.cuh"
#include "segments.cuh"

using namespace cuzk;

namespace {

constexpr uint32_t kBlock = 1024;
constexpr uint32_t kWords = 4; // of 32 bits, by one thread
constexpr uint32_t kMinLength = 8;
constexpr uint32_t kJoin = 1024; // partial sums joined by one block

// 32 positions of a bitmap of which only some have a base.
struct Selected {
    uint32_t mask;
    uint32_t before; // positions with a base in the words before
};

#ifdef __CUDA_ARCH__

// The set bits of a word that have a base; without a selection all do. Bits from `num_bits` on do not count.
__device__ __forceinline__ uint32_t set_bits(const uint32_t *words, const Selected *selection, uint32_t word,
                                             uint32_t num_bits) {
    if (word >= (1u << 27) || word * 32 >= num_bits)
        return 0;
    const uint32_t left = num_bits - word * 32;
    const uint32_t bits = words[word] & (left >= 32 ? ~0u : (1u << left) - 1);
    return selection == nullptr ? bits : bits & selection[word].mask;
}

#endif

} // namespace

// counts[block] = set bits among the block's 4096 words.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_bitmap_count(uint32_t *counts, const uint32_t *words, const Selected *selection, uint32_t num_bits) {
#ifdef __CUDA_ARCH__
    __shared__ uint32_t sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    uint32_t own = 0;
    for (uint32_t k = 0; k < kWords; k++) {
        const uint32_t word = (blockIdx.x * kBlock + threadIdx.x) * kWords + k;
        own += __popc(set_bits(words, selection, word, num_bits));
    }
    own = __reduce_add_sync(~0u, own);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = sum;
#endif
}

// Counts become first positions; *total is the number of set bits. One block.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_bitmap_scan(uint32_t *counts, uint32_t *total, uint32_t blocks) {
#ifdef __CUDA_ARCH__
    const uint32_t sum = exclusive_sums(counts, blocks);
    if (threadIdx.x == 0)
        *total = sum;
#endif
}

// refs[k] = base of the k-th set bit, from base `first` on; geometry as for the counts.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_bitmap_refs(uint32_t *refs, const uint32_t *starts, const uint32_t *words, const Selected *selection,
                     uint32_t num_bits, uint32_t first) {
#ifdef __CUDA_ARCH__
    __shared__ uint32_t positions[kBlock];
    uint32_t own[kWords], count = 0;
    for (uint32_t k = 0; k < kWords; k++) {
        const uint32_t word = (blockIdx.x * kBlock + threadIdx.x) * kWords + k;
        own[k] = set_bits(words, selection, word, num_bits);
        count += __popc(own[k]);
    }
    positions[threadIdx.x] = count;
    exclusive_sums(positions, kBlock);
    uint32_t place = starts[blockIdx.x] + positions[threadIdx.x];
    for (uint32_t k = 0; k < kWords; k++) {
        const uint32_t word = (blockIdx.x * kBlock + threadIdx.x) * kWords + k;
        for (uint32_t bits = own[k]; bits != 0; bits &= bits - 1) {
            const uint32_t bit = __ffs(bits) - 1;
            const uint32_t number = selection == nullptr ? word * 32 + bit
                                                         : selection[word].before +
                                                               __popc(selection[word].mask & ((1u << bit) - 1));
            refs[place++] = first + number;
        }
    }
#endif
}

// What a bitmap sum does next: segments, then two levels of joins. Sums lie as [result, level 2, level 1].
struct EvenWork {
    uint32_t total; // references
    uint32_t segments;
    uint32_t joins;
    uint32_t one;
    uint32_t next;
};

// Cuts `work->total` references into at most `target` segments, and plans the joins of their sums: level 2 begins at
// sum 1 and level 1 at sum 1 + max_joins. One thread a segment; the grid covers `target`.
extern "C" __global__ void cuzk_even_segments(Segment *segments, Split *joins, Split *last, EvenWork *work,
                                              uint32_t target, uint32_t max_joins) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t total = work->total;
    const uint32_t even = (total + target - 1) / target;
    const uint32_t length = even < kMinLength ? kMinLength : even;
    const uint32_t count = (total + length - 1) / length;
    const uint32_t num_joins = (count + kJoin - 1) / kJoin;
    if (i < count)
        segments[i] = Segment{i * length, min(length, total - i * length), 1 + max_joins + i};
    if (i < num_joins)
        joins[i] = Split{1 + i, i * kJoin, min(kJoin, count - i * kJoin), 0, 0};
    if (i == 0) {
        *last = Split{0, 0, num_joins, 0, 0};
        work->segments = count;
        work->joins = num_joins;
        work->one = 1;
        work->next = 0;
    }
#endif
}
