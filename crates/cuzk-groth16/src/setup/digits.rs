//! Signed digits halve the tables of a fixed base; adding half of each digit beforehand makes them free of carries.
//!
//! With w bits a window the digit is u − 2^(w−1), where u are the window's bits of the scalar plus Σ 2^(w−1)·2^(wi).
//! Its magnitude is at most 2^(w−1).

use blstrs::Scalar;

/// Bits of a scalar below half of the group order, and one more for what half of each digit adds.
const SCALAR_BITS: usize = 255;
const LIMBS: usize = 5;

/// The group order r, least significant limb first.
const ORDER: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// A scalar below r/2 plus half of each digit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits([u64; LIMBS]);

/// One signed digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digit {
    Zero,
    /// Magnitude from 1 to 2^(w−1).
    Signed {
        magnitude: usize,
        negative: bool,
    },
}

/// How scalars are cut into digits of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recoding {
    window_bits: usize,
    /// 2^(w−1) in each window.
    half_digits: [u64; LIMBS],
}

impl Recoding {
    /// Digits of `window_bits` bits, 5 to 17 of them.
    pub(super) fn new(window_bits: usize) -> Self {
        let mut half_digits = [0; LIMBS];
        for window in 0..SCALAR_BITS.div_ceil(window_bits) {
            let bit = window * window_bits + window_bits - 1;
            half_digits[bit / 64] |= 1 << (bit % 64);
        }
        Self {
            window_bits,
            half_digits,
        }
    }

    pub(super) const fn num_windows(&self) -> usize {
        SCALAR_BITS.div_ceil(self.window_bits)
    }

    /// The largest magnitude of a digit.
    pub(super) const fn half(&self) -> usize {
        1 << (self.window_bits - 1)
    }

    /// The scalar, or its negative if that is smaller, ready for its digits; and whether it was negated.
    pub(super) fn recode(&self, scalar: &Scalar) -> (Digits, bool) {
        let limbs = limbs_of(scalar);
        let negated = subtract(&ORDER, &limbs);
        let negative = limbs.iter().rev().gt(negated.iter().rev());
        let small = if negative { negated } else { limbs };
        let mut digits = self.half_digits;
        let mut carry = 0;
        for (digit, limb) in digits.iter_mut().zip(small.into_iter().chain([0])) {
            let sum = u128::from(*digit) + u128::from(limb) + carry;
            *digit = sum as u64;
            carry = sum >> 64;
        }
        (Digits(digits), negative)
    }

    /// The digit of one window, the lowest being 0.
    #[inline]
    pub(super) fn digit(&self, digits: &Digits, window: usize) -> Digit {
        let bit = window * self.window_bits;
        let (limb, shift) = (bit / 64, bit % 64);
        let high = digits.0.get(limb + 1).copied().unwrap_or(0);
        let pair = u128::from(digits.0[limb]) | (u128::from(high) << 64);
        let unsigned = (pair >> shift) as usize & ((1 << self.window_bits) - 1);
        match unsigned.abs_diff(self.half()) {
            0 => Digit::Zero,
            magnitude => Digit::Signed {
                magnitude,
                negative: unsigned < self.half(),
            },
        }
    }
}

fn limbs_of(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_bytes_le();
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        *limb = u64::from_le_bytes(word);
    }
    limbs
}

/// `left − right` for `left ≥ right`.
fn subtract(left: &[u64; 4], right: &[u64; 4]) -> [u64; 4] {
    let mut difference = [0; 4];
    let mut borrow = false;
    for (out, (left, right)) in difference.iter_mut().zip(left.iter().zip(right)) {
        let (partial, first) = left.overflowing_sub(*right);
        let (value, second) = partial.overflowing_sub(u64::from(borrow));
        *out = value;
        borrow = first || second;
    }
    difference
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    /// Σ digit·2^(wi), negated if the scalar was.
    fn value(recoding: &Recoding, scalar: &Scalar) -> Scalar {
        let (digits, negative) = recoding.recode(scalar);
        let base = Scalar::from(1 << recoding.window_bits);
        let sum = (0..recoding.num_windows())
            .rev()
            .fold(Scalar::ZERO, |sum, window| {
                let digit = match recoding.digit(&digits, window) {
                    Digit::Zero => Scalar::ZERO,
                    Digit::Signed {
                        magnitude,
                        negative,
                    } => {
                        assert!((1..=recoding.half()).contains(&magnitude));
                        let digit = Scalar::from(magnitude as u64);
                        if negative { -digit } else { digit }
                    }
                };
                sum * base + digit
            });
        if negative { -sum } else { sum }
    }

    #[test]
    fn digits_of_every_size_add_up_to_the_scalar() {
        let half = Scalar::from(2).invert().expect("two is not zero");
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, half, half - Scalar::ONE];
        let mut power = Scalar::ONE;
        for _ in 0..256 {
            scalars.extend([power, power - Scalar::ONE]);
            power = power.double();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        scalars.extend((0..200).map(|_| Scalar::random(&mut rng)));
        for window_bits in 5..=17 {
            let recoding = Recoding::new(window_bits);
            for scalar in &scalars {
                for scalar in [*scalar, -*scalar] {
                    assert_eq!(value(&recoding, &scalar), scalar, "{window_bits} bits");
                }
            }
        }
    }

    #[test]
    fn all_digits_of_zero_are_zero() {
        let recoding = Recoding::new(9);
        let (digits, negative) = recoding.recode(&Scalar::ZERO);
        assert!(!negative);
        for window in 0..recoding.num_windows() {
            assert_eq!(recoding.digit(&digits, window), Digit::Zero);
        }
    }
}
