// Entry points of the evaluation of a circuit's rows.
#include "field.cuh"
#include "rows.cuh"

using namespace cuzk;
using namespace cuzk::rows;

namespace {

constexpr uint32_t kThreads = 256;

} // namespace

// Rows of all instances of one template, one thread a row. Neighbouring threads have the same row of different instances,
// since rows differ much in their terms. A side whose output is null is not written. *violated becomes the least row with
// a * b != c, if it is less.
extern "C" __global__ void __launch_bounds__(kThreads)
    cuzk_evaluate(Fr *a, Fr *b, Fr *c, uint32_t *violated, const uint32_t *plane, const Fr *wide, const Fr *inputs,
                  const Fr *coefficients, const uint32_t *side_ends, const uint32_t *places, const Term *terms,
                  uint32_t first_term, uint32_t num_rows, uint32_t num_externals, const Placement *placements,
                  const Variable *externals, uint32_t total) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= total)
        return;
    const uint32_t instances = total / num_rows;
    const uint32_t instance = i % instances, own = i / instances;
    const Values<Fr> values{plane, wide, inputs, coefficients};
    const Template shape{side_ends, terms, first_term};
    const Placement at = placements[instance];
    Fr out[3];
    sides(out, values, shape, at, externals + uint64_t(instance) * num_externals, own);
    const uint32_t row = at.rows + places[own];
    if (!(out[0] * out[1] - out[2]).is_zero())
        atomicMin(violated, row);
    if (a != nullptr)
        a[row] = out[0];
    if (b != nullptr)
        b[row] = out[1];
    if (c != nullptr)
        c[row] = out[2];
#endif
}

// Rows behind the constraints: x_i * 0 = 0 for every input, zeros up to the domain's size. Null outputs as above.
extern "C" __global__ void __launch_bounds__(kThreads)
    cuzk_last_rows(Fr *a, Fr *b, Fr *c, const Fr *inputs, uint32_t num_inputs, uint32_t first, uint32_t count) {
#ifdef __CUDA_ARCH__
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count)
        return;
    Fr zero;
    zero.zero();
    if (a != nullptr)
        a[first + i] = i < num_inputs ? inputs[i] : zero;
    if (b != nullptr)
        b[first + i] = zero;
    if (c != nullptr)
        c[first + i] = zero;
#endif
}
