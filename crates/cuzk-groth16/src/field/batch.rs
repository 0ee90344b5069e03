//! One inversion costs as much as some hundred multiplications, so inversions are bought in batches.
//!
//! Montgomery's trick: invert the product of all elements, then peel the individual inverses off with three
//! multiplications each.

use super::Coordinate;

/// Reusable space for the running products of [`batch_invert`].
#[derive(Clone, Debug, Default)]
pub struct InversionScratch<F> {
    products: Vec<F>,
}

impl<F> InversionScratch<F> {
    /// Empty scratch that grows to the largest batch it sees.
    pub const fn new() -> Self {
        Self {
            products: Vec::new(),
        }
    }
}

/// Replaces every element by its inverse with one inversion and three multiplications per element.
///
/// Zeros stay zero and do not disturb the others.
pub fn batch_invert<F: Coordinate>(elements: &mut [F], scratch: &mut InversionScratch<F>) {
    let products = &mut scratch.products;
    products.clear();
    products.resize(elements.len(), F::ONE);
    // products[i] is the product of all elements before i.
    for i in 1..elements.len() {
        let (before, rest) = products.split_at_mut(i);
        if elements[i - 1].is_zero() {
            rest[0] = before[i - 1];
        } else {
            rest[0].set_mul(&before[i - 1], &elements[i - 1]);
        }
    }
    let mut suffix = F::ONE;
    if let (Some(element), Some(product)) = (elements.last(), products.last()) {
        suffix = if element.is_zero() {
            product.inverse()
        } else {
            product.mul(element).inverse()
        };
    }
    for (element, product) in elements.iter_mut().zip(products.iter_mut()).rev() {
        if !element.is_zero() {
            product.mul_assign(&suffix);
            suffix.mul_assign(element);
            *element = *product;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fp, Fp2};
    use super::*;

    fn check<F: Coordinate>(mut elements: Vec<F>) {
        let expected: Vec<F> = elements.iter().map(F::inverse).collect();
        batch_invert(&mut elements, &mut InversionScratch::new());
        assert_eq!(elements, expected);
    }

    #[test]
    fn empty_single_and_all_zero_batches_are_inverted() {
        check::<Fp>(vec![]);
        check(vec![Fp::ZERO]);
        check(vec![Fp::ONE.double()]);
        check(vec![Fp::ZERO; 5]);
    }

    #[test]
    fn zeros_stay_zero_and_do_not_disturb_the_others() {
        let two = Fp2::new(Fp::ONE, Fp::ONE);
        let mut elements = vec![
            Fp2::ZERO,
            two,
            Fp2::ZERO,
            two.square(),
            two.neg(),
            Fp2::ZERO,
        ];
        elements.extend((0..20).scan(two, |power, _| {
            *power = power.mul(&two);
            Some(*power)
        }));
        check(elements);
    }
}
