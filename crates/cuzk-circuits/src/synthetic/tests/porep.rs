//! Replication.

use filecoin_hashers::Hasher;
use filecoin_proofs::{DefaultPieceHasher, SealCommitPhase1Output};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{ColumnProof, Proof, PublicInputs, StackedDrg, Tau};
use storage_proofs_update::constants::TreeRDomain;

use super::super::draw::{Draws, Purpose};
use super::super::porep::{Replica, phase1_output};
use super::*;
use crate::prover_id;
use crate::registry::stacked_params;
use crate::shape::{BaseTree, SectorTree};

const SMALL: [SectorSize; 2] = [SectorSize::Kib2, SectorSize::Mib8];

fn seal_proof(variant: SealVariant, sector_size: SectorSize) -> SealProof {
    SealProof {
        variant,
        sector_size,
    }
}

fn output<Tree: SectorTree>(
    proof: SealProof,
    data: SectorData,
    seed: u64,
) -> SealCommitPhase1Output<Tree> {
    let replica = Replica {
        prover_id: prover_id(MINER_ID),
        sector_number: 77,
        data,
    };
    let draws = Draws::new(proof.circuit_id(), seed);
    phase1_output(&proof.upstream().as_v1_config(), &replica, &draws).expect("upstream's graph")
}

fn upstream_accepts<Tree: SectorTree>(
    proof: SealProof,
    output: &SealCommitPhase1Output<Tree>,
) -> bool {
    let inputs = PublicInputs {
        replica_id: output.replica_id,
        seed: Some(output.seed),
        tau: Some(Tau {
            comm_d: <DefaultPieceHasher as Hasher>::Domain::from(output.comm_d),
            comm_r: TreeRDomain::from(output.comm_r),
        }),
        k: None,
    };
    StackedDrg::<Tree, DefaultPieceHasher>::verify_all_partitions(
        &stacked_params(&proof.upstream().as_v1_config()),
        &inputs,
        &output.vanilla_proofs,
    )
    .expect("a well-formed proof")
}

#[test]
fn upstream_accepts_small_sectors_of_many_seeds() {
    // 63 nodes can be challenged: parents are often challenged themselves, or node 0.
    let proof = seal_proof(SealVariant::V1_1, SectorSize::Kib2);
    for seed in 0..40 {
        let output = output::<BaseTree>(proof, SectorData::Random, seed);
        assert!(upstream_accepts(proof, &output), "seed {seed}");
    }
}

#[test]
fn upstream_accepts_every_size_with_one_base_tree_in_both_versions() {
    for size in SMALL {
        for variant in [SealVariant::V1, SealVariant::V1_1] {
            for data in BOTH {
                let proof = seal_proof(variant, size);
                let output = output::<BaseTree>(proof, data, 1);
                assert!(upstream_accepts(proof, &output), "{proof} {data:?}");
            }
        }
    }
}

#[test]
fn all_constraints_hold_and_the_inputs_are_the_verifiers() {
    for data in BOTH {
        let kind = SyntheticKind::PoRep(SealVariant::V1_1);
        let statement = statement(spec(kind, SectorSize::Kib2, data));
        statement.check_vanilla().expect("upstream accepts it");
        assert_eq!(statement.num_partitions(), 1);
        is_satisfied(&statement, 0);
        has_public_inputs(&statement, 0);
    }
}

#[test]
fn a_statement_at_8_mib_is_accepted() {
    let kind = SyntheticKind::PoRep(SealVariant::V1_1);
    let statement = statement(spec(kind, SectorSize::Mib8, SectorData::Random));
    statement.check_vanilla().expect("upstream accepts it");
    has_public_inputs(&statement, 0);
}

/// The same path from another leaf.
fn with_other_leaf<Path, Other>(path: &Path, leaf: Other) -> MerkleProof<Path::Hasher, Path::Arity>
where
    Path: MerkleProofTrait,
    Other: Into<<Path::Hasher as Hasher>::Domain>,
{
    MerkleProof::from_parts(leaf.into(), path.root(), path.path())
}

type Tamper<'a> = &'a dyn Fn(&mut Proof<BaseTree, DefaultPieceHasher>);

#[test]
fn a_tampered_leaf_label_or_column_is_refused() {
    let proof = seal_proof(SealVariant::V1_1, SectorSize::Kib2);
    let honest = || output::<BaseTree>(proof, SectorData::Random, 1);
    let other: [u8; 32] = Draws::new(proof.circuit_id(), 2).node(Purpose::DataNode, 0, 0);
    let tampers: [(&str, Tamper<'_>); 4] = [
        ("data", &|proof| {
            proof.comm_d_proofs = with_other_leaf(&proof.comm_d_proofs, other);
        }),
        ("replica", &|proof| {
            proof.comm_r_last_proof = with_other_leaf(&proof.comm_r_last_proof, other);
        }),
        ("parent", &|proof| {
            proof.replica_column_proofs.exp_parents.swap(0, 1);
        }),
        ("column", &|proof| {
            let column = &mut proof.replica_column_proofs.c_x;
            let path = MerkleProof::from_parts(other.into(), column.root(), Vec::new());
            *column = ColumnProof::new(1, vec![other.into(); 2], path);
        }),
    ];
    for (what, tamper) in tampers {
        let mut tampered = honest();
        tamper(&mut tampered.vanilla_proofs[0][1]);
        assert!(!upstream_accepts(proof, &tampered), "{what}");
    }
    assert!(upstream_accepts(proof, &honest()));
}
