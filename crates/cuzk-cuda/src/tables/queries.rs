//! Which base of a query belongs to which variable: a query over A or B has bases only for variables that occur there.

use std::ops::Range;

use cuzk_r1cs::{CompiledCircuit, Density, VariableKinds};

/// The bases of one query's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTables {
    /// Per 32 private variables: in the low half which have a base, in the high half how many before have one. Empty when
    /// all have one.
    pub selection: Vec<u64>,
    /// The base of the first private variable that has one.
    pub first_aux: u32,
    /// Private variables, with or without a base.
    pub num_aux: usize,
    /// The variables that may be any field element.
    pub wide: WideTerms,
}

/// Terms of a sum over field elements: which value times which base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WideTerms {
    /// Numbers of values, where the public variables come first and the wide ones follow.
    pub scalars: Vec<u32>,
    /// Numbers of bases.
    pub bases: Vec<u32>,
}

impl QueryTables {
    /// The query `l`: all private variables.
    pub fn of_l(circuit: &CompiledCircuit) -> Self {
        let num_inputs = circuit.shape().num_inputs;
        let kinds = circuit.kinds();
        Self {
            selection: Vec::new(),
            first_aux: 0,
            num_aux: kinds.num_aux(),
            wide: WideTerms {
                scalars: (0..kinds.num_wide())
                    .map(|rank| (num_inputs + rank) as u32)
                    .collect(),
                bases: kinds.iter_wide().map(|index| index as u32).collect(),
            },
        }
    }

    /// The query `a`: all public variables, and the private ones that occur in A.
    pub fn of_a(circuit: &CompiledCircuit) -> Self {
        let num_inputs = circuit.shape().num_inputs;
        let inputs = (0..num_inputs).collect();
        Self::selected(circuit, inputs, &circuit.densities().a_aux)
    }

    /// The queries `b_g1` and `b_g2`: the variables that occur in B.
    pub fn of_b(circuit: &CompiledCircuit) -> Self {
        let densities = circuit.densities();
        let inputs = densities.b_input.iter_ones().collect();
        Self::selected(circuit, inputs, &densities.b_aux)
    }

    /// `inputs` first, then the private variables of `density`.
    fn selected(circuit: &CompiledCircuit, inputs: Vec<usize>, density: &Density) -> Self {
        let (kinds, num_inputs) = (circuit.kinds(), circuit.shape().num_inputs);
        let selection = ranked(density.words(), kinds.num_aux());
        let first_aux = inputs.len() as u32;
        let mut wide = WideTerms {
            bases: (0..first_aux).collect(),
            scalars: inputs.into_iter().map(|index| index as u32).collect(),
        };
        add_wide(&mut wide, kinds, num_inputs, (&selection, first_aux));
        Self {
            selection,
            first_aux,
            num_aux: kinds.num_aux(),
            wide,
        }
    }

    /// Cuts the query into parts of at most `max_bases` bases, and of at least the bases of 32 private variables; those of
    /// public variables belong to the first part.
    pub fn parts(&self, max_bases: usize) -> Vec<QueryPart> {
        let num_words = self.num_aux.div_ceil(32);
        let mut parts = Vec::new();
        let mut first_word = 0;
        while first_word < num_words || parts.is_empty() {
            let bases_start = if parts.is_empty() {
                0
            } else {
                self.base_of_word(first_word)
            };
            let mut end = (first_word + 1).min(num_words);
            while end < num_words && self.base_of_word(end + 1) - bases_start <= max_bases {
                end += 1;
            }
            let bases = bases_start..self.base_of_word(end);
            let wide = [bases.start, bases.end].map(|base| {
                self.wide
                    .bases
                    .partition_point(|&own| (own as usize) < base)
            });
            parts.push(QueryPart {
                positions: 32 * first_word..self.num_aux.min(32 * end),
                bases,
                wide: wide[0]..wide[1],
            });
            first_word = end;
            if num_words == 0 {
                break;
            }
        }
        parts
    }

    /// The first base of private variables from 32 `word` on.
    fn base_of_word(&self, word: usize) -> usize {
        let first = self.first_aux as usize;
        if self.selection.is_empty() {
            return first + self.num_aux.min(32 * word);
        }
        match self.selection.get(word) {
            Some(entry) => first + (entry >> 32) as usize,
            None => self.selection.last().map_or(first, |last| {
                first + (last >> 32) as usize + (*last as u32).count_ones() as usize
            }),
        }
    }
}

/// Consecutive variables of a query with their bases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPart {
    /// Private variables; the first is a multiple of 32.
    pub positions: Range<usize>,
    /// Bases of these, and in the first part those of public variables.
    pub bases: Range<usize>,
    /// Which of the wide terms have their base among these.
    pub wide: Range<usize>,
}

/// Appends the wide variables that are selected.
fn add_wide(
    terms: &mut WideTerms,
    kinds: &VariableKinds,
    num_inputs: usize,
    (selection, first_aux): (&[u64], u32),
) {
    for (rank, index) in kinds.iter_wide().enumerate() {
        let entry = selection[index / 32];
        let (mask, before) = (entry as u32, (entry >> 32) as u32);
        let bit = 1_u32 << (index % 32);
        if mask & bit != 0 {
            terms.scalars.push((num_inputs + rank) as u32);
            terms
                .bases
                .push(first_aux + before + (mask & (bit - 1)).count_ones());
        }
    }
}

/// Words of 32 bits, each with the number of ones before it in its high half; covers `len` bits.
fn ranked(words: &[u64], len: usize) -> Vec<u64> {
    let halves = words
        .iter()
        .flat_map(|word| [*word & u64::from(u32::MAX), word >> 32])
        .chain(std::iter::repeat(0));
    let mut before = 0_u64;
    halves
        .take(len.div_ceil(32))
        .map(|half| {
            let entry = half | before << 32;
            before += u64::from(half.count_ones());
            entry
        })
        .collect()
}
