//! Merkle proofs as they are sent.
//!
//! Upstream's own type parses, but then hides its parts and panics on paths of the wrong length.
//! This one is parsed, checked against the tree that it must belong to, and turned into upstream's.

use filecoin_hashers::{Domain, Hasher, PoseidonArity};
use serde::Deserialize;
use storage_proofs_core::merkle::{MerkleProof, base_path_length};

use super::DecodeError;
use super::bounded::{Node, list, unwrap_nodes};
use super::place::Place;

/// Levels of the deepest tree (the data tree of 64 GiB has 31).
const MAX_LEVELS: usize = 40;
/// Siblings per level of an octary tree, and one more for a precise message.
const MAX_SIBLINGS: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
pub(super) struct MerkleWire<D> {
    data: DataWire<D>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "D: Domain")]
enum DataWire<D> {
    Single(SingleWire<D>),
    Sub(SubWire<D>),
    Top(TopWire<D>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
struct SingleWire<D> {
    root: Node<D>,
    leaf: Node<D>,
    path: PathWire<D>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
struct SubWire<D> {
    base_proof: PathWire<D>,
    sub_proof: PathWire<D>,
    root: Node<D>,
    leaf: Node<D>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
struct TopWire<D> {
    base_proof: PathWire<D>,
    sub_proof: PathWire<D>,
    top_proof: PathWire<D>,
    root: Node<D>,
    leaf: Node<D>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
struct PathWire<D> {
    #[serde(deserialize_with = "list::<_, _, MAX_LEVELS>")]
    path: Vec<LevelWire<D>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "D: Domain")]
struct LevelWire<D> {
    #[serde(deserialize_with = "list::<_, _, MAX_SIBLINGS>")]
    hashes: Vec<Node<D>>,
    index: usize,
}

impl<D> DataWire<D> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Single(_) => "Single",
            Self::Sub(_) => "Sub",
            Self::Top(_) => "Top",
        }
    }
}

/// A path of a part of the tree: from where it stands, with how many levels of which arity.
struct Part<'a> {
    name: &'static str,
    place: Place<'a>,
    num_levels: usize,
    arity: usize,
}

impl<D: Domain> MerkleWire<D> {
    /// Checks the proof against a tree of `leaves` leaves with base arity `U`, subtree arity `V`
    /// and top arity `W`.
    pub(super) fn into_proof<H, U, V, W>(
        self,
        leaves: usize,
        place: Place<'_>,
    ) -> Result<MerkleProof<H, U, V, W>, DecodeError>
    where
        H: Hasher<Domain = D>,
        U: 'static + PoseidonArity,
        V: 'static + PoseidonArity,
        W: 'static + PoseidonArity,
    {
        let place = place.field("data");
        let part = |name, num_levels, arity| Part {
            name,
            place,
            num_levels,
            arity,
        };
        let base_levels = base_path_length::<U, V, W>(leaves);
        let (root, leaf, path) = match (self.data, V::to_usize(), W::to_usize()) {
            (DataWire::Single(proof), 0, 0) => {
                let path = proof
                    .path
                    .check(&part("path", base_levels, U::to_usize()))?;
                (proof.root, proof.leaf, path)
            }
            (DataWire::Sub(proof), sub, 0) if sub > 0 => {
                let base = part("base_proof", base_levels, U::to_usize());
                let mut path = proof.base_proof.check(&base)?;
                path.extend(proof.sub_proof.check(&part("sub_proof", 1, sub))?);
                (proof.root, proof.leaf, path)
            }
            (DataWire::Top(proof), sub, top) if top > 0 => {
                let base = part("base_proof", base_levels, U::to_usize());
                let mut path = proof.base_proof.check(&base)?;
                path.extend(proof.sub_proof.check(&part("sub_proof", 1, sub))?);
                path.extend(proof.top_proof.check(&part("top_proof", 1, top))?);
                (proof.root, proof.leaf, path)
            }
            (data, sub, top) => {
                return Err(DecodeError::TreeKind {
                    path: place.to_string(),
                    expected: match (sub, top) {
                        (0, _) => "Single",
                        (_, 0) => "Sub",
                        _ => "Top",
                    },
                    found: data.kind(),
                });
            }
        };
        Ok(MerkleProof::from_parts(leaf.0, root.0, path))
    }
}

impl<D> PathWire<D> {
    fn check(self, part: &Part<'_>) -> Result<Vec<(Vec<D>, usize)>, DecodeError> {
        let place = part.place.field(part.name);
        let place = place.field("path");
        expect_count(self.path.len(), part.num_levels, place)?;
        self.path
            .into_iter()
            .enumerate()
            .map(|(index, level)| level.check(part.arity, place.index(index)))
            .collect()
    }
}

impl<D> LevelWire<D> {
    fn check(self, arity: usize, place: Place<'_>) -> Result<(Vec<D>, usize), DecodeError> {
        expect_count(self.hashes.len(), arity - 1, place.field("hashes"))?;
        if self.index >= arity {
            return Err(DecodeError::ChildIndex {
                path: place.field("index").to_string(),
                arity,
                found: self.index,
            });
        }
        Ok((unwrap_nodes(self.hashes), self.index))
    }
}

/// Refuses a list at `place` that has not the expected number of entries.
pub(super) fn expect_count(
    found: usize,
    expected: usize,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    if found == expected {
        return Ok(());
    }
    Err(DecodeError::Count {
        path: place.to_string(),
        expected,
        found,
    })
}
