//! Encodings of proofs, whole and damaged; bellperson reads the same ones.

use blstrs::{G1Projective, G2Projective, Scalar};
use group::{Curve, Group};
use proptest::prelude::*;

use super::*;

fn proof(k: u64) -> Proof {
    Proof {
        a: (G1Projective::generator() * Scalar::from(k)).to_affine(),
        b: (G2Projective::generator() * Scalar::from(k + 1)).to_affine(),
        c: (G1Projective::generator() * -Scalar::from(k + 2)).to_affine(),
    }
}

const PLACES: [(usize, ProofElement); 3] = [
    (0, ProofElement::A),
    (G1_BYTES, ProofElement::B),
    (G1_BYTES + G2_BYTES, ProofElement::C),
];

#[test]
fn nothing_and_parts_of_proofs_are_refused_with_the_length() {
    let bytes = proof(1).to_bytes();
    for found in [0, 1, 191, 193, 383] {
        let bytes: Vec<u8> = bytes.iter().copied().cycle().take(found).collect();
        assert_eq!(Proof::parse_many(&bytes), Err(ProofError::Length { found }));
    }
}

#[test]
fn another_number_of_proofs_is_refused_with_both_numbers() {
    let bytes = Proof::write_many(&[proof(1), proof(2)]);
    assert_eq!(
        Proof::parse_exactly(&bytes, 3),
        Err(ProofError::Count {
            expected: 3,
            found: 2
        })
    );
    assert_eq!(
        Proof::parse_exactly(&[], 1),
        Err(ProofError::Count {
            expected: 1,
            found: 0
        })
    );
    assert_eq!(
        Proof::parse_exactly(&bytes, 2),
        Ok(vec![proof(1), proof(2)])
    );
}

#[test]
fn the_point_at_infinity_is_refused_in_each_place() {
    for (offset, element) in PLACES {
        let mut bytes = proof(5).to_bytes();
        let width = if element == ProofElement::B { 96 } else { 48 };
        bytes[offset..offset + width].fill(0);
        bytes[offset] = COMPRESSED | INFINITY;
        assert_eq!(
            Proof::from_bytes(&bytes),
            Err(ProofError::Infinity { proof: 0, element })
        );
    }
}

#[test]
fn an_element_without_the_compressed_flag_is_refused() {
    for (offset, element) in PLACES {
        let mut bytes = proof(5).to_bytes();
        bytes[offset] &= !COMPRESSED;
        assert!(matches!(
            Proof::from_bytes(&bytes),
            Err(ProofError::NotCompressed { proof: 0, element: e, .. }) if e == element
        ));
    }
}

#[test]
fn a_coordinate_of_the_modulus_or_more_is_refused() {
    for (offset, element) in PLACES {
        let mut bytes = proof(5).to_bytes();
        bytes[offset] |= 0x1f;
        bytes[offset + 1..offset + 48].fill(0xff);
        assert_eq!(
            Proof::from_bytes(&bytes),
            Err(ProofError::NotOnCurve { proof: 0, element })
        );
    }
}

#[test]
fn points_outside_the_subgroup_are_refused_in_each_place() {
    // Of the points with a small x coordinate next to none lies in the subgroup.
    let outside = |bytes: &mut [u8], width: usize| {
        for x in 1..=u8::MAX {
            bytes.fill(0);
            bytes[0] = COMPRESSED;
            bytes[width - 1] = x;
            let on_curve = if width == G1_BYTES {
                let mut encoding = [0; G1_BYTES];
                encoding.copy_from_slice(bytes);
                bool::from(G1Affine::from_compressed_unchecked(&encoding).is_some())
            } else {
                let mut encoding = [0; G2_BYTES];
                encoding.copy_from_slice(bytes);
                bool::from(G2Affine::from_compressed_unchecked(&encoding).is_some())
            };
            if on_curve {
                return;
            }
        }
        panic!("half of all coordinates belong to a point");
    };
    for (offset, element) in PLACES {
        let mut bytes = proof(5).to_bytes();
        let width = if element == ProofElement::B {
            G2_BYTES
        } else {
            G1_BYTES
        };
        outside(&mut bytes[offset..offset + width], width);
        assert_eq!(
            Proof::from_bytes(&bytes),
            Err(ProofError::NotInSubgroup { proof: 0, element })
        );
    }
}

#[test]
fn the_first_bad_proof_of_several_is_named() {
    let mut bytes = Proof::write_many(&[proof(1), proof(2), proof(3)]);
    bytes[PROOF_BYTES + G1_BYTES] &= !COMPRESSED;
    bytes[2 * PROOF_BYTES] &= !COMPRESSED;
    let error = Proof::parse_many(&bytes).expect_err("bad");
    assert!(
        error.to_string().starts_with("proof 1, element b:"),
        "{error}"
    );
}

#[test]
fn proofs_survive_a_round_trip() {
    let proofs = [proof(1), proof(99), proof(12345)];
    let bytes = Proof::write_many(&proofs);
    assert_eq!(bytes.len(), 3 * PROOF_BYTES);
    assert_eq!(Proof::parse_many(&bytes).expect("good"), proofs);
    assert_eq!(Proof::from_bytes(&proofs[1].to_bytes()), Ok(proofs[1]));
}

/// A proof's bytes with a few bits or runs of bytes changed.
fn mutated() -> impl Strategy<Value = [u8; PROOF_BYTES]> {
    let flips = proptest::collection::vec((0..PROOF_BYTES, 1..=u8::MAX), 0..3);
    let run = proptest::option::of((
        0..PROOF_BYTES,
        0..100_usize,
        prop_oneof![Just(0), Just(0xff), any::<u8>()],
    ));
    let flags = proptest::option::of((0..3_usize, any::<u8>()));
    (1_u64..4, flips, run, flags).prop_map(|(k, flips, run, flags)| {
        let mut bytes = proof(k).to_bytes();
        for (at, mask) in flips {
            bytes[at] ^= mask;
        }
        if let Some((start, len, value)) = run {
            let end = PROOF_BYTES.min(start + len);
            bytes[start..end].fill(value);
        }
        if let Some((place, byte)) = flags {
            bytes[PLACES[place].0] ^= byte & 0xe0;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_bytes_are_refused_or_are_a_proof_exactly_as_bellperson_reads_them(bytes in mutated()) {
        let ours = Proof::from_bytes(&bytes);
        let theirs = bellperson::groth16::Proof::<blstrs::Bls12>::read(&bytes[..]);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                prop_assert_eq!(ours.to_bytes(), bytes);
                prop_assert_eq!((ours.a, ours.b, ours.c), (theirs.a, theirs.b, theirs.c));
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{:?} here, accepted by bellperson: {}", ours, theirs.is_ok()),
        }
    }

    #[test]
    fn any_bytes_of_any_length_are_refused_or_encode_to_themselves(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(proofs) = Proof::parse_many(&bytes) {
            prop_assert_eq!(Proof::write_many(&proofs), bytes);
        }
    }
}
