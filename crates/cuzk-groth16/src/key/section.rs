//! A key file is six single points and six vectors of points; errors and views name them by one type.

use std::fmt;

/// One part of a key file, in the order of the file.
///
/// The first six are single points; the others are vectors, each preceded by its length. A `.vk` file ends after
/// [`Section::Ic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// α in G1.
    AlphaG1,
    /// β in G1.
    BetaG1,
    /// β in G2.
    BetaG2,
    /// γ in G2.
    GammaG2,
    /// δ in G1.
    DeltaG1,
    /// δ in G2.
    DeltaG2,
    /// One G1 point for each public input, ONE included.
    Ic,
    /// τ^i (τ^n − 1) / δ in G1, one less than the domain.
    H,
    /// One G1 point for each auxiliary variable.
    L,
    /// A polynomials at τ in G1: all inputs, then the auxiliary variables that occur in A.
    A,
    /// B polynomials at τ in G1: the inputs that occur in B, then the auxiliary variables that do.
    BG1,
    /// The same as [`Section::BG1`] in G2.
    BG2,
}

impl Section {
    /// The single points that every key file begins with.
    pub const HEADER: [Self; 6] = [
        Self::AlphaG1,
        Self::BetaG1,
        Self::BetaG2,
        Self::GammaG2,
        Self::DeltaG1,
        Self::DeltaG2,
    ];

    /// The vectors of a `.params` file.
    pub const VECTORS: [Self; 6] = [Self::Ic, Self::H, Self::L, Self::A, Self::BG1, Self::BG2];

    /// The vectors that a prover sums over.
    pub const QUERIES: [Self; 5] = [Self::H, Self::L, Self::A, Self::BG1, Self::BG2];

    /// Whether the points belong to G2.
    pub const fn is_g2(self) -> bool {
        matches!(
            self,
            Self::BetaG2 | Self::GammaG2 | Self::DeltaG2 | Self::BG2
        )
    }

    /// Bytes of one uncompressed point: 96 in G1, 192 in G2.
    pub const fn point_bytes(self) -> usize {
        if self.is_g2() { 192 } else { 96 }
    }

    /// The name in messages, such as "`b_g1`".
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlphaG1 => "alpha_g1",
            Self::BetaG1 => "beta_g1",
            Self::BetaG2 => "beta_g2",
            Self::GammaG2 => "gamma_g2",
            Self::DeltaG1 => "delta_g1",
            Self::DeltaG2 => "delta_g2",
            Self::Ic => "ic",
            Self::H => "h",
            Self::L => "l",
            Self::A => "a",
            Self::BG1 => "b_g1",
            Self::BG2 => "b_g2",
        }
    }

    /// Position among [`Self::VECTORS`], if it is one of them.
    pub(crate) fn vector_index(self) -> Option<usize> {
        Self::VECTORS.iter().position(|vector| *vector == self)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
