// Multiples of one base by a table: entry m of window w is m * 2^low(w) times the base, so a product is the sum of one
// entry a window. Digits are signed, so a window has entries 0 (infinity) to 2^(bits - 1).
#pragma once

#include "digits.cuh"

namespace cuzk {

constexpr uint32_t kEndOfTable = 0x60000000; // topmost limb; below that of the group order

CUZK_HD uint32_t table_entries(const Windows &windows) { return (1u << (windows.bits - 1)) + 1; }

// The scalar behind entry number `number` of the table, canonical. Digits of a value up to half of the group order
// round its topmost bits up to 2^254 at most; entries far above stand for zero and are selected by none.
CUZK_HD void table_scalar(uint32_t (&limbs)[8], uint32_t number, const Windows &windows) {
    const uint32_t magnitude = number % table_entries(windows);
    const uint32_t low = windows.low(number / table_entries(windows));
    const uint64_t shifted = uint64_t(magnitude) << (low % 32);
    const uint32_t place = low / 32;
    for (uint32_t i = 0; i < 8; i++)
        limbs[i] = i == place ? uint32_t(shifted) : i == place + 1 ? uint32_t(shifted >> 32) : 0;
    if (limbs[7] >= kEndOfTable || (place == 7 && shifted >> 32 != 0))
        for (uint32_t i = 0; i < 8; i++)
            limbs[i] = 0;
}

// The entry that window number `window` of a canonical value up to half of the group order adds; the sign in bit 31.
CUZK_HD uint32_t table_ref(const uint32_t (&limbs)[8], uint32_t window, const Windows &windows) {
    const uint32_t digit = signed_digit(limbs, window, windows);
    return digit + window * table_entries(windows);
}

} // namespace cuzk
