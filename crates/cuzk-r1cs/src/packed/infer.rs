//! Which variables the rows of a circuit force to be 0 or 1.
//!
//! Gadgets come in many forms (booleanity, conditional booleanity, XOR, AND of negations, choice), and a list of forms would
//! miss the next one. Instead one rule: a row over booleans and one other variable x is, for each choice of the booleans, a
//! quadratic equation in x; when no choice leaves a root other than 0 and 1, x is boolean. Choices that the last such row
//! excludes are not considered: majority comes as a row for the product of two bits, and one that takes it for that product.
//! Rows are read once, in order, and conclusions are drawn from earlier rows only, which is how gadgets are written.

use std::collections::HashMap;

use bellpepper_core::Index;
use ff::Field;

use crate::packed::VariableKinds;
use crate::{Column, Entry, Fr};

/// Rows over more variables than this, ONE not counted, are not examined; no gadget of a hash function needs more.
const MAX_VARIABLES: usize = 5;

/// Reads rows and collects the variables that must be boolean.
#[derive(Debug, Default)]
pub(crate) struct KindInference {
    /// Bit i is one when variable i is known to be boolean.
    boolean: Vec<u64>,
    /// What was concluded for rows of the same form: few forms make up a circuit.
    conclusions: HashMap<Vec<u32>, bool>,
    /// The last row from which a variable was found to be boolean.
    last: [Vec<Entry>; 3],
    /// Scratch: the form of the current row.
    form: Vec<u32>,
    /// Scratch: the variables of the current row.
    variables: Vec<Column>,
}

impl KindInference {
    /// Reads the next row; coefficient indices of all rows are into one growing list.
    pub(crate) fn row(&mut self, sides: [&[Entry]; 3], coefficients: &[Fr]) {
        let Some(unknown) = self.only_unknown(sides) else {
            return;
        };
        let Index::Aux(index) = self.variables[unknown].index() else {
            return;
        };
        self.form.clear();
        self.form.push(unknown as u32);
        self.describe(sides);
        let is_boolean = self.conclude(|variables| {
            Equations::new(sides, variables, unknown, coefficients).force_a_bit(|_| true)
        }) || (self.last_row_applies(unknown) && {
            let last = std::mem::take(&mut self.last);
            self.describe(last.each_ref().map(Vec::as_slice));
            let is_boolean = self.conclude(|variables| {
                let last = last.each_ref().map(Vec::as_slice);
                let last = Equations::new(last, variables, unknown, coefficients);
                Equations::new(sides, variables, unknown, coefficients)
                    .force_a_bit(|choice| last.admit(choice))
            });
            self.last = last;
            is_boolean
        });
        if is_boolean {
            self.set_boolean(index);
            for (last, side) in self.last.iter_mut().zip(sides) {
                last.clear();
                last.extend_from_slice(side);
            }
        }
    }

    /// The conclusion for the current form, drawn by `draw` from the row's variables when it is new.
    fn conclude(&mut self, draw: impl FnOnce(&[Column]) -> bool) -> bool {
        if let Some(&known) = self.conclusions.get(&self.form) {
            return known;
        }
        let conclusion = draw(&self.variables);
        self.conclusions.insert(self.form.clone(), conclusion);
        conclusion
    }

    /// Whether all variables of the last row are among the booleans of the current one.
    fn last_row_applies(&self, unknown: usize) -> bool {
        let known = |column: Column| {
            column == Column::ONE
                || self
                    .variables
                    .iter()
                    .position(|&other| other == column)
                    .is_some_and(|position| position != unknown)
        };
        self.last.iter().flatten().all(|entry| known(entry.column))
    }

    /// The kinds of `num_aux` variables: those not known to be boolean are wide.
    pub(crate) fn finish(self, num_aux: usize) -> VariableKinds {
        let mut wide: Vec<u64> = (0..num_aux.div_ceil(64))
            .map(|word| !self.boolean.get(word).copied().unwrap_or(0))
            .collect();
        if let Some(last) = wide.last_mut()
            && !num_aux.is_multiple_of(64)
        {
            *last &= (1 << (num_aux % 64)) - 1;
        }
        VariableKinds::from_wide_mask(num_aux, wide).expect(
            "the mask was made for this number of variables, which columns number with 31 bits",
        )
    }

