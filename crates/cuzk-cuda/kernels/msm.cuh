// Kernels of a multi-scalar multiplication over one group; msm_g1.cu and its sisters name them.
#pragma once

#include "field.cuh"
#include "reduce.cuh"
#include "segments.cuh"

#ifdef __CUDA_ARCH__

namespace cuzk {

// A lane's products in local memory. Shared memory would halve the traffic, but has room for half as many segments a
// lane, and the inversions then cost more than the traffic saves.
template <class F, uint32_t kWidth>
struct LocalProducts {
    F products[kWidth];

    __device__ F get(uint32_t k) const { return products[k]; }
    __device__ void put(uint32_t k, const F &product) { products[k] = product; }
};

// The inverse of a value of each thread of a block. An inversion costs a warp as much for one lane as for all, so threads
// of the same lane share one, and the warps take turns with it. `shared` has room for a value per thread, which the caller
// does not touch between calls; no value is zero.
template <class F, uint32_t kThreads>
__device__ __forceinline__ F inverse_by_block(const F &value, F *shared, uint32_t turn) {
    constexpr uint32_t kWarps = kThreads / 32;
    const uint32_t lane = threadIdx.x % 32;
    shared[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x / 32 == turn % kWarps) {
        F before[kWarps];
        F product = shared[lane];
#pragma unroll 1
        for (uint32_t warp = 1; warp < kWarps; warp++) {
            before[warp] = product;
            product = times(product, shared[32 * warp + lane]);
        }
        F inverse = inverse_by_pairs(product);
#pragma unroll 1
        for (uint32_t warp = kWarps - 1; warp > 0; warp--) {
            const F own = shared[32 * warp + lane];
            shared[32 * warp + lane] = times(inverse, before[warp]);
            inverse = times(inverse, own);
        }
        shared[lane] = inverse;
    }
    __syncthreads();
    return shared[threadIdx.x];
}

// Blocks take segments in turn.
template <class F, uint32_t kWidth, uint32_t kThreads>
__device__ __forceinline__ void sum_segments(Affine<F> *sums, const Segment *segments, uint32_t count,
                                             uint32_t *next, const Members<F> &members) {
    __shared__ uint4 memory[kThreads * sizeof(F) / sizeof(uint4)];
    F *const shared = reinterpret_cast<F *>(memory);
    __shared__ uint32_t taken;
    const Shares shares(count, gridDim.x, kThreads, kWidth);
    const uint32_t stride = shares.stride();
    LaneSums<F, kWidth, LocalProducts<F, kWidth>> lanes;
    lanes.width = shares.width;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0)
            taken = atomicAdd(next, 1);
        __syncthreads();
        if (taken >= shares.takes)
            return;
        const uint32_t first = shares.first(taken, threadIdx.x);
        lanes.begin(members, segments, first, stride, count);
        const uint32_t rounds = segments[shares.longest(taken)].length;
#pragma unroll 1
        for (uint32_t round = 1; round < rounds; round++) {
            const F product = lanes.divisors(members, round);
            lanes.add(members, round, inverse_by_block<F, kThreads>(product, shared, round));
        }
        lanes.end(segments, first, stride, sums);
    }
}

// Adds `parts` affine points by a whole block of kThreads; the sum is valid in all lanes of the first warp.
template <class F, uint32_t kThreads>
__device__ __forceinline__ Affine<F> sum_by_block(const Affine<F> *points, uint32_t parts, Xyzz<F> *tree) {
    Xyzz<F> sum = Xyzz<F>::infinity();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < parts; i += kThreads)
        sum.add(points[i]);
    tree[threadIdx.x] = sum;
#pragma unroll 1
    for (uint32_t half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sum.add(tree[threadIdx.x + half]);
            tree[threadIdx.x] = sum;
        }
    }
    __syncthreads();
    Affine<F> result = Affine<F>::infinity();
    if (threadIdx.x < 32) {
        sum = tree[0];
        result = to_affine(sum, inverse_by_pairs(sum.zzz));
    }
    __syncthreads();
    return result;
}

} // namespace cuzk

#endif
