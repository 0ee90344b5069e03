//! `sapling-crypto` writes its circuits for `bellman`, whose scalars and traits are not those of `bellpepper`.
//!
//! The adapter is a `bellman` constraint system that passes everything on, with scalars converted through their 32
//! canonical bytes. Both know the same two kinds of variables, numbered in order of allocation.

use bellman::{Index, LinearCombination, SynthesisError, Variable};
use bellpepper_core::ConstraintSystem as _;
use bls12_381::Scalar;
use cuzk_r1cs::Fr;
use ff::PrimeField;

/// A circuit for `bellman` as a circuit for `bellpepper`.
#[derive(Clone)]
pub(crate) struct FromBellman<C>(pub(crate) C);

impl<C: bellman::Circuit<Scalar>> bellpepper_core::Circuit<Fr> for FromBellman<C> {
    fn synthesize<CS: bellpepper_core::ConstraintSystem<Fr>>(
        self,
        cs: &mut CS,
    ) -> Result<(), bellpepper_core::SynthesisError> {
        self.0
            .synthesize(&mut Adapter { cs })
            .map_err(their_error_to_ours)
    }
}

/// The scalar with the same canonical value.
pub(crate) fn to_fr(scalar: Scalar) -> Fr {
    Fr::from_repr_vartime(scalar.to_bytes()).expect("both fields have the same modulus")
}

struct Adapter<'a, CS> {
    cs: &'a mut CS,
}

impl<CS: bellpepper_core::ConstraintSystem<Fr>> bellman::ConstraintSystem<Scalar>
    for Adapter<'_, CS>
{
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.cs.alloc(annotation, || {
            value().map(to_fr).map_err(their_error_to_ours)
        });
        variable.map(to_theirs).map_err(our_error_to_theirs)
    }

    fn alloc_input<F, A, AR>(&mut self, annotation: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.cs.alloc_input(annotation, || {
            value().map(to_fr).map_err(their_error_to_ours)
        });
        variable.map(to_theirs).map_err(our_error_to_theirs)
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let (a, b, c) = (convert(a), convert(b), convert(c));
        self.cs
            .enforce(annotation, |lc| lc + &a, |lc| lc + &b, |lc| lc + &c);
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.cs.get_root().push_namespace(name);
    }

    fn pop_namespace(&mut self) {
        self.cs.get_root().pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

fn convert(
    build: impl FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
) -> bellpepper_core::LinearCombination<Fr> {
    let terms = build(LinearCombination::zero());
    terms.as_ref().iter().fold(
        bellpepper_core::LinearCombination::zero(),
        |lc, (variable, scalar)| lc + (to_fr(*scalar), to_ours(*variable)),
    )
}

fn to_ours(variable: Variable) -> bellpepper_core::Variable {
    bellpepper_core::Variable::new_unchecked(match variable.get_unchecked() {
        Index::Input(index) => bellpepper_core::Index::Input(index),
        Index::Aux(index) => bellpepper_core::Index::Aux(index),
    })
}

fn to_theirs(variable: bellpepper_core::Variable) -> Variable {
    Variable::new_unchecked(match variable.get_unchecked() {
        bellpepper_core::Index::Input(index) => Index::Input(index),
        bellpepper_core::Index::Aux(index) => Index::Aux(index),
    })
}

fn their_error_to_ours(error: SynthesisError) -> bellpepper_core::SynthesisError {
    match error {
        SynthesisError::AssignmentMissing => bellpepper_core::SynthesisError::AssignmentMissing,
        SynthesisError::DivisionByZero => bellpepper_core::SynthesisError::DivisionByZero,
        SynthesisError::IoError(error) => bellpepper_core::SynthesisError::IoError(error),
        _ => bellpepper_core::SynthesisError::Unsatisfiable,
    }
}

fn our_error_to_theirs(error: bellpepper_core::SynthesisError) -> SynthesisError {
    match error {
        bellpepper_core::SynthesisError::AssignmentMissing => SynthesisError::AssignmentMissing,
        bellpepper_core::SynthesisError::DivisionByZero => SynthesisError::DivisionByZero,
        bellpepper_core::SynthesisError::IoError(error) => SynthesisError::IoError(error),
        _ => SynthesisError::Unsatisfiable,
    }
}
