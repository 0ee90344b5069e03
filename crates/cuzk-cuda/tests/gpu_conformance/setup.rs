//! Development keys from the device: the bytes of the processor's, whatever the size of a piece.

use std::{fs, path::Path};

use cuzk_circuits::compile_circuit;
use cuzk_cuda::{DeviceKey, DevicePoints};
use cuzk_groth16::setup::{KeyFiles, KeyScalars, ToxicWaste, generate, generate_from};
use cuzk_groth16::{OpenOptions, ProvingKey, Section};
use cuzk_r1cs::CompiledCircuit;
use cuzk_testkit::circuits::{SmallCircuit, full_size};
use cuzk_testkit::keys::known_waste;

use crate::device;

/// Makes the key of a circuit by the processor, by the device in pieces of `chunk`, and on the device; compares them.
fn check(name: &str, circuit: &CompiledCircuit, chunk: usize) {
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (params, vk) = (place("k.params"), place("k.vk"));
    let files = |params, verifying_key| KeyFiles {
        params,
        verifying_key,
        replace: false,
    };
    let expected = generate(circuit, &known_waste(), &files(&params, &vk), &|_| ()).unwrap();

    let (their_params, their_vk) = (place("d.params"), place("d.vk"));
    let theirs = files(&their_params, &their_vk);
    let mut points = DevicePoints::by_chunks(&device, chunk);
    let made = generate_from(circuit, &known_waste(), &theirs, &mut points, &|_| ()).unwrap();
    assert_eq!(made, expected, "{name}: sizes and digests");
    assert!(same_bytes(&their_params, &params), "{name}: .params");
    assert!(same_bytes(&their_vk, &vk), "{name}: .vk");

    let scalars = KeyScalars::evaluate(circuit, &known_waste(), &|_| ()).unwrap();
    let resident = DeviceKey::generate(&device, &scalars).unwrap();
    let key = ProvingKey::open(&params, &OpenOptions::default()).unwrap();
    assert_eq!(&resident.verifying_key, key.verifying_key(), "{name}");
    assert_eq!(resident.counts(), key.counts(), "{name}");
    for section in Section::QUERIES {
        let bytes = resident.encoded(&device, section).unwrap();
        assert!(bytes == key.section_bytes(section), "{name}, {section}");
    }
    assert_eq!(
        resident.check(&device, &scalars, 7).unwrap(),
        None,
        "{name}"
    );
}

fn same_bytes(left: &Path, right: &Path) -> bool {
    fs::read(left).unwrap() == fs::read(right).unwrap()
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_circuits_have_the_keys_of_the_processor() {
    for (name, circuit) in SmallCircuit::all() {
        let compiled = CompiledCircuit::compile(circuit.blank(), &|_| ()).unwrap();
        for chunk in [1 << 20, 50] {
            check(name, &compiled, chunk);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_proof_of_spacetime_has_the_key_of_the_processor() {
    let circuit = compile_circuit("winning-2k".parse().unwrap(), &|_| ()).unwrap();
    check("winning-2k", &circuit, 10_000);
}

/// Ten million points, so that the table is computed on the device.
#[test]
#[ignore = "needs an NVIDIA card; the processor takes half a minute of all cores"]
fn gpu_a_proof_of_replication_has_the_key_of_the_processor() {
    let circuit = compile_circuit("porep-2k".parse().unwrap(), &|_| ()).unwrap();
    check("porep-2k", &circuit, 1 << 20);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_point_that_is_not_its_scalars_multiple_is_found() {
    let device = device();
    let (_, circuit) = &SmallCircuit::all()[8];
    let compiled = CompiledCircuit::compile(circuit.blank(), &|_| ()).unwrap();
    let evaluate = |alpha: u64| {
        let [tau, alpha, beta, gamma, delta] = [1, alpha, 3, 4, 5].map(full_size);
        let waste = ToxicWaste::from_parts(tau, alpha, beta, gamma, delta).unwrap();
        KeyScalars::evaluate(&compiled, &waste, &|_| ()).unwrap()
    };
    let (scalars, others) = (evaluate(2), evaluate(6));
    let key = DeviceKey::generate(&device, &scalars).unwrap();
    assert_eq!(key.check(&device, &scalars, 3).unwrap(), None);
    // The exponent alpha has no part in h, and in l a part of a sum.
    assert_eq!(key.check(&device, &others, 3).unwrap(), Some(Section::L));
}
