//! Scalars before they are multiplied: which ones are wide, and their signed digits.
//!
//! A wide scalar s above r/2 is replaced by r − s and its base by its negative, which saves a bit. Digits of `bits`
//! bits are read without carrying: a bias with 2^(bits−1) in every window but the top one is added once, and each
//! digit is the window's value minus 2^(bits−1). The top digit is read plainly; it stays below 2^(bits−1) because the
//! scalar is below 0.4532·2^255.

use blstrs::Scalar;
use ff::{Field, PrimeField};

use super::error::MsmError;

/// Bits of the scalar modulus.
pub(crate) const SCALAR_BITS: u32 = 255;
/// Fewest bits per window: with fewer the top digit could leave its range.
pub(crate) const MIN_WINDOW_BITS: u32 = 5;
/// Most bits per window: a window of buckets takes 64 MiB of G1 points then.
pub(crate) const MAX_WINDOW_BITS: u32 = 20;

/// r, least significant word first.
const MODULUS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// What a scalar costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarClass {
    Zero,
    One,
    MinusOne,
    Wide,
}

/// Tells classes apart by comparing Montgomery forms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classifier {
    minus_one: Scalar,
}

impl Classifier {
    pub(crate) fn new() -> Self {
        Self {
            minus_one: -Scalar::ONE,
        }
    }

    #[inline]
    pub(crate) fn class(&self, scalar: &Scalar) -> ScalarClass {
        if *scalar == Scalar::ZERO {
            ScalarClass::Zero
        } else if *scalar == Scalar::ONE {
            ScalarClass::One
        } else if *scalar == self.minus_one {
            ScalarClass::MinusOne
        } else {
            ScalarClass::Wide
        }
    }
}

/// Bits per window of a multi-scalar multiplication, 5 to 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBits(u32);

impl WindowBits {
    /// The given width.
    ///
    /// # Errors
    /// [`MsmError::WindowBits`] outside 5 to 20.
    pub const fn new(bits: u32) -> Result<Self, MsmError> {
        if bits >= MIN_WINDOW_BITS && bits <= MAX_WINDOW_BITS {
            Ok(Self(bits))
        } else {
            Err(MsmError::WindowBits {
                bits,
                min: MIN_WINDOW_BITS,
                max: MAX_WINDOW_BITS,
            })
        }
    }

    /// The width.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The windows into which wide scalars are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Bits per window.
    pub(crate) bits: u32,
    /// Number of windows.
    pub(crate) count: u32,
}

/// A biased scalar, from which digits are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recoded([u64; 4]);

impl Windows {
    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self {
            bits,
            count: SCALAR_BITS.div_ceil(bits),
        }
    }

    /// Buckets per window: one for each magnitude from 1.
    pub(crate) const fn buckets(self) -> usize {
        1 << (self.bits - 1)
    }

    /// 2^(bits−1) in every window but the top one.
    pub(crate) fn bias(self) -> Recoded {
        let mut words = [0; 4];
        for window in 0..self.count - 1 {
            let bit = window * self.bits + self.bits - 1;
            words[bit as usize / 64] |= 1 << (bit % 64);
        }
        Recoded(words)
    }

    /// The digit in `window`: at least −2^(bits−1), at most 2^(bits−1).
    #[inline]
    pub(crate) fn digit(self, scalar: &Recoded, window: u32) -> i32 {
        let bit = window * self.bits;
        let (word, shift) = (bit as usize / 64, bit % 64);
        let mut value = scalar.0[word] >> shift;
        if shift != 0 && word < 3 {
            value |= scalar.0[word + 1] << (64 - shift);
        }
        let half = 1 << (self.bits - 1);
        if window + 1 == self.count {
            value as i32
        } else {
            (value & (2 * half - 1)) as i32 - half as i32
        }
    }
}

/// The biased form of `scalar` or of its negative; `true` when it is the negative.
#[inline]
pub(crate) fn recode(scalar: &Scalar, bias: &Recoded) -> (Recoded, bool) {
    let words = canonical_words(scalar);
    let negated = subtract(&MODULUS, &words);
    let is_negative = words.iter().rev().gt(negated.iter().rev());
    let magnitude = if is_negative { negated } else { words };
    let mut sum = [0; 4];
    let mut carry = false;
    for i in 0..4 {
        (sum[i], carry) = magnitude[i].carrying_add(bias.0[i], carry);
    }
    (Recoded(sum), is_negative)
}

/// The canonical value, least significant word first.
fn canonical_words(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_repr();
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut buffer = [0; 8];
        buffer.copy_from_slice(chunk);
        *word = u64::from_le_bytes(buffer);
    }
    words
}

fn subtract(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut difference = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        (difference[i], borrow) = a[i].borrowing_sub(b[i], borrow);
    }
    difference
}
