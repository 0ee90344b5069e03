//! Upstream's synthesis is the oracle, gadget by gadget and for whole circuits.

mod circuits;
mod gadgets;
mod heavy;
mod segments;

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk_r1cs::Witness;
use ff::Field;

use super::sink::Sink;

/// A sink that keeps every variable as a field element.
struct Expanded(Witness);

impl Expanded {
    fn new() -> Self {
        Self(Witness {
            inputs: vec![Fr::ONE],
            aux: Vec::new(),
        })
    }
}

impl Sink for Expanded {
    fn push_bits(&mut self, word: u64, count: u32) {
        let bit = |index| Fr::from((word >> index) & 1);
        self.0.aux.extend((0..count).map(bit));
    }

    fn push_wide(&mut self, value: Fr) {
        self.0.aux.push(value);
    }

    fn push_input(&mut self, value: Fr) {
        self.0.inputs.push(value);
    }
}

/// A constraint system that keeps variables only, for gadgets that are no circuit of their own.
struct Variables(Witness);

impl ConstraintSystem<Fr> for Variables {
    type Root = Self;

    fn new() -> Self {
        Self(Expanded::new().0)
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(self.0.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Input(
            self.0.inputs.len() - 1,
        )))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
