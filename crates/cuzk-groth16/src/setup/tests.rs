//! Keys made here against keys made by bellperson, the same exponents in both, and against double-and-add.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bellperson::Circuit;
use bellperson::groth16::{
    self, MappedParameters, Parameters, create_proof, create_random_proof, generate_parameters,
    prepare_verifying_key, verify_proof,
};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use cuzk_r1cs::{CompiledCircuit, RecordedCircuit};
use ff::Field;
use group::Group;
use proptest::prelude::*;
use tempfile::TempDir;

use super::test_circuits::{Blank, Empty, RandomCircuit, Unconstrained, ZeroCoefficient};
use super::textbook::textbook_params;
use super::*;
use crate::key::{KeyDigest, OpenOptions, PointCheck, ProvingKey, Section};
use crate::ntt::root_of_unity;
use crate::proof::Proof;
use crate::verify::verify;
use crate::verifying_key::{PreparedVerifyingKey, VerifyingKey};

/// Exponents, in the order τ, α, β, γ, δ.
pub(super) type Exponents = [Scalar; 5];

fn exponents(seed: u64) -> Exponents {
    std::array::from_fn(|index| Scalar::from(seed + 2).pow_vartime([5 + 3 * index as u64]))
}

fn waste(exponents: Exponents) -> ToxicWaste {
    let [tau, alpha, beta, gamma, delta] = exponents;
    ToxicWaste::from_parts(tau, alpha, beta, gamma, delta).expect("distinct, not zero")
}

fn silent(_: SetupProgress) {}

/// A folder with the names of a key's files.
struct Place {
    folder: TempDir,
    params: PathBuf,
    vk: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let params = folder.path().join("test.params");
        let vk = folder.path().join("test.vk");
        Self { folder, params, vk }
    }

    fn files(&self, replace: bool) -> KeyFiles<'_> {
        KeyFiles {
            params: &self.params,
            verifying_key: &self.vk,
            replace,
        }
    }

    fn num_files(&self) -> usize {
        fs::read_dir(self.folder.path()).expect("folder").count()
    }
}

fn compile<C: Circuit<Scalar>>(circuit: C) -> CompiledCircuit {
    CompiledCircuit::compile(circuit, &|_| ()).expect("compiled")
}

/// Bytes of the two files that [`generate`] makes.
fn own<C: Circuit<Scalar>>(circuit: C, exponents: Exponents) -> (Vec<u8>, Vec<u8>) {
    let place = Place::new();
    let compiled = compile(circuit);
    let summary =
        generate(&compiled, &waste(exponents), &place.files(false), &silent).expect("key");
    let params = fs::read(&place.params).expect("read");
    let vk = fs::read(&place.vk).expect("read");
    assert_eq!(summary.params_bytes, params.len() as u64);
    assert_eq!(summary.params_digest, KeyDigest::of_bytes(&params));
    assert_eq!(summary.verifying_key_bytes, vk.len() as u64);
    assert_eq!(summary.verifying_key_digest, KeyDigest::of_bytes(&vk));
    assert_eq!(summary.counts.file_bytes(), params.len() as u64);
    assert_eq!(place.num_files(), 2);
    (params, vk)
}

fn theirs<C: Circuit<Scalar>>(circuit: C, exponents: Exponents) -> Parameters<Bls12> {
    let [tau, alpha, beta, gamma, delta] = exponents;
    let (g1, g2) = (G1Projective::generator(), G2Projective::generator());
    generate_parameters(circuit, g1, g2, alpha, beta, gamma, delta, tau).expect("parameters")
}

fn assert_same_bytes<C: Circuit<Scalar> + Clone>(circuit: C, exponents: Exponents) {
    let (params, vk) = own(circuit.clone(), exponents);
    let theirs = theirs(circuit, exponents);
    let (mut their_params, mut their_vk) = (Vec::new(), Vec::new());
    theirs.write(&mut their_params).expect("write to memory");
    theirs.vk.write(&mut their_vk).expect("write to memory");
    assert!(params == their_params, "the .params files differ");
    assert!(vk == their_vk, "the .vk files differ");
}

