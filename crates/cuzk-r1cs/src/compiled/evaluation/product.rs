//! Sums of products, reduced once.
//!
//! A row of Poseidon's linear layer has up to 66 products, and half of a modular multiplication is the reduction. Products of
//! Montgomery forms are added as integers of 576 bits; one reduction at the end gives the Montgomery form of the sum.

use blst::blst_fr;
use ff::Field as _;

use crate::Fr;

/// The sum of some products as an integer: at most 2^64 of them, each below 2^512.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProductSum([u64; 9]);

impl ProductSum {
    #[inline]
    pub(super) fn add(&mut self, left: Fr, right: Fr) {
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

    /// The Montgomery form of the sum of what the factors stand for.
    ///
    /// The upper and lower parts are brought below the modulus by multiplications: T = T0 + 2^256·T1 + 2^512·T2 with T0 and T1
    /// below 2^256, and a multiplication of Montgomery forms x, y gives x·y/2^256.
    #[inline]
    pub(super) fn value(self) -> Fr {
        let [t0, t1, t2, t3, t4, t5, t6, t7, t8] = self.0;
        let part = |l: [u64; 4]| Fr::from(blst_fr { l });
        part([t0, t1, t2, t3]) * part([1, 0, 0, 0])
            + part([t4, t5, t6, t7]) * Fr::ONE
            + part([t8, 0, 0, 0]) * Fr::from(SHIFT)
    }
}

/// The Montgomery form of 2^256, which is 2^512 modulo the field's order.
const SHIFT: blst_fr = blst_fr {
    l: [
        0xc999_e990_f3f2_9c6d,
        0x2b6c_edcb_8792_5c23,
        0x05d3_1496_7254_398f,
        0x0748_d9d9_9f59_ff11,
    ],
};

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
