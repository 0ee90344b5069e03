//! Registered proofs, as the chain numbers them.
//!
//! A request says which proof it wants by a number, C1 output by a string. Both stand for a kind
//! and a sector size, and the sector size in the request has to agree. The numbers are those of
//! the actors' `abi` package, the names those of `filecoin-proofs-api`.

use std::fmt;
use std::str::FromStr;

use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};
use thiserror::Error;

use crate::id::{CircuitId, Family, SectorSize};

/// Which protocol of proof of replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SealVariant {
    /// The first one.
    V1,
    /// With the corrected graph.
    V1_1,
    /// Challenges are drawn from a fixed set that is derived after sealing.
    SyntheticPoRep,
    /// No seed from the chain; 126 partitions at 32 GiB, delivered as an aggregate.
    NonInteractivePoRep,
}

impl SealVariant {
    const ALL: [Self; 4] = [
        Self::V1,
        Self::V1_1,
        Self::SyntheticPoRep,
        Self::NonInteractivePoRep,
    ];

    fn suffix(self) -> &'static str {
        match self {
            Self::V1 => "V1",
            Self::V1_1 => "V1_1",
            Self::SyntheticPoRep => "V1_1_Feat_SyntheticPoRep",
            Self::NonInteractivePoRep => "V1_2_Feat_NonInteractivePoRep",
        }
    }
}

/// A registered seal proof, numbers 0 to 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SealProof {
    /// Which protocol.
    pub variant: SealVariant,
    /// For a sector of this size.
    pub sector_size: SectorSize,
}

impl SealProof {
    /// All twenty, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        SealVariant::ALL.into_iter().flat_map(|variant| {
            SectorSize::ALL.into_iter().map(move |sector_size| Self {
                variant,
                sector_size,
            })
        })
    }

    /// The same proof in upstream's type.
    pub fn upstream(self) -> RegisteredSealProof {
        use RegisteredSealProof as P;
        const ALL: [RegisteredSealProof; 20] = [
            P::StackedDrg2KiBV1,
            P::StackedDrg8MiBV1,
            P::StackedDrg512MiBV1,
            P::StackedDrg32GiBV1,
            P::StackedDrg64GiBV1,
            P::StackedDrg2KiBV1_1,
            P::StackedDrg8MiBV1_1,
            P::StackedDrg512MiBV1_1,
            P::StackedDrg32GiBV1_1,
            P::StackedDrg64GiBV1_1,
            P::StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
            P::StackedDrg8MiBV1_1_Feat_SyntheticPoRep,
            P::StackedDrg512MiBV1_1_Feat_SyntheticPoRep,
            P::StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
            P::StackedDrg64GiBV1_1_Feat_SyntheticPoRep,
            P::StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
            P::StackedDrg8MiBV1_2_Feat_NonInteractivePoRep,
            P::StackedDrg512MiBV1_2_Feat_NonInteractivePoRep,
            P::StackedDrg32GiBV1_2_Feat_NonInteractivePoRep,
            P::StackedDrg64GiBV1_2_Feat_NonInteractivePoRep,
        ];
        ALL[self.number() as usize]
    }

    /// Number on the wire.
    pub fn number(self) -> u64 {
        (self.variant as usize * SectorSize::ALL.len() + self.sector_size.index()) as u64
    }

    /// The circuit that proves it.
    pub fn circuit_id(self) -> CircuitId {
        CircuitId::new(Family::PoRep, self.sector_size)
    }

    /// The name of the sector shape, the key under which C1 output holds its vanilla proofs.
    pub(crate) fn shape_name(self) -> String {
        format!("StackedDrg{}V1", self.sector_size.label())
    }
}

impl fmt::Display for SealProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "StackedDrg{}{}",
            self.sector_size.label(),
            self.variant.suffix()
        )
    }
}

/// Which proof of spacetime, and which derivation of its challenges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoStVariant {
    /// Winning, version 1.
    Winning,
    /// Window, version 1: challenges depend on the sector's place in the call.
    Window,
    /// Window with the grindability fix: challenges depend on the sector only. `V1_1` in Go.
    WindowV1_2,
}

impl PoStVariant {
    const ALL: [Self; 3] = [Self::Winning, Self::Window, Self::WindowV1_2];

    /// The family it belongs to.
    pub fn family(self) -> Family {
        match self {
            Self::Winning => Family::WinningPoSt,
            Self::Window | Self::WindowV1_2 => Family::WindowPoSt,
        }
    }
}

