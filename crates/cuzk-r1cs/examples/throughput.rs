//! Times every way of running a circuit on a chain of SHA-256 blocks, beside bellperson's own witness system.
//!
//! Times are those of all cores together, as the kernel counts them, in hundredths of a second.
//! `cargo run --release -p cuzk-r1cs --example throughput -- 100` hashes 100 blocks (about 26,000 rows each).

#![allow(clippy::print_stdout, reason = "an example reports on standard output")]

use std::hint::black_box;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::sha256::sha256;
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_r1cs::{
    CompiledCircuit, Fr, PackedWitness, RecordedCircuit, TemplateEvaluator, check_satisfied,
    evaluate, evaluate_with_hint, summarize, synthesize_witness,
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
    let start = core_seconds();
    let result = run();
    let seconds = core_seconds() - start;
    println!(
        "{name:34} {seconds:8.3} s {:8.1} ns/row",
        seconds * 1e9 / num_rows as f64
    );
    result
}

/// What this process has computed so far, on all cores.
fn core_seconds() -> f64 {
    /// The kernel's unit in this file.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .map(|field| field.parse::<f64>().expect("a number"))
        .sum::<f64>()
        / TICKS_PER_SECOND
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
        let compiled = timed("compile", num_rows, || {
            CompiledCircuit::compile(circuit, &|_| ())
        })?;
        let packed = PackedWitness::pack(compiled.kinds(), &witness)?;
        let evaluator = timed("template evaluator", num_rows, || {
            TemplateEvaluator::new(&compiled)
        });
        let mut rows = timed("templates, evaluate", num_rows, || {
            evaluator.evaluate(&packed)
        })?;
        assert!(rows == direct.evaluations);
        timed("templates, evaluate again", num_rows, || {
            evaluator.evaluate_into(&packed, &mut rows)
        })?;
        timed("templates, in blocks", num_rows, || {
            evaluator.evaluate_blocks(&packed, num_rows, &|_, values| {
                black_box(values);
            })
        })?;
        timed("recorded, digest", num_rows, || recorded.digest());
        timed("summarize", num_rows, || summarize(circuit, &|_| ()))?;
        timed("check satisfied", num_rows, || {
            check_satisfied(circuit, &|_| ())
        })?;
    }
    black_box(Fr::ONE);
    Ok(())
}
