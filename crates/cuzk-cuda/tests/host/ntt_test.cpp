// Runs the transform's kernel bodies block by block and compares with the sums that define a transform.
#include "../../kernels/ntt.cuh"
#include "check.hpp"
#include "toy_field.hpp"

#include <vector>

using namespace cuzk::ntt;

namespace {

// 2^27 divides p - 1, and 31 generates the multiplicative group.
using Toy = ToyField<2013265921>;

Toy root_of_order(uint32_t k) { return Toy(31).pow((Toy::kModulus - 1) >> k); }

struct Tables {
    std::vector<Toy> heap, rho, unit;
};

Tables tables_for(const Pass &pass, Toy coset, bool inverse) {
    Tables tables;
    auto gamma = [&](uint32_t s) { return coset.pow(uint64_t(1) << (pass.log_n - s)); };
    auto entry = [&](Toy value) { return inverse ? value.inverse() : value; };
    tables.heap.resize(size_t(1) << pass.log_n);
    for (uint32_t s = 1; s <= pass.log_n; s++)
        for (uint64_t j = 0; j < (uint64_t(1) << (s - 1)); j++)
            tables.heap[(size_t(1) << (s - 1)) + j] = entry(gamma(s) * root_of_order(s).pow(j));
    for (uint32_t b = 0; b < pass.bits; b++)
        for (uint64_t j = 0; j < (uint64_t(1) << pass.shift); j++)
            tables.rho.push_back(
                entry(gamma(pass.shift + b + 1) * root_of_order(pass.shift + b + 1).pow(j)));
    tables.unit.resize(size_t(1) << pass.bits);
    for (uint32_t b = 0; b < pass.bits; b++)
        for (uint64_t i = 0; i < (uint64_t(1) << b); i++)
            tables.unit[(size_t(1) << b) + i] = entry(root_of_order(b + 1).pow(i));
    return tables;
}

template <bool kRising>
void run_pass(std::vector<Toy> &data, const Pass &pass, const Tables &tables, const Finish<Toy> &finish) {
    const Twiddles<Toy> twiddles{tables.heap.data(), tables.rho.data(), tables.unit.data()};
    const uint32_t threads = pass.columns * pass.threads_per_column();
    const uint64_t blocks = (data.size() >> pass.bits) / pass.columns;
    struct Registers {
        Toy x[kRegisters];
    };
    for (uint64_t block = 0; block < blocks; block++) {
        std::vector<Toy> tile(pass.slots());
        std::vector<Registers> registers(threads);
        for (uint32_t step = 0; step < pass.num_windows(); step++) {
            const uint32_t window = kRising ? step : pass.num_windows() - 1 - step;
            const uint32_t shift = pass.window_shift(window);
            for (uint32_t t = 0; t < threads; t++) {
                const Place place(pass, t);
                const uint64_t column = block * pass.columns + place.column;
                const uint64_t low = column & ((uint64_t(1) << pass.shift) - 1);
                auto &x = registers[t].x;
                for (uint32_t r = 0; r < kRegisters; r++) {
                    const uint32_t e = place.element(shift, r);
                    x[r] = step == 0 ? data[pass.index(column, e)] : tile[pass.slot(place.column, e)];
                }
                butterflies<kRising>(x, pass, place, window, [&](uint32_t b, uint32_t i) {
                    if (!pass.direct && window + 1 < pass.num_windows())
                        return shared_twiddle(pass, twiddles, low, (1u << b) + i);
                    return twiddles.fetch(pass, low, b, i);
                });
            }
            for (uint32_t t = 0; t < threads; t++) {
                const Place place(pass, t);
                const uint64_t column = block * pass.columns + place.column;
                for (uint32_t r = 0; r < kRegisters; r++) {
                    const uint32_t e = place.element(shift, r);
                    if (step + 1 < pass.num_windows()) {
                        tile[pass.slot(place.column, e)] = registers[t].x[r];
                    } else {
                        const uint64_t index = pass.index(column, e);
                        data[index] = finish.apply(registers[t].x[r], index);
                    }
                }
            }
        }
    }
}

std::vector<Toy> sample(uint32_t log_n) {
    std::vector<Toy> values;
    Toy state(12345);
    for (size_t i = 0; i < (size_t(1) << log_n); i++) {
        state = state * state + Toy(i + 7);
        values.push_back(state);
    }
    return values;
}

// P(coset * root^i) for all i by Horner's rule.
std::vector<Toy> evaluate(const std::vector<Toy> &coefficients, uint32_t log_n, Toy coset) {
    std::vector<Toy> values;
    for (size_t i = 0; i < coefficients.size(); i++) {
        Toy x = coset * root_of_order(log_n).pow(i), sum(0);
        for (size_t k = coefficients.size(); k-- > 0;)
            sum = sum * x + coefficients[k];
        values.push_back(sum);
    }
    return values;
}

std::vector<Toy> reversed(const std::vector<Toy> &values, uint32_t log_n) {
    std::vector<Toy> result(values.size());
    for (size_t i = 0; i < values.size(); i++)
        result[reverse_bits(i, log_n)] = values[i];
    return result;
}

std::vector<Pass> passes(uint32_t log_n, const std::vector<uint32_t> &bits, bool direct, uint32_t columns) {
    std::vector<Pass> result;
    uint32_t shift = 0;
    for (uint32_t b : bits) {
        result.push_back(Pass{log_n, shift, b, columns, direct ? 1u : 0u});
        shift += b;
    }
    return result;
}

void rising_passes_evaluate_and_falling_passes_interpolate(uint32_t log_n, std::vector<uint32_t> bits,
                                                           bool direct, uint32_t columns, Toy coset) {
    const auto coefficients = sample(log_n);
    auto expected = evaluate(coefficients, log_n, coset);
    auto data = reversed(coefficients, log_n);
    const auto plan = passes(log_n, bits, direct, columns);
    const Finish<Toy> nothing{kPlain, nullptr, Toy(0), Toy(0)};
    for (const auto &pass : plan)
        run_pass<true>(data, pass, tables_for(pass, coset, false), nothing);
    for (size_t i = 0; i < data.size(); i++)
        CHECK(data[i] == expected[i], "evaluation %zu of 2^%u", i, log_n);

    const auto other = sample(log_n);
    const Finish<Toy> combine{kCombine, other.data(), Toy(3), Toy(uint64_t(1) << log_n).inverse()};
    for (size_t k = plan.size(); k-- > 0;)
        run_pass<false>(data, plan[k], tables_for(plan[k], coset, true), k == 0 ? combine : nothing);
    const auto back = reversed(coefficients, log_n);
    for (size_t i = 0; i < data.size(); i++)
        CHECK(data[i] == back[i] + other[i] * Toy(3), "coefficient %zu of 2^%u", i, log_n);
}

void tiny_transforms_agree_with_the_definition(uint32_t log_n, Toy coset) {
    const auto coefficients = sample(log_n);
    const auto expected = evaluate(coefficients, log_n, coset);
    auto data = reversed(coefficients, log_n);
    const Pass pass{log_n, 0, log_n, 1, 1};
    const Finish<Toy> nothing{kPlain, nullptr, Toy(0), Toy(0)};
    tiny<true>(data.data(), log_n, tables_for(pass, coset, false).heap.data(), nothing);
    for (size_t i = 0; i < data.size(); i++)
        CHECK(data[i] == expected[i], "evaluation %zu of 2^%u", i, log_n);
    const Finish<Toy> scale{kScale, nullptr, Toy(0), Toy(uint64_t(1) << log_n).inverse()};
    tiny<false>(data.data(), log_n, tables_for(pass, coset, true).heap.data(), scale);
    const auto back = reversed(coefficients, log_n);
    for (size_t i = 0; i < data.size(); i++)
        CHECK(data[i] == back[i], "coefficient %zu of 2^%u", i, log_n);
}

void powers_from_any_start() {
    std::vector<Toy> out(64);
    powers(out.data(), Toy(5), Toy(11), 0, 3);
    powers(out.data(), Toy(5), Toy(11), 3, 61);
    for (size_t i = 0; i < out.size(); i++)
        CHECK(out[i] == Toy(5) * Toy(11).pow(i), "power %zu", i);
}

} // namespace

int main() {
    const Toy cosets[] = {Toy(1), Toy(31)};
    for (Toy coset : cosets) {
        for (uint32_t log_n : {1u, 2u})
            tiny_transforms_agree_with_the_definition(log_n, coset);
        for (bool direct : {true, false}) {
            for (uint32_t bits = 3; bits <= 9; bits++)
                rising_passes_evaluate_and_falling_passes_interpolate(bits, {bits}, direct, 1, coset);
            rising_passes_evaluate_and_falling_passes_interpolate(8, {4, 4}, direct, 4, coset);
            rising_passes_evaluate_and_falling_passes_interpolate(9, {5, 4}, direct, 8, coset);
            rising_passes_evaluate_and_falling_passes_interpolate(10, {3, 7}, direct, 8, coset);
            rising_passes_evaluate_and_falling_passes_interpolate(11, {3, 4, 4}, direct, 8, coset);
        }
    }
    powers_from_any_start();
    return 0;
}
