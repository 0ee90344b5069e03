// BLS12-381 fields on the device; the host pass of the compiler only needs their sizes.
// All values are in Montgomery form and reduced, limbs of 32 bits, least significant first.
#pragma once

#include "portability.cuh"

#ifdef __CUDA_ARCH__
#include <ff/bls12-381.hpp>

namespace cuzk {
using Fr = bls12_381::fr_t;
using Fp = bls12_381::fp_t;

__device__ __forceinline__ Fp square(const Fp &a) { return a ^ 2; }
__device__ __forceinline__ void set_zero(Fp &a) { a.zero(); }
__device__ __forceinline__ void set_zero(Fr &a) { a.zero(); }
__device__ __forceinline__ void set_one(Fp &a) { a = Fp::one(); }
// One copy for all products of a loop: seven copies, of 5 KB each, miss the instruction cache at every fifth request.
__device__ __noinline__ inline Fp times(Fp a, Fp b) { return a * b; }
// The lanes 2i and 2i + 1 of a warp must both call this; zero has the inverse zero.
__device__ __forceinline__ Fp inverse_by_pairs(const Fp &a) { return a.reciprocal(); }
} // namespace cuzk
#else
namespace cuzk {
struct alignas(32) Fr {
    uint32_t limbs[8];
};
struct alignas(16) Fp {
    uint32_t limbs[12];
};
} // namespace cuzk
#endif
