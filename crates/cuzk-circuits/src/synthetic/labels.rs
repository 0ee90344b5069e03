//! Labels of the few nodes that a replication proof shows.
//!
//! Sealing computes a label for every node of every layer, each from labels before it. A proof
//! recomputes only the labels of challenged nodes, from those of their parents, and takes the
//! parents' as they are committed. So only challenged nodes get true labels, and every other
//! node's labels are drawn.

use std::collections::{BTreeMap, BTreeSet};

use filecoin_proofs::{DRG_DEGREE, EXP_DEGREE};
use sha2::{Digest, Sha256};
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::error::Result as UpstreamResult;
use storage_proofs_porep::stacked::{StackedBucketGraph, TOTAL_PARENTS};
use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

use super::draw::{Draws, Purpose};

/// Parents of a node: [`DRG_DEGREE`] in the same layer, then [`EXP_DEGREE`] in the layer below.
type Parents = [u32; DRG_DEGREE + EXP_DEGREE];

/// The labels of all challenged nodes and their parents, in every layer.
pub(super) struct Columns {
    labels: BTreeMap<u32, Vec<TreeRDomain>>,
    parents: BTreeMap<u32, Parents>,
}

impl Columns {
    /// Labels the challenged nodes of all layers.
    ///
    /// # Errors
    /// What the graph says when a node is not in it.
    pub(super) fn new(
        graph: &StackedBucketGraph<TreeRHasher>,
        replica_id: &TreeRDomain,
        challenges: &BTreeSet<u32>,
        num_layers: usize,
        draws: &Draws,
    ) -> UpstreamResult<Self> {
        let parents = challenges
            .iter()
            .map(|&node| {
                let mut parents = Parents::default();
                graph.parents(node as usize, &mut parents)?;
                Ok((node, parents))
            })
            .collect::<UpstreamResult<BTreeMap<_, _>>>()?;
        let drawn = |node: u32| {
            (1..=num_layers)
                .map(|layer| draws.node(Purpose::Label, layer, node as usize))
                .collect()
        };
        let labels = challenges
            .iter()
            .chain(parents.values().flatten())
            .map(|&node| (node, drawn(node)))
            .collect();
        let mut columns = Self { labels, parents };
        // A parent may be challenged itself. It is then in the layer below, or before its child.
        for layer in 1..=num_layers {
            for &node in challenges {
                let label = label(replica_id, layer, node, &columns.parent_labels(node, layer));
                if let Some(column) = columns.labels.get_mut(&node) {
                    column[layer - 1] = label;
                }
            }
        }
        Ok(columns)
    }

    /// All labelled nodes, ascending, with their labels from layer 1 on.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[TreeRDomain])> {
        self.labels
            .iter()
            .map(|(&node, labels)| (node, labels.as_slice()))
    }

    /// Labels of a challenged node or of a parent of one, from layer 1 on.
    pub(super) fn of(&self, node: u32) -> &[TreeRDomain] {
        &self.labels[&node]
    }

    /// Parents of a challenged node.
    pub(super) fn parents(&self, node: u32) -> (&[u32], &[u32]) {
        self.parents[&node].split_at(DRG_DEGREE)
    }

    /// The labels that enter the label of a challenged node in a layer, which counts from 1.
    pub(super) fn parent_labels(&self, node: u32, layer: usize) -> Vec<TreeRDomain> {
        let (same_layer, layer_below) = self.parents(node);
        let mut labels: Vec<_> = same_layer
            .iter()
            .map(|&parent| self.of(parent)[layer - 1])
            .collect();
        if layer > 1 {
            labels.extend(layer_below.iter().map(|&parent| self.of(parent)[layer - 2]));
        }
        labels.into_iter().cycle().take(TOTAL_PARENTS).collect()
    }
}

/// The label of a node, as sealing defines it.
fn label(
    replica_id: &TreeRDomain,
    layer: usize,
    node: u32,
    parent_labels: &[TreeRDomain],
) -> TreeRDomain {
    let mut hasher = Sha256::new();
    hasher.update(replica_id);
    hasher.update((layer as u32).to_be_bytes());
    hasher.update(u64::from(node).to_be_bytes());
    hasher.update([0; 20]);
    for parent in parent_labels {
        hasher.update(parent);
    }
    let mut label: [u8; 32] = hasher.finalize().into();
    label[31] &= 0b0011_1111;
    label.into()
}
