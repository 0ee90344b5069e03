//! Values that nothing prescribes, yet have to be the same in every run.
//!
//! Tickets, unchallenged labels and the roots of subtrees that no path enters are free. Each is
//! the hash of a key, of what the value is for, and of two numbers, so that it can be had in any
//! order, by any thread, without a table.

use sha2::{Digest, Sha256};

use crate::CircuitId;

/// What a drawn value is for. Values for different purposes are independent.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Purpose {
    SectorNumber,
    Ticket,
    InteractiveSeed,
    PoStRandomness,
    DataNode,
    OldReplicaNode,
    Label,
    ColumnTree,
    ReplicaTree,
    CommC,
    Sector,
}

/// A source of values that are fixed by its key.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    key: [u8; 32],
}

impl Draws {
    /// The source for one circuit and one seed.
    pub(super) fn new(circuit: CircuitId, seed: u64) -> Self {
        let key = Sha256::new()
            .chain_update(b"cuzk synthetic sector")
            .chain_update(circuit.to_string())
            .chain_update(seed.to_le_bytes())
            .finalize();
        Self { key: key.into() }
    }

    /// A source of its own for the sector with this number.
    pub(super) fn of_sector(&self, sector_number: u64) -> Self {
        Self {
            key: self.bytes(Purpose::Sector, sector_number, 0),
        }
    }

    /// 254 bits, little endian: a field element in canonical form, and valid padded data.
    pub(super) fn node<Node: From<[u8; 32]>>(&self, purpose: Purpose, a: usize, b: usize) -> Node {
        Node::from(self.bytes(purpose, a as u64, b as u64))
    }

    /// A number in `0..bound`; `bound` is positive.
    pub(super) fn number(&self, purpose: Purpose, bound: u64) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes(purpose, 0, 0);
        u64::from_le_bytes([a, b, c, d, e, f, g, h]) % bound
    }

    fn bytes(&self, purpose: Purpose, a: u64, b: u64) -> [u8; 32] {
        let mut bytes: [u8; 32] = Sha256::new()
            .chain_update(self.key)
            .chain_update([purpose as u8])
            .chain_update(a.to_le_bytes())
            .chain_update(b.to_le_bytes())
            .finalize()
            .into();
        bytes[31] &= 0b0011_1111;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(circuit: &str, seed: u64) -> Draws {
        Draws::new(circuit.parse().expect("a circuit id"), seed)
    }

    #[test]
    fn a_value_depends_on_circuit_seed_purpose_and_both_numbers() {
        let value = |draws: &Draws, purpose, a, b| draws.node::<[u8; 32]>(purpose, a, b);
        let base = draws("porep-2k", 1);
        let all = [
            value(&base, Purpose::Label, 1, 2),
            value(&base, Purpose::Label, 2, 1),
            value(&base, Purpose::Label, 1, 1),
            value(&base, Purpose::CommC, 1, 2),
            value(&base.of_sector(1), Purpose::Label, 1, 2),
            value(&base.of_sector(2), Purpose::Label, 1, 2),
            value(&draws("porep-2k", 2), Purpose::Label, 1, 2),
            value(&draws("porep-8m", 1), Purpose::Label, 1, 2),
            value(&draws("snap-2k", 1), Purpose::Label, 1, 2),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(one[31] < 64);
            assert!(all[i + 1..].iter().all(|other| other != one), "{i}");
        }
        assert_eq!(all[0], value(&draws("porep-2k", 1), Purpose::Label, 1, 2));
    }

    #[test]
    fn a_number_stays_below_its_bound() {
        for seed in 0..100 {
            let draws = draws("snap-2k", seed);
            assert_eq!(draws.number(Purpose::SectorNumber, 1), 0);
            assert!(draws.number(Purpose::SectorNumber, 3) < 3);
        }
    }
}
