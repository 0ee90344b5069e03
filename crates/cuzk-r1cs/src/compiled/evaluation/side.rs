//! One side of a row as a short program.
//!
//! A side of a hash circuit is one of three things. Most have at most three bits: a table of eight values gives the sum. A
//! thousandth are packed additions, hundreds of bits with coefficients that double from bit to bit: these are numbers in the
//! witness's words, and a number times a constant is one multiplication. The rest are sums over field elements.

use std::collections::HashMap;

use blst::blst_fr;
use ff::Field;

use crate::Fr;
use crate::compiled::evaluation::frame::{Frame, Place};
use crate::product_sum::ProductSum;

/// A side: a table with up to three bits, or the number of a [`LongSide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// Index of the table, or [`Side::LONG`] and the index of the long side.
    code: u32,
    bits: [u32; Self::TABLE_BITS],
}

impl Side {
    const TABLE_BITS: usize = 3;
    const LONG: u32 = 1 << 31;
}

/// Any sum.
#[derive(Clone, Debug, Default)]
struct LongSide {
    constant: Fr,
    numbers: Vec<Number>,
    bits: Vec<(u32, Fr)>,
    /// Values to be added, and to be subtracted.
    plus: Vec<u32>,
    minus: Vec<u32>,
    products: Vec<(u32, Fr)>,
}

/// Bits at equal distances that form a number, times a constant.
#[derive(Clone, Copy, Debug)]
struct Number {
    position: u32,
    /// Distance of the bits, 1 or 2.
    stride: u32,
    len: u32,
    /// Whether the highest bit comes first.
    reversed: bool,
    /// The constant times 2^256: a product with an integer that was not brought to Montgomery form is in Montgomery form.
    scaled: Fr,
}

impl Number {
    const MAX_BITS: u32 = 64;

    #[inline]
    fn value(&self, bits: &[u64]) -> u64 {
        let (index, offset) = (self.position as usize / 64, self.position % 64);
        let pair = u128::from(bits[index]) | u128::from(bits[index + 1]) << 64;
        let mut word = (pair >> offset) as u64;
        if self.stride == 2 {
            word = every_second_bit(word);
        }
        if self.reversed {
            word.reverse_bits() >> (Self::MAX_BITS - self.len)
        } else {
            word & (u64::MAX >> (Self::MAX_BITS - self.len))
        }
    }
}

/// Bits 0, 2, 4, … side by side.
fn every_second_bit(word: u64) -> u64 {
    let mut word = word & 0x5555_5555_5555_5555;
    word = (word | word >> 1) & 0x3333_3333_3333_3333;
    word = (word | word >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
    word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) & 0x0000_0000_ffff_ffff
}

/// Programs of the sides of many rows, with what they share.
#[derive(Debug, Default)]
pub(super) struct SideProgram {
    tables: Vec<[Fr; 8]>,
    long: Vec<LongSide>,
    /// Tables by constant and coefficients.
    known: HashMap<Vec<[u64; 4]>, u32>,
    /// Scratch.
    bits: Vec<(u32, Fr)>,
}

impl SideProgram {
    /// Adds a side, given as places and coefficients.
    pub(super) fn add(&mut self, terms: impl Iterator<Item = (Place, Fr)>) -> Side {
        let mut long = LongSide::default();
        let mut bits = std::mem::take(&mut self.bits);
        bits.clear();
        for (place, coefficient) in terms {
            match place {
                Place::One => long.constant += coefficient,
                Place::Bit(position) => bits.push((position, coefficient)),
                Place::Wide(index) if coefficient == Fr::ONE => long.plus.push(index),
                Place::Wide(index) if coefficient == -Fr::ONE => long.minus.push(index),
                Place::Wide(index) => long.products.push((index, coefficient)),
            }
        }
        let has_wide = !(long.plus.is_empty() && long.minus.is_empty() && long.products.is_empty());
        let side = if bits.len() <= Side::TABLE_BITS && !has_wide {
            self.table(long.constant, &bits)
        } else {
            bits.sort_unstable_by_key(|&(position, _)| position);
            find_numbers(&bits, &mut long);
            self.long.push(long);
            Side {
                code: Side::LONG | (self.long.len() - 1) as u32,
                bits: [0; Side::TABLE_BITS],
            }
        };
        self.bits = bits;
        side
    }

