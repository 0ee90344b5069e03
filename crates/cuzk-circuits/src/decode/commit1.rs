//! C1 output: the vanilla proof of replication as JSON.
//!
//! The types mirror `SealCommitPhase1Output` of filecoin-proofs-api. Upstream's own types parse
//! the same text, but hide lengths that its circuit takes for granted; these are checked against
//! the sector's parameters first and then become upstream's.

use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::{DRG_DEGREE, DefaultPieceHasher, EXP_DEGREE};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait};
use storage_proofs_porep::stacked::{
    self, ColumnProof, EncodingProof, LabelingProof, ReplicaColumnProof, TOTAL_PARENTS,
};

use super::DecodeError;
use super::bounded::{Node, list, unwrap_nodes};
use super::checks::expect_number;
use super::merkle::{MerkleWire, expect_count};
use super::place::Place;
use crate::registered::SealProof;
use crate::shape::{ReplicaProof, SectorTree};

/// More partitions than any accepted proof has.
const MAX_PARTITIONS: usize = 32;
/// More challenges per partition than any circuit has.
const MAX_CHALLENGES: usize = 32;
/// More layers than any sector has.
const MAX_LAYERS: usize = 16;
/// More parents than a node has in either graph.
const MAX_PARENTS: usize = 16;
/// More labels than a label is made of.
const MAX_LABEL_PARENTS: usize = 64;

/// Where the vanilla proofs are.
const VANILLA_PROOFS: &str = "vanilla_proofs";

/// `SealCommitPhase1Output` of filecoin-proofs-api.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with C1 output")]
pub(super) struct Commit1Wire {
    comm_d: [u8; 32],
    comm_r: [u8; 32],
    pub(super) registered_proof: String,
    replica_id: Node<PoseidonDomain>,
    seed: [u8; 32],
    ticket: [u8; 32],
    vanilla_proofs: VanillaWire,
}

/// C1 output of the right shape, in upstream's types.
pub(super) struct Commit1<Tree: SectorTree> {
    pub(super) comm_d: [u8; 32],
    pub(super) comm_r: [u8; 32],
    pub(super) replica_id: PoseidonDomain,
    pub(super) seed: [u8; 32],
    pub(super) ticket: [u8; 32],
    pub(super) partitions: Vec<Vec<Vanilla<Tree>>>,
}

impl Commit1Wire {
    /// Checks lengths and arities against the parameters of `proof`.
    pub(super) fn check<Tree: SectorTree>(
        self,
        proof: SealProof,
        params: &stacked::PublicParams<Tree>,
    ) -> Result<Commit1<Tree>, DecodeError> {
        let vanilla = self.vanilla_proofs;
        if vanilla.shape != proof.shape_name() {
            return Err(DecodeError::ShapeName {
                path: VANILLA_PROOFS,
                expected: proof.shape_name(),
                found: vanilla.shape.chars().take(64).collect(),
            });
        }
        let place = Place::root(VANILLA_PROOFS);
        let place = place.field(&vanilla.shape);
        let num_partitions = usize::from(proof.upstream().partitions());
        expect_count(vanilla.partitions.len(), num_partitions, place)?;
        let partitions = vanilla
            .partitions
            .into_iter()
            .enumerate()
            .map(|(index, partition)| partition.check(params, place.index(index)))
            .collect::<Result<_, _>>()?;
        Ok(Commit1 {
            comm_d: self.comm_d,
            comm_r: self.comm_r,
            replica_id: self.replica_id.0,
            seed: self.seed,
            ticket: self.ticket,
            partitions,
        })
    }
}

/// An object with one key, the name of the sector shape.
#[derive(Debug)]
struct VanillaWire {
    shape: String,
    partitions: Vec<PartitionWire>,
}

#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct PartitionsWire(
    #[serde(deserialize_with = "list::<_, _, MAX_PARTITIONS>")] Vec<PartitionWire>,
);

#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct PartitionWire(
    #[serde(deserialize_with = "list::<_, _, MAX_CHALLENGES>")] Vec<ChallengeWire>,
);

