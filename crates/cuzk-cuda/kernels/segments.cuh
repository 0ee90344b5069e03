// Sums of many short lists of points ("segments"), one list per bucket or part of one.
//
// Affine additions cost five multiplications and a square when the inversion is shared. A lane owns up to kWidth segments
// and adds one point to each in a round; Montgomery's trick shares one inversion among the round's divisors. What a
// lane keeps of its segments exceeds its registers, and `Scratch` says where the products live.
#pragma once

#include "curve.cuh"

namespace cuzk {

constexpr uint32_t kSignBit = 1u << 31;

// Members refs[start .. start + length], sum to sums[output].
struct Segment {
    uint32_t start;
    uint32_t length;
    uint32_t output;
};

// A bucket with more members than one segment may have; its partial sums lie together.
struct Split {
    uint32_t bucket;
    uint32_t first_partial;
    uint32_t parts;
    uint32_t start;
    uint32_t length;
};

// How blocks share `count` segments that are sorted by falling length: a block takes `width` segments for each of its
// threads at a time, so that all take equally often. Of those that it takes, a thread owns every `stride`-th from
// `first` on.
//
// Where blocks take many times, they take neighbours, which have nearly equal lengths. Where they take once or twice,
// each takes some of all lengths, since nothing would be left to do while the longest ones end.
struct Shares {
    uint32_t count;
    uint32_t threads;
    uint32_t width;
    uint32_t takes;
    bool mixed;

    CUZK_HD Shares(uint32_t segments, uint32_t blocks, uint32_t block_threads, uint32_t max_width)
        : count(segments), threads(block_threads) {
        constexpr uint32_t kFew = 2;
        const uint32_t lanes = blocks * threads, most = lanes * max_width;
        const uint32_t turns = (count + most - 1) / most;
        width = turns == 0 ? 1 : (count + lanes * turns - 1) / (lanes * turns);
        takes = (count + threads * width - 1) / (threads * width);
        mixed = turns <= kFew;
    }

    // The first segment of a take, which is a longest one.
    CUZK_HD uint32_t longest(uint32_t take) const { return take * threads * (mixed ? 1 : width); }
    CUZK_HD uint32_t first(uint32_t take, uint32_t thread) const {
        return longest(take) + (mixed ? thread : thread / 32 * 32 * width + thread % 32);
    }
    CUZK_HD uint32_t stride() const { return mixed ? takes * threads : 32; }
};

// Bases selected by references: the low 31 bits number a base, the top bit negates it. Without references, member i
// is base i.
template <class F>
struct Members {
    const Affine<F> *bases;
    const uint32_t *refs;

    CUZK_HD uint32_t ref(uint32_t member) const { return refs == nullptr ? member : refs[member]; }
    CUZK_HD F x(uint32_t ref) const { return bases[ref & ~kSignBit].x; }
    CUZK_HD Affine<F> point(uint32_t ref) const {
        Affine<F> p = bases[ref & ~kSignBit];
        if (ref & kSignBit)
            p.y = negated(p.y);
        return p;
    }
};

template <class F>
CUZK_HD bool is_rare(const F &ax, const F &px, const F &dx) {
    return ax.is_zero() || px.is_zero() || dx.is_zero();
}

// One lane's `width` segments and their running sums. scratch.put(k, product) and scratch.get(k) keep, for segment k, the
// product of the round's divisors before its own.
template <class F, uint32_t kWidth, class Scratch>
struct LaneSums {
    Scratch scratch;
    uint32_t width;
    Affine<F> sum[kWidth];
    uint32_t start[kWidth];
    uint32_t length[kWidth];
    uint32_t ref[kWidth]; // of the round's member

    CUZK_HD void begin(const Members<F> &members, const Segment *segments, uint32_t first, uint32_t stride,
                       uint32_t count) {
        CUZK_NO_UNROLL
        for (uint32_t k = 0; k < width; k++) {
            const uint32_t number = first + k * stride;
            length[k] = 0;
            if (number < count) {
                start[k] = segments[number].start;
                length[k] = segments[number].length;
            }
            if (length[k] != 0)
                sum[k] = members.point(members.ref(start[k]));
        }
    }

    // The product of this round's divisors, for member number `round` >= 1 of each segment.
    CUZK_HD F divisors(const Members<F> &members, uint32_t round) {
        F product;
        set_one(product);
        CUZK_NO_UNROLL
        for (uint32_t k = 0; k < width; k++) {
            if (round >= length[k])
                continue;
            ref[k] = members.ref(start[k] + round);
            const F ax = sum[k].x;
            const F px = members.x(ref[k]);
            F dx = px - ax;
            if (is_rare(ax, px, dx))
                dx = rare_denominator(sum[k], members.point(ref[k]));
            scratch.put(k, product);
            product = times(product, dx);
        }
        return product;
    }

    // Adds the round's members, given the inverse of the product of their divisors.
    CUZK_HD void add(const Members<F> &members, uint32_t round, F inverse) {
        CUZK_NO_UNROLL
        for (uint32_t k = width; k-- > 0;) {
            if (round >= length[k])
                continue;
            const Affine<F> p = members.point(ref[k]);
            const Affine<F> a = sum[k];
            F dx = p.x - a.x;
            const F own = times(inverse, scratch.get(k));
            if (is_rare(a.x, p.x, dx)) {
                dx = rare_denominator(a, p);
                sum[k] = rare_sum(a, p, own);
            } else {
                const F dy = p.y - a.y;
                const F slope = times(dy, own);
                Affine<F> s;
                s.x = square(slope) - a.x - p.x;
                const F back = a.x - s.x;
                s.y = times(slope, back) - a.y;
                sum[k] = s;
            }
            inverse = times(inverse, dx);
        }
    }

    CUZK_HD void end(const Segment *segments, uint32_t first, uint32_t stride, Affine<F> *sums) const {
        CUZK_NO_UNROLL
        for (uint32_t k = 0; k < width; k++)
            if (length[k] != 0)
                sums[segments[first + k * stride].output] = sum[k];
    }
};

} // namespace cuzk
