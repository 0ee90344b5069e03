// Fields of one machine word with the interface that kernel bodies expect.
#pragma once

#include <cstdint>

template <uint64_t kPrime>
struct ToyField {
    static constexpr uint64_t kModulus = kPrime;
    uint64_t value = 0;

    ToyField() = default;
    explicit ToyField(uint64_t v) : value(v % kModulus) {}
    bool is_zero() const { return value == 0; }
    ToyField operator+(const ToyField &o) const { return ToyField(value + o.value); }
    ToyField operator-(const ToyField &o) const { return ToyField(value + kModulus - o.value); }
    ToyField operator*(const ToyField &o) const { return ToyField(value * o.value); }
    bool operator==(const ToyField &o) const { return value == o.value; }
    ToyField pow(uint64_t e) const {
        ToyField result(1), base = *this;
        for (; e != 0; e >>= 1, base = base * base)
            if (e & 1)
                result = result * base;
        return result;
    }
    ToyField inverse() const { return pow(kModulus - 2); }
};

template <uint64_t kPrime>
ToyField<kPrime> square(const ToyField<kPrime> &a) {
    return a * a;
}
template <uint64_t kPrime>
void set_zero(ToyField<kPrime> &a) {
    a = ToyField<kPrime>(0);
}
template <uint64_t kPrime>
void set_one(ToyField<kPrime> &a) {
    a = ToyField<kPrime>(1);
}
