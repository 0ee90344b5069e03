//! What goes into a device and what comes back.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuzk_r1cs::{CompiledCircuit, Densities, PackedWitness};
use group::prime::PrimeCurveAffine;

use super::error::DeviceError;
use crate::assembly::Blinding;
use crate::key::{ProvingKey, QueryCounts, Section};
use crate::proof::Proof;
use crate::verifying_key::VerifyingKey;

/// A key that a device is ready to use; cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadedKey {
    origin: PathBuf,
    verifying_key: Arc<VerifyingKey>,
    counts: QueryCounts,
    form: Arc<dyn Any + Send + Sync>,
}

impl LoadedKey {
    /// A key in the form in which a kind of device keeps its queries; `origin` names it in errors.
    ///
    /// # Errors
    /// [`DeviceError::Identity`] for a key that must not be used.
    pub fn new<T: Any + Send + Sync>(
        origin: PathBuf,
        verifying_key: &VerifyingKey,
        counts: QueryCounts,
        form: Arc<T>,
    ) -> Result<Self, DeviceError> {
        let singles = [
            (Section::AlphaG1, verifying_key.alpha_g1.is_identity()),
            (Section::BetaG1, verifying_key.beta_g1.is_identity()),
            (Section::BetaG2, verifying_key.beta_g2.is_identity()),
            (Section::DeltaG1, verifying_key.delta_g1.is_identity()),
            (Section::DeltaG2, verifying_key.delta_g2.is_identity()),
        ];
        match singles.into_iter().find(|(_, identity)| (*identity).into()) {
            Some((section, _)) => Err(DeviceError::Identity { section }),
            None => Ok(Self {
                origin,
                verifying_key: Arc::new(verifying_key.clone()),
                counts,
                form,
            }),
        }
    }

    /// A key whose queries are read from its mapped file.
    ///
    /// # Errors
    /// Those of [`LoadedKey::new`].
    pub fn mapped(key: Arc<ProvingKey>) -> Result<Self, DeviceError> {
        let verifying_key = key.verifying_key().clone();
        let (origin, counts) = (key.path().to_path_buf(), key.counts());
        Self::new(origin, &verifying_key, counts, key)
    }

    /// The queries in the form of the device that loaded the key.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] when another kind of device did.
    pub fn form<T: Any>(&self, device: &'static str) -> Result<&T, DeviceError> {
        let form = self.form.downcast_ref();
        form.ok_or(DeviceError::OtherDevice { device })
    }

    /// The file that the key comes from, or what it is called in errors.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// The key's single points.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }
}

/// A circuit and a key that belong together, ready on one device; cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadedCircuit {
    key: LoadedKey,
    circuit: Arc<CompiledCircuit>,
    form: Arc<dyn Any + Send + Sync>,
}

impl LoadedCircuit {
    /// Joins a circuit and its key with the form in which a kind of device keeps the circuit, made after both were checked.
    ///
    /// # Errors
    /// [`DeviceError::Key`] when they do not belong together; those of `form`.
    pub fn new<T: Any + Send + Sync>(
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
        form: impl FnOnce(&CompiledCircuit) -> Result<T, DeviceError>,
    ) -> Result<Self, DeviceError> {
        let counts = QueryCounts::of_circuit(&circuit.shape(), circuit.densities());
        counts.expect(&key.counts, &key.origin)?;
        Ok(Self {
            key: key.clone(),
            form: Arc::new(form(&circuit)?),
            circuit,
        })
    }

    /// The circuit in the form of the device that loaded it.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] when another kind of device did.
    pub fn form<T: Any>(&self, device: &'static str) -> Result<&T, DeviceError> {
        let form = self.form.downcast_ref();
        form.ok_or(DeviceError::OtherDevice { device })
    }

    /// The circuit.
    pub const fn circuit(&self) -> &Arc<CompiledCircuit> {
        &self.circuit
    }

    /// The key.
    pub const fn key(&self) -> &LoadedKey {
        &self.key
    }
}

/// One circuit's values, to be proved.
#[derive(Debug)]
pub struct Partition {
    /// Circuit and key.
    pub circuit: LoadedCircuit,
    /// Values of the variables.
    pub witness: PackedWitness,
    /// Hides the witness.
    pub blinding: Blinding,
}

impl Partition {
    /// Refuses a witness that is not the circuit's, before anything is allocated.
    ///
    /// # Errors
    /// [`DeviceError::WitnessLength`], [`DeviceError::VariableKind`].
    pub fn check(&self) -> Result<(), DeviceError> {
        let (circuit, witness) = (self.circuit.circuit(), &self.witness);
        let shape = circuit.shape();
        let (kinds, own) = (circuit.kinds(), witness.kinds());
        let counts = [
            ("input", shape.num_inputs, witness.inputs().len()),
            ("auxiliary", shape.num_aux, own.num_aux()),
            ("wide", kinds.num_wide(), own.num_wide()),
        ];
        for (kind, expected, found) in counts {
            if found != expected {
                return Err(DeviceError::WitnessLength {
                    kind,
                    expected,
                    found,
                });
            }
        }
        if Arc::ptr_eq(kinds, own) {
            return Ok(());
        }
        let masks = kinds.wide_mask().iter().zip(own.wide_mask());
        match masks.enumerate().find(|(_, (ours, theirs))| ours != theirs) {
            None => Ok(()),
            Some((word, (ours, theirs))) => Err(DeviceError::VariableKind {
                variable: word * 64 + (ours ^ theirs).trailing_zeros() as usize,
            }),
        }
    }
}

/// Number of variables that occur in B.
pub(super) fn num_b(densities: &Densities) -> usize {
    densities.b_input.count_ones() + densities.b_aux.count_ones()
}

/// A proof that was started and not finished.
///
/// It owns everything that its computation still reads and may be dropped at any point.
#[must_use = "a started proof holds memory until it is finished or dropped"]
pub struct PendingProof {
    times: StartTimes,
    tail: Box<dyn FnOnce() -> Result<Proof, DeviceError> + Send>,
}

/// Where the time of a `start` went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartTimes {
    /// Values of the rows from the witness, and whether they satisfy the circuit.
    pub evaluate: Duration,
    /// Coefficients of the quotient from the values of the rows.
    pub quotient: Duration,
    /// Sums over the key's queries.
    pub sums: Duration,
}

impl PendingProof {
    /// What was started; `tail` waits for it and completes it.
    pub fn new(
        times: StartTimes,
        tail: impl FnOnce() -> Result<Proof, DeviceError> + Send + 'static,
    ) -> Self {
        Self {
            times,
            tail: Box::new(tail),
        }
    }

    /// Where the time of the `start` went that returned this.
    pub const fn start_times(&self) -> StartTimes {
        self.times
    }

    pub(super) fn complete(self) -> Result<Proof, DeviceError> {
        (self.tail)()
    }
}

impl std::fmt::Debug for PendingProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PendingProof")
    }
}

/// Bytes that one proof holds in memory, without the mapped key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The partition itself: its witness.
    pub partition_bytes: usize,
    /// Row values, which exist during `start` only and are counted in it.
    pub evaluation_bytes: usize,
    /// At most, during `start`, the partition included.
    pub start_bytes: usize,
    /// Between `start` and `finish`.
    pub pending_bytes: usize,
    /// At most, during `finish`, the pending proof included.
    pub finish_bytes: usize,
}
