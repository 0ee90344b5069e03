//! Numbering the distinct coefficients of a circuit, at the pace at which rows are built.
//!
//! A large circuit asks for a number 722 million times but has a few thousand distinct coefficients, so a look-up
//! must cost a few nanoseconds: an open table of numbers, probed linearly, compared with the coefficients themselves.

use blst::blst_fr;

use crate::Fr;

/// Distinct coefficients in the order in which they were first seen.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    coefficients: Vec<Fr>,
    /// Numbers of coefficients at the slots that their hashes name, or further on; a power of two, at most half full.
    slots: Vec<u32>,
}

impl Dictionary {
    const EMPTY: u32 = u32::MAX;
    const FIRST_SLOTS: usize = 1 << 10;

    pub(crate) fn coefficients(&self) -> &[Fr] {
        &self.coefficients
    }

    pub(crate) fn into_coefficients(self) -> Vec<Fr> {
        self.coefficients
    }

    /// The number of a coefficient, a new one if it was not seen before.
    pub(crate) fn index_of(&mut self, coefficient: Fr) -> u32 {
        let slot = self.slot_of(&coefficient);
        let index = self.slots[slot];
        if index == Self::EMPTY {
            self.insert(coefficient, slot)
        } else {
            index
        }
    }

    /// The slot that holds the coefficient's number, or the free one where it belongs.
    fn slot_of(&self, coefficient: &Fr) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(coefficient) & mask;
        loop {
            let index = self.slots[slot];
            if index == Self::EMPTY || self.coefficients[index as usize] == *coefficient {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn insert(&mut self, coefficient: Fr, slot: usize) -> u32 {
        let index = u32::try_from(self.coefficients.len())
            .ok()
            .filter(|&index| index != Self::EMPTY)
            .expect("2^32 coefficients of 32 bytes each are more than the rows of any evaluation domain hold in memory");
        self.slots[slot] = index;
        self.coefficients.push(coefficient);
        if self.coefficients.len() * 2 > self.slots.len() {
            self.grow();
        }
        index
    }

    fn grow(&mut self) {
        self.slots = vec![Self::EMPTY; self.slots.len() * 2];
        for index in 0..self.coefficients.len() {
            let slot = self.slot_of(&self.coefficients[index]);
            self.slots[slot] = index as u32;
        }
    }
}

impl Default for Dictionary {
    fn default() -> Self {
        Self {
            coefficients: Vec::new(),
            slots: vec![Self::EMPTY; Self::FIRST_SLOTS],
        }
    }
}

/// Mixes the four Montgomery limbs. Coefficients come from a circuit's program, never from a client, so nobody can
/// choose them to collide.
fn hash(coefficient: &Fr) -> usize {
    let [l0, l1, l2, l3] = blst_fr::from(*coefficient).l;
    let mixed = (l0 ^ l1.rotate_left(17) ^ l2.rotate_left(31) ^ l3.rotate_left(47))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_stay_when_the_table_grows() {
        let mut dictionary = Dictionary::default();
        let coefficients: Vec<Fr> = (0..5000).map(|value| -Fr::from(value)).collect();
        for (index, &coefficient) in coefficients.iter().enumerate() {
            assert_eq!(dictionary.index_of(coefficient), index as u32);
        }
        assert!(
            dictionary.slots.len() > Dictionary::FIRST_SLOTS,
            "5000 numbers do not fit the first table"
        );
        for (index, &coefficient) in coefficients.iter().enumerate() {
            assert_eq!(dictionary.index_of(coefficient), index as u32);
        }
        assert_eq!(dictionary.coefficients(), coefficients);
    }

    proptest! {
        #[test]
        fn numbers_follow_the_first_appearance(values in proptest::collection::vec(0_u64..50, 0..200)) {
            let mut dictionary = Dictionary::default();
            let mut seen = Vec::new();
            for value in values {
                let coefficient = Fr::from(value).square() - Fr::ONE;
                let expected = seen.iter().position(|&other| other == coefficient).unwrap_or(seen.len());
                if expected == seen.len() {
                    seen.push(coefficient);
                }
                prop_assert_eq!(dictionary.index_of(coefficient), expected as u32);
            }
            prop_assert_eq!(dictionary.into_coefficients(), seen);
        }
    }
}
