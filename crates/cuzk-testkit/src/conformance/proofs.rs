//! What a device must give for values that are a circuit's.

use cuzk_groth16::{Blinding, PendingProof, ProverDevice, ReferenceDevice};
use cuzk_r1cs::{Fr, PackedWitness, Witness};
use ff::Field;

use super::Case;
use crate::circuits::full_size;

/// Where a value is made wrong, and how.
type Lie = (&'static str, fn(&mut Witness));

fn fixed_blinding() -> Blinding {
    Blinding::from_parts(full_size(91), full_size(92))
}

/// Above this, one blinding per circuit: the reference device takes a second for a proof.
const MAX_LOG_DOMAIN_FOR_ALL_BLINDINGS: u32 = 9;

/// With the same blinding, none included, the bytes are those of the reference device, and verify for these inputs only.
///
/// # Panics
/// Panics with the circuit's name when they are not.
pub fn equals_the_reference_on_every_circuit(device: &dyn ProverDevice) {
    let blindings = [fixed_blinding(), Blinding::from_parts(Fr::ZERO, Fr::ZERO)];
    for case in Case::all() {
        let is_large = case.circuit.shape().log_domain() > MAX_LOG_DOMAIN_FOR_ALL_BLINDINGS;
        for blinding in blindings.iter().take(if is_large { 1 } else { 2 }) {
            let proof = case.prove(device, *blinding);
            let expected = case.prove(&ReferenceDevice, *blinding);
            assert_eq!(
                proof.to_bytes(),
                expected.to_bytes(),
                "{}: bytes differ",
                case.name
            );
            case.verify(&case.public_inputs, &proof)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            let mut others = case.public_inputs.clone();
            others[0] += Fr::ONE;
            case.verify(&others, &proof).expect_err(case.name);
        }
    }
}

/// Two proofs with blinding from the operating system differ in all three elements, and both verify.
///
/// # Panics
/// Panics when an element repeats or a proof does not verify.
pub fn fresh_blinding_gives_other_bytes(device: &dyn ProverDevice) {
    let case = Case::named("small factors");
    let first = case.prove(device, Blinding::random());
    let second = case.prove(device, Blinding::random());
    assert_ne!(first.a, second.a);
    assert_ne!(first.b, second.b);
    assert_ne!(first.c, second.c);
    for proof in [first, second] {
        case.verify(&case.public_inputs, &proof)
            .expect("blinding does not change the statement");
    }
}

/// A proof that was started and given up leaves nothing behind: the next one has the right bytes.
///
/// # Panics
/// Panics when the next proof differs.
pub fn survives_a_dropped_pending_proof(device: &dyn ProverDevice) {
    let case = Case::named("mimc");
    let expected = case.prove(&ReferenceDevice, fixed_blinding());
    for _ in 0..3 {
        drop(
            device
                .start(case.partition(device, fixed_blinding()))
                .expect("it starts"),
        );
        let proof = case.prove(device, fixed_blinding());
        assert_eq!(proof.to_bytes(), expected.to_bytes());
    }
}

/// Pending proofs of different circuits are independent of each other and of the thread that finishes them.
///
/// # Panics
/// Panics with the circuit's name when a proof differs from the reference.
pub fn finishes_in_any_order_and_on_other_threads(device: &dyn ProverDevice) {
    let cases = ["inputs only", "all bits one", "small factors", "mimc"].map(Case::named);
    let started: Vec<(&Case, PendingProof)> = cases
        .iter()
        .map(|case| {
            (
                case,
                device
                    .start(case.partition(device, fixed_blinding()))
                    .expect("it starts"),
            )
        })
        .collect();
    std::thread::scope(|scope| {
        for (case, pending) in started.into_iter().rev() {
            scope.spawn(move || {
                let proof = device.finish(pending).expect("it finishes");
                let expected = case.prove(&ReferenceDevice, fixed_blinding());
                assert_eq!(proof.to_bytes(), expected.to_bytes(), "{}", case.name);
            });
        }
    });
}

/// Values that do not satisfy the circuit give an error or a proof that does not verify, wherever the lie is.
///
/// # Panics
/// Panics when a false statement is proved.
pub fn wrong_values_never_verify(device: &dyn ProverDevice) {
    let case = Case::named("mixed bits");
    let lies: [Lie; 3] = [
        ("a bit", |lied| lied.aux[3] = Fr::ONE - lied.aux[3]),
        ("all bits", |lied| lied.aux.fill(Fr::ONE)),
        ("a public input", |lied| lied.inputs[1] += Fr::ONE),
    ];
    for (place, lie) in lies {
        let mut witness = case.witness.clone();
        lie(&mut witness);
        let mut partition = case.partition(device, fixed_blinding());
        partition.witness =
            PackedWitness::pack(case.circuit.kinds(), &witness).expect("bits stay bits");
        let proved = device
            .start(partition)
            .and_then(|pending| device.finish(pending));
        if let Ok(proof) = proved {
            case.verify(&case.public_inputs, &proof).expect_err(place);
        }
    }
}
