// Scalars become signed digits of `width` bits, so that half as many buckets suffice (Booth's recoding: each digit
// depends on its own bits and the bit below, without carries).
#pragma once

#include "portability.cuh"

namespace cuzk {

// Windows of `bits` bits: the first `wide` have one bit more than the others, so that none is nearly empty.
struct Windows {
    uint32_t count;
    uint32_t bits;
    uint32_t wide;

    CUZK_HD uint32_t width(uint32_t window) const { return bits + (window < wide ? 1 : 0); }
    CUZK_HD uint32_t low(uint32_t window) const { return window * bits + (window < wide ? window : wide); }
};

// Digit number `window` of a canonical value: magnitude at most 2^(width-1) in the low bits, sign in bit 31, 0 for
// none. The windows must cover at least one bit more than the value has.
CUZK_HD uint32_t signed_digit(const uint32_t (&limbs)[8], uint32_t window, const Windows &windows) {
    const uint32_t low = windows.low(window), width = windows.width(window);
    const uint32_t limb = low / 32, shift = low % 32;
    uint32_t bits = limbs[limb] >> shift;
    if (shift != 0 && limb < 7)
        bits |= limbs[limb + 1] << (32 - shift);
    bits &= (1u << width) - 1;
    const uint32_t below = low == 0 ? 0 : (limbs[(low - 1) / 32] >> ((low - 1) % 32)) & 1;
    const uint32_t negative = bits >> (width - 1);
    const uint32_t value = bits + below;
    const uint32_t magnitude = negative ? (1u << width) - value : value;
    return magnitude == 0 ? 0 : magnitude | (negative << 31);
}

} // namespace cuzk
