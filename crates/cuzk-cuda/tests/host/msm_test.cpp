// Runs the bodies of the multi-scalar multiplication's kernels on a curve small enough to list all its points.
#include "toy_field.hpp"

#include "../../kernels/digits.cuh"
#include "../../kernels/groups.cuh"
#include "../../kernels/quadratic.cuh"
#include "../../kernels/reduce.cuh"
#include "../../kernels/segments.cuh"
#include "check.hpp"

#include <vector>

using namespace cuzk;

namespace {

using Toy = ToyField<1019>;
using Point = Affine<Toy>;

bool operator==(const Point &a, const Point &b) { return a.x == b.x && a.y == b.y; }

Point opposite(Point p) {
    p.y = negated(p.y);
    return p;
}

// The group law as the textbook has it.
Point plus(const Point &a, const Point &b) {
    if (a.is_infinity())
        return b;
    if (b.is_infinity())
        return a;
    Toy slope;
    if (a.x == b.x) {
        if (!(a.y == b.y) || a.y.is_zero())
            return Point::infinity();
        slope = Toy(3) * a.x * a.x * (a.y + a.y).inverse();
    } else {
        slope = (b.y - a.y) * (b.x - a.x).inverse();
    }
    Point sum;
    sum.x = slope * slope - a.x - b.x;
    sum.y = slope * (a.x - sum.x) - a.y;
    return sum;
}

Point times(Point p, uint64_t k) {
    Point sum = Point::infinity();
    for (; k != 0; k >>= 1, p = plus(p, p))
        if (k & 1)
            sum = plus(sum, p);
    return sum;
}

Point affine(const Xyzz<Toy> &p) { return to_affine(p, p.zzz.inverse()); }

// All points of y^2 = x^3 + 4, infinity first; some have x = 0, some y = 0.
std::vector<Point> all_points() {
    std::vector<Point> points{Point::infinity()};
    for (uint64_t x = 0; x < Toy::kModulus; x++)
        for (uint64_t y = 0; y < Toy::kModulus; y++)
            if (Toy(y) * Toy(y) == Toy(x) * Toy(x) * Toy(x) + Toy(4))
                points.push_back(Point{Toy(x), Toy(y)});
    return points;
}

struct Random {
    uint64_t state = 1;
    uint32_t operator()(uint32_t below) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return uint32_t(state >> 33) % below;
    }
};

// The same point with another Z.
Xyzz<Toy> scaled(const Point &p, Toy z) {
    Xyzz<Toy> r = Xyzz<Toy>::from_affine(p);
    Toy zz = z * z, zzz = zz * z;
    r.x = r.x * zz;
    r.y = r.y * zzz;
    r.zz = r.zz * zz;
    r.zzz = r.zzz * zzz;
    return r;
}

void additions_follow_the_group_law_for_all_pairs(const std::vector<Point> &points) {
    for (size_t i = 0; i < points.size(); i += 7) {
        for (const Point &q : points) {
            const Point expected = plus(points[i], q);
            Xyzz<Toy> mixed = scaled(points[i], Toy(5));
            mixed.add(q);
            CHECK(affine(mixed) == expected, "mixed sum of point %zu", i);
            Xyzz<Toy> full = scaled(points[i], Toy(5));
            full.add(scaled(q, Toy(9)));
            CHECK(affine(full) == expected, "sum of point %zu", i);
        }
        Xyzz<Toy> twice = scaled(points[i], Toy(3));
        twice.double_in_place();
        CHECK(affine(twice) == plus(points[i], points[i]), "double of point %zu", i);
    }
}

template <uint32_t kWidth>
struct Products {
    Toy values[kWidth];
    Toy get(uint32_t k) const { return values[k]; }
    void put(uint32_t k, const Toy &value) { values[k] = value; }
};

