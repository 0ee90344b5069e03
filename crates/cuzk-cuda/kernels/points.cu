// Points between the encoding of key files and the form of the kernels.
//
// A key file holds big-endian coordinates, x before y and the coefficient of u first in G2, with three flags in the
// topmost bits. Both forms take the same number of bytes.
#include "field.cuh"
#include "quadratic.cuh"

#include "curve.cuh"

using namespace cuzk;

namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kFlags = 7u << 29;
constexpr uint32_t kInfinity = 1u << 30;
constexpr uint32_t kPartWords = 12; // of a base-field element

#ifdef __CUDA_ARCH__

// A coordinate's base-field elements in the order of the file, and the constant of its curve's equation.
template <class Field>
struct Parts;

template <>
struct Parts<Fp> {
    static constexpr uint32_t kCount = 1;
    static __device__ Fp &of(Fp &coordinate, uint32_t) { return coordinate; }
    static __device__ Fp curve_b() {
        const Fp one = Fp::one(), two = one + one;
        return two + two;
    }
};

template <>
struct Parts<Quadratic<Fp>> {
    static constexpr uint32_t kCount = 2;
    static __device__ Fp &of(Quadratic<Fp> &coordinate, uint32_t part) {
        return part == 0 ? coordinate.im : coordinate.re;
    }
    static __device__ Quadratic<Fp> curve_b() {
        const Fp four = Parts<Fp>::curve_b();
        return Quadratic<Fp>{four, four};
    }
};

__device__ __forceinline__ uint32_t swapped(uint32_t word) { return __byte_perm(word, 0, 0x0123); }

__device__ __forceinline__ bool is_reduced(const Fp &value) {
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < kPartWords; i++)
        borrow = (uint64_t(value[i]) - device::BLS12_381_P[i] - borrow) >> 63;
    return borrow != 0;
}

template <class Field>
__device__ bool is_on_curve(const Affine<Field> &p) {
    return (square(p.y) - square(p.x) * p.x - Parts<Field>::curve_b()).is_zero();
}

template <class Field>
__device__ bool decode(Affine<Field> &place) {
    constexpr uint32_t kParts = Parts<Field>::kCount;
    alignas(16) uint32_t words[2 * kParts * kPartWords];
    for (uint32_t i = 0; i < 2 * kParts * kPartWords / 4; i++)
        reinterpret_cast<uint4 *>(words)[i] = reinterpret_cast<const uint4 *>(&place)[i];
    const uint32_t head = swapped(words[0]);
    if (head & kInfinity) {
        uint32_t others = head ^ kInfinity;
        for (uint32_t i = 1; i < 2 * kParts * kPartWords; i++)
            others |= words[i];
        place = Affine<Field>::infinity();
        return others == 0;
    }
    Affine<Field> point;
    bool good = (head & kFlags) == 0;
    for (uint32_t number = 0; number < 2 * kParts; number++) {
        Fp &part = Parts<Field>::of(number < kParts ? point.x : point.y, number % kParts);
        for (uint32_t i = 0; i < kPartWords; i++)
            part[kPartWords - 1 - i] = swapped(words[number * kPartWords + i]);
        good = good && is_reduced(part);
        part.to();
    }
    place = point;
    // The equation has a constant, so (0, 0), which would read as infinity, fails it.
    return good && is_on_curve(point);
}

template <class Field>
__device__ void encode(Affine<Field> &place, Affine<Field> point) {
    constexpr uint32_t kParts = Parts<Field>::kCount;
    alignas(16) uint32_t words[2 * kParts * kPartWords];
    const bool infinity = point.is_infinity();
    for (uint32_t number = 0; number < 2 * kParts; number++) {
        Fp &part = Parts<Field>::of(number < kParts ? point.x : point.y, number % kParts);
        part.from();
        for (uint32_t i = 0; i < kPartWords; i++)
            words[number * kPartWords + i] = swapped(part[kPartWords - 1 - i]);
    }
    if (infinity)
        words[0] = swapped(kInfinity);
    for (uint32_t i = 0; i < 2 * kParts * kPartWords / 4; i++)
        reinterpret_cast<uint4 *>(&place)[i] = reinterpret_cast<const uint4 *>(words)[i];
}

template <class Field>
__device__ __forceinline__ void decode_all(Affine<Field> *points, uint32_t first, uint32_t count,
                                           uint32_t *first_bad) {
    const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
    if (i < count && !decode(points[i]))
        atomicMin(first_bad, first + i);
}

template <class Field>
__device__ __forceinline__ void encode_all(Affine<Field> *bytes, const Affine<Field> *points, uint32_t count) {
    const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
    if (i < count)
        encode(bytes[i], points[i]);
}

#endif

} // namespace

// points[i] = the point that the bytes in its place encode, one thread a point; the points are numbered from `first`.
// Lowers *first_bad to the smallest number whose bytes encode no point of the curve.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_g1_decode(Affine<Fp> *points, uint32_t first, uint32_t count, uint32_t *first_bad) {
#ifdef __CUDA_ARCH__
    decode_all(points, first, count, first_bad);
#endif
}

// The same over G2.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_g2_decode(Affine<Quadratic<Fp>> *points, uint32_t first, uint32_t count, uint32_t *first_bad) {
#ifdef __CUDA_ARCH__
    decode_all(points, first, count, first_bad);
#endif
}

// bytes[i] = what encodes points[i], one thread a point.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_g1_encode(Affine<Fp> *bytes, const Affine<Fp> *points, uint32_t count) {
#ifdef __CUDA_ARCH__
    encode_all(bytes, points, count);
#endif
}

// The same over G2.
extern "C" __global__ void __launch_bounds__(kBlock)
    cuzk_g2_encode(Affine<Quadratic<Fp>> *bytes, const Affine<Quadratic<Fp>> *points, uint32_t count) {
#ifdef __CUDA_ARCH__
    encode_all(bytes, points, count);
#endif
}