/// A registered proof of spacetime, numbers 0 to 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoStProof {
    /// Which proof.
    pub variant: PoStVariant,
    /// About sectors of this size.
    pub sector_size: SectorSize,
}

impl PoStProof {
    /// All fifteen, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        PoStVariant::ALL.into_iter().flat_map(|variant| {
            SectorSize::ALL.into_iter().map(move |sector_size| Self {
                variant,
                sector_size,
            })
        })
    }

    /// The same proof in upstream's type.
    pub fn upstream(self) -> RegisteredPoStProof {
        use RegisteredPoStProof as P;
        const ALL: [RegisteredPoStProof; 15] = [
            P::StackedDrgWinning2KiBV1,
            P::StackedDrgWinning8MiBV1,
            P::StackedDrgWinning512MiBV1,
            P::StackedDrgWinning32GiBV1,
            P::StackedDrgWinning64GiBV1,
            P::StackedDrgWindow2KiBV1,
            P::StackedDrgWindow8MiBV1,
            P::StackedDrgWindow512MiBV1,
            P::StackedDrgWindow32GiBV1,
            P::StackedDrgWindow64GiBV1,
            P::StackedDrgWindow2KiBV1_2,
            P::StackedDrgWindow8MiBV1_2,
            P::StackedDrgWindow512MiBV1_2,
            P::StackedDrgWindow32GiBV1_2,
            P::StackedDrgWindow64GiBV1_2,
        ];
        ALL[self.number() as usize]
    }

    /// Number on the wire.
    pub fn number(self) -> u64 {
        (self.variant as usize * SectorSize::ALL.len() + self.sector_size.index()) as u64
    }

    /// The circuit that proves it.
    pub fn circuit_id(self) -> CircuitId {
        CircuitId::new(self.variant.family(), self.sector_size)
    }
}

impl fmt::Display for PoStProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, version) = match self.variant {
            PoStVariant::Winning => ("Winning", "V1"),
            PoStVariant::Window => ("Window", "V1"),
            PoStVariant::WindowV1_2 => ("Window", "V1_2"),
        };
        write!(f, "StackedDrg{kind}{}{version}", self.sector_size.label())
    }
}

/// A registered sector update, numbers 0 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UpdateProof {
    /// Of a sector of this size.
    pub sector_size: SectorSize,
}

impl UpdateProof {
    /// All five, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        SectorSize::ALL
            .into_iter()
            .map(|sector_size| Self { sector_size })
    }

    /// The same proof in upstream's type.
    pub fn upstream(self) -> RegisteredUpdateProof {
        match self.sector_size {
            SectorSize::Kib2 => RegisteredUpdateProof::StackedDrg2KiBV1,
            SectorSize::Mib8 => RegisteredUpdateProof::StackedDrg8MiBV1,
            SectorSize::Mib512 => RegisteredUpdateProof::StackedDrg512MiBV1,
            SectorSize::Gib32 => RegisteredUpdateProof::StackedDrg32GiBV1,
            SectorSize::Gib64 => RegisteredUpdateProof::StackedDrg64GiBV1,
        }
    }

    /// Number on the wire.
    pub fn number(self) -> u64 {
        self.sector_size.index() as u64
    }

    /// The circuit that proves it.
    pub fn circuit_id(self) -> CircuitId {
        CircuitId::new(Family::SnapDeals, self.sector_size)
    }
}

impl fmt::Display for UpdateProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackedDrg{}V1", self.sector_size.label())
    }
}

/// A number or a name that stands for no registered proof.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownRegisteredProof {
    /// The number is past the last one.
    #[error("registered {kind} proof {number} is unknown; the last one is {last}")]
    Number {
        /// `seal`, `PoSt` or `update`.
        kind: &'static str,
        /// What was given.
        number: u64,
        /// The largest number that is known.
        last: u64,
    },
    /// No registered proof has this name.
    #[error("registered {kind} proof {name:?} is unknown; they are {}", known.join(", "))]
    Name {
        /// `seal`, `PoSt` or `update`.
        kind: &'static str,
        /// What was given, at most 64 characters of it.
        name: String,
        /// All names.
        known: Vec<String>,
    },
}

