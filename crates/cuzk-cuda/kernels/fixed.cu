// Multiples of a fixed base: scalars become lists of table entries, which the summation of segments adds up.
#include "field.cuh"
#include "fixed.cuh"
#include "segments.cuh"

using namespace cuzk;

// scalars[i] = canonical scalar of table entry i. One thread an entry.
extern "C" __global__ void cuzk_table_scalars(uint4 *scalars, Windows windows, uint32_t count) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t limbs[8];
    table_scalar(limbs, i, windows);
    scalars[2 * i] = make_uint4(limbs[0], limbs[1], limbs[2], limbs[3]);
    scalars[2 * i + 1] = make_uint4(limbs[4], limbs[5], limbs[6], limbs[7]);
#endif
}

// Segment i sums the table entries of scalar i, one a window, to output i. One thread a scalar; scalars above half of
// the modulus are negated first. work[0] becomes the number of segments, work[1] the first one to be summed.
extern "C" __global__ void cuzk_table_segments(uint32_t *refs, Segment *segments, uint32_t *work, const Fr *scalars,
                                               Windows windows, uint32_t count, uint32_t montgomery) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        work[0] = count;
        work[1] = 0;
    }
    if (i >= count)
        return;
    Fr scalar = scalars[i];
    if (montgomery)
        scalar.from();
    const uint32_t flip = scalar.abs() ? kSignBit : 0;
    uint32_t limbs[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; k++)
        limbs[k] = scalar[k];
    const uint32_t start = i * windows.count;
#pragma unroll 1
    for (uint32_t w = 0; w < windows.count; w++)
        refs[start + w] = table_ref(limbs, w, windows) ^ flip;
    segments[i] = Segment{start, windows.count, i};
#endif
}
