// Table entries that the digits of a scalar select add up to the scalar, for every width of the windows.
#include "../../kernels/fixed.cuh"
#include "check.hpp"

using namespace cuzk;

namespace {

constexpr uint32_t kSign = 1u << 31;
constexpr uint32_t kBits = 254;
constexpr uint32_t kHalfOfOrder = 0x39f6d3a9; // topmost limb

// Adds or subtracts modulo 2^256.
void accumulate(uint32_t (&sum)[8], const uint32_t (&term)[8], bool negative) {
    uint64_t carry = negative ? 1 : 0;
    for (uint32_t i = 0; i < 8; i++) {
        carry += uint64_t(sum[i]) + (negative ? ~term[i] : term[i]);
        sum[i] = uint32_t(carry);
        carry >>= 32;
    }
}

void check_sum(const uint32_t (&value)[8], uint32_t bits) {
    const Windows windows{(kBits + bits) / bits, bits, 0};
    uint32_t sum[8] = {};
    for (uint32_t w = 0; w < windows.count; w++) {
        const uint32_t ref = table_ref(value, w, windows);
        const uint32_t number = ref & ~kSign;
        CHECK(number / table_entries(windows) == w, "entry of another window, %u bits", bits);
        uint32_t entry[8];
        table_scalar(entry, number, windows);
        accumulate(sum, entry, (ref & kSign) != 0);
    }
    for (uint32_t i = 0; i < 8; i++)
        CHECK(sum[i] == value[i], "limb %u, %u bits: %08x", i, bits, value[i]);
}

// Every entry is below the group order, so that the table itself can be computed as products.
void check_entries(uint32_t bits) {
    const Windows windows{(kBits + bits) / bits, bits, 0};
    for (uint32_t number = 0; number < windows.count * table_entries(windows); number++) {
        uint32_t entry[8];
        table_scalar(entry, number, windows);
        CHECK(entry[7] < 0x73eda753, "entry %u of %u bits", number, bits);
    }
}

} // namespace

int main() {
    uint64_t state = 1;
    for (uint32_t bits = 5; bits <= 22; bits++) {
        check_entries(bits);
        const uint32_t largest[8] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, kHalfOfOrder};
        check_sum({}, bits);
        check_sum(largest, bits);
        for (uint32_t bit = 0; bit < kBits - 1; bit++) {
            uint32_t value[8] = {};
            value[bit / 32] = 1u << (bit % 32);
            check_sum(value, bits);
            uint32_t below[8] = {};
            accumulate(below, value, false);
            const uint32_t one[8] = {1};
            accumulate(below, one, true);
            check_sum(below, bits);
        }
        for (uint32_t round = 0; round < 500; round++) {
            uint32_t value[8];
            for (uint32_t i = 0; i < 8; i++) {
                state = state * 6364136223846793005ull + 1442695040888963407ull;
                value[i] = uint32_t(state >> 32);
            }
            value[7] %= kHalfOfOrder;
            check_sum(value, bits);
        }
    }
    return 0;
}