macro_rules! parse_registered {
    ($proof:ty, $kind:literal, $accepted:expr) => {
        impl $proof {
            /// The registered proof with this number on the wire.
            ///
            /// # Errors
            /// When no proof has this number.
            pub fn from_number(number: u64) -> Result<Self, UnknownRegisteredProof> {
                Self::all().find(|proof| proof.number() == number).ok_or(
                    UnknownRegisteredProof::Number {
                        kind: $kind,
                        number,
                        last: Self::all().count() as u64 - 1,
                    },
                )
            }
        }

        impl FromStr for $proof {
            type Err = UnknownRegisteredProof;

            fn from_str(name: &str) -> Result<Self, UnknownRegisteredProof> {
                let accepted: fn(Self, &str) -> bool = $accepted;
                Self::all()
                    .find(|proof| accepted(*proof, name))
                    .ok_or_else(|| UnknownRegisteredProof::Name {
                        kind: $kind,
                        name: name.chars().take(64).collect(),
                        known: Self::all().map(|proof| proof.to_string()).collect(),
                    })
            }
        }
    };
}

parse_registered!(SealProof, "seal", |proof, name| proof.to_string() == name);
parse_registered!(PoStProof, "PoSt", |proof, name| {
    let own = proof.to_string();
    // Go calls the grindability fix V1_1.
    own == name || proof.variant == PoStVariant::WindowV1_2 && own.replace("V1_2", "V1_1") == name
});
parse_registered!(UpdateProof, "update", |proof, name| proof.to_string()
    == name);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seal_proofs_agree_with_upstream_in_number_name_and_size() {
        assert_eq!(SealProof::all().count(), 20);
        for (number, proof) in (0..).zip(SealProof::all()) {
            let upstream = proof.upstream();
            assert_eq!(SealProof::from_number(number), Ok(proof));
            assert_eq!(upstream as u64, number);
            assert_eq!(format!("{upstream:?}"), proof.to_string());
            assert_eq!(proof.to_string().parse(), Ok(proof));
            assert_eq!(u64::from(upstream.sector_size()), proof.sector_size.bytes());
        }
    }

    #[test]
    fn post_proofs_agree_with_upstream_in_number_name_and_size() {
        assert_eq!(PoStProof::all().count(), 15);
        for (number, proof) in (0..).zip(PoStProof::all()) {
            let upstream = proof.upstream();
            assert_eq!(PoStProof::from_number(number), Ok(proof));
            assert_eq!(upstream as u64, number);
            assert_eq!(format!("{upstream:?}"), proof.to_string());
            assert_eq!(proof.to_string().parse(), Ok(proof));
            assert_eq!(u64::from(upstream.sector_size()), proof.sector_size.bytes());
        }
    }

    #[test]
    fn update_proofs_agree_with_upstream_in_number_name_and_size() {
        assert_eq!(UpdateProof::all().count(), 5);
        for (number, proof) in (0..).zip(UpdateProof::all()) {
            let upstream = proof.upstream();
            assert_eq!(UpdateProof::from_number(number), Ok(proof));
            assert_eq!(upstream as u64, number);
            assert_eq!(format!("{upstream:?}"), proof.to_string());
            assert_eq!(proof.to_string().parse(), Ok(proof));
            assert_eq!(u64::from(upstream.sector_size()), proof.sector_size.bytes());
        }
    }

    #[test]
    fn the_32_gib_numbers_are_those_of_the_chain() {
        let number = |name: &str| name.parse::<PoStProof>().map(PoStProof::number);
        assert_eq!(number("StackedDrgWinning32GiBV1"), Ok(3));
        assert_eq!(number("StackedDrgWindow32GiBV1"), Ok(8));
        assert_eq!(number("StackedDrgWindow32GiBV1_2"), Ok(13));
        assert_eq!(number("StackedDrgWindow32GiBV1_1"), Ok(13), "Go's name");
        assert_eq!("StackedDrg32GiBV1_1".parse().map(SealProof::number), Ok(8));
    }

    #[test]
    fn unknown_numbers_and_names_are_refused_with_what_was_found() {
        let number = SealProof::from_number(20).expect_err("there are twenty");
        assert_eq!(
            number.to_string(),
            "registered seal proof 20 is unknown; the last one is 19"
        );
        assert!(PoStProof::from_number(15).is_err());
        assert!(UpdateProof::from_number(5).is_err());
        assert!(PoStProof::from_number(u64::MAX).is_err());
        let name = "StackedDrg16KiBV1"
            .parse::<SealProof>()
            .expect_err("no such size");
        assert!(name.to_string().contains("StackedDrg2KiBV1, "));
        assert!("StackedDrgWinning2KiBV1_1".parse::<PoStProof>().is_err());
    }
}
