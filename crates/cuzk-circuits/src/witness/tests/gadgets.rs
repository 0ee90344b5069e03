//! Each emitter against the gadget that it mirrors.

use bellpepper::gadgets::multipack::pack_bits;
use bellpepper::gadgets::sha256::sha256 as sha256_gadget;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use filecoin_hashers::sha256::Sha256Function;
use filecoin_hashers::{
    HashFunction, POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8, POSEIDON_CONSTANTS_11,
};
use neptune::circuit::poseidon_hash;
use proptest::prelude::*;
use storage_proofs_core::gadgets::insertion;
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

use super::*;
use crate::witness::field::{hash_pair, pack_digest, to_bits};
use crate::witness::insertion::{insert_binary, insert_octary, select};
use crate::witness::poseidon::{BINARY, COLUMN, OCTARY, Poseidon, RANDOMNESS};
use crate::witness::sha256::sha256;
use crate::witness::word::Word;

/// Upstream's variables for what a function synthesizes.
fn synthesized<F>(synthesize: F) -> Witness
where
    F: FnOnce(&mut Variables) -> Result<(), SynthesisError>,
{
    let mut cs = Variables::new();
    synthesize(&mut cs).expect("all values are known");
    cs.0
}

/// Our variables for what a function emits.
fn emitted(emit: impl FnOnce(&mut Expanded)) -> Witness {
    let mut sink = Expanded::new();
    emit(&mut sink);
    sink.0
}

fn alloc_all(cs: &mut Variables, values: &[Fr]) -> Result<Vec<AllocatedNum<Fr>>, SynthesisError> {
    values
        .iter()
        .map(|value| AllocatedNum::alloc(cs.namespace(|| ""), || Ok(*value)))
        .collect()
}

fn push_all(sink: &mut Expanded, values: &[Fr]) {
    for value in values {
        sink.push_wide(*value);
    }
}

/// Elements of the field, extremes included.
fn element() -> impl Strategy<Value = Fr> {
    prop_oneof![
        4 => any::<[u64; 4]>().prop_map(|limbs| {
            limbs.iter().fold(Fr::ZERO, |sum, &limb| {
                sum * Fr::from(u64::MAX) + Fr::from(limb)
            })
        }),
        1 => Just(Fr::ZERO),
        1 => Just(Fr::ONE),
        1 => Just(-Fr::ONE),
        1 => any::<u64>().prop_map(Fr::from),
    ]
}

fn elements<const N: usize>() -> impl Strategy<Value = [Fr; N]> {
    proptest::collection::vec(element(), N)
        .prop_map(|elements| elements.try_into().expect("as many as were asked for"))
}

/// A word of a message: constants, variables, negated variables, or all of them.
fn word() -> impl Strategy<Value = Word> {
    let mask = || prop_oneof![Just(0), Just(u32::MAX), Just(!(1 << 7)), any::<u32>()];
    (any::<u32>(), mask(), mask()).prop_map(|(value, variables, negated)| Word {
        value,
        variables,
        negated: negated & variables,
    })
}

/// The booleans of a word, most significant first; allocates those that are variables.
fn booleans(cs: &mut Variables, word: Word) -> Result<Vec<Boolean>, SynthesisError> {
    (0..32)
        .rev()
        .map(|bit| {
            let at = |mask: u32| (mask >> bit) & 1 == 1;
            if !at(word.variables) {
                return Ok(Boolean::constant(at(word.value)));
            }
            let underlying = at(word.value ^ word.negated);
            let bit = Boolean::from(AllocatedBit::alloc(cs.namespace(|| ""), Some(underlying))?);
            Ok(if at(word.negated) { bit.not() } else { bit })
        })
        .collect()
}

