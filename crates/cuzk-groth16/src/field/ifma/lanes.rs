//! The few vector operations that need pointers or many lines, with safe signatures.

use std::arch::x86_64::{
    __m512i, _mm512_load_si512, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_store_si512,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

/// Eight 64-bit words, one per lane.
pub(crate) type Lanes = __m512i;

/// Eight words in memory, aligned for a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Words(pub(crate) [u64; 8]);

impl Words {
    pub(crate) const ZERO: Self = Self([0; 8]);
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(words: &Words) -> Lanes {
    // SAFETY: `Words` is 64 bytes, aligned to 64.
    unsafe { _mm512_load_si512((&raw const *words).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(lanes: Lanes, words: &mut Words) {
    // SAFETY: `Words` is 64 bytes, aligned to 64.
    unsafe { _mm512_store_si512((&raw mut *words).cast(), lanes) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn splat(word: u64) -> Lanes {
    _mm512_set1_epi64(word.cast_signed())
}

/// Word j of row i becomes word i of row j.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose(rows: &[Lanes; 8]) -> [Lanes; 8] {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = *rows;
    let [c0, c2, c4, c6] = transpose_pairs([
        _mm512_unpacklo_epi64(r0, r1),
        _mm512_unpacklo_epi64(r2, r3),
        _mm512_unpacklo_epi64(r4, r5),
        _mm512_unpacklo_epi64(r6, r7),
    ]);
    let [c1, c3, c5, c7] = transpose_pairs([
        _mm512_unpackhi_epi64(r0, r1),
        _mm512_unpackhi_epi64(r2, r3),
        _mm512_unpackhi_epi64(r4, r5),
        _mm512_unpackhi_epi64(r6, r7),
    ]);
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// Transposes a 4 × 4 matrix of 128-bit blocks.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_pairs(rows: [Lanes; 4]) -> [Lanes; 4] {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let even_low = _mm512_shuffle_i64x2::<EVEN>(rows[0], rows[1]);
    let even_high = _mm512_shuffle_i64x2::<EVEN>(rows[2], rows[3]);
    let odd_low = _mm512_shuffle_i64x2::<ODD>(rows[0], rows[1]);
    let odd_high = _mm512_shuffle_i64x2::<ODD>(rows[2], rows[3]);
    [
        _mm512_shuffle_i64x2::<EVEN>(even_low, even_high),
        _mm512_shuffle_i64x2::<EVEN>(odd_low, odd_high),
        _mm512_shuffle_i64x2::<ODD>(even_low, even_high),
        _mm512_shuffle_i64x2::<ODD>(odd_low, odd_high),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Ifma;
    use super::*;

    #[target_feature(enable = "avx512f")]
    fn transposed(matrix: &[Words; 8]) -> [Words; 8] {
        let columns = transpose(&matrix.map(|row| load(&row)));
        columns.map(|column| {
            let mut words = Words::ZERO;
            store(column, &mut words);
            words
        })
    }

    #[test]
    fn transposition_swaps_rows_and_columns() {
        let Some(_) = Ifma::detect() else { return };
        let entry = |i: usize, j: usize| (10 * i + j) as u64;
        let matrix: [Words; 8] =
            std::array::from_fn(|i| Words(std::array::from_fn(|j| entry(i, j))));
        let expected: [Words; 8] =
            std::array::from_fn(|i| Words(std::array::from_fn(|j| entry(j, i))));
        // SAFETY: the instructions were detected above.
        assert_eq!(unsafe { transposed(&matrix) }, expected);
    }
}
