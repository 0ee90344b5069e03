//! Whether a card keeps a key is known before anything is uploaded: sizes follow from the key's vectors.

use cuzk_groth16::{QueryCounts, Section};

use crate::{Fp, MsmPlan, RawScalar};

/// Bytes of the five queries of a key in device memory.
pub fn key_bytes(counts: &QueryCounts) -> u64 {
    Section::QUERIES
        .iter()
        .map(|section| counts.of(*section) * section.point_bytes() as u64)
        .sum()
}

/// Bytes of a card that keeps a key and proves with it: the key, the row values a, b, c, and the room of the largest
/// multiplication, which is over h.
pub fn resident_bytes(counts: &QueryCounts) -> u64 {
    let domain = counts.h + 1;
    let row_values = 3 * domain * size_of::<RawScalar>() as u64;
    let multiplication = MsmPlan::new(domain as usize).room_bytes(2 * size_of::<Fp>());
    key_bytes(counts) + row_values + multiplication
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_large_circuit_stays_on_a_large_card_and_not_on_a_small_one() {
        let counts = QueryCounts {
            ic: 328,
            h: (1 << 27) - 1,
            l: 130_169_893,
            a: 129_753_620,
            b_g1: 33_112_282,
            b_g2: 33_112_282,
        };
        // The file has a verifying key and six lengths besides.
        assert_eq!(key_bytes(&counts), 47_373_928_632 - 864 - 6 * 4 - 328 * 96);
        let gib = resident_bytes(&counts) >> 30;
        assert!((60..80).contains(&gib), "{gib} GiB");
    }
}