/// Allocates what [`booleans`] allocates.
fn push_booleans(sink: &mut Expanded, word: Word) {
    let underlying = (word.value ^ word.negated).reverse_bits();
    sink.push_masked(underlying, word.variables.reverse_bits());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sha256_of_any_mix_of_constants_and_variables(
        message in prop_oneof![
            proptest::collection::vec(word(), 0..20),
            proptest::collection::vec(any::<u32>().prop_map(Word::free), 0..34),
            proptest::collection::vec(any::<u32>().prop_map(Word::constant), 0..34),
        ],
    ) {
        let upstream = synthesized(|cs| {
            let mut bits = Vec::new();
            for word in &message {
                bits.extend(booleans(cs, *word)?);
            }
            let digest = sha256_gadget(cs.namespace(|| ""), &bits)?;
            // The gadget does not mind constants, the packing shows the digest.
            pack_bits(cs.namespace(|| ""), &little_endian(&digest)[..254])?;
            Ok(())
        });
        let ours = emitted(|sink| {
            for word in &message {
                push_booleans(sink, *word);
            }
            let digest = sha256(sink, &message);
            pack_digest(sink, digest);
        });
        prop_assert_eq!(upstream, ours);
    }

    #[test]
    fn a_node_of_a_data_tree(children in elements::<2>()) {
        let upstream = synthesized(|cs| {
            let nums = alloc_all(cs, &children)?;
            let hash = Sha256Function::hash2_circuit(cs.namespace(|| ""), &nums[0], &nums[1])?;
            hash.to_bits_le(cs.namespace(|| ""))?;
            Ok(())
        });
        let ours = emitted(|sink| {
            push_all(sink, &children);
            let hash = hash_pair(sink, children);
            to_bits(sink, hash);
        });
        prop_assert_eq!(upstream, ours);
    }

    #[test]
    fn poseidon_of_two(preimage in elements::<2>()) {
        let upstream = synthesized(|cs| {
            let nums = alloc_all(cs, &preimage)?;
            poseidon_hash(cs.namespace(|| ""), nums.clone(), &*POSEIDON_CONSTANTS_2)?;
            poseidon_hash(cs.namespace(|| ""), nums, &*POSEIDON_CONSTANTS_GEN_RANDOMNESS)?;
            Ok(())
        });
        let ours = emitted(|sink| {
            push_all(sink, &preimage);
            BINARY.hash(sink, &preimage);
            RANDOMNESS.hash(sink, &preimage);
        });
        prop_assert_eq!(upstream, ours);
    }

    #[test]
    fn poseidon_of_eight(preimage in elements::<8>()) {
        let upstream = synthesized(|cs| {
            let nums = alloc_all(cs, &preimage)?;
            poseidon_hash(cs.namespace(|| ""), nums, &*POSEIDON_CONSTANTS_8)?;
            Ok(())
        });
        prop_assert_eq!(upstream, emitted_hash(&OCTARY, &preimage));
    }

    #[test]
    fn poseidon_of_eleven(preimage in elements::<11>()) {
        let upstream = synthesized(|cs| {
            let nums = alloc_all(cs, &preimage)?;
            poseidon_hash(cs.namespace(|| ""), nums, &*POSEIDON_CONSTANTS_11)?;
            Ok(())
        });
        prop_assert_eq!(upstream, emitted_hash(&COLUMN, &preimage));
    }

    #[test]
    fn insertion_at_every_position(all in elements::<8>()) {
        let [element, siblings @ ..] = all;
        for position in 0..8_u64 {
            let upstream = synthesized(|cs| {
                let nums = alloc_all(cs, &all)?;
                let bits = position_bits(cs, position, 3)?;
                insertion::insert(cs, &nums[0], &bits, &nums[1..])?;
                insertion::insert(cs, &nums[0], &bits[..1], &nums[1..2])?;
                Ok(())
            });
            let ours = emitted(|sink| {
                push_all(sink, &all);
                sink.push_bits(position, 3);
                insert_octary(sink, position, element, &siblings);
                insert_binary(sink, position & 1, element, siblings[0]);
            });
            prop_assert_eq!(upstream, ours, "{}", position);
        }
    }

    #[test]
    fn selection_of_every_element(from in elements::<16>()) {
        for position in 0..16_u64 {
            let upstream = synthesized(|cs| {
                let nums = alloc_all(cs, &from)?;
                let bits = position_bits(cs, position, 4)?;
                insertion::select(cs.namespace(|| ""), &nums, &bits)?;
                Ok(())
            });
            let ours = emitted(|sink| {
                push_all(sink, &from);
                sink.push_bits(position, 4);
                let selected = select(sink, position, &from);
                assert_eq!(selected, from[position as usize]);
            });
            prop_assert_eq!(upstream, ours, "{}", position);
        }
    }
}

fn emitted_hash<const WIDTH: usize>(poseidon: &Poseidon<WIDTH>, preimage: &[Fr]) -> Witness {
    emitted(|sink| {
        push_all(sink, preimage);
        poseidon.hash(sink, preimage);
    })
}

fn position_bits(
    cs: &mut Variables,
    position: u64,
    count: u32,
) -> Result<Vec<Boolean>, SynthesisError> {
    (0..count)
        .map(|bit| {
            let value = (position >> bit) & 1 == 1;
            Ok(AllocatedBit::alloc(cs.namespace(|| ""), Some(value))?.into())
        })
        .collect()
}

/// Bits of a digest, lowest of each byte first.
fn little_endian(digest: &[Boolean]) -> Vec<Boolean> {
    digest
        .chunks(8)
        .flat_map(|byte| byte.iter().rev())
        .cloned()
        .collect()
}
