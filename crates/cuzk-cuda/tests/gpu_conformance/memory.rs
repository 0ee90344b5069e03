//! Memory of the card: what a key leaves to the proofs, and to others when it goes.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use cuzk_circuits::compile_circuit;
use cuzk_cuda::{
    CudaDevice, Device, DevicePoints, PassPlan, ProofSizes, Streaming, fill_random, key_bytes,
    resident_bytes,
};
use cuzk_groth16::setup::{KeyFiles, generate_from};
use cuzk_groth16::{
    Blinding, LoadedKey, OpenOptions, Partition, ProverDevice, ProvingKey, ReferenceDevice,
};
use cuzk_r1cs::CompiledCircuit;
use cuzk_testkit::{circuits::full_size, conformance::Case, keys::known_waste};

use crate::device;

/// Ten million points, in a file.
fn key_of(circuit: &CompiledCircuit, folder: &Path) -> Arc<ProvingKey> {
    let (params, verifying_key) = (folder.join("k.params"), folder.join("k.vk"));
    let files = KeyFiles {
        params: &params,
        verifying_key: &verifying_key,
        replace: false,
    };
    let device = device();
    let mut points = DevicePoints::new(&device);
    generate_from(circuit, &known_waste(), &files, &mut points, &|_| ()).unwrap();
    Arc::new(ProvingKey::open(&params, &OpenOptions::default()).unwrap())
}

/// A prover with so much memory that it keeps the key, and the key on it.
fn keeping(key: &Arc<ProvingKey>, more: u64) -> (CudaDevice, LoadedKey) {
    let counts = key.counts();
    let opened = Device::open(0, resident_bytes(&counts) + more).unwrap();
    let prover = CudaDevice::new(opened);
    let loaded = prover.load_key(Arc::clone(key)).unwrap();
    assert!(prover.device().used_memory() >= key_bytes(&counts));
    (prover, loaded)
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_key_stays_where_it_leaves_room_for_proofs_and_gives_way_where_not() {
    let circuit = Arc::new(compile_circuit("porep-2k".parse().unwrap(), &|_| ()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let key = key_of(&circuit, folder.path());
    let counts = key.counts();

    let (prover, loaded) = keeping(&key, 0);
    let kept = prover.load_circuit(&loaded, Arc::clone(&circuit)).unwrap();
    assert_eq!(prover.proofs_per_pass(&kept).get(), 1);
    let of_circuit = prover.device().used_memory() - key_bytes(&counts);
    drop((kept, loaded));
    assert_eq!(prover.device().used_memory(), 0);

    // Less is left than the largest sum takes.
    let (prover, loaded) = keeping(&key, 0);
    let of_sum = resident_bytes(&counts) - key_bytes(&counts) - (1 << 30);
    let left = of_circuit + of_sum - (64 << 20);
    let taken = prover.device().available_memory() - left;
    let filler = fill_random(prover.device(), (taken / 32) as usize, 1).unwrap();
    let streamed = prover.load_circuit(&loaded, Arc::clone(&circuit)).unwrap();
    let used = prover.device().used_memory() - taken;
    assert!(
        used < of_circuit + (1 << 20),
        "{used} bytes besides the filler"
    );
    drop((filler, streamed));
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_the_memory_of_a_key_goes_back_to_the_system() {
    let circuit = compile_circuit("porep-2k".parse().unwrap(), &|_| ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = key_of(&circuit, folder.path());
    let (prover, loaded) = keeping(&key, 0);
    let free = || prover.device().free_memory().unwrap();
    let before = free();
    drop(loaded);
    // In the background, when the card has come to rest. Other tests may use it at the same time.
    let began = Instant::now();
    while free() < before + key_bytes(&key.counts()) / 2 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "nothing came back"
        );
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_pass_that_finds_less_memory_than_was_planned_for_takes_smaller_parts() {
    let opened = Device::open(0, 12 << 30).unwrap();
    let prover = CudaDevice::streaming(opened, Streaming::All);
    let case = Case::named("mimc");
    let circuit = case.load(&prover);
    assert!(prover.proofs_per_pass(&circuit).get() > 1);
    let smallest = PassPlan {
        max_g1: 1 << 22,
        quotients: 1,
        proofs: 1,
    };
    let sizes = ProofSizes {
        domain_bytes: 32 << 10,
        witness_bytes: 1 << 20,
        bitmap_bytes: 1 << 30,
    };
    let device = prover.device();
    let taken = device.available_memory() - smallest.bytes(sizes);
    let filler = fill_random(device, (taken / 32) as usize, 1).unwrap();
    let blinding = || Blinding::from_parts(full_size(8), full_size(9));
    let started = [(); 3].map(|()| {
        let partition = Partition {
            circuit: circuit.clone(),
            ..case.partition(&ReferenceDevice, blinding())
        };
        prover.start(partition).unwrap()
    });
    let expected = case.prove(&ReferenceDevice, blinding());
    for pending in started {
        let proof = prover.finish(pending).unwrap();
        assert_eq!(proof.to_bytes(), expected.to_bytes());
    }
    drop(filler);
}
