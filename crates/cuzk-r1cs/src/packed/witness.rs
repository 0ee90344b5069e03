//! The values of all variables, a bit for each boolean one.

use std::sync::Arc;

use ff::Field;
use rayon::prelude::*;

use crate::packed::VariableKinds;
use crate::packed::kinds::{WORDS_PER_BLOCK, stray_bits};
use crate::{Fr, Witness};

/// A witness with its boolean variables as bits; 70 MB where a vector of field elements takes 3.9 GiB.
///
/// The plane's bit i is the value of private variable i, and zero where that variable is wide, so the plane is at once the
/// bitmap of the bases that a sum takes with coefficient one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedWitness {
    kinds: Arc<VariableKinds>,
    inputs: Vec<Fr>,
    plane: Vec<u64>,
    wide: Vec<Fr>,
}

/// Why values do not form a packed witness of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The first public variable is the constant ONE.
    #[error("input 0 is the constant one, found {}", .found.map_or_else(|| "no input".to_owned(), |value| value.to_string()))]
    FirstInput {
        /// What stands there, if anything.
        found: Option<Fr>,
    },
    /// A vector of another length.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        /// Which vector, and in what unit.
        what: &'static str,
        /// Length that the kinds ask for.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// The plane has a bit where the variable is wide.
    #[error("the plane has a bit at variable {variable}, which is wide")]
    BitOfWide {
        /// The first such variable.
        variable: usize,
    },
    /// The plane has a bit that belongs to no variable.
    #[error("the plane's last word {word:#018x} has bits beyond variable {num_aux}")]
    BitsBeyond {
        /// Number of private variables.
        num_aux: usize,
        /// The last word.
        word: u64,
    },
    /// A variable that the circuit's rows force to be 0 or 1 is neither.
    #[error("variable {variable} is boolean by the circuit's rows, found {value}")]
    NotBoolean {
        /// The first such variable.
        variable: usize,
        /// Its value.
        value: Fr,
    },
}

impl PackedWitness {
    /// A witness from its parts: public variables, the plane of bits, and the wide values in order of their variables.
    ///
    /// # Errors
    /// When a length is not that of `kinds`, the first input is not ONE, or the plane has a bit that is not a boolean's.
    pub fn new(
        kinds: Arc<VariableKinds>,
        inputs: Vec<Fr>,
        plane: Vec<u64>,
        wide: Vec<Fr>,
    ) -> Result<Self, PackError> {
        check_first_input(&inputs)?;
        let num_aux = kinds.num_aux();
        check_length("words of the plane", num_aux.div_ceil(64), plane.len())?;
        check_length("wide values", kinds.num_wide(), wide.len())?;
        if let Some(word) = stray_bits(&plane, num_aux) {
            return Err(PackError::BitsBeyond { num_aux, word });
        }
        let clash = plane
            .iter()
            .zip(kinds.wide_mask())
            .position(|(bits, mask)| bits & mask != 0);
        if let Some(word) = clash {
            let bit = (plane[word] & kinds.wide_mask()[word]).trailing_zeros() as usize;
            return Err(PackError::BitOfWide {
                variable: word * 64 + bit,
            });
        }
        Ok(Self {
            kinds,
            inputs,
            plane,
            wide,
        })
    }

    /// Packs the values of all variables.
    ///
    /// # Errors
    /// When the first input is not ONE, the witness has another number of private variables, or a boolean variable has
    /// another value than 0 and 1, as it can in a witness that does not satisfy the circuit.
    pub fn pack(kinds: &Arc<VariableKinds>, witness: &Witness) -> Result<Self, PackError> {
        check_first_input(&witness.inputs)?;
        check_length("private variables", kinds.num_aux(), witness.aux.len())?;
        let mut plane = vec![0_u64; kinds.num_aux().div_ceil(64)];
        let mut wide = Vec::with_capacity(kinds.num_wide());
        for (word_index, values) in witness.aux.chunks(64).enumerate() {
            let mask = kinds.wide_mask()[word_index];
            for (bit, &value) in values.iter().enumerate() {
                if mask >> bit & 1 == 1 {
                    wide.push(value);
                } else if value == Fr::ONE {
                    plane[word_index] |= 1 << bit;
                } else if value != Fr::ZERO {
                    let variable = word_index * 64 + bit;
                    return Err(PackError::NotBoolean { variable, value });
                }
            }
        }
        Ok(Self {
            kinds: Arc::clone(kinds),
            inputs: witness.inputs.clone(),
            plane,
            wide,
        })
    }

    /// The same values as one field element per variable.
    pub fn expand(&self) -> Witness {
        let mut aux = vec![Fr::ZERO; self.kinds.num_aux()];
        aux.par_chunks_mut(WORDS_PER_BLOCK * 64)
            .zip(self.kinds.block_ranks())
            .enumerate()
            .for_each(|(block, (values, &rank))| {
                let mut rank = rank as usize;
                let words = self.plane[block * WORDS_PER_BLOCK..]
                    .iter()
                    .zip(&self.kinds.wide_mask()[block * WORDS_PER_BLOCK..]);
                for (values, (&bits, &mask)) in values.chunks_mut(64).zip(words) {
                    for (bit, value) in values.iter_mut().enumerate() {
                        if mask >> bit & 1 == 1 {
                            *value = self.wide[rank];
                            rank += 1;
                        } else if bits >> bit & 1 == 1 {
                            *value = Fr::ONE;
                        }
                    }
                }
            });
        Witness {
            inputs: self.inputs.clone(),
            aux,
        }
    }

