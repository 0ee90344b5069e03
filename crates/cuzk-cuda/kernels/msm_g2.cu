// Multi-scalar multiplications over G2.
#include "msm.cuh"
#include "quadratic.cuh"

using namespace cuzk;

namespace {

using Field = Quadratic<Fp>;
constexpr uint32_t kWidth = 24;
constexpr uint32_t kSumThreads = 128;
constexpr uint32_t kSumBlocksPerSm = 3;

} // namespace

#ifdef __CUDA_ARCH__
namespace cuzk {

__device__ __forceinline__ Field inverse_by_pairs(const Field &a) {
    return inverse_by_norm(a, [](const Fp &norm) { return inverse_by_pairs(norm); });
}

} // namespace cuzk
#endif

#define CUZK_NAME(kernel) cuzk_g2_##kernel
#include "msm_entry.cuh"
