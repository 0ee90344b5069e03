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

// Warps take 32 * kWidth neighbouring segments in turn, which have nearly equal lengths: lane l owns every 32nd.
template <class F, uint32_t kWidth>
__device__ __forceinline__ void sum_segments(Affine<F> *sums, const Segment *segments, uint32_t count,
                                             uint32_t *next, const Members<F> &members) {
    const uint32_t lane = threadIdx.x % 32;
    LaneSums<F, kWidth, LocalProducts<F, kWidth>> lanes;
    while (true) {
        uint32_t first = 0;
        if (lane == 0)
            first = atomicAdd(next, 32 * kWidth);
        first = __shfl_sync(~0u, first, 0);
        if (first >= count)
            return;
        lanes.begin(members, segments, first + lane, 32, count);
        const uint32_t rounds = __reduce_max_sync(~0u, lanes.rounds());
#pragma unroll 1
        for (uint32_t round = 1; round < rounds; round++) {
            const F product = lanes.divisors(members, round);
            __syncwarp();
            const F inverse = inverse_by_pairs(product);
            __syncwarp();
            lanes.add(members, round, inverse);
        }
        lanes.end(segments, first + lane, 32, sums);
        __syncwarp();
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
