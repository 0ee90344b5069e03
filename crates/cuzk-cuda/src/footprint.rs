//! Whether a card keeps a key is known before anything is uploaded: sizes follow from the key's vectors.

use cuzk_groth16::{QueryCounts, Section};

use crate::{
    RawScalar,
    pass_plan::{G1_BASE_BYTES, G2_BASE_BYTES, room_bytes},
};

/// For what the vectors do not tell: a circuit's tables and a packed witness, of which a 32 GiB PoRep has 0.7 GiB.
const OF_CIRCUIT: u64 = 1 << 30;

/// Bytes of the five queries of a key in device memory.
pub fn key_bytes(counts: &QueryCounts) -> u64 {
    Section::QUERIES
        .iter()
        .map(|section| counts.of(*section) * section.point_bytes() as u64)
        .sum()
}

/// Bytes of a card that keeps a key and proves with it.
pub fn resident_bytes(counts: &QueryCounts) -> u64 {
    key_bytes(counts) + proof_bytes(counts)
}

/// Bytes that a proof takes beside a key on the card, at most, but for very many wide variables.
pub(crate) fn proof_bytes(counts: &QueryCounts) -> u64 {
    let of_queries = [counts.l, counts.a, counts.b_g1].map(|bases| (bases, G1_BASE_BYTES));
    let others = of_queries.into_iter().chain([(counts.b_g2, G2_BASE_BYTES)]);
    let others = others.map(|(bases, bytes)| room_bytes(bases as usize, bytes));
    OF_CIRCUIT + work_bytes(counts.h + 1, others.fold(0, u64::max))
}

/// Bytes of the work of a proof, of which only the largest is there at a time: the three sides of all rows, one of them beside
/// the multiplication over h, and the multiplications over the other queries.
pub(crate) fn work_bytes(domain_size: u64, of_other_queries: u64) -> u64 {
    let side = domain_size * size_of::<RawScalar>() as u64;
    let h = side + room_bytes(domain_size as usize, G1_BASE_BYTES);
    (3 * side).max(h).max(of_other_queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POREP: QueryCounts = QueryCounts {
        ic: 328,
        h: (1 << 27) - 1,
        l: 130_169_893,
        a: 129_753_620,
        b_g1: 33_112_282,
        b_g2: 33_112_282,
    };

    #[test]
    fn a_porep_s_key_and_the_work_of_its_proofs_take_what_was_measured() {
        // The file has a verifying key and six lengths besides.
        assert_eq!(key_bytes(&POREP), 47_373_928_632 - 864 - 6 * 4 - 328 * 96);
        // A proof's peak on the card was 70.0 GiB.
        let gib = resident_bytes(&POREP) as f64 / f64::from(1 << 30);
        assert!((69.8..71.5).contains(&gib), "{gib} GiB");
    }

    #[test]
    fn a_sum_in_g2_may_be_the_largest() {
        let window = QueryCounts {
            b_g1: 90_000_000,
            b_g2: 90_000_000,
            ..POREP
        };
        assert!(proof_bytes(&window) > room_bytes(90_000_000, G2_BASE_BYTES));
        assert!(proof_bytes(&window) > proof_bytes(&POREP));
    }
}