    fn table(&mut self, constant: Fr, bits: &[(u32, Fr)]) -> Side {
        let limbs = |value: Fr| blst_fr::from(value).l;
        let key: Vec<[u64; 4]> = std::iter::once(limbs(constant))
            .chain(bits.iter().map(|&(_, coefficient)| limbs(coefficient)))
            .collect();
        let tables = &mut self.tables;
        let code = *self.known.entry(key).or_insert_with(|| {
            let mut table = [constant; 8];
            for (choice, value) in table.iter_mut().enumerate() {
                for (place, &(_, coefficient)) in bits.iter().enumerate() {
                    if choice >> place & 1 == 1 {
                        *value += coefficient;
                    }
                }
            }
            tables.push(table);
            tables.len() as u32 - 1
        });
        let mut side = Side {
            code,
            bits: [0; Side::TABLE_BITS],
        };
        for (place, &(position, _)) in side.bits.iter_mut().zip(bits) {
            *place = position;
        }
        // A bit without a coefficient of its own: the table says the same for both its values.
        side
    }

    /// The value of a side.
    #[inline]
    pub(super) fn value(&self, side: &Side, frame: &Frame) -> Fr {
        if side.code & Side::LONG != 0 {
            return self.long[(side.code & !Side::LONG) as usize].value(frame);
        }
        let [low, middle, high] = side
            .bits
            .map(|position| (frame.bits[position as usize / 64] >> (position % 64) & 1) as usize);
        self.tables[side.code as usize][low | middle << 1 | high << 2]
    }
}

impl LongSide {
    fn value(&self, frame: &Frame) -> Fr {
        let mut sum = self.constant;
        for number in &self.numbers {
            let value = number.value(&frame.bits);
            if value != 0 {
                sum += Fr::from(blst_fr {
                    l: [value, 0, 0, 0],
                }) * number.scaled;
            }
        }
        for &(position, coefficient) in &self.bits {
            if frame.bits[position as usize / 64] >> (position % 64) & 1 == 1 {
                sum += coefficient;
            }
        }
        for &index in &self.plus {
            sum += frame.wide[index as usize];
        }
        for &index in &self.minus {
            sum -= frame.wide[index as usize];
        }
        sum + self.sum_of_products(frame)
    }

    fn sum_of_products(&self, frame: &Frame) -> Fr {
        match self.products.as_slice() {
            [] => return Fr::ZERO,
            &[(index, coefficient)] => return frame.wide[index as usize] * coefficient,
            _ => (),
        }
        let mut sum = ProductSum::default();
        for &(index, coefficient) in &self.products {
            sum.add(frame.wide[index as usize], coefficient);
        }
        sum.value()
    }
}

/// Splits bits, sorted by position, into numbers and single bits.
fn find_numbers(bits: &[(u32, Fr)], long: &mut LongSide) {
    /// Shorter numbers cost more than their bits.
    const MIN_BITS: usize = 4;
    // 2^256, as a field element: what Montgomery form multiplies with.
    let shift = Fr::from(2).pow_vartime([256]);
    let by_position: HashMap<u32, usize> = (0..bits.len()).map(|i| (bits[i].0, i)).collect();
    let mut used = vec![false; bits.len()];
    for start in 0..bits.len() {
        if used[start] {
            continue;
        }
        let candidates =
            [(1, false), (1, true), (2, false), (2, true)].map(|(stride, reversed)| {
                let members = number_from(start, (stride, reversed), bits, (&by_position, &used));
                (members, stride, reversed)
            });
        let longest = candidates
            .into_iter()
            .max_by_key(|(members, ..)| members.len())
            .expect("four candidates");
        let (members, stride, reversed) = longest;
        if members.len() < MIN_BITS {
            used[start] = true;
            long.bits.push(bits[start]);
            continue;
        }
        for &member in &members {
            used[member] = true;
        }
        let lowest = if reversed {
            members[members.len() - 1]
        } else {
            start
        };
        long.numbers.push(Number {
            position: bits[start].0,
            stride,
            len: members.len() as u32,
            reversed,
            scaled: bits[lowest].1 * shift,
        });
    }
}

/// Bits from `start` on at a distance of `stride` whose coefficients double, or halve when `reversed`.
fn number_from(
    start: usize,
    (stride, reversed): (u32, bool),
    bits: &[(u32, Fr)],
    (by_position, used): (&HashMap<u32, usize>, &[bool]),
) -> Vec<usize> {
    let mut members = vec![start];
    let mut last = start;
    // Both words of the pair that is read hold at least this many bits behind any position.
    while members.len() < (Number::MAX_BITS / stride) as usize {
        let Some(&next) = by_position.get(&(bits[last].0 + stride)) else {
            break;
        };
        let doubles = if reversed {
            bits[next].1.double() == bits[last].1
        } else {
            bits[last].1.double() == bits[next].1
        };
        if used[next] || !doubles {
            break;
        }
        members.push(next);
        last = next;
    }
    members
}
