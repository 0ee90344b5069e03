//! The replication circuit: a prologue for the replica, then one block per challenge.

use blstrs::Scalar as Fr;
use ff::Field;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_proofs::{DRG_DEGREE, DefaultPieceHasher, EXP_DEGREE};
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_porep::stacked::{
    Column as VanillaColumn, ColumnProof, Proof, PublicParams, TOTAL_PARENTS,
};
use storage_proofs_update::constants::TreeRHasher;

use super::blocks::Blocks;
use super::error::VanillaFault;
use super::field::{pack_digest, to_bits};
use super::path::{Path, TreeHash, element, expect_count};
use super::poseidon;
use super::sha256::sha256;
use super::sink::Sink;
use super::word::Word;
use crate::shape::{ReplicaProof, SectorTree, data_arities, replica_arities};
use crate::statement::PoRepStatement;

type Vanilla<Tree> = Proof<Tree, DefaultPieceHasher>;
/// Layers of which a column hash exists.
const SMALL_NUM_LAYERS: usize = 2;
const LARGE_NUM_LAYERS: usize = 11;

/// A partition of a replication proof, or the circuit without values.
pub(crate) struct PoRepBlocks<'a, Tree: SectorTree> {
    shape: Shape,
    num_challenges: usize,
    replica: Replica,
    /// `None` where values do not matter.
    challenges: Option<&'a [Vanilla<Tree>]>,
}

/// Lengths of the lists in a challenge's vanilla proof.
struct Shape {
    data_arities: Vec<usize>,
    tree_arities: Vec<usize>,
    num_layers: usize,
}

/// What the prologue allocates.
#[derive(Clone, Copy)]
struct Replica {
    id: Fr,
    comm_d: Fr,
    comm_r: Fr,
    comm_r_last: Fr,
    comm_c: Fr,
}

/// The values of one challenge.
struct Challenge {
    node: u64,
    data: Path,
    drg_parents: Vec<Column>,
    exp_parents: Vec<Column>,
    replica: Path,
    column: Path,
}

/// A parent's labels, and the way of their hash to the column root.
struct Column {
    labels: Vec<Fr>,
    path: Path,
}

impl<'a, Tree: SectorTree> PoRepBlocks<'a, Tree> {
    /// The circuit without values.
    pub(super) fn blank(params: &PublicParams<Tree>) -> Self {
        Self {
            shape: Shape::new(params),
            num_challenges: params.challenges.num_challenges_per_partition(),
            replica: Replica {
                id: Fr::ZERO,
                comm_d: Fr::ZERO,
                comm_r: Fr::ZERO,
                comm_r_last: Fr::ZERO,
                comm_c: Fr::ZERO,
            },
            challenges: None,
        }
    }

    /// A partition with its values. All challenges must be about the same replica and columns.
    pub(crate) fn new(
        statement: &'a PoRepStatement<Tree>,
        partition: usize,
    ) -> Result<Self, VanillaFault> {
        let blank = Self::blank(&statement.params);
        let challenges = statement.partitions[partition].as_slice();
        expect_count("challenges", blank.num_challenges, challenges.len())?;
        let tau = statement.inputs.tau.as_ref();
        let tau = tau.ok_or(VanillaFault::Count {
            what: "commitments",
            expected: 2,
            found: 0,
        })?;
        let first = &challenges[0];
        let same = |root: fn(&Vanilla<Tree>) -> PoseidonDomain, what| {
            let root_of_first = root(first);
            if challenges.iter().all(|proof| root(proof) == root_of_first) {
                return element(&root_of_first, what);
            }
            Err(VanillaFault::Differs { what })
        };
        Ok(Self {
            replica: Replica {
                id: element(&statement.inputs.replica_id, "replica id")?,
                comm_d: element(&tau.comm_d, "data commitment")?,
                comm_r: element(&tau.comm_r, "replica commitment")?,
                comm_r_last: same(Vanilla::comm_r_last, "root of the replica tree")?,
                comm_c: same(Vanilla::comm_c, "root of the column tree")?,
            },
            challenges: Some(challenges),
            ..blank
        })
    }
}

impl<Tree: SectorTree> Blocks for PoRepBlocks<'_, Tree> {
    /// The words of the replica id.
    type Shared = [Word; 8];

    fn num_blocks(&self) -> usize {
        self.num_challenges
    }

    fn prologue<S: Sink>(&self, sink: &mut S) -> Result<[Word; 8], VanillaFault> {
        let replica = &self.replica;
        sink.push_wide(replica.id);
        sink.push_input(replica.id);
        let replica_id = to_bits(sink, replica.id);
        for commitment in [replica.comm_d, replica.comm_r] {
            sink.push_wide(commitment);
            sink.push_input(commitment);
        }
        sink.push_wide(replica.comm_r_last);
        sink.push_wide(replica.comm_c);
        poseidon::BINARY.hash(sink, &[replica.comm_c, replica.comm_r_last]);
        Ok(replica_id)
    }

    fn block<S: Sink>(
        &self,
        replica_id: &[Word; 8],
        index: usize,
        sink: &mut S,
    ) -> Result<(), VanillaFault> {
        let challenge = match self.challenges {
            Some(challenges) => Challenge::read(&challenges[index], &self.shape)?,
            None => Challenge::blank(&self.shape),
        };
        challenge.emit(sink, replica_id)
    }
}

impl Shape {
    fn new<Tree: SectorTree>(params: &PublicParams<Tree>) -> Self {
        let num_nodes = params.graph.size();
        Self {
            data_arities: data_arities(num_nodes),
            tree_arities: replica_arities::<Tree>(num_nodes),
            num_layers: params.num_layers,
        }
    }
}

