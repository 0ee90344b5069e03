//! The prover compared with: bellperson as storage providers run it on a CPU. It gets the same
//! circuit, the same key file and the same blinding as ours, so its proof must be the same bytes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16::{
    self, MappedParameters, Parameters, VerifyingKey, create_proof, prepare_verifying_key,
    verify_proof,
};
use blstrs::Bls12;
use cuzk_circuits::{CircuitError, CircuitVisitor, Statement};
use cuzk_groth16::{Blinding, PROOF_BYTES, Proof};
use cuzk_r1cs::Fr;

use crate::exit::{ExitClass, OrExit as _};

/// A key file opened by bellperson.
pub(crate) struct BellpersonKey(MappedParameters<Bls12>);

/// What one run gave.
pub(crate) struct BellpersonRun {
    /// The proof, as bellperson writes it.
    pub(crate) proof: [u8; PROOF_BYTES],
    /// Variables and rows, in one pass over the circuit.
    pub(crate) evaluate: Duration,
    /// All of it.
    pub(crate) total: Duration,
}

impl BellpersonKey {
    /// Maps a key file as the upstream crates do, without checking its points.
    ///
    /// # Errors
    /// Key, when bellperson does not accept the file.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Parameters::<Bls12>::build_mapped_parameters(path.to_owned(), false)
            .map(Self)
            .or_exit(ExitClass::Key, || {
                format!("bellperson does not accept {}", path.display())
            })
    }

    /// Proves one partition.
    ///
    /// # Errors
    /// Internal, when bellperson fails on a statement that was decoded.
    pub(crate) fn prove(
        &self,
        statement: &Statement,
        partition: usize,
        blinding: Blinding,
    ) -> anyhow::Result<BellpersonRun> {
        let visitor = Prove {
            key: &self.0,
            blinding,
        };
        let run: Result<_, CircuitError> = statement.with_circuit(partition, visitor);
        run.or_exit(ExitClass::Internal, || "building the circuit".to_owned())?
            .or_exit(ExitClass::Internal, || "bellperson fails".to_owned())
    }
}

/// Whether bellperson accepts each proof for its public inputs, without ONE.
///
/// # Errors
/// Internal, when it cannot read our key or proof.
pub(crate) fn accepts(
    key: &cuzk_groth16::VerifyingKey,
    statements: &[(Vec<Fr>, Proof)],
) -> anyhow::Result<bool> {
    let unread = |what: &str| format!("bellperson does not read our {what}");
    let key = VerifyingKey::<Bls12>::read(&key.to_bytes()[..])
        .or_exit(ExitClass::Internal, || unread("verifying key"))?;
    let key = prepare_verifying_key(&key);
    for (inputs, proof) in statements {
        let proof = groth16::Proof::<Bls12>::read(&proof.to_bytes()[..])
            .or_exit(ExitClass::Internal, || unread("proof"))?;
        let accepted = verify_proof(&key, &proof, inputs)
            .or_exit(ExitClass::Internal, || unread("public inputs"))?;
        if !accepted {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Prove<'a> {
    key: &'a MappedParameters<Bls12>,
    blinding: Blinding,
}

impl CircuitVisitor for Prove<'_> {
    type Output = anyhow::Result<BellpersonRun>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        let start = Instant::now();
        let mut evaluate = Duration::ZERO;
        let timed = Timed {
            circuit,
            time: &mut evaluate,
        };
        let Blinding { r, s } = self.blinding;
        let made = create_proof::<Bls12, _, _>(timed, self.key, r, s)?;
        let total = start.elapsed();
        let mut proof = [0; PROOF_BYTES];
        made.write(&mut proof[..])?;
        Ok(BellpersonRun {
            proof,
            evaluate,
            total,
        })
    }
}

/// A circuit that notes how long its synthesis takes inside bellperson's prover.
struct Timed<'a, C> {
    circuit: C,
    time: &'a mut Duration,
}

impl<C: Circuit<Fr>> Circuit<Fr> for Timed<'_, C> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let start = Instant::now();
        let result = self.circuit.synthesize(cs);
        *self.time = start.elapsed();
        result
    }
}
