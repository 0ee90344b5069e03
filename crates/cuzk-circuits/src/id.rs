//! Which circuit is meant.
//!
//! Keys, queues, metrics, command lines and the wire all name circuits. They share one type with
//! one parser and one printer, so that `porep-32g` is the same thing everywhere.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Proof of replication: a sector was sealed (PoRep C2).
    PoRep,
    /// New data was encoded into a sealed sector (SnapDeals).
    SnapDeals,
    /// All sectors of a deadline are still stored.
    WindowPoSt,
    /// One sector, drawn at random, is still stored.
    WinningPoSt,
}

impl Family {
    /// The four families.
    pub const ALL: [Self; 4] = [
        Self::PoRep,
        Self::SnapDeals,
        Self::WindowPoSt,
        Self::WinningPoSt,
    ];

    /// The part of a circuit id before the dash.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::PoRep => "porep",
            Self::SnapDeals => "snap",
            Self::WindowPoSt => "wpost",
            Self::WinningPoSt => "winning",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PoRep => "PoRep",
            Self::SnapDeals => "SnapDeals",
            Self::WindowPoSt => "WindowPoSt",
            Self::WinningPoSt => "WinningPoSt",
        })
    }
}

/// A sector size for which the network published keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectorSize {
    /// 2 KiB, for tests and development networks.
    Kib2,
    /// 8 MiB, for development networks.
    Mib8,
    /// 512 MiB, for development networks.
    Mib512,
    /// 32 GiB, the usual size on the main network.
    Gib32,
    /// 64 GiB.
    Gib64,
}

impl SectorSize {
    /// The five sizes, ascending.
    pub const ALL: [Self; 5] = [
        Self::Kib2,
        Self::Mib8,
        Self::Mib512,
        Self::Gib32,
        Self::Gib64,
    ];

    /// Size of the padded sector in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Kib2 => 2 << 10,
            Self::Mib8 => 8 << 20,
            Self::Mib512 => 512 << 20,
            Self::Gib32 => 32 << 30,
            Self::Gib64 => 64 << 30,
        }
    }

    /// Number of 32-byte nodes, which is the number of leaves of the data and replica trees.
    pub fn num_nodes(self) -> usize {
        (self.bytes() / 32) as usize
    }

    /// The part of a circuit id after the dash.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Kib2 => "2k",
            Self::Mib8 => "8m",
            Self::Mib512 => "512m",
            Self::Gib32 => "32g",
            Self::Gib64 => "64g",
        }
    }

    /// The size as registered proofs spell it, for instance `32GiB`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Kib2 => "2KiB",
            Self::Mib8 => "8MiB",
            Self::Mib512 => "512MiB",
            Self::Gib32 => "32GiB",
            Self::Gib64 => "64GiB",
        }
    }

    /// Position in [`SectorSize::ALL`], which is the place within a block of registered proofs.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for SectorSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A circuit: a family at a sector size.
///
/// Printed and parsed as `porep-2k`, `snap-32g`, `wpost-512m`, `winning-64g` and so on. All
/// partitions of a proof, and all versions of a registered proof, share the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircuitId {
    /// What is proved.
    pub family: Family,
    /// About a sector of this size.
    pub sector_size: SectorSize,
}

impl CircuitId {
    /// The circuit of `family` at `sector_size`.
    pub const fn new(family: Family, sector_size: SectorSize) -> Self {
        Self {
            family,
            sector_size,
        }
    }

    /// All twenty circuits, by family, then by size.
    pub fn all() -> impl Iterator<Item = Self> {
        Family::ALL.into_iter().flat_map(|family| {
            SectorSize::ALL
                .into_iter()
                .map(move |sector_size| Self::new(family, sector_size))
        })
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!(
            "{}-{}",
            self.family.prefix(),
            self.sector_size.suffix()
        ))
    }
}

impl FromStr for CircuitId {
    type Err = UnknownCircuit;

    fn from_str(text: &str) -> Result<Self, UnknownCircuit> {
        Self::all()
            .find(|id| id.to_string() == text)
            .ok_or_else(|| UnknownCircuit::new(text))
    }
}

/// A circuit id that names no circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "unknown circuit {found:?}; did you mean {nearest}? circuits are {}",
    all_names()
)]
pub struct UnknownCircuit {
    /// What was given, at most 64 characters of it.
    pub found: String,
    /// The id that is spelled most like it.
    pub nearest: CircuitId,
}

impl UnknownCircuit {
    fn new(text: &str) -> Self {
        let found: String = text.chars().take(64).collect();
        let lower = found.to_lowercase();
        let nearest = CircuitId::all()
            .min_by_key(|id| strsim::damerau_levenshtein(&id.to_string(), &lower))
            .expect("there are twenty circuits");
        Self { found, nearest }
    }
}

fn all_names() -> String {
    let names: Vec<_> = CircuitId::all().map(|id| id.to_string()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_parsed_from_what_it_prints() {
        let all: Vec<_> = CircuitId::all().collect();
        assert_eq!(all.len(), 20);
        for id in all {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn ids_are_spelled_as_on_the_wire() {
        for text in [
            "porep-32g",
            "porep-64g",
            "wpost-32g",
            "winning-32g",
            "snap-32g",
            "snap-64g",
        ] {
            assert_eq!(
                text.parse::<CircuitId>().map(|id| id.to_string()),
                Ok(text.into())
            );
        }
    }

    #[test]
    fn an_unknown_id_names_the_nearest_and_all() {
        for (text, nearest) in [
            ("", "snap-2k"),
            ("porep32g", "porep-32g"),
            ("PoRep-32G", "porep-32g"),
            ("window-64g", "winning-64g"),
            ("snap-32 g", "snap-32g"),
            ("wpost-1g", "wpost-2k"),
        ] {
            let error = text.parse::<CircuitId>().expect_err("no such circuit");
            let message = error.to_string();
            assert_eq!(error.nearest.to_string(), nearest, "{text}");
            assert!(
                message.contains("porep-2k, ") && message.contains("winning-64g"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_very_long_id_is_cut_in_the_message() {
        let error = "x"
            .repeat(1 << 20)
            .parse::<CircuitId>()
            .expect_err("no such circuit");
        assert_eq!(error.found.len(), 64);
    }

    #[test]
    fn sizes_are_powers_of_two_and_ascend() {
        for pair in SectorSize::ALL.windows(2) {
            assert!(pair[0].bytes() < pair[1].bytes());
        }
        assert!(
            SectorSize::ALL
                .iter()
                .all(|size| size.bytes().is_power_of_two())
        );
        assert_eq!(SectorSize::Gib64.num_nodes(), 1 << 31);
    }
}