    /// Collects the row's variables but ONE, and gives the position of the only one that is not known to be boolean;
    /// `None` when there is no such variable, more than one, or too many variables.
    fn only_unknown(&mut self, sides: [&[Entry]; 3]) -> Option<usize> {
        self.variables.clear();
        let mut unknown = None;
        for entry in sides.into_iter().flatten() {
            let column = entry.column;
            if column == Column::ONE || self.variables.contains(&column) {
                continue;
            }
            if !self.is_boolean(column) && unknown.replace(self.variables.len()).is_some() {
                return None;
            }
            if self.variables.len() == MAX_VARIABLES {
                return None;
            }
            self.variables.push(column);
        }
        unknown
    }

    /// Appends a row to the form, its variables numbered as in `variables`: forms are equal for rows that mean the same.
    fn describe(&mut self, sides: [&[Entry]; 3]) {
        for side in sides {
            self.form.push(side.len() as u32);
            for entry in side {
                let position = self.variables.iter().position(|&c| c == entry.column);
                self.form.push(position.map_or(0, |p| p as u32 + 1));
                self.form.push(entry.coefficient_index);
            }
        }
    }

    /// Whether the rows read so far force a variable to be 0 or 1.
    pub(crate) fn is_boolean(&self, column: Column) -> bool {
        match column.index() {
            Index::Input(_) => false,
            Index::Aux(index) => self
                .boolean
                .get(index / 64)
                .is_some_and(|word| word >> (index % 64) & 1 == 1),
        }
    }

    fn set_boolean(&mut self, index: usize) {
        if self.boolean.len() <= index / 64 {
            self.boolean.resize(index / 64 + 1, 0);
        }
        self.boolean[index / 64] |= 1 << (index % 64);
    }
}

/// A row over few variables as one equation in the unknown per choice of the booleans.
struct Equations {
    /// Coefficients of ONE, of the unknown, and of each boolean, on each side.
    constants: [Fr; 3],
    unknown: [Fr; 3],
    booleans: Vec<[Fr; 3]>,
}

impl Equations {
    fn new(
        sides: [&[Entry]; 3],
        variables: &[Column],
        unknown: usize,
        coefficients: &[Fr],
    ) -> Self {
        let of = |column: Column| {
            sides.map(|side| {
                side.iter()
                    .find(|entry| entry.column == column)
                    .map_or(Fr::ZERO, |entry| {
                        coefficients[entry.coefficient_index as usize]
                    })
            })
        };
        Self {
            constants: of(Column::ONE),
            unknown: of(variables[unknown]),
            booleans: (0..variables.len())
                .filter(|&position| position != unknown)
                .map(|position| of(variables[position]))
                .collect(),
        }
    }

    /// Whether every considered choice of the booleans leaves the unknown no value but 0 and 1.
    fn force_a_bit(&self, considered: impl Fn(u32) -> bool) -> bool {
        (0..1_u32 << self.booleans.len())
            .filter(|&choice| considered(choice))
            .all(|choice| roots_are_bits(self.sums(choice), self.unknown))
    }

    /// Whether a row without the unknown holds for a choice of the booleans.
    fn admit(&self, choice: u32) -> bool {
        let [a, b, c] = self.sums(choice);
        a * b == c
    }

    /// The sides without the unknown.
    fn sums(&self, choice: u32) -> [Fr; 3] {
        let mut sums = self.constants;
        for (position, coefficients) in self.booleans.iter().enumerate() {
            if choice >> position & 1 == 1 {
                for (sum, coefficient) in sums.iter_mut().zip(coefficients) {
                    *sum += coefficient;
                }
            }
        }
        sums
    }
}

/// Whether `(a0 + a1·x)·(b0 + b1·x) = c0 + c1·x` has no root but 0 and 1.
///
/// Exact for linear equations. A quadratic one without any root is not recognized as such: then x is taken for wide.
fn roots_are_bits([a0, b0, c0]: [Fr; 3], [a1, b1, c1]: [Fr; 3]) -> bool {
    let square = a1 * b1;
    let linear = a0 * b1 + a1 * b0 - c1;
    let constant = a0 * b0 - c0;
    if square == Fr::ZERO {
        return if linear == Fr::ZERO {
            constant != Fr::ZERO
        } else {
            constant == Fr::ZERO || constant == -linear
        };
    }
    // Two of the roots 0 and 1, with multiplicity: x², x(x − 1), (x − 1)², times the leading coefficient.
    (constant == Fr::ZERO && (linear == Fr::ZERO || linear == -square))
        || (constant == square && linear == -square.double())
}

#[cfg(test)]
mod tests {
    use bellpepper_core::boolean::{AllocatedBit, Boolean};
    use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
    use proptest::prelude::*;

    use super::*;
    use crate::RecordedCircuit;

    /// Terms `coefficient * variable`; variable 0 is ONE, 1.. are private.
    type Terms = Vec<(i64, usize)>;

