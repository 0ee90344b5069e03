//! Sums of products, reduced once.
//!
//! A row of Poseidon's linear layer has up to 66 products, and half of a modular multiplication is the reduction. Products of
//! Montgomery forms are added as integers of 576 bits; one reduction at the end gives the Montgomery form of the sum.

use blst::blst_fr;

use crate::Fr;

/// The sum of some products of Montgomery forms, kept as an integer until its value is asked for: at most 2^30 products.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProductSum([u64; 9]);

/// The order of the field.
const MODULUS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];
/// −1/order modulo 2^64.
const NEG_INVERSE: u64 = 0xffff_fffe_ffff_ffff;

impl ProductSum {
    /// Adds the product of two factors.
    #[inline]
    pub fn add(&mut self, left: Fr, right: Fr) {
        let (left, right) = (blst_fr::from(left).l, blst_fr::from(right).l);
        let mut product = [0_u64; 8];
        for (place, &limb) in left.iter().enumerate() {
            let mut carry = 0;
            for (other_place, &other) in right.iter().enumerate() {
                (product[place + other_place], carry) =
                    multiply_add(limb, other, product[place + other_place], carry);
            }
            product[place + 4] = carry;
        }
        let mut carry = false;
        for (sum, limb) in self.0.iter_mut().zip(product) {
            (*sum, carry) = add_carrying(*sum, limb, carry);
        }
        self.0[8] += u64::from(carry);
    }

    /// The sum, reduced.
    ///
    /// Montgomery's reduction leaves less than `2^30 · order`, and the upper words of that a quotient that is at most one too small.
    #[inline]
    pub fn value(self) -> Fr {
        let Self(mut limbs) = self;
        let mut overflow = 0;
        for place in 0..4 {
            let factor = limbs[place].wrapping_mul(NEG_INVERSE);
            let mut carry = 0;
            for (other_place, &limb) in MODULUS.iter().enumerate() {
                (limbs[place + other_place], carry) =
                    multiply_add(factor, limb, limbs[place + other_place], carry);
            }
            let sum = u128::from(limbs[place + 4]) + u128::from(carry) + u128::from(overflow);
            limbs[place + 4] = sum as u64;
            overflow = (sum >> 64) as u64;
        }
        let [.., l0, l1, l2, l3, l4] = limbs;
        let l4 = l4 + overflow;
        let quotient = (l4 << 32 | l3 >> 32) / ((MODULUS[3] >> 32) + 1);
        // What is beyond the fourth limb is zero after the subtraction.
        let rest = minus_multiple([l0, l1, l2, l3], quotient);
        Fr::from(blst_fr {
            l: minus_modulus_if_above(rest),
        })
    }
}

/// The lowest four limbs of `value − factor · order`.
#[inline]
fn minus_multiple(value: [u64; 4], factor: u64) -> [u64; 4] {
    let (mut difference, mut carry, mut borrow) = ([0; 4], 0, false);
    for place in 0..4 {
        let product;
        (product, carry) = multiply_add(factor, MODULUS[place], 0, carry);
        (difference[place], borrow) = subtract_borrowing(value[place], product, borrow);
    }
    difference
}

/// The order is subtracted from a value that is not below it.
#[inline]
fn minus_modulus_if_above(value: [u64; 4]) -> [u64; 4] {
    let (mut difference, mut borrow) = ([0; 4], false);
    for place in 0..4 {
        (difference[place], borrow) = subtract_borrowing(value[place], MODULUS[place], borrow);
    }
    if borrow { value } else { difference }
}

/// `left · right + add + carry` as low and high word.
#[inline]
fn multiply_add(left: u64, right: u64, add: u64, carry: u64) -> (u64, u64) {
    let wide = u128::from(left) * u128::from(right) + u128::from(add) + u128::from(carry);
    (wide as u64, (wide >> 64) as u64)
}

#[inline]
fn add_carrying(left: u64, right: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = left.overflowing_add(right);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

#[inline]
fn subtract_borrowing(left: u64, right: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = left.overflowing_sub(right);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    fn elements() -> impl Strategy<Value = Fr> {
        prop_oneof![
            Just(Fr::ZERO),
            Just(Fr::ONE),
            Just(-Fr::ONE),
            any::<u64>().prop_map(|seed| Fr::random(ChaCha8Rng::seed_from_u64(seed))),
        ]
    }

    #[test]
    fn an_empty_sum_is_zero() {
        assert_eq!(ProductSum::default().value(), Fr::ZERO);
    }

    #[test]
    fn the_largest_products_sum_up_without_overflow() {
        // Powers of two up to 2^20 times (−1)², by doubling the integers.
        let mut sum = ProductSum::default();
        sum.add(-Fr::ONE, -Fr::ONE);
        let largest = Fr::from(blst_fr {
            l: [MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]],
        });
        let mut expected = Fr::ONE + largest * largest;
        sum.add(largest, largest);
        for _ in 0..20 {
            assert_eq!(sum.value(), expected);
            let mut carry = false;
            for limb in &mut sum.0 {
                (*limb, carry) = add_carrying(*limb, *limb, carry);
            }
            expected = expected.double();
        }
    }

    proptest! {
        #[test]
        fn a_sum_of_products_is_that_of_reduced_ones(
            pairs in proptest::collection::vec((elements(), elements()), 0..150),
        ) {
            let mut sum = ProductSum::default();
            for &(left, right) in &pairs {
                sum.add(left, right);
            }
            let expected: Fr = pairs.iter().map(|(left, right)| left * right).sum();
            prop_assert_eq!(sum.value(), expected);
        }
    }
}
