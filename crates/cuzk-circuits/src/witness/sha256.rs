//! SHA-256 as upstream's gadget lays it out.
//!
//! A compression allocates some 26,000 booleans, but they come from a few hundred additions and
//! exclusive ors of words. This does the word operations in the gadget's order; [`super::word`]
//! says which bits of each become variables.

use super::sink::Sink;
use super::word::{Word, add, choose, majority, xor};

const ROUND_CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

const INITIAL_STATE: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Words of a block.
const BLOCK_WORDS: usize = 16;

/// The digest of whole words.
pub(super) fn sha256<S: Sink>(sink: &mut S, message: &[Word]) -> [Word; 8] {
    let num_bits = message.len() as u64 * 32;
    let mut padded = Vec::with_capacity(message.len() + 2 * BLOCK_WORDS);
    padded.extend_from_slice(message);
    padded.push(Word::constant(1 << 31));
    while padded.len() % BLOCK_WORDS != BLOCK_WORDS - 2 {
        padded.push(Word::constant(0));
    }
    padded.push(Word::constant((num_bits >> 32) as u32));
    padded.push(Word::constant(num_bits as u32));
    let (blocks, _) = padded.as_chunks();
    blocks
        .iter()
        .fold(INITIAL_STATE.map(Word::constant), |state, block| {
            compress(sink, block, &state)
        })
}

/// One compression.
fn compress<S: Sink>(sink: &mut S, block: &[Word; BLOCK_WORDS], state: &[Word; 8]) -> [Word; 8] {
    let schedule = schedule(sink, block);
    let [start_a, mut b, mut c, mut d, start_e, mut f, mut g, mut h] = *state;
    let mut a_terms = Sum::Known(start_a);
    let mut e_terms = Sum::Known(start_e);
    for (&key, &scheduled) in ROUND_CONSTANTS.iter().zip(&schedule) {
        let e = e_terms.value(sink);
        let sigma1 = xor3(
            sink,
            e.rotate_right(6),
            e.rotate_right(11),
            e.rotate_right(25),
        );
        let ch = choose(sink, e, f, g);
        let a = a_terms.value(sink);
        let sigma0 = xor3(
            sink,
            a.rotate_right(2),
            a.rotate_right(13),
            a.rotate_right(22),
        );
        let maj = majority(sink, a, b, c);
        let key = Word::constant(key);
        e_terms = Sum::OfSix([h, sigma1, ch, key, scheduled, d]);
        a_terms = Sum::OfSeven([h, sigma1, ch, key, scheduled, sigma0, maj]);
        (h, g, f) = (g, f, e);
        (d, c, b) = (c, b, a);
    }
    [
        a_terms.plus(sink, state[0]),
        add(sink, &[state[1], b]),
        add(sink, &[state[2], c]),
        add(sink, &[state[3], d]),
        e_terms.plus(sink, state[4]),
        add(sink, &[state[5], f]),
        add(sink, &[state[6], g]),
        add(sink, &[state[7], h]),
    ]
}

/// The block and the 48 words that it expands to.
fn schedule<S: Sink>(sink: &mut S, block: &[Word; BLOCK_WORDS]) -> [Word; 64] {
    let mut words = [Word::constant(0); 64];
    words[..BLOCK_WORDS].copy_from_slice(block);
    for i in BLOCK_WORDS..64 {
        let early = words[i - 15];
        let late = words[i - 2];
        let s0 = xor3(
            sink,
            early.rotate_right(7),
            early.rotate_right(18),
            early.shift_right(3),
        );
        let s1 = xor3(
            sink,
            late.rotate_right(17),
            late.rotate_right(19),
            late.shift_right(10),
        );
        words[i] = add(sink, &[words[i - 16], s0, words[i - 7], s1]);
    }
    words
}

fn xor3<S: Sink>(sink: &mut S, a: Word, b: Word, c: Word) -> Word {
    let ab = xor(sink, a, b);
    xor(sink, ab, c)
}

/// A sum that the gadget forms when the value is first needed, a round later.
enum Sum {
    Known(Word),
    OfSix([Word; 6]),
    OfSeven([Word; 7]),
}

impl Sum {
    fn value<S: Sink>(&self, sink: &mut S) -> Word {
        match self {
            Self::Known(word) => *word,
            Self::OfSix(terms) => add(sink, terms),
            Self::OfSeven(terms) => add(sink, terms),
        }
    }

    /// The sum with one term more.
    fn plus<S: Sink>(&self, sink: &mut S, term: Word) -> Word {
        match *self {
            Self::Known(word) => add(sink, &[word, term]),
            Self::OfSix([a, b, c, d, e, f]) => add(sink, &[a, b, c, d, e, f, term]),
            Self::OfSeven([a, b, c, d, e, f, g]) => add(sink, &[a, b, c, d, e, f, g, term]),
        }
    }
}
