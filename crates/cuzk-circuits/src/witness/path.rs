//! Merkle paths: their values out of vanilla proofs, and their variables.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use storage_proofs_core::merkle::MerkleProofTrait;

use super::error::VanillaFault;
use super::field::hash_pair;
use super::insertion::{insert_binary, insert_octary};
use super::poseidon;
use super::sink::Sink;

/// The siblings of a node.
#[derive(Clone, Copy)]
pub(super) enum Siblings {
    Binary(Fr),
    Octary([Fr; 7]),
}

/// A level of a path, from below.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Which child of the level above the node is.
    position: u64,
    siblings: Siblings,
}

/// A leaf and its way to the root.
pub(super) struct Path {
    pub(super) leaf: Fr,
    pub(super) levels: Vec<Level>,
}

/// What the nodes of a tree are made with.
#[derive(Clone, Copy)]
pub(super) enum TreeHash {
    /// Binary trees only.
    Sha256,
    Poseidon,
}

impl Siblings {
    fn as_slice(&self) -> &[Fr] {
        match self {
            Self::Binary(sibling) => std::slice::from_ref(sibling),
            Self::Octary(siblings) => siblings,
        }
    }

    /// Bits of a position.
    fn position_bits(&self) -> u32 {
        match self {
            Self::Binary(_) => 1,
            Self::Octary(_) => 3,
        }
    }

    fn read<D: AsRef<[u8]>>(hashes: &[D], what: &'static str) -> Result<Self, VanillaFault> {
        let mut siblings = [Fr::ZERO; 7];
        let count = hashes.len();
        for (sibling, hash) in siblings.iter_mut().zip(hashes) {
            *sibling = element(hash, what)?;
        }
        match count {
            1 => Ok(Self::Binary(siblings[0])),
            7 => Ok(Self::Octary(siblings)),
            _ => Err(VanillaFault::Count {
                what: "siblings",
                expected: 7,
                found: count,
            }),
        }
    }
}

impl Level {
    fn blank(arity: usize) -> Self {
        Self {
            position: 0,
            siblings: match arity {
                2 => Siblings::Binary(Fr::ZERO),
                _ => Siblings::Octary([Fr::ZERO; 7]),
            },
        }
    }

    fn read<D: AsRef<[u8]>>(
        hashes: &[D],
        position: usize,
        arity: usize,
        what: &'static str,
    ) -> Result<Self, VanillaFault> {
        expect_count("siblings", arity - 1, hashes.len())?;
        if position >= arity {
            return Err(VanillaFault::ChildIndex {
                arity,
                found: position,
            });
        }
        Ok(Self {
            position: position as u64,
            siblings: Siblings::read(hashes, what)?,
        })
    }

    /// Allocates the siblings.
    pub(super) fn push_siblings<S: Sink>(&self, sink: &mut S) {
        for sibling in self.siblings.as_slice() {
            sink.push_wide(*sibling);
        }
    }

    pub(super) fn siblings(&self) -> &[Fr] {
        self.siblings.as_slice()
    }

    /// The node above `node`, whose siblings and position are allocated already.
    fn climb<S: Sink>(&self, sink: &mut S, hash: TreeHash, position: u64, node: Fr) -> Fr {
        match &self.siblings {
            Siblings::Binary(sibling) => {
                let children = insert_binary(sink, position, node, *sibling);
                match hash {
                    TreeHash::Sha256 => hash_pair(sink, children),
                    TreeHash::Poseidon => poseidon::BINARY.hash(sink, &children),
                }
            }
            Siblings::Octary(siblings) => {
                let children = insert_octary(sink, position, node, siblings);
                poseidon::OCTARY.hash(sink, &children)
            }
        }
    }
}

impl Path {
    /// A path of zeros in a tree with these arities, from below.
    pub(super) fn blank(arities: &[usize]) -> Self {
        Self {
            leaf: Fr::ZERO,
            levels: arities.iter().map(|&arity| Level::blank(arity)).collect(),
        }
    }

    /// The path of a vanilla proof in a tree with these arities, from below.
    pub(super) fn read<P: MerkleProofTrait>(
        proof: &P,
        arities: &[usize],
        what: &'static str,
    ) -> Result<Self, VanillaFault> {
        let path = proof.path();
        expect_count("levels", arities.len(), path.len())?;
        let levels = path
            .iter()
            .zip(arities)
            .map(|((hashes, position), &arity)| Level::read(hashes, *position, arity, what))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            leaf: element(&proof.leaf(), what)?,
            levels,
        })
    }

    /// Shows that `leaf` is below the root: allocates positions, siblings and nodes level by level
    /// and the index of the leaf as a public input. The leaf is allocated already.
    pub(super) fn include<S: Sink>(&self, sink: &mut S, hash: TreeHash, leaf: Fr) {
        let mut index = 0;
        let mut shift = 0;
        let mut node = leaf;
        for level in &self.levels {
            let bits = level.siblings.position_bits();
            sink.push_bits(level.position, bits);
            level.push_siblings(sink);
            node = level.climb(sink, hash, level.position, node);
            index |= level.position << shift;
            shift += bits;
        }
        sink.push_input(Fr::from(index));
    }
}

/// Shows that `leaf` is at `index`: allocates the nodes. Leaf, siblings and the bits of the index
/// are allocated already; the positions in the vanilla proof are not looked at.
pub(super) fn include_at<S: Sink>(
    sink: &mut S,
    hash: TreeHash,
    levels: &[Level],
    mut index: u64,
    leaf: Fr,
) -> Fr {
    let mut node = leaf;
    for level in levels {
        let bits = level.siblings.position_bits();
        node = level.climb(sink, hash, index & ((1 << bits) - 1), node);
        index >>= bits;
    }
    node
}

/// A value of a vanilla proof as a field element.
pub(super) fn element<D: AsRef<[u8]>>(value: &D, what: &'static str) -> Result<Fr, VanillaFault> {
    <[u8; 32]>::try_from(value.as_ref())
        .ok()
        .and_then(Fr::from_repr_vartime)
        .ok_or(VanillaFault::NotInField { what })
}

/// Refuses a list of another length than in the circuit.
pub(super) fn expect_count(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), VanillaFault> {
    if found == expected {
        return Ok(());
    }
    Err(VanillaFault::Count {
        what,
        expected,
        found,
    })
}
