//! From a circuit's program to a compiled circuit, in one pass that never holds the matrices.

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};

use crate::compiled::CompiledCircuit;
use crate::compiled::library::Library;
use crate::compiled::stack::{CutRule, Stack};
use crate::compiled::template::{Extent, VariableRef};
use crate::dictionary::Dictionary;
use crate::digest::MatrixHasher;
use crate::matrix::entries_of;
use crate::packed::KindInference;
use crate::{Densities, Fr, Shape};

/// Why a circuit cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The circuit could not be synthesized.
    #[error("circuit cannot be synthesized: {0}")]
    Synthesis(#[from] SynthesisError),
    /// References of templates have 30 bits.
    #[error("the circuit has {found} {what}, more than {max}")]
    TooLarge {
        /// Rows, private or public variables.
        what: &'static str,
        /// How many.
        found: u32,
        /// Most that can be compiled.
        max: u32,
    },
}

impl CompiledCircuit {
    /// Compiles a circuit; assignments are never asked for, so a blank circuit will do.
    ///
    /// Memory is that of the templates and open namespaces, three bits per variable, and the coefficients. `progress` is called
    /// with the number of rows seen, about every million rows.
    ///
    /// # Errors
    /// What the circuit's own synthesis returns, or that it has more than 2^30 rows or variables of a kind.
    pub fn compile<C: Circuit<Fr>>(
        circuit: C,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, CompileError> {
        Self::compile_by(CutRule::default(), circuit, progress)
    }

    /// As [`CompiledCircuit::compile`], with a rule of one's own.
    pub(super) fn compile_by<C: Circuit<Fr>>(
        rule: CutRule,
        circuit: C,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, CompileError> {
        let mut system = Compiling {
            now: Extent::default(),
            stack: Stack::new(rule),
            library: Library::default(),
            kinds: KindInference::default(),
            densities: Densities::default(),
            dictionary: Dictionary::default(),
            hasher: MatrixHasher::new(),
            progress,
        };
        system.densities.push_input();
        circuit.synthesize(&mut system)?;
        progress(u64::from(system.now.num_rows));
        system.finish()
    }
}

/// A constraint system that cuts its rows into templates.
struct Compiling<'a> {
    /// Counts so far, without ONE.
    now: Extent,
    stack: Stack,
    library: Library,
    kinds: KindInference,
    densities: Densities,
    dictionary: Dictionary,
    hasher: MatrixHasher,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Compiling<'_> {
    const ROWS_BETWEEN_REPORTS: u32 = 1 << 20;

    fn push_side(&mut self, row: &LinearCombination<Fr>) {
        for entry in entries_of(row, &mut self.dictionary) {
            self.stack.push_entry(entry);
        }
        self.stack.end_side();
    }

    fn finish(self) -> Result<CompiledCircuit, CompileError> {
        let Extent {
            num_rows,
            num_aux,
            num_inputs,
        } = self.now;
        let max = VariableRef::MAX_OFFSET;
        for (what, found) in [
            ("rows", num_rows),
            ("private variables", num_aux),
            ("public variables", num_inputs),
        ] {
            if found > max {
                return Err(CompileError::TooLarge { what, found, max });
            }
        }
        let whole = self.stack.finish(self.now, &self.library, &self.kinds);
        let mut templates = self.library.into_templates();
        templates.push(whole);
        let shape = Shape {
            num_inputs: num_inputs as usize + 1,
            num_aux: num_aux as usize,
            num_constraints: num_rows as usize,
        };
        Ok(CompiledCircuit::new(
            templates,
            self.hasher.finish(self.dictionary.coefficients(), shape),
            self.dictionary.into_coefficients(),
            self.kinds.finish(num_aux as usize),
            self.densities,
        ))
    }
}

impl ConstraintSystem<Fr> for Compiling<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.now.num_aux;
        self.now.num_aux += 1;
        self.densities.push_aux();
        Ok(Variable::new_unchecked(Index::Aux(index as usize)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.now.num_inputs += 1;
        self.densities.push_input();
        Ok(Variable::new_unchecked(Index::Input(
            self.now.num_inputs as usize,
        )))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.push_side(&a(LinearCombination::zero()));
        self.push_side(&b(LinearCombination::zero()));
        self.push_side(&c(LinearCombination::zero()));
        let sides = self.stack.last_row();
        for side in sides {
            self.hasher.row(side);
        }
        self.densities.mark(sides[0], sides[1]);
        self.kinds.row(sides, self.dictionary.coefficients());
        self.now.num_rows += 1;
        if self.now.num_rows.is_multiple_of(Self::ROWS_BETWEEN_REPORTS) {
            (self.progress)(u64::from(self.now.num_rows));
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.stack.open(self.now);
    }

    fn pop_namespace(&mut self) {
        self.stack.close(self.now, &mut self.library, &self.kinds);
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
