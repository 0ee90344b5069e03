// Number-theoretic transforms in passes: a pass works through up to nine stages of a transform for one column of
// elements at a time, in registers and one shared tile, so that 2^27 elements cross device memory three times.
//
// Stage s (counted from 1) joins elements at distance 2^(s-1); its twiddle for position j is gamma_s * w_s^j, with
// w_s a root of unity of order 2^s and gamma_s the coset's factor (1 without a coset). Reversed -> natural order
// (decimation in time, rising stages) multiplies before the sum; natural -> reversed (decimation in frequency,
// falling stages, inverse twiddles) after the difference. A thread holds eight elements: three bits of the
// element's number in its column, called the window.
#pragma once

#include "portability.cuh"

namespace cuzk::ntt {

constexpr uint32_t kRegisterBits = 3;
constexpr uint32_t kRegisters = 1u << kRegisterBits;

enum Epilogue : uint32_t { kPlain = 0, kScale = 1, kMultiply = 2, kCombine = 3 };

// One pass: stages shift + 1 ..= shift + bits of a transform of 2^log_n elements.
struct Pass {
    uint32_t log_n;
    uint32_t shift;
    uint32_t bits;
    uint32_t columns; // handled by one block, a power of two
    uint32_t direct;  // twiddles come from the heap; otherwise they are products rho * unit

    CUZK_HD uint32_t threads_per_column() const { return 1u << (bits - kRegisterBits); }
    CUZK_HD uint32_t num_windows() const { return (bits + kRegisterBits - 1) / kRegisterBits; }
    CUZK_HD uint32_t first_stage(uint32_t window) const { return window * kRegisterBits; }
    CUZK_HD uint32_t window_shift(uint32_t window) const {
        uint32_t first = first_stage(window);
        return first + kRegisterBits <= bits ? first : bits - kRegisterBits;
    }
    // Stages below this one read their twiddles from the block's table when they are not direct.
    CUZK_HD uint32_t shared_stages() const { return first_stage(num_windows() - 1); }

    CUZK_HD uint64_t index(uint64_t column, uint32_t element) const {
        uint64_t low = column & ((uint64_t(1) << shift) - 1);
        return ((column >> shift) << (shift + bits)) | (uint64_t(element) << shift) | low;
    }
    CUZK_HD uint32_t slots() const { return columns * ((1u << bits) + (1u << (bits - kRegisterBits))); }
    // Padding by one in eight keeps the strided accesses of all windows on different banks.
    CUZK_HD uint32_t slot(uint32_t column, uint32_t element) const {
        uint32_t padded = element + (element >> kRegisterBits);
        uint32_t padded_length = (1u << bits) + (1u << (bits - kRegisterBits));
        return shift == 0 ? column * padded_length + padded : padded * columns + column;
    }
};

// Where a thread of a block works: its column in the block, and its number in the column.
struct Place {
    uint32_t column;
    uint32_t lane;

    CUZK_HD Place(const Pass &pass, uint32_t thread) {
        uint32_t per_column = pass.threads_per_column();
        if (pass.shift == 0) {
            lane = thread & (per_column - 1);
            column = thread / per_column;
        } else {
            column = thread & (pass.columns - 1);
            lane = thread / pass.columns;
        }
    }
    CUZK_HD uint32_t element(uint32_t window_shift, uint32_t r) const {
        uint32_t low = lane & ((1u << window_shift) - 1);
        return ((lane >> window_shift) << (window_shift + kRegisterBits)) | (r << window_shift) | low;
    }
};

// Twiddles of a pass. heap[2^(s-1) + j] holds stage s; rho[b * 2^shift + j] holds stage shift + b + 1 at position
// j < 2^shift; unit[2^b + i] holds w_(b+1)^i without the coset's factor.
template <class F>
struct Twiddles {
    const F *heap;
    const F *rho;
    const F *unit;

