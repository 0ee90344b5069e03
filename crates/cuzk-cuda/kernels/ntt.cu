// Entry points of the transforms over the scalar field.
#include "field.cuh"
#include "ntt.cuh"

using namespace cuzk;
using namespace cuzk::ntt;

namespace {

constexpr uint32_t kThreads = 256;
// Two blocks a multiprocessor: 64 KiB of tile each and 128 registers a thread.
constexpr uint32_t kBlocksPerSm = 2;
constexpr uint64_t kPowersPerThread = 16;

#ifdef __CUDA_ARCH__

// The tile keeps the halves of an element in two planes: eight neighbours then fill all banks with 16-byte accesses.
struct Tile {
    uint4 *low;
    uint4 *high;

    __device__ Fr get(uint32_t slot) const {
        Fr value;
        reinterpret_cast<uint4 *>(&value)[0] = low[slot];
        reinterpret_cast<uint4 *>(&value)[1] = high[slot];
        return value;
    }
    __device__ void put(uint32_t slot, const Fr &value) const {
        low[slot] = reinterpret_cast<const uint4 *>(&value)[0];
        high[slot] = reinterpret_cast<const uint4 *>(&value)[1];
    }
};

template <bool kRising>
__device__ __forceinline__ void run_pass(Fr *data, const Pass &pass, const Twiddles<Fr> &twiddles,
                                         const Finish<Fr> &finish) {
    extern __shared__ uint4 memory[];
    const Tile tile{memory, memory + pass.slots()};
    Fr *const shared = reinterpret_cast<Fr *>(memory + 2 * pass.slots());

    const Place place(pass, threadIdx.x);
    const uint64_t column = uint64_t(blockIdx.x) * pass.columns + place.column;
    const uint64_t low = column & ((uint64_t(1) << pass.shift) - 1);
    const uint32_t shared_per_column = 1u << pass.shared_stages();
    const uint32_t windows = pass.num_windows();

    if (!pass.direct && windows > 1) {
        for (uint32_t k = place.lane; k < shared_per_column; k += pass.threads_per_column())
            if (k != 0)
                shared[place.column * shared_per_column + k] = shared_twiddle(pass, twiddles, low, k);
        __syncthreads();
    }

    Fr x[kRegisters];
#pragma unroll 1
    for (uint32_t step = 0; step < windows; step++) {
        const uint32_t window = kRising ? step : windows - 1 - step;
        const uint32_t shift = pass.window_shift(window);
#pragma unroll
        for (uint32_t r = 0; r < kRegisters; r++) {
            const uint32_t element = place.element(shift, r);
            x[r] = step == 0 ? data[pass.index(column, element)] : tile.get(pass.slot(place.column, element));
        }
        const bool from_shared = !pass.direct && window + 1 < windows;
        butterflies<kRising>(x, pass, place, window, [&](uint32_t b, uint32_t i) -> Fr {
            if (from_shared)
                return shared[place.column * shared_per_column + (1u << b) + i];
            return twiddles.fetch(pass, low, b, i);
        });
        if (step + 1 < windows) {
            if (step != 0)
                __syncthreads();
#pragma unroll
            for (uint32_t r = 0; r < kRegisters; r++)
                tile.put(pass.slot(place.column, place.element(shift, r)), x[r]);
            __syncthreads();
        } else {
#pragma unroll
            for (uint32_t r = 0; r < kRegisters; r++) {
                const uint64_t index = pass.index(column, place.element(shift, r));
                data[index] = finish.apply(x[r], index);
            }
        }
    }
}

#endif

} // namespace

// One pass of a transform from bit-reversed to natural order, in place.
// Block: `pass.columns` columns, eight elements a thread; grid: 2^(log_n - bits) / columns blocks.
// Shared memory: 2 * slots * 16 bytes, and columns * 2^shared_stages twiddles when they are not direct.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    cuzk_ntt_rising(Fr *data, Pass pass, const Fr *heap, const Fr *rho, const Fr *unit, uint32_t finish,
                    const Fr *other, Fr alpha, Fr beta) {
#ifdef __CUDA_ARCH__
    run_pass<true>(data, pass, Twiddles<Fr>{heap, rho, unit}, Finish<Fr>{finish, other, alpha, beta});
#endif
}

// One pass of a transform from natural to bit-reversed order, in place; geometry as above.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    cuzk_ntt_falling(Fr *data, Pass pass, const Fr *heap, const Fr *rho, const Fr *unit, uint32_t finish,
                     const Fr *other, Fr alpha, Fr beta) {
#ifdef __CUDA_ARCH__
    run_pass<false>(data, pass, Twiddles<Fr>{heap, rho, unit}, Finish<Fr>{finish, other, alpha, beta});
#endif
}

// A whole transform of at most four elements by a single thread.
extern "C" __global__ void cuzk_ntt_tiny(Fr *data, uint32_t log_n, uint32_t rising, const Fr *heap,
                                         uint32_t finish, const Fr *other, Fr alpha, Fr beta) {
#ifdef __CUDA_ARCH__
    const Finish<Fr> last{finish, other, alpha, beta};
    if (rising)
        tiny<true>(data, log_n, heap, last);
    else
        tiny<false>(data, log_n, heap, last);
#endif
}

// out[i] = scale * root^i; a thread writes sixteen neighbours.
extern "C" __global__ void cuzk_powers(Fr *out, Fr scale, Fr root, uint64_t count) {
#ifdef __CUDA_ARCH__
    const uint64_t first = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) * kPowersPerThread;
    if (first >= count)
        return;
    const uint64_t left = count - first;
    powers(out, scale, root, first, left < kPowersPerThread ? left : kPowersPerThread);
#endif
}

// Swaps the elements whose numbers are each other's bit reversal; one thread an element.
extern "C" __global__ void cuzk_reverse_order(Fr *data, uint32_t log_n) {
#ifdef __CUDA_ARCH__
    const uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >> log_n)
        return;
    const uint64_t j = log_n == 0 ? 0 : __brevll(i) >> (64 - log_n);
    if (i < j) {
        const Fr left = data[i];
        data[i] = data[j];
        data[j] = left;
    }
#endif
}