impl<'de> Deserialize<'de> for VanillaWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneKey;

        impl<'de> Visitor<'de> for OneKey {
            type Value = VanillaWire;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with one key, the name of the sector shape")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VanillaWire, A::Error> {
                let (shape, PartitionsWire(partitions)) = map
                    .next_entry()?
                    .ok_or_else(|| A::Error::invalid_length(0, &self))?;
                if map.next_key::<String>()?.is_some() {
                    return Err(A::Error::invalid_length(2, &self));
                }
                Ok(VanillaWire { shape, partitions })
            }
        }

        deserializer.deserialize_map(OneKey)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ChallengeWire {
    comm_d_proofs: MerkleWire<Sha256Domain>,
    comm_r_last_proof: MerkleWire<PoseidonDomain>,
    replica_column_proofs: ReplicaColumnWire,
    #[serde(deserialize_with = "list::<_, _, MAX_LAYERS>")]
    labeling_proofs: Vec<LabelWire>,
    encoding_proof: LabelWire,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ReplicaColumnWire {
    c_x: ColumnProofWire,
    #[serde(deserialize_with = "list::<_, _, MAX_PARENTS>")]
    drg_parents: Vec<ColumnProofWire>,
    #[serde(deserialize_with = "list::<_, _, MAX_PARENTS>")]
    exp_parents: Vec<ColumnProofWire>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ColumnProofWire {
    column: ColumnWire,
    inclusion_proof: MerkleWire<PoseidonDomain>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ColumnWire {
    index: u32,
    #[serde(deserialize_with = "list::<_, _, MAX_LAYERS>")]
    rows: Vec<Node<PoseidonDomain>>,
    /// Upstream writes a phantom field as null; Go programs may leave it out.
    #[serde(rename = "_h", default)]
    _phantom: Option<()>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct LabelWire {
    #[serde(deserialize_with = "list::<_, _, MAX_LABEL_PARENTS>")]
    parents: Vec<Node<PoseidonDomain>>,
    layer_index: u32,
    node: u64,
}

/// The vanilla proof of one challenge.
pub(super) type Vanilla<Tree> = stacked::Proof<Tree, DefaultPieceHasher>;

impl PartitionWire {
    fn check<Tree: SectorTree>(
        self,
        params: &stacked::PublicParams<Tree>,
        place: Place<'_>,
    ) -> Result<Vec<Vanilla<Tree>>, DecodeError> {
        let expected = params.challenges.num_challenges_per_partition();
        expect_count(self.0.len(), expected, place)?;
        self.0
            .into_iter()
            .enumerate()
            .map(|(index, challenge)| challenge.check(params, place.index(index)))
            .collect()
    }
}

impl ChallengeWire {
    fn check<Tree: SectorTree>(
        self,
        params: &stacked::PublicParams<Tree>,
        place: Place<'_>,
    ) -> Result<Vanilla<Tree>, DecodeError> {
        let nodes = params.graph.size();
        let comm_d_proofs: MerkleProof<_, _> = self
            .comm_d_proofs
            .into_proof(nodes, place.field("comm_d_proofs"))?;
        let labels = place.field("labeling_proofs");
        expect_count(self.labeling_proofs.len(), params.num_layers, labels)?;
        let challenge = comm_d_proofs.path_index() as u64;
        let labeling_proofs = self
            .labeling_proofs
            .into_iter()
            .enumerate()
            .map(|(index, label)| {
                let place = labels.index(index);
                // The circuit takes the challenge from here.
                expect_number(place.field("node"), challenge, label.node)?;
                let (parents, layer_index, node) = label.check(place)?;
                Ok(LabelingProof::new(layer_index, node, parents))
            })
            .collect::<Result<_, DecodeError>>()?;
        let (parents, layer_index, node) =
            self.encoding_proof.check(place.field("encoding_proof"))?;
        Ok(stacked::Proof {
            comm_d_proofs,
            comm_r_last_proof: self
                .comm_r_last_proof
                .into_proof(nodes, place.field("comm_r_last_proof"))?,
            replica_column_proofs: self
                .replica_column_proofs
                .check(params, place.field("replica_column_proofs"))?,
            labeling_proofs,
            encoding_proof: EncodingProof::new(layer_index, node, parents),
        })
    }
}

impl LabelWire {
    fn check(self, place: Place<'_>) -> Result<(Vec<PoseidonDomain>, u32, u64), DecodeError> {
        expect_count(self.parents.len(), TOTAL_PARENTS, place.field("parents"))?;
        Ok((unwrap_nodes(self.parents), self.layer_index, self.node))
    }
}

impl ReplicaColumnWire {
    fn check<Tree: SectorTree>(
        self,
        params: &stacked::PublicParams<Tree>,
        place: Place<'_>,
    ) -> Result<ReplicaColumnProof<ReplicaProof<Tree>>, DecodeError> {
        let columns = |columns: Vec<ColumnProofWire>, expected, place: Place<'_>| {
            expect_count(columns.len(), expected, place)?;
            columns
                .into_iter()
                .enumerate()
                .map(|(index, column)| column.check(params, place.index(index)))
                .collect::<Result<Vec<_>, DecodeError>>()
        };
        Ok(ReplicaColumnProof {
            c_x: self.c_x.check(params, place.field("c_x"))?,
            drg_parents: columns(self.drg_parents, DRG_DEGREE, place.field("drg_parents"))?,
            exp_parents: columns(self.exp_parents, EXP_DEGREE, place.field("exp_parents"))?,
        })
    }
}

impl ColumnProofWire {
    fn check<Tree: SectorTree>(
        self,
        params: &stacked::PublicParams<Tree>,
        place: Place<'_>,
    ) -> Result<ColumnProof<ReplicaProof<Tree>>, DecodeError> {
        let rows = place.field("column");
        let rows = rows.field("rows");
        expect_count(self.column.rows.len(), params.num_layers, rows)?;
        let inclusion_proof = self
            .inclusion_proof
            .into_proof(params.graph.size(), place.field("inclusion_proof"))?;
        Ok(ColumnProof::new(
            self.column.index,
            unwrap_nodes(self.column.rows),
            inclusion_proof,
        ))
    }
}