#[test]
fn the_circuit_without_rows_and_variables_has_the_key_of_bellperson() {
    assert_same_bytes(Empty, exponents(1));
}

#[test]
fn zero_coefficients_and_missing_values_give_the_key_of_bellperson() {
    assert_same_bytes(ZeroCoefficient, exponents(1));
    assert_same_bytes(Blank, exponents(2));
}

#[test]
fn circuits_of_all_sizes_have_the_keys_of_bellperson() {
    // The last ones cross blocks, batches of rows and several window sizes.
    for (num_public, num_products) in [
        (0, 1),
        (1, 0),
        (0, 7),
        (5, 11),
        (40, 3),
        (3, 700),
        (2, 9000),
    ] {
        let circuit = RandomCircuit {
            seed: 17 + num_products as u64,
            num_public,
            num_products,
        };
        assert_same_bytes(circuit, exponents(num_public as u64));
    }
}

#[test]
fn negative_and_small_exponents_give_the_key_of_bellperson() {
    let circuit = RandomCircuit {
        seed: 4,
        num_public: 2,
        num_products: 30,
    };
    assert_same_bytes(circuit.clone(), [2, 1, 1, 2, 1].map(Scalar::from));
    assert_same_bytes(circuit, [2, 3, 5, 7, 11].map(|value| -Scalar::from(value)));
}

#[test]
fn an_unconstrained_variable_is_refused_by_index_and_leaves_no_file() {
    let place = Place::new();
    let compiled = compile(Unconstrained);
    let result = generate(&compiled, &waste(exponents(3)), &place.files(true), &silent);
    assert!(matches!(
        result,
        Err(SetupError::UnconstrainedVariable { variable: 1 })
    ));
    assert_eq!(place.num_files(), 0);
}

#[test]
fn a_tau_of_the_domain_is_refused() {
    let circuit = RandomCircuit {
        seed: 4,
        num_public: 2,
        num_products: 30,
    };
    let compiled = compile(circuit);
    let log_domain = compiled.shape().log_domain();
    let mut values = exponents(3);
    values[0] = root_of_unity(log_domain).pow_vartime([5]);
    let place = Place::new();
    let result = generate(&compiled, &waste(values), &place.files(true), &silent);
    assert!(matches!(
        result,
        Err(SetupError::Waste(WasteError::TauInDomain { log_domain: l })) if l == log_domain
    ));
    assert_eq!(place.num_files(), 0);
}

/// A root of a variable's polynomial that lies outside the domain, where the key would silently lack a point.
#[test]
fn a_tau_where_a_used_variable_vanishes_is_refused() {
    // Row 0 is 2·x·1 = x, row 1 is x·1 = x, then ONE's row; domain {1, i, −1, −i}. In A, x has the polynomial
    // 2·L₀ + L₁, and L_j(τ) is proportional to ω^j/(τ − ω^j): zero at τ = 3ω/(2 + ω).
    #[derive(Clone)]
    struct TwoRows;
    impl Circuit<Scalar> for TwoRows {
        fn synthesize<CS: bellperson::ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), bellperson::SynthesisError> {
            let x = cs.alloc(|| "x", || Ok(Scalar::ZERO))?;
            for coefficient in [2, 1] {
                cs.enforce(
                    || "row",
                    |zero| zero + (Scalar::from(coefficient), x),
                    |zero| zero + CS::one(),
                    |zero| zero + x,
                );
            }
            Ok(())
        }
    }
    let compiled = compile(TwoRows);
    let omega = root_of_unity(compiled.shape().log_domain());
    let divisor = Option::<Scalar>::from((Scalar::from(2) + omega).invert()).expect("not −2");
    let mut values = exponents(3);
    values[0] = Scalar::from(3) * omega * divisor;
    let place = Place::new();
    let result = generate(&compiled, &waste(values), &place.files(true), &silent);
    assert!(
        matches!(
            result,
            Err(SetupError::VanishesAtTau {
                section: Section::A,
                index: 1
            })
        ),
        "{result:?}"
    );
    assert_eq!(place.num_files(), 0);
}

