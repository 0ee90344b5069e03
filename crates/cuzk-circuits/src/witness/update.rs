//! The sector update circuit: a prologue with the partition's share of the data tree and all
//! challenges, then one block per challenge.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_update::constants::hs;
use storage_proofs_update::{ChallengeProof, PartitionProof, PublicParams};

use super::blocks::Blocks;
use super::error::VanillaFault;
use super::field::{hash_pair, to_bits};
use super::insertion::select;
use super::path::{Level, Path, TreeHash, element, expect_count, include_at};
use super::poseidon;
use super::sink::Sink;
use crate::shape::{SectorTree, data_arities, replica_arities};

/// A partition of an update proof, or the circuit without values.
pub(crate) struct UpdateBlocks<'a, Tree: SectorTree> {
    params: &'a PublicParams,
    tree_arities: Vec<usize>,
    public: Public,
    commitments: Commitments,
    apex_leaves: Vec<Fr>,
    /// From the root of the partition's share of the data tree to the root of the tree.
    partition_path: Vec<Level>,
    /// `None` where values do not matter.
    challenges: Option<&'a [ChallengeProof<Tree>]>,
}

/// Public inputs.
#[derive(Clone, Copy)]
struct Public {
    /// Number of the partition, and one bit that selects how many bits of a challenge enter its
    /// randomness.
    k_and_h_select: u64,
    comm_r_old: Fr,
    comm_d_new: Fr,
    comm_r_new: Fr,
}

/// Private values of the whole partition.
#[derive(Clone, Copy)]
struct Commitments {
    comm_c: Fr,
    root_r_old: Fr,
    root_r_new: Fr,
}

/// What the prologue computes for the challenges.
pub(crate) struct Randomness {
    phi: Fr,
    /// Challenged nodes.
    nodes: Vec<u64>,
}

/// The values of one challenge.
struct Challenge {
    old: Path,
    data: Path,
    new: Path,
}

impl<'a, Tree: SectorTree> UpdateBlocks<'a, Tree> {
    /// The circuit without values.
    pub(super) fn blank(params: &'a PublicParams) -> Self {
        Self {
            params,
            tree_arities: replica_arities::<Tree>(params.sector_nodes),
            public: Public {
                k_and_h_select: 0,
                comm_r_old: Fr::ZERO,
                comm_d_new: Fr::ZERO,
                comm_r_new: Fr::ZERO,
            },
            commitments: Commitments {
                comm_c: Fr::ZERO,
                root_r_old: Fr::ZERO,
                root_r_new: Fr::ZERO,
            },
            apex_leaves: vec![Fr::ZERO; params.apex_leaf_count],
            partition_path: Path::blank(&vec![2; params.partition_bit_len]).levels,
            challenges: None,
        }
    }

    /// A partition with its values; `public` are upstream's public inputs for it.
    pub(crate) fn new(
        params: &'a PublicParams,
        public: &[Fr],
        partition: &'a PartitionProof<Tree>,
    ) -> Result<Self, VanillaFault> {
        let &[k_and_h_select, comm_r_old, comm_d_new, comm_r_new] = public else {
            return Err(VanillaFault::Count {
                what: "public inputs",
                expected: 4,
                found: public.len(),
            });
        };
        let blank = Self::blank(params);
        let challenges = partition.challenge_proofs.as_slice();
        expect_count("challenges", params.challenge_count, challenges.len())?;
        let num_leaves = partition.apex_leafs.len();
        expect_count("apex leaves", params.apex_leaf_count, num_leaves)?;
        let leaves = partition.apex_leafs.iter();
        let first = &challenges[0];
        let data = read_data(params, first)?;
        Ok(Self {
            public: Public {
                k_and_h_select: lowest_limb(k_and_h_select),
                comm_r_old,
                comm_d_new,
                comm_r_new,
            },
            commitments: Commitments {
                comm_c: element(&partition.comm_c, "root of the column tree")?,
                root_r_old: element(&first.proof_r_old.root(), "root of the old replica tree")?,
                root_r_new: element(&first.proof_r_new.root(), "root of the new replica tree")?,
            },
            apex_leaves: leaves
                .map(|leaf| element(leaf, "apex leaf"))
                .collect::<Result<_, _>>()?,
            partition_path: data.levels[blank.path_bits()..].to_vec(),
            challenges: Some(challenges),
            ..blank
        })
    }

