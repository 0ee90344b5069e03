//! A key belongs to a circuit when its vectors have the lengths that the circuit's shape and densities ask for.

use std::path::Path;

use cuzk_r1cs::{Densities, Shape};

use super::{KeyError, Section};

/// Lengths of a key's vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct QueryCounts {
    /// Public inputs, ONE included.
    pub ic: u64,
    /// Domain size minus one.
    pub h: u64,
    /// Auxiliary variables.
    pub l: u64,
    /// Inputs plus auxiliary variables that occur in A.
    pub a: u64,
    /// Variables that occur in B; the same in both groups.
    pub b_g1: u64,
    /// Variables that occur in B; the same in both groups.
    pub b_g2: u64,
}

impl QueryCounts {
    /// The lengths that a circuit of this shape and these densities asks for.
    pub fn of_circuit(shape: &Shape, densities: &Densities) -> Self {
        let b = densities.b_input.count_ones() + densities.b_aux.count_ones();
        Self {
            ic: shape.num_inputs as u64,
            h: shape.domain_size() as u64 - 1,
            l: shape.num_aux as u64,
            a: (shape.num_inputs + densities.a_aux.count_ones()) as u64,
            b_g1: b as u64,
            b_g2: b as u64,
        }
    }

    /// The length of one vector; 1 for the single points of the header.
    pub const fn of(&self, section: Section) -> u64 {
        match section {
            Section::Ic => self.ic,
            Section::H => self.h,
            Section::L => self.l,
            Section::A => self.a,
            Section::BG1 => self.b_g1,
            Section::BG2 => self.b_g2,
            _ => 1,
        }
    }

    /// Points in all vectors together.
    pub fn num_points(&self) -> u64 {
        Section::VECTORS
            .iter()
            .map(|section| self.of(*section))
            .sum()
    }

    /// Bytes of a `.params` file with these vectors and no trailer.
    pub fn file_bytes(&self) -> u64 {
        let header: u64 = Section::HEADER
            .iter()
            .map(|section| section.point_bytes() as u64)
            .sum();
        let vectors = Section::VECTORS
            .iter()
            .map(|section| 4 + self.of(*section) * section.point_bytes() as u64);
        header + vectors.sum::<u64>()
    }

    /// Refuses a key if its vectors have not these lengths; `origin` names the key.
    ///
    /// # Errors
    /// [`KeyError::WrongCircuit`] with the first vector that differs and all lengths.
    pub fn expect(&self, found: &Self, origin: &Path) -> Result<(), KeyError> {
        match self.first_difference(found) {
            None => Ok(()),
            Some(section) => Err(KeyError::WrongCircuit {
                path: origin.to_path_buf(),
                section,
                expected: Box::new(*self),
                found: Box::new(*found),
            }),
        }
    }

    /// The first vector whose length differs from `other`'s.
    pub fn first_difference(&self, other: &Self) -> Option<Section> {
        Section::VECTORS
            .into_iter()
            .find(|section| self.of(*section) != other.of(*section))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the key of 32 GiB PoRep, whose file has 47,373,928,632 bytes.
    const POREP_32G: QueryCounts = QueryCounts {
        ic: 328,
        h: (1 << 27) - 1,
        l: 130_169_893,
        a: 129_753_620,
        b_g1: 33_112_282,
        b_g2: 33_112_282,
    };

    #[test]
    fn file_bytes_of_a_published_key_are_met() {
        assert_eq!(POREP_32G.file_bytes(), 47_373_928_632);
    }

    #[test]
    fn the_first_different_vector_is_named() {
        assert_eq!(POREP_32G.first_difference(&POREP_32G), None);
        let mut other = POREP_32G;
        other.b_g2 += 1;
        assert_eq!(POREP_32G.first_difference(&other), Some(Section::BG2));
        other.l -= 1;
        assert_eq!(POREP_32G.first_difference(&other), Some(Section::L));
    }
}
