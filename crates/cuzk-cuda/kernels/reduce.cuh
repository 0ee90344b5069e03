// From buckets to one point per window: sum of (b + 1) * bucket[b]. Running sums give a chunk's plain sum S and its
// weighted sum T; chunks are then entries of a shorter list with a larger unit of weight.
//
// Many buckets are summed up beforehand, as segments, in groups of u neighbours and in columns of those with the same
// place in their group: bucket number u * g + j has the weight u * g + (j + 1), so that the sum over all is u * (sum of
// g * group[g]) + sum of (j + 1) * column[j]. Two affine additions a bucket cost half of two by running sums.
#pragma once

#include "curve.cuh"

namespace cuzk {

// Entry number q of a list stands for weighted + q * unit * plain.
template <class F>
struct Partial {
    Xyzz<F> plain;
    Xyzz<F> weighted;
};

// A chunk of affine buckets; bucket j of the chunk has weight j + 1. The unit of the result is `count`.
template <class F>
CUZK_HD void reduce_buckets(const Affine<F> *buckets, uint32_t count, Partial<F> &out) {
    Xyzz<F> plain = Xyzz<F>::infinity();
    Xyzz<F> weighted = Xyzz<F>::infinity();
    CUZK_NO_UNROLL
    for (uint32_t j = count; j-- > 0;) {
        plain.add(buckets[j]);
        weighted.add(plain);
    }
    out.plain = plain;
    out.weighted = weighted;
}

// A chunk of sums of groups of 2^log_unit buckets; group j of the chunk has weight j * 2^log_unit. The unit of the
// result is count * 2^log_unit.
template <class F>
CUZK_HD void reduce_groups(const Affine<F> *groups, uint32_t count, uint32_t log_unit, Partial<F> &out) {
    Xyzz<F> plain = Xyzz<F>::infinity();
    Xyzz<F> weighted = Xyzz<F>::infinity();
    CUZK_NO_UNROLL
    for (uint32_t j = count; j-- > 0;) {
        weighted.add(plain);
        plain.add(groups[j]);
    }
    for (uint32_t i = 0; i < log_unit; i++)
        weighted.double_in_place();
    out.plain = plain;
    out.weighted = weighted;
}

// A chunk of entries whose unit is 2^log_unit. The unit of the result is count * 2^log_unit.
template <class F>
CUZK_HD void reduce_partials(const Partial<F> *entries, uint32_t count, uint32_t log_unit, Partial<F> &out) {
    Xyzz<F> plain = Xyzz<F>::infinity();
    Xyzz<F> weighted = Xyzz<F>::infinity();
    Xyzz<F> sum = Xyzz<F>::infinity();
    CUZK_NO_UNROLL
    for (uint32_t j = count; j-- > 0;) {
        weighted.add(plain);
        plain.add(entries[j].plain);
        sum.add(entries[j].weighted);
    }
    for (uint32_t i = 0; i < log_unit; i++)
        weighted.double_in_place();
    sum.add(weighted);
    out.plain = plain;
    out.weighted = sum;
}

} // namespace cuzk