    /// Bits of a challenge that do not come from the partition; levels of the partition's share
    /// of the data tree.
    fn path_bits(&self) -> usize {
        self.params.challenge_bit_len - self.params.partition_bit_len
    }

    fn partition_number(&self) -> u64 {
        self.public.k_and_h_select & low_bits(self.params.partition_bit_len)
    }

    /// Allocates the public inputs.
    fn emit_public<S: Sink>(&self, sink: &mut S) {
        let public = &self.public;
        let num_bits = self.params.partition_bit_len + hs(self.params.sector_nodes).len();
        let packed = Fr::from(public.k_and_h_select);
        sink.push_wide(packed);
        sink.push_input(packed);
        sink.push_bits(public.k_and_h_select & low_bits(num_bits), num_bits as u32);
        let largest = low_bits(self.params.partition_bit_len);
        push_number(sink, self.partition_number(), largest);
        for commitment in [public.comm_r_old, public.comm_d_new, public.comm_r_new] {
            sink.push_wide(commitment);
            sink.push_input(commitment);
        }
    }

    /// Shows that the partition's apex leaves belong to the data.
    fn emit_apex<S: Sink>(&self, sink: &mut S) {
        let mut row = self.apex_leaves.clone();
        while row.len() > 1 {
            let (pairs, _) = row.as_chunks();
            row = pairs.iter().map(|&pair| hash_pair(sink, pair)).collect();
        }
        include_at(
            sink,
            TreeHash::Sha256,
            &self.partition_path,
            self.partition_number(),
            row[0],
        );
    }

    /// Draws the challenged nodes from hashes of the new replica's commitment.
    fn emit_challenges<S: Sink>(&self, sink: &mut S) -> Vec<u64> {
        let bits = self.path_bits();
        let per_digest = Fr::CAPACITY as usize / bits;
        let num_digests = self.params.challenge_count.div_ceil(per_digest) as u64;
        let partition = self.partition_number();
        let mut nodes = Vec::with_capacity(self.params.challenge_count);
        for digest_number in 0..num_digests {
            let index = partition * num_digests + digest_number;
            let largest = low_bits(self.params.partition_bit_len) * num_digests + digest_number;
            push_number(sink, index, largest);
            let preimage = [self.public.comm_r_new, Fr::from(index)];
            let digest = poseidon::RANDOMNESS.hash(sink, &preimage);
            to_bits(sink, digest);
            let drawn = (0..per_digest).map(|index| bits_of(digest, index * bits, bits));
            nodes.extend(drawn.map(|node| node | (partition << bits)));
        }
        nodes.truncate(self.params.challenge_count);
        nodes
    }

    /// The randomness of a challenged node's encoding: it depends on the node's highest bits, and
    /// how many these are depends on the selected one of six numbers.
    fn emit_rho<S: Sink>(&self, sink: &mut S, phi: Fr, node: u64) -> Fr {
        let num_bits = self.params.challenge_bit_len;
        let select = self.public.k_and_h_select >> self.params.partition_bit_len;
        let mut selected = 0;
        for (index, num_high) in hs(self.params.sector_nodes).into_iter().enumerate() {
            let high = node >> (num_bits - num_high);
            let or_zero = high * ((select >> index) & 1);
            push_number(sink, high, low_bits(num_high));
            push_number(sink, or_zero, low_bits(num_high));
            selected += or_zero;
        }
        let selected = Fr::from(selected);
        sink.push_wide(selected);
        poseidon::RANDOMNESS.hash(sink, &[phi, selected])
    }
}

