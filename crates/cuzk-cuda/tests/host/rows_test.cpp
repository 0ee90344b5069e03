// Rows of a template in two instances, over a toy field, against sums written out.
#include "toy_field.hpp"

#include "../../kernels/rows.cuh"
#include "check.hpp"

#include <vector>

using F = ToyField<101>;
using namespace cuzk::rows;

namespace {

Variable variable(Kind kind, uint32_t number) { return Variable{(uint32_t(kind) << kKindShift) | number}; }

// Two rows: (ONE + 2 bit1) * (wide0 + 3 slot0) = input1 and (slot1) * () = 2 wide0 + 5 bit0.
const std::vector<Term> kTerms = {
    {variable(kOne, 0), 0},      {variable(kBit, 1), 1},  {variable(kWide, 0), 0}, {variable(kExternal, 0), 2},
    {variable(kInput, 1), 0},    {variable(kExternal, 1), 0}, {variable(kWide, 0), 1}, {variable(kBit, 0), 3},
};
const std::vector<uint32_t> kSideEnds = {2, 4, 5, 6, 6, 8};

void rows_read_the_variables_of_their_instance() {
    // Private variables 0 to 39; 2 and 36 are wide.
    const uint32_t plane[] = {0b1010, 0b1000};
    const F wide[] = {F(7), F(11)}, inputs[] = {F(1), F(13), F(17)};
    const F coefficients[] = {F(1), F(2), F(3), F(5)};
    const Values<F> values{plane, wide, inputs, coefficients};
    const Template shape{kSideEnds.data(), kTerms.data(), 0};
    F out[3];

    const Placement first{0, 0, 0, 0};
    const Variable of_first[] = {variable(kBit, 3), variable(kWide, 1)};
    sides(out, values, shape, first, of_first, 0);
    CHECK(out[0] == F(1 + 2 * 1) && out[1] == F(7 + 3 * 1) && out[2] == F(13), "first instance, first row");
    sides(out, values, shape, first, of_first, 1);
    CHECK(out[0] == F(11) && out[1] == F(0) && out[2] == F(2 * 7 + 5 * 0), "first instance, second row");

    const Placement second{8, 35, 1, 1};
    const Variable of_second[] = {variable(kOne, 0), variable(kInput, 2)};
    sides(out, values, shape, second, of_second, 0);
    CHECK(out[0] == F(1 + 2 * 0) && out[1] == F(11 + 3 * 1) && out[2] == F(17), "second instance, first row");
    sides(out, values, shape, second, of_second, 1);
    CHECK(out[0] == F(17) && out[1] == F(0) && out[2] == F(2 * 11 + 5 * 1), "second instance, second row");
}

} // namespace

int main() {
    rows_read_the_variables_of_their_instance();
    return 0;
}
