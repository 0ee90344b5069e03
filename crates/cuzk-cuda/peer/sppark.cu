// Times of sppark's multiplications and transforms, for `cuzk bench kernels --peer`: one JSON object a line.
// Usage: PROGRAM CARD SMALLEST LARGEST, with logarithms of sizes. Compiled once for each group: -DPEER_G2 is the second.
//
// Bases and scalars lie on the device before the clock starts, as ours do. Bases repeat, scalars do not.
#include <cuda.h>

#include <ff/bls12-381-fp2.hpp>

#include <ec/jacobian_t.hpp>
#include <ec/xyzz_t.hpp>

using fp_t = bls12_381::fp_t;
using fp2_t = bls12_381::fp2_t;
using fr_t = bls12_381::fr_t;
using scalar_t = fr_t;
#ifdef PEER_G2
using point_t = jacobian_t<fp2_t>;
using bucket_t = xyzz_t<fp2_t>;
#else
using point_t = jacobian_t<fp_t>;
using bucket_t = xyzz_t<fp_t>;
#endif
using affine_t = bucket_t::affine_t;

#include <msm/pippenger.cuh>
#include <ntt/ntt.cuh>

#include <util/all_gpus.cpp>

#ifndef __CUDA_ARCH__

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#endif

// Four words of SplitMix64 a scalar, the topmost two bits clear.
static __global__ void random_scalars(uint64_t *out, size_t words) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint64_t x = i + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    out[i] = i % 4 == 3 ? x >> 2 : x;
}

#ifndef __CUDA_ARCH__

// The generators in Montgomery form, of blst.
extern "C" const limb_t BLS12_381_G1[12];
extern "C" const limb_t BLS12_381_G2[24];

namespace {

#ifdef PEER_G2
constexpr const limb_t *kGenerator = BLS12_381_G2;
#else
constexpr const limb_t *kGenerator = BLS12_381_G1;
#endif
constexpr int kRepeats = 3;
constexpr size_t kDistinct = size_t(1) << 12;

template <class T>
T *on_device(size_t count) {
    void *pointer;
    CUDA_OK(cudaMalloc(&pointer, count * sizeof(T)));
    return static_cast<T *>(pointer);
}

fr_t *scalars(size_t count) {
    fr_t *out = on_device<fr_t>(count);
    random_scalars<<<unsigned((4 * count + 255) / 256), 256>>>(reinterpret_cast<uint64_t *>(out), 4 * count);
    CUDA_OK(cudaDeviceSynchronize());
    return out;
}

// Multiples of the generator, from the second on, over and over.
affine_t *bases(size_t count) {
    affine_t first;
    std::memcpy(&first, kGenerator, sizeof(first));
    std::vector<affine_t> distinct;
    point_t point = first;
    for (size_t i = 0; i < std::min(count, kDistinct); i++) {
        point.add(first);
        distinct.push_back(point);
    }
    affine_t *out = on_device<affine_t>(count);
    CUDA_OK(cudaMemcpy(out, distinct.data(), distinct.size() * sizeof(affine_t), cudaMemcpyHostToDevice));
    for (size_t done = distinct.size(); done < count; done *= 2)
        CUDA_OK(cudaMemcpy(out + done, out, std::min(done, count - done) * sizeof(affine_t),
                           cudaMemcpyDeviceToDevice));
    return out;
}

double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void print(const char *operation, unsigned log_size, double ms) {
    std::printf("{\"operation\": \"%s\", \"log_size\": %u, \"ms\": %.3f}\n", operation, log_size, ms);
    std::fflush(stdout);
}

void multiexp(const char *operation, unsigned log_size) {
    const size_t count = size_t(1) << log_size;
    gpu_ptr_t<affine_t> points(bases(count));
    gpu_ptr_t<fr_t> factors(scalars(count));
    std::vector<double> times;
    for (int run = 0; run <= kRepeats; run++) {
        msm_t<bucket_t, point_t, affine_t, scalar_t> msm{nullptr, count};
        point_t out;
        const auto start = std::chrono::steady_clock::now();
        const RustError error = msm.invoke(out, points, count, factors, true);
        const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
        if (error.code != 0) {
            std::fprintf(stderr, "%s of 2^%u: error %d\n", operation, log_size, error.code);
            std::exit(1);
        }
        if (run > 0)
            times.push_back(elapsed.count());
    }
    print(operation, log_size, median(times));
}

struct Transforms : NTT {
    static void run(const gpu_t &gpu, fr_t *data, unsigned log_size, bool inverse) {
        NTT_internal(data, log_size, inverse ? InputOutputOrder::NR : InputOutputOrder::RN,
                     inverse ? Direction::inverse : Direction::forward, inverse ? Type::standard : Type::coset, gpu);
    }
};

void transforms(const gpu_t &gpu, unsigned log_size) {
    fr_t *data = scalars(size_t(1) << log_size);
    for (bool inverse : {true, false}) {
        std::vector<double> times;
        for (int run = 0; run <= kRepeats; run++) {
            gpu.sync();
            const auto start = std::chrono::steady_clock::now();
            Transforms::run(gpu, data, log_size, inverse);
            gpu.sync();
            const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
            if (run > 0)
                times.push_back(elapsed.count());
        }
        print(inverse ? "inverse transform" : "coset transform", log_size, median(times));
    }
    CUDA_OK(cudaFree(data));
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s CARD SMALLEST LARGEST\n", argv[0]);
        return 2;
    }
    const gpu_t &gpu = select_gpu(std::atoi(argv[1]));
    const unsigned smallest = unsigned(std::atoi(argv[2])), largest = unsigned(std::atoi(argv[3]));
    const auto measured = [&](unsigned log_size) { return smallest <= log_size && log_size <= largest; };
#ifdef PEER_G2
    (void)gpu;
    for (unsigned log_size : {20u, 22u, 24u})
        if (measured(log_size))
            multiexp("multiexp g2", log_size);
#else
    for (unsigned log_size : {20u, 22u, 24u, 26u, 27u}) {
        if (!measured(log_size))
            continue;
        transforms(gpu, log_size);
        multiexp("multiexp g1", log_size);
    }
#endif
    return 0;
}

#endif
