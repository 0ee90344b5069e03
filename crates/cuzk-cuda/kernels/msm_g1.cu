// Multi-scalar multiplications over G1.
#include "msm.cuh"

using namespace cuzk;

namespace {

using Field = Fp;
constexpr uint32_t kWidth = 32;
constexpr uint32_t kSumThreads = 128;
constexpr uint32_t kSumBlocksPerSm = 5;

} // namespace

#define CUZK_NAME(kernel) cuzk_g1_##kernel
#include "msm_entry.cuh"
