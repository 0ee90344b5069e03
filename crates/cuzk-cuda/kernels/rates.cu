// Kernels that only the bench calls: raw rates of the arithmetic, and reproducible scalars.
#include "field.cuh"

using namespace cuzk;

namespace {

constexpr uint32_t kChains = 8; // multiply-adds of one chain; other warps hide its latency

#ifdef __CUDA_ARCH__

__device__ uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

#endif

} // namespace

// `rounds` times eight 32 x 32 -> 64 bit multiply-adds per thread, in a carry chain as field arithmetic uses them.
extern "C" __global__ void cuzk_rate_multiply_add(uint64_t *out, uint32_t factor, uint32_t rounds) {
#ifdef __CUDA_ARCH__
    uint32_t sums[2 * kChains], terms[kChains];
    for (uint32_t c = 0; c < kChains; c++) {
        sums[2 * c] = sums[2 * c + 1] = threadIdx.x + c;
        terms[c] = factor + threadIdx.x * c;
    }
#pragma unroll 4
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t changing = sums[0];
        asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                     : "+r"(sums[0]), "+r"(sums[1])
                     : "r"(terms[0]), "r"(changing));
#pragma unroll
        for (uint32_t c = 1; c < kChains; c++)
            asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                         : "+r"(sums[2 * c]), "+r"(sums[2 * c + 1])
                         : "r"(terms[c]), "r"(changing));
    }
    uint32_t all = 0;
    for (uint32_t c = 0; c < 2 * kChains; c++)
        all ^= sums[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
#endif
}

// `rounds` times two base-field multiplications per thread.
extern "C" __global__ void cuzk_rate_multiply_fp(Fp *out, uint32_t rounds) {
#ifdef __CUDA_ARCH__
    Fp a = Fp::one(), b = Fp::one();
    a[0] ^= threadIdx.x; // values that all threads share would run on the uniform datapath
    b = b + a;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) {
        a = a * b;
        b = b * a;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
#endif
}

// `rounds` times two scalar-field multiplications per thread.
extern "C" __global__ void cuzk_rate_multiply_fr(Fr *out, uint32_t rounds) {
#ifdef __CUDA_ARCH__
    Fr a = Fr::one(), b = Fr::one();
    a[0] ^= threadIdx.x; // values that all threads share would run on the uniform datapath
    b = b + a;
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) {
        a = a * b;
        b = b * a;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
#endif
}

// out[i] = 254 pseudo-random bits, four words of SplitMix64 from the number 4 i + word + seed; below the modulus.
extern "C" __global__ void cuzk_random_scalars(uint64_t *out, uint64_t seed, uint64_t count) {
#ifdef __CUDA_ARCH__
    const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    for (uint32_t word = 0; word < 4; word++) {
        const uint64_t value = mixed(4 * i + word + seed);
        out[4 * i + word] = word == 3 ? value >> 2 : value;
    }
#endif
}

// out[i] = out[i mod period] for 16-byte units from `period` on.
extern "C" __global__ void cuzk_repeat(uint4 *out, uint64_t period, uint64_t count) {
#ifdef __CUDA_ARCH__
    const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= period && i < count)
        out[i] = out[i % period];
#endif
}