    /// Rows over `num_aux` private variables and one input, which comes last.
    struct Rows {
        num_aux: usize,
        rows: Vec<[Terms; 3]>,
    }

    fn small(value: i64) -> Fr {
        let magnitude = Fr::from(value.unsigned_abs());
        if value < 0 { -magnitude } else { magnitude }
    }

    impl Circuit<Fr> for Rows {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let missing = || Err(SynthesisError::AssignmentMissing);
            let mut variables = vec![CS::one()];
            for _ in 0..self.num_aux {
                variables.push(cs.alloc(|| "aux", missing)?);
            }
            variables.push(cs.alloc_input(|| "input", missing)?);
            let sum = |terms: &Terms| {
                terms
                    .iter()
                    .fold(LinearCombination::zero(), |lc, &(coefficient, variable)| {
                        lc + (small(coefficient), variables[variable])
                    })
            };
            for [a, b, c] in &self.rows {
                cs.enforce(|| "row", |_| sum(a), |_| sum(b), |_| sum(c));
            }
            Ok(())
        }
    }

    fn booleans(num_aux: usize, rows: &[[&[(i64, usize)]; 3]]) -> Vec<usize> {
        let rows = rows
            .iter()
            .map(|row| row.map(<[(i64, usize)]>::to_vec))
            .collect();
        let circuit = RecordedCircuit::record(Rows { num_aux, rows }).expect("no value is needed");
        let kinds = VariableKinds::of_circuit(&circuit);
        (0..num_aux)
            .filter(|&index| !kinds.is_wide(index))
            .collect()
    }

    const BIT_1: [&[(i64, usize)]; 3] = [&[(1, 0), (-1, 1)], &[(1, 1)], &[]];
    const BIT_2: [&[(i64, usize)]; 3] = [&[(-3, 2)], &[(-5, 0), (5, 2)], &[]];

    #[test]
    fn booleanity_is_seen_in_every_sign_form() {
        for row in [
            BIT_1,
            [&[(1, 1)], &[(1, 0), (-1, 1)], &[]],
            [&[(1, 1)], &[(1, 1)], &[(1, 1)]],
            [&[(-1, 1)], &[(7, 1)], &[(-7, 1)]],
            [&[(1, 1), (-1, 0)], &[(1, 1), (-1, 0)], &[]],
        ] {
            assert_eq!(booleans(1, &[row]), [0], "{row:?}");
        }
        for row in [
            [&[(1, 1)], &[(1, 0), (-2, 1)], &[]] as [&[(i64, usize)]; 3],
            [&[(1, 1), (1, 0)], &[(1, 1)], &[]],
            [&[(1, 1)], &[(1, 1)], &[(1, 0)]],
            [&[], &[(1, 1)], &[]],
            [&[(1, 1)], &[(1, 2)], &[]],
        ] {
            assert_eq!(booleans(2, &[row]), [0; 0], "{row:?}");
        }
    }

    #[test]
    fn conclusions_need_their_premises_first() {
        let xor: [&[(i64, usize)]; 3] = [&[(2, 1)], &[(1, 2)], &[(1, 1), (1, 2), (-1, 3)]];
        assert_eq!(booleans(3, &[BIT_1, BIT_2, xor]), [0, 1, 2]);
        assert_eq!(booleans(3, &[BIT_1, xor]), [0]);
        assert_eq!(booleans(3, &[xor, BIT_1, BIT_2]), [0, 1]);
        let with_input: [&[(i64, usize)]; 3] = [&[(1, 4)], &[(1, 2)], &[(1, 3)]];
        assert_eq!(booleans(3, &[BIT_1, BIT_2, with_input]), [0, 1]);
    }

    #[test]
    fn the_product_of_two_bits_is_not_any_bit_in_the_next_row_and_is_one_later() {
        // x4 = x1·x2, and the majority of x1, x2, x3: (2·x4 − x1 − x2)·x3 = x4 − x5.
        let bit_3: [&[(i64, usize)]; 3] = [&[(1, 3)], &[(1, 3)], &[(1, 3)]];
        let and: [&[(i64, usize)]; 3] = [&[(1, 1)], &[(1, 2)], &[(1, 4)]];
        let majority: [&[(i64, usize)]; 3] =
            [&[(2, 4), (-1, 1), (-1, 2)], &[(1, 3)], &[(1, 4), (-1, 5)]];
        assert_eq!(
            booleans(5, &[BIT_1, BIT_2, bit_3, and, majority]),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(
            booleans(5, &[BIT_1, BIT_2, and, bit_3, majority]),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn a_sum_of_bits_is_wide_and_a_bit_plus_a_constant_too() {
        let sum: [&[(i64, usize)]; 3] = [&[(1, 1), (1, 2)], &[(1, 0)], &[(1, 3)]];
        assert_eq!(booleans(3, &[BIT_1, BIT_2, sum]), [0, 1]);
        let shifted: [&[(i64, usize)]; 3] = [&[(1, 1), (1, 0)], &[(1, 0)], &[(1, 3)]];
        assert_eq!(booleans(3, &[BIT_1, BIT_2, shifted]), [0, 1]);
        let negated: [&[(i64, usize)]; 3] = [&[(-1, 1), (1, 0)], &[(1, 0)], &[(1, 3)]];
        assert_eq!(booleans(3, &[BIT_1, BIT_2, negated]), [0, 1, 2]);
    }

    #[test]
    fn every_bit_that_boolean_gadgets_allocate_is_seen() {
        struct Gadgets;
        impl Circuit<Fr> for Gadgets {
            fn synthesize<CS: ConstraintSystem<Fr>>(
                self,
                cs: &mut CS,
            ) -> Result<(), SynthesisError> {
                let mut bit = |name: &str| AllocatedBit::alloc(cs.namespace(|| name), None);
                let [a, b, c] = [bit("a")?, bit("b")?, bit("c")?];
                let d = AllocatedBit::alloc_conditionally(cs.namespace(|| "d"), None, &a)?;
                let signs = |bit: &AllocatedBit| {
                    [Boolean::from(bit.clone()), Boolean::from(bit.clone()).not()]
                };
                for (i, x) in signs(&a).iter().enumerate() {
                    for (j, y) in signs(&b).iter().enumerate() {
                        Boolean::and(cs.namespace(|| format!("and {i} {j}")), x, y)?;
                        Boolean::xor(cs.namespace(|| format!("xor {i} {j}")), x, y)?;
                        for (k, z) in signs(&c).into_iter().chain(signs(&d)).enumerate() {
                            Boolean::sha256_ch(
                                cs.namespace(|| format!("ch {i} {j} {k}")),
                                x,
                                y,
                                &z,
                            )?;
                            Boolean::sha256_maj(
                                cs.namespace(|| format!("maj {i} {j} {k}")),
                                x,
                                y,
                                &z,
                            )?;
                        }
                        for constant in [Boolean::constant(false), Boolean::constant(true)] {
                            let name = format!("constant {i} {j} {:?}", constant.get_value());
                            Boolean::sha256_ch(
                                cs.namespace(|| format!("ch {name}")),
                                x,
                                &constant,
                                y,
                            )?;
                            Boolean::sha256_maj(
                                cs.namespace(|| format!("maj {name}")),
                                x,
                                &constant,
                                y,
                            )?;
                        }
                    }
                }
                Ok(())
            }
        }
        let circuit = RecordedCircuit::record(Gadgets).expect("no value is needed");
        let kinds = VariableKinds::of_circuit(&circuit);
        assert!(kinds.num_aux() > 40, "the gadgets allocate");
        assert_eq!(kinds.num_wide(), 0);
    }

    proptest! {
        /// For a row over bits 1 and 2 and variable 3: when it is said to force a bit, no small value but 0 and 1
        /// satisfies it for any choice of the bits.
        #[test]
        fn what_is_called_boolean_admits_no_other_value(
            terms in proptest::array::uniform3(proptest::collection::vec((-2_i64..3, 0_usize..4), 0..4)),
        ) {
            let rows = vec![
                BIT_1.map(<[(i64, usize)]>::to_vec),
                BIT_2.map(<[(i64, usize)]>::to_vec),
                terms.clone(),
            ];
            let circuit = RecordedCircuit::record(Rows { num_aux: 3, rows }).expect("no value is needed");
            let is_boolean = !VariableKinds::of_circuit(&circuit).is_wide(2);
            let value = |terms: &Terms, values: [i64; 4]| -> i64 {
                terms.iter().map(|&(coefficient, variable)| coefficient * values[variable]).sum()
            };
            let others = (0..4).flat_map(|bits| (-40..40).map(move |x| [1, bits & 1, bits >> 1, x]));
            let satisfying = others.filter(|&values| {
                value(&terms[0], values) * value(&terms[1], values) == value(&terms[2], values)
            });
            let only_bits = satisfying.map(|values| values[3]).all(|x| x == 0 || x == 1);
            if is_boolean {
                prop_assert!(only_bits);
            }
        }
    }
}