impl<Tree: SectorTree> Blocks for UpdateBlocks<'_, Tree> {
    type Shared = Randomness;

    fn num_blocks(&self) -> usize {
        self.params.challenge_count
    }

    fn prologue<S: Sink>(&self, sink: &mut S) -> Result<Randomness, VanillaFault> {
        self.emit_public(sink);
        let preimage = [self.public.comm_d_new, self.public.comm_r_old];
        let phi = poseidon::RANDOMNESS.hash(sink, &preimage);
        let Commitments {
            comm_c,
            root_r_old,
            root_r_new,
        } = self.commitments;
        for value in [comm_c, root_r_old, root_r_new] {
            sink.push_wide(value);
        }
        for leaf in &self.apex_leaves {
            sink.push_wide(*leaf);
        }
        for level in &self.partition_path {
            level.push_siblings(sink);
        }
        poseidon::BINARY.hash(sink, &[comm_c, root_r_old]);
        poseidon::BINARY.hash(sink, &[comm_c, root_r_new]);
        self.emit_apex(sink);
        let nodes = self.emit_challenges(sink);
        Ok(Randomness { phi, nodes })
    }

    fn block<S: Sink>(
        &self,
        randomness: &Randomness,
        index: usize,
        sink: &mut S,
    ) -> Result<(), VanillaFault> {
        let challenge = match self.challenges {
            Some(challenges) => self.read_challenge(&challenges[index])?,
            None => Challenge {
                old: Path::blank(&self.tree_arities),
                data: Path::blank(&data_arities(self.params.sector_nodes)),
                new: Path::blank(&self.tree_arities),
            },
        };
        let node = randomness.nodes[index];
        let rho = self.emit_rho(sink, randomness.phi, node);
        let encoded = challenge.emit_leaves(sink, rho);
        if self.challenges.is_some() && encoded != challenge.new.leaf {
            return Err(VanillaFault::Differs {
                what: "encoded leaf",
            });
        }
        for (path, leaf) in [
            (&challenge.old, challenge.old.leaf),
            (&challenge.new, encoded),
        ] {
            for level in &path.levels {
                level.push_siblings(sink);
            }
            include_at(sink, TreeHash::Poseidon, &path.levels, node, leaf);
        }
        self.emit_data_path(sink, node, &challenge.data);
        Ok(())
    }
}

impl<Tree: SectorTree> UpdateBlocks<'_, Tree> {
    fn read_challenge(&self, proof: &ChallengeProof<Tree>) -> Result<Challenge, VanillaFault> {
        let data = read_data(self.params, proof)?;
        let own_path = data.levels[self.path_bits()..].iter();
        let same = own_path
            .zip(&self.partition_path)
            .all(|(own, shared)| own.siblings() == shared.siblings());
        if !same {
            return Err(VanillaFault::Differs {
                what: "path of the partition in the data tree",
            });
        }
        Ok(Challenge {
            old: Path::read(&proof.proof_r_old, &self.tree_arities, "old replica path")?,
            data,
            new: Path::read(&proof.proof_r_new, &self.tree_arities, "new replica path")?,
        })
    }

    /// Shows that the new data is below its apex leaf.
    fn emit_data_path<S: Sink>(&self, sink: &mut S, node: u64, data: &Path) {
        let num_levels = self.path_bits() - self.params.apex_leaf_bit_len;
        let apex_index = (node >> num_levels) & low_bits(self.params.apex_leaf_bit_len);
        select(sink, apex_index, &self.apex_leaves);
        let levels = &data.levels[..num_levels];
        for level in levels {
            level.push_siblings(sink);
        }
        include_at(sink, TreeHash::Sha256, levels, node, data.leaf);
    }
}

impl Challenge {
    /// Allocates the leaves and gives the new one, as it must be.
    fn emit_leaves<S: Sink>(&self, sink: &mut S, rho: Fr) -> Fr {
        let masked = self.data.leaf * rho;
        let encoded = self.old.leaf + masked;
        for value in [self.old.leaf, self.data.leaf, masked, encoded] {
            sink.push_wide(value);
        }
        encoded
    }
}

fn read_data<Tree: SectorTree>(
    params: &PublicParams,
    proof: &ChallengeProof<Tree>,
) -> Result<Path, VanillaFault> {
    let arities = data_arities(params.sector_nodes);
    Path::read(&proof.proof_d_new, &arities, "new data path")
}

/// Allocates a sum of bits that is at most `largest`: below two it is itself a bit.
fn push_number<S: Sink>(sink: &mut S, number: u64, largest: u64) {
    if largest <= 1 {
        sink.push_bits(number, 1);
    } else {
        sink.push_wide(Fr::from(number));
    }
}

/// A number whose lowest `count` bits are ones.
fn low_bits(count: usize) -> u64 {
    (1 << count) - 1
}

fn lowest_limb(element: Fr) -> u64 {
    bits_of(element, 0, 64)
}

/// Bits `start..start + count` of an element's canonical form; at most 64.
fn bits_of(element: Fr, start: usize, count: usize) -> u64 {
    let bytes = element.to_repr();
    let bit = |index: usize| u64::from((bytes[index / 8] >> (index % 8)) & 1);
    (0..count).fold(0, |bits, index| bits | (bit(start + index) << index))
}
