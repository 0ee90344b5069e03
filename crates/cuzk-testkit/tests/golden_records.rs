//! The circuits' authors ship records of seals, with proofs made by ceremony keys since 2020. Their bytes must be proofs.

use std::path::PathBuf;
use std::process::Command;

use cuzk_groth16::{PROOF_BYTES, Proof, ProofError};
use serde::Deserialize;

/// One line of a record file, as far as it concerns the proof.
#[derive(Deserialize)]
struct Record {
    porep_config: Config,
    proof: Vec<u8>,
}

#[derive(Deserialize)]
struct Config {
    partitions: usize,
    api_features: Vec<String>,
}

impl Record {
    /// Seals without interaction are delivered as one aggregate instead of a proof per partition.
    fn is_aggregated(&self) -> bool {
        self.porep_config
            .api_features
            .iter()
            .any(|feature| feature == "NonInteractivePoRep")
    }
}

/// The folder of record files inside the published crate, where cargo unpacked it.
fn records_folder() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it built this test");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let manifest = metadata["packages"]
        .as_array()
        .expect("metadata lists packages")
        .iter()
        .find(|package| package["name"] == "filecoin-proofs")
        .and_then(|package| package["manifest_path"].as_str())
        .expect("filecoin-proofs is a dependency of this test");
    PathBuf::from(manifest).with_file_name("tests")
}

fn records() -> Vec<Record> {
    let folder = records_folder();
    [
        "seal_regression_records-v16.json",
        "seal_regression_records-v18.json",
    ]
    .iter()
    .flat_map(|name| {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parse = |line: &str| serde_json::from_str(line).expect("a line is a record");
        text.lines().map(parse).collect::<Vec<Record>>()
    })
    .collect()
}

#[test]
fn every_proof_of_the_shipped_seal_records_decodes_into_its_subgroups() {
    let records = records();
    let (aggregated, single): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record.is_aggregated());
    let mut num_proofs = 0;
    for record in &single {
        let partitions = record.porep_config.partitions;
        let proofs =
            Proof::parse_exactly(&record.proof, partitions).expect("a shipped proof decodes");
        assert_eq!(
            Proof::write_many(&proofs),
            record.proof,
            "encoding is canonical"
        );
        num_proofs += proofs.len();
    }
    // 530 seals of one partition and 7 of ten; 24 aggregates.
    assert_eq!(records.len(), 561);
    assert_eq!((single.len(), aggregated.len()), (537, 24));
    assert_eq!(num_proofs, 600);
}

#[test]
fn an_aggregate_is_not_taken_for_proofs() {
    let records = records();
    let aggregates = records.iter().filter(|record| record.is_aggregated());
    for record in aggregates {
        let found = record.proof.len();
        assert_eq!(
            Proof::parse_many(&record.proof),
            Err(ProofError::Length { found })
        );
    }
    let file =
        std::fs::read(records_folder().join("aggregate_proof_bytes")).expect("it is shipped");
    Proof::parse_many(&file).expect_err("the shipped aggregate is no list of proofs");
}

#[test]
fn a_shipped_proof_with_a_flipped_bit_is_another_proof_or_none() {
    let records = records();
    let record = records
        .iter()
        .find(|record| !record.is_aggregated())
        .expect("most are not");
    let original: [u8; PROOF_BYTES] = record.proof[..PROOF_BYTES]
        .try_into()
        .expect("the slice has that length");
    let proof = Proof::from_bytes(&original).expect("a shipped proof decodes");
    let mut num_refused = 0;
    for bit in 0..8 * PROOF_BYTES {
        let mut bytes = original;
        bytes[bit / 8] ^= 1 << (bit % 8);
        match Proof::from_bytes(&bytes) {
            Ok(other) => assert_ne!(other, proof, "bit {bit}"),
            Err(_) => num_refused += 1,
        }
    }
    // The cofactors are large: a changed coordinate is hardly ever in the subgroup. Only the three sign bits are harmless.
    assert_eq!(8 * PROOF_BYTES - num_refused, 3);
}