impl Challenge {
    fn blank(shape: &Shape) -> Self {
        let path = || Path::blank(&shape.tree_arities);
        let columns = |count| {
            let column = || Column {
                labels: vec![Fr::ZERO; shape.num_layers],
                path: path(),
            };
            std::iter::repeat_with(column).take(count).collect()
        };
        Self {
            node: 0,
            data: Path::blank(&shape.data_arities),
            drg_parents: columns(DRG_DEGREE),
            exp_parents: columns(EXP_DEGREE),
            replica: path(),
            column: path(),
        }
    }

    fn read<Tree: SectorTree>(
        vanilla: &Vanilla<Tree>,
        shape: &Shape,
    ) -> Result<Self, VanillaFault> {
        let columns = &vanilla.replica_column_proofs;
        let read_all = |proofs: &[ColumnProof<ReplicaProof<Tree>>], what, expected| {
            expect_count(what, expected, proofs.len())?;
            let columns = proofs
                .iter()
                .map(|proof| Column::read::<Tree>(proof, shape));
            columns.collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            // A decoded statement has this number in the labeling proofs, where upstream's circuit
            // takes it from.
            node: vanilla.comm_d_proofs.path_index() as u64,
            data: Path::read(&vanilla.comm_d_proofs, &shape.data_arities, "data path")?,
            drg_parents: read_all(&columns.drg_parents, "base parents", DRG_DEGREE)?,
            exp_parents: read_all(&columns.exp_parents, "expander parents", EXP_DEGREE)?,
            replica: Path::read(
                &vanilla.comm_r_last_proof,
                &shape.tree_arities,
                "replica path",
            )?,
            column: Column::read::<Tree>(&columns.c_x, shape)?.path,
        })
    }

    fn emit<S: Sink>(&self, sink: &mut S, replica_id: &[Word; 8]) -> Result<(), VanillaFault> {
        sink.push_wide(self.data.leaf);
        self.data.include(sink, TreeHash::Sha256, self.data.leaf);
        for column in self.drg_parents.iter().chain(&self.exp_parents) {
            column.emit(sink)?;
        }
        sink.push_bits(self.node, 64);
        sink.push_input(Fr::from(self.node));
        let num_layers = self.drg_parents[0].labels.len();
        let labels: Vec<Fr> = (1..=num_layers)
            .map(|layer| self.label(sink, replica_id, layer))
            .collect();
        let key = labels[num_layers - 1];
        let encoded = key + self.data.leaf;
        sink.push_wide(encoded);
        self.replica.include(sink, TreeHash::Poseidon, encoded);
        let column_hash = hash_column(sink, &labels)?;
        self.column.include(sink, TreeHash::Poseidon, column_hash);
        Ok(())
    }

    /// The label of the node in a layer, the first being 1. Expander parents are taken from the
    /// layer below, so that the first layer has none; all are repeated in turn.
    fn label<S: Sink>(&self, sink: &mut S, replica_id: &[Word; 8], layer: usize) -> Fr {
        let mut parents = Vec::with_capacity(DRG_DEGREE + EXP_DEGREE);
        for column in &self.drg_parents {
            parents.push(to_bits(sink, column.labels[layer - 1]));
        }
        if layer > 1 {
            for column in &self.exp_parents {
                parents.push(to_bits(sink, column.labels[layer - 2]));
            }
        }
        let mut message = Vec::with_capacity((2 + TOTAL_PARENTS) * 8);
        message.extend_from_slice(replica_id);
        message.push(Word::constant(layer as u32));
        message.push(Word::free((self.node >> 32) as u32));
        message.push(Word::free(self.node as u32));
        message.resize(2 * 8, Word::constant(0));
        for parent in parents.iter().cycle().take(TOTAL_PARENTS) {
            message.extend_from_slice(parent);
        }
        let digest = sha256(sink, &message);
        pack_digest(sink, digest)
    }
}

impl Column {
    /// Upstream's type keeps its path to itself; its published encoding is that of the pair.
    fn read<Tree: SectorTree>(
        proof: &ColumnProof<ReplicaProof<Tree>>,
        shape: &Shape,
    ) -> Result<Self, VanillaFault> {
        const WHAT: &str = "column proof";
        let unreadable = |_| VanillaFault::Encoding { what: WHAT };
        let bytes = bincode::serialize(proof).map_err(unreadable)?;
        let (column, path): (VanillaColumn<TreeRHasher>, ReplicaProof<Tree>) =
            bincode::deserialize(&bytes).map_err(unreadable)?;
        expect_count("labels", shape.num_layers, column.rows().len())?;
        let labels = column.rows().iter().map(|label| element(label, WHAT));
        Ok(Self {
            labels: labels.collect::<Result<_, _>>()?,
            path: Path::read(&path, &shape.tree_arities, "column path")?,
        })
    }

    fn emit<S: Sink>(&self, sink: &mut S) -> Result<(), VanillaFault> {
        for label in &self.labels {
            sink.push_wide(*label);
        }
        let hash = hash_column(sink, &self.labels)?;
        self.path.include(sink, TreeHash::Poseidon, hash);
        Ok(())
    }
}

fn hash_column<S: Sink>(sink: &mut S, labels: &[Fr]) -> Result<Fr, VanillaFault> {
    match labels.len() {
        SMALL_NUM_LAYERS => Ok(poseidon::BINARY.hash(sink, labels)),
        LARGE_NUM_LAYERS => Ok(poseidon::COLUMN.hash(sink, labels)),
        found => Err(VanillaFault::Count {
            what: "layers",
            expected: LARGE_NUM_LAYERS,
            found,
        }),
    }
}