void segments_sum_whatever_their_members(const std::vector<Point> &points) {
    constexpr uint32_t kWidth = 4, kLanes = 2;
    Random random;
    for (uint32_t trial = 0; trial < 2000; trial++) {
        // Few distinct bases make repeats, opposites and infinity frequent.
        std::vector<Point> bases;
        const uint32_t distinct = 1 + random(trial % 2 == 0 ? 3 : 100);
        for (uint32_t i = 0; i < distinct; i++)
            bases.push_back(points[random(5) == 0 ? 0 : random(uint32_t(points.size()))]);
        std::vector<uint32_t> refs;
        std::vector<Segment> segments;
        const uint32_t count = random(kWidth * kLanes + 1);
        for (uint32_t s = 0, length = 9; s < count; s++) {
            length -= random(length < 2 ? 1 : 3);
            segments.push_back(Segment{uint32_t(refs.size()), length, count - 1 - s});
            for (uint32_t i = 0; i < length; i++)
                refs.push_back(random(distinct) | (random(2) << 31));
        }
        std::vector<Point> sums(count);
        const Members<Toy> members{bases.data(), refs.data()};
        for (uint32_t lane = 0; lane < kLanes; lane++) {
            LaneSums<Toy, kWidth, Products<kWidth>> lanes;
            lanes.width = kWidth;
            lanes.begin(members, segments.data(), lane, kLanes, count);
            const uint32_t rounds = count == 0 ? 0 : segments[0].length;
            for (uint32_t round = 1; round < rounds; round++)
                lanes.add(members, round, lanes.divisors(members, round).inverse());
            lanes.end(segments.data(), lane, kLanes, sums.data());
        }
        for (const Segment &segment : segments) {
            Point expected = Point::infinity();
            for (uint32_t i = 0; i < segment.length; i++) {
                const uint32_t ref = refs[segment.start + i];
                const Point p = bases[ref & ~kSignBit];
                expected = plus(expected, ref & kSignBit ? opposite(p) : p);
            }
            CHECK(sums[segment.output] == expected, "segment of length %u", segment.length);
        }
    }
}

void digits_add_up_to_the_scalar() {
    Random random;
    for (uint32_t count = 11; count <= 64; count++) {
        const Windows windows{count, 255 / count, 255 % count};
        CHECK(windows.low(count - 1) + windows.width(count - 1) == 255, "%u windows", count);
        for (uint32_t trial = 0; trial < 50; trial++) {
            uint32_t limbs[8];
            for (uint32_t &limb : limbs)
                limb = trial == 0 ? 0 : trial == 1 ? ~0u : (random(1u << 16) << 16) | random(1u << 16);
            limbs[7] &= (1u << 30) - 1; // below 2^254
            // Sums in a prime field distinguish integers well enough.
            using Field = ToyField<2013265921>;
            Field sum, value;
            for (uint32_t w = 0; w < count; w++) {
                const uint32_t digit = signed_digit(limbs, w, windows);
                const uint32_t magnitude = digit & ~kSignBit;
                CHECK(magnitude <= 1u << (windows.width(w) - 1), "digit %u of %u", w, count);
                CHECK(digit != kSignBit, "a negative zero, %u windows", count);
                const Field term = Field(magnitude) * Field(2).pow(windows.low(w));
                sum = digit & kSignBit ? sum - term : sum + term;
            }
            for (uint32_t i = 8; i-- > 0;)
                value = value * Field(uint64_t(1) << 32) + Field(limbs[i]);
            CHECK(sum == value, "%u windows, trial %u", count, trial);
        }
    }
}

void reductions_weigh_buckets_by_their_number(const std::vector<Point> &points) {
    Random random;
    constexpr uint32_t kLogBuckets = 7;
    for (uint32_t first = 1; first <= 5; first++) {
        std::vector<Point> buckets;
        Point expected = Point::infinity();
        for (uint32_t b = 0; b < 1u << kLogBuckets; b++) {
            buckets.push_back(points[random(3) == 0 ? 0 : random(uint32_t(points.size()))]);
            expected = plus(expected, times(buckets[b], b + 1));
        }
        const uint32_t second = kLogBuckets - first;
        std::vector<Partial<Toy>> entries(1u << second);
        for (uint32_t q = 0; q < entries.size(); q++)
            reduce_buckets(&buckets[size_t(q) << first], 1u << first, entries[q]);
        Partial<Toy> all;
        reduce_partials(entries.data(), uint32_t(entries.size()), first, all);
        CHECK(affine(all.weighted) == expected, "first chunk 2^%u", first);
    }
}

void blocks_share_all_segments_and_take_equally_often() {
    constexpr uint32_t kThreads = 64, kMaxWidth = 8;
    for (uint32_t blocks : {1u, 3u, 10u})
        for (uint32_t count = 0; count < 20000; count += 1 + count / 20) {
            const Shares shares(count, blocks, kThreads, kMaxWidth);
            const uint32_t most = blocks * kThreads * kMaxWidth;
            CHECK(shares.width >= 1 && shares.width <= kMaxWidth, "%u segments, %u blocks", count, blocks);
            CHECK(shares.takes <= blocks * ((count + most - 1) / most), "%u takes of %u", shares.takes, count);
            std::vector<uint32_t> times(count);
            for (uint32_t take = 0; take < shares.takes; take++) {
                const uint32_t longest = shares.longest(take);
                CHECK(longest < count, "take %u of %u segments", take, count);
                for (uint32_t thread = 0; thread < kThreads; thread++)
                    for (uint32_t k = 0; k < shares.width; k++) {
                        const uint32_t number = shares.first(take, thread) + k * shares.stride();
                        CHECK(number >= longest, "a longer one, take %u of %u segments", take, count);
                        if (number < count)
                            times[number]++;
                    }
            }
            for (uint32_t number = 0; number < count; number++)
                CHECK(times[number] == 1, "segment %u of %u, %u blocks", number, count, blocks);
        }
}

