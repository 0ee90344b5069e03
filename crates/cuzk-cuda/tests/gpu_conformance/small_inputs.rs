//! Small inputs through every kernel, for tools under which a launch takes a hundred times as long.
//!
//! `cargo xtask gpu` runs each of these tests but the last by its name under a sanitizer; the last one tells that together they
//! launch every kernel.

use blstrs::Scalar;
use cuzk_circuits::compile_circuit;
use cuzk_cuda::{
    CudaDevice, Device, DeviceKey, Fp, Fp2, MsmPlan, PassPlan, Rate, Streaming, fill_random,
    measure, repeat_bases,
};
use cuzk_groth16::{Blinding, Partition, ProverDevice, ReferenceDevice, setup::KeyScalars};
use cuzk_testkit::{circuits::full_size, conformance::Case, keys::known_waste};

use crate::{
    device,
    keys::check_upload,
    multiplications::{Points, TestGroup, bitmap_sums, check},
    random_scalars,
    transforms::check_quotient,
};

/// Terms of a sum: enough for two steps of the reduction, and for a bucket of several segments.
const TERMS: usize = 2000;
/// Terms and width of a sum whose buckets are added up in groups.
const GROUPED_TERMS: usize = 4500;
const GROUPED_WIDTH: u32 = 12;
/// A transform without passes, and one with a pass in shared memory.
const LOG_SIZES: [u32; 2] = [2, 12];

fn transforms(device: &Device) {
    for log_size in LOG_SIZES {
        check_quotient(device, log_size);
    }
}

/// Nine of ten scalars share their buckets, which are split.
fn sum<C: TestGroup>(device: &Device) {
    let points = Points::<C>::distinct(TERMS, 1);
    let random = random_scalars(TERMS, 2);
    let scalars: Vec<Scalar> = (0..TERMS)
        .map(|i| match i % 10 {
            0 => random[i],
            _ => Scalar::from(77),
        })
        .collect();
    check(device, MsmPlan::new(TERMS), &points, &scalars, "uneven");
}

/// Buckets that are added up in groups, most of them empty.
fn grouped_sum<C: TestGroup>(device: &Device) {
    let points = Points::<C>::distinct(GROUPED_TERMS, 7);
    let scalars = random_scalars(GROUPED_TERMS, 8);
    let plan = MsmPlan::with_width(GROUPED_TERMS, GROUPED_WIDTH).with_groups_from(0);
    assert!(plan.log_group() > 0);
    check(device, plan, &points, &scalars, "in groups");
}

fn key(device: &Device) {
    check_upload(device, Case::named("mimc").key(), "mimc");
}

/// As many points as make the device compute a table of its own.
fn new_key(device: &Device) {
    let circuit = compile_circuit("winning-2k".parse().unwrap(), &|_| ()).unwrap();
    let scalars = KeyScalars::evaluate(&circuit, &known_waste(), &|_| ()).unwrap();
    let key = DeviceKey::generate(device, &scalars).unwrap();
    assert_eq!(key.check(device, &scalars, 1).unwrap(), None);
}

fn proof(prover: &CudaDevice) {
    let case = Case::named("mimc");
    let blinding = Blinding::from_parts(full_size(3), full_size(4));
    let expected = case.prove(&ReferenceDevice, blinding);
    let proof = case.prove(prover, blinding);
    assert_eq!(proof.to_bytes(), expected.to_bytes());
}

/// Proofs that share a pass over a key in parts, which another stream uploads.
fn streamed_proofs(prover: &CudaDevice) {
    let case = Case::named("mimc");
    let circuit = case.load(prover);
    let blinding = Blinding::from_parts(full_size(5), full_size(6));
    let expected = case.prove(&ReferenceDevice, blinding);
    let partition = || Partition {
        circuit: circuit.clone(),
        ..case.partition(prover, blinding)
    };
    let started = [(); 2].map(|()| prover.start(partition()).unwrap());
    for pending in started {
        let proof = prover.finish(pending).unwrap();
        assert_eq!(proof.to_bytes(), expected.to_bytes());
    }
}

fn rates(device: &Device) {
    for rate in [Rate::MultiplyAdd, Rate::BaseField, Rate::ScalarField] {
        assert!(measure(device, rate).unwrap() > 0.0, "{rate:?}");
    }
    let points = Points::<Fp>::distinct(3, 5);
    let repeated = repeat_bases(device, &points.bases, 7).unwrap();
    assert_eq!(repeated.len(), 7);
    let random = fill_random(device, 100, 6).unwrap();
    let random = device.download_scalars(&random).unwrap();
    assert_ne!(random[0], random[99]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_quotients_are_exact() {
    transforms(&device());
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_g1_sums_are_those_of_multiples() {
    let device = device();
    sum::<Fp>(&device);
    grouped_sum::<Fp>(&device);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_g2_sums_are_those_of_multiples() {
    let device = device();
    sum::<Fp2>(&device);
    grouped_sum::<Fp2>(&device);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_bitmap_sums_agree_with_plain_sums() {
    let device = device();
    bitmap_sums::<Fp>(&device, &[1000]);
    bitmap_sums::<Fp2>(&device, &[1000]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_keys_keep_their_bytes() {
    key(&device());
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_new_keys_pass_their_check() {
    new_key(&device());
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_proofs_have_the_bytes_of_the_reference() {
    proof(&CudaDevice::new(device()));
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_proofs_of_a_streamed_key_have_the_bytes_of_the_reference() {
    let plan = PassPlan {
        max_g1: 400,
        quotients: 1,
        proofs: 2,
    };
    streamed_proofs(&CudaDevice::streaming(device(), Streaming::Planned(plan)));
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_small_rates_are_measured() {
    rates(&device());
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_all_small_inputs_launch_every_kernel() {
    let prover = CudaDevice::new(device());
    let device = prover.device();
    transforms(device);
    sum::<Fp>(device);
    sum::<Fp2>(device);
    grouped_sum::<Fp>(device);
    grouped_sum::<Fp2>(device);
    bitmap_sums::<Fp>(device, &[1000]);
    bitmap_sums::<Fp2>(device, &[1000]);
    key(device);
    new_key(device);
    proof(&prover);
    rates(device);
    assert_eq!(device.unused_kernels(), Vec::<&str>::new());
}
