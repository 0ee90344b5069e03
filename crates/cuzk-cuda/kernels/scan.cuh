// Prefix sums by one block.
#pragma once

#include "portability.cuh"

#ifdef __CUDA_ARCH__

namespace cuzk {

// Exclusive sums over counts[0 .. length) in place, by a whole block; returns the total.
__device__ inline uint32_t exclusive_sums(uint32_t *counts, uint32_t length) {
    __shared__ uint32_t warps[32];
    __shared__ uint32_t carry;
    if (threadIdx.x == 0)
        carry = 0;
    __syncthreads();
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint32_t base = 0; base < length; base += blockDim.x) {
        const uint32_t i = base + threadIdx.x;
        const uint32_t own = i < length ? counts[i] : 0;
        uint32_t sum = own;
        for (uint32_t d = 1; d < 32; d *= 2) {
            const uint32_t other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d)
                sum += other;
        }
        if (lane == 31)
            warps[warp] = sum;
        __syncthreads();
        uint32_t before = carry;
        for (uint32_t w = 0; w < warp; w++)
            before += warps[w];
        if (i < length)
            counts[i] = before + sum - own;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1)
            carry = before + sum;
        __syncthreads();
    }
    return carry;
}

} // namespace cuzk

#endif
