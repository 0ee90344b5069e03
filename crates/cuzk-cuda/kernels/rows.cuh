// Values of a circuit's rows from a packed witness. A circuit is templates and their placements; a template's rows name
// variables relative to the placement, so that one copy of them serves thousands of hashes.
#pragma once

#include "portability.cuh"

namespace cuzk::rows {

// What the top three bits of a variable's code say about the rest of it.
enum Kind : uint32_t {
    kOne = 0,      // the constant ONE
    kInput = 1,    // public variable
    kBit = 2,      // private variable that is 0 or 1
    kWide = 3,     // private variable that is any field element, by its number among such
    kExternal = 4, // slot of the placement's external variables, which are codes without a placement
};

constexpr uint32_t kKindShift = 29;

struct Variable {
    uint32_t code;

    CUZK_HD uint32_t kind() const { return code >> kKindShift; }
    CUZK_HD uint32_t number() const { return code & ((1u << kKindShift) - 1); }
};

// One non-zero of a template's row.
struct Term {
    Variable variable;
    uint32_t coefficient;
};

// What of the circuit lies before a template's instance.
struct Placement {
    uint32_t rows;
    uint32_t bits; // private variables, wide ones included
    uint32_t wide;
    uint32_t inputs;
};

// The own rows of a template: side k of row i ends at term side_ends[3 i + k].
struct Template {
    const uint32_t *side_ends;
    const Term *terms;
    uint32_t first_term;
};

template <class F>
struct Values {
    const uint32_t *plane; // bit i is private variable i, zero for wide ones
    const F *wide;
    const F *inputs; // ONE first
    const F *coefficients;

    CUZK_HD bool bit(uint32_t number) const { return (plane[number / 32] >> (number % 32)) & 1; }
};

// The sum of one side's terms.
template <class F>
CUZK_HD F side(const Values<F> &values, const Template &shape, const Placement &at, const Variable *externals,
               uint32_t begin, uint32_t end) {
    F sum;
    set_zero(sum);
    CUZK_NO_UNROLL
    for (uint32_t t = begin; t < end; t++) {
        const Term term = shape.terms[t];
        Variable variable = term.variable;
        Placement origin = at;
        if (variable.kind() == kExternal) {
            variable = externals[variable.number()];
            origin = Placement{0, 0, 0, 0};
        }
        const uint32_t number = variable.number();
        const F coefficient = values.coefficients[term.coefficient];
        if (variable.kind() == kBit) {
            if (values.bit(origin.bits + number))
                sum = sum + coefficient;
        } else if (variable.kind() == kOne) {
            sum = sum + coefficient;
        } else if (variable.kind() == kWide) {
            sum = sum + values.wide[origin.wide + number] * coefficient;
        } else {
            sum = sum + values.inputs[origin.inputs + number] * coefficient;
        }
    }
    return sum;
}

// The sides of own row `row` of an instance.
template <class F>
CUZK_HD void sides(F (&out)[3], const Values<F> &values, const Template &shape, const Placement &at,
                   const Variable *externals, uint32_t row) {
    uint32_t begin = row == 0 ? shape.first_term : shape.side_ends[3 * row - 1];
    CUZK_NO_UNROLL
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t end = shape.side_ends[3 * row + k];
        out[k] = side(values, shape, at, externals, begin, end);
        begin = end;
    }
}

} // namespace cuzk::rows
