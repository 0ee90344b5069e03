//! Times every way of running a circuit on a chain of SHA-256 blocks, beside bellperson's own witness system.
//!
//! `cargo run --release -p cuzk-r1cs --example throughput -- 100` hashes 100 blocks (about 26,000 rows each).

#![allow(clippy::print_stdout, reason = "an example reports on standard output")]

use std::hint::black_box;
use std::time::Instant;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::sha256::sha256;
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_r1cs::{
    Fr, RecordedCircuit, check_satisfied, evaluate, evaluate_with_hint, summarize,
    synthesize_witness,
};
use ff::Field;

/// SHA-256 of a preimage of `num_blocks` times 64 bytes.
#[derive(Clone, Copy)]
struct Hash {
    num_blocks: usize,
}

impl Circuit<Fr> for Hash {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = (0..self.num_blocks * 512)
            .map(|index| {
                let value = index.wrapping_mul(0x9e37_79b9) & 0x100 != 0;
                let bit =
                    AllocatedBit::alloc(cs.namespace(|| format!("bit {index}")), Some(value))?;
                Ok(Boolean::from(bit))
            })
            .collect::<Result<Vec<_>, SynthesisError>>()?;
        let digest = sha256(cs.namespace(|| "hash"), &bits)?;
        black_box(digest);
        Ok(())
    }
}

fn timed<T>(name: &str, num_rows: usize, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:34} {seconds:8.3} s {:8.1} ns/row",
        seconds * 1e9 / num_rows as f64
    );
    result
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let num_blocks = std::env::args()
        .nth(1)
        .map_or(Ok(50), |text| text.parse())?;
    let circuit = Hash { num_blocks };
    let shape = summarize(circuit, &|_| ())?.shape;
    let num_rows = shape.num_rows();
    println!("{shape:?}");
    for _ in 0..2 {
        timed("bellperson WitnessCS", num_rows, || {
            let mut system = WitnessCS::<Fr>::new();
            circuit
                .synthesize(&mut system)
                .map(|()| system.aux_slice().len())
        })?;
        let witness = timed("witness", num_rows, || synthesize_witness(circuit))?;
        timed("evaluate", num_rows, || evaluate(circuit))?;
        let direct = timed("evaluate with hint", num_rows, || {
            evaluate_with_hint(circuit, shape)
        })?;
        let recorded = timed("record", num_rows, || RecordedCircuit::record(circuit))?;
        let rows = timed("recorded, evaluate", num_rows, || {
            recorded.evaluate(&witness)
        });
        assert!(rows == direct.evaluations);
        timed("recorded, digest", num_rows, || recorded.digest());
        timed("summarize", num_rows, || summarize(circuit, &|_| ()))?;
        timed("check satisfied", num_rows, || {
            check_satisfied(circuit, &|_| ())
        })?;
    }
    black_box(Fr::ONE);
    Ok(())
}
