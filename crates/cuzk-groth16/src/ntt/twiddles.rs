//! The factors of the butterflies, in bit-reversed order.
//!
//! In that order block b of every level uses factor b, whatever the level, so one table serves all levels and its
//! first entries, which the large blocks use, stay in cache. Tables are cut off; later factors are a product of two.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::reverse;

/// Powers ω^rev(b) for the blocks b of a transform over ⟨ω⟩.
pub(crate) struct Twiddles {
    log_low: u32,
    low: Vec<Scalar>,
    high: Vec<Scalar>,
}

impl Twiddles {
    /// Factors for transforms of size 2^`log_domain` with root `omega` of that order, in a low table of at most
    /// 2^`max_log_low` entries and a high one for the rest.
    pub(crate) fn new(omega: Scalar, log_domain: u32, max_log_low: u32) -> Self {
        let bits = log_domain.saturating_sub(1);
        let log_low = bits.min(max_log_low);
        let log_high = bits - log_low;
        Self {
            log_low,
            low: reversed_powers(omega.pow_vartime([1_u64 << log_high]), log_low),
            high: reversed_powers(omega, log_high),
        }
    }

    /// The factor of block `index`.
    pub(crate) fn get(&self, index: usize) -> Scalar {
        if let Some(factor) = self.low.get(index) {
            return *factor;
        }
        let low = index & ((1 << self.log_low) - 1);
        self.low[low] * self.high[index >> self.log_low]
    }

    /// The factors of a block and of its two halves.
    pub(crate) fn factors(&self, block: usize) -> (Scalar, Scalar, Scalar) {
        (
            self.get(block),
            self.get(2 * block),
            self.get(2 * block + 1),
        )
    }

    /// The tables, for eight factors at a time, and the number of low bits.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn into_tables(self) -> (u32, Vec<Scalar>, Vec<Scalar>) {
        (self.log_low, self.low, self.high)
    }
}

/// base^rev(i) for all i of `bits` bits.
fn reversed_powers(base: Scalar, bits: u32) -> Vec<Scalar> {
    const LOG_CHUNK: u32 = 12;
    let low_bits = bits.min(LOG_CHUNK);
    let mut first = vec![Scalar::ONE];
    for bit in 0..low_bits {
        // Index bit `bit` stands for exponent bit `bits - 1 - bit`.
        let factor = base.pow_vartime([1_u64 << (bits - 1 - bit)]);
        let doubled: Vec<Scalar> = first.iter().map(|power| power * factor).collect();
        first.extend(doubled);
    }
    let mut powers = vec![Scalar::ZERO; 1 << bits];
    powers
        .par_chunks_mut(1 << low_bits)
        .enumerate()
        .for_each(|(chunk, powers)| {
            let exponent = reverse(chunk, bits - low_bits);
            let factor = base.pow_vartime([exponent as u64]);
            for (power, first) in powers.iter_mut().zip(&first) {
                *power = first * factor;
            }
        });
    powers
}

#[cfg(test)]
mod tests {
    use super::super::root_of_unity;
    use super::*;

    #[test]
    fn every_factor_is_the_power_of_its_reversed_index_with_one_table_or_two() {
        for log_domain in 0..=14 {
            let omega = root_of_unity(log_domain);
            for max_log_low in [0, 1, 5, 21] {
                let twiddles = Twiddles::new(omega, log_domain, max_log_low);
                for index in 0..(1_usize << log_domain) / 2 {
                    let exponent = reverse(index, log_domain - 1);
                    assert_eq!(
                        twiddles.get(index),
                        omega.pow_vartime([exponent as u64]),
                        "2^{log_domain}, table 2^{max_log_low}, block {index}"
                    );
                }
            }
        }
    }
}