#[test]
fn an_existing_file_is_refused_and_both_are_replaced_when_that_is_asked_for() {
    let compiled = compile(Blank);
    for existing in ["test.params", "test.vk"] {
        let place = Place::new();
        let path = place.folder.path().join(existing);
        fs::write(&path, "stale").expect("write");
        let result = generate(
            &compiled,
            &waste(exponents(1)),
            &place.files(false),
            &silent,
        );
        assert!(matches!(result, Err(SetupError::Exists { path: p }) if p == path));
        assert_eq!(fs::read(&path).expect("read"), b"stale");
        assert_eq!(place.num_files(), 1);

        generate(&compiled, &waste(exponents(1)), &place.files(true), &silent).expect("key");
        let key = ProvingKey::open(&place.params, &OpenOptions::default()).expect("own key");
        let vk = VerifyingKey::read_file(&place.vk).expect("own key");
        assert_eq!(*key.verifying_key(), vk);
        assert_eq!(place.num_files(), 2);
    }
}

#[test]
fn a_missing_folder_is_refused_with_the_path() {
    let place = Place::new();
    let params = place.folder.path().join("none/test.params");
    let files = KeyFiles {
        params: &params,
        ..place.files(false)
    };
    let error =
        generate(&compile(Blank), &waste(exponents(1)), &files, &silent).expect_err("no folder");
    assert!(error.to_string().contains("none/test.params"), "{error}");
    assert_eq!(place.num_files(), 0);
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing() {
    let Some(full) = Some(Path::new("/dev/full")).filter(|path| path.exists()) else {
        return;
    };
    let place = Place::new();
    let mut staged = crate::key::StagedFile::create(&place.params).expect("create");
    *staged.file() = fs::OpenOptions::new().write(true).open(full).expect("open");
    let error = super::stream::write_stream(&mut staged, 0, &silent, |stream| {
        // The writer may have left after the first piece, so any of these may be refused.
        (0..10).try_for_each(|_| stream.bytes(vec![0; 1 << 16]))
    })
    .expect_err("no space");
    assert!(
        matches!(
            error,
            SetupError::Io {
                action: "write",
                ..
            }
        ),
        "{error}"
    );
    drop(staged);
    assert_eq!(place.num_files(), 0);
}

#[test]
fn progress_of_both_steps_reaches_its_total_in_order() {
    let place = Place::new();
    let seen = Mutex::new(Vec::new());
    let compiled = compile(RandomCircuit {
        seed: 8,
        num_public: 2,
        num_products: 100,
    });
    let summary = generate(
        &compiled,
        &waste(exponents(1)),
        &place.files(false),
        &|progress| {
            seen.lock().expect("no panic").push(progress);
        },
    )
    .expect("key");
    let seen = seen.into_inner().expect("no panic");
    let points: Vec<u64> = seen
        .iter()
        .filter(|progress| progress.step == SetupStep::Points)
        .map(|progress| progress.done)
        .collect();
    assert!(points.is_sorted());
    let total = summary.counts.num_points() - summary.counts.ic;
    assert_eq!(points.last(), Some(&total));
    for progress in &seen {
        assert!(progress.done <= progress.total);
    }
    let polynomials = seen
        .iter()
        .filter(|progress| progress.step == SetupStep::Polynomials);
    assert_eq!(polynomials.map(|progress| progress.done).max(), Some(3));
}

#[test]
fn our_key_is_read_by_bellperson_with_all_checks_and_its_proofs_satisfy_both_verifiers() {
    let circuit = RandomCircuit {
        seed: 21,
        num_public: 4,
        num_products: 60,
    };
    let place = Place::new();
    let compiled = compile(circuit.clone());
    generate(
        &compiled,
        &ToxicWaste::random().expect("randomness"),
        &place.files(false),
        &silent,
    )
    .expect("key");
    let bytes = fs::read(&place.params).expect("read");
    let read = Parameters::<Bls12>::read(&bytes[..], true).expect("all points good");
    let mapped: MappedParameters<Bls12> =
        Parameters::build_mapped_parameters(place.params.clone(), true).expect("mapped");
    let vk_file = fs::File::open(&place.vk).expect("open");
    let their_vk = groth16::VerifyingKey::<Bls12>::read(vk_file).expect("vk");
    assert!(their_vk == read.vk);

    let key = ProvingKey::open(&place.params, &OpenOptions::default()).expect("own key");
    key.check_points(PointCheck::Subgroup, &|_| ())
        .expect("all points good");
    let pvk = PreparedVerifyingKey::new(key.verifying_key());
    let their_pvk = prepare_verifying_key(&their_vk);
    let inputs = circuit.public_inputs();
    let mut rng = rand_core::OsRng;
    let from_read = create_random_proof(circuit.clone(), &read, &mut rng).expect("proof");
    let from_mapped = create_random_proof(circuit.clone(), &mapped, &mut rng).expect("proof");
    for theirs in [from_read, from_mapped] {
        let ours = own_proof(&theirs);
        verify(&pvk, &inputs, &ours).expect("good proof");
        assert!(verify_proof(&their_pvk, &theirs, &inputs).expect("verified"));
        let mut wrong = inputs.clone();
        wrong[2] += Scalar::ONE;
        verify(&pvk, &wrong, &ours).expect_err("wrong input");
        assert!(!verify_proof(&their_pvk, &theirs, &wrong).expect("verified"));
    }
    let (r, s) = (Scalar::from(5), Scalar::from(6));
    let one = create_proof(circuit.clone(), &read, r, s).expect("proof");
    let two = create_proof(circuit, &mapped, r, s).expect("proof");
    assert!(one == two);
}

/// The same proof through its 192 bytes.
fn own_proof(theirs: &groth16::Proof<Bls12>) -> Proof {
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).expect("write to memory");
    let proofs = Proof::parse_many(&bytes).expect("a proof of bellperson");
    assert_eq!(Proof::write_many(&proofs), bytes);
    proofs[0]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_circuits_and_exponents_give_the_keys_of_bellperson_and_of_the_textbook(
        seed in any::<u64>(),
        num_public in 0_usize..6,
        num_products in 0_usize..24,
    ) {
        let circuit = RandomCircuit { seed, num_public, num_products };
        let exponents = exponents(seed >> 2);
        assert_same_bytes(circuit.clone(), exponents);
        let (params, _) = own(circuit.clone(), exponents);
        prop_assert!(params == textbook_params(&RecordedCircuit::record(circuit).expect("recorded"), exponents));
    }
}

/// The size of PoRep at 2 KiB: 2.7 million rows, a domain of 2^22, 10.2 million points of G1 and 0.7 million of G2.
#[test]
#[ignore = "measures: some ten seconds and 1.1 GB of disk"]
fn time_of_a_large_key() {
    let report = |line: String| {
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).expect("stderr");
    };
    let place = Place::new();
    let start = std::time::Instant::now();
    let compiled = compile(RandomCircuit {
        seed: 1,
        num_public: 40,
        num_products: 2_687_000,
    });
    report(format!(
        "compiled in {:?}, {:?}\n",
        start.elapsed(),
        compiled.shape()
    ));
    let start = std::time::Instant::now();
    let last = Mutex::new(None);
    let summary = generate(
        &compiled,
        &waste(exponents(1)),
        &place.files(false),
        &|progress| {
            let mut last = last.lock().expect("no panic");
            if *last != Some(progress.step) {
                *last = Some(progress.step);
                report(format!("{:?} at {:?}\n", progress.step, start.elapsed()));
            }
        },
    )
    .expect("key");
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    report(format!("{summary:?} in {:?}; {peak}\n", start.elapsed()));
    assert_eq!(summary.params_bytes, summary.counts.file_bytes());
}
