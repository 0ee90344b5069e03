//! A hundred thousand damaged requests: every one is decoded or refused, none panics.

use std::cell::Cell;

use bellpepper_core::{Circuit, SynthesisError};
use bytes::Bytes;
use cuzk_circuits::{CircuitVisitor, ProofRequest};
use cuzk_r1cs::{Fr, Witness, synthesize_witness};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixture::{c1_text, fixture, with_c1_text};

/// Tokens that break or bend JSON.
const TOKENS: [&str; 16] = [
    "null", "NaN", "[", "]", "{", "}", "-1", "1e400", "256", "0", "\"", "[]", "{}", ",", ":",
    "\u{feff}",
];

/// One change to a list of bytes; positions are taken modulo its length.
#[derive(Clone, Debug)]
enum Mutation {
    Flip { at: usize, mask: u8 },
    Digit { at: usize, digit: u8 },
    Remove { at: usize, len: usize },
    Repeat { at: usize, len: usize },
    Insert { at: usize, token: usize },
    Number { at: usize, value: u64 },
    Truncate { at: usize },
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match *self {
            Self::Flip { at, mask } => bytes[at % len] ^= mask,
            Self::Digit { at, digit } => {
                // The next digit from there becomes another one, so that JSON stays JSON.
                let start = at % len;
                if let Some(next) = bytes[start..].iter_mut().find(|b| b.is_ascii_digit()) {
                    *next = b'0' + digit;
                }
            }
            Self::Remove { at, len: count } => {
                let start = at % len;
                bytes.drain(start..(start + count).min(len));
            }
            Self::Repeat { at, len: count } => {
                let start = at % len;
                let end = (start + count).min(len);
                let copy = bytes[start..end].to_vec();
                bytes.splice(start..start, copy);
            }
            Self::Insert { at, token } => {
                let start = at % len;
                bytes.splice(start..start, TOKENS[token].bytes());
            }
            Self::Number { at, value } => {
                let start = at % len;
                let end = (start + 8).min(len);
                bytes[start..end].copy_from_slice(&value.to_le_bytes()[..end - start]);
            }
            Self::Truncate { at } => bytes.truncate(at % len),
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = 0_usize..1 << 20;
    let len = 1_usize..200;
    let value = prop_oneof![0_u64..200, Just(u64::MAX), Just(1 << 32), any::<u64>()];
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, mask)| Mutation::Flip { at, mask }),
        (at.clone(), 0_u8..10).prop_map(|(at, digit)| Mutation::Digit { at, digit }),
        (at.clone(), len.clone()).prop_map(|(at, len)| Mutation::Remove { at, len }),
        (at.clone(), len).prop_map(|(at, len)| Mutation::Repeat { at, len }),
        (at.clone(), 0..TOKENS.len()).prop_map(|(at, token)| Mutation::Insert { at, token }),
        (at.clone(), value).prop_map(|(at, value)| Mutation::Number { at, value }),
        at.prop_map(|at| Mutation::Truncate { at }),
    ]
}

/// How many damaged requests are tried, and how many of those that decode are synthesized.
struct Effort {
    cases: u32,
    syntheses: u32,
}

/// Synthesizes a circuit without caring whether it is satisfied.
struct Synthesize;

impl CircuitVisitor for Synthesize {
    type Output = Result<Witness, SynthesisError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        synthesize_witness(circuit)
    }
}

/// Decodes damaged variants of `good`; those that pass must be synthesizable.
fn decode_damaged(good: &[u8], effort: &Effort, request: impl Fn(Vec<u8>) -> ProofRequest) {
    let config = Config {
        cases: effort.cases,
        failure_persistence: None,
        ..Config::default()
    };
    let num_decoded = Cell::new(0);
    TestRunner::new(config)
        .run(&vec(mutation(), 1..4), |mutations| {
            let mut bytes = good.to_vec();
            for mutation in &mutations {
                mutation.apply(&mut bytes);
            }
            if let Ok(statement) = request(bytes).decode() {
                num_decoded.set(num_decoded.get() + 1);
                if num_decoded.get() <= effort.syntheses {
                    // A fault is as good as none; a panic is not.
                    drop(statement.check_vanilla());
                    prop_assert!(statement.public_inputs(0).is_ok());
                    prop_assert!(matches!(statement.with_circuit(0, Synthesize), Ok(Ok(_))));
                }
            }
            Ok(())
        })
        .expect("no damaged request causes a panic");
    assert!(num_decoded.get() >= effort.syntheses, "too few decode");
}

#[test]
fn damaged_c1_output_never_panics() {
    let good = &fixture().porep;
    let effort = Effort {
        cases: 10_000,
        syntheses: 4,
    };
    decode_damaged(c1_text(good).as_bytes(), &effort, |c1| {
        ProofRequest::PoRep(with_c1_text(good, c1))
    });
}

#[test]
fn damaged_wrappers_never_panic() {
    let good = &fixture().porep;
    let effort = Effort {
        cases: 15_000,
        syntheses: 0,
    };
    decode_damaged(&good.vanilla_proof, &effort, |bytes| {
        let mut request = good.clone();
        request.vanilla_proof = Bytes::from(bytes);
        ProofRequest::PoRep(request)
    });
}

#[test]
fn damaged_updates_never_panic() {
    let good = &fixture().snap;
    let effort = Effort {
        cases: 25_000,
        syntheses: 4,
    };
    decode_damaged(&good.vanilla_proofs[0], &effort, |bytes| {
        let mut request = good.clone();
        request.vanilla_proofs[0] = Bytes::from(bytes);
        ProofRequest::SnapDeals(request)
    });
}

#[test]
fn damaged_window_posts_never_panic() {
    let good = &fixture().window;
    let effort = Effort {
        cases: 25_000,
        syntheses: 20,
    };
    decode_damaged(&good.vanilla_proofs[1], &effort, |bytes| {
        let mut request = good.clone();
        request.vanilla_proofs[1] = Bytes::from(bytes);
        ProofRequest::WindowPoSt(request)
    });
}

#[test]
fn damaged_winning_posts_never_panic() {
    let good = &fixture().winning;
    let effort = Effort {
        cases: 25_000,
        syntheses: 20,
    };
    decode_damaged(&good.vanilla_proofs[0], &effort, |bytes| {
        let mut request = good.clone();
        request.vanilla_proofs[0] = Bytes::from(bytes);
        ProofRequest::WinningPoSt(request)
    });
}