    CUZK_HD F fetch(const Pass &pass, uint64_t low, uint32_t b, uint32_t i) const {
        if (pass.direct)
            return heap[(uint64_t(1) << (pass.shift + b)) + low + (uint64_t(i) << pass.shift)];
        F root = rho[(uint64_t(b) << pass.shift) + low];
        if (b == 0)
            return root;
        return root * unit[(1u << b) + i];
    }
};

// Entry k of a column's shared twiddles: stage floor(log2 k), position k - 2^stage, for 1 <= k < 2^shared_stages.
template <class F>
CUZK_HD F shared_twiddle(const Pass &pass, const Twiddles<F> &twiddles, uint64_t low, uint32_t k) {
    uint32_t b = 0;
    while ((k >> b) > 1)
        b++;
    return twiddles.fetch(pass, low, b, k - (1u << b));
}

// The stages of one window on eight registers. `twiddle(b, i)` yields the twiddle of stage b of the pass.
template <bool kRising, class F, class Source>
CUZK_HD void butterflies(F (&x)[kRegisters], const Pass &pass, const Place &place, uint32_t window,
                         const Source &twiddle) {
    uint32_t shift = pass.window_shift(window);
    uint32_t first = pass.first_stage(window);
    uint32_t low = place.lane & ((1u << shift) - 1);
    CUZK_UNROLL
    for (uint32_t step = 0; step < kRegisterBits; step++) {
        const uint32_t l = kRising ? step : kRegisterBits - 1 - step;
        uint32_t b = shift + l;
        if (b < first || b >= pass.bits)
            continue;
        CUZK_UNROLL
        for (uint32_t m = 0; m < (1u << l); m++) {
            F t = twiddle(b, low + (m << shift));
            CUZK_UNROLL
            for (uint32_t h = 0; h < (kRegisters / 2) >> l; h++) {
                const uint32_t r0 = (h << (l + 1)) | m;
                const uint32_t r1 = r0 | (1u << l);
                if (kRising) {
                    F y = x[r1] * t;
                    x[r1] = x[r0] - y;
                    x[r0] = x[r0] + y;
                } else {
                    F y = x[r0] - x[r1];
                    x[r0] = x[r0] + x[r1];
                    x[r1] = y * t;
                }
            }
        }
    }
}

// Applied to every element as the last pass stores it.
template <class F>
struct Finish {
    uint32_t kind;
    const F *other; // same length and order as the transform's output
    F alpha;
    F beta;

    CUZK_HD F apply(const F &value, uint64_t index) const {
        switch (kind) {
        case kScale:
            return value * beta;
        case kMultiply:
            return value * other[index];
        case kCombine:
            return other[index] * alpha + value * beta;
        default:
            return value;
        }
    }
};

// All stages of a transform of at most four elements by one thread.
template <bool kRising, class F>
CUZK_HD void tiny(F *data, uint32_t log_n, const F *heap, const Finish<F> &finish) {
    for (uint32_t step = 0; step < log_n; step++) {
        uint32_t b = kRising ? step : log_n - 1 - step;
        for (uint32_t r0 = 0; r0 < (1u << log_n); r0++) {
            if ((r0 >> b) & 1)
                continue;
            uint32_t r1 = r0 | (1u << b);
            F t = heap[(1u << b) + (r0 & ((1u << b) - 1))];
            if (kRising) {
                F y = data[r1] * t;
                data[r1] = data[r0] - y;
                data[r0] = data[r0] + y;
            } else {
                F y = data[r0] - data[r1];
                data[r0] = data[r0] + data[r1];
                data[r1] = y * t;
            }
        }
    }
    for (uint32_t i = 0; i < (1u << log_n); i++)
        data[i] = finish.apply(data[i], i);
}

// scale * root^first, scale * root^(first + 1), … into out[first ..].
template <class F>
CUZK_HD void powers(F *out, const F &scale, F root, uint64_t first, uint64_t count) {
    F value = scale;
    F square = root;
    for (uint64_t bits = first; bits != 0; bits >>= 1) {
        if (bits & 1)
            value = value * square;
        square = square * square;
    }
    for (uint64_t i = 0; i < count; i++) {
        out[first + i] = value;
        value = value * root;
    }
}

CUZK_HD uint64_t reverse_bits(uint64_t value, uint32_t bits) {
    uint64_t reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
        reversed |= ((value >> i) & 1) << (bits - 1 - i);
    return reversed;
}

} // namespace cuzk::ntt