    /// Which variables are bits.
    pub fn kinds(&self) -> &Arc<VariableKinds> {
        &self.kinds
    }

    /// Public variables, ONE first, Montgomery form.
    pub fn inputs(&self) -> &[Fr] {
        &self.inputs
    }

    /// Bit i is the value of private variable i; zero where it is wide, and beyond the last variable.
    pub fn plane(&self) -> &[u64] {
        &self.plane
    }

    /// Values of the wide variables in their order, Montgomery form; see [`VariableKinds::wide_rank`].
    pub fn wide(&self) -> &[Fr] {
        &self.wide
    }

    /// Bytes of the values; the kinds, shared by all witnesses of a circuit, are not counted.
    pub fn num_bytes(&self) -> usize {
        size_of_val(self.inputs.as_slice())
            + size_of_val(self.plane.as_slice())
            + size_of_val(self.wide.as_slice())
    }
}

fn check_first_input(inputs: &[Fr]) -> Result<(), PackError> {
    match inputs.first() {
        Some(&first) if first == Fr::ONE => Ok(()),
        found => Err(PackError::FirstInput {
            found: found.copied(),
        }),
    }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), PackError> {
    if expected == found {
        Ok(())
    } else {
        Err(PackError::Length {
            what,
            expected,
            found,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(flags: &[bool]) -> Arc<VariableKinds> {
        let mut mask = vec![0; flags.len().div_ceil(64)];
        for (index, &flag) in flags.iter().enumerate() {
            mask[index / 64] |= u64::from(flag) << (index % 64);
        }
        Arc::new(VariableKinds::from_wide_mask(flags.len(), mask).expect("a mask of all variables"))
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_by_name() {
        let kinds = kinds(&[false, true, false]);
        let new = |inputs, plane, wide| PackedWitness::new(Arc::clone(&kinds), inputs, plane, wide);
        let one = vec![Fr::ONE];
        let length = |what, expected, found| {
            Err(PackError::Length {
                what,
                expected,
                found,
            })
        };
        assert_eq!(
            new(vec![], vec![0], one.clone()),
            Err(PackError::FirstInput { found: None })
        );
        assert_eq!(
            new(vec![Fr::ZERO], vec![0], one.clone()),
            Err(PackError::FirstInput {
                found: Some(Fr::ZERO)
            })
        );
        assert_eq!(
            new(one.clone(), vec![], one.clone()),
            length("words of the plane", 1, 0)
        );
        assert_eq!(
            new(one.clone(), vec![0], vec![]),
            length("wide values", 1, 0)
        );
        assert_eq!(
            new(one.clone(), vec![8], one.clone()),
            Err(PackError::BitsBeyond {
                num_aux: 3,
                word: 8
            })
        );
        assert_eq!(
            new(one.clone(), vec![3], one.clone()),
            Err(PackError::BitOfWide { variable: 1 })
        );
        let witness = new(one.clone(), vec![5], one.clone()).expect("the parts fit");
        assert_eq!(witness.expand().aux, [Fr::ONE; 3]);
        assert_eq!(witness.num_bytes(), 32 + 8 + 32);
    }

    #[test]
    fn a_boolean_variable_with_another_value_is_named() {
        let kinds = kinds(&[true, false, false]);
        let witness = Witness {
            inputs: vec![Fr::ONE],
            aux: vec![Fr::from(7), Fr::ONE, Fr::from(2)],
        };
        let error = PackedWitness::pack(&kinds, &witness).expect_err("2 is no bit");
        assert_eq!(
            error,
            PackError::NotBoolean {
                variable: 2,
                value: Fr::from(2)
            }
        );
        assert!(error.to_string().contains("variable 2"), "{error}");
    }

    proptest! {
        #[test]
        fn packing_and_expanding_gives_the_witness_back(
            variables in proptest::collection::vec((any::<bool>(), any::<u64>()), 0..1300),
            inputs in proptest::collection::vec(any::<u64>(), 0..4),
        ) {
            let flags: Vec<bool> = variables.iter().map(|&(wide, _)| wide).collect();
            let value = |&(wide, value): &(bool, u64)| if wide { -Fr::from(value) } else { Fr::from(value & 1) };
            let witness = Witness {
                inputs: std::iter::once(Fr::ONE).chain(inputs.into_iter().map(Fr::from)).collect(),
                aux: variables.iter().map(value).collect(),
            };
            let kinds = kinds(&flags);
            let packed = PackedWitness::pack(&kinds, &witness).expect("booleans are 0 or 1");
            prop_assert_eq!(packed.expand(), witness.clone());
            let again = PackedWitness::new(
                Arc::clone(&kinds), packed.inputs().to_vec(), packed.plane().to_vec(), packed.wide().to_vec(),
            ).expect("the parts of a packed witness fit");
            prop_assert_eq!(&again, &packed);
            for (index, &wide) in flags.iter().enumerate() {
                let expected = if wide {
                    packed.wide()[kinds.wide_rank(index)]
                } else {
                    Fr::from(packed.plane()[index / 64] >> (index % 64) & 1)
                };
                prop_assert_eq!(witness.aux[index], expected);
            }
        }
    }
}
