//! Between field elements and the words that SHA-256 works on.

use blstrs::Scalar as Fr;
use ff::PrimeField;

use super::sink::Sink;
use super::word::Word;

/// Bits of a field element.
const ELEMENT_BITS: u32 = Fr::NUM_BITS;
/// The highest bit of the last byte is beyond the field, hence a constant.
const LAST_WORD_VARIABLES: u32 = !(1 << 7);
/// Of the last byte of a digest, what fits into every field element.
const LAST_BYTE_MASK: u8 = 0x3f;

/// Splits an element into its canonical bits, lowest first, as upstream's `to_bits_le` does, and
/// returns its bytes as the words of a message.
pub(super) fn to_bits<S: Sink>(sink: &mut S, element: Fr) -> [Word; 8] {
    let bytes = element.to_repr();
    let (limbs, _) = bytes.as_chunks::<8>();
    for (limb, count) in limbs.iter().zip([64, 64, 64, ELEMENT_BITS - 3 * 64]) {
        sink.push_bits(u64::from_le_bytes(*limb), count);
    }
    let (words, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|index| {
        let value = u32::from_be_bytes(words[index]);
        let variables = if index == 7 {
            LAST_WORD_VARIABLES
        } else {
            u32::MAX
        };
        Word::partly_free(value, variables)
    })
}

/// Packs the bits of a digest into a new element, dropping the two that may not fit.
pub(super) fn pack_digest<S: Sink>(sink: &mut S, digest: [Word; 8]) -> Fr {
    let mut bytes = [0; 32];
    let (words, _) = bytes.as_chunks_mut::<4>();
    for (bytes, word) in words.iter_mut().zip(digest) {
        *bytes = word.value.to_be_bytes();
    }
    bytes[31] &= LAST_BYTE_MASK;
    let element =
        Fr::from_repr_vartime(bytes).expect("254 bits are less than the order of the field");
    sink.push_wide(element);
    element
}

/// The node above two nodes of a tree over SHA-256.
pub(super) fn hash_pair<S: Sink>(sink: &mut S, pair: [Fr; 2]) -> Fr {
    let [left, right] = pair;
    let mut message = [Word::constant(0); 16];
    message[..8].copy_from_slice(&to_bits(sink, left));
    message[8..].copy_from_slice(&to_bits(sink, right));
    let digest = super::sha256::sha256(sink, &message);
    pack_digest(sink, digest)
}