// Three windows, of which the last one or two have half as many buckets.
void groups_and_columns_weigh_buckets_by_their_number(const std::vector<Point> &points) {
    Random random;
    constexpr uint32_t kWindows = 3, kLogBuckets = 8;
    for (uint32_t trial = 0; trial < 9; trial++) {
        const Groups groups{kWindows, 1 + trial % 3, kLogBuckets, 1 + trial / 3};
        const uint32_t units = 2 * kWindows * groups.slots();
        std::vector<Point> sums(groups.num_buckets() + units, points[1]);
        std::vector<Point> expected(kWindows, Point::infinity());
        for (uint32_t w = 0; w < kWindows; w++)
            for (uint32_t b = 0; b < groups.count(w) << groups.log_group; b++) {
                Point &bucket = sums[(w << kLogBuckets) + b];
                bucket = points[random(3) == 0 ? 0 : random(uint32_t(points.size()))];
                expected[w] = plus(expected[w], times(bucket, b + 1));
            }
        std::vector<Segment> segments;
        std::vector<uint32_t> refs(2 * groups.total() << groups.log_group, ~0u);
        for (uint32_t w = 0; w < kWindows; w++)
            for (uint32_t i = 0; i < groups.slots(); i++) {
                sums[groups.slot(w, i)] = Point::infinity();
                if (i >= groups.count(w))
                    continue;
                const Segment group = groups.group(w, i), part = groups.part(w, i);
                segments.push_back(group);
                segments.push_back(part);
                for (uint32_t k = 0; k < groups.length(); k++) {
                    refs[group.start + k] = groups.member_of_group(w, i, k);
                    refs[part.start + k] = groups.member_of_part(w, i, k);
                }
            }
        for (const Segment &segment : segments) {
            Point sum = Point::infinity();
            for (uint32_t k = 0; k < segment.length; k++)
                sum = plus(sum, sums[refs[segment.start + k]]);
            sums[segment.output] = sum;
        }
        for (uint32_t w = 0; w < kWindows; w++) {
            std::vector<Point> columns;
            for (uint32_t j = 0; j < groups.length(); j++) {
                const Split split = groups.column(w, j);
                CHECK(split.bucket == (w << kLogBuckets) + j, "column %u of window %u", j, w);
                Point sum = Point::infinity();
                for (uint32_t part = 0; part < split.parts; part++)
                    sum = plus(sum, sums[groups.num_buckets() + split.first_partial + part]);
                columns.push_back(sum);
            }
            Partial<Toy> all, own;
            reduce_groups(&sums[groups.slot(w, 0)], groups.slots(), groups.log_group, all);
            reduce_buckets(columns.data(), groups.length(), own);
            all.weighted.add(own.weighted);
            CHECK(affine(all.weighted) == expected[w], "window %u, trial %u", w, trial);
        }
    }
}

// (1 + 2 u) and its like: products, squares and inverses against their definitions.
void the_quadratic_extension_is_a_field() {
    using Pair = Quadratic<Toy>;
    Random random;
    for (uint32_t trial = 0; trial < 1000; trial++) {
        const Pair a{Toy(random(1019)), Toy(random(1019))}, b{Toy(random(1019)), Toy(random(1 + trial % 3))};
        const Pair product = a * b;
        CHECK(product.re == a.re * b.re - a.im * b.im, "real part, trial %u", trial);
        CHECK(product.im == a.re * b.im + a.im * b.re, "imaginary part, trial %u", trial);
        const Pair squared = square(a), twice = a * a;
        CHECK((squared - twice).is_zero(), "square, trial %u", trial);
        const Pair one = a * inverse_by_norm(a, [](const Toy &norm) { return norm.inverse(); });
        CHECK(a.is_zero() ? one.is_zero() : one.re == Toy(1) && one.im.is_zero(), "inverse, trial %u", trial);
    }
}

} // namespace

int main() {
    const auto points = all_points();
    additions_follow_the_group_law_for_all_pairs(points);
    segments_sum_whatever_their_members(points);
    digits_add_up_to_the_scalar();
    reductions_weigh_buckets_by_their_number(points);
    blocks_share_all_segments_and_take_equally_often();
    groups_and_columns_weigh_buckets_by_their_number(points);
    the_quadratic_extension_is_a_field();
    return 0;
}
